#include "ui/monitor/running_line.h"

#include "ui/format.h"
#include "ui/theme.h"
#include "ui/widgets/link_button.h"
#include "ui/widgets/token_label.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>

#include <algorithm>

namespace heteroscope {

namespace {

const DeviceSnapshot* findDevice(const JobBoard& board, const std::string& id) {
    for (const auto& device : board.latest().devices)
        if (device.id == id) return &device;
    return nullptr;
}

QString queueWords(const DeviceSnapshot& device) {
    if (!device.online) return QObject::tr("offline: %1").arg(QString::fromStdString(device.lost));
    QStringList words;
    if (!device.staging.empty()) words << QObject::tr("staging %1").arg(format::jobNumber(device.staging.front()));
    if (device.queued > 0) words << QObject::tr("%1 queued").arg(format::count(device.queued));
    if (device.freeInSeconds > 0) words << QObject::tr("free in %1").arg(format::seconds(device.freeInSeconds));
    return words.join(QStringLiteral(" · "));
}

}  // namespace

RunningLine::RunningLine(std::string device, const QString& name, QWidget* parent)
    : QWidget(parent), device_(std::move(device)), icon_(new QLabel), kernel_(new TokenLabel), parameters_(new TokenLabel({}, Theme::Type::Caption, Token::Secondary)),
      job_(new LinkButton({})), bar_(new QWidget), progress_(new TokenLabel({}, Theme::Type::Caption, Token::Secondary)),
      queue_(new TokenLabel({}, Theme::Type::Caption, Token::Secondary)) {
    setFixedHeight(24);
    icon_->setFixedSize(14, 14);
    bar_->setFixedSize(44, 8);
    bar_->setVisible(false);
    parameters_->setElided(true);
    parameters_->setMaximumWidth(120);
    progress_->setElided(true);
    queue_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    if (!name.isEmpty()) {
        auto* label = new TokenLabel(name, Theme::Type::Caption, Token::Secondary);
        label->setMinimumWidth(40);
        layout->addWidget(label);
    }
    layout->addWidget(icon_);
    layout->addWidget(kernel_);
    layout->addWidget(parameters_);
    layout->addWidget(job_);
    layout->addWidget(bar_);
    layout->addWidget(progress_, 1);
    layout->addWidget(queue_);
    connect(job_, &LinkButton::clicked, this, [this] {
        if (shown_) emit jobClicked(shown_);
    });
}

void RunningLine::refresh(const JobBoard& board, std::int64_t nowNs) {
    const DeviceSnapshot* device = findDevice(board, device_);
    const JobSnapshot* job = device && !device->running.empty() ? board.find(device->running.front()) : nullptr;
    shown_ = job ? job->id : 0;
    share_ = -1.0;
    QString progress = device && !device->online ? QString() : tr("idle");
    if (job) {
        kernel_->setText(QString::fromStdString(job->kernel));
        parameters_->setText(QString::fromStdString(job->parameters));
        if (job_->text() != format::jobNumber(job->id)) {
            job_->setText(format::jobNumber(job->id));
            job_->updateGeometry();
        }
        const double elapsed = job->times.started > 0 ? std::max(0.0, static_cast<double>(nowNs - job->times.started) / 1e9) : 0.0;
        if (job->times.finished > 0) {
            progress = tr("results come back");
        } else if (job->predictedSeconds > 0 && elapsed <= job->predictedSeconds) {
            share_ = elapsed / job->predictedSeconds;
            progress = tr("%1 · %2 left").arg(format::percent(share_), format::seconds(job->predictedSeconds - elapsed));
        } else if (job->predictedSeconds > 0) {
            progress = tr("%1 · %2 over").arg(format::seconds(elapsed), format::seconds(elapsed - job->predictedSeconds));
        } else {
            progress = tr("for %1").arg(format::seconds(elapsed));
        }
    }
    for (QWidget* part : std::initializer_list<QWidget*>{icon_, kernel_, parameters_, job_}) part->setVisible(job != nullptr);
    icon_->setPixmap(job ? Theme::stateIcon(job->state).pixmap(QSize(14, 14), devicePixelRatioF()) : QPixmap());
    bar_->setVisible(share_ >= 0);
    progress_->setText(progress);
    setToolTip(job && job->predictedSeconds > 0 ? tr("By the prediction of %1 for this run").arg(format::seconds(job->predictedSeconds)) : QString());
    queue_->setText(device ? queueWords(*device) : QString());
    queue_->setToken(device && !device->online ? Token::Bad : Token::Secondary);
    update();
}

void RunningLine::paintEvent(QPaintEvent*) {
    if (share_ < 0) return;
    QPainter painter(this);
    const QRect rect = bar_->geometry();
    painter.fillRect(rect, Theme::color(Token::Line));
    painter.fillRect(QRectF(rect.left(), rect.top(), rect.width() * std::min(share_, 1.0), rect.height()), Theme::color(Token::Accent));
}

}  // namespace heteroscope
