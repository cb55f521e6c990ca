#include "ui/theme.h"

#include <QApplication>
#include <QComboBox>
#include <QDir>
#include <QFontMetrics>
#include <QIcon>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTest>

#include <cmath>

using namespace heteroscope;

namespace {

double channel(double value) { return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4); }

double luminance(const QColor& c) {
    return 0.2126 * channel(c.redF()) + 0.7152 * channel(c.greenF()) + 0.0722 * channel(c.blueF());
}

/// WCAG 2 contrast ratio.
double contrast(const QColor& a, const QColor& b) {
    const double x = luminance(a), y = luminance(b);
    return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}

QApplication& application() { return *qobject_cast<QApplication*>(QCoreApplication::instance()); }

}  // namespace

class ThemeTest : public QObject {
    Q_OBJECT
private slots:
    void contrastOfTwoKnownColours() { QVERIFY(std::abs(contrast(Qt::black, Qt::white) - 21.0) < 0.01); }

    void textHasContrast_data() {
        QTest::addColumn<bool>("dark");
        QTest::newRow("light") << false;
        QTest::newRow("dark") << true;
    }
    void textHasContrast() {
        QFETCH(bool, dark);
        Theme::apply(application(), dark ? Theme::Mode::Dark : Theme::Mode::Light);
        QCOMPARE(Theme::isDark(), dark);
        for (const Token ground : {Token::Window, Token::Card, Token::Raised, Token::Selection, Token::Hover, Token::WarningGround})
            for (const Token text : {Token::Text, Token::Secondary, Token::Accent, Token::Warn, Token::Bad, Token::Good}) {
                const double ratio = contrast(Theme::color(text), Theme::color(ground));
                // Coloured words stand on window, card, raised, selection and hover; only text and its colours on warnings.
                QVERIFY2(ratio >= 4.5, qPrintable(QStringLiteral("token %1 on %2: %3").arg(int(text)).arg(int(ground)).arg(ratio)));
            }
        QVERIFY(contrast(Theme::color(Token::OnAccent), Theme::color(Token::Accent)) >= 4.5);
        QVERIFY(contrast(Theme::color(Token::Text), Theme::color(Token::SearchMatch)) >= 4.5);
        for (const Token ground : {Token::Window, Token::Card, Token::Raised})
            QVERIFY(contrast(Theme::color(Token::Edge), Theme::color(ground)) >= 3.0);
        for (int i = 0; i < 5; ++i) {
            // Reddish purple of the colour-blind-safe set is 2.8:1 on white: lines in it are never the only mark.
            const double least = !dark && i == 3 ? 2.8 : 3.0;
            const double ratio = contrast(Theme::series(i), Theme::color(Token::Card));
            QVERIFY2(ratio >= least, qPrintable(QStringLiteral("series %1: %2").arg(i).arg(ratio)));
        }
    }

    void seriesIndexWraps() {
        QCOMPARE(Theme::series(5), Theme::series(0));
        QCOMPARE(Theme::series(-1), Theme::series(4));
    }

    void environmentDecidesForSystem() {
        qputenv("HETEROSCOPE_THEME", "dark");
        Theme::apply(application(), Theme::Mode::System);
        QVERIFY(Theme::isDark());
        qputenv("HETEROSCOPE_THEME", "light");
        Theme::apply(application(), Theme::Mode::System);
        QVERIFY(!Theme::isDark());
        qunsetenv("HETEROSCOPE_THEME");
        // A dark theme of ours must not be taken for the desktop's when asked again.
        Theme::apply(application(), Theme::Mode::Dark);
        Theme::apply(application(), Theme::Mode::System);
        QVERIFY(!Theme::isDark());
    }

    void figuresAreTabular() {
        const QFontMetrics metrics(Theme::font(Theme::Type::Value));
        for (char digit = '1'; digit <= '9'; ++digit)
            QCOMPARE(metrics.horizontalAdvance(QLatin1Char(digit)), metrics.horizontalAdvance(QLatin1Char('0')));
        QCOMPARE(Theme::font(Theme::Type::Caption).pixelSize(), 11);
    }

    void everyIconDraws() {
        Theme::apply(application(), Theme::Mode::Light);
        const auto files = QDir(QStringLiteral(":/icons")).entryList({QStringLiteral("*.svg")});
        QVERIFY(files.size() > 40);
        for (const auto& file : files) {
            const QImage image = Theme::icon(file.chopped(4)).pixmap(QSize(28, 28), 1.0).toImage();
            int inked = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < image.width(); ++x) inked += qAlpha(image.pixel(x, y)) > 128 ? 1 : 0;
            QVERIFY2(inked > 10, qPrintable(file));
        }
    }

    void iconsFollowTheTheme() {
        const QIcon icon = Theme::icon(QStringLiteral("stop"), Token::Accent);
        Theme::apply(application(), Theme::Mode::Light);
        QCOMPARE(icon.pixmap(QSize(14, 14), 1.0).toImage().pixelColor(7, 7), Theme::color(Token::Accent));
        Theme::apply(application(), Theme::Mode::Dark);
        QCOMPARE(icon.pixmap(QSize(14, 14), 1.0).toImage().pixelColor(7, 7), Theme::color(Token::Accent));
    }

    void stateIconsDiffer() {
        QList<QImage> seen;
        for (int state = 0; state < jobStateCount; ++state) {
            QImage image = Theme::stateIcon(static_cast<JobState>(state)).pixmap(QSize(28, 28), 1.0).toImage();
            image = image.convertToFormat(QImage::Format_Alpha8);  // shape alone
            QVERIFY(!seen.contains(image));
            seen.append(image);
        }
    }

    void controlsAre28High() {
        Theme::apply(application(), Theme::Mode::Light);
        QPushButton button(QStringLiteral("Rescan"));
        QComboBox combo;
        combo.addItem(QStringLiteral("mct"));
        QLineEdit edit;
        QSpinBox spin;
        for (QWidget* control : std::initializer_list<QWidget*>{&button, &combo, &edit, &spin}) QCOMPARE(control->sizeHint().height(), 28);
    }
};

QTEST_MAIN(ThemeTest)
#include "tst_theme.moc"
