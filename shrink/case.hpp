// What is made smaller: the options and the plan of one run, and how much there is of it.
//
// Contract: everything here is a pure function of values. A step is an entry of the plan that does something:
// an operation, a fault, or a clock that does not start as true time does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "shrink/ddmin.hpp"

namespace holdfast::shrink {

struct Case {
  scenarios::RunOptions options;
  scenarios::Plan plan;

  friend bool operator==(const Case&, const Case&) = default;
};

/// How large a case is.
struct Size {
  std::size_t operations = 0;
  std::size_t faults = 0;
  std::size_t clocks = 0;
  std::size_t nodes = 0;
  std::size_t keys = 0;
  sim::Duration simulated;

  std::size_t steps() const { return operations + faults + clocks; }
  friend bool operator==(const Size&, const Size&) = default;
};
BOOST_DESCRIBE_STRUCT(Size, (), (operations, faults, clocks, nodes, keys, simulated))

Size sizeOf(const Case& whole);

/// The steps of a case in the order of their time, clocks first; a subset of them makes a smaller case.
class Steps {
 public:
  explicit Steps(const Case& whole);

  std::size_t size() const { return steps_.size(); }
  /// The case with these steps only.
  Case only(const Subset& kept) const;

 private:
  enum class Kind : std::uint8_t { clock, operation, fault };
  struct Step {
    Kind kind = Kind::clock;
    std::size_t index = 0;
    obs::TrueInstant at;
  };

  const Case& whole_;
  std::vector<Step> steps_;
};

/// Puts node `to[i]` in the place of node i everywhere, in a cluster of `nodes`. `to` has an entry a node.
Case withNodes(const Case& whole, std::span<const std::uint16_t> to, std::uint16_t nodes);

/// Puts key `to[i]` in the place of key i everywhere, among `keys` keys. An operation on two keys that become
/// one is an update of that one.
Case withKeys(const Case& whole, std::span<const std::uint32_t> to, std::uint32_t keys);

/// Ends the run at `end`; what would be done later is left out.
Case cutAt(const Case& whole, obs::TrueInstant end);

/// The nodes, and the keys, that steps name; ascending.
std::vector<std::uint16_t> nodesIn(const Case& whole);
std::vector<std::uint32_t> keysIn(const Case& whole);

}  // namespace holdfast::shrink
