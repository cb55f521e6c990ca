// The program is killed (SIGKILL) in the middle of a burst of 1,000 jobs, again and again. After each kill: the
// database is sound, what had finished is there, nothing is "running", what ran is interrupted, what waited is offered.
// HETEROSCOPE_KILLS says how often; 200 in the long form.
#include "program_process.h"

#include <QElapsedTimer>
#include <QTest>

using namespace heteroscope;

class KillTest : public QObject {
    Q_OBJECT
private slots:
    void killedInABurst();
    void whatIsLeftCanBeResumed();
    void whatIsLeftCanBeDropped();
};

namespace {

QStringList words(const char* text) { return QString::fromUtf8(text).split(QLatin1Char(' '), Qt::SkipEmptyParts); }

std::size_t countOf(const ProgramRunner& program, const char* state) {
    return program.json(words("history list --limit 1 --where") << QStringLiteral("state=") + QString::fromLatin1(state)).document["total"];
}

/// Starts a burst of 1,000 jobs, kills it `afterMs` after its first row is there. What had succeeded then, by history.
void killInABurst(const ProgramRunner& program, int afterMs, std::size_t before) {
    const auto run = program.start(words("run square -p n=20000 --count 1000"));
    QElapsedTimer waited;
    waited.start();
    const auto rows = [&]() -> std::size_t { return program.json(words("history list --limit 1")).document.value("total", std::size_t{0}); };
    while (run->state() == QProcess::Running && rows() <= before && !waited.hasExpired(30'000)) run->waitForFinished(5);
    run->waitForFinished(afterMs);
    run->kill();
    run->waitForFinished();
}

}  // namespace

void KillTest::killedInABurst() {
    const int kills = std::max(1, qEnvironmentVariableIntValue("HETEROSCOPE_KILLS") ? qEnvironmentVariableIntValue("HETEROSCOPE_KILLS") : 4);
    ProgramRunner program;
    std::size_t total = 0, succeeded = 0;
    for (int i = 0; i < kills; ++i) {
        killInABurst(program, i * 37 % 300, total);
        const auto committed = countOf(program, "succeeded");

        // A start after the kill: it settles what the dead session left.
        const auto queue = program.json(words("queue"));
        VERIFY_ENDED(queue, 0);
        QVERIFY(queue.document["jobs"].empty());
        const auto doctor = program.json(words("doctor"));
        QVERIFY2(doctor.status == 0, doctor.answer.constData());  // integrity_check among others

        QCOMPARE(countOf(program, "running"), std::size_t{0});
        QCOMPARE(countOf(program, "staging"), std::size_t{0});
        QVERIFY(committed >= succeeded);
        QCOMPARE(countOf(program, "succeeded"), committed);
        const auto left = queue.document["left"].size();
        const auto now = program.json(words("history list --limit 1")).document["total"].get<std::size_t>();
        const auto interrupted = countOf(program, "interrupted");
        const auto cancelled = countOf(program, "cancelled");
        // Nothing is lost: every row is one of these.
        QCOMPARE(committed + left + interrupted + cancelled, now);
        VERIFY_ENDED(program.json(words("queue drop --all")), 0);
        QVERIFY(program.json(words("queue")).document["left"].empty());
        total = now;
        succeeded = committed;
    }
}

void KillTest::whatIsLeftCanBeResumed() {
    ProgramRunner program;
    std::size_t left = 0, before = 0;
    // A quick machine may be through before the kill; the next burst is tried then.
    for (int tries = 0; tries < 10 && left == 0; ++tries) {
        killInABurst(program, 0, before);
        left = program.json(words("queue")).document["left"].size();
        before = program.json(words("history list --limit 1")).document["total"];
    }
    QVERIFY(left > 0);
    const auto succeeded = countOf(program, "succeeded");
    const auto resumed = program.json(words("queue resume"));
    VERIFY_ENDED(resumed, 0);
    QCOMPARE(resumed.document["jobs"].size(), left);
    for (const auto& job : resumed.document["jobs"]) QCOMPARE(job["state"], nlohmann::json("succeeded"));
    QCOMPARE(countOf(program, "succeeded"), succeeded + left);
    QVERIFY(program.json(words("queue")).document["left"].empty());
}

void KillTest::whatIsLeftCanBeDropped() {
    ProgramRunner program;
    const auto window = program.startWindow();
    VERIFY_ENDED(program.run(words("queue pause")), 0);
    VERIFY_ENDED(program.run(words("submit square -p n=64 --count 3")), 0);
    window->kill();
    QVERIFY(window->waitForFinished());
    const auto queue = program.json(words("queue"));
    QCOMPARE(queue.document["left"].size(), std::size_t{3});
    const auto one = QString::fromStdString(queue.document["left"][1]["id"].dump());
    VERIFY_ENDED(program.run(words("queue drop") << one), 0);
    QCOMPARE(program.json(words("queue")).document["left"].size(), std::size_t{2});
    VERIFY_ENDED(program.run(words("queue drop --all")), 0);
    QVERIFY(program.json(words("queue")).document["left"].empty());
    QCOMPARE(countOf(program, "cancelled"), std::size_t{3});
}

QTEST_GUILESS_MAIN(KillTest)
#include "tst_kill.moc"
