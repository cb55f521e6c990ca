#include "ui/monitor/reading_text.h"

#include "ui/format.h"

#include <QCoreApplication>
#include <QDateTime>

#include <cmath>

namespace heteroscope {

namespace {

QString tr(const char* text) { return QCoreApplication::translate("ReadingText", text); }

struct Figure {
    QString value, unit;
};

/// "61.2 GiB" as figure and unit.
Figure split(const QString& text) {
    const auto at = text.indexOf(QChar(0x2009));
    return at < 0 ? Figure{text, {}} : Figure{text.left(at), text.mid(at + 1)};
}

QString stateWords(const Reading* reading, const std::vector<TelemetryFrame>& frames, std::chrono::steady_clock::time_point now) {
    if (!reading) return frames.empty() ? tr("no sample yet") : tr("not reported");
    const double age = std::chrono::duration<double>(now - reading->taken).count();
    switch (reading->state) {
        case ReadingState::Known: return {};
        case ReadingState::NotSupported: return tr("not reported");
        case ReadingState::NoPermission: return tr("no permission");
        case ReadingState::Stale: return tr("%1 old").arg(format::seconds(std::round(age)));
        case ReadingState::Asleep: return tr("asleep");
        case ReadingState::Lost: {
            if (reading->taken == std::chrono::steady_clock::time_point{}) return tr("lost");
            return tr("lost %1").arg(QDateTime::currentDateTime().addMSecs(static_cast<qint64>(-age * 1000)).toString(QStringLiteral("HH:mm")));
        }
    }
    return {};
}

/// Used memory in the unit of the whole, so that both can be compared at a glance.
Figure memoryFigure(double used, const Reading* total) {
    if (!hasValue(total) || total->value <= 0) return split(format::bytes(used));
    const Figure whole = split(format::bytes(total->value));
    double factor = 1.0;
    for (const auto& unit : {QStringLiteral("B"), QStringLiteral("KiB"), QStringLiteral("MiB"), QStringLiteral("GiB"), QStringLiteral("TiB"), QStringLiteral("PiB")}) {
        if (unit == whole.unit) break;
        factor *= 1024.0;
    }
    return {format::number(used / factor), QStringLiteral("/ ") + whole.value + QChar(0x2009) + whole.unit};
}

}  // namespace

bool hasValue(const Reading* reading) {
    return reading && (reading->state == ReadingState::Known || reading->state == ReadingState::Stale) && std::isfinite(reading->value);
}

const Reading* bestReading(const std::vector<TelemetryFrame>& frames, std::string_view name) {
    const Reading* best = nullptr;
    for (const auto& frame : frames)
        for (const auto& named : frame.readings)
            if (named.name == name && (!best || (best->state != ReadingState::Known && named.reading.state == ReadingState::Known)))
                best = &named.reading;
    return best;
}

const Reading* utilisationReading(const std::vector<TelemetryFrame>& frames) {
    const Reading* counter = bestReading(frames, metric::utilisation);
    if (counter && counter->state != ReadingState::NotSupported) return counter;
    const Reading* own = bestReading(frames, metric::computeBusy);
    return own && own->state == ReadingState::Known ? own : counter;
}

std::vector<ReadingText> readingTexts(const std::vector<TelemetryFrame>& frames, std::chrono::steady_clock::time_point now) {
    std::vector<ReadingText> out;
    const auto add = [&](const QString& label, const Reading* reading, auto figure) {
        ReadingText text;
        text.label = label;
        text.state = stateWords(reading, frames, now);
        text.value = format::absent();
        if (reading) {
            text.source = QString::fromStdString(reading->source);
            text.forbidden = reading->state == ReadingState::NoPermission;
        }
        if (hasValue(reading)) {
            const Figure shown = figure(reading->value);
            text.value = shown.value;
            text.unit = shown.unit;
            text.number = reading->value;
        }
        out.push_back(text);
    };
    const Reading* busy = utilisationReading(frames);
    add(tr("utilisation"), busy, [](double ratio) { return split(format::percent(ratio)); });
    if (busy && busy->state == ReadingState::Known && busy->source.find("own event profile") != std::string::npos)
        out.back().state = tr("own event profile");
    const Reading* total = bestReading(frames, metric::memoryTotal);
    add(tr("memory"), bestReading(frames, metric::memoryUsed), [total](double bytes) { return memoryFigure(bytes, total); });
    add(tr("power"), bestReading(frames, metric::power), [](double watt) { return Figure{format::number(watt), QStringLiteral("W")}; });
    add(tr("temperature"), bestReading(frames, metric::temperature),
        [](double celsius) { return Figure{QString::number(std::lround(celsius)), QStringLiteral("°C")}; });
    add(tr("clock"), bestReading(frames, metric::clock), [](double hertz) { return split(format::rate(hertz, QStringLiteral("Hz"))); });
    return out;
}

}  // namespace heteroscope
