#include "ui/monitor/device_card.h"

#include "ui/format.h"
#include "ui/monitor/bands_view.h"
#include "ui/monitor/metric_chart.h"
#include "ui/monitor/readings_row.h"
#include "ui/monitor/running_line.h"
#include "ui/theme.h"
#include "ui/widgets/link_button.h"
#include "ui/widgets/token_label.h"

#include <QDateTime>
#include <QHBoxLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <set>

namespace heteroscope {

namespace {

constexpr int gutter = 48;
constexpr int bucketsPerRange = 300;

QString runtimeName(const RuntimeInfo& runtime) {
    switch (runtime.api) {
        case Api::Cuda: return QStringLiteral("CUDA");
        case Api::Null: return QStringLiteral("null");
        case Api::OpenCl: break;
    }
    return runtime.platform == "Portable Computing Language" ? QStringLiteral("OpenCL (PoCL)") : QStringLiteral("OpenCL");
}

std::int64_t milliseconds(std::chrono::system_clock::time_point time) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

/// A round number at or above the largest value, so that the axis changes rarely.
double niceMaximum(double value) {
    if (!(value > 0)) return 1.0;
    const double power = std::pow(10.0, std::floor(std::log10(value)));
    for (const double step : {1.0, 2.0, 5.0, 10.0})
        if (value <= step * power) return step * power;
    return 10.0 * power;
}

}  // namespace

DeviceCard::Buffers::Buffers() {
    for (const auto span : rangesMs) ranges.emplace_back(span, bucketsPerRange);
}

void DeviceCard::Buffers::push(std::int64_t timeMs, const Reading* reading) {
    for (auto& series : ranges) {
        // A stale value was not measured at this moment: the line stops there.
        if (reading && reading->state == ReadingState::Known) series.push(timeMs, reading->value);
        else series.pushGap(timeMs);
    }
}

DeviceCard::DeviceCard(std::vector<DeviceInfo> devices, const JobBoard& board, const JobBands& bands, QWidget* parent)
    : Card(parent), devices_(std::move(devices)), board_(board), series_(std::max(0, board.deviceIndex(devices_.front().id))),
      stateIcon_(new QLabel), state_(new TokenLabel), allow_(new LinkButton(tr("How to allow"), Theme::Type::Caption)), readings_(new ReadingsRow),
      chart_(new MetricChart(series_, gutter)) {
    setAccessibleName(QString::fromStdString(devices_.front().name));
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(16, 12, 16, 12);
    layout->setSpacing(8);
    layout->addWidget(makeHeader(board));
    layout->addWidget(readings_);
    chart_->setMinimumHeight(124);
    chart_->setMaximumHeight(420);
    chart_->setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Expanding);
    chart_->setAxis(1.0, {QStringLiteral("0"), QStringLiteral("50"), format::percent(1.0)});
    chart_->setAccessibleName(tr("Utilisation over time"));
    connectChart(chart_);
    layout->addWidget(chart_, 100);
    layout->addSpacing(-8);

    std::vector<BandsView::Lane> lanes;
    for (const auto& device : devices_)
        lanes.push_back({device.id, devices_.size() > 1 ? QString::fromStdString(device.id) : tr("jobs"), !device.sharesHostMemory});
    bandsView_ = new BandsView(std::move(lanes), bands);
    connect(bandsView_, &BandsView::hovered, this, &DeviceCard::hovered);
    connect(bandsView_, &BandsView::hoverLeft, this, &DeviceCard::hoverLeft);
    connect(bandsView_, &BandsView::jobClicked, this, &DeviceCard::jobClicked);
    layout->addWidget(bandsView_);
    for (const auto& device : devices_) {
        auto* line = new RunningLine(device.id, devices_.size() > 1 ? QString::fromStdString(device.id) : QString());
        connect(line, &RunningLine::jobClicked, this, &DeviceCard::jobClicked);
        layout->addWidget(line);
        lines_.push_back(line);
    }
    layout->addStretch(1);
    allow_->setVisible(false);
    connect(allow_, &LinkButton::clicked, this, &DeviceCard::explainPermission);
}

QWidget* DeviceCard::makeHeader(const JobBoard& board) {
    auto* header = new QWidget;
    auto* layout = new QHBoxLayout(header);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(8);
    auto* name = new TokenLabel(QString::fromStdString(devices_.front().name), Theme::Type::Text, Token::Text, true);
    name->setElided(true);
    name->setMaximumWidth(name->QLabel::sizeHint().width());
    QStringList ids;
    std::set<QString> runtimes;
    for (const auto& device : devices_) {
        ids << QString::fromStdString(device.id);
        for (const auto& runtime : device.runtimes) runtimes.insert(runtimeName(runtime));
    }
    layout->addWidget(new Swatch(std::max(0, board.deviceIndex(devices_.front().id))));
    layout->addWidget(name, 100);
    layout->addWidget(new TokenLabel(ids.join(QStringLiteral(" · ")), Theme::Type::Caption, Token::Secondary));
    for (const auto& runtime : runtimes) layout->addWidget(new Tag(runtime));
    layout->addStretch(1);
    layout->addWidget(allow_);
    stateIcon_->setFixedSize(14, 14);
    layout->addWidget(stateIcon_);
    layout->addWidget(state_);
    return header;
}

void DeviceCard::connectChart(MetricChart* chart) {
    connect(chart, &MetricChart::hovered, this, &DeviceCard::hovered);
    connect(chart, &MetricChart::hoverLeft, this, &DeviceCard::hoverLeft);
}

bool DeviceCard::watches(const std::string& device) const {
    return std::any_of(devices_.begin(), devices_.end(), [&](const DeviceInfo& each) { return each.id == device; });
}

void DeviceCard::take(const std::vector<TelemetryFrame>& frames) {
    std::vector<TelemetryFrame> mine;
    for (const auto& device : devices_)
        for (const auto& frame : frames)
            if (frame.device == device.id || (frame.device == device.processor && &device == &devices_.front())) mine.push_back(frame);
    if (mine.empty()) return;
    latest_ = std::move(mine);
    const std::int64_t at = milliseconds(latest_.front().time);
    buffers_[Utilisation].push(at, utilisationReading(latest_));
    buffers_[Memory].push(at, bestReading(latest_, metric::memoryUsed));
    buffers_[Power].push(at, bestReading(latest_, metric::power));
    buffers_[Temperature].push(at, bestReading(latest_, metric::temperature));
}

void DeviceCard::refresh(int range, std::int64_t endMs, bool endIsNow) {
    range_ = std::clamp(range, 0, static_cast<int>(rangesMs.size()) - 1);
    const std::int64_t fromMs = endMs - rangesMs[static_cast<std::size_t>(range_)];
    chart_->setData(buffers_[Utilisation].ranges[static_cast<std::size_t>(range_)], static_cast<double>(fromMs), static_cast<double>(endMs));
    bandsView_->setGeometryOfPlot(chart_->geometryOfPlot(), endMs * 1'000'000, endIsNow);
    if (secondRow_ && secondRow_->isVisible())
        for (const auto metric : {Memory, Power, Temperature}) refreshSmall(metric, fromMs, endMs);
}

void DeviceCard::refreshNow() {
    readings_->setReadings(readingTexts(latest_, std::chrono::steady_clock::now()));
    const auto& shown = readings_->readings();
    allow_->setVisible(std::any_of(shown.begin(), shown.end(), [](const ReadingText& text) { return text.forbidden; }));
    const std::int64_t nowNs = QDateTime::currentMSecsSinceEpoch() * 1'000'000;
    for (auto* line : lines_) line->refresh(board_, nowNs);

    std::size_t running = 0, lost = 0;
    for (const auto& device : board_.latest().devices)
        if (watches(device.id)) {
            running += device.running.size();
            lost += device.online ? 0 : 1;
        }
    const bool allLost = lost == devices_.size();
    const QString icon = allLost ? QStringLiteral("warning") : running ? QStringLiteral("state-running") : QStringLiteral("state-waiting");
    const Token token = allLost ? Token::Bad : running ? Token::Accent : Token::Secondary;
    stateIcon_->setPixmap(Theme::icon(icon, token).pixmap(QSize(14, 14), devicePixelRatioF()));
    state_->setToken(token);
    state_->setText(allLost ? tr("lost") : running > 1 ? tr("%1 running").arg(format::count(running)) : running ? tr("running") : tr("idle"));
    chart_->setAccessibleDescription(readings_->accessibleDescription());
}

void DeviceCard::setCrossHair(std::optional<double> timeMs) {
    const auto range = static_cast<std::size_t>(range_);
    chart_->setCrossHair(timeMs, timeMs ? buffers_[Utilisation].ranges[range].valueAt(*timeMs) : std::nullopt);
    bandsView_->setCrossHair(timeMs);
    for (const auto metric : {Memory, Power, Temperature})
        if (auto* chart = small_[metric].chart) chart->setCrossHair(timeMs, timeMs ? buffers_[metric].ranges[range].valueAt(*timeMs) : std::nullopt);
}

QString DeviceCard::wordsAt(double timeMs) const {
    QString words = QString::fromStdString(devices_.front().shortName);
    const auto range = static_cast<std::size_t>(range_);
    const auto value = buffers_[Utilisation].ranges[range].valueAt(timeMs);
    words += QLatin1Char(' ') + (value ? format::percent(*value) : format::absent());
    if (const auto power = buffers_[Power].ranges[range].valueAt(timeMs)) words += QStringLiteral(" · ") + format::number(*power) + QChar(0x2009) + QLatin1Char('W');
    if (const QString ran = bandsView_->whatRanAt(timeMs); !ran.isEmpty()) words += QStringLiteral(" · ") + ran;
    return words;
}

void DeviceCard::makeSecondRow() {
    secondRow_ = new QWidget;
    auto* layout = new QHBoxLayout(secondRow_);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(16);
    const std::array<QString, metricCount> names{QString(), tr("memory"), tr("power"), tr("temperature")};
    for (const auto metric : {Memory, Power, Temperature}) {
        auto* column = new QVBoxLayout;
        column->setSpacing(2);
        auto& small = small_[metric];
        small.label = new TokenLabel(names[metric], Theme::Type::Caption, Token::Secondary);
        small.label->setElided(true);
        small.chart = new MetricChart(series_, 0);
        small.chart->setFixedHeight(52);
        small.chart->setAccessibleName(tr("%1 over time").arg(names[metric]));
        connectChart(small.chart);
        column->addWidget(small.label);
        column->addWidget(small.chart);
        column->addStretch(1);
        layout->addLayout(column, 1);
    }
    auto* rows = static_cast<QVBoxLayout*>(this->layout());
    rows->insertWidget(rows->count() - 1, secondRow_);
}

void DeviceCard::setSecondRow(bool shown) {
    if (shown && !secondRow_) makeSecondRow();
    if (secondRow_) secondRow_->setVisible(shown);
}

void DeviceCard::refreshSmall(Metric metric, std::int64_t fromMs, std::int64_t endMs) {
    auto& small = small_[metric];
    const auto& series = buffers_[metric].ranges[static_cast<std::size_t>(range_)];
    const auto& text = readings_->readings()[static_cast<std::size_t>(metric)];
    double maximum = 0;
    const auto points = series.points(static_cast<double>(fromMs), static_cast<double>(endMs));
    for (const auto& point : points) maximum = std::max(maximum, point.y());
    if (metric == Memory)
        if (const auto* total = bestReading(latest_, metric::memoryTotal); hasValue(total)) maximum = total->value;
    small.chart->setAxis(metric == Memory ? std::max(maximum, 1.0) : niceMaximum(maximum), {});
    small.chart->setData(series, static_cast<double>(fromMs), static_cast<double>(endMs));
    small.chart->setVisible(!series.empty());
    const QString figure = text.number ? text.value + QLatin1Char(' ') + text.unit : format::absent() + QLatin1Char(' ') + text.state;
    small.label->setText(text.label + QLatin1Char(' ') + figure);
}

void DeviceCard::explainPermission() {
    QStringList what, files;
    for (const auto& reading : readings_->readings())
        if (reading.forbidden) {
            what << reading.label;
            if (reading.source.startsWith(QLatin1Char('/'))) files << reading.source;
        }
    const QString text = tr("%1: %2 cannot be read. The system keeps it from ordinary users.")
                             .arg(QString::fromStdString(devices_.front().shortName), what.join(QStringLiteral(", ")));
    const QString remedy = files.isEmpty() ? tr("Run the program as a user who may read it.")
                                           : tr("This lets every user read it until the next restart: sudo chmod a+r %1").arg(files.join(QLatin1Char(' ')));
    emit permissionAsked(text, remedy);
}

}  // namespace heteroscope
