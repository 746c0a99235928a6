// One node of the delegation protocol by itself, the home of one key: what the protocol costs where no
// message is needed, without a simulator or checkers around it.
#pragma once

#include <cstdint>

#include "protocol/context.hpp"
#include "protocol/directory.hpp"
#include "protocol/node.hpp"

namespace holdfast::measure {

class LoneNode {
 public:
  /// The node has started, and its delegations last longer than any measurement.
  LoneNode();
  // The node refers to the directory beside it.
  LoneNode(const LoneNode&) = delete;
  LoneNode& operator=(const LoneNode&) = delete;

  /// Locks the key and unlocks it, a microsecond apart: the cached path (BD-2), but for the first time.
  void lockAndUnlock();

 private:
  void give(const protocol::Input& input);

  protocol::Directory directory_;
  protocol::Node node_;
  protocol::Effects effects_;
  sim::MonotonicInstant now_{1'000'000'000};
  std::uint32_t calls_ = 0;
};

}  // namespace holdfast::measure
