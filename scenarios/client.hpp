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
  static constexpr std::uint32_t kNone = 0xffffffff;

  /// Room for the sections, calls and transactions of `operations` operations.
  void reserve(std::size_t operations);

  /// The operation is due and its node runs.
  void begin(Cluster& cluster, const Operation& operation);
  /// The client of a section has thought long enough.
  void step(Cluster& cluster, std::uint32_t section, std::uint32_t generation);
  /// Returns whether the reply was for a client of the plan.
  bool replied(Cluster& cluster, NodeId node, const protocol::Reply& reply);
  /// The process of the node died.
  void crashed(NodeId node);

  /// Operations begun that have neither ended nor died.
  std::size_t active() const { return active_; }
  std::uint64_t begun() const { return begun_; }

 private:
  enum class Stage : std::uint8_t {
    idle,        // the slot is free
    locking,     // a LockReply is awaited
    reentering,  // a LockReply is awaited
    reading,     // ReadReplies are awaited
    thinking,    // until step(), then the next access
    staging,     // a TxnReply to CallStage is awaited
    leaving,     // has unlocked, and submits at step()
    settling,    // a TxnReply to CallSubmit is awaited
  };

  struct Section {
    Operation operation;
    Stage stage = Stage::idle;
    std::uint8_t locked = 0;  // how many of the keys
    std::uint8_t count = 0;   // reads answered, or writes staged
    bool reentered = false;   // or, in a read-only section, reading for the second time
    obs::CallId calls[2];
    obs::TxnId txn;
    obs::FieldValues values[2]{};  // what was read
    std::uint32_t nextFree = kNone;
    std::uint32_t generation = 0;
  };

  void lockNext(Cluster& cluster, std::uint32_t index);
  void read(Cluster& cluster, std::uint32_t index);
  void reenter(Cluster& cluster, std::uint32_t index);
  void think(Cluster& cluster, std::uint32_t index, Stage next);
  void stage(Cluster& cluster, std::uint32_t index);
  void fillWrite(const Cluster& cluster, const Section& section, protocol::CallStage& call) const;
  void submit(Cluster& cluster, std::uint32_t index);
  void unlockAll(Cluster& cluster, std::uint32_t index);
  void giveUp(Cluster& cluster, std::uint32_t index);
  void end(std::uint32_t index);
  void onLock(Cluster& cluster, std::uint32_t index, const protocol::LockReply& reply);
  void onRead(Cluster& cluster, std::uint32_t index, const protocol::ReadReply& reply);
  void onTxn(Cluster& cluster, std::uint32_t index, const protocol::TxnReply& reply);

  std::vector<Section> sections_;
  std::uint32_t freeSection_ = kNone;
  std::vector<std::uint32_t> callOwners_;  // index: CallId
  std::vector<std::uint32_t> txnOwners_;   // index: TxnId
  std::size_t active_ = 0;
  std::uint64_t begun_ = 0;
};

}  // namespace holdfast::scenarios
