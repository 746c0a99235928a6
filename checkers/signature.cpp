#include "checkers/signature.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace holdfast::checkers {

std::vector<Signature> signaturesOf(const Findings& findings) {
  std::vector<Signature> kinds;
  for (const Finding& finding : findings.violations()) {
    const Signature kind = signatureOf(finding);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  return kinds;
}

const Finding* firstOf(const Findings& findings, const Signature& signature) {
  const auto violations = findings.violations();
  const auto found = std::ranges::find(violations, signature, signatureOf);
  if (found != violations.end()) return &*found;
  const auto limitations = findings.limitations();
  const auto reached = std::ranges::find(limitations, signature, signatureOf);
  return reached == limitations.end() ? nullptr : &*reached;
}

std::string describe(const Signature& signature) {
  const std::string route = signature.route == Route::none
                                ? std::string()
                                : fmt::format(", route {}", obs::nameOf(signature.route));
  return fmt::format("checker {}, rule {}, anomaly {}{}", obs::nameOf(signature.checker),
                     ruleOf(signature.anomaly), obs::nameOf(signature.anomaly), route);
}

}  // namespace holdfast::checkers
