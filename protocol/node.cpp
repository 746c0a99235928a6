#include "protocol/node.hpp"

#include <utility>

namespace holdfast::protocol {
namespace {

std::vector<NodeId> routingMembers(const NodeSetup& setup, const Membership& membership) {
  if (setup.rules.on(Rule::RT1_MemberHomes)) {
    return {membership.members().begin(), membership.members().end()};
  }
  std::vector<NodeId> everyone;
  for (std::size_t i = 0; i < setup.directory->nodeCount(); ++i)
    everyone.push_back({static_cast<std::uint16_t>(i)});
  return everyone;
}

std::vector<std::uint16_t> routingIds(const NodeSetup& setup) {
  // RT-4: identity is the name. The private numbering is used only by the mutant.
  return setup.rules.on(Rule::RT4_NamesIdentify) ? std::vector<std::uint16_t>{} : setup.shortIds;
}

RouteCache routesOf(const NodeSetup& setup, const Membership& membership) {
  return {*setup.directory, routingMembers(setup, membership), membership.ringVersion(), routingIds(setup)};
}

/// TK-2: incarnations of one name grow also when its disk, and with it the counter, is replaced: they start
/// from the disk's serial number.
std::uint32_t lastIncarnation(const Durable& durable) {
  return std::max(durable.incarnation, durable.membership.disk << 16);
}

}  // namespace

Node::Node(const NodeSetup& setup, Durable durable)
    : setup_(setup),
      replication_(setup, std::move(durable.replica)),
      membership_(setup, durable.membership),
      durableIncarnation_(lastIncarnation(durable)) {
  routes_ = routesOf(setup_, membership_);
}

Env Node::env(const Context& context) {
  return Env{{setup_, context, timers_, replication_, commits_}, membership_, sessions_, routes_, loopback_};
}

/// What is said in the name of an incarnation is said only once that is durable (TK-2, HM-4).
MembershipEnv Node::membershipEnv(const Env& env) const {
  return env.membershipEnv(coordinator_->running() ? coordinator_->incarnation() : 0);
}

/// One overload for each input.
struct Node::Dispatch {
  Node& node;
  const Env& env;

  void operator()(const Boot&) const {
    // DG-9: an earlier incarnation, or an earlier disk's, or an earlier configuration may have granted.
    node.startCoordinator(node.durableIncarnation_ > 0 || !node.membership_.first(), env);
    node.follow(node.membership_.boot(node.membershipEnv(env)), env);
    node.replication_.boot(env.context);
    node.timers_.set(TimerKind::sweep, 0, env.now() + env.options().sweepEvery);
  }
  void operator()(const Deliver& deliver) const {
    node.onMessage(deliver.from, deliver.message, deliver.worker, env);
  }
  void operator()(const Wake&) const { node.onWake(env); }
  void operator()(const SendFailed& failed) const {
    // DR-6: only a recall has somebody waiting on it; everything else is sent again by its own timer.
    if (failed.message == MessageKind::lockRecall)
      node.coordinator_->home().onRecallSendFailed(failed.key, env);
  }
  void operator()(const CommitDone& done) const { node.onCommitDone(done, env); }
  void operator()(const PersistDone& done) const {
    if (done.record != RecordKind::incarnation) {
      node.follow(node.membership_.onPersisted(done, node.membershipEnv(env)), env);
      return;
    }
    if (!done.failed) node.durableIncarnation_ = std::max(node.durableIncarnation_, done.sequence);
    if (done.failed && !env.on(Rule::TK2_RetryAdvances) && !node.coordinator_->running()) {
      // TK-2: the next attempt finds no coordinator, and takes itself for the first assignment.
      node.coordinator_.emplace(node.setup_, node.durableIncarnation_, node.durableIncarnation_ > 0,
                                env.now());
      node.coordinator_->run(env);
      return;
    }
    node.coordinator_->onPersisted(done, env);
    if (HomeMap* const map = node.membership_.homeMap(); map != nullptr && node.coordinator_->running()) {
      map->onIncarnation(node.membershipEnv(env));
    }
  }
  void operator()(const ApplyReady& ready) const {
    const auto applied = node.replication_.onApplyReady(ready, env.context);
    if (applied) node.onEntryVisible(applied->origin, applied->position, *applied->entry, env);
    node.coordinator_->delegate().onProgress(env);
  }
  void operator()(const PeerUp& up) const { node.replication_.onPeerUp(up.peer, env.context); }

  void operator()(const CallLock& call) const {
    env.observe(obs::LockRequested{call.call, call.key, call.wait, call.lease});
    node.coordinator_->delegate().lock(call, env);
  }
  void operator()(const CallReenter& call) const { node.coordinator_->delegate().reenter(call, env); }
  void operator()(const CallRead& call) const {
    const obs::Read read = node.replication_.readOf(call.call, call.key);
    env.observe(read);
    env.context.reply(ReadReply{call.call, call.key, read.present, read.values});
  }
  void operator()(const CallStage& call) const { node.sessions_.stage(call, env); }
  void operator()(const CallSubmit& call) const {
    node.coordinator_->delegate().onTouched(node.sessions_.submit(call.txn, env), env);
  }
  void operator()(const CallAbandon& call) const {
    node.coordinator_->delegate().onTouched(node.sessions_.abandon(call.txn, env), env);
  }
  void operator()(const CallUnlock& call) const {
    node.coordinator_->delegate().onTouched(node.sessions_.unlock(call.call, env), env);
  }

  void operator()(const AdminDrop& drop) const { node.coordinator_->delegate().drop(drop.key, env); }
  void operator()(const AdminReplaceCoordinator&) const {
    // BD-4: live authority is fenced here, and waited out by the new incarnation's quarantine.
    node.coordinator_->delegate().abandonAll(env);
    node.startCoordinator(true, env);
  }
  void operator()(const AdminPurgeLog& purge) const { node.replication_.purge(purge.through, env.context); }
  void operator()(const AdminRepair& repair) const {
    if (!node.replication_.repair(repair.origin, repair.position, repair.entry, env.context)) return;
    node.onEntryVisible(repair.origin, repair.position, repair.entry, env);
    node.coordinator_->delegate().onProgress(env);
  }
  void operator()(const AdminCopyRows& copy) const {
    node.replication_.takeRows(copy.rows, env.context);
    node.coordinator_->delegate().onProgress(env);
  }
  void operator()(const AdminDropTable& drop) const {
    node.coordinator_->delegate().dropTable(drop.table, env);
  }
  void operator()(const AdminShutdown&) const {
    node.coordinator_->home().shutDown(env);
    node.coordinator_->delegate().shutDown(env);
  }
  void operator()(const AdminProposeMembership& change) const {
    if (EpochMembership* const epoch = node.membership_.epoch()) {
      node.follow(epoch->propose(change, node.membershipEnv(env)), env);
    }
  }
  void operator()(const AdminStageHomeMap& change) const {
    if (HomeMap* const map = node.membership_.homeMap()) {
      node.follow(map->stage(change, node.membershipEnv(env)), env);
    }
  }
  void operator()(const AdminFenceHome& fence) const {
    if (HomeMap* const map = node.membership_.homeMap()) {
      node.follow(map->fence(fence, node.membershipEnv(env)), env);
    }
  }
};

void Node::handle(const Input& input, const Context& context) {
  const Env env = this->env(context);
  if (!coordinator_) {
    coordinator_.emplace(setup_, durableIncarnation_ + 1, durableIncarnation_ > 0, context.now);
  }
  std::visit(Dispatch{*this, env}, input);
  // A node's messages to itself are part of the same step; they may cause further ones.
  for (std::size_t i = 0; i < loopback_.size(); ++i) {
    const Message message = std::move(loopback_[i]);
    coordinator_->onMessage(setup_.self, message, setup_.ownerWorker, env);
  }
  loopback_.clear();
}

void Node::startCoordinator(bool mayHaveGranted, const Env& env) {
  // TK-2: one incarnation, one coordinator; without the rule the number is used again.
  const bool fenced = setup_.rules.on(Rule::BD4_FenceOnReplacement);
  const bool replaced = coordinator_.has_value() && coordinator_->running();
  const Rule kept = replaced ? Rule::TK2_AdvanceOnReplacement : Rule::TK2_DurableIncarnation;
  const bool advance = setup_.rules.on(Rule::TK2_DurableIncarnation) && setup_.rules.on(kept);
  const std::uint32_t incarnation = (advance && (fenced || !replaced)) || durableIncarnation_ == 0
                                        ? durableIncarnation_ + 1
                                        : durableIncarnation_;
  coordinator_.emplace(setup_, incarnation, mayHaveGranted && (fenced || !replaced), env.now());
  coordinator_->begin(env);
}

void Node::onMessage(NodeId from, const Message& message, std::uint8_t worker, const Env& env) {
  if (from.value >= setup_.directory->nodeCount() || from == setup_.self) {
    env.observe(obs::MessageRefused{from, kindOf(message), Cause::malformed});
    return;
  }
  if (isMembershipMessage(kindOf(message))) {
    follow(membership_.onMessage(from, message, membershipEnv(env)), env);
    return;
  }
  switch (kindOf(message)) {
    case MessageKind::subscribe:
    case MessageKind::logFrame:
    case MessageKind::logGap:
    case MessageKind::logHead:
      onReplicaMessage(from, message, env);
      break;
    default:
      coordinator_->onMessage(from, message, worker, env);
      break;
  }
}

/// What the membership has become, for routing and for the coordinator.
void Node::follow(const MembershipChange& change, const Env& env) {
  if (change.installed) {
    routes_ = routesOf(setup_, membership_);
    coordinator_->onMembership(change.oldDeadline, env);
  }
  if ((change.live || change.ready) && coordinator_->running()) coordinator_->delegate().onLive(env);
}

void Node::onReplicaMessage(NodeId from, const Message& message, const Env& env) {
  bool wellFormed = true;
  if (const auto* frame = std::get_if<LogFrame>(&message)) {
    wellFormed = replication_.onFrame(from, *frame, env.context);
    // Without FR-3 what has only been received may satisfy a fence.
    if (!env.on(Rule::FR3_AppliedAndVisible)) coordinator_->delegate().onProgress(env);
  } else if (const auto* subscribe = std::get_if<Subscribe>(&message)) {
    wellFormed = replication_.onSubscribe(from, *subscribe, env.context);
  } else if (const auto* gap = std::get_if<LogGap>(&message)) {
    wellFormed = replication_.onGap(from, *gap, env.context);
    coordinator_->delegate().onProgress(env);
  } else if (const auto* logHead = std::get_if<LogHead>(&message)) {
    wellFormed = replication_.onLogHead(from, *logHead);
  }
  if (!wellFormed) env.observe(obs::MessageRefused{from, kindOf(message), Cause::malformed});
}

/// An entry has become visible here, whoever wrote it: the home looks for releases (FR-4).
void Node::onEntryVisible(NodeId origin, Position position, const LogEntry& entry, const Env& env) {
  if (const auto* release = std::get_if<ReleaseEntry>(&entry)) {
    coordinator_->home().onRelease(origin, position, *release, env);
  }
}

void Node::onCommitDone(const CommitDone& done, const Env& env) {
  const auto pending = commits_.take(done.commit);
  if (!pending) return;
  Position position = 0;
  if (done.outcome == CommitOutcome::committed) {
    position = replication_.append(pending->entry, env.context);
  }
  if (const auto* txn = std::get_if<TransactionEntry>(&pending->entry)) {
    const TouchedKeys touched = sessions_.onCommitDone(*txn, pending->attempt, done.outcome, position, env);
    coordinator_->delegate().onTouched(touched, env);
    return;
  }
  if (position != 0) {
    const auto* release = std::get_if<ReleaseEntry>(&pending->entry);
    const auto* barrier = std::get_if<BarrierEntry>(&pending->entry);
    env.observe(obs::ControlAppended{kindOf(pending->entry), release ? release->key : KeyId::none(),
                                     release ? release->token : Token{}, barrier ? barrier->nonce : 0,
                                     position});
  }
  if (const auto* barrier = std::get_if<BarrierEntry>(&pending->entry)) {
    coordinator_->onBarrierAppended(*barrier, done.outcome, position, env);
    return;
  }
  const auto& release = std::get<ReleaseEntry>(pending->entry);
  coordinator_->delegate().onReleaseDone(release, done.outcome, env);
  if (position != 0) onEntryVisible(setup_.self, position, release, env);
}

// ---- Timers -----------------------------------------------------------------------------------------------

void Node::onWake(const Env& env) {
  // BD-1: so many expiries a tick; what is left is still due and asks for the next Wake at once.
  std::uint32_t expiries = 0;
  Timer timer;
  while (expiries < env.options().expiriesPerTick && timers_.takeDue(env.now(), timer)) {
    if (timer.kind == TimerKind::grantExpiry) ++expiries;
    onTimer(timer, env);
  }
}

void Node::onTimer(const Timer& timer, const Env& env) {
  switch (timer.kind) {
    case TimerKind::membershipRenew:
    case TimerKind::membershipLapse:
    case TimerKind::membershipPropose:
    case TimerKind::membershipActivate:
    case TimerKind::membershipQuery:
    case TimerKind::homeMap:
    case TimerKind::homeMapConsole:
      follow(membership_.onTimer(timer.kind, membershipEnv(env)), env);
      break;
    case TimerKind::sweep:
      sweep(env);
      break;
    default:
      coordinator_->onTimer(timer, env);
      break;
  }
}

void Node::sweep(const Env& env) {
  sessions_.sweep(env);
  coordinator_->home().sweep(env);
  replication_.sweepTombstones(env.context);
  timers_.set(TimerKind::sweep, 0, env.now() + env.options().sweepEvery);
}

// ---- Crash, retention, hashing ----------------------------------------------------------------------------

Durable Node::takeDurable() { return Durable{durableIncarnation_, {}, replication_.takeState(), {}}; }

Position Node::recover(Durable& durable, const NodeSetup& setup, const LogEntry& entry) {
  return Replication::recover(durable.replica, setup, entry);
}

void Node::reportRetained(const Context& context) const {
  const ProtocolOptions& options = setup_.options;
  const std::uint64_t tables = setup_.directory->tableCount();
  const std::uint64_t keys = setup_.directory->keyCount();
  const auto report = [&](obs::Retained what, std::uint64_t count, std::uint64_t bound) {
    context.observe(obs::RetainedCount{what, count, bound});
  };
  const Home& home = coordinator_->home();
  const Delegate& delegate = coordinator_->delegate();
  const std::uint64_t nodes = setup_.directory->nodeCount();
  // BD-1: beyond one table's grants it is the requesters' caps that count, however many tables there are.
  const std::uint64_t requesters =
      std::max<std::uint64_t>(options.grantsPerTable, nodes * options.grantsPerRequester);
  report(obs::Retained::grants, home.grants(), std::min(tables * options.grantsPerTable, requesters));
  report(obs::Retained::waiters, home.waiters(), keys * options.waitersPerKey);
  report(obs::Retained::lineage, home.lineageSets(), options.lineageSets);
  report(obs::Retained::delegations, delegate.delegations(), keys);
  // BD-2: what is over is swept; only critical sections that are still open may be left.
  report(obs::Retained::handles, sessions_.handles(), keys + sessions_.transactions());
  report(obs::Retained::barriers, delegate.barriers(), 2);
  const std::uint64_t common = options.membership == MembershipKind::fixed ? 8 : 12;
  report(obs::Retained::timers, timers_.size(), 8 * keys + common);
  report(obs::Retained::localWaiters, delegate.localWaiters(), keys * options.waitersPerKey);
  report(obs::Retained::tombstones, replication_.tombstones(), keys);
  // A transaction stands under a handle, is on its way to the disk, or was staged without a lock; an entry on
  // its way is a transaction's, a release of a key's last two delegations, or a barrier for some node.
  report(obs::Retained::transactions, sessions_.transactions(), sessions_.handles() + commits_.size() + keys);
  report(obs::Retained::pendingCommits, commits_.size(), sessions_.transactions() + 2 * keys + 2 * nodes);
  report(obs::Retained::receivedQueue, replication_.receivedQueued(), replication_.receivedAhead());
}

std::uint64_t Node::canonicalHash(MonotonicInstant now, Duration horizon, Renumbering* renumbering) const {
  StateHash hash(now, horizon, renumbering);
  hash.add(timers_);
  hash.add(commits_);
  hash.add(replication_);
  hash.add(membership_);
  hash.add(sessions_);
  if (coordinator_) hash.add(*coordinator_);
  hash.add(static_cast<std::uint64_t>(durableIncarnation_));
  return hash.value();
}

}  // namespace holdfast::protocol
