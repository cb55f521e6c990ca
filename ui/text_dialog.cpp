#include "ui/text_dialog.h"

#include "ui/theme.h"

#include <QClipboard>
#include <QDialog>
#include <QDialogButtonBox>
#include <QFontDatabase>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTextBlock>
#include <QVBoxLayout>

namespace heteroscope {
namespace {

QString withLineNumbers(const QString& text) {
    const QStringList lines = text.split(QLatin1Char('\n'));
    const int digits = static_cast<int>(QString::number(lines.size()).size());
    QString numbered;
    for (qsizetype i = 0; i < lines.size(); ++i)
        numbered += QStringLiteral("%1  %2\n").arg(i + 1, digits).arg(lines[i]);
    return numbered;
}

void markLine(QPlainTextEdit& view, int line) {
    const QTextBlock block = view.document()->findBlockByNumber(line - 1);
    if (!block.isValid()) return;
    QTextEdit::ExtraSelection mark;
    mark.cursor = QTextCursor(block);
    mark.format.setBackground(Theme::color(Token::WarningGround));
    mark.format.setProperty(QTextFormat::FullWidthSelection, true);
    view.setExtraSelections({mark});
    view.setTextCursor(mark.cursor);
    view.centerCursor();
}

}  // namespace

void showText(QWidget* parent, const QString& title, const QString& text, bool numbered, int markedLine) {
    auto* dialog = new QDialog(parent);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->resize(760, 520);
    auto* view = new QPlainTextEdit(dialog);
    view->setReadOnly(true);
    view->setLineWrapMode(QPlainTextEdit::NoWrap);
    view->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
    view->setPlainText(numbered ? withLineNumbers(text) : text);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close, dialog);
    auto* copy = buttons->addButton(QDialog::tr("Copy"), QDialogButtonBox::ActionRole);
    QObject::connect(copy, &QPushButton::clicked, dialog, [text] { QGuiApplication::clipboard()->setText(text); });
    QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::close);
    auto* layout = new QVBoxLayout(dialog);
    layout->addWidget(view);
    layout->addWidget(buttons);
    dialog->show();
    if (markedLine > 0) markLine(*view, markedLine);
}

}  // namespace heteroscope
