// One table of tokens for both themes, a palette made from it, icons tinted when they are drawn. Colours are looked up
// at paint time, never stored by widgets, so that a change of theme needs nothing but the repaint that Qt sends anyway.
#include "ui/theme.h"

#include "ui/control_style.h"

#include <QApplication>
#include <QFontDatabase>
#include <QIconEngine>
#include <QPainter>
#include <QPalette>
#include <QPixmapCache>
#include <QStyleHints>
#include <QSvgRenderer>
#include <QToolTip>

#include <array>
#include <cmath>
#include <map>
#include <memory>

// Resources of a static library have to be asked for, from outside any namespace.
static void initialiseResources() { Q_INIT_RESOURCE(resources); }

namespace heteroscope {

namespace {

struct Pair {
    QRgb light, dark;
};

constexpr QRgb rgb(unsigned value) { return 0xff000000u | value; }

// In the order of Token.
constexpr std::array<Pair, 16> tokens{{
    {rgb(0xF5F6F8), rgb(0x17191C)},  // Window
    {rgb(0xFFFFFF), rgb(0x1E2125)},  // Card
    {rgb(0xFFFFFF), rgb(0x262A2F)},  // Raised
    {rgb(0xD9DCE1), rgb(0x33383F)},  // Line
    {rgb(0x868D98), rgb(0x78818D)},  // Edge
    {rgb(0xE3EEF8), rgb(0x24384B)},  // Selection
    {rgb(0xEEF0F3), rgb(0x2B3036)},  // Hover
    {rgb(0xFBF2E2), rgb(0x352C1A)},  // WarningGround
    {rgb(0xFFFFFF), rgb(0x17191C)},  // OnAccent
    {rgb(0x1B1E23), rgb(0xE6E8EB)},  // Text
    {rgb(0x565D68), rgb(0xA3ABB6)},  // Secondary
    {rgb(0x0B62B8), rgb(0x6CB2F5)},  // Accent
    {rgb(0x0B7A53), rgb(0x4CC38A)},  // Good
    {rgb(0x9A5B00), rgb(0xF0B429)},  // Warn
    {rgb(0xB42318), rgb(0xFF7A6B)},  // Bad
    {rgb(0xFCE9A9), rgb(0x5C4A12)},  // SearchMatch
}};

constexpr std::array<Pair, 5> seriesColours{{
    {rgb(0x0072B2), rgb(0x56B4E9)},
    {rgb(0xD55E00), rgb(0xE69F00)},
    {rgb(0x009E73), rgb(0x009E73)},
    {rgb(0xCC79A7), rgb(0xCC79A7)},
    {rgb(0x1B1E23), rgb(0xF0E442)},
}};

bool darkInForce = false;

QColor pick(const Pair& pair) { return QColor(darkInForce ? pair.dark : pair.light); }

/// What the desktop says. The application's own palette must not be set meanwhile: before Qt 6.5 the lightness of the
/// platform's palette is all there is to ask.
bool desktopIsDark(QApplication& application) {
#if QT_VERSION >= QT_VERSION_CHECK(6, 5, 0)
    const auto scheme = application.styleHints()->colorScheme();
    if (scheme != Qt::ColorScheme::Unknown) return scheme == Qt::ColorScheme::Dark;
#endif
    application.setPalette(QPalette());
    const QPalette platform = application.palette();
    return platform.color(QPalette::Window).lightness() < platform.color(QPalette::WindowText).lightness();
}

bool wantsDark(QApplication& application, Theme::Mode mode) {
    if (mode != Theme::Mode::System) return mode == Theme::Mode::Dark;
    const QByteArray asked = qgetenv("HETEROSCOPE_THEME").toLower();
    if (asked == "dark") return true;
    if (asked == "light") return false;
    return desktopIsDark(application);
}

QPalette makePalette() {
    QPalette palette;
    const auto set = [&](QPalette::ColorRole role, Token token) { palette.setColor(role, Theme::color(token)); };
    set(QPalette::Window, Token::Window);
    set(QPalette::WindowText, Token::Text);
    set(QPalette::Base, Token::Card);
    set(QPalette::AlternateBase, Token::Card);
    set(QPalette::Text, Token::Text);
    set(QPalette::PlaceholderText, Token::Secondary);
    set(QPalette::Button, Token::Raised);
    set(QPalette::ButtonText, Token::Text);
    set(QPalette::BrightText, Token::Bad);
    set(QPalette::Highlight, Token::Selection);
    set(QPalette::HighlightedText, Token::Text);
    set(QPalette::Link, Token::Accent);
    set(QPalette::LinkVisited, Token::Accent);
    set(QPalette::ToolTipBase, Token::Raised);
    set(QPalette::ToolTipText, Token::Text);
    set(QPalette::Light, Token::Hover);
    set(QPalette::Midlight, Token::Hover);
    set(QPalette::Mid, Token::Line);
    set(QPalette::Dark, Token::Line);
    set(QPalette::Shadow, Token::Line);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText, QPalette::HighlightedText})
        palette.setColor(QPalette::Disabled, role, Theme::color(Token::Edge));
    return palette;
}

QColor mix(const QColor& a, const QColor& b, double share) {
    const auto channel = [share](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share)); };
    return {channel(a.red(), b.red()), channel(a.green(), b.green()), channel(a.blue(), b.blue())};
}

QSvgRenderer* renderer(const QString& name) {
    static std::map<QString, std::unique_ptr<QSvgRenderer>> renderers;
    auto& entry = renderers[name];
    if (!entry) {
        initialiseResources();
        entry = std::make_unique<QSvgRenderer>(QStringLiteral(":/icons/%1.svg").arg(name));
        if (!entry->isValid()) qWarning("icon '%s' is not in resources/icons", qPrintable(name));
    }
    return entry.get();
}

/// Draws an SVG in the colour its token has at that moment.
class TintedIcon : public QIconEngine {
public:
    TintedIcon(QString name, Token token) : name_(std::move(name)), token_(token) {}

    QIconEngine* clone() const override { return new TintedIcon(*this); }

    void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State state) override {
        const double ratio = painter->device() ? painter->device()->devicePixelRatioF() : 1.0;
        QPixmap image = scaledPixmap(QSizeF(QSizeF(rect.size()) * ratio).toSize(), mode, state, 1.0);
        image.setDevicePixelRatio(ratio);
        painter->drawPixmap(QRectF(rect), image, QRectF(image.rect()));
    }

    QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
        return scaledPixmap(size, mode, state, 1.0);
    }

    QPixmap scaledPixmap(const QSize& size, QIcon::Mode mode, QIcon::State, qreal) override {
        const QColor colour = mode == QIcon::Disabled ? mix(Theme::color(token_), Theme::color(Token::Card), 0.5) : Theme::color(token_);
        const QString key = QStringLiteral("tinted/%1/%2/%3x%4").arg(name_).arg(colour.rgba()).arg(size.width()).arg(size.height());
        QPixmap image;
        if (QPixmapCache::find(key, &image)) return image;
        image = QPixmap(size);
        image.fill(Qt::transparent);
        QPainter painter(&image);
        painter.setRenderHint(QPainter::Antialiasing);
        renderer(name_)->setAspectRatioMode(Qt::KeepAspectRatio);
        renderer(name_)->render(&painter, QRectF(QPointF(), QSizeF(size)));
        painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
        painter.fillRect(image.rect(), colour);
        painter.end();
        QPixmapCache::insert(key, image);
        return image;
    }

private:
    QString name_;
    Token token_;
};

Token stateToken(JobState state) {
    switch (state) {
        case JobState::Waiting: return Token::Secondary;
        case JobState::Ready:
        case JobState::Assigned: return Token::Text;
        case JobState::Staging:
        case JobState::Running: return Token::Accent;
        case JobState::Succeeded: return Token::Good;
        case JobState::Failed:
        case JobState::TimedOut: return Token::Bad;
        case JobState::Interrupted: return Token::Warn;
        case JobState::Cancelled:
        case JobState::Skipped: return Token::Secondary;
    }
    return Token::Text;
}

QString stateIconName(JobState state) {
    switch (state) {
        case JobState::Waiting: return QStringLiteral("state-waiting");
        case JobState::Ready: return QStringLiteral("state-ready");
        case JobState::Assigned: return QStringLiteral("state-assigned");
        case JobState::Staging: return QStringLiteral("state-staging");
        case JobState::Running: return QStringLiteral("state-running");
        case JobState::Succeeded: return QStringLiteral("state-succeeded");
        case JobState::Failed: return QStringLiteral("state-failed");
        case JobState::Cancelled: return QStringLiteral("state-cancelled");
        case JobState::TimedOut: return QStringLiteral("state-timed-out");
        case JobState::Interrupted: return QStringLiteral("state-interrupted");
        case JobState::Skipped: return QStringLiteral("state-skipped");
    }
    return QStringLiteral("state-waiting");
}

}  // namespace

void Theme::apply(QApplication& application, Mode mode) {
    initialiseResources();
    darkInForce = wantsDark(application, mode);
    if (!qobject_cast<ControlStyle*>(application.style())) application.setStyle(new ControlStyle);  // the application owns it
    application.setFont(font(Type::Text));
    application.setFont(font(Type::Caption), "QHeaderView");
    application.setFont(font(Type::Caption), "QTipLabel");
    application.setPalette(makePalette());
    QToolTip::setPalette(application.palette());
    // A person's palette for one class (some desktops set them) would break the contrast that the tokens promise.
    for (const char* kind : {"QMenu", "QMenuBar", "QHeaderView", "QTipLabel", "QMessageBox"})
        application.setPalette(application.palette(), kind);
    application.setEffectEnabled(Qt::UI_AnimateMenu, false);
    application.setEffectEnabled(Qt::UI_AnimateCombo, false);
    application.setEffectEnabled(Qt::UI_AnimateTooltip, false);
    application.setWindowIcon(QIcon(QStringLiteral(":/icons/heteroscope.svg")));
}

bool Theme::isDark() { return darkInForce; }

QColor Theme::color(Token token) { return pick(tokens[static_cast<std::size_t>(token)]); }

QColor Theme::series(int index) {
    const auto n = static_cast<int>(seriesColours.size());
    return pick(seriesColours[static_cast<std::size_t>(((index % n) + n) % n)]);
}

QColor Theme::stateColor(JobState state) { return color(stateToken(state)); }

QFont Theme::font(Type type, bool bold) {
    QFont font = QFontDatabase::systemFont(QFontDatabase::GeneralFont);
    switch (type) {
        case Type::Value: font.setPixelSize(24); break;
        case Type::Title: font.setPixelSize(16); break;
        case Type::Text: font.setPixelSize(13); break;
        case Type::Caption: font.setPixelSize(11); break;
    }
    font.setWeight(bold ? QFont::DemiBold : QFont::Normal);
#if QT_VERSION >= QT_VERSION_CHECK(6, 7, 0)
    font.setFeature("tnum", 1);
#endif
    return font;
}

QIcon Theme::icon(const QString& name, Token token) { return QIcon(new TintedIcon(name, token)); }

QIcon Theme::stateIcon(JobState state) { return icon(stateIconName(state), stateToken(state)); }

}  // namespace heteroscope
