// Fingerprints of a world in which callers ask again for as long as they like, or proposers outbid each
// other: the numbers of tokens and requests, or of ballots, grow without end there, and count by their order
// (protocol/renumbering.hpp). Everything that names such a number is part of it: nodes, what crashes have
// left, what is under way, and the ghost.
#include <algorithm>

#include "explore/world.hpp"
#include "sim/random.hpp"

namespace holdfast::explore {

std::uint64_t World::renumberedFingerprint(const State& state) const {
  protocol::Renumbering numbers(configuration_.ticks.backoff != 0);
  (void)renumberedBy(numbers, state);
  numbers.settle();
  return renumberedBy(numbers, state);
}

/// The fingerprint in these numbers, and at first what collects them.
std::uint64_t World::renumberedBy(protocol::Renumbering& numbers, const State& state) const {
  // What has no order among what is under way is put into that of its hashes, which depends on the numbers.
  thread_local std::vector<std::uint64_t> unordered;
  unordered.clear();
  std::uint64_t hash = 0x9ddfea08eb382d69ULL;
  for (const Entry& entry : (*pools_)[state.pool].entries) {
    const std::uint64_t part = table_->renumberedItem(entry.item, numbers) + entry.queue;
    if (entry.queue == 0) {
      unordered.push_back(part);
    } else {
      hash = sim::mix(hash, part);
    }
  }
  std::ranges::sort(unordered);
  for (const std::uint64_t part : unordered) hash = sim::mix(hash, part);
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    const std::uint32_t number = state.nodes[node];
    hash = sim::mix(hash, isDown(state, node) ? ~table_->renumberedDurable(number, numbers)
                                              : table_->renumberedNode(number, numbers));
  }
  State rest = state;
  for (Ghost::LastToken& token : rest.ghost.tokens) {
    token.counter = static_cast<std::uint8_t>(numbers.of(protocol::Growing::token, token.counter));
  }
  return mixRest(hash, rest);
}

}  // namespace holdfast::explore
