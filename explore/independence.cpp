// Which choices of the world commute.
//
// A step of one node, that is a client's, a timer's, an arrival or what its disk has done, reads and writes
// the node, takes its input from what is under way and adds to it, and moves the clients of the node and the
// ghost. So two of them, at different nodes, commute up to what they share:
//   - Under way. What has no order is a multiset, to which adding and from which taking commute; an arrival
//     needs its message to have been there before. A stream is added to at its end, by its sender alone, and
//     taken from at its head, by its receiver alone; persists are one node's. So two steps never add to the
//     same queue, and neither changes what the other finds at a head that was there before.
//   - Clients. One that comes after another begins where that one has ended, and not before.
//   - Budgets: two steps that use up the same one may exclude each other, and do not count as commuting.
//   - The ghost. An admission looks at the sections and writes of others on its key, a settlement at what
//     recoveries have excused, and so on: `Footprint` says what of the ghost each observation reads and
//     writes beyond what belongs to its node alone. A verdict is part of the ghost, and the first one stays;
//     so steps of which one is reported bad still commute, unless each of them would be the first.
//   - Clocks. The tick of one node's clock changes the deadlines of its own handles, which is a write to the
//     ghost, and its lead over the others, which never keeps another from ticking but may first allow it.
//     Where no clock ticks while much is under way, ticks commute with ticks only.
// The tick of all clocks at once touches every node. Whether a message is sent at all depends on who is down
// and on cut links, so restarts, cuts and healings commute with nothing but a loss. A crash takes the streams
// from and to its node along and is otherwise like a step of it. A loss takes a datagram out and touches
// nothing else: it commutes with all that does not want the same datagram.
#include <algorithm>

#include "explore/world.hpp"

namespace holdfast::explore {
namespace {

/// What steps of different nodes share in the ghost, a bit each: a call's section, a transaction, whether it
/// has been overtaken, the last token of a key, what recoveries have excused.
class Footprint {
 public:
  explicit Footprint(const Cast& cast) : cast_(cast) {}

  void add(std::uint8_t node, const obs::Observation& what) {
    node_ = node;
    std::visit(*this, what);
  }
  void tick(std::uint8_t node) { writeSections(node); }
  void crash(std::uint8_t node) {
    writeSections(node);
    for (std::size_t i = 0; i < cast_.txnCount; ++i) {
      if (nodeOfTxn(i) == node) settle(i);
    }
  }
  bool empty() const { return (reads_ | writes_) == 0; }
  bool clashes(const Footprint& other) const {
    return (writes_ & (other.reads_ | other.writes_)) != 0 || (reads_ & other.writes_) != 0;
  }

  void operator()(const obs::Admitted& event) {
    for (std::size_t i = 0; i < cast_.callCount; ++i) {
      if (cast_.calls[i].key == event.key.value) reads_ |= section(i);
    }
    for (std::size_t i = 0; i < cast_.txnCount; ++i) {
      if (cast_.calls[cast_.txns[i].call].key != event.key.value) continue;
      reads_ |= transaction(i);
      if (nodeOfTxn(i) != node_) writes_ |= overtaken(i);
    }
    reads_ |= kExcused;
    write(event.call);
  }
  void operator()(const obs::Reentered& event) { write(event.call); }
  void operator()(const obs::LockRequested& event) { write(event.call); }
  void operator()(const obs::LockRefused& event) { write(event.call); }
  void operator()(const obs::Unlocked& event) { write(event.call); }
  void operator()(const obs::Revoked& event) { write(event.call); }
  void operator()(const obs::Staged& event) { write(event.txn); }
  void operator()(const obs::Submitted& event) { write(event.txn); }
  void operator()(const obs::WriteRefused& event) { settle(event.txn.value - 1); }
  void operator()(const obs::Settled& event) { settle(event.txn.value - 1); }
  void operator()(const obs::Granted& event) { writes_ |= token(event.key.value); }
  void operator()(const obs::Applied& event) { readWritesOf(event.origin); }
  void operator()(const obs::BarrierMeasured& event) { readWritesOf(event.member); }
  void operator()(const obs::BarrierDone&) {
    for (std::size_t i = 0; i < cast_.txnCount; ++i) reads_ |= transaction(i);
    writes_ |= kExcused;
  }
  /// The others are no matter of the ghost, or of their node alone.
  void operator()(const auto&) {}

 private:
  using Bits = std::uint32_t;
  static constexpr std::size_t kTransactions = kMaxCalls;
  static constexpr std::size_t kOvertaken = kTransactions + kMaxTxns;
  static constexpr std::size_t kTokens = kOvertaken + kMaxTxns;
  static constexpr Bits kExcused = Bits{1} << (kTokens + kMaxKeys);
  static_assert(kTokens + kMaxKeys < 32);

  static Bits section(std::size_t call) { return Bits{1} << call; }
  static Bits transaction(std::size_t txn) { return Bits{1} << (kTransactions + txn); }
  static Bits overtaken(std::size_t txn) { return Bits{1} << (kOvertaken + txn); }
  static Bits token(std::size_t key) { return Bits{1} << (kTokens + key); }

  std::uint8_t nodeOfTxn(std::size_t txn) const { return cast_.calls[cast_.txns[txn].call].node; }
  void write(obs::CallId call) {
    if (call.valid()) writes_ |= section(call.value - 1);
  }
  void write(obs::TxnId txn) { writes_ |= transaction(txn.value - 1); }
  void writeSections(std::uint8_t node) {
    for (std::size_t i = 0; i < cast_.callCount; ++i) {
      if (cast_.calls[i].node == node) writes_ |= section(i);
    }
  }
  void settle(std::size_t txn) {
    reads_ |= kExcused;
    writes_ |= transaction(txn) | overtaken(txn);
  }
  void readWritesOf(sim::NodeId node) {
    for (std::size_t i = 0; i < cast_.txnCount; ++i) {
      if (nodeOfTxn(i) == node.value) reads_ |= transaction(i);
    }
  }

  const Cast& cast_;
  std::uint8_t node_ = 0;
  Bits reads_ = 0;
  Bits writes_ = 0;
};

}  // namespace

bool World::isStep(const Choice& choice) const {
  switch (choice.kind) {
    case ChoiceKind::client:
    case ChoiceKind::wake:
    case ChoiceKind::deliver:
    case ChoiceKind::abort:
    case ChoiceKind::duplicate:
    case ChoiceKind::crash:
      return true;
    case ChoiceKind::tick:
      return configuration_.drift != 0;
    default:
      return false;
  }
}

std::uint8_t World::nodeOf(const Choice& choice) const {
  return choice.kind == ChoiceKind::client ? programs_[choice.who].node : choice.who;
}

std::uint32_t World::rank(const Choice& choice) const {
  if (choice.kind == ChoiceKind::lose) return kMaxNodes;
  return isStep(choice) ? ranks_[nodeOf(choice)] : kMaxNodes + 1;
}

/// Whether what the choice takes from what is under way was there already in `before`; true for what takes
/// nothing.
bool World::wasUnderWay(const State& before, const State& after, const Choice& choice) const {
  const bool takes = choice.kind == ChoiceKind::deliver || choice.kind == ChoiceKind::abort ||
                     choice.kind == ChoiceKind::lose || choice.kind == ChoiceKind::duplicate;
  if (!takes || before.pool == after.pool) return true;
  const std::uint32_t item = (*pools_)[after.pool].entries[choice.which].item;
  const Entries& earlier = (*pools_)[before.pool].entries;
  return std::ranges::find(earlier, item, &Entry::item) != earlier.end();
}

bool World::commutes(const State& before, const Choice& first, const State& after, const Choice& then) const {
  if (after.ghost.breach != Breach::none) return false;
  // Heartbeats arrive within a step, and rings are judged by all nodes.
  if (configuration_.membership != protocol::MembershipKind::fixed) return false;
  if (!wasUnderWay(before, after, then)) return false;
  if (then.kind == ChoiceKind::client && !mayStep(before, then.who)) return false;
  // Where time waits for what is under way, a tick and what changes how much that is have an order.
  const bool oneTicks = (first.kind == ChoiceKind::tick) != (then.kind == ChoiceKind::tick);
  if (oneTicks && configuration_.late != kAnyNumber) return false;
  if (first.kind == ChoiceKind::lose || then.kind == ChoiceKind::lose) {
    const Choice& other = first.kind == ChoiceKind::lose ? then : first;
    const bool takes = other.kind == ChoiceKind::deliver || other.kind == ChoiceKind::duplicate;
    if (other.kind == ChoiceKind::lose || other.kind == ChoiceKind::cut) return false;
    return !takes || itemOf(before, first) != itemOf(after, then);
  }
  if (!isStep(first) || !isStep(then) || nodeOf(first) == nodeOf(then)) return false;
  const bool sameBudget =
      first.kind == then.kind && (first.kind == ChoiceKind::abort || first.kind == ChoiceKind::duplicate ||
                                  first.kind == ChoiceKind::crash);
  if (sameBudget) return false;
  if (first.kind == ChoiceKind::tick && then.kind == ChoiceKind::tick && !mayTick(before, then.who)) {
    return false;
  }
  if (then.kind == ChoiceKind::crash && first.kind == ChoiceKind::deliver) {
    const Item& item = table_->item(itemOf(before, first));
    if (item.kind == ItemKind::stream && item.from == then.who) return false;
  }
  Footprint one(cast_);
  mark(before, first, one);
  if (one.empty()) return true;
  Footprint other(cast_);
  mark(after, then, other);
  return !one.clashes(other);
}

/// Adds what the choice, one of a node's steps, does to the ghost.
template <class Marks>
void World::mark(const State& state, const Choice& choice, Marks& marks) const {
  const std::uint8_t node = nodeOf(choice);
  if (choice.kind == ChoiceKind::crash) {
    marks.crash(node);
  } else if (choice.kind == ChoiceKind::tick) {
    if (!isDown(state, node)) marks.tick(node);
  } else if (!isDown(state, node)) {
    const LocalStep& step = table_->step(state.nodes[node], itemOf(state, choice));
    for (const obs::Observation& what : step.observations) marks.add(node, what);
  }
}

}  // namespace holdfast::explore
