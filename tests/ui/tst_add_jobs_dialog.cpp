#include "fake_services.h"
#include "ui/job_board.h"
#include "ui/queue/add_jobs_dialog.h"
#include "ui/queue/job_forecast.h"
#include "ui/queue/kernel_list.h"
#include "ui/queue/number_field.h"
#include "ui/queue/placement_preview.h"
#include "ui/queue/source_form.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace heteroscope;

namespace {

/// A catalogue of two packages, written for the test.
std::shared_ptr<const KernelCatalogue> makeCatalogue(const QTemporaryDir& folder) {
    const auto write = [&](const QString& id, const QByteArray& json, const QByteArray& source) {
        QDir(folder.path()).mkpath(id);
        QFile document(folder.filePath(id + QStringLiteral("/kernel.json")));
        QFile text(folder.filePath(id + QStringLiteral("/k.cl")));
        if (!document.open(QIODevice::WriteOnly) || !text.open(QIODevice::WriteOnly)) qFatal("cannot write the test's kernels");
        document.write(json);
        text.write(source);
    };
    write(QStringLiteral("scale"), R"({ "format": "heteroscope-kernel", "version": 1, "id": "scale", "title": "Scale", "description": "y = a*x",
        "parameters": { "n": { "default": 1024, "min": 1, "max": 1048576 }, "a": { "default": 2.5 } },
        "arguments": [ { "name": "a", "kind": "scalar", "type": "float", "value": "a" },
                       { "name": "x", "kind": "buffer", "type": "float", "count": "n", "access": "read", "fill": "iota" },
                       { "name": "y", "kind": "buffer", "type": "float", "count": "n", "access": "write" } ],
        "range": { "global": ["n"] }, "work": { "flops": "n", "bytes": "8*n" },
        "variants": [ { "language": "opencl-c", "file": "k.cl", "entry": "scale" } ], "reference": "saxpy" })",
          "kernel void scale(float a, global const float* x, global float* y) { }");
    write(QStringLiteral("tiles"), R"({ "format": "heteroscope-kernel", "version": 1, "id": "tiles", "title": "Tiles", "description": "in groups of 16",
        "parameters": { "n": { "default": 64 } },
        "arguments": [ { "name": "x", "kind": "buffer", "type": "float", "count": "n", "access": "read-write" } ],
        "range": { "global": ["n"], "local": [16] },
        "variants": [ { "language": "opencl-c", "file": "k.cl", "entry": "tiles" } ] })",
          "kernel void tiles(global float* x) { }");
    return std::make_shared<const KernelCatalogue>(KernelCatalogue::load({folder.path().toStdString()}));
}

}  // namespace

class TestAddJobsDialog : public QObject {
    Q_OBJECT
    QTemporaryDir folder_;
    std::shared_ptr<const KernelCatalogue> catalogue_;
    std::unique_ptr<FakeServices> services_;
    std::unique_ptr<JobBoard> board_;
    std::unique_ptr<AddJobsDialog> dialog_;

    void makeDialog() {
        board_ = std::make_unique<JobBoard>(*services_);
        dialog_ = std::make_unique<AddJobsDialog>(PageContext{*services_, *board_});
        dialog_->show();
    }
    template <class T>
    T* find(const char* name) const { return dialog_->findChild<T*>(QLatin1String(name)); }
    void type(const char* field, const QString& text) {
        auto* widget = find<NumberField>(field);
        QVERIFY2(widget, field);
        widget->setFocus();
        widget->selectAll();
        QTest::keyClicks(widget, text);
    }
    QString hint(const char* field) const { return find<TokenLabel>((QByteArray(field) + "-hint").constData())->text(); }
    bool canAdd() const { return find<QPushButton>("addJobs")->isEnabled(); }

private slots:
    void initTestCase() {
        QCoreApplication::setOrganizationName(QStringLiteral("heteroscope-test"));
        QCoreApplication::setApplicationName(QStringLiteral("tst_add_jobs_dialog"));
        Theme::apply(*qApp, Theme::Mode::Light);
        catalogue_ = makeCatalogue(folder_);
        QCOMPARE(catalogue_->kernels().size(), std::size_t(2));
    }
    void init() {
        QSettings().clear();
        services_ = std::make_unique<FakeServices>();
        services_->catalogue = catalogue_;
        services_->deviceList = {FakeServices::describe("cpu-0", "EPYC"), FakeServices::describe("gpu-0", "H200", {}, DeviceKind::Gpu)};
    }
    void cleanup() {
        dialog_.reset();
        board_.reset();
        services_.reset();
    }

    void numbersAsPeopleWriteThem_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<double>("value");  // NaN: no number
        const double none = std::numeric_limits<double>::quiet_NaN();
        QTest::newRow("plain") << "4096" << 4096.0;
        QTest::newRow("grouped") << "16,777,216" << 16777216.0;
        QTest::newRow("power") << "2^20" << 1048576.0;
        QTest::newRow("binary prefix") << "16 Mi" << 16777216.0;
        QTest::newRow("decimal prefix") << "1.5k" << 1500.0;
        QTest::newRow("exponent") << "1.5e6" << 1.5e6;
        QTest::newRow("negative") << "-3" << -3.0;
        QTest::newRow("comma as decimal point") << "1,5" << none;
        QTest::newRow("word") << "many" << none;
        QTest::newRow("prefix alone") << "Mi" << none;
        QTest::newRow("overflow") << "9^999999" << none;
        QTest::newRow("infinity") << "inf" << none;
        QTest::newRow("empty") << "" << none;
    }
    void numbersAsPeopleWriteThem() {
        QFETCH(QString, text);
        QFETCH(double, value);
        const auto read = readNumber(text);
        if (std::isnan(value)) QVERIFY(!read);
        else {
            QVERIFY(read);
            QCOMPARE(*read, value);
        }
    }

    void kernelListSearchesIdTitleAndDescription() {
        KernelListModel model;
        QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        model.setCatalogue(catalogue_);
        QCOMPARE(model.rowCount(), 2);
        model.setSearch(QStringLiteral("GROUPS of"));
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.kernel(0)->id, std::string("tiles"));
        model.setSearch(QStringLiteral("nothing"));
        QCOMPARE(model.rowCount(), 0);
        QCOMPARE(model.total(), 2);
    }

    void formMakesTheJobs() {
        makeDialog();
        QCOMPARE(find<TokenLabel>("chosenKernel")->text(), QStringLiteral("scale"));
        type("param-n", QStringLiteral("64 Ki"));
        type("count", QStringLiteral("3"));
        type("priority", QStringLiteral("-2"));
        type("seed", QStringLiteral("7"));
        type("timeout", QStringLiteral("2.5"));
        find<QCheckBox>("check")->setChecked(true);
        find<QCheckBox>("keepOutputs")->setChecked(true);
        QCOMPARE(dialog_->problems(), QStringList());
        QCOMPARE(find<QPushButton>("addJobs")->text(), QStringLiteral("Add 3 jobs"));
        const auto jobs = dialog_->jobs();
        QCOMPARE(jobs.size(), std::size_t(3));
        for (std::size_t i = 0; i < jobs.size(); ++i) {
            QCOMPARE(jobs[i].kernel->id, std::string("scale"));
            QCOMPARE(jobs[i].parameters, (Parameters{{"n", 65536.0}, {"a", 2.5}}));
            QCOMPARE(jobs[i].priority, -2);
            QCOMPARE(jobs[i].seed, std::uint64_t(7 + i));
            QCOMPARE(jobs[i].timeout, std::chrono::milliseconds(2500));
            QVERIFY(jobs[i].check && jobs[i].keepOutputs && jobs[i].device.empty() && jobs[i].save.empty());
            QCOMPARE(jobs[i].id, JobId(0));
        }
        QCOMPARE(dialog_->commandLine(), QStringLiteral("heteroscope run scale -p a=2.5 -p n=65536 --priority=-2 --check --count 3"));
    }

    void eachDeviceGetsItsJobs() {
        makeDialog();
        auto* device = find<QComboBox>("device");
        device->setCurrentIndex(1);
        QVERIFY(device->currentText().startsWith(QStringLiteral("each of the 2")));
        type("count", QStringLiteral("2"));
        const auto jobs = dialog_->jobs();
        QCOMPARE(jobs.size(), std::size_t(4));
        QCOMPARE(jobs[1].device, std::string("cpu-0"));
        QCOMPARE(jobs[2].device, std::string("gpu-0"));
        QCOMPARE(jobs[2].seed, jobs[0].seed);  // the same data on every device
        QCOMPARE(dialog_->commandLine().split(QLatin1Char('\n')).size(), 2);
        device->setCurrentIndex(3);
        QCOMPARE(dialog_->jobs().front().device, std::string("gpu-0"));
    }

    void savedOutputsHaveAFileEach() {
        makeDialog();
        auto* argument = find<QComboBox>("saveArgument");
        QCOMPARE(argument->count(), 2);  // "no" and y: x is only read
        argument->setCurrentIndex(1);
        QVERIFY(!canAdd());
        QCOMPARE(find<TokenLabel>("saveHint")->text(), QStringLiteral("name the file that y is saved in"));
        find<QLineEdit>("saveFile")->setText(folder_.filePath(QStringLiteral("out.txt")));
        QCOMPARE(find<TokenLabel>("saveHint")->text(), QStringLiteral("the file must end in .npy"));
        find<QLineEdit>("saveFile")->setText(folder_.filePath(QStringLiteral("nowhere/out.npy")));
        QVERIFY(find<TokenLabel>("saveHint")->text().startsWith(QStringLiteral("there is no folder ")));
        find<QLineEdit>("saveFile")->setText(folder_.filePath(QStringLiteral("out.npy")));
        QVERIFY(canAdd());
        QCOMPARE(dialog_->jobs().front().save.at("y"), std::filesystem::path(folder_.filePath(QStringLiteral("out.npy")).toStdString()));
        type("count", QStringLiteral("2"));
        QCOMPARE(dialog_->jobs()[1].save.at("y"), std::filesystem::path(folder_.filePath(QStringLiteral("out-2.npy")).toStdString()));
        QCOMPARE(dialog_->commandLine().split(QLatin1Char('\n')).size(), 2);
    }

    void wrongNumbersAreSaidAndKept_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("message");
        QTest::newRow("too small") << "0" << "n must be at least 1";
        QTest::newRow("too large") << "2^40" << "n must be at most 1,048,576";
        QTest::newRow("fraction") << "1.5" << "n must be a whole number";
        QTest::newRow("word") << "abc" << "“abc” is not a number";
        QTest::newRow("negative") << "-4" << "n must be at least 1";
    }
    void wrongNumbersAreSaidAndKept() {
        QFETCH(QString, text);
        makeDialog();
        QCOMPARE(hint("param-n"), QStringLiteral("1 to 1,048,576"));
        type("param-n", text);
        QCOMPARE(find<NumberField>("param-n")->text(), text);  // not clamped
        QTEST(hint("param-n"), "message");
        QVERIFY(!canAdd());
        QVERIFY(dialog_->jobs().empty());
        QVERIFY(dialog_->commandLine().isEmpty());
        type("param-n", QStringLiteral("8"));
        QCOMPARE(hint("param-n"), QStringLiteral("1 to 1,048,576"));
        QVERIFY(canAdd());
    }

    void plansThatFailAreSaid() {
        makeDialog();
        dialog_->chooseKernel("tiles");
        QVERIFY(canAdd());
        type("param-n", QStringLiteral("17"));
        QVERIFY(!canAdd());
        const QString said = find<TokenLabel>("planError")->text();
        QVERIFY2(said.contains(QStringLiteral("17")) && said.contains(QStringLiteral("16")), qPrintable(said));
        QVERIFY(!find<QCheckBox>("check")->isEnabled());  // no reference
    }

    void forecastSaysWhatDoesNotFit() {
        services_->deviceList[1].memoryBytes = 4096;
        services_->deviceList[1].maxAllocationBytes = 4096;
        makeDialog();
        type("param-n", QStringLiteral("1024"));
        auto* table = find<ForecastTable>("forecast");
        QTRY_COMPARE(table->rows().size(), std::size_t(2));
        QCOMPARE(table->rows()[0].neededBytes, std::uint64_t(8192));
        QCOMPARE(table->rows()[0].whyNot, QString());
        QTRY_VERIFY(!table->rows()[1].whyNot.isEmpty());
        QVERIFY(find<TokenLabel>("work")->text().contains(QStringLiteral("1.02\u2009kFLOP")));
        QVERIFY(find<TokenLabel>("work")->text().contains(QStringLiteral("8.00\u2009KiB in buffers")));
        QVERIFY(table->rows()[0].prediction.seconds < 0.0);  // nothing has run: nothing is predicted
        QCOMPARE(confidenceText(table->rows()[0].prediction), QStringLiteral("never run here"));
    }

    void forecastAsksEngineAndPolicy() {
        services_->startEngine();
        makeDialog();
        emit services_->started();
        auto* placement = find<TokenLabel>("placement");
        QTRY_VERIFY2(placement->text().startsWith(QStringLiteral("mct would now put it on ")), qPrintable(placement->text()));
        const auto& rows = find<ForecastTable>("forecast")->rows();
        QCOMPARE(std::count_if(rows.begin(), rows.end(), [](const ForecastRow& row) { return row.chosen; }), 1);
        find<QComboBox>("device")->setCurrentIndex(3);  // gpu-0 only
        QTRY_VERIFY(!find<ForecastTable>("forecast")->rows()[0].whyNot.isEmpty());
        QVERIFY(find<ForecastTable>("forecast")->rows()[1].chosen);
    }

    void placementIsThePolicysOwn() {
        JobSpec job;
        // cpu-0 would finish first; gpu-0 is the only idle one.
        std::vector<Candidate> candidates{{0, "", 1.0, 0.0, 1.0, 2.0, 1, 0}, {1, "", 0.0, 0.0, 9.0, 9.0, 0, 0}};
        DeviceSnapshot cpu, gpu;
        cpu.id = "cpu-0";
        cpu.running = {5};
        gpu.id = "gpu-0";
        const auto mct = placementBy("mct", job, candidates, {cpu, gpu});
        QVERIFY(mct.decision);
        QCOMPARE(mct.decision->chosen, DeviceIndex(0));
        const auto fifo = placementBy("fifo", job, candidates, {cpu, gpu});
        QVERIFY(fifo.decision);
        QCOMPARE(fifo.decision->chosen, DeviceIndex(1));
        QVERIFY(placementBy("round-robin", job, candidates, {cpu, gpu}).dependsOnTurn);
        QVERIFY(!placementBy("no-such-policy", job, candidates, {cpu, gpu}).decision);
        candidates[0].excluded = candidates[1].excluded = "too large";
        QVERIFY(!placementBy("mct", job, candidates, {cpu, gpu}).decision);
    }

    void addingSubmitsAndCloses() {
        services_->startEngine();
        makeDialog();
        QSignalSpy added(dialog_.get(), &AddJobsDialog::jobsAdded);
        type("count", QStringLiteral("2"));
        QTest::mouseClick(find<QPushButton>("addKeepOpen"), Qt::LeftButton);
        QTRY_COMPARE(added.size(), 1);
        QCOMPARE(added[0][0].value<QList<quint64>>().size(), 2);
        QVERIFY(dialog_->isVisible());
        QTRY_VERIFY(canAdd());
        QTest::mouseClick(find<QPushButton>("addJobs"), Qt::LeftButton);
        QTRY_COMPARE(added.size(), 2);
        QVERIFY(!dialog_->isVisible());
        QCOMPARE(services_->submitted.size(), std::size_t(2));
    }

    void refusalIsShownAndNothingTypedIsLost() {
        makeDialog();  // no engine: the fake refuses
        type("param-n", QStringLiteral("4321"));
        QTest::mouseClick(find<QPushButton>("addJobs"), Qt::LeftButton);
        QTRY_COMPARE(find<TokenLabel>("message")->text(), QStringLiteral("no engine was started"));
        QVERIFY(dialog_->isVisible());
        QVERIFY(canAdd());
        QCOMPARE(find<NumberField>("param-n")->text(), QStringLiteral("4321"));
    }

    void lastKernelAndValuesAreRemembered() {
        makeDialog();
        dialog_->chooseKernel("tiles");
        type("param-n", QStringLiteral("160"));
        type("count", QStringLiteral("5"));
        QTest::mouseClick(find<QPushButton>("addKeepOpen"), Qt::LeftButton);
        dialog_.reset();
        board_.reset();
        makeDialog();
        QCOMPARE(find<TokenLabel>("chosenKernel")->text(), QStringLiteral("tiles"));
        QCOMPARE(find<NumberField>("param-n")->text(), QStringLiteral("160"));
        QCOMPARE(find<NumberField>("count")->text(), QStringLiteral("5"));
    }

    void ownSourceIsReadAndMadeIntoJobs() {
        auto device = std::make_shared<FakeDevice>(FakeServices::describe("cpu-0", "EPYC"));
        EntryInfo entry;
        entry.name = "diagonal";
        entry.arguments = {{"m", "float*", AddressSpace::Global, false, false}, {"scratch", "float*", AddressSpace::Local, false, false},
                           {"n", "int", AddressSpace::Private, false, false}};
        device->setEntries({entry});
        services_->startEngine({}, {device});
        makeDialog();
        const QString file = folder_.filePath(QStringLiteral("größe a.cl"));
        QFile source(file);
        QVERIFY(source.open(QIODevice::WriteOnly));
        source.write("kernel void diagonal(global float* m, local float* scratch, int n) { }");
        source.close();
        dialog_->openSource(file);
        QVERIFY(!canAdd());
        QTRY_VERIFY(find<QLineEdit>("arg2-count"));
        QCOMPARE(find<QComboBox>("sourceEntry")->currentText(), QStringLiteral("diagonal"));
        QCOMPARE(find<QComboBox>("arg0-type")->currentText(), QStringLiteral("float"));
        QCOMPARE(find<TokenLabel>("arg0-problem")->text(), QStringLiteral("m needs a number of elements"));
        find<QLineEdit>("arg0-count")->setText(QStringLiteral("1 Ki"));
        find<QLineEdit>("arg0-fill")->setText(QStringLiteral("iota"));
        find<QLineEdit>("arg1-count")->setText(QStringLiteral("1024"));
        find<QLineEdit>("arg2-count")->setText(QStringLiteral("abc"));
        QVERIFY(!find<TokenLabel>("arg2-problem")->text().isEmpty());
        find<QLineEdit>("arg2-count")->setText(QStringLiteral("32"));
        QCOMPARE(find<TokenLabel>("arg2-problem")->text(), QString());
        QVERIFY(!canAdd());  // no global size yet
        find<QLineEdit>("sourceGlobal")->setText(QStringLiteral("16"));
        find<QLineEdit>("sourceLocal")->setText(QStringLiteral("16, 1"));
        QVERIFY(!canAdd());
        find<QLineEdit>("sourceLocal")->setText(QStringLiteral("16"));
        QTRY_VERIFY2(canAdd(), qPrintable(dialog_->problems().join(QLatin1Char('\n'))));
        const auto jobs = dialog_->jobs();
        QCOMPARE(jobs.size(), std::size_t(1));
        const Kernel& kernel = *jobs[0].kernel;
        QVERIFY(kernel.ownSource);
        QCOMPARE(kernel.arguments.size(), std::size_t(3));
        QCOMPARE(kernel.arguments[0].name, std::string("m"));
        QCOMPARE(kernel.arguments[0].fill, std::string("iota"));
        QVERIFY(kernel.arguments[0].access == Access::ReadWrite);
        QVERIFY(kernel.arguments[1].kind == KernelArgument::Kind::Local);
        const auto plan = planLaunch(jobs[0].kernel, {});
        QVERIFY2(plan, plan ? "" : plan.error().message.c_str());
        QCOMPARE(plan->bufferBytes, std::uint64_t(4096));
        QCOMPARE(dialog_->commandLine(),
                 QStringLiteral("heteroscope run '%1' --entry diagonal --global 16 --local 16 --arg buffer:float:1024:iota:read-write --arg local:1024 --arg int:32").arg(file));
        // A source that does not build: said, and what was typed stays.
        device->failNextBuild({ErrorKind::BuildFailed, "expected ';'", file.toStdString(), 3, "the log"});
        dialog_->openSource(file);
        QTRY_VERIFY(find<TokenLabel>("sourceStatus")->text().contains(QStringLiteral(":3: expected ';'")));
        QVERIFY(!canAdd());
        QCOMPARE(find<QLineEdit>("arg2-count")->text(), QStringLiteral("32"));
        // Back to the list.
        dialog_->chooseKernel("scale");
        QVERIFY(canAdd());
        QCOMPARE(dialog_->jobs().front().kernel->id, std::string("scale"));
    }

    void sizes_data() {
        QTest::addColumn<QString>("text");
        QTest::addColumn<QString>("sizes");
        QTest::newRow("one") << "1024" << "1024";
        QTest::newRow("commas") << "64, 32" << "64 32";
        QTest::newRow("x between") << "64x32x2" << "64 32 2";
        QTest::newRow("none") << "" << "";
        QTest::newRow("zero") << "0" << "wrong";
        QTest::newRow("negative") << "-1" << "wrong";
        QTest::newRow("four") << "1,1,1,1" << "wrong";
        QTest::newRow("word") << "abc" << "wrong";
        QTest::newRow("fraction") << "1.5" << "wrong";
    }
    void sizes() {
        QFETCH(QString, text);
        const auto read = readSizes(text);
        QStringList words;
        if (read)
            for (const auto size : *read) words << QString::number(size);
        QTEST(read ? words.join(QLatin1Char(' ')) : QStringLiteral("wrong"), "sizes");
    }

    void quoting() {
        QCOMPARE(shellQuoted({QStringLiteral("a b"), QStringLiteral("it's"), QStringLiteral("n=1"), QString()}),
                 QStringLiteral("'a b' 'it'\\''s' n=1 ''"));
    }
};

QTEST_MAIN(TestAddJobsDialog)
#include "tst_add_jobs_dialog.moc"
