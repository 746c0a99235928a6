// The world under the renamings of its configuration: which of them leave its first state as it is, what a
// state becomes under one, and the least fingerprint of all that a state becomes.
#include <algorithm>

#include "explore/world.hpp"

namespace holdfast::explore {

/// Tells the mirror what the inputs are called that no step has sent.
void World::nameRoots() {
  for (std::size_t which = 0; which < mirror_->size(); ++which) {
    const Renaming& names = mirror_->names(which);
    for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
      mirror_->setItem(which, wakes_[node], wakes_[names.nodes[node]]);
      mirror_->setItem(which, ticks_[node], ticks_[names.nodes[node]]);
      mirror_->setItem(which, boots_[node], boots_[names.nodes[node]]);
    }
    for (std::size_t client = 0; client < programs_.size(); ++client) {
      const Program& other = programs_[names.clients[client]];
      for (std::size_t i = 0; i < other.steps.size(); ++i) {
        mirror_->setItem(which, programs_[client].steps[i].item, other.steps[i].item);
      }
    }
  }
}

/// Keeps the renamings that leave the first state as it is, and gives nodes that stand for each other one
/// rank.
void World::keepSymmetries() {
  const std::uint64_t first = fingerprintOf(initial_);
  for (std::size_t which = 0; which < mirror_->size(); ++which) {
    if (fingerprintOf(renamedBy(initial_, which)) == first) symmetries_.push_back(which);
  }
  for (const std::size_t which : symmetries_) {
    for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
      ranks_[node] = std::min<std::uint32_t>(ranks_[node], mirror_->names(which).nodes[node]);
    }
  }
}

std::uint32_t World::renamedPool(std::uint32_t pool, std::size_t which) const {
  const Pool& given = (*pools_)[pool];
  if (const auto known = given.images.at(which)) return *known;
  Entries entries;
  for (const Entry& entry : given.entries) {
    const std::uint32_t image = mirror_->item(which, entry.item);
    entries.push_back({queueOf(table_->item(image)), image});
  }
  const std::uint32_t image = poolOf(entries);
  given.images.set(which, image);
  return image;
}

World::State World::renamedBy(const State& state, std::size_t which) const {
  const Renaming& names = mirror_->names(which);
  State result = state;
  result.down = 0;
  result.cut = 0;
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    const std::uint8_t name = names.nodes[node];
    const bool down = isDown(state, node);
    result.nodes[name] =
        down ? mirror_->durable(which, state.nodes[node]) : mirror_->node(which, state.nodes[node]);
    if (down) result.down = static_cast<std::uint8_t>(result.down | 1U << name);
    result.ahead[name] = state.ahead[node];
    for (std::uint8_t low = 0; low < node; ++low) {
      if (!isCut(state, low, node)) continue;
      result.cut = static_cast<std::uint8_t>(result.cut | 1U << pairOf(names.nodes[low], name));
    }
  }
  for (std::size_t client = 0; client < programs_.size(); ++client) {
    result.places[names.clients[client]] = state.places[client];
  }
  result.pool = renamedPool(state.pool, which);
  result.ghost = explore::renamed(state.ghost, names, cast_);
  return result;
}

std::uint64_t World::fingerprint(const State& state) const {
  if (renumbers_) return renumberedFingerprint(state);
  std::uint64_t least = fingerprintOf(state);
  for (const std::size_t which : symmetries_) {
    least = std::min(least, fingerprintOf(renamedBy(state, which)));
  }
  return least;
}

std::string World::whatBreaksSymmetry() const {
  return symmetries_.empty() ? std::string() : mirror_->whatBreaks(symmetries_);
}

}  // namespace holdfast::explore
