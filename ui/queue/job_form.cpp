#include "ui/queue/job_form.h"

#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/queue/number_field.h"
#include "ui/theme.h"
#include "ui/widgets/token_label.h"

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <limits>

namespace heteroscope {
namespace {

constexpr int labelWidth = 76, fieldWidth = 140, columnsPerHalf = 4, gap = 8;

const QString eachDevice = QStringLiteral("*");

QString text(const std::string& value) { return QString::fromStdString(value); }

/// As wide as its half, whatever it holds: else the halves of two grids would not line up.
template <class T>
T* asWideAsItsHalf(T* widget) {
    widget->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    widget->setMinimumWidth(40);
    return widget;
}

NumberField* wholeNumber(const QString& name, double minimum, double maximum, double value, QWidget* parent) {
    auto* field = new NumberField(name, true, minimum, maximum, parent);
    field->setNumber(value);
    return field;
}

}  // namespace

void NumberRow::showProblem() const {
    const QString problem = field->problem();
    hint->setToken(problem.isEmpty() ? Token::Secondary : Token::Bad);
    hint->setText(problem.isEmpty() ? usualHint : problem);
}

void setUpFormGrid(QGridLayout& grid) {
    grid.setContentsMargins(0, 0, 0, 0);
    grid.setHorizontalSpacing(0);  // columns that only spans reach have none, and the halves of two grids would not line up
    grid.setVerticalSpacing(6);
    for (int half = 0; half < 2; ++half) {
        grid.setColumnMinimumWidth(half * columnsPerHalf, labelWidth + gap);
        grid.setColumnMinimumWidth(half * columnsPerHalf + 1, fieldWidth + gap);
        grid.setColumnMinimumWidth(half * columnsPerHalf + 2, 40);
        grid.setColumnStretch(half * columnsPerHalf + 2, 1);
    }
    grid.setColumnMinimumWidth(3, 2 * gap);
}

NumberRow addNumberRow(QGridLayout& grid, int row, int half, const QString& label, NumberField* field, const QString& usualHint) {
    const int column = half * columnsPerHalf;
    auto* name = new TokenLabel(label, Theme::Type::Text, Token::Secondary);
    name->setBuddy(field);
    field->setFixedWidth(fieldWidth);
    grid.addWidget(name, row, column);
    grid.addWidget(field, row, column + 1, Qt::AlignLeft);
    NumberRow made{label, field, new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary), usualHint};
    made.hint->setWordWrap(true);
    made.hint->setMinimumHeight(28);
    made.hint->setMinimumWidth(40);
    QSizePolicy policy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    made.hint->setSizePolicy(policy);
    made.hint->setObjectName(field->objectName() + QStringLiteral("-hint"));
    grid.addWidget(made.hint, row, column + 2);
    made.showProblem();
    return made;
}

ParameterForm::ParameterForm(QWidget* parent) : QWidget(parent) {
    grid_ = new QGridLayout(this);
    setUpFormGrid(*grid_);
}

void ParameterForm::clearRows() {
    rows_.clear();
    while (QLayoutItem* item = grid_->takeAt(0)) {
        delete item->widget();
        delete item;
    }
}

void ParameterForm::setKernel(const KernelPtr& kernel, const Parameters& values) {
    clearRows();
    if (!kernel) return;
    const int half = static_cast<int>((kernel->parameters.size() + 1) / 2);
    int index = 0;
    for (const KernelParameter& parameter : kernel->parameters) {
        auto* field = new NumberField(text(parameter.name), parameter.integral, parameter.minimum, parameter.maximum, this);
        field->setObjectName(QStringLiteral("param-") + text(parameter.name));
        const auto given = values.find(parameter.name);
        field->setNumber(given == values.end() ? parameter.defaultValue : given->second);
        rows_.push_back(addNumberRow(*grid_, index % half, index / half, text(parameter.name), field, field->limits()));
        connect(field, &NumberField::changed, this, [this, at = rows_.size() - 1] {
            rows_[at].showProblem();
            emit changed();
        });
        ++index;
    }
    if (kernel->parameters.empty()) grid_->addWidget(new TokenLabel(tr("This kernel has no parameters."), Theme::Type::Text, Token::Secondary), 0, 0, 1, 3);
}

Parameters ParameterForm::values() const {
    Parameters values;
    for (const NumberRow& row : rows_)
        if (const auto number = row.field->number()) values[row.name.toStdString()] = *number;
    return values;
}

QStringList ParameterForm::problems() const {
    QStringList all;
    for (const NumberRow& row : rows_)
        if (const QString problem = row.field->problem(); !problem.isEmpty()) all << problem;
    return all;
}

JobForm::JobForm(Services& services, JobBoard& board, QWidget* parent) : QWidget(parent), services_(services), board_(board) {
    auto* grid = new QGridLayout(this);
    setUpFormGrid(*grid);
    const auto number = [&](int row, const QString& label, const QString& name, double minimum, double maximum, double value) {
        NumberField* field = wholeNumber(label, minimum, maximum, value, this);
        field->setObjectName(name);
        connect(field, &NumberField::changed, this, &JobForm::refresh);
        return addNumberRow(*grid, row, 0, label, field);
    };
    count_ = number(0, tr("Count"), QStringLiteral("count"), 1, 100'000, 1);
    priority_ = number(1, tr("Priority"), QStringLiteral("priority"), -1'000'000, 1'000'000, 0);
    priority_.usualHint = tr("higher goes first");
    seed_ = number(2, tr("Seed"), QStringLiteral("seed"), 0, 9007199254740992.0, 1);
    timeout_.field = new NumberField(tr("Time limit"), false, 0.0, 1e6, this);
    timeout_.field->setNumber(0);
    timeout_.field->setObjectName(QStringLiteral("timeout"));
    connect(timeout_.field, &NumberField::changed, this, &JobForm::refresh);
    timeout_ = addNumberRow(*grid, 3, 0, tr("Time limit"), timeout_.field, tr("seconds; 0 is none"));

    const auto right = [&](int row, const QString& label) { grid->addWidget(new TokenLabel(label, Theme::Type::Text, Token::Secondary), row, columnsPerHalf); };
    right(0, tr("Device"));
    device_ = new QComboBox(this);
    device_->setObjectName(QStringLiteral("device"));
    grid->addWidget(asWideAsItsHalf(device_), 0, columnsPerHalf + 1, 1, 2);
    connect(device_, &QComboBox::currentIndexChanged, this, &JobForm::refresh);
    right(1, tr("Result"));
    check_ = new QCheckBox(tr("check against reference"), this);
    check_->setObjectName(QStringLiteral("check"));
    connect(check_, &QCheckBox::toggled, this, &JobForm::refresh);
    grid->addWidget(asWideAsItsHalf(check_), 1, columnsPerHalf + 1, 1, 2);
    right(2, tr("Outputs"));
    keep_ = new QCheckBox(tr("keep them whole in the data folder"), this);
    keep_->setObjectName(QStringLiteral("keepOutputs"));
    connect(keep_, &QCheckBox::toggled, this, &JobForm::refresh);
    grid->addWidget(asWideAsItsHalf(keep_), 2, columnsPerHalf + 1, 1, 2);
    right(3, tr("Save"));
    auto* save = new QHBoxLayout;
    save->setSpacing(4);
    saveArgument_ = new QComboBox(this);
    saveArgument_->setObjectName(QStringLiteral("saveArgument"));
    saveFile_ = new QLineEdit(this);
    saveFile_->setObjectName(QStringLiteral("saveFile"));
    saveFile_->setPlaceholderText(QStringLiteral("out.npy"));
    asWideAsItsHalf(saveFile_);
    browse_ = new QPushButton(QStringLiteral("…"), this);
    browse_->setFixedWidth(32);
    browse_->setAccessibleName(tr("Choose the file to save"));
    save->addWidget(saveArgument_);
    save->addWidget(saveFile_, 1);
    save->addWidget(browse_);
    grid->addLayout(save, 3, columnsPerHalf + 1, 1, 2);
    saveHint_ = new TokenLabel(QString(), Theme::Type::Caption, Token::Secondary);
    saveHint_->setWordWrap(true);
    saveHint_->setObjectName(QStringLiteral("saveHint"));
    grid->addWidget(saveHint_, 4, columnsPerHalf + 1, 1, 2);
    connect(saveArgument_, &QComboBox::currentIndexChanged, this, &JobForm::refresh);
    connect(saveFile_, &QLineEdit::textChanged, this, &JobForm::refresh);
    connect(browse_, &QPushButton::clicked, this, [this] {
        auto* dialog = new QFileDialog(this, tr("Save an output"), saveFile_->text(), tr("NumPy arrays (*.npy)"));
        dialog->setAttribute(Qt::WA_DeleteOnClose);
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->setDefaultSuffix(QStringLiteral("npy"));
        connect(dialog, &QFileDialog::fileSelected, saveFile_, &QLineEdit::setText);
        dialog->open();
    });
    connect(&board_, &JobBoard::devicesChanged, this, &JobForm::fillDevices);
    fillDevices();
    setKernelFacts({}, {});
}

void JobForm::fillDevices() {
    const QString chosen = device_->currentData().toString();
    const auto devices = services_.devices();
    {
        const QSignalBlocker quiet(device_);
        device_->clear();
        device_->addItem(tr("any: the policy decides"), QString());
        if (devices.size() > 1) device_->addItem(tr("each of the %1").arg(devices.size()), eachDevice);
        for (const DeviceInfo& device : devices)
            device_->addItem(tr("%1 only (%2)").arg(board_.deviceShortName(device.id), text(device.id)), text(device.id));
        if (const int index = device_->findData(chosen); index >= 0) device_->setCurrentIndex(index);
    }
    refresh();
}

void JobForm::setKernelFacts(const QStringList& outputs, const QString& reference) {
    hasReference_ = !reference.isEmpty();
    check_->setEnabled(hasReference_);
    check_->setText(hasReference_ ? tr("check against the CPU reference") : tr("check (this kernel has no reference)"));
    QStringList items{tr("no")};
    items << outputs;
    QStringList now;
    for (int i = 0; i < saveArgument_->count(); ++i) now << saveArgument_->itemText(i);
    if (items != now) {
        const QString chosen = saveArgument_->currentIndex() > 0 ? saveArgument_->currentText() : QString();
        const QSignalBlocker quiet(saveArgument_);
        saveArgument_->clear();
        saveArgument_->addItems(items);
        const int index = chosen.isEmpty() ? 0 : saveArgument_->findText(chosen);
        saveArgument_->setCurrentIndex(std::max(0, index));
    }
    refresh();
}

std::vector<std::string> JobForm::targets() const {
    const QString chosen = device_->currentData().toString();
    if (chosen != eachDevice) return {chosen.toStdString()};
    std::vector<std::string> all;
    for (const DeviceInfo& device : services_.devices()) all.push_back(device.id);
    return all;
}

std::size_t JobForm::jobCount() const {
    const auto count = count_.field->number();
    return count ? static_cast<std::size_t>(*count) * targets().size() : 0;
}

void JobForm::refresh() {
    if (!saveHint_) return;  // while the form is made
    const auto count = count_.field->number();
    const auto seed = seed_.field->number();
    const std::size_t deviceCount = targets().size();
    count_.usualHint = deviceCount > 1 ? tr("on each of %1 devices").arg(deviceCount) : count_.field->limits();
    seed_.usualHint = count && seed && *count > 1 ? tr("%1 to %2, one a job").arg(writeNumber(*seed), writeNumber(*seed + *count - 1)) : tr("same seed, same data");
    for (const NumberRow* row : {&count_, &priority_, &seed_, &timeout_}) row->showProblem();
    const bool saves = saveArgument_->currentIndex() > 0;
    saveFile_->setEnabled(saves);
    browse_->setEnabled(saves);
    const QString problem = saveProblem();
    saveHint_->setToken(problem.isEmpty() ? Token::Secondary : Token::Bad);
    saveHint_->setText(!problem.isEmpty() ? problem
                       : saves && jobCount() > 1 ? tr("%1 to %2").arg(QFileInfo(savePath(0, jobCount())).fileName(), QFileInfo(savePath(jobCount() - 1, jobCount())).fileName())
                                                 : QString());
    saveHint_->setVisible(!saveHint_->text().isEmpty());
    emit changed();
}

QString JobForm::saveProblem() const {
    if (saveArgument_->currentIndex() <= 0) return {};
    const QString file = saveFile_->text().trimmed();
    if (file.isEmpty()) return tr("name the file that %1 is saved in").arg(saveArgument_->currentText());
    if (!file.endsWith(QStringLiteral(".npy"), Qt::CaseInsensitive)) return tr("the file must end in .npy");
    const QFileInfo folder(QFileInfo(file).absolutePath());
    if (!folder.isDir()) return tr("there is no folder %1").arg(folder.filePath());
    return {};
}

/// Several jobs must not write one file: the number goes before the ending.
QString JobForm::savePath(std::size_t index, std::size_t total) const {
    const QString file = QFileInfo(saveFile_->text().trimmed()).absoluteFilePath();
    return total < 2 ? file : file.left(file.size() - 4) + QLatin1Char('-') + QString::number(index + 1) + file.right(4);
}

QStringList JobForm::problems() const {
    QStringList all;
    for (const NumberRow* row : {&count_, &priority_, &seed_, &timeout_})
        if (const QString problem = row->field->problem(); !problem.isEmpty()) all << problem;
    if (const QString problem = saveProblem(); !problem.isEmpty()) all << problem;
    return all;
}

std::vector<JobSpec> JobForm::jobs(const KernelPtr& kernel, const Parameters& parameters) const {
    JobSpec job;
    job.kernel = kernel;
    job.parameters = parameters;
    job.priority = static_cast<int>(priority_.field->number().value_or(0.0));
    job.check = hasReference_ && check_->isChecked();
    job.keepOutputs = keep_->isChecked();
    job.timeout = std::chrono::nanoseconds(std::llround(timeout_.field->number().value_or(0.0) * 1e9));
    const auto firstSeed = static_cast<std::uint64_t>(seed_.field->number().value_or(1.0));
    const auto count = static_cast<std::size_t>(count_.field->number().value_or(0.0));
    std::vector<JobSpec> jobs;
    jobs.reserve(jobCount());
    for (const std::string& target : targets())
        for (std::size_t i = 0; i < count; ++i) {
            job.device = target;
            job.seed = firstSeed + i;
            job.save.clear();
            if (saveArgument_->currentIndex() > 0)
                job.save[saveArgument_->currentText().toStdString()] = savePath(jobs.size(), jobCount()).toStdString();
            jobs.push_back(job);
        }
    return jobs;
}

QList<QStringList> JobForm::commandArguments() const {
    const auto number = [](const NumberRow& row, double otherwise) { return row.field->number().value_or(otherwise); };
    const auto count = static_cast<std::size_t>(number(count_, 1.0));
    const bool saves = saveArgument_->currentIndex() > 0;
    QList<QStringList> commands;
    std::size_t job = 0;
    for (const std::string& target : targets()) {
        QStringList words;
        if (!target.empty()) words << QStringLiteral("--device") << text(target);
        // With "=", so that a minus is no option.
        if (number(priority_, 0.0) != 0.0) words << QStringLiteral("--priority=") + writeNumber(number(priority_, 0.0));
        if (hasReference_ && check_->isChecked()) words << QStringLiteral("--check");
        if (!saves) {
            if (count > 1) words << QStringLiteral("--count") << QString::number(count);
            commands << words;
            continue;
        }
        for (std::size_t i = 0; i < count; ++i, ++job)
            commands << words + QStringList{QStringLiteral("--save"), saveArgument_->currentText() + QLatin1Char('=') + savePath(job, jobCount())};
    }
    return commands;
}

QString JobForm::beyondCommandLine() const {
    QStringList names;
    if (seed_.field->number().value_or(1.0) != 1.0) names << tr("seed");
    if (timeout_.field->number().value_or(0.0) > 0.0) names << tr("time limit");
    if (keep_->isChecked()) names << tr("kept outputs");
    return names.join(QStringLiteral(", "));
}

void JobForm::restore() {
    const QSettings settings;
    const auto number = [&](const NumberRow& row, const QString& key) {
        if (const QVariant value = settings.value(key); value.isValid()) row.field->setNumber(value.toDouble());
    };
    number(count_, QStringLiteral("addJobs/count"));
    number(priority_, QStringLiteral("addJobs/priority"));
    number(seed_, QStringLiteral("addJobs/seed"));
    number(timeout_, QStringLiteral("addJobs/timeout"));
    check_->setChecked(settings.value(QStringLiteral("addJobs/check"), false).toBool());
    keep_->setChecked(settings.value(QStringLiteral("addJobs/keepOutputs"), false).toBool());
    if (const int index = device_->findData(settings.value(QStringLiteral("addJobs/device")).toString()); index >= 0)
        device_->setCurrentIndex(index);
    refresh();
}

void JobForm::remember() const {
    QSettings settings;
    settings.setValue(QStringLiteral("addJobs/count"), count_.field->number().value_or(1.0));
    settings.setValue(QStringLiteral("addJobs/priority"), priority_.field->number().value_or(0.0));
    settings.setValue(QStringLiteral("addJobs/seed"), seed_.field->number().value_or(1.0));
    settings.setValue(QStringLiteral("addJobs/timeout"), timeout_.field->number().value_or(0.0));
    settings.setValue(QStringLiteral("addJobs/check"), check_->isChecked());
    settings.setValue(QStringLiteral("addJobs/keepOutputs"), keep_->isChecked());
    settings.setValue(QStringLiteral("addJobs/device"), device_->currentData());
}

}  // namespace heteroscope
