#pragma once

#include "scheduler/job.h"

#include <QString>

#include <cstdint>
#include <optional>

namespace heteroscope {

/// All number-to-text of the window. Three significant digits, SI units after a thin space (U+2009), a real minus
/// sign. Absent values give an em dash.
namespace format {

QString seconds(double seconds);            ///< "412 µs", "1.46 s", "3 min 12 s"
QString bytes(double bytes);                ///< "61.2 GiB"
QString rate(double perSecond, const QString& unit);  ///< rate(1.2e10, "B/s") = "12.0 GB/s"
QString count(std::uint64_t n);             ///< "1,204"
QString percent(double ratio);              ///< whole, from 0..1: "87 %"
QString difference(double ratio);           ///< one decimal with sign: "+4.2 %", "−28.1 %", "+128 %"
QString clockTime(std::int64_t epochNs);    ///< local "14:05:12"
QString dateTime(std::int64_t epochNs);     ///< local "26 Nov 2026, 14:05:12"
QString number(double value);               ///< three significant digits
QString stateName(JobState state);
QString jobNumber(JobId id);                ///< "#1042"
QString absent();                           ///< "—"

}  // namespace format
}  // namespace heteroscope
