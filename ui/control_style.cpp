#include "ui/control_style.h"

#include "ui/theme.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QPainter>
#include <QPushButton>
#include <QStyleFactory>
#include <QStyleOption>
#include <QToolButton>

#include <algorithm>

namespace heteroscope {

namespace {

constexpr int controlHeight = 28;
constexpr double cornerRadius = 6.0;

bool has(const QStyleOption* option, QStyle::StateFlag flag) { return option->state.testFlag(flag); }

void drawBox(QPainter* painter, const QRect& rect, const QColor& fill, const QColor& edge, double radius = cornerRadius,
             double width = 1.0) {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
    painter->setPen(edge.isValid() ? QPen(edge, width) : QPen(Qt::NoPen));
    const double inset = edge.isValid() ? width / 2.0 : 0.0;
    painter->drawRoundedRect(QRectF(rect).adjusted(inset, inset, -inset, -inset), radius, radius);
    painter->restore();
}

/// A field one writes in: card ground, edge, accent when it has the focus.
void drawField(QPainter* painter, const QRect& rect, bool enabled, bool focused) {
    const QColor edge = focused ? Theme::color(Token::Accent) : Theme::color(enabled ? Token::Edge : Token::Line);
    drawBox(painter, rect, Theme::color(enabled ? Token::Raised : Token::Window), edge, cornerRadius, focused ? 2.0 : 1.0);
}

bool isAccent(const QWidget* widget) { return widget && widget->property("accent").toBool(); }

void drawButton(const QStyleOption* option, QPainter* painter, const QWidget* widget, bool flat) {
    const bool enabled = has(option, QStyle::State_Enabled);
    const bool pressed = has(option, QStyle::State_Sunken);
    const bool hovered = enabled && has(option, QStyle::State_MouseOver);
    const bool checked = has(option, QStyle::State_On);
    QColor fill = flat ? QColor() : Theme::color(Token::Raised);
    QColor edge = flat ? QColor() : Theme::color(enabled ? Token::Edge : Token::Line);
    if (hovered) fill = Theme::color(Token::Hover);
    if (pressed || checked) fill = Theme::color(Token::Selection);
    if (checked) edge = Theme::color(Token::Accent);
    if (isAccent(widget)) {
        const QColor accent = Theme::color(enabled ? Token::Accent : Token::Line);
        fill = pressed ? accent.darker(112) : hovered ? accent.lighter(108) : accent;
        edge = QColor();
    }
    drawBox(painter, option->rect, fill, edge);
    if (has(option, QStyle::State_HasFocus) && has(option, QStyle::State_KeyboardFocusChange)) {
        if (isAccent(widget)) drawBox(painter, option->rect.adjusted(3, 3, -3, -3), QColor(), Theme::color(Token::OnAccent), 4.0);
        else drawBox(painter, option->rect, QColor(), Theme::color(Token::Accent), cornerRadius, 2.0);
    }
}

void drawIcon(QPainter* painter, const QString& name, const QRect& rect, bool enabled, int size = 14, Token token = Token::Text) {
    QRect place(0, 0, size, size);
    place.moveCenter(rect.center());
    Theme::icon(name, token).paint(painter, place, Qt::AlignCenter, enabled ? QIcon::Normal : QIcon::Disabled);
}

void drawCheck(const QStyleOption* option, QPainter* painter, bool round) {
    const bool enabled = has(option, QStyle::State_Enabled);
    const bool on = has(option, QStyle::State_On);
    const bool some = has(option, QStyle::State_NoChange);
    QRect box(0, 0, 16, 16);
    box.moveCenter(option->rect.center());
    const QColor accent = Theme::color(enabled ? Token::Accent : Token::Edge);
    const double radius = round ? 8.0 : 4.0;
    if (!on && !some) {
        drawBox(painter, box, Theme::color(has(option, QStyle::State_MouseOver) ? Token::Hover : Token::Raised),
                Theme::color(Token::Edge), radius);
    } else {
        drawBox(painter, box, accent, QColor(), radius);
        if (round) drawBox(painter, box.adjusted(5, 5, -5, -5), Theme::color(Token::OnAccent), QColor(), 3.0);
        else drawIcon(painter, some ? QStringLiteral("minus") : QStringLiteral("check"), box, true, 12, Token::OnAccent);
    }
    if (has(option, QStyle::State_HasFocus) && has(option, QStyle::State_KeyboardFocusChange))
        drawBox(painter, box.adjusted(-2, -2, 2, 2), QColor(), Theme::color(Token::Accent), radius + 2, 1.5);
}

/// Icon and words, centred together, six pixels apart.
void drawButtonLabel(const QStyleOptionButton& button, QPainter* painter, const QWidget* widget) {
    const bool enabled = has(&button, QStyle::State_Enabled);
    QRect rect = button.rect;
    if (button.features.testFlag(QStyleOptionButton::HasMenu)) rect.adjust(0, 0, -16, 0);
    const bool hasIcon = !button.icon.isNull();
    const int words = button.text.isEmpty() ? 0 : button.fontMetrics.size(Qt::TextShowMnemonic, button.text).width();
    const int icon = hasIcon ? button.iconSize.width() + (words ? 6 : 0) : 0;
    int x = rect.left() + std::max(0, (rect.width() - icon - words) / 2);
    if (hasIcon) {
        const QRect place(QPoint(x, rect.center().y() - button.iconSize.height() / 2 + 1), button.iconSize);
        button.icon.paint(painter, place, Qt::AlignCenter, enabled ? QIcon::Normal : QIcon::Disabled);
        x += icon;
    }
    if (!words) return;
    painter->setPen(isAccent(widget) ? Theme::color(enabled ? Token::OnAccent : Token::Secondary)
                                     : button.palette.color(enabled ? QPalette::Active : QPalette::Disabled, QPalette::ButtonText));
    painter->drawText(QRect(x, rect.top(), rect.right() - x, rect.height()), Qt::AlignLeft | Qt::AlignVCenter | Qt::TextShowMnemonic | Qt::TextSingleLine,
                      button.text);
}

bool isInTable(const QWidget* widget) {
    return widget && widget->parentWidget() && qobject_cast<const QAbstractItemView*>(widget->parentWidget()->parentWidget());
}

}  // namespace

ControlStyle::ControlStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void ControlStyle::polish(QWidget* widget) {
    QProxyStyle::polish(widget);
    if (qobject_cast<QPushButton*>(widget) || qobject_cast<QToolButton*>(widget) || qobject_cast<QComboBox*>(widget))
        widget->setAttribute(Qt::WA_Hover);
}

void ControlStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                                 const QWidget* widget) const {
    switch (element) {
        case PE_PanelButtonCommand: {
            const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
            drawButton(option, painter, widget, button && button->features.testFlag(QStyleOptionButton::Flat));
            return;
        }
        case PE_PanelButtonTool: drawButton(option, painter, widget, has(option, State_AutoRaise)); return;
        case PE_FrameDefaultButton:
        case PE_FrameButtonBevel:
        case PE_FrameButtonTool: return;
        case PE_PanelLineEdit:
            if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option); frame && frame->lineWidth > 0)
                drawField(painter, option->rect, has(option, State_Enabled), has(option, State_HasFocus));
            return;
        case PE_FrameLineEdit: return;
        case PE_FrameFocusRect:
            // Views show their current row by its ground; a tab bar and buttons draw their own.
            if (qobject_cast<const QAbstractItemView*>(widget)) return;
            if (has(option, State_KeyboardFocusChange))
                drawBox(painter, option->rect, QColor(), Theme::color(Token::Accent), 4.0, 1.5);
            return;
        case PE_Frame:
        case PE_FrameGroupBox:
        case PE_FrameTabWidget:
            drawBox(painter, option->rect, QColor(), Theme::color(Token::Line), element == PE_Frame ? 0.0 : cornerRadius);
            return;
        case PE_FrameMenu: drawBox(painter, option->rect, QColor(), Theme::color(Token::Line), 0.0); return;
        case PE_FrameTabBarBase:
            painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), Theme::color(Token::Line));
            return;
        case PE_PanelTipLabel: drawBox(painter, option->rect, Theme::color(Token::Raised), Theme::color(Token::Edge), 0.0); return;
        case PE_IndicatorCheckBox:
        case PE_IndicatorItemViewItemCheck: drawCheck(option, painter, false); return;
        case PE_IndicatorRadioButton: drawCheck(option, painter, true); return;
        case PE_IndicatorArrowDown: drawIcon(painter, QStringLiteral("chevron-down"), option->rect, has(option, State_Enabled)); return;
        case PE_IndicatorArrowUp: drawIcon(painter, QStringLiteral("chevron-up"), option->rect, has(option, State_Enabled)); return;
        case PE_IndicatorArrowRight: drawIcon(painter, QStringLiteral("chevron-right"), option->rect, has(option, State_Enabled)); return;
        case PE_IndicatorArrowLeft: drawIcon(painter, QStringLiteral("chevron-left"), option->rect, has(option, State_Enabled)); return;
        case PE_IndicatorBranch:
            if (has(option, State_Children))
                drawIcon(painter, has(option, State_Open) ? QStringLiteral("chevron-down") : QStringLiteral("chevron-right"), option->rect, true,
                         12, Token::Secondary);
            return;
        case PE_IndicatorHeaderArrow: {
            const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
            if (header && header->sortIndicator != QStyleOptionHeader::None)
                drawIcon(painter, header->sortIndicator == QStyleOptionHeader::SortUp ? QStringLiteral("arrow-down") : QStringLiteral("arrow-up"),
                         option->rect, true, 10, Token::Secondary);
            return;
        }
        case PE_PanelItemViewRow: return;
        case PE_PanelItemViewItem: {
            const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option);
            if (item && item->backgroundBrush.style() != Qt::NoBrush) painter->fillRect(option->rect, item->backgroundBrush);
            if (has(option, State_Selected)) painter->fillRect(option->rect, Theme::color(Token::Selection));
            else if (has(option, State_MouseOver) && has(option, State_Enabled)) painter->fillRect(option->rect, Theme::color(Token::Hover));
            return;
        }
        default: QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void ControlStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
    switch (element) {
        case CE_PushButtonBevel: {
            proxy()->drawPrimitive(PE_PanelButtonCommand, option, painter, widget);
            const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
            if (button && button->features.testFlag(QStyleOptionButton::HasMenu)) {
                const QRect rect = option->rect;
                drawIcon(painter, QStringLiteral("chevron-down"), QRect(rect.right() - 22, rect.top(), 18, rect.height()), has(option, State_Enabled));
            }
            return;
        }
        case CE_PushButtonLabel: {
            const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
            if (!button) break;
            drawButtonLabel(*button, painter, widget);
            return;
        }
        case CE_HeaderEmptyArea: {
            painter->fillRect(option->rect, Theme::color(Token::Card));
            const auto* header = qobject_cast<const QHeaderView*>(widget);
            if (!header || header->orientation() == Qt::Horizontal)
                painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), Theme::color(Token::Line));
            return;
        }
        case CE_HeaderSection:
            painter->fillRect(option->rect, Theme::color(has(option, State_MouseOver) ? Token::Hover : Token::Card));
            painter->fillRect(QRect(option->rect.left(), option->rect.bottom(), option->rect.width(), 1), Theme::color(Token::Line));
            return;
        case CE_HeaderLabel: {
            const auto* header = qstyleoption_cast<const QStyleOptionHeader*>(option);
            if (!header) break;
            QStyleOptionHeaderV2 label;
            if (const auto* second = qstyleoption_cast<const QStyleOptionHeaderV2*>(option)) label = *second;
            else static_cast<QStyleOptionHeader&>(label) = *header;
            label.palette.setColor(QPalette::ButtonText, Theme::color(Token::Secondary));
            label.state &= ~State_On;  // no bold for the section of the current cell
            QProxyStyle::drawControl(element, &label, painter, widget);
            return;
        }
        case CE_ProgressBarGroove: {
            const QRect rect = option->rect;
            const int height = std::min(8, rect.height());
            drawBox(painter, QRect(rect.left(), rect.center().y() - height / 2 + 1, rect.width(), height), Theme::color(Token::Line), QColor(), 2.0);
            return;
        }
        case CE_ProgressBarContents: {
            const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option);
            if (!bar || bar->maximum <= bar->minimum) return;
            QRect rect = option->rect;
            const int height = std::min(8, rect.height());
            const double share = std::clamp(double(bar->progress - bar->minimum) / double(bar->maximum - bar->minimum), 0.0, 1.0);
            drawBox(painter, QRect(rect.left(), rect.center().y() - height / 2 + 1, int(share * rect.width()), height), Theme::color(Token::Accent), QColor(), 2.0);
            return;
        }
        case CE_Splitter: {
            const QRect rect = option->rect;
            if (rect.width() < rect.height()) painter->fillRect(QRect(rect.center().x(), rect.top(), 1, rect.height()), Theme::color(Token::Line));
            else painter->fillRect(QRect(rect.left(), rect.center().y(), rect.width(), 1), Theme::color(Token::Line));
            return;
        }
        case CE_TabBarTabShape: {
            const bool selected = has(option, State_Selected);
            const QRect rect = option->rect;
            if (!selected && has(option, State_MouseOver)) painter->fillRect(rect.adjusted(0, 2, 0, -3), Theme::color(Token::Hover));
            if (selected) painter->fillRect(QRect(rect.left() + 4, rect.bottom() - 1, rect.width() - 8, 2), Theme::color(Token::Accent));
            if (has(option, State_HasFocus) && has(option, State_KeyboardFocusChange))
                drawBox(painter, rect.adjusted(2, 2, -2, -4), QColor(), Theme::color(Token::Accent), 4.0, 1.5);
            return;
        }
        case CE_TabBarTabLabel: {
            const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option);
            if (!tab) break;
            QStyleOptionTab label = *tab;
            label.state &= ~State_HasFocus;
            label.palette.setColor(QPalette::WindowText, Theme::color(has(option, State_Selected) ? Token::Accent : Token::Secondary));
            QProxyStyle::drawControl(element, &label, painter, widget);
            return;
        }
        case CE_ComboBoxLabel: {
            const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
            if (!combo) break;
            QRect rect = proxy()->subControlRect(CC_ComboBox, combo, SC_ComboBoxEditField, widget).adjusted(2, 0, 0, 0);
            if (!combo->currentIcon.isNull()) {
                QRect place(QPoint(rect.left(), 0), combo->iconSize);
                place.moveCenter(QPoint(place.center().x(), rect.center().y()));
                combo->currentIcon.paint(painter, place, Qt::AlignCenter, has(option, State_Enabled) ? QIcon::Normal : QIcon::Disabled);
                rect.setLeft(place.right() + 6);
            }
            if (!combo->editable)
                drawItemText(painter, rect, Qt::AlignLeft | Qt::AlignVCenter, combo->palette, has(option, State_Enabled),
                             painter->fontMetrics().elidedText(combo->currentText, Qt::ElideRight, rect.width()), QPalette::ButtonText);
            return;
        }
        default: break;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

void ControlStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                                      const QWidget* widget) const {
    const bool enabled = has(option, State_Enabled);
    switch (control) {
        case CC_ComboBox: {
            const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
            if (!combo) break;
            if (combo->editable) drawField(painter, option->rect, enabled, has(option, State_HasFocus));
            else {
                QStyleOption button = *option;
                button.state &= ~State_On;
                drawButton(&button, painter, nullptr, !combo->frame);
            }
            drawIcon(painter, QStringLiteral("chevron-down"), proxy()->subControlRect(CC_ComboBox, option, SC_ComboBoxArrow, widget), enabled, 14, Token::Secondary);
            return;
        }
        case CC_SpinBox: {
            const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
            if (!spin) break;
            if (spin->frame) drawField(painter, option->rect, enabled, has(option, State_HasFocus));
            if (spin->buttonSymbols == QAbstractSpinBox::NoButtons) return;
            const auto arrow = [&](SubControl sub, const QString& icon, QAbstractSpinBox::StepEnabledFlag step) {
                const QRect rect = proxy()->subControlRect(CC_SpinBox, option, sub, widget);
                if (option->activeSubControls == sub && has(option, State_Sunken)) drawBox(painter, rect, Theme::color(Token::Hover), QColor(), 3.0);
                drawIcon(painter, icon, rect, enabled && spin->stepEnabled.testFlag(step), 10, Token::Secondary);
            };
            arrow(SC_SpinBoxUp, QStringLiteral("chevron-up"), QAbstractSpinBox::StepUpEnabled);
            arrow(SC_SpinBoxDown, QStringLiteral("chevron-down"), QAbstractSpinBox::StepDownEnabled);
            return;
        }
        case CC_ScrollBar: {
            const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
            if (!bar) break;
            const QWidget* view = widget && widget->parentWidget() ? widget->parentWidget()->parentWidget() : nullptr;
            painter->fillRect(option->rect, Theme::color(qobject_cast<const QAbstractItemView*>(view) ? Token::Card : Token::Window));
            if (bar->maximum <= bar->minimum) return;
            QRect handle = proxy()->subControlRect(CC_ScrollBar, option, SC_ScrollBarSlider, widget);
            handle = bar->orientation == Qt::Vertical ? handle.adjusted(3, 1, -3, -1) : handle.adjusted(1, 3, -1, -3);
            const bool active = option->activeSubControls == SC_ScrollBarSlider && has(option, State_MouseOver);
            drawBox(painter, handle, Theme::color(active ? Token::Secondary : Token::Edge), QColor(), 3.0);
            return;
        }
        case CC_ToolButton: {
            const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
            if (!button) break;
            QStyleOption panel = *option;
            if (option->activeSubControls & SC_ToolButton) panel.state |= (option->state & State_Sunken);
            const bool quiet = has(option, State_AutoRaise) && !(option->state & (State_MouseOver | State_Sunken | State_On | State_HasFocus));
            if (!quiet) drawButton(&panel, painter, widget, has(option, State_AutoRaise));
            QStyleOptionToolButton label = *button;
            label.state &= ~State_HasFocus;
            const bool both = label.toolButtonStyle == Qt::ToolButtonTextBesideIcon && !label.icon.isNull() && !label.text.isEmpty();
            if (both) label.rect.adjust(label.direction == Qt::LeftToRight ? 6 : 0, 0, label.direction == Qt::LeftToRight ? 0 : -6, 0);
            if (isAccent(widget)) label.palette.setColor(QPalette::ButtonText, Theme::color(Token::OnAccent));
            proxy()->drawControl(CE_ToolButtonLabel, &label, painter, widget);
            return;
        }
        default: break;
    }
    QProxyStyle::drawComplexControl(control, option, painter, widget);
}

QRect ControlStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl subControl,
                                   const QWidget* widget) const {
    const QRect r = option->rect;
    if (control == CC_ComboBox) {
        if (subControl == SC_ComboBoxArrow) return visualRect(option->direction, r, QRect(r.right() - 25, r.top(), 22, r.height()));
        if (subControl == SC_ComboBoxEditField) return visualRect(option->direction, r, r.adjusted(6, 2, -26, -2));
    }
    if (control == CC_SpinBox) {
        const auto* spin = qstyleoption_cast<const QStyleOptionSpinBox*>(option);
        const int buttons = spin && spin->buttonSymbols == QAbstractSpinBox::NoButtons ? 2 : 20;
        const int half = r.height() / 2;
        if (subControl == SC_SpinBoxUp) return visualRect(option->direction, r, QRect(r.right() - 20, r.top() + 2, 18, half - 2));
        if (subControl == SC_SpinBoxDown) return visualRect(option->direction, r, QRect(r.right() - 20, r.top() + half, 18, half - 2));
        if (subControl == SC_SpinBoxEditField) return visualRect(option->direction, r, r.adjusted(6, 2, -buttons - 2, -2));
    }
    if (control == CC_ScrollBar) {
        // No arrow buttons: the groove is the whole bar.
        const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
        if (bar) {
            const bool vertical = bar->orientation == Qt::Vertical;
            const int length = vertical ? r.height() : r.width();
            const qint64 range = qint64(bar->maximum) - bar->minimum;
            const qint64 whole = range + std::max(bar->pageStep, 1);
            const int handle = range > 0 ? int(std::clamp<qint64>(qint64(length) * std::max(bar->pageStep, 1) / whole, std::min(28, length), length)) : length;
            const int start = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition, length - handle, bar->upsideDown);
            const auto along = [&](int from, int size) {
                return vertical ? QRect(r.left(), r.top() + from, r.width(), size) : QRect(r.left() + from, r.top(), size, r.height());
            };
            switch (subControl) {
                case SC_ScrollBarSlider: return visualRect(option->direction, r, along(start, handle));
                case SC_ScrollBarSubPage: return visualRect(option->direction, r, along(0, start));
                case SC_ScrollBarAddPage: return visualRect(option->direction, r, along(start + handle, length - start - handle));
                case SC_ScrollBarGroove: return r;
                default: return {};
            }
        }
    }
    return QProxyStyle::subControlRect(control, option, subControl, widget);
}

QRect ControlStyle::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const {
    QRect rect = QProxyStyle::subElementRect(element, option, widget);
    // Room between the frame and the words, but not where a spin box, a combo box or a table gave the frame.
    if (element == SE_LineEditContents)
        if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option); frame && frame->lineWidth > 0) rect.adjust(5, 0, -5, 0);
    return rect;
}

QSize ControlStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size, const QWidget* widget) const {
    QSize result = QProxyStyle::sizeFromContents(type, option, size, widget);
    switch (type) {
        case CT_PushButton: {
            const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
            const bool textless = button && button->text.isEmpty();
            const bool both = button && !textless && !button->icon.isNull();
            result = QSize(size.width() + (textless ? 14 : both ? 28 : 24), controlHeight);
            if (button && button->features.testFlag(QStyleOptionButton::HasMenu)) result.rwidth() += 14;
            if (textless) result.setWidth(std::max(result.width(), controlHeight));
            break;
        }
        case CT_ToolButton: {
            const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
            if (button && button->toolButtonStyle == Qt::ToolButtonTextUnderIcon) break;
            result.setHeight(std::max(result.height(), controlHeight));
            result.setWidth(std::max(result.width() + (button && !button->text.isEmpty() && button->toolButtonStyle != Qt::ToolButtonIconOnly ? 12 : 0), controlHeight));
            break;
        }
        case CT_ComboBox: {
            const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option);
            const int icon = combo && !combo->currentIcon.isNull() ? combo->iconSize.width() + 6 : 0;
            result = QSize(size.width() + icon + 42, controlHeight);
            break;
        }
        case CT_LineEdit:
        case CT_SpinBox: result.setHeight(isInTable(widget) ? std::max(result.height(), 24) : controlHeight); break;
        case CT_HeaderSection: result.setHeight(std::max(result.height(), controlHeight)); break;
        case CT_TabBarTab: result.setHeight(32); break;
        case CT_MenuItem: {
            const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option);
            if (!item || item->menuItemType != QStyleOptionMenuItem::Separator) result.setHeight(std::max(result.height(), 28));
            break;
        }
        case CT_ItemViewItem: result.setHeight(std::max(result.height(), 24)); break;
        default: break;
    }
    return result;
}

int ControlStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
    switch (metric) {
        case PM_ScrollBarExtent: return 12;
        case PM_ScrollBarSliderMin: return 28;
        case PM_DefaultFrameWidth: return 1;
        case PM_SplitterWidth: return 5;
        case PM_ButtonIconSize:
        case PM_SmallIconSize:
        case PM_ListViewIconSize: return 14;
        case PM_IndicatorWidth:
        case PM_IndicatorHeight:
        case PM_ExclusiveIndicatorWidth:
        case PM_ExclusiveIndicatorHeight: return 16;
        case PM_ButtonShiftHorizontal:
        case PM_ButtonShiftVertical: return 0;
        case PM_LayoutLeftMargin:
        case PM_LayoutTopMargin:
        case PM_LayoutRightMargin:
        case PM_LayoutBottomMargin: return 16;
        case PM_LayoutHorizontalSpacing:
        case PM_LayoutVerticalSpacing: return 8;
        case PM_HeaderMargin: return 8;
        case PM_FocusFrameHMargin: return widget && qobject_cast<const QAbstractItemView*>(widget) ? 7 : QProxyStyle::pixelMetric(metric, option, widget);
        case PM_TabBarBaseHeight: return 0;
        case PM_TabBarTabShiftVertical:
        case PM_TabBarTabShiftHorizontal: return 0;
        case PM_HeaderMarkSize: return 10;
        default: return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

int ControlStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* returnData) const {
    switch (hint) {
        case SH_Widget_Animation_Duration: return 0;
        case SH_ComboBox_Popup: return 0;
        case SH_Table_GridLineColor: return static_cast<int>(Theme::color(Token::Hover).rgb());
        case SH_ItemView_ShowDecorationSelected: return 1;
        case SH_ItemView_ChangeHighlightOnFocus: return 0;
        case SH_TabBar_Alignment: return Qt::AlignLeft;
        case SH_ScrollBar_LeftClickAbsolutePosition: return 1;
        case SH_ToolTip_WakeUpDelay: return 400;
        default: return QProxyStyle::styleHint(hint, option, widget, returnData);
    }
}

}  // namespace heteroscope
