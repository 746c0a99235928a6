#include "protocol/delegation/barriers.hpp"

#include <algorithm>

namespace holdfast::protocol {

void Barriers::join(Recovery recovery, const Env& env) {
  const auto contains = [&](const std::vector<Recovery>& list) {
    return std::find(list.begin(), list.end(), recovery) != list.end();
  };
  if (contains(joined_) || contains(next_)) return;
  std::erase_if(next_, [&](const Recovery& earlier) { return earlier.key == recovery.key; });
  next_.push_back(recovery);
  if (!underWay_) start(env);
}

void Barriers::start(const Env& env) {
  std::swap(joined_, next_);
  next_.clear();
  underWay_ = true;
  failed_ = false;
  measured_ = false;
  asked_.clear();
  reached_.clear();
  // EP-14: nobody else's, ever, nor an earlier start's: an incarnation is durable, the number of the disk
  // above that of the start, and has a place apart from the node's for each.
  nonce_ = static_cast<std::uint64_t>(incarnation_ >> 16) << 54 |
           static_cast<std::uint64_t>(env.setup.self.value) << 48 |
           static_cast<std::uint64_t>(incarnation_ & 0xffff) << 32 | ++sequence_;
  givesUpAt_ = env.now() + env.options().maxDelegation;
  const auto ask = [&](NodeId member) {
    if (member == env.setup.self) return;
    asked_.push_back({member});
    env.send(member, BarrierRequest{env.membership.number(), nonce_});
  };
  for (const NodeId member : env.membership.members()) ask(member);
  // Who was a member may have written as one, and be reachable: removed too early, or as planned (EP-13).
  for (const NodeId member : env.membership.former()) ask(member);
  env.observe(obs::BarrierStarted{nonce_, static_cast<std::uint32_t>(joined_.size()),
                                  static_cast<std::uint32_t>(asked_.size())});
  for (const Recovery& recovery : joined_) env.observe(obs::RecoveryJoined{recovery.key, nonce_});
  // The node's own commits are visible here anyway; its log position tells the successor where they end.
  if (env.replication.head() > 0) reached_.require(env.setup.self, env.replication.head());
  const std::int64_t parts = env.on(Rule::FR8_WaitsForMembers) ? 1 : 16;
  env.timers.set(TimerKind::barrierTimeout, 0, env.now() + env.options().barrierTimeout / parts);
}

bool Barriers::complete() const {
  return std::all_of(asked_.begin(), asked_.end(), [](const Asked& asked) { return asked.answered; });
}

void Barriers::onReply(NodeId from, const BarrierReply& reply, const Env& env) {
  if (!underWay_ || reply.nonce != nonce_ || measured_) return;
  const auto asked = std::find_if(asked_.begin(), asked_.end(),
                                  [&](const Asked& a) { return a.member == from && !a.answered; });
  if (asked == asked_.end()) return;
  if (reply.position > env.replication.received(from) && !env.on(Rule::FR8_AnswerIsEnough)) return;
  asked->answered = true;
  if (reply.cause != Cause::none || reply.position == 0) {
    // A member that answers but has no barrier to show may hold anything: fail closed, do not leave it out.
    if (env.on(Rule::FR8_FailClosed)) failed_ = true;
    return;
  }
  // FR-9: only the barrier's own entry proves that what was committed before it has arrived.
  const Position fence = env.on(Rule::FR9_EntryIsTheFence)
                             ? reply.position
                             : std::min(reply.position, env.replication.received(from));
  if (fence > 0) reached_.require(from, fence);
  env.observe(obs::BarrierMeasured{nonce_, from, reply.position});
}

void Barriers::onTimeout(const Env& env) {
  if (!underWay_) return;
  if (measured_) {
    if (env.now() >= givesUpAt_) failed_ = true;
    return;
  }
  for (Asked& asked : asked_) {
    if (asked.answered) continue;
    asked.answered = true;  // unreachable members are left out: the documented limit L-2a, L-2b
    env.observe(obs::BarrierSkipped{nonce_, asked.member});
  }
}

bool Barriers::conclude(const Env& env, BarrierResult& result) {
  if (!underWay_) return false;
  if (!measured_ && !failed_ && complete()) {
    measured_ = true;
    env.timers.set(TimerKind::barrierTimeout, 0, givesUpAt_);
  }
  bool satisfied = false;
  if (measured_ && !failed_) {
    const FenceState fence = env.replication.fence(reached_);
    if (fence.kind == FenceState::Kind::waiting) return false;
    satisfied = fence.satisfied();  // a hole below the barrier is not papered over
  } else if (!failed_) {
    return false;
  }
  result = BarrierResult{nonce_, satisfied, joined_, reached_};
  env.observe(obs::BarrierDone{nonce_, satisfied});
  env.timers.cancel(TimerKind::barrierTimeout, 0);
  underWay_ = false;
  joined_.clear();
  if (!next_.empty()) start(env);
  return true;
}

void Barriers::addTo(StateHash& hash) const {
  hash.add(static_cast<std::uint64_t>(underWay_) << 2 | static_cast<std::uint64_t>(failed_) << 1 |
           static_cast<std::uint64_t>(measured_));
  if (underWay_) {
    hash.add(nonce_);
    hash.add(givesUpAt_);
    for (const Asked& asked : asked_) {
      hash.add(asked.member);
      hash.add(static_cast<std::uint64_t>(asked.answered));
    }
    hash.add(reached_);
  }
  hash.add(static_cast<std::uint64_t>(sequence_));
}

}  // namespace holdfast::protocol
