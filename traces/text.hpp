// Observations as sentences for people: "12.345678901s A  admitted call 3 on accounts/alice ...".
//
// Contract: every kind has a sentence, one line long; kinds without one of their own are spelt out from their
// description. Two different observations may read the same (the JSON form is the exact one). Readings of a
// node's monotonic clock are written "A:20.1s" to keep them apart from true time.
#pragma once

#include <string>

#include "observations/observation.hpp"
#include "traces/names.hpp"

namespace holdfast::traces {

/// Instant, node and sentence. Node names are padded to the longest of the run.
std::string describe(const obs::Stamped& stamped, const Names& names);

/// The sentence alone.
std::string describeWhat(const obs::Stamped& stamped, const Names& names);

/// A node's name, "node 7" if it has none, "nobody" for NodeId::none().
std::string describe(obs::NodeId node, const Names& names);
/// A key's name, "key 7" if it has none, "no key" for KeyId::none().
std::string describe(obs::KeyId key, const Names& names);

/// Seconds with all nine decimals: "12.345678901s".
std::string describe(obs::TrueInstant at);
/// The shortest exact form in the largest fitting unit: "20.1s", "5ms", "1.5us", "12ns", "0s".
std::string describe(obs::Duration duration);

}  // namespace holdfast::traces
