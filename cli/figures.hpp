// Numbers as people read them; the same on every machine, whatever its locale.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace holdfast::cli {

/// "1,234,567".
std::string grouped(std::uint64_t number);

/// Three significant digits with a unit of thousands: "12.3 M", "980", "4.56 k".
std::string rounded(double number);

/// "70.000 s", "1.234 ms" (below 0.1 s), "2 h 3 min" (from ten minutes on).
std::string elapsed(std::chrono::nanoseconds time);

/// `number` a second, rounded; "-" when no time has passed.
std::string perSecond(std::uint64_t number, std::chrono::nanoseconds time);

/// How many times as fast as real time: "5,830x"; "-" when no time has passed.
std::string speedup(std::int64_t simulatedNs, std::chrono::nanoseconds real);

/// `count` and the noun for that many: "1 seed", "2 seeds".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace holdfast::cli
