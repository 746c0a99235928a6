// The clients of a plan: each operation is a little state machine that is driven by the replies to its calls.
//
// Contract: a value without coroutines or pointers. An operation whose node is down when it is due does not
// take place; one whose node crashes ends there, because a client lives in its node's process; one that gets
// an error gives up, unlocks what it holds, and counts as served. What is written is computed from what was
// read under the same handle: field 0 counts the sections (read value + 1), field 1 takes the number of the
// transaction, so that every section writes a value of its own; field 2 is only ever incremented; field 3
// sums what was read. All draws are keyed by the operation's id.
#pragma once

#include <cstdint>
#include <vector>

#include "observations/types.hpp"
#include "protocol/context.hpp"
#include "scenarios/plan.hpp"
#include "sim/random.hpp"

namespace holdfast::scenarios {

class Cluster;

class PlanClients {
 public:
  /// Room for the sections, calls and transactions of `operations` operations.
  void reserve(std::size_t operations);

  /// The operation is due and its node runs.
  void begin(Cluster& cluster, const Operation& operation);
  /// The client of a section has thought long enough.
  void step(Cluster& cluster, std::uint32_t section);
  /// Returns whether the reply was for a client of the plan.
  bool replied(Cluster& cluster, NodeId node, const protocol::Reply& reply);
  /// The process of the node died.
  void crashed(NodeId node);

  /// Operations begun that have neither ended nor died.
  std::size_t active() const { return active_; }
  std::uint64_t begun() const { return begun_; }

 private:
  enum class Stage : std::uint8_t {
    idle,     // the slot is free
    locking,  // a LockReply is awaited
    reentering,
    thinking,  // until step()
    leaving,   // thinks, then submits what it staged before unlocking
    settling,  // a TxnReply is awaited
  };

  struct Section {
    Operation operation;
    Stage stage = Stage::idle;
    std::uint8_t locked = 0;  // how many of the keys
    std::uint8_t thoughts = 0;
    obs::CallId calls[2];
    obs::TxnId txn;
    obs::FieldValues values[2]{};  // what was read
    std::uint32_t nextFree = 0;
    std::uint32_t generation = 0;
  };

  void lockNext(Cluster& cluster, std::uint32_t index);
  void admitted(Cluster& cluster, std::uint32_t index);
  void think(Cluster& cluster, std::uint32_t index, Stage next);
  void act(Cluster& cluster, std::uint32_t index);
  bool stage(Cluster& cluster, std::uint32_t index);
  void submit(Cluster& cluster, std::uint32_t index);
  void unlockAll(Cluster& cluster, std::uint32_t index);
  void end(std::uint32_t index);

  std::vector<Section> sections_;
  std::uint32_t freeSection_ = kNone;
  std::vector<std::uint32_t> callOwners_;  // index: CallId
  std::vector<std::uint32_t> txnOwners_;   // index: TxnId
  std::size_t active_ = 0;
  std::uint64_t begun_ = 0;

  static constexpr std::uint32_t kNone = 0xffffffff;
};

}  // namespace holdfast::scenarios
