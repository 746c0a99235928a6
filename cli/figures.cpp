#include "cli/figures.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace holdfast::cli {

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::to_string(number);
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string rounded(double number) {
  constexpr std::array<std::string_view, 5> kUnits = {"", " k", " M", " G", " T"};
  if (!std::isfinite(number) || number < 0) return "-";
  std::size_t unit = 0;
  // 999.5 would be printed with four digits.
  while (number >= 999.5 && unit + 1 < kUnits.size()) {
    number /= 1000;
    ++unit;
  }
  const int decimals = number >= 99.95 ? 0 : number >= 9.995 ? 1 : 2;
  std::string text = fmt::format("{:.{}f}", number, decimals);
  if (unit == 0 && text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
  }
  return text + std::string(kUnits[unit]);
}

std::string elapsed(std::chrono::nanoseconds time) {
  const auto ns = static_cast<double>(time.count());
  if (time < std::chrono::milliseconds(100)) return fmt::format("{:.3f} ms", ns / 1e6);
  if (time < std::chrono::minutes(10)) return fmt::format("{:.3f} s", ns / 1e9);
  const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time).count();
  if (minutes < 60) return fmt::format("{} min {} s", minutes, time.count() / 1'000'000'000 % 60);
  return fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

std::string perSecond(std::uint64_t number, std::chrono::nanoseconds time) {
  if (time.count() <= 0) return "-";
  return rounded(static_cast<double>(number) * 1e9 / static_cast<double>(time.count()));
}

std::string speedup(std::int64_t simulatedNs, std::chrono::nanoseconds real) {
  if (real.count() <= 0 || simulatedNs < 0) return "-";
  const double ratio = static_cast<double>(simulatedNs) / static_cast<double>(real.count());
  if (ratio < 100) return rounded(ratio) + "x";
  return grouped(static_cast<std::uint64_t>(ratio)) + "x";
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(count), noun, count == 1 ? "" : "s");
}

}  // namespace holdfast::cli
