#include "sample_jobs.h"

#include "scheduler/history/history_export.h"
#include "scheduler/history/schema.h"

#include <QElapsedTimer>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <functional>

using namespace heteroscope;

// Every case asks the store and the same question of the list it was filled from.
class HistoryReaderTest : public QObject {
    Q_OBJECT
private slots:
    void initTestCase();
    void filtersGiveWhatTheListGives_data();
    void filtersGiveWhatTheListGives();
    void ordersAreTotal_data();
    void ordersAreTotal();
    void pagesJoinWithoutGap();
    void pagesFollowNewRows();
    void gapsInNumbersAreNoGapsInPages();
    void aNewFilterSupersedesAnOldOne();
    void facetsAreWhatOccurs();
    void isoTimesAreUtc();
    void csvFieldsAreQuoted();
    void csvHoldsEveryRow();
    void jsonHoldsEveryRow();
    void anExportThatStopsLeavesNothing();
    void exportsThatCannotBeWrittenSaySo();
    void aHundredThousandJobsStayQuick();

private:
    static constexpr JobId jobs_ = 3000;
    QTemporaryDir folder_;
    std::unique_ptr<History> history_;
    std::unique_ptr<HistoryReader> reader_;
};

void HistoryReaderTest::initTestCase() {
    history_ = openHistory(folder_.path());
    QVERIFY(history_);
    for (JobId id = 1; id <= jobs_; ++id) history_->recordJob(mixedJob(id), {});
    history_->flush();
    reader_ = std::make_unique<HistoryReader>(folder_.path().toStdString());
}

namespace {
using Matches = std::function<bool(const JobSnapshot&)>;
struct FilterCase {
    HistoryFilter filter;
    Matches matches;
};
}  // namespace
Q_DECLARE_METATYPE(FilterCase)

static bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

void HistoryReaderTest::filtersGiveWhatTheListGives_data() {
    QTest::addColumn<FilterCase>("filterCase");
    const auto row = [](const char* name, const std::function<void(HistoryFilter&)>& set, Matches matches) {
        FilterCase one{{}, std::move(matches)};
        set(one.filter);
        QTest::newRow(name) << one;
    };
    using J = const JobSnapshot&;
    using F = HistoryFilter&;
    row("nothing", [](F) {}, [](J) { return true; });
    row("text in kernel, other case", [](F f) { f.text = "MatMul"; }, [](J j) { return j.kernel == "matmul"; });
    row("text in error", [](F f) { f.text = "out_of_resources"; }, [](J j) { return j.error.has_value(); });
    row("two words", [](F f) { f.text = "  saxpy  N=1024 "; }, [](J j) { return j.kernel == "saxpy" && has(j.parameters, "n=1024"); });
    row("one letter", [](F f) { f.text = "x"; }, [](J j) { return j.kernel == "saxpy"; });
    row("no pattern signs", [](F f) { f.text = "%"; }, [](J) { return false; });
    row("quote", [](F f) { f.text = "' OR 1=1 --"; }, [](J) { return false; });
    row("blanks only", [](F f) { f.text = " \t"; }, [](J) { return true; });
    row("number", [](F f) { f.text = "#77"; }, [](J j) { return j.id == 77; });
    row("failed", [](F f) { f.states = {JobState::Failed}; }, [](J j) { return j.state == JobState::Failed; });
    row("failed or cancelled", [](F f) { f.states = {JobState::Cancelled, JobState::Failed}; },
        [](J j) { return j.state != JobState::Succeeded; });
    row("kernel", [](F f) { f.kernel = "reduction"; }, [](J j) { return j.kernel == "reduction"; });
    row("unknown kernel", [](F f) { f.kernel = "nosuch"; }, [](J) { return false; });
    row("device", [](F f) { f.device = "cpu-1"; }, [](J j) { return j.device == "cpu-1"; });
    row("policy", [](F f) { f.policy = "sjf"; }, [](J j) { return j.policy == "sjf"; });
    row("since", [](F f) { f.since = sampleTime + 2990 * second; }, [](J j) { return j.id >= 2990; });
    row("until", [](F f) { f.until = sampleTime + 10 * second; }, [](J j) { return j.id < 10; });
    row("session", [](F f) { f.session = 1; }, [](J) { return true; });
    row("unknown session", [](F f) { f.session = 4; }, [](J) { return false; });
    row("all at once", [](F f) {
        f.text = "n=";
        f.states = {JobState::Failed};
        f.kernel = "reduction";
        f.device = "cpu-0";
        f.policy = "mct";
        f.since = sampleTime + 100 * second;
        f.until = sampleTime + 2000 * second;
        f.session = 1;
        f.order = HistoryFilter::Order::Run;
    }, [](J j) {
        return j.state == JobState::Failed && j.kernel == "reduction" && j.device == "cpu-0" && j.policy == "mct" && j.id >= 100 && j.id < 2000;
    });
}

void HistoryReaderTest::filtersGiveWhatTheListGives() {
    QFETCH(FilterCase, filterCase);
    std::vector<JobId> wanted;
    for (JobId id = 1; id <= jobs_; ++id)
        if (filterCase.matches(mixedJob(id))) wanted.push_back(id);
    const auto page = pageNow(*reader_, filterCase.filter, 0, jobs_ + 1);
    QVERIFY2(page, page ? "" : page.error().message.c_str());
    QCOMPARE(page->total, wanted.size());
    auto found = idsOf(page);
    std::sort(found.begin(), found.end());
    QCOMPARE(found, wanted);
}

namespace {
using Less = std::function<int(const JobSnapshot&, const JobSnapshot&)>;
struct OrderCase {
    HistoryFilter::Order order;
    Less compare;
};
template <class T>
int compareValues(const T& a, const T& b) { return a < b ? -1 : b < a ? 1 : 0; }
}  // namespace
Q_DECLARE_METATYPE(OrderCase)

void HistoryReaderTest::ordersAreTotal_data() {
    using O = HistoryFilter::Order;
    using J = const JobSnapshot&;
    QTest::addColumn<OrderCase>("orderCase");
    QTest::newRow("id") << OrderCase{O::Id, [](J, J) { return 0; }};
    QTest::newRow("state") << OrderCase{O::State, [](J a, J b) { return compareValues(a.state, b.state); }};
    QTest::newRow("kernel") << OrderCase{O::Kernel, [](J a, J b) { return compareValues(a.kernel, b.kernel); }};
    QTest::newRow("device") << OrderCase{O::Device, [](J a, J b) { return compareValues(a.device, b.device); }};
    QTest::newRow("policy") << OrderCase{O::Policy, [](J a, J b) { return compareValues(a.policy, b.policy); }};
    QTest::newRow("submitted") << OrderCase{O::Submitted, [](J a, J b) { return compareValues(a.times.submitted, b.times.submitted); }};
    QTest::newRow("waited") << OrderCase{O::Waited, [](J a, J b) { return compareValues(a.waitSeconds, b.waitSeconds); }};
    QTest::newRow("run") << OrderCase{O::Run, [](J a, J b) { return compareValues(a.runSeconds, b.runSeconds); }};
}

void HistoryReaderTest::ordersAreTotal() {
    QFETCH(OrderCase, orderCase);
    std::vector<JobSnapshot> jobs;
    for (JobId id = 1; id <= jobs_; ++id) jobs.push_back(mixedJob(id));
    std::sort(jobs.begin(), jobs.end(), [&](const JobSnapshot& a, const JobSnapshot& b) {
        const int by = orderCase.compare(a, b);
        return by != 0 ? by < 0 : a.id < b.id;
    });
    std::vector<JobId> wanted;
    for (const JobSnapshot& job : jobs) wanted.push_back(job.id);
    HistoryFilter filter;
    filter.order = orderCase.order;
    filter.descending = false;
    QCOMPARE(idsOf(pageNow(*reader_, filter, 0, jobs_)), wanted);
    filter.descending = true;
    std::reverse(wanted.begin(), wanted.end());
    QCOMPARE(idsOf(pageNow(*reader_, filter, 0, jobs_)), wanted);
}

void HistoryReaderTest::pagesJoinWithoutGap() {
    HistoryFilter filter;
    filter.kernel = "saxpy";
    const auto whole = idsOf(pageNow(*reader_, filter, 0, jobs_));
    std::vector<JobId> joined;
    for (std::uint64_t offset = 0; offset < whole.size(); offset += 97) {
        const auto page = idsOf(pageNow(*reader_, filter, offset, 97));
        joined.insert(joined.end(), page.begin(), page.end());
    }
    QCOMPARE(joined, whole);
    const auto beyond = pageNow(*reader_, filter, 1'000'000, 10);
    QVERIFY(beyond->rows.empty());
    QCOMPARE(beyond->total, whole.size());
    QCOMPARE(pageNow(*reader_, {}, jobs_ - 1, ~std::uint64_t{0})->rows.size(), 1u);
}

void HistoryReaderTest::pagesFollowNewRows() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    HistoryReader reader(folder.path().toStdString());
    HistoryFilter filter;
    filter.states = {JobState::Succeeded};
    for (JobId id = 1; id <= 20; ++id) {
        history->recordJob(sampleJob(id), {});
        history->flush();
        QCOMPARE(pageNow(reader, filter)->total, id);
    }
}

void HistoryReaderTest::gapsInNumbersAreNoGapsInPages() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    for (const JobId id : {2, 3, 10, 40}) history->recordJob(sampleJob(id), {});
    history->flush();
    HistoryReader reader(folder.path().toStdString());
    QCOMPARE(idsOf(pageNow(reader, {}, 1, 2)), (std::vector<JobId>{10, 3}));
    QCOMPARE(pageNow(reader, {}, 1, 2)->total, 4u);
}

void HistoryReaderTest::aNewFilterSupersedesAnOldOne() {
    HistoryReader reader(folder_.path().toStdString());
    std::promise<void> hold, held;
    reader.facets([&](auto) {
        held.set_value();
        hold.get_future().wait();
    });
    held.get_future().wait();  // the lane is busy: what follows queues up
    std::promise<Result<HistoryRows>> first, again, last;
    HistoryFilter old, fresh;
    old.text = "s";
    fresh.text = "sa";
    reader.page(old, 0, 10, [&](auto page) { first.set_value(std::move(page)); });
    reader.page(fresh, 0, 10, [&](auto page) { again.set_value(std::move(page)); });
    reader.page(fresh, 10, 10, [&](auto page) { last.set_value(std::move(page)); });
    hold.set_value();
    const auto superseded = first.get_future().get();
    QVERIFY(!superseded && superseded.error().kind == ErrorKind::Cancelled);
    QVERIFY(again.get_future().get());
    QVERIFY(last.get_future().get());
}

void HistoryReaderTest::facetsAreWhatOccurs() {
    const auto facets = readNow<HistoryFacets>([&](auto done) { reader_->facets(done); });
    QCOMPARE(facets->kernels, (std::vector<std::string>{"matmul", "reduction", "saxpy", "transpose"}));
    QCOMPARE(facets->devices, (std::vector<std::string>{"cpu-0", "cpu-1"}));
    QCOMPARE(facets->policies, (std::vector<std::string>{"fifo", "mct", "sjf"}));
    QCOMPARE(facets->jobs, jobs_);
    QVERIFY(facets->bytes > 100'000);
}

void HistoryReaderTest::isoTimesAreUtc() {
    QCOMPARE(history::isoTime(sampleTime + 1), std::string("2026-11-26T14:05:12.000000001Z"));
    QCOMPARE(history::isoTime(0), std::string());
    QCOMPARE(history::isoTime(-1), std::string("1969-12-31T23:59:59.999999999Z"));
}

void HistoryReaderTest::csvFieldsAreQuoted() {
    QCOMPARE(history::csvField("n=4 a=2"), std::string("n=4 a=2"));
    QCOMPARE(history::csvField("a,b"), std::string("\"a,b\""));
    QCOMPARE(history::csvField("say \"x\"\r\n"), std::string("\"say \"\"x\"\"\r\n\""));
}

static Status exportNow(HistoryReader& reader, const HistoryFilter& filter, const QString& file,
                        std::function<bool(std::uint64_t)> progress = {}) {
    std::promise<Status> promise;
    reader.exportTo(filter, file.toStdString(), std::move(progress), [&](Status status) { promise.set_value(std::move(status)); });
    return promise.get_future().get();
}

static QByteArray contents(const QString& name) {
    QFile file(name);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

void HistoryReaderTest::csvHoldsEveryRow() {
    QTemporaryDir target;
    const QString file = target.filePath(QStringLiteral("jobs ü.CSV"));
    HistoryFilter filter;
    filter.descending = false;
    std::uint64_t told = 0;
    QVERIFY(exportNow(*reader_, filter, file, [&](std::uint64_t rows) { told = rows; return true; }));
    QCOMPARE(told, jobs_);
    const auto lines = contents(file).split('\n');
    QCOMPARE(lines.size(), static_cast<qsizetype>(jobs_ + 2));
    QVERIFY(lines[0].startsWith("id,label,kernel,parameters,device,runtime,policy,state,"));
    QVERIFY(lines[1].startsWith("1,,matmul,n=2048,cpu-1,opencl,mct,succeeded,0,1,2026-11-26T14:05:13.000000000Z,"));
    QVERIFY(lines[1].endsWith('\r'));
    QCOMPARE(QDir(target.path()).entryList(QDir::Files).size(), 1);
}

void HistoryReaderTest::jsonHoldsEveryRow() {
    QTemporaryDir target;
    const QString file = target.filePath(QStringLiteral("jobs.json"));
    HistoryFilter filter;
    filter.states = {JobState::Failed};
    QVERIFY(exportNow(*reader_, filter, file));
    const auto jobs = QJsonDocument::fromJson(contents(file)).object()[QStringLiteral("jobs")].toArray();
    QCOMPARE(jobs.size(), static_cast<qsizetype>(jobs_ / 50));
    const auto newest = jobs[0].toObject();
    QCOMPARE(newest[QStringLiteral("id")].toInt(), static_cast<int>(jobs_));
    QCOMPARE(newest[QStringLiteral("error")][QStringLiteral("kind")].toString(), QStringLiteral("launch-failed"));
    QVERIFY(newest[QStringLiteral("flops")].isNull());
    QCOMPARE(newest[QStringLiteral("decision")][QStringLiteral("candidates")].toArray().size(), 2);
    filter.text = "no such job";
    QVERIFY(exportNow(*reader_, filter, file));
    QVERIFY(QJsonDocument::fromJson(contents(file)).object()[QStringLiteral("jobs")].toArray().isEmpty());
}

void HistoryReaderTest::anExportThatStopsLeavesNothing() {
    QTemporaryDir target;
    const QString file = target.filePath(QStringLiteral("jobs.csv"));
    const Status status = exportNow(*reader_, {}, file, [](std::uint64_t rows) { return rows < 1000; });
    QVERIFY(!status && status.error().kind == ErrorKind::Cancelled);
    QVERIFY(QDir(target.path()).isEmpty());
}

void HistoryReaderTest::exportsThatCannotBeWrittenSaySo() {
    QTemporaryDir target;
    const Status ending = exportNow(*reader_, {}, target.filePath(QStringLiteral("jobs.xlsx")));
    QVERIFY(!ending && ending.error().kind == ErrorKind::InvalidInput);
    const QString missing = target.filePath(QStringLiteral("no/jobs.csv"));
    const Status nowhere = exportNow(*reader_, {}, missing);
    QVERIFY(!nowhere && nowhere.error().kind == ErrorKind::Io);
    QVERIFY(QString::fromStdString(nowhere.error().message).startsWith(missing));
    QVERIFY(QDir(target.path()).mkdir(QStringLiteral("a.csv")));
    const Status folder = exportNow(*reader_, {}, target.filePath(QStringLiteral("a.csv")));
    QVERIFY(!folder && folder.error().kind == ErrorKind::Io);
}

// The budget is 100 ms a page and 250 ms a filter for a million jobs (see tests/bench); here, in a debug build beside
// other tests, a bound that only a lost index would break.
void HistoryReaderTest::aHundredThousandJobsStayQuick() {
    QTemporaryDir folder;
    auto history = openHistory(folder.path());
    QElapsedTimer timer;
    timer.start();
    constexpr JobId jobs = 100'000;
    for (JobId id = 1; id <= jobs; ++id) history->recordJob(mixedJob(id), {});
    history->flush();
    qInfo("written: %.0f jobs a second", static_cast<double>(jobs) * 1e3 / static_cast<double>(std::max<qint64>(1, timer.elapsed())));
    HistoryReader reader(folder.path().toStdString());
    const auto measure = [&](const char* what, const std::function<void(HistoryFilter&)>& set, std::uint64_t offset = 0) {
        HistoryFilter filter;
        set(filter);
        timer.restart();
        const auto page = pageNow(reader, filter, offset);
        const auto ms = static_cast<double>(timer.nsecsElapsed()) * 1e-6;
        qInfo("%-20s %8.2f ms  %llu jobs", what, ms, page ? static_cast<unsigned long long>(page->total) : 0ULL);
        return page && page->total > 0 && ms < 1500;
    };
    QVERIFY(measure("first page", [](auto&) {}));
    QVERIFY(measure("last page", [](auto&) {}, jobs - 256));
    QVERIFY(measure("text", [](auto& f) { f.text = "saxpy n=16384"; }));
    QVERIFY(measure("text of all", [](auto& f) { f.text = "n="; }));
    QVERIFY(measure("state", [](auto& f) { f.states = {JobState::Failed}; }));
    QVERIFY(measure("kernel", [](auto& f) { f.kernel = "matmul"; }));
    QVERIFY(measure("device", [](auto& f) { f.device = "cpu-1"; }));
    QVERIFY(measure("policy", [](auto& f) { f.policy = "mct"; }));
    QVERIFY(measure("date", [](auto& f) { f.since = sampleTime + 90'000 * second; }));
    QVERIFY(measure("by run time", [](auto& f) { f.order = HistoryFilter::Order::Run; }));
    QVERIFY(measure("by kernel, half way", [](auto& f) { f.order = HistoryFilter::Order::Kernel; }, jobs / 2));
}

QTEST_GUILESS_MAIN(HistoryReaderTest)
#include "tst_history_reader.moc"
