// Identities that the simulator and the protocols share.
//
// A node's identity is its name (RT-4). Inside a run a name is interned: NodeId is the rank of the name among
// all names of the run in byte order. The table is the same at every node, so an id means the same everywhere
// and `a < b` holds exactly when name(a) < name(b); tie-breaks by name may therefore compare ids.
#pragma once

#include <compare>
#include <cstdint>

namespace holdfast::sim {

/// An interned node name; ordered as the names are.
struct NodeId {
  std::uint16_t value = 0xffff;

  static constexpr NodeId none() { return {}; }
  constexpr bool valid() const { return value != 0xffff; }
  friend constexpr auto operator<=>(NodeId, NodeId) = default;
};

/// An interned canonical key (RT-2): equal keys have equal ids, different keys different ids.
struct KeyId {
  std::uint32_t value = 0xffffffff;

  static constexpr KeyId none() { return {}; }
  constexpr bool valid() const { return value != 0xffffffff; }
  friend constexpr auto operator<=>(KeyId, KeyId) = default;
};

}  // namespace holdfast::sim
