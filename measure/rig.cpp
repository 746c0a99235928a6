#include "measure/rig.hpp"

#include <algorithm>
#include <stdexcept>

namespace holdfast::measure {
namespace {

using scenarios::ClusterSetup;
using scenarios::RunOptions;

// The checkers' sets of nodes hold so many.
constexpr std::uint16_t kMostJudged = 64;

RunOptions runOptionsOf(const Settings& settings, const RigOptions& rig) {
  RunOptions options;
  options.seed = settings.seed;
  options.nodes = rig.nodes;
  options.keys = rig.keys;
  options.delays.link = settings.network->link;
  options.delays.commit = settings.disk->commit;
  options.delays.persist = settings.disk->commit;
  options.delays.apply = settings.disk->apply;
  // The worked numbers of EP-8.
  options.protocol.membership = protocol::MembershipKind::fixed;
  options.protocol.epochLease = sim::seconds(100);
  options.protocol.renewEvery = sim::seconds(30);
  options.protocol.maxDelegation = sim::seconds(10);
  options.protocol.skew = sim::seconds(1);
  options.protocol.algorithm = rig.algorithm;
  if (rig.adjust) rig.adjust(options.protocol);
  return options;
}

ClusterSetup setupOf(const RunOptions& options) {
  ClusterSetup setup;
  setup.directory = scenarios::makeDirectory(options);
  setup.options = options;
  setup.checkers.epochLease = options.protocol.epochLease;
  setup.checkers.countCoverage = false;
  if (options.nodes > kMostJudged) setup.checkers.enabled = 0;
  return setup;
}

}  // namespace

Rig::Rig(const Settings& settings, const RigOptions& rig)
    : options_(runOptionsOf(settings, rig)), cluster_(setupOf(options_)) {
  cluster_.setReplyListener(this);
  cluster_.setSink(this);
  const NetworkProfile& network = *settings.network;
  for (std::uint16_t i = 0; i < nodes() && network.regions > 1; ++i) {
    for (std::uint16_t j = 0; j < nodes(); ++j) {
      if (i % network.regions != j % network.regions) cluster_.delayLink({i}, {j}, network.between);
    }
  }
  cluster_.start();
  run(sim::seconds(2));
}

// ---- Time -------------------------------------------------------------------------------------------------

void Rig::settleReplies() {
  while (!ready_.empty()) {
    std::vector<std::function<void()>> now;
    now.swap(ready_);
    for (const auto& what : now) what();
  }
}

/// The next event or timer, if it is due by `until`.
bool Rig::step(sim::TrueInstant until) {
  const sim::TrueInstant timer = timers_.empty() ? sim::TrueInstant::never() : timers_.begin()->first;
  const sim::TrueInstant event = cluster_.nextTime();
  if (std::min(timer, event) > until) return false;
  if (timer <= event) {
    cluster_.advanceTo(timer);
    const auto what = std::move(timers_.begin()->second);
    timers_.erase(timers_.begin());
    what();
  } else {
    cluster_.step();
  }
  settleReplies();
  return true;
}

void Rig::run(Duration time) {
  const sim::TrueInstant until = now() + time;
  while (step(until)) {
  }
  cluster_.advanceTo(until);
}

void Rig::waitFor(const bool& done) {
  const sim::TrueInstant limit = now() + sim::hours(1);
  while (!done) {
    if (!step(limit)) throw std::runtime_error("a call was not answered within an hour");
  }
}

void Rig::after(Duration time, std::function<void()> what) { timers_.emplace(now() + time, std::move(what)); }

// ---- Calls ------------------------------------------------------------------------------------------------

void Rig::ask(NodeId node, KeyId key, Duration wait, Duration lease, OnLock done) {
  Asked asked;
  asked.lock.node = node;
  asked.lock.key = key;
  asked.lock.call = cluster_.newCall();
  asked.at = now();
  asked.done = std::move(done);
  const CallId call = asked.lock.call;
  locks_.emplace(call.value, std::move(asked));
  if (!cluster_.call(node, protocol::CallLock{call, key, wait, lease, true, 0})) callsLost(node);
  settleReplies();
}

Lock Rig::lock(NodeId node, KeyId key, Duration wait, Duration lease) {
  bool done = false;
  Lock answer;
  ask(node, key, wait, lease, [&](const Lock& lock) {
    answer = lock;
    done = true;
  });
  waitFor(done);
  return answer;
}

void Rig::submit(NodeId node, KeyId key, CallId call, std::int64_t value, OnDone done) {
  const obs::TxnId txn = cluster_.newTxn();
  txns_.emplace(txn.value, std::pair{node, std::move(done)});
  cluster_.call(node, protocol::CallStage{txn, call, key, obs::WriteOp::put, obs::kAllFields,
                                          obs::FieldValues{value, 0, 0, 0}, false, obs::Timestamp{}});
  if (txns_.contains(txn.value)) cluster_.call(node, protocol::CallSubmit{txn});
  settleReplies();
}

bool Rig::write(const Lock& lock, std::int64_t value) {
  bool done = false;
  bool committed = false;
  submit(lock.node, lock.key, lock.call, value, [&](bool outcome) {
    committed = outcome;
    done = true;
  });
  waitFor(done);
  return committed;
}

bool Rig::writeUnlocked(NodeId node, KeyId key, std::int64_t value) {
  Lock none;
  none.node = node;
  none.key = key;
  return write(none, value);
}

void Rig::unlock(const Lock& lock) {
  cluster_.call(lock.node, protocol::CallUnlock{lock.call});
  settleReplies();
}

void Rig::replied(NodeId, const protocol::Reply& reply) {
  if (const auto* lock = std::get_if<protocol::LockReply>(&reply)) {
    const auto found = locks_.find(lock->call.value);
    if (found == locks_.end()) return;
    Asked asked = std::move(found->second);
    locks_.erase(found);
    asked.lock.cause = lock->cause;
    asked.lock.path = lock->path;
    asked.lock.waited = now() - asked.at;
    ready_.push_back([asked = std::move(asked)] { asked.done(asked.lock); });
  } else if (const auto* txn = std::get_if<protocol::TxnReply>(&reply)) {
    if (txn->staged && txn->error == obs::ErrorClass::none) return;
    const auto found = txns_.find(txn->txn.value);
    if (found == txns_.end()) return;
    ready_.push_back(
        [done = std::move(found->second.second), committed = txn->committed] { done(committed); });
    txns_.erase(found);
  }
}

void Rig::callsLost(NodeId node) {
  for (auto call = locks_.begin(); call != locks_.end();) {
    if (call->second.lock.node != node) {
      ++call;
      continue;
    }
    Asked asked = std::move(call->second);
    call = locks_.erase(call);
    asked.lock.cause = Cause::shutdown;
    asked.lock.waited = now() - asked.at;
    ready_.push_back([asked = std::move(asked)] { asked.done(asked.lock); });
  }
  for (auto txn = txns_.begin(); txn != txns_.end();) {
    if (txn->second.first != node) {
      ++txn;
      continue;
    }
    ready_.push_back([done = std::move(txn->second.second)] { done(false); });
    txn = txns_.erase(txn);
  }
}

// ---- Counting ---------------------------------------------------------------------------------------------

void Rig::observe(const obs::Stamped& stamped, std::uint64_t) {
  if (const auto* write = std::get_if<obs::DurableWrite>(&stamped.what)) {
    ++(write->metadata ? spent_.records : spent_.commits);
  } else if (const auto* delivered = std::get_if<obs::MessageDelivered>(&stamped.what)) {
    spent_.deliveries += delivered->message == obs::MessageKind::logFrame ? 1U : 0U;
  } else if (const auto* sent = std::get_if<obs::MessageSent>(&stamped.what)) {
    switch (sent->message) {
      case obs::MessageKind::lockRequest:
      case obs::MessageKind::lockGrant:
      case obs::MessageKind::lockDeny:
      case obs::MessageKind::lockRecall:
      case obs::MessageKind::lockHandBack:
        ++spent_.unicast;
        break;
      case obs::MessageKind::barrierRequest:
      case obs::MessageKind::barrierReply:
        ++spent_.barrier;
        break;
      case obs::MessageKind::membershipRenew:
      case obs::MessageKind::membershipRenewAck:
        ++spent_.renewals;
        break;
      default:
        break;
    }
  }
}

std::optional<KeyId> Rig::keyOf(NodeId home, std::uint32_t nth) const {
  for (std::uint32_t key = 0; key < cluster_.directory().keyCount(); ++key) {
    if (cluster_.homeOf(KeyId{key}) == home && nth-- == 0) return KeyId{key};
  }
  return std::nullopt;
}

void Rig::close() {
  cluster_.finish();
  const auto& findings = cluster_.checkers().findings();
  if (findings.count(checkers::Severity::safety) == 0) return;
  throw std::runtime_error("a promise was broken while it was measured: " +
                           checkers::describe(findings.violations().front()));
}

Duration percentile(const std::vector<Duration>& sorted, unsigned percent) {
  if (sorted.empty()) return {};
  return sorted[(sorted.size() - 1) * percent / 100];
}

}  // namespace holdfast::measure
