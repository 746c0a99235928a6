#include "traces/verify.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "observations/hash_chain.hpp"
#include "traces/json.hpp"
#include "traces/text.hpp"
#include "traces/trace.hpp"

namespace holdfast::traces {

namespace {

using Members = std::vector<ObservationWriter::Member>;

/// The members whose text differs. Of two kinds only instant, node and kind are compared.
std::vector<std::size_t> differing(const Members& recorded, const Members& reexecuted) {
  constexpr std::size_t kKindMember = 2;
  std::vector<std::size_t> out;
  const bool sameKind = recorded[kKindMember].value == reexecuted[kKindMember].value;
  const std::size_t count = sameKind ? recorded.size() : kKindMember + 1;
  for (std::size_t i = 0; i < count; ++i) {
    if (recorded[i].value != reexecuted[i].value) out.push_back(i);
  }
  return out;
}

void appendEvents(std::string& out, std::string_view title, std::span<const obs::Stamped> events,
                  std::uint64_t first, const Names& names) {
  if (events.empty()) return;
  out += fmt::format("{}\n", title);
  const std::size_t width = fmt::formatted_size("#{}", first + events.size() - 1);
  for (const obs::Stamped& event : events) {
    out += fmt::format("  {:<{}}  {}\n", fmt::format("#{}", first), width, describe(event, names));
    ++first;
  }
}

void appendDifferences(std::string& out, const Divergence& divergence, const Names& names,
                       const Sides& sides) {
  const ObservationWriter writer(names);
  const Members recorded = writer.members(divergence.recorded.front());
  const Members reexecuted = writer.members(divergence.reexecuted.front());
  const std::vector<std::size_t> indices = differing(recorded, reexecuted);
  std::size_t nameWidth = 0;
  std::size_t valueWidth = 0;
  for (const std::size_t i : indices) {
    nameWidth = std::max(nameWidth, recorded[i].name.size());
    valueWidth = std::max(valueWidth, recorded[i].value.size());
  }
  for (const std::size_t i : indices) {
    out += fmt::format("    {:<{}}  {} {:<{}}  {} {}\n", recorded[i].name, nameWidth, sides.recorded,
                       recorded[i].value, valueWidth, sides.reexecuted, reexecuted[i].value);
  }
}

std::span<const obs::Stamped> behindFirst(const std::vector<obs::Stamped>& events) {
  return std::span(events).subspan(events.empty() ? 0 : 1);
}

}  // namespace

Verifier::Verifier(const Trace& trace) : recorded_(trace.observations) {}

void Verifier::diverge() {
  Divergence& found = divergence_.emplace();
  found.event = matched_ + 1;
  const std::size_t at = static_cast<std::size_t>(matched_);
  const auto before = recorded_.subspan(at - std::min(at, kContext), std::min(at, kContext));
  found.before.assign(before.begin(), before.end());
  const auto after = recorded_.subspan(at, std::min(recorded_.size() - at, kContext + 1));
  found.recorded.assign(after.begin(), after.end());
}

void Verifier::on(const obs::Stamped& stamped) {
  if (!divergence_) {
    if (matched_ < recorded_.size() && sameObservation(recorded_[matched_], stamped)) {
      ++matched_;
      return;
    }
    diverge();
    if (!divergence_->recorded.empty()) {
      // Names play no part in which fields differ, as ids without names are written as their numbers.
      const ObservationWriter writer{Names{}};
      const Members recorded = writer.members(divergence_->recorded.front());
      for (const std::size_t i : differing(recorded, writer.members(stamped))) {
        divergence_->fields.push_back(recorded[i].name);
      }
    }
  }
  if (!complete()) divergence_->reexecuted.push_back(stamped);
}

void Verifier::finish() {
  if (!divergence_ && matched_ < recorded_.size()) diverge();
}

std::string describe(const Divergence& divergence, const Names& names, const Sides& sides) {
  std::string out = fmt::format("first differing event #{}: ", divergence.event);
  const bool recordedEnds = divergence.recorded.empty();
  const bool reexecutedEnds = divergence.reexecuted.empty();
  if (recordedEnds) {
    out += fmt::format("the {} run ends after event {}, the {} one goes on", sides.recorded,
                       divergence.event - 1, sides.reexecuted);
  } else if (reexecutedEnds) {
    out += fmt::format("the {} run ends after event {}, the {} one goes on", sides.reexecuted,
                       divergence.event - 1, sides.recorded);
  } else {
    out += fmt::format("{}", fmt::join(divergence.fields, ", "));
  }
  const std::size_t width = std::max(sides.recorded.size(), sides.reexecuted.size());
  const auto side = [&](const std::vector<obs::Stamped>& events) {
    return events.empty() ? std::string("(end)") : describe(events.front(), names);
  };
  out += fmt::format("\n  {:<{}}  {}\n  {:<{}}  {}\n", sides.recorded, width, side(divergence.recorded),
                     sides.reexecuted, width, side(divergence.reexecuted));
  if (!recordedEnds && !reexecutedEnds) appendDifferences(out, divergence, names, sides);
  appendEvents(out, "before it, on both sides", divergence.before,
               divergence.event - divergence.before.size(), names);
  appendEvents(out, fmt::format("after it, {}", sides.recorded), behindFirst(divergence.recorded),
               divergence.event + 1, names);
  appendEvents(out, fmt::format("after it, {}", sides.reexecuted), behindFirst(divergence.reexecuted),
               divergence.event + 1, names);
  return out;
}

}  // namespace holdfast::traces
