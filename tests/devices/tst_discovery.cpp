#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QProcess>
#include <QProcessEnvironment>
#include <QTemporaryDir>
#include <QTest>

namespace {

using Environment = QMap<QString, QString>;

std::unique_ptr<QProcess> start(const QStringList& arguments, const Environment& changes) {
    auto probe = std::make_unique<QProcess>();
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    for (auto at = changes.begin(); at != changes.end(); ++at) {
        if (at.value().isNull()) {
            environment.remove(at.key());
        } else {
            environment.insert(at.key(), at.value());
        }
    }
    probe->setProcessEnvironment(environment);
    probe->start(QStringLiteral(DEVICE_PROBE), arguments);
    return probe;
}

/// The probe's report; an empty object when it crashed or said nothing.
QJsonObject report(QProcess& probe) {
    if (!probe.waitForFinished(300'000) || probe.exitStatus() != QProcess::NormalExit || probe.exitCode() != 0) return {};
    return QJsonDocument::fromJson(probe.readAllStandardOutput()).object();
}

QJsonObject look(const Environment& changes, const QStringList& arguments = {}) { return report(*start(arguments, changes)); }

QStringList ids(const QJsonObject& found) {
    QStringList list;
    for (const QJsonValue& device : found[QStringLiteral("devices")].toArray()) list << device[QStringLiteral("id")].toString();
    return list;
}

/// The fix of the problem whose text holds every one of `parts`; null when there is none.
QString fixOf(const QJsonObject& found, const QStringList& parts) {
    for (const QJsonValue& problem : found[QStringLiteral("problems")].toArray()) {
        const QString what = problem[QStringLiteral("what")].toString();
        if (std::all_of(parts.begin(), parts.end(), [&](const QString& part) { return what.contains(part); })) return problem[QStringLiteral("fix")].toString();
    }
    return {};
}

void write(const QString& path, const QByteArray& text) {
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(text);
}

}  // namespace

#define FOUND(found) QVERIFY2(!(found).isEmpty(), "the probe crashed or gave no report")
#define SAYS(found, ...) QVERIFY2(!fixOf(found, {__VA_ARGS__}).isEmpty(), QJsonDocument(found).toJson().constData())

/// Each case in a process of its own: the ICD loader reads the environment once.
class TestDiscovery : public QObject {
    Q_OBJECT

private:
    QTemporaryDir folder_;

    /// A folder of .icd files: a name and what its first line is.
    QString vendors(const QString& name, const QMap<QString, QByteArray>& files) {
        const QString folder = folder_.filePath(name);
        QDir().mkpath(folder);
        for (auto at = files.begin(); at != files.end(); ++at) write(folder + QLatin1Char('/') + at.key(), at.value());
        return folder;
    }

    QJsonObject scripted(const QString& script, const QStringList& arguments = {}) {
        const QString folder = vendors(QStringLiteral("scripted"), {{QStringLiteral("scripted.icd"), QByteArray(SCRIPTED_DRIVER) + "\n"}});
        return look({{QStringLiteral("OCL_ICD_VENDORS"), folder}, {QStringLiteral("SCRIPTED_DRIVER"), script}}, arguments);
    }

private slots:
    void findsBothOfPocl() {
        const QJsonObject found = look({});
        FOUND(found);
        QCOMPARE(ids(found), (QStringList{QStringLiteral("cpu-0"), QStringLiteral("cpu-1")}));
        const QJsonArray devices = found[QStringLiteral("devices")].toArray();
        QVERIFY(!devices[0][QStringLiteral("name")].toString().isEmpty());
        QVERIFY(!devices[0][QStringLiteral("name")].toString().contains(QStringLiteral("pthread-")));
        QVERIFY(!devices[0][QStringLiteral("shortName")].toString().isEmpty());
        QCOMPARE(devices[0][QStringLiteral("processor")], devices[1][QStringLiteral("processor")]);
        QVERIFY(devices[0][QStringLiteral("computeUnits")].toInt() > 0);
        QCOMPARE(look({}), found);  // the same ids after a restart
    }

    void saysWhatToInstallWhereThereIsNoPlatform() {
        const QString empty = vendors(QStringLiteral("empty"), {});
        const QJsonObject found = look({{QStringLiteral("OCL_ICD_VENDORS"), empty}});
        FOUND(found);
        QCOMPARE(ids(found), QStringList());
        SAYS(found, QStringLiteral("No OpenCL runtime"), empty);
        QVERIFY(fixOf(found, {QStringLiteral("No OpenCL runtime")}).contains(QStringLiteral("OCL_ICD_VENDORS")));
    }

    void aMissingVendorFolderIsNoCrash() {
        const QJsonObject found = look({{QStringLiteral("OCL_ICD_VENDORS"), QStringLiteral("/nonexistent/vendors/")}});
        FOUND(found);
        SAYS(found, QStringLiteral("No OpenCL runtime"), QStringLiteral("/nonexistent/vendors/"));
    }

    void aFileThatNamesAMissingLibraryIsMentionedAndTheGoodOneListed() {
        QFile pocl(QStringLiteral("/etc/OpenCL/vendors/pocl.icd"));
        QVERIFY(pocl.open(QIODevice::ReadOnly));
        const QString folder = vendors(QStringLiteral("mixed"), {{QStringLiteral("a-bad.icd"), "libpocl.so.99\n"},
                                                                 {QStringLiteral("blank.icd"), ""},
                                                                 {QStringLiteral("notext.txt"), "libother.so\n"},
                                                                 {QStringLiteral("z-good.icd"), pocl.readAll()},
                                                                 {QStringLiteral("other.icd"), "libc.so.6\n"}});
        QDir().mkpath(folder + QStringLiteral("/folder.icd"));
        QVERIFY(QFile::link(QStringLiteral("/nonexistent"), folder + QStringLiteral("/dangling.icd")));
        const QJsonObject found = look({{QStringLiteral("OCL_ICD_VENDORS"), folder}});
        FOUND(found);
        QCOMPARE(ids(found), (QStringList{QStringLiteral("cpu-0"), QStringLiteral("cpu-1")}));
        SAYS(found, folder + QStringLiteral("/a-bad.icd"), QStringLiteral("libpocl.so.99"), QStringLiteral("cannot open shared object file"));
        const QString fix = fixOf(found, {QStringLiteral("a-bad.icd")});
        QVERIFY2(fix.contains(QStringLiteral("pocl-opencl-icd")) && fix.contains(QStringLiteral("a-bad.icd")), qPrintable(fix));
        SAYS(found, QStringLiteral("blank.icd"));
        SAYS(found, QStringLiteral("dangling.icd"));
        SAYS(found, QStringLiteral("other.icd"), QStringLiteral("no OpenCL runtime"));
        QVERIFY(fixOf(found, {QStringLiteral("notext")}).isNull());
        QVERIFY(fixOf(found, {QStringLiteral("z-good")}).isNull());
    }

    void aVariableMayNameALibrary() {
        const QJsonObject found = look({{QStringLiteral("OCL_ICD_VENDORS"), QStringLiteral("libnope.so.7")}});
        FOUND(found);
        SAYS(found, QStringLiteral("OCL_ICD_VENDORS"), QStringLiteral("libnope.so.7"));
    }

    void aPlatformWithoutDevicesIsSaid() {
        const QJsonObject found = look({{QStringLiteral("POCL_DEVICES"), QStringLiteral("nonsense")}});
        FOUND(found);
        QCOMPARE(ids(found), QStringList());
        SAYS(found, QStringLiteral("Portable Computing Language"), QStringLiteral("no device"), QStringLiteral("'nonsense'"));
        QVERIFY(fixOf(found, {QStringLiteral("nonsense")}).contains(QStringLiteral("POCL_DEVICES")));
    }

    void enumerationGoesOnAfterAnEmptyPlatform() {
        QFile pocl(QStringLiteral("/etc/OpenCL/vendors/pocl.icd"));
        QVERIFY(pocl.open(QIODevice::ReadOnly));
        const QString folder = vendors(QStringLiteral("two"), {{QStringLiteral("a.icd"), QByteArray(SCRIPTED_DRIVER) + "\n"}, {QStringLiteral("b.icd"), pocl.readAll()}});
        const QJsonObject found = look({{QStringLiteral("OCL_ICD_VENDORS"), folder}, {QStringLiteral("SCRIPTED_DRIVER"), QStringLiteral("empty")}});
        FOUND(found);
        QCOMPARE(ids(found), (QStringList{QStringLiteral("cpu-0"), QStringLiteral("cpu-1")}));
        SAYS(found, QStringLiteral("Scripted A"), QStringLiteral("no device"));
    }

    void aDeviceThatRefusesAContextIsSaid() {
        const QJsonObject found = scripted(QStringLiteral("refuses"));
        FOUND(found);
        QCOMPARE(ids(found), QStringList());
        SAYS(found, QStringLiteral("Scripted GPU 9000"), QStringLiteral("refuses a context"), QStringLiteral("CL_DEVICE_NOT_AVAILABLE (-2)"));
    }

    void aDeviceThatIsNotAvailableIsSaid() {
        const QJsonObject found = scripted(QStringLiteral("gone"));
        FOUND(found);
        QCOMPARE(ids(found), QStringList());
        SAYS(found, QStringLiteral("Scripted GPU 9000"), QStringLiteral("not available"));
    }

    void aDeviceThatIsTooOldIsSaid() {
        const QJsonObject found = scripted(QStringLiteral("old"));
        FOUND(found);
        QCOMPARE(ids(found), QStringList());
        SAYS(found, QStringLiteral("OpenCL 1.1"), QStringLiteral("1.2"));
    }

    void oneGpuOnTwoPlatformsIsOneDevice() {
        const QJsonObject found = scripted(QStringLiteral("twins"));
        FOUND(found);
        QCOMPARE(ids(found), (QStringList{QStringLiteral("gpu-bfbb7738"), QStringLiteral("gpu-aabb7738")}));
        const QJsonArray devices = found[QStringLiteral("devices")].toArray();
        QCOMPARE(devices[0][QStringLiteral("runtimes")].toInt(), 2);
        QCOMPARE(devices[1][QStringLiteral("runtimes")].toInt(), 1);
        QVERIFY(devices[0][QStringLiteral("computeUnits")].isNull());  // not reported is not 0
    }

    void aFaultLosesTheDeviceOnce() {
        const QJsonObject found = scripted(QStringLiteral("faults"), {QStringLiteral("upload")});
        FOUND(found);
        const QJsonArray uploads = found[QStringLiteral("devices")].toArray()[0][QStringLiteral("uploads")].toArray();
        QCOMPARE(uploads.size(), 2);
        QVERIFY2(uploads[0].toString().startsWith(QStringLiteral("device-lost")) && uploads[0].toString().contains(QStringLiteral("CL_OUT_OF_RESOURCES")),
                 qPrintable(uploads[0].toString()));
        QVERIFY2(uploads[1].toString().startsWith(QStringLiteral("device-lost")) && uploads[1].toString().contains(QStringLiteral("was lost")), qPrintable(uploads[1].toString()));
    }

    void anEmptiedCacheIsBuiltAnew() {
        QTemporaryDir cache;
        const Environment environment{{QStringLiteral("POCL_CACHE_DIR"), cache.path()}};
        const QStringList arguments{QStringLiteral("build"), QStringLiteral("2")};
        FOUND(look(environment, arguments));
        int emptied = 0;
        for (QDirIterator files(cache.path(), QDir::Files, QDirIterator::Subdirectories); files.hasNext();)
            if (QFile file(files.next()); file.size() > 0 && file.resize(0)) ++emptied;
        QVERIFY(emptied > 0);
        const QJsonObject found = look(environment, arguments);
        FOUND(found);
        for (const QJsonValue& device : found[QStringLiteral("devices")].toArray()) {
            const QJsonObject builds = device[QStringLiteral("builds")].toObject();
            QVERIFY2(builds[QStringLiteral("right")].toInt() == 2, qPrintable(builds[QStringLiteral("error")].toString()));
        }
    }

    void twoProcessesShareTheRuntimesCache() {
        QTemporaryDir cache;
        const Environment environment{{QStringLiteral("POCL_CACHE_DIR"), cache.path()}};
        const QStringList arguments{QStringLiteral("build"), QStringLiteral("6")};
        const auto first = start(arguments, environment), second = start(arguments, environment);
        for (QProcess* probe : {first.get(), second.get()}) {
            const QJsonObject found = report(*probe);
            FOUND(found);
            for (const QJsonValue& device : found[QStringLiteral("devices")].toArray()) {
                const QJsonObject builds = device[QStringLiteral("builds")].toObject();
                QVERIFY2(builds[QStringLiteral("right")].toInt() == 6, qPrintable(builds[QStringLiteral("error")].toString()));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TestDiscovery)
#include "tst_discovery.moc"
