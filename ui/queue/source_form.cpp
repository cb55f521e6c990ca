#include "ui/queue/source_form.h"

#include "ui/queue/number_field.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QComboBox>
#include <QFileDialog>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QProcess>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace heteroscope {
namespace {

using Kind = KernelArgument::Kind;

QString text(const std::string& value) { return QString::fromStdString(value); }

QString joined(const std::vector<std::uint64_t>& sizes) {
    QStringList words;
    for (const auto size : sizes) words << QString::number(size);
    return words.join(QLatin1Char(','));
}

/// "const float4*" → "float4"; what is no type of OpenCL's own (a struct) is bytes.
QString elementTypeOf(const ArgumentInfo& info) {
    QString name = text(info.type);
    name.remove(QLatin1Char('*'));
    static const QRegularExpression qualifiers(QStringLiteral("\\b(const|volatile|restrict|__global|global|__local|local|__constant|constant)\\b"));
    name = name.remove(qualifiers).trimmed();
    return ElementType::fromName(name.toStdString()) ? name : QStringLiteral("bytes");
}

const QStringList& typeNames() {
    static const QStringList names = [] {
        QStringList all;
        for (const char* base : {"float", "int", "uint", "double", "half", "char", "uchar", "short", "ushort", "long", "ulong"})
            for (const char* width : {"", "2", "3", "4", "8", "16"}) all << QString::fromLatin1(base) + QString::fromLatin1(width);
        all << QStringLiteral("bytes");
        return all;
    }();
    return names;
}

TokenLabel* caption(const QString& words) { return new TokenLabel(words, Theme::Type::Caption, Token::Secondary); }

TokenLabel* problemLabel() {
    auto* label = new TokenLabel(QString(), Theme::Type::Caption, Token::Bad);
    label->setWordWrap(true);
    return label;
}

}  // namespace

std::optional<std::vector<std::uint64_t>> readSizes(const QString& typed) {
    std::vector<std::uint64_t> sizes;
    static const QRegularExpression separators(QStringLiteral("[,;xX×\\s]+"));
    for (const QString& word : typed.trimmed().split(separators, Qt::SkipEmptyParts)) {
        const auto value = readNumber(word);
        if (!value || *value < 1.0 || *value > 9007199254740992.0 || *value != std::floor(*value)) return {};
        sizes.push_back(static_cast<std::uint64_t>(*value));
    }
    return sizes.size() > 3 ? std::nullopt : std::optional(sizes);
}

SourceForm::SourceForm(Services& services, QWidget* parent) : QWidget(parent), services_(services) {
    auto* grid = new QGridLayout;
    grid->setHorizontalSpacing(12);
    grid->setVerticalSpacing(6);
    grid->setColumnMinimumWidth(0, 84);
    grid->setColumnStretch(1, 1);
    const auto label = [&](int row, const QString& words) { grid->addWidget(new TokenLabel(words, Theme::Type::Text, Token::Secondary), row, 0); };

    fileField_ = new QLineEdit(this);
    fileField_->setObjectName(QStringLiteral("sourceFile"));
    fileField_->setPlaceholderText(tr("mine.cl or mine.cu"));
    auto* browse = new QPushButton(tr("Open…"), this);
    connect(browse, &QPushButton::clicked, this, [this] {
        auto* dialog = new QFileDialog(this, tr("Open a kernel source"), {}, tr("Kernel sources (*.cl *.cu);;All files (*)"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::ExistingFile);
        connect(dialog, &QFileDialog::fileSelected, this, &SourceForm::openFile);
        dialog->open();
    });
    connect(fileField_, &QLineEdit::editingFinished, this, [this] {
        if (fileField_->text() != file_) openFile(fileField_->text());
    });
    label(0, tr("File"));
    grid->addWidget(fileField_, 0, 1);
    grid->addWidget(browse, 0, 2);

    optionsField_ = new QLineEdit(this);
    optionsField_->setObjectName(QStringLiteral("sourceOptions"));
    optionsField_->setPlaceholderText(tr("-D BLOCK=16 -cl-fast-relaxed-math"));
    label(1, tr("Options"));
    grid->addWidget(optionsField_, 1, 1, 1, 2);

    includeField_ = new QLineEdit(this);
    includeField_->setObjectName(QStringLiteral("sourceIncludes"));
    includeField_->setPlaceholderText(tr("folders, separated by “;” (the file's own is always one)"));
    auto* addFolder = new QPushButton(tr("Add…"), this);
    connect(addFolder, &QPushButton::clicked, this, [this] {
        auto* dialog = new QFileDialog(this, tr("Add an include folder"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setFileMode(QFileDialog::Directory);
        connect(dialog, &QFileDialog::fileSelected, this, &SourceForm::addInclude);
        dialog->open();
    });
    label(2, tr("Include"));
    grid->addWidget(includeField_, 2, 1);
    grid->addWidget(addFolder, 2, 2);

    entryBox_ = new QComboBox(this);
    entryBox_->setObjectName(QStringLiteral("sourceEntry"));
    label(3, tr("Entry"));
    grid->addWidget(entryBox_, 3, 1);
    connect(entryBox_, &QComboBox::currentIndexChanged, this, &SourceForm::showEntry);

    status_ = problemLabel();
    status_->setObjectName(QStringLiteral("sourceStatus"));
    status_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    grid->addWidget(status_, 4, 1, 1, 2);

    argumentBox_ = new QWidget(this);
    argumentGrid_ = new QGridLayout(argumentBox_);
    argumentGrid_->setContentsMargins(0, 0, 0, 0);
    argumentGrid_->setHorizontalSpacing(8);
    argumentGrid_->setVerticalSpacing(4);
    grid->addWidget(argumentBox_, 5, 0, 1, 3);

    globalField_ = new QLineEdit(this);
    globalField_->setObjectName(QStringLiteral("sourceGlobal"));
    globalField_->setPlaceholderText(tr("1024 or 64, 64"));
    localField_ = new QLineEdit(this);
    localField_->setObjectName(QStringLiteral("sourceLocal"));
    localField_->setPlaceholderText(tr("left to the runtime"));
    globalProblem_ = problemLabel();
    localProblem_ = problemLabel();
    auto* sizes = new QGridLayout;
    sizes->setHorizontalSpacing(12);
    sizes->setColumnMinimumWidth(0, 84);
    sizes->addWidget(new TokenLabel(tr("Global size"), Theme::Type::Text, Token::Secondary), 0, 0);
    sizes->addWidget(globalField_, 0, 1);
    sizes->addWidget(new TokenLabel(tr("Work-group"), Theme::Type::Text, Token::Secondary), 0, 2);
    sizes->addWidget(localField_, 0, 3);
    sizes->addWidget(globalProblem_, 1, 1);
    sizes->addWidget(localProblem_, 1, 3);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    layout->addLayout(grid);
    layout->addLayout(sizes);
    layout->addStretch(1);

    inspectTimer_.setSingleShot(true);
    inspectTimer_.setInterval(500);
    connect(&inspectTimer_, &QTimer::timeout, this, &SourceForm::inspect);
    for (QLineEdit* field : {optionsField_, includeField_}) connect(field, &QLineEdit::textEdited, &inspectTimer_, qOverload<>(&QTimer::start));
    for (QLineEdit* field : {globalField_, localField_}) connect(field, &QLineEdit::textChanged, this, &SourceForm::refresh);
    refresh();
}

void SourceForm::openFile(const QString& file) {
    file_ = file;
    fileField_->setText(file);
    inspect();
}

void SourceForm::addInclude(const QString& folder) {
    const QString before = includeField_->text().trimmed();
    includeField_->setText(before.isEmpty() ? folder : before + QLatin1Char(';') + folder);
    inspect();
}

QStringList SourceForm::options() const { return QProcess::splitCommand(optionsField_->text()); }

QStringList SourceForm::includes() const {
    QStringList folders;
    for (const QString& folder : includeField_->text().split(QLatin1Char(';'), Qt::SkipEmptyParts)) folders << folder.trimmed();
    return folders;
}

void SourceForm::inspect() {
    inspectTimer_.stop();
    const quint64 request = ++request_;
    inspectProblem_.clear();
    if (file_.isEmpty()) {
        reading_ = false;
        refresh();
        return;
    }
    reading_ = true;
    refresh();
    services_.inspectSource(file_, options(), includes(), this, [this, request](Result<Program> answer) {
        if (request != request_) return;
        reading_ = false;
        if (answer) {
            showProgram(*answer);
            return;
        }
        // The entry and what was typed for it stay: the next build may succeed.
        const Error& error = answer.error();
        inspectProblem_ = error.line > 0 ? QStringLiteral("%1:%2: %3").arg(text(error.file), QString::number(error.line), text(error.message))
                                         : text(error.message);
        if (!error.log.empty() && error.log != error.message) inspectProblem_ += QLatin1Char('\n') + text(error.log).trimmed();
        refresh();
    });
}

void SourceForm::showProgram(const Program& program) {
    const QString before = entryBox_->currentText();
    const std::vector<EntryInfo> old = std::move(entries_);
    entries_ = program.entries;
    const auto same = [](const EntryInfo& a, const EntryInfo& b) {
        return a.name == b.name && std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                                              [](const ArgumentInfo& x, const ArgumentInfo& y) {
                                                  return x.name == y.name && x.type == y.type && x.space == y.space;
                                              });
    };
    // The same program built anew (another option) must not empty the fields.
    if (std::equal(old.begin(), old.end(), entries_.begin(), entries_.end(), same)) {
        refresh();
        return;
    }
    {
        const QSignalBlocker quiet(entryBox_);
        entryBox_->clear();
        for (const EntryInfo& entry : entries_) entryBox_->addItem(text(entry.name));
        if (const int index = entryBox_->findText(before); index >= 0) entryBox_->setCurrentIndex(index);
    }
    if (entries_.empty()) inspectProblem_ = tr("%1 has no kernel function.").arg(file_);
    showEntry();
}

void SourceForm::showEntry() {
    arguments_.clear();
    while (QLayoutItem* item = argumentGrid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
    const int index = entryBox_->currentIndex();
    if (index >= 0 && index < static_cast<int>(entries_.size())) {
        const auto& infos = entries_[static_cast<std::size_t>(index)].arguments;
        if (!infos.empty()) {
            const QStringList headers{tr("Argument"), tr("Type"), tr("Count, value or bytes"), tr("Fill"), tr("Access")};
            for (int i = 0; i < headers.size(); ++i) argumentGrid_->addWidget(caption(headers[i]), 0, i);
        }
        int row = 1;
        for (const ArgumentInfo& info : infos) {
            addArgument(info, row);
            row += 2;
        }
        argumentGrid_->setColumnStretch(2, 1);
        argumentGrid_->setColumnStretch(3, 1);
    }
    refresh();
}

void SourceForm::addArgument(const ArgumentInfo& info, int row) {
    ArgumentRow made;
    made.info = info;
    const bool isLocal = info.space == AddressSpace::Local;
    const bool isBuffer = info.space == AddressSpace::Global || info.space == AddressSpace::Constant;
    made.kind = isLocal ? Kind::Local : isBuffer ? Kind::Buffer : Kind::Scalar;
    const auto position = arguments_.size();
    const QString prefix = QStringLiteral("arg%1-").arg(position);
    argumentGrid_->addWidget(new TokenLabel(nameOf(made, position), Theme::Type::Text, Token::Text), row, 0);
    made.type = new QComboBox(argumentBox_);
    made.type->setObjectName(prefix + QStringLiteral("type"));
    made.type->addItems(isLocal ? QStringList{tr("local")} : typeNames());
    if (!isLocal) made.type->setCurrentText(elementTypeOf(info));
    made.type->setEnabled(isBuffer);
    made.type->setMaximumWidth(120);
    made.type->setToolTip(text(info.type));
    argumentGrid_->addWidget(made.type, row, 1);
    made.count = new QLineEdit(argumentBox_);
    made.count->setObjectName(prefix + QStringLiteral("count"));
    made.count->setPlaceholderText(isLocal ? tr("bytes") : isBuffer ? tr("elements") : tr("value"));
    argumentGrid_->addWidget(made.count, row, 2, 1, isBuffer ? 1 : 3);
    if (isBuffer) {
        made.fill = new QLineEdit(QStringLiteral("zeros"), argumentBox_);
        made.fill->setObjectName(prefix + QStringLiteral("fill"));
        made.fill->setToolTip(tr("zeros, iota, uniform(0,1), value(2.5), values(1,2,3) or file(data.npy)"));
        argumentGrid_->addWidget(made.fill, row, 3);
        made.access = new QComboBox(argumentBox_);
        made.access->setObjectName(prefix + QStringLiteral("access"));
        made.access->addItems({QStringLiteral("read-write"), QStringLiteral("read"), QStringLiteral("write")});
        if (info.space == AddressSpace::Constant || info.type.find("const") != std::string::npos) made.access->setCurrentText(QStringLiteral("read"));
        argumentGrid_->addWidget(made.access, row, 4);
        connect(made.fill, &QLineEdit::textChanged, this, &SourceForm::refresh);
        connect(made.access, &QComboBox::currentIndexChanged, this, &SourceForm::refresh);
        connect(made.type, &QComboBox::currentIndexChanged, this, &SourceForm::refresh);
    }
    connect(made.count, &QLineEdit::textChanged, this, &SourceForm::refresh);
    made.problem = problemLabel();
    made.problem->setObjectName(prefix + QStringLiteral("problem"));
    argumentGrid_->addWidget(made.problem, row + 1, 2, 1, 3);
    arguments_.push_back(made);
}

QString SourceForm::nameOf(const ArgumentRow& row, std::size_t position) const {
    return row.info.name.empty() ? QStringLiteral("arg%1").arg(position) : text(row.info.name);
}

/// As `--arg` takes it.
QString SourceForm::argumentText(const ArgumentRow& row) const {
    const QString typed = row.count->text().trimmed();
    const auto number = readNumber(typed);
    const QString plain = number ? writeNumber(*number) : typed;
    switch (row.kind) {
        case Kind::Local: return QStringLiteral("local:") + plain;
        case Kind::Buffer:
            return QStringLiteral("buffer:%1:%2:%3:%4").arg(row.type->currentText(), plain, row.fill->text().trimmed(), row.access->currentText());
        case Kind::Scalar: return row.type->currentText() + QLatin1Char(':') + typed;
    }
    return {};
}

QString SourceForm::problemOf(const ArgumentRow& row, std::size_t position) const {
    if (row.info.isImage || row.info.isSampler) return tr("images and samplers cannot be passed yet");
    const QString name = nameOf(row, position);
    if (row.count->text().trimmed().isEmpty()) {
        if (row.kind == Kind::Scalar) return tr("%1 needs a value").arg(name);
        return row.kind == Kind::Local ? tr("%1 needs its size in bytes").arg(name) : tr("%1 needs a number of elements").arg(name);
    }
    const auto parsed = parseArgument(argumentText(row).toStdString(), position);
    return parsed ? QString() : text(parsed.error().message);
}

void SourceForm::refresh() {
    const QString said = reading_ ? tr("Reading %1 …").arg(file_) : inspectProblem_;
    status_->setToken(reading_ ? Token::Secondary : Token::Bad);
    status_->setText(said);
    status_->setVisible(!said.isEmpty());
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        const QString problem = problemOf(arguments_[i], i);
        arguments_[i].problem->setText(problem);
        arguments_[i].problem->setVisible(!problem.isEmpty());
    }
    const auto global = readSizes(globalField_->text());
    const auto local = readSizes(localField_->text());
    const bool noGlobal = global && global->empty();
    globalProblem_->setText(!global ? tr("one to three whole numbers above zero") : noGlobal && !entries_.empty() ? tr("the global size is needed") : QString());
    localProblem_->setText(!local ? tr("one to three whole numbers above zero")
                           : !local->empty() && global && local->size() != global->size() ? tr("as many numbers as the global size has")
                                                                                          : QString());
    emit changed();
}

QStringList SourceForm::problems() const {
    if (file_.isEmpty()) return {tr("Choose a source file.")};
    if (reading_) return {tr("Reading %1 …").arg(file_)};
    if (!inspectProblem_.isEmpty()) return {inspectProblem_.section(QLatin1Char('\n'), 0, 0)};
    QStringList all;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
        if (const QString problem = problemOf(arguments_[i], i); !problem.isEmpty()) all << problem;
    for (const TokenLabel* label : {globalProblem_, localProblem_})
        if (!label->text().isEmpty()) all << label->text();
    return all;
}

OwnSource SourceForm::source() const {
    OwnSource source;
    source.file = file_.toStdString();
    source.entry = entryBox_->currentText().toStdString();
    source.global = readSizes(globalField_->text()).value_or(std::vector<std::uint64_t>());
    source.local = readSizes(localField_->text()).value_or(std::vector<std::uint64_t>());
    for (const QString& option : options()) source.options.push_back(option.toStdString());
    for (const QString& folder : includes()) source.includes.emplace_back(folder.toStdString());
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
        auto parsed = parseArgument(argumentText(arguments_[i]).toStdString(), i);
        if (!parsed) continue;
        if (!arguments_[i].info.name.empty()) parsed->name = arguments_[i].info.name;
        parsed->constant = arguments_[i].info.space == AddressSpace::Constant;
        source.arguments.push_back(std::move(*parsed));
    }
    return source;
}

QStringList SourceForm::outputNames() const {
    QStringList names;
    for (std::size_t i = 0; i < arguments_.size(); ++i)
        if (arguments_[i].kind == Kind::Buffer && arguments_[i].access->currentText() != QStringLiteral("read"))
            names << nameOf(arguments_[i], i);
    return names;
}

QStringList SourceForm::commandArguments() const {
    QStringList words{file_, QStringLiteral("--entry"), entryBox_->currentText()};
    const OwnSource made = source();
    words << QStringLiteral("--global") << joined(made.global);
    if (!made.local.empty()) words << QStringLiteral("--local") << joined(made.local);
    // With "=", else an option's own dash would make it one of the program's.
    for (const QString& option : options()) words << QStringLiteral("--option=") + option;
    for (const QString& folder : includes()) words << QStringLiteral("--include") << folder;
    for (const ArgumentRow& row : arguments_) words << QStringLiteral("--arg") << argumentText(row);
    return words;
}

}  // namespace heteroscope
