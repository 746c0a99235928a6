#include "scenarios/client.hpp"

#include <algorithm>

#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"

namespace holdfast::scenarios {
namespace {

using obs::WriteOp;

constexpr std::size_t kCounterField = 0;
constexpr std::size_t kWriterField = 1;
constexpr std::size_t kIncrementField = 2;
constexpr std::size_t kSumField = 3;

constexpr obs::FieldMask bit(std::size_t field) { return static_cast<obs::FieldMask>(1U << field); }

// What a section reads and writes; each gets a draw of its own.
enum Draw : std::uint64_t { howToWrite, amount };

bool isLocked(OperationKind kind) {
  switch (kind) {
    case OperationKind::unlockedPut:
    case OperationKind::unlockedPatch:
    case OperationKind::unlockedIncrement:
    case OperationKind::unlockedErase:
      return false;
    default:
      return true;
  }
}

std::uint8_t keysOf(OperationKind kind) { return kind == OperationKind::transfer ? 2 : 1; }

void setOwner(std::vector<std::uint32_t>& owners, std::uint32_t id, std::uint32_t section) {
  if (owners.size() <= id) owners.resize(id + std::size_t{1}, 0xffffffff);
  owners[id] = section;
}

std::uint32_t ownerOf(const std::vector<std::uint32_t>& owners, std::uint32_t id) {
  return id < owners.size() ? owners[id] : 0xffffffff;
}

}  // namespace

void PlanClients::reserve(std::size_t operations) {
  callOwners_.reserve(operations * 2 + 1);
  txnOwners_.reserve(operations + 1);
  sections_.reserve(256);
}

// ---- Beginning and ending ---------------------------------------------------------------------------------

void PlanClients::begin(Cluster& cluster, const Operation& operation) {
  if (operation.kind == OperationKind::dropDelegation) {
    cluster.feed(operation.node, protocol::AdminDrop{operation.key});
    return;
  }
  if (freeSection_ == kNone) {
    sections_.emplace_back();
    freeSection_ = static_cast<std::uint32_t>(sections_.size() - 1);
  }
  const std::uint32_t index = freeSection_;
  Section& section = sections_[index];
  freeSection_ = section.nextFree;
  const std::uint32_t generation = section.generation;
  section = Section{};
  section.generation = generation;
  section.operation = operation;
  // Whoever locks two keys locks them in one order, or two of them could wait for each other.
  if (operation.kind == OperationKind::transfer && operation.secondKey < operation.key) {
    std::swap(section.operation.key, section.operation.secondKey);
  }
  ++active_;
  ++begun_;
  if (isLocked(operation.kind)) {
    lockNext(cluster, index);
  } else {
    stage(cluster, index);
  }
}

void PlanClients::end(std::uint32_t index) {
  Section& section = sections_[index];
  for (const obs::CallId call : section.calls) {
    if (call.valid()) callOwners_[call.value] = kNone;
  }
  if (section.txn.valid()) txnOwners_[section.txn.value] = kNone;
  section.stage = Stage::idle;
  ++section.generation;
  section.nextFree = freeSection_;
  freeSection_ = index;
  --active_;
}

void PlanClients::crashed(NodeId node) {
  for (std::uint32_t i = 0; i < sections_.size(); ++i) {
    if (sections_[i].stage != Stage::idle && sections_[i].operation.node == node) end(i);
  }
}

void PlanClients::giveUp(Cluster& cluster, std::uint32_t index) {
  unlockAll(cluster, index);
  end(index);
}

void PlanClients::unlockAll(Cluster& cluster, std::uint32_t index) {
  Section& section = sections_[index];
  for (std::uint8_t i = section.locked; i > 0; --i) {
    cluster.feed(section.operation.node, protocol::CallUnlock{section.calls[i - 1]});
  }
  section.locked = 0;
}

// ---- Steps ------------------------------------------------------------------------------------------------

void PlanClients::lockNext(Cluster& cluster, std::uint32_t index) {
  Section& section = sections_[index];
  const Operation& operation = section.operation;
  const obs::CallId call = cluster.newCall();
  section.calls[section.locked] = call;
  section.stage = Stage::locking;
  setOwner(callOwners_, call.value, index);
  protocol::CallLock lock;
  lock.call = call;
  lock.key = section.locked == 0 ? operation.key : operation.secondKey;
  lock.wait = operation.wait;
  lock.lease = operation.lease;
  cluster.feed(operation.node, lock);
}

void PlanClients::read(Cluster& cluster, std::uint32_t index) {
  Section& section = sections_[index];
  section.stage = Stage::reading;
  section.count = 0;
  const Operation operation = section.operation;
  const std::uint8_t keys = section.locked;
  for (std::uint8_t i = 0; i < keys; ++i) {
    cluster.feed(operation.node,
                 protocol::CallRead{sections_[index].calls[i], i == 0 ? operation.key : operation.secondKey});
  }
}

void PlanClients::think(Cluster& cluster, std::uint32_t index, Stage next) {
  Section& section = sections_[index];
  section.stage = next;
  cluster.clientStepAfter(section.operation.node, section.operation.think, index, section.generation);
}

void PlanClients::step(Cluster& cluster, std::uint32_t index, std::uint32_t generation) {
  if (index >= sections_.size() || sections_[index].generation != generation) return;
  const OperationKind kind = sections_[index].operation.kind;
  switch (sections_[index].stage) {
    case Stage::thinking:
      if (kind == OperationKind::holdAndReenter && !sections_[index].reentered) {
        reenter(cluster, index);
      } else if (kind == OperationKind::readOnlySection) {
        sections_[index].reentered = true;
        read(cluster, index);
      } else {
        stage(cluster, index);
      }
      return;
    case Stage::leaving:
      submit(cluster, index);
      return;
    default:
      return;
  }
}

void PlanClients::reenter(Cluster& cluster, std::uint32_t index) {
  Section& section = sections_[index];
  section.stage = Stage::reentering;
  section.reentered = true;
  cluster.feed(section.operation.node,
               protocol::CallReenter{section.calls[0], section.operation.lease, true});
}

void PlanClients::stage(Cluster& cluster, std::uint32_t index) {
  Section& section = sections_[index];
  const Operation& operation = section.operation;
  const bool locked = isLocked(operation.kind);
  if (!section.txn.valid()) {
    section.txn = cluster.newTxn();
    section.count = 0;
    setOwner(txnOwners_, section.txn.value, index);
  }
  section.stage = Stage::staging;
  protocol::CallStage call;
  call.txn = section.txn;
  call.call = locked ? section.calls[section.count] : obs::CallId{};
  call.key = section.count == 0 ? operation.key : operation.secondKey;
  fillWrite(cluster, section, call);
  cluster.feed(operation.node, call);
}

void PlanClients::fillWrite(const Cluster& cluster, const Section& section, protocol::CallStage& call) const {
  const Operation& operation = section.operation;
  const std::uint64_t draw =
      sim::KeyedRandom{cluster.seed()}.bits(draws::kClient, operation.id, section.count);
  const obs::FieldValues& read = section.values[section.count];
  call.values[kCounterField] = read[kCounterField] + 1;
  call.values[kWriterField] = section.txn.value;
  call.values[kIncrementField] = read[kIncrementField];
  call.values[kSumField] = read[kCounterField] + read[kIncrementField];
  switch (operation.kind) {
    case OperationKind::unlockedErase:
    case OperationKind::lockedErase:
      call.op = WriteOp::erase;
      call.values = {};
      return;
    case OperationKind::unlockedPatch:
      call.op = WriteOp::patch;
      call.fields = bit(kSumField);
      return;
    case OperationKind::unlockedIncrement:
      break;
    case OperationKind::futureStamp:
      call.callerStamp = true;
      call.stamp = {cluster.wallAt(operation.node).ns + operation.stampAhead.ns};
      return;
    case OperationKind::unlockedPut:
      return;
    default: {
      const std::uint64_t how = sim::scaleBelow(sim::mix(draw, howToWrite), 100);
      if (how < 50) return;
      if (how < 80) {
        call.op = WriteOp::patch;
        call.fields = static_cast<obs::FieldMask>(bit(kCounterField) | bit(kWriterField));
        return;
      }
      break;
    }
  }
  call.op = WriteOp::increment;
  call.fields = bit(kIncrementField);
  call.values = {};
  call.values[kIncrementField] = 1 + static_cast<std::int64_t>(sim::scaleBelow(sim::mix(draw, amount), 9));
}

void PlanClients::submit(Cluster& cluster, std::uint32_t index) {
  Section& section = sections_[index];
  section.stage = Stage::settling;
  cluster.feed(section.operation.node, protocol::CallSubmit{section.txn});
}

// ---- Replies ----------------------------------------------------------------------------------------------

bool PlanClients::replied(Cluster& cluster, NodeId, const protocol::Reply& reply) {
  if (const auto* lock = std::get_if<protocol::LockReply>(&reply)) {
    const std::uint32_t index = ownerOf(callOwners_, lock->call.value);
    if (index == kNone) return false;
    onLock(cluster, index, *lock);
    return true;
  }
  if (const auto* read = std::get_if<protocol::ReadReply>(&reply)) {
    const std::uint32_t index = ownerOf(callOwners_, read->call.value);
    if (index == kNone) return false;
    onRead(cluster, index, *read);
    return true;
  }
  const auto& txn = std::get<protocol::TxnReply>(reply);
  const std::uint32_t index = ownerOf(txnOwners_, txn.txn.value);
  if (index == kNone) return false;
  onTxn(cluster, index, txn);
  return true;
}

void PlanClients::onLock(Cluster& cluster, std::uint32_t index, const protocol::LockReply& reply) {
  Section& section = sections_[index];
  if (reply.error != obs::ErrorClass::none) {
    giveUp(cluster, index);
    return;
  }
  if (section.stage == Stage::locking) ++section.locked;
  if (section.locked < keysOf(section.operation.kind)) {
    lockNext(cluster, index);
  } else {
    read(cluster, index);
  }
}

void PlanClients::onRead(Cluster& cluster, std::uint32_t index, const protocol::ReadReply& reply) {
  Section& section = sections_[index];
  if (section.stage != Stage::reading) return;
  section.values[reply.call == section.calls[0] ? 0 : 1] = reply.values;
  if (++section.count < section.locked) return;
  if (section.operation.kind == OperationKind::readOnlySection && section.reentered) {
    giveUp(cluster, index);
  } else if (section.operation.kind == OperationKind::abandon) {
    stage(cluster, index);
  } else if (section.operation.kind == OperationKind::holdAndReenter && section.reentered) {
    stage(cluster, index);
  } else {
    think(cluster, index, Stage::thinking);
  }
}

void PlanClients::onTxn(Cluster& cluster, std::uint32_t index, const protocol::TxnReply& reply) {
  Section& section = sections_[index];
  const NodeId node = section.operation.node;
  if (!reply.staged) {
    // The logical transaction is over, one way or the other.
    giveUp(cluster, index);
    return;
  }
  if (reply.error != obs::ErrorClass::none) {
    giveUp(cluster, index);
    return;
  }
  const OperationKind kind = section.operation.kind;
  if (++section.count < keysOf(kind)) {
    stage(cluster, index);
  } else if (kind == OperationKind::earlyUnlock) {
    unlockAll(cluster, index);
    think(cluster, index, Stage::leaving);
  } else if (kind == OperationKind::abandon) {
    const obs::TxnId txn = section.txn;
    end(index);
    cluster.feed(node, protocol::CallAbandon{txn});
  } else {
    submit(cluster, index);
  }
}

}  // namespace holdfast::scenarios
