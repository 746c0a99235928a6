#include "explore/search.hpp"

#include <chrono>

namespace holdfast::explore {
namespace {

double steadySeconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::string_view nameOf(Verdict verdict) {
  switch (verdict) {
    case Verdict::verified:
      return "verified";
    case Verdict::violated:
      return "violated";
    case Verdict::incomplete:
      break;
  }
  return "incomplete";
}

std::string_view reason(Cut cut) {
  switch (cut) {
    case Cut::none:
      return "nothing was cut short";
    case Cut::depth:
      return "the depth bound was reached";
    case Cut::memory:
      return "the memory bound was reached";
    case Cut::time:
      return "the time bound was reached";
    case Cut::states:
      return "the bound on states was reached";
    case Cut::schedules:
      return "schedules were sampled, not enumerated";
    case Cut::asymmetry:
      return "what was taken for interchangeable is not";
    case Cut::interrupted:
      break;
  }
  return "it was interrupted";
}

Stopwatch::Stopwatch() : start_(steadySeconds()), told_(start_) {}

double Stopwatch::seconds() const { return steadySeconds() - start_; }

bool Stopwatch::tellsNow() {
  const double now = steadySeconds();
  if (now - told_ < 0.5) return false;
  told_ = now;
  return true;
}

}  // namespace holdfast::explore
