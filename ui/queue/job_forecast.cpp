#include "ui/queue/job_forecast.h"

#include "ui/format.h"
#include "ui/job_board.h"
#include "ui/queue/placement_preview.h"
#include "ui/theme.h"

#include <QEvent>
#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

namespace heteroscope {
namespace {

constexpr int rowHeight = 36, headerHeight = 28, left = 16, grooveWidth = 48;

struct Columns {
    int device, memory, dataInRight, runRight, confidence, doneRight;
};

/// From the design's 760 px; what is more or less goes to the memory and the confidence column.
Columns columnsFor(int width) {
    const int extra = std::max(-120, width - 760) / 2;
    return {left, left + 108, left + 370 + extra, left + 440 + extra, left + 460 + extra, width - left};
}

QString secondsOrDash(double seconds) { return seconds < 0.0 ? format::absent() : format::seconds(seconds); }

int confidenceLevel(const Prediction& prediction) {
    if (prediction.seconds < 0.0) return 0;
    return prediction.samples == 0 ? 1 : prediction.samples < 5 ? 2 : 3;
}

void paintConfidenceBars(QPainter& painter, int x, int bottom, int level) {
    painter.setPen(Qt::NoPen);
    for (int i = 0; i < 3; ++i) {
        painter.setBrush(Theme::color(i < level ? Token::Text : Token::Line));
        const int height = 4 + 3 * i;
        painter.drawRect(QRect(x + 7 * i, bottom - height, 5, height));
    }
}

QString policySays(const Placement& placement, const std::string& policy, const std::vector<std::string>& names) {
    const QString id = QString::fromStdString(policy.substr(0, policy.find(':')));
    if (placement.dependsOnTurn)
        return ForecastTable::tr("%1 takes the devices in turn: whose turn it is will be seen when the job is ready.").arg(id);
    if (!placement.decision) return ForecastTable::tr("%1 would let it wait until a device is free.").arg(id);
    return ForecastTable::tr("%1 would now put it on %2").arg(id, QString::fromStdString(explain(*placement.decision, names)));
}

bool anyRunnable(const std::vector<ForecastRow>& rows) {
    return rows.empty() || std::any_of(rows.begin(), rows.end(), [](const ForecastRow& row) { return row.whyNot.isEmpty(); });
}

/// Candidates are by the engine's device index, rows by Services::devices(): brought together by id.
void addEngineView(Forecast& forecast, const std::vector<DeviceInfo>& devices, const JobSpec& job, PageContext context) {
    Engine& engine = *context.services.engine();
    const auto known = engine.devices();
    const auto candidates = engine.preview(job);
    const EngineUpdate& latest = context.board.latest();
    std::vector<std::string> names;
    for (const DeviceInfo& device : known) names.push_back(context.board.deviceShortName(device.id).toStdString());
    const std::string policy = engine.policy();
    const Placement placement = placementBy(policy, job, candidates, latest.devices);
    for (std::size_t i = 0; i < devices.size(); ++i) {
        ForecastRow& row = forecast.rows[i];
        for (const Candidate& candidate : candidates) {
            if (candidate.device >= known.size() || known[candidate.device].id != devices[i].id) continue;
            row.dataInSeconds = candidate.dataIn;
            row.finishSeconds = candidate.finish;
            if (row.whyNot.isEmpty()) row.whyNot = QString::fromStdString(candidate.excluded);
            row.chosen = placement.decision && placement.decision->chosen == candidate.device;
        }
        row.prediction = engine.predict(job, devices[i].id);
    }
    if (!devices.empty() && anyRunnable(forecast.rows)) forecast.placement = policySays(placement, policy, names);
}

}  // namespace

QString confidenceText(const Prediction& prediction) {
    if (prediction.seconds < 0.0) return ForecastTable::tr("never run here");
    if (prediction.samples == 0) return ForecastTable::tr("no runs at this size; scaled");
    const QString runs = prediction.samples == 1 ? ForecastTable::tr("1 run")
                                                 : ForecastTable::tr("%1 runs").arg(format::count(prediction.samples));
    if (prediction.samples == 1) return runs;
    return QStringLiteral("±%1, %2").arg(format::difference(prediction.relativeSpread).remove(QLatin1Char('+')), runs);
}

Forecast forecastFor(const LaunchPlan& plan, const JobSpec& job, PageContext context) {
    Forecast forecast;
    forecast.flops = plan.flops;
    forecast.bytes = plan.bytes;
    forecast.bufferBytes = plan.bufferBytes;
    const auto devices = context.services.devices();
    for (const DeviceInfo& device : devices) {
        ForecastRow row;
        row.device = context.board.deviceShortName(device.id);
        row.series = context.board.deviceIndex(device.id);
        row.neededBytes = plan.bufferBytes;
        row.memoryBytes = device.memoryBytes;
        row.whyNot = QString::fromStdString(whyNotOn(plan, device).value_or(std::string()));
        if (row.whyNot.isEmpty() && !job.device.empty() && job.device != device.id)
            row.whyNot = ForecastTable::tr("not the device asked for");
        forecast.rows.push_back(std::move(row));
    }
    if (context.services.engine()) addEngineView(forecast, devices, job, context);
    if (devices.empty())
        forecast.placement = context.services.discovering() ? ForecastTable::tr("Devices are still being looked for.")
                                                            : ForecastTable::tr("There is no device: jobs wait until one is there.");
    forecast.runnable = anyRunnable(forecast.rows);
    if (!forecast.runnable) forecast.placement = ForecastTable::tr("No device can run this job.");
    return forecast;
}

ForecastTable::ForecastTable(QWidget* parent) : QWidget(parent) { setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed); }

void ForecastTable::setRows(std::vector<ForecastRow> rows) {
    const bool resized = rows.size() != rows_.size();
    rows_ = std::move(rows);
    QStringList said;
    for (const ForecastRow& row : rows_)
        said << row.device + QStringLiteral(": ") + (row.whyNot.isEmpty() ? tr("run %1, done in %2").arg(secondsOrDash(row.prediction.seconds), secondsOrDash(row.finishSeconds)) : row.whyNot);
    setAccessibleDescription(said.join(QStringLiteral("; ")));
    if (resized) updateGeometry();
    update();
}

QSize ForecastTable::sizeHint() const {
    return {760, rows_.empty() ? 0 : headerHeight + rowHeight * static_cast<int>(rows_.size())};
}

void ForecastTable::paintEvent(QPaintEvent*) {
    if (rows_.empty()) return;
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Columns at = columnsFor(width());
    painter.setFont(Theme::font(Theme::Type::Caption));
    painter.setPen(Theme::color(Token::Secondary));
    const auto header = [&](int x, const QString& text) { painter.drawText(QRect(x, 0, 300, headerHeight), Qt::AlignLeft | Qt::AlignVCenter, text); };
    const auto headerRight = [&](int right, const QString& text) { painter.drawText(QRect(right - 200, 0, 200, headerHeight), Qt::AlignRight | Qt::AlignVCenter, text); };
    header(at.device, tr("Device"));
    header(at.memory, tr("Memory: needed of all"));
    headerRight(at.dataInRight, tr("Data in"));
    headerRight(at.runRight, tr("Run"));
    header(at.confidence, tr("Confidence"));
    headerRight(at.doneRight, tr("Done in"));
    painter.fillRect(QRect(0, headerHeight - 1, width(), 1), Theme::color(Token::Line));
    int top = headerHeight;
    for (const ForecastRow& row : rows_) {
        paintRow(painter, row, top);
        top += rowHeight;
    }
}

void ForecastTable::paintRow(QPainter& painter, const ForecastRow& row, int top) const {
    const Columns at = columnsFor(width());
    if (row.chosen) painter.fillRect(QRect(0, top, width(), rowHeight), Theme::color(Token::Selection));
    painter.fillRect(QRect(0, top + rowHeight - 1, width(), 1), Theme::color(Token::Hover));
    if (row.series >= 0) {
        painter.setPen(Qt::NoPen);
        painter.setBrush(Theme::series(row.series));
        painter.drawRoundedRect(QRectF(at.device, top + rowHeight / 2 - 4, 8, 8), 2, 2);
    }
    const bool fits = row.whyNot.isEmpty();
    const auto cell = [&](int x, int cellWidth, const QString& text, Qt::Alignment alignment, Token token, bool bold = false, Theme::Type type = Theme::Type::Text) {
        painter.setFont(Theme::font(type, bold));
        painter.setPen(Theme::color(token));
        painter.drawText(QRect(x, top, cellWidth, rowHeight), static_cast<int>(alignment | Qt::AlignVCenter),
                         QFontMetrics(painter.font()).elidedText(text, Qt::ElideRight, cellWidth));
    };
    cell(at.device + 14, at.memory - at.device - 22, row.device, Qt::AlignLeft, fits ? Token::Text : Token::Secondary, row.chosen);
    const bool tooLarge = row.memoryBytes && row.neededBytes > *row.memoryBytes;
    const QRectF groove(at.memory, top + rowHeight / 2 - 4, grooveWidth, 8);
    painter.fillRect(groove, Theme::color(Token::Line));
    if (row.memoryBytes && *row.memoryBytes > 0) {
        const double ratio = static_cast<double>(row.neededBytes) / static_cast<double>(*row.memoryBytes);
        painter.fillRect(QRectF(groove.topLeft(), QSizeF(grooveWidth * std::clamp(ratio, 0.01, 1.0), 8)),
                         tooLarge ? Theme::color(Token::Bad) : row.series >= 0 ? Theme::series(row.series) : Theme::color(Token::Accent));
    }
    const QString memory = format::bytes(static_cast<double>(row.neededBytes)) + QStringLiteral(" / ") +
                           (row.memoryBytes ? format::bytes(static_cast<double>(*row.memoryBytes)) : tr("not reported"));
    const int memoryWidth = QFontMetrics(Theme::font(Theme::Type::Text)).horizontalAdvance(memory);
    cell(at.memory + grooveWidth + 8, memoryWidth + 1, memory, Qt::AlignLeft, Token::Text);
    if (!fits) {
        const int start = at.memory + grooveWidth + 8 + memoryWidth + 16;
        Theme::icon(QStringLiteral("state-failed"), Token::Bad).paint(&painter, QRect(start, top + rowHeight / 2 - 7, 14, 14));
        cell(start + 20, at.doneRight - start - 20, row.whyNot, Qt::AlignLeft, Token::Bad);
        return;
    }
    cell(at.dataInRight - 70, 70, secondsOrDash(row.dataInSeconds), Qt::AlignRight, Token::Text);
    cell(at.runRight - 66, 66, secondsOrDash(row.prediction.seconds), Qt::AlignRight, Token::Text);
    paintConfidenceBars(painter, at.confidence, top + rowHeight / 2 + 5, confidenceLevel(row.prediction));
    cell(at.confidence + 28, at.doneRight - 76 - at.confidence - 28, confidenceText(row.prediction), Qt::AlignLeft, Token::Secondary, false, Theme::Type::Caption);
    cell(at.doneRight - 72, 72, secondsOrDash(row.finishSeconds), Qt::AlignRight, Token::Text, true);
}

void ForecastTable::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::PaletteChange) update();
}

bool ForecastTable::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return QWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    const int index = (help->pos().y() - headerHeight) / rowHeight;
    if (help->pos().y() < headerHeight || index >= static_cast<int>(rows_.size())) {
        QToolTip::hideText();
        return true;
    }
    const ForecastRow& row = rows_[static_cast<std::size_t>(index)];
    QToolTip::showText(help->globalPos(), row.whyNot.isEmpty() ? tr("%1: %2").arg(row.device, confidenceText(row.prediction)) : row.device + QStringLiteral(": ") + row.whyNot, this);
    return true;
}

}  // namespace heteroscope
