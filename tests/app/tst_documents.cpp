// Times as people write them, and documents as programs read them.
#include <QFloat16>  // complete before nlohmann-json asks after it

#include "app/documents.h"

#include <QTest>

using namespace heteroscope;

class DocumentsTest : public QObject {
    Q_OBJECT
private slots:
    void readsTimes_data();
    void readsTimes();
    void refusesWhatIsNoTime_data();
    void refusesWhatIsNoTime();
    void aJobThatNeverRanHasNulls();
    void anErrorComesBackWhole();
};

void DocumentsTest::readsTimes_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<bool>("endOfDay");
    QTest::addColumn<qint64>("seconds");
    // date -u -d 2026-11-26T00:00:00 +%s
    QTest::newRow("a date is its first moment") << "2026-11-26" << false << qint64{1795651200};
    QTest::newRow("UTC") << "2026-11-26T14:05:12Z" << false << qint64{1795701912};
    QTest::newRow("no zone is UTC") << "2026-11-26T14:05:12" << false << qint64{1795701912};
    QTest::newRow("a blank for the T") << "2026-11-26 14:05" << false << qint64{1795701900};
    QTest::newRow("east of Greenwich") << "2026-11-26T15:05:12+01:00" << false << qint64{1795701912};
    QTest::newRow("west of Greenwich") << "2026-11-26T08:35:12-05:30" << false << qint64{1795701912};
    QTest::newRow("leap day") << "2024-02-29" << false << qint64{1709164800};
}

void DocumentsTest::readsTimes() {
    QFETCH(QString, text);
    QFETCH(bool, endOfDay);
    QFETCH(qint64, seconds);
    const auto time = parseIsoTime(text.toStdString(), endOfDay);
    QVERIFY(time.has_value());
    QCOMPARE(*time, seconds * 1'000'000'000);
    QCOMPARE(*parseIsoTime("2026-11-26", true), qint64{1795651200 + 86400} * 1'000'000'000 - 1);
}

void DocumentsTest::refusesWhatIsNoTime_data() {
    QTest::addColumn<QString>("text");
    for (const char* text : {"", "yesterday", "2026-13-01", "2026-02-30", "2026-11-26T", "2026-11-26T25:00", "2026-11-26T14:05:12X",
                             "2026-11-26T14:05+1", "26-11-2026", "2026-11-26 14:05:12 nonsense"})
        QTest::newRow(text) << QString::fromLatin1(text);
}

void DocumentsTest::refusesWhatIsNoTime() {
    QFETCH(QString, text);
    QVERIFY(!parseIsoTime(text.toStdString(), false));
}

void DocumentsTest::aJobThatNeverRanHasNulls() {
    JobSnapshot job;
    job.id = 7;
    job.kernel = "square";
    job.state = JobState::Cancelled;
    const auto document = document::job(job);
    QCOMPARE(document["id"], nlohmann::json(7));
    QCOMPARE(document["state"], nlohmann::json("cancelled"));
    QCOMPARE(document["check"], nlohmann::json("none"));
    for (const char* key : {"device", "runtime", "wait_s", "stage_in_s", "run_s", "stage_out_s", "error", "started"})
        QVERIFY2(document.contains(key) && document[key].is_null(), key);
}

void DocumentsTest::anErrorComesBackWhole() {
    const Error error{ErrorKind::BuildFailed, "mine.cl:3: no", "/tmp/mine.cl", 3, "the whole log\n"};
    QCOMPARE(errorFromDocument(document::error(error)), error);
}

QTEST_APPLESS_MAIN(DocumentsTest)
#include "tst_documents.moc"
