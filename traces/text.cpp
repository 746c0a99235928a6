#include "traces/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>
#include <variant>

#include "observations/hash_chain.hpp"
#include "traces/json_cursor.hpp"
#include "traces/kinds.hpp"

namespace holdfast::traces {

namespace {

/// A name may hold anything; a line of text must stay one.
std::string printable(std::string_view name) {
  const bool plain = std::all_of(name.begin(), name.end(),
                                 [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; });
  return plain ? std::string(name) : shown(name);
}

/// `ns` over 10^decimals with trailing zeros cut, exact.
std::string decimal(std::int64_t ns, unsigned decimals) {
  std::uint64_t unit = 1;
  for (unsigned i = 0; i < decimals; ++i) unit *= 10;
  const std::uint64_t magnitude =
      ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  std::string out = fmt::format("{}{}", ns < 0 ? "-" : "", magnitude / unit);
  std::string fraction = decimals == 0 ? "" : fmt::format("{:0{}}", magnitude % unit, decimals);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (!fraction.empty()) out += "." + fraction;
  return out;
}

/// "barrier started" of "BarrierStarted".
std::string words(std::string_view kind) {
  std::string out;
  for (const char c : kind) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !out.empty()) out += ' ';
    out += capital ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

/// Where an observation was made, and the names: what every sentence needs.
struct Context {
  obs::NodeId node;
  const Names& names;
};

// ---- Values -----------------------------------------------------------------------------------------------

std::string show(obs::NodeId node, const Context& c) { return describe(node, c.names); }
std::string show(obs::KeyId key, const Context& c) { return describe(key, c.names); }
std::string show(obs::Duration duration, const Context&) { return describe(duration); }
std::string show(obs::MonotonicInstant at, const Context& c) {
  const std::string reading = at == obs::MonotonicInstant::never() ? "never" : decimal(at.ns, 9) + "s";
  return describe(c.node, c.names) + ":" + reading;
}
std::string show(obs::WallInstant at, const Context&) { return "wall " + decimal(at.ns, 9) + "s"; }
std::string show(obs::Timestamp stamp, const Context&) { return decimal(stamp.ns, 9) + "s"; }
std::string show(const obs::Token& token, const Context&) {
  return fmt::format("({},{},{})", token.membership, token.incarnation, token.counter);
}
std::string show(obs::CallId call, const Context&) {
  return call.valid() ? fmt::to_string(call.value) : "none";
}
std::string show(obs::TxnId txn, const Context&) { return txn.valid() ? fmt::to_string(txn.value) : "none"; }
std::string show(obs::NodeBits nodes, const Context& c) {
  std::string out = "{";
  for (std::uint16_t i = 0; i < 64; ++i) {
    if (nodes.contains({i})) out += (out.size() == 1 ? "" : " ") + show(obs::NodeId{i}, c);
  }
  return out + "}";
}
std::string show(bool value, const Context&) { return value ? "yes" : "no"; }

template <class T>
  requires std::is_integral_v<T>
std::string show(T value, const Context&) {
  return fmt::to_string(value);
}

template <obs::DescribedEnum E>
std::string show(E value, const Context&) {
  return std::string(obs::nameOf(value));
}

template <class T, std::size_t N>
std::string show(const std::array<T, N>& list, const Context& c) {
  std::string out = "[";
  for (std::size_t i = 0; i < N; ++i) out += (i == 0 ? "" : " ") + show(list[i], c);
  return out + "]";
}

/// The fields of a record that `mask` selects: "[0]=5 [2]=7", each followed by `suffix(i)`.
template <class Suffix>
std::string showFields(obs::FieldMask mask, const obs::FieldValues& values, Suffix&& suffix) {
  std::string out;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if ((mask >> i & 1U) == 0) continue;
    out += fmt::format("{}[{}]={}{}", out.empty() ? "" : " ", i, values[i], suffix(i));
  }
  return out.empty() ? "nothing" : out;
}

std::string readFields(obs::FieldMask present, const std::array<obs::TxnId, obs::kRecordFields>& writers,
                       const obs::FieldValues& values, const Context& c) {
  return showFields(present, values, [&](std::size_t i) {
    return writers[i].valid() ? fmt::format(" by txn {}", show(writers[i], c)) : std::string();
  });
}

std::string showPath(obs::Path path) {
  switch (path) {
    case obs::Path::cached:
      return "under a cached delegation";
    case obs::Path::virgin:
      return "as a virgin key";
    case obs::Path::clean:
      return "by clean handoff";
    case obs::Path::recovery:
      return "after recovery";
  }
  return "?";
}

std::string underCall(obs::CallId call) {
  return call.valid() ? fmt::format(" under call {}", call.value) : "";
}

std::string showError(obs::ErrorClass error, obs::Cause cause) {
  return fmt::format("{} ({})", obs::nameOf(error), obs::nameOf(cause));
}

// ---- Sentences --------------------------------------------------------------------------------------------

/// Any kind, spelt out from its description.
template <class T>
std::string sentence(const T& what, const Context& c) {
  std::string out = words(kKindNames[boost::mp11::mp_find<obs::Observation, T>::value]);
  std::string_view separator = ": ";
  obs::forEachField(what, [&](std::string_view name, const auto& field) {
    out += fmt::format("{}{} {}", separator, name, show(field, c));
    separator = ", ";
  });
  return out;
}

std::string sentence(const obs::LockRequested& o, const Context& c) {
  return fmt::format("requested {} as call {}, waiting {}, for {}", show(o.key, c), show(o.call, c),
                     show(o.wait, c), show(o.lease, c));
}

std::string sentence(const obs::Admitted& o, const Context& c) {
  return fmt::format("admitted call {} on {} {}, token {}, until {}{}", show(o.call, c), show(o.key, c),
                     showPath(o.path), show(o.token, c), show(o.deadline, c), o.hold ? ", to hold" : "");
}

std::string sentence(const obs::LockRefused& o, const Context& c) {
  return fmt::format("refused call {} on {}: {}", show(o.call, c), show(o.key, c),
                     showError(o.error, o.cause));
}

std::string sentence(const obs::Unlocked& o, const Context& c) {
  return fmt::format("unlocked {}, call {}", show(o.key, c), show(o.call, c));
}

std::string sentence(const obs::Revoked& o, const Context& c) {
  return fmt::format("revoked call {} on {}{}", show(o.call, c), show(o.key, c),
                     o.unlocked ? ", already unlocked" : "");
}

std::string sentence(const obs::Read& o, const Context& c) {
  return fmt::format("read {}{}: {}", show(o.key, c), underCall(o.call),
                     readFields(o.present, o.writers, o.values, c));
}

std::string sentence(const obs::FinalRecord& o, const Context& c) {
  return fmt::format("holds {} at the end: {}", show(o.key, c),
                     readFields(o.present, o.writers, o.values, c));
}

std::string sentence(const obs::Staged& o, const Context& c) {
  return fmt::format("staged {} of {}{} in txn {}: {}, stamp {}{}", obs::nameOf(o.op), show(o.key, c),
                     underCall(o.call), show(o.txn, c),
                     showFields(o.fields, o.values, [](std::size_t) { return std::string(); }),
                     show(o.stamp, c), o.callerStamp ? " of the caller" : "");
}

std::string sentence(const obs::Submitted& o, const Context& c) {
  return fmt::format("submitted txn {} on {}{}, attempt {}", show(o.txn, c), show(o.key, c),
                     underCall(o.call), o.attempt);
}

std::string sentence(const obs::Settled& o, const Context& c) {
  const std::string end = o.committed ? fmt::format("committed at position {}", o.position) : "aborted";
  return fmt::format("settled txn {}: {}{}", show(o.txn, c), end, o.recovered ? ", found after a crash" : "");
}

std::string sentence(const obs::WriteRefused& o, const Context& c) {
  return fmt::format("refused txn {} on {}{}: {}", show(o.txn, c), show(o.key, c), underCall(o.call),
                     showError(o.error, o.cause));
}

std::string sentence(const obs::Granted& o, const Context& c) {
  return fmt::format("granted {} to {} {}, token {}, for {}{}", show(o.key, c), show(o.to, c),
                     showPath(o.path), show(o.token, c), show(o.duration, c), o.renewal ? ", a renewal" : "");
}

std::string sentence(const obs::Denied& o, const Context& c) {
  return fmt::format("denied {} to {}: {}", show(o.key, c), show(o.to, c), obs::nameOf(o.cause));
}

std::string sentence(const obs::Applied& o, const Context& c) {
  return fmt::format("{} {}'s entry {}", o.failed ? "failed to apply" : "applied", show(o.origin, c),
                     o.position);
}

std::string sentence(const obs::ClockRate& o, const Context& c) {
  return fmt::format("clock reads {} and runs at {:+} ppb", show(o.local, c), o.ratePpb);
}

std::string sentence(const obs::WallSet& o, const Context& c) {
  return fmt::format("wall clock reads {} and runs at {:+} ppb", show(o.wall, c).substr(5), o.ratePpb);
}

std::string sentence(const obs::MessageSent& o, const Context& c) {
  return fmt::format("sent {} {} to {}{}", obs::nameOf(o.message), o.id, show(o.to, c),
                     o.key.valid() ? " on " + show(o.key, c) : "");
}

std::string sentence(const obs::MessageDelivered& o, const Context& c) {
  return fmt::format("received {} {} from {}", obs::nameOf(o.message), o.id, show(o.from, c));
}

std::string sentence(const obs::MessageLost& o, const Context& c) {
  return fmt::format("lost {} {} to {}: {}", obs::nameOf(o.message), o.id, show(o.to, c), obs::nameOf(o.why));
}

std::string sentence(const obs::PhaseChanged& o, const Context&) {
  return fmt::format("phase: {}", obs::nameOf(o.phase));
}

}  // namespace

std::string describe(obs::NodeId node, const Names& names) {
  if (node.value < names.nodes.size()) return printable(names.nodes[node.value]);
  return node.valid() ? fmt::format("node {}", node.value) : "nobody";
}

std::string describe(obs::KeyId key, const Names& names) {
  if (key.value < names.keys.size()) return printable(names.keys[key.value]);
  return key.valid() ? fmt::format("key {}", key.value) : "no key";
}

std::string describe(obs::TrueInstant at) {
  const std::uint64_t ns =
      at.ns < 0 ? 0 - static_cast<std::uint64_t>(at.ns) : static_cast<std::uint64_t>(at.ns);
  return fmt::format("{}{}.{:09}s", at.ns < 0 ? "-" : "", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string describe(obs::Duration duration) {
  const std::int64_t ns = duration.ns;
  const auto reaches = [&](std::int64_t unit) { return ns >= unit || ns <= -unit; };
  if (ns == 0 || reaches(1'000'000'000)) return decimal(ns, 9) + "s";
  if (reaches(1'000'000)) return decimal(ns, 6) + "ms";
  if (reaches(1'000)) return decimal(ns, 3) + "us";
  return decimal(ns, 0) + "ns";
}

std::string describeWhat(const obs::Stamped& stamped, const Names& names) {
  const Context context{stamped.node, names};
  return std::visit([&](const auto& what) { return sentence(what, context); }, stamped.what);
}

std::string describe(const obs::Stamped& stamped, const Names& names) {
  std::size_t width = 1;
  for (std::size_t i = 0; i < names.nodes.size(); ++i) {
    width = std::max(width, describe(obs::NodeId{static_cast<std::uint16_t>(i)}, names).size());
  }
  const std::string node = stamped.node.valid() ? describe(stamped.node, names) : "-";
  return fmt::format("{} {:<{}}  {}", describe(stamped.at), node, width, describeWhat(stamped, names));
}

}  // namespace holdfast::traces
