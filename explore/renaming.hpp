// Renamings of nodes, keys, clients and what clients call that leave a configuration as it is.
//
// Nodes are interchangeable when neither is the home and their clients do the same; keys when they have one
// home and are used alike; clients when they do the same. A renaming says for each old name the new one. The
// renamings of a configuration, with the identity, form a group.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "explore/configuration.hpp"
#include "explore/ghost.hpp"

namespace holdfast::explore {

struct Renaming {
  std::array<std::uint8_t, kMaxNodes> nodes{};
  std::array<std::uint8_t, kMaxKeys> keys{};
  std::array<std::uint8_t, kMaxClients> clients{};
  std::array<std::uint8_t, kMaxCalls> calls{};
  std::array<std::uint8_t, kMaxTxns> txns{};
};

/// All but the identity. None when there are more than 23, which would cost more than they save.
std::vector<Renaming> renamingsOf(const Configuration& configuration);

/// The ghost of the renamed past.
Ghost renamed(const Ghost& ghost, const Renaming& names, const Cast& cast);

/// What a step has said, with the reading of its node's clock.
struct Said {
  const std::vector<obs::Observation>& observations;
  obs::MonotonicInstant now;
};

/// Whether the ghost makes of `other` what it makes of `said`, renamed. What it does not look at may differ,
/// and so may the order of what concerns different keys.
bool corresponds(const Renaming& names, const Cast& cast, const Said& said, const Said& other);

}  // namespace holdfast::explore
