#include "fake_services.h"
#include "queue_samples.h"
#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/job_pane.h"
#include "ui/score_table.h"
#include "ui/theme.h"
#include "ui/timing_bar.h"
#include "ui/widgets/token_label.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace heteroscope;

namespace {

std::shared_ptr<const Decision> sampleDecision() {
    auto decision = std::make_shared<Decision>();
    decision->job = 7;
    decision->policy = "mct";
    decision->chosen = 1;
    decision->note = "priority 5, the highest of 12 ready";
    decision->candidates = {{0, "", 29.8, 0.0, 5.54, 35.34, 3, 35.34}, {1, "", 0.910, 0.0817, 0.449, 1.4407, 2, 1.4407},
                            {2, "needs 8.00 GiB, has 6.00 GiB", -1, -1, -1, -1, 0, 0}};
    return decision;
}

}  // namespace

class TestJobPane : public QObject {
    Q_OBJECT
    FakeServices services_;
    std::unique_ptr<JobBoard> board_;
    std::unique_ptr<JobPane> pane_;

    QString said(const char* name) const {
        const auto* label = pane_->findChild<TokenLabel*>(QLatin1String(name));
        return label && label->isVisibleTo(pane_.get()) ? label->text() : QString();
    }

private slots:
    void initTestCase() { Theme::apply(*qApp, Theme::Mode::Light); }
    void init() {
        services_.deviceList = {FakeServices::describe("cpu-0", "EPYC"), FakeServices::describe("gpu-0", "H200", {}, DeviceKind::Gpu)};
        board_ = std::make_unique<JobBoard>(services_);
        pane_ = std::make_unique<JobPane>(PageContext{services_, *board_});
        pane_->resize(368, 760);
        pane_->show();
    }
    void cleanup() {
        pane_.reset();
        board_.reset();
    }

    void numbersAreTheSnapshots() {
        JobSnapshot job = sampleJob(7, JobState::Succeeded, "stencil", "n=32768 steps=200");
        job.device = "gpu-0";
        job.runtime = "opencl";
        job.flops = 1.29e12;
        job.bytes = 1.72e12;
        job.check.state = CheckResult::State::Passed;
        job.check.largestError = 2.4e-7;
        job.decision = sampleDecision();
        OutputSummary grid;
        grid.name = "grid";
        grid.type = "float";
        grid.count = 1073741824;
        grid.firstValues = {0.0, 0.5};
        grid.minimum = 0.0;
        grid.mean = 0.5;
        grid.maximum = 1.0;
        grid.nanCount = 3;
        job.outputs = {grid};
        pane_->showJob(job, {"EPYC", "H200", "Arc"});

        QCOMPARE(said("paneTitle"), QStringLiteral("stencil"));
        QCOMPARE(said("paneState"), QStringLiteral("succeeded"));
        QVERIFY2(said("paneSubtitle").startsWith(QStringLiteral("n=32768 steps=200 · H200 on OpenCL · mct · submitted ")), qPrintable(said("paneSubtitle")));
        const TimingParts parts = pane_->findChild<TimingBar*>()->parts();
        QCOMPARE(parts.waitSeconds + parts.stageInSeconds + parts.heldSeconds, job.waitSeconds);  // it lasts to the kernel's start
        QCOMPARE(parts.stageInSeconds, job.stageInSeconds);
        QCOMPARE(parts.runSeconds, job.runSeconds);
        QCOMPARE(parts.stageOutSeconds, job.stageOutSeconds);
        QCOMPARE(said("paneTimingSum"), QStringLiteral("1.45\u2009s; run predicted 449\u2009ms (−0.7\u2009%)"));
        QCOMPARE(said("paneWhy"), QString::fromStdString(explain(*job.decision, {"EPYC", "H200", "Arc"})));
        QCOMPARE(said("paneNote"), QStringLiteral("priority 5, the highest of 12 ready"));
        // The sentence's numbers are the table's.
        const auto& rows = pane_->findChild<ScoreTable*>()->rows();
        QCOMPARE(rows.size(), std::size_t(3));
        QVERIFY(!rows[0].chosen && rows[1].chosen && !rows[2].chosen);
        QCOMPARE(rows[1].device, QStringLiteral("H200"));
        QCOMPARE(rows[1].freeIn, QStringLiteral("910\u2009ms"));
        QCOMPARE(rows[1].dataIn, QStringLiteral("81.7\u2009ms"));
        QCOMPARE(rows[1].run, QStringLiteral("449\u2009ms"));
        QCOMPARE(rows[1].finish, QStringLiteral("1.44\u2009s"));
        QCOMPARE(rows[1].queued, QStringLiteral("2"));
        QCOMPARE(rows[1].swatch, Theme::series(1));
        QCOMPARE(rows[0].dataIn, QStringLiteral("0"));
        QCOMPARE(rows[2].excluded, QStringLiteral("needs 8.00 GiB, has 6.00 GiB"));
        QCOMPARE(rows[2].run, format::absent());
        QCOMPARE(said("paneCheck"), QStringLiteral("check passed"));
        QCOMPARE(said("paneOutputDetail"), QStringLiteral("first 0, 0.500, …; 3 NaN; discarded"));
        QCOMPARE(said("paneAchieved"), QStringLiteral("2.85\u2009TFLOP/s · 3.81\u2009TB/s"));
        QCOMPARE(said("paneError"), QString());
        const QString copied = pane_->asText();
        for (const char* part : {"stencil #7 succeeded", "run 452\u2009ms", "2.85\u2009TFLOP/s", "excluded: needs 8.00 GiB", "NaN: 3"})
            QVERIFY2(copied.contains(QString::fromUtf8(part)), part);
    }

    void errorHasItsPlaceAndItsLog() {
        JobSnapshot job = sampleJob(8, JobState::Failed, "spmv");
        job.error = Error{ErrorKind::BuildFailed, "use of undeclared identifier 'flot'", "/home/a b/größe.cl", 41, "largest.cl:41:3: error"};
        job.reason = "does not build";
        pane_->showJob(job, {});
        QCOMPARE(said("paneErrorPlace"), QStringLiteral("/home/a b/größe.cl:41"));
        QCOMPARE(said("paneError"), QStringLiteral("use of undeclared identifier 'flot'"));
        const auto* log = pane_->findChild<QPlainTextEdit*>(QStringLiteral("paneErrorLog"));
        QCOMPARE(log->toPlainText(), QStringLiteral("largest.cl:41:3: error"));
        QVERIFY(pane_->findChild<QPushButton*>(QStringLiteral("paneLog"))->isEnabled());
        QCOMPARE(said("paneWhy"), QStringLiteral("No decision is kept for this job."));
        // The next job has none: nothing of this one stays.
        pane_->showJob(sampleJob(9, JobState::Ready), {});
        QCOMPARE(said("paneError"), QString());
        QVERIFY(!log->isVisible());
        QVERIFY(!pane_->findChild<QPushButton*>(QStringLiteral("paneLog"))->isEnabled());
        QCOMPARE(said("paneWhy"), QStringLiteral("No device has been chosen yet."));
    }

    void failedCheckNamesElementAndNumbers() {
        JobSnapshot job = sampleJob(8, JobState::Failed);
        job.check.state = CheckResult::State::Failed;
        job.check.argument = "y";
        job.check.firstDifference = 17;
        job.check.expected = 2.5;
        job.check.found = 3.0;
        job.check.largestError = 0.2;
        pane_->showJob(job, {});
        QCOMPARE(said("paneCheck"), QStringLiteral("check failed"));
        QCOMPARE(said("paneCheckDetail"), QStringLiteral("largest relative error 0.200; y[17]: expected 2.50, found 3.00"));
    }

    void segmentsAreToScale() {
        TimingParts parts;
        parts.waitSeconds = 1.0;
        parts.runSeconds = 2.0;
        parts.stageOutSeconds = 1.0;
        parts.predictedRunSeconds = 1.0;
        const auto segments = timingSegments(parts, 400.0);
        QCOMPARE(segments.size(), std::size_t(4));  // no stage in
        QCOMPARE(segments[0].width, 100.0);
        QCOMPARE(segments[1].left, 100.0);
        QCOMPARE(segments[1].width, 200.0);
        QCOMPARE(segments[2].left, 300.0);
        QVERIFY(segments[3].kind == TimingSegment::Kind::PredictedRun);
        QCOMPARE(segments[3].left, 100.0);
        QCOMPARE(segments[3].width, 100.0);
        QVERIFY(timingSegments({}, 400.0).empty());
        // A prediction longer than the job so far sets the scale.
        parts = {};
        parts.waitSeconds = 1.0;
        parts.runSeconds = 1.0;
        parts.predictedRunSeconds = 3.0;
        const auto early = timingSegments(parts, 400.0);
        QCOMPARE(early[0].width, 100.0);
        QCOMPARE(early.back().width, 300.0);
    }

    //   submitted 1 s   staging 3 s   staged 4 s   started 6 s   finished 9 s
    void waitIsSplitAroundTheStaging() {
        JobSnapshot job = sampleJob(5, JobState::Succeeded);
        job.times = {};
        job.times.submitted = 1'000'000'000;
        job.times.staging = 3'000'000'000;
        job.times.staged = 4'000'000'000;
        job.times.started = 6'000'000'000;
        job.times.finished = 9'000'000'000;
        job.times.ended = 9'500'000'000;
        job.waitSeconds = 5.0;
        job.stageInSeconds = 1.0;
        job.runSeconds = 3.0;
        job.stageOutSeconds = 0.5;
        TimingParts parts = timingOf(job, 99'000'000'000);
        QCOMPARE(parts.waitSeconds, 2.0);
        QCOMPARE(parts.stageInSeconds, 1.0);
        QCOMPARE(parts.heldSeconds, 2.0);
        QCOMPARE(parts.totalSeconds(), 8.5);
        // The same job earlier: staged and held, then staging.
        job.state = JobState::Staging;
        job.waitSeconds = job.stageInSeconds = job.runSeconds = job.stageOutSeconds = 0.0;
        job.times.started = job.times.finished = job.times.ended = 0;
        parts = timingOf(job, 4'500'000'000);
        QCOMPARE(parts.waitSeconds, 2.0);
        QCOMPARE(parts.stageInSeconds, 1.0);
        QCOMPARE(parts.heldSeconds, 0.5);
        job.times.staged = 0;
        QCOMPARE(timingOf(job, 3'250'000'000).stageInSeconds, 0.25);
        // One that was cancelled while it waited waited to its end.
        job.state = JobState::Cancelled;
        job.times.staging = 0;
        job.times.ended = 2'500'000'000;
        QCOMPARE(timingOf(job, 99'000'000'000).waitSeconds, 1.5);
        QCOMPARE(timingOf(job, 99'000'000'000).totalSeconds(), 1.5);
    }

    void jobUnderWayGrowsWithTheClock() {
        JobSnapshot job = sampleJob(5, JobState::Running);
        job.waitSeconds = 2.0;
        job.times.started = 5'000'000'000;
        QCOMPARE(timingOf(job, 8'500'000'000).runSeconds, 3.5);
        QCOMPARE(timingOf(job, 8'500'000'000).waitSeconds, 2.0);
        JobSnapshot waiting = sampleJob(6, JobState::Ready);
        waiting.times.submitted = 1'000'000'000;
        QCOMPARE(timingOf(waiting, 4'000'000'000).waitSeconds, 3.0);
        QCOMPARE(timingOf(waiting, 500'000'000).waitSeconds, 0.0);  // a clock set back gives no negative time
    }

    void actions() {
        JobSnapshot job = sampleJob(7, JobState::Succeeded);
        auto kernel = std::make_shared<Kernel>();
        kernel->id = "saxpy";
        KernelVariant variant;
        variant.source.text = "kernel void saxpy() {}";
        variant.source.file = "/k/saxpy.cl";
        kernel->variants = {variant};
        auto spec = std::make_shared<JobSpec>();
        spec->kernel = kernel;
        job.spec = spec;
        pane_->showJob(job, {});
        QSignalSpy again(pane_.get(), &JobPane::runAgainRequested), closed(pane_.get(), &JobPane::closeRequested);
        QTest::mouseClick(pane_->findChild<QPushButton*>(QStringLiteral("paneRunAgain")), Qt::LeftButton);
        QCOMPARE(again.size(), 1);
        QCOMPARE(again[0][0].value<quint64>(), quint64(7));
        QTest::mouseClick(pane_->findChild<QToolButton*>(QStringLiteral("paneCopy")), Qt::LeftButton);
        QCOMPARE(QGuiApplication::clipboard()->text(), pane_->asText());
        auto* source = pane_->findChild<QPushButton*>(QStringLiteral("paneSource"));
        QVERIFY(source->isEnabled());
        QTest::mouseClick(source, Qt::LeftButton);
        const auto* dialog = pane_->findChild<QDialog*>();
        QVERIFY(dialog && dialog->isVisible());
        QCOMPARE(dialog->windowTitle(), QStringLiteral("/k/saxpy.cl"));
        QVERIFY(dialog->findChild<QPlainTextEdit*>()->toPlainText().contains(QStringLiteral("1  kernel void saxpy() {}")));
        pane_->clear();
        QCOMPARE(pane_->job(), JobId(0));
    }
};

QTEST_MAIN(TestJobPane)
#include "tst_job_pane.moc"
