#include "protocol/ricart_agrawala/node.hpp"

#include <utility>

namespace holdfast::protocol {

RicartAgrawalaNode::RicartAgrawalaNode(const NodeSetup& setup, Durable durable)
    : setup_(setup),
      replication_(setup, std::move(durable.replica)),
      requests_(std::move(durable.requests)),
      participant_(setup) {
  requests_.restart(setup.rules);
}

struct RicartAgrawalaNode::Dispatch {
  RicartAgrawalaNode& node;
  const ParticipantEnv& env;

  void operator()(const Boot&) const {
    node.replication_.boot(env.context);
    node.participant_.boot(env);
    env.timers.set(TimerKind::sweep, 0, env.now() + env.options().sweepEvery);
  }
  void operator()(const Deliver& deliver) const { node.onMessage(deliver.from, deliver.message, env); }
  void operator()(const Wake&) const { node.onWake(env); }
  void operator()(const SendFailed&) const {}
  void operator()(const CommitDone& done) const { node.onCommitDone(done, env); }
  void operator()(const PersistDone&) const {}
  void operator()(const ApplyReady& ready) const {
    const auto applied = node.replication_.onApplyReady(ready, env.context);
    if (applied) node.onEntryVisible(applied->origin, applied->position, *applied->entry, env);
    node.participant_.onProgress(env);
  }
  void operator()(const PeerUp& up) const { node.replication_.onPeerUp(up.peer, env.context); }

  void operator()(const CallLock& call) const {
    env.observe(obs::LockRequested{call.call, call.key, call.wait, call.lease});
    node.participant_.lock(call, env);
  }
  void operator()(const CallReenter& call) const { node.participant_.reenter(call, env); }
  void operator()(const CallRead& call) const {
    const obs::Read read = node.replication_.readOf(call.call, call.key);
    env.observe(read);
    env.context.reply(ReadReply{call.call, call.key, read.present, read.values});
  }
  void operator()(const CallStage& call) const { node.sessions_.stage(call, env); }
  void operator()(const CallSubmit& call) const {
    node.participant_.onTouched(node.sessions_.submit(call.txn, env), env);
  }
  void operator()(const CallAbandon& call) const {
    node.participant_.onTouched(node.sessions_.abandon(call.txn, env), env);
  }
  void operator()(const CallUnlock& call) const {
    node.participant_.onTouched(node.sessions_.unlock(call.call, env), env);
  }

  void operator()(const AdminReplaceCoordinator&) const { node.participant_.abandonAll(env); }
  void operator()(const AdminPurgeLog& purge) const { node.replication_.purge(purge.through, env.context); }
  void operator()(const AdminRepair& repair) const {
    if (!node.replication_.repair(repair.origin, repair.position, repair.entry, env.context)) return;
    node.onEntryVisible(repair.origin, repair.position, repair.entry, env);
    node.participant_.onProgress(env);
  }
  void operator()(const AdminDropTable& drop) const { node.participant_.dropTable(drop.table, env); }
  void operator()(const AdminShutdown&) const { node.participant_.shutDown(env); }
  // There is no delegation to give up, and no membership to change.
  void operator()(const AdminDrop&) const {}
  void operator()(const AdminProposeMembership&) const {}
  void operator()(const AdminStageHomeMap&) const {}
  void operator()(const AdminFenceHome&) const {}
  void operator()(const AdminCopyRows& copy) const {
    node.replication_.takeRows(copy.rows, env.context);
    node.participant_.onProgress(env);
  }
};

void RicartAgrawalaNode::handle(const Input& input, const Context& context) {
  const ParticipantEnv env{{setup_, context, timers_, replication_, commits_}, sessions_, requests_};
  std::visit(Dispatch{*this, env}, input);
}

void RicartAgrawalaNode::onMessage(NodeId from, const Message& message, const ParticipantEnv& env) {
  bool wellFormed = from.value < setup_.directory->nodeCount() && from != setup_.self;
  if (wellFormed) {
    if (const auto* frame = std::get_if<LogFrame>(&message)) {
      wellFormed = replication_.onFrame(from, *frame, env.context);
    } else if (const auto* subscribe = std::get_if<Subscribe>(&message)) {
      wellFormed = replication_.onSubscribe(from, *subscribe, env.context);
    } else if (const auto* gap = std::get_if<LogGap>(&message)) {
      wellFormed = replication_.onGap(from, *gap, env.context);
      participant_.onProgress(env);
    } else if (const auto* logHead = std::get_if<LogHead>(&message)) {
      wellFormed = replication_.onLogHead(from, *logHead);
    } else {
      participant_.onMessage(from, message, env);
    }
  }
  if (!wellFormed) env.observe(obs::MessageRefused{from, kindOf(message), Cause::malformed});
}

void RicartAgrawalaNode::onEntryVisible(NodeId origin, Position position, const LogEntry& entry,
                                        const ParticipantEnv& env) {
  if (const auto* request = std::get_if<RequestEntry>(&entry)) {
    participant_.onRequest(origin, *request, env);
  } else if (const auto* grant = std::get_if<GrantEntry>(&entry)) {
    participant_.onGrant(origin, position, *grant, env);
  }
}

void RicartAgrawalaNode::onCommitDone(const CommitDone& done, const ParticipantEnv& env) {
  const auto pending = commits_.take(done.commit);
  if (!pending) return;
  Position position = 0;
  if (done.outcome == CommitOutcome::committed) {
    position = replication_.append(pending->entry, env.context);
  }
  if (const auto* txn = std::get_if<TransactionEntry>(&pending->entry)) {
    participant_.onTouched(sessions_.onCommitDone(*txn, pending->attempt, done.outcome, position, env), env);
    return;
  }
  if (position == 0) {
    participant_.onCommitFailed(*pending, env);
    return;
  }
  if (const auto* request = std::get_if<RequestEntry>(&pending->entry)) {
    const Token token = tokenOf(setup_.self, request->stamp);
    env.observe(obs::ControlAppended{obs::EntryKind::request, request->key, token, 0, position});
  } else if (const auto* grant = std::get_if<GrantEntry>(&pending->entry)) {
    const Token token = tokenOf(grant->requester, grant->stamp);
    env.observe(obs::ControlAppended{obs::EntryKind::grant, grant->key, token, 0, position});
  }
  onEntryVisible(setup_.self, position, pending->entry, env);
}

void RicartAgrawalaNode::onWake(const ParticipantEnv& env) {
  Timer timer;
  while (timers_.takeDue(env.now(), timer)) {
    if (timer.kind != TimerKind::sweep) {
      participant_.onTimer(timer.kind, KeyId{timer.key}, env);
      continue;
    }
    sessions_.sweep(env);
    replication_.sweepTombstones(env.context);
    timers_.set(TimerKind::sweep, 0, env.now() + env.options().sweepEvery);
  }
}

// ---- Crash, retention, hashing ----------------------------------------------------------------------------

Durable RicartAgrawalaNode::takeDurable() {
  return Durable{0, {}, replication_.takeState(), std::move(requests_)};
}

Position RicartAgrawalaNode::recover(Durable& durable, const NodeSetup& setup, const LogEntry& entry) {
  // A grant that had reached the disk is given. A request that had is void: nobody waits for it any more.
  const auto* const grant = std::get_if<GrantEntry>(&entry);
  if (grant != nullptr && grant->key.value < setup.directory->keyCount()) durable.requests.close(*grant);
  return Replication::recover(durable.replica, setup, entry);
}

void RicartAgrawalaNode::reportRetained(const Context& context) const {
  const std::uint64_t keys = setup_.directory->keyCount();
  const auto report = [&](obs::Retained what, std::uint64_t count, std::uint64_t bound) {
    context.observe(obs::RetainedCount{what, count, bound});
  };
  report(obs::Retained::waiters, requests_.size(), keys * setup_.members.size());
  report(obs::Retained::handles, sessions_.handles(), keys + sessions_.transactions());
  report(obs::Retained::timers, timers_.size(), 3 * keys + 1);
  report(obs::Retained::localWaiters, participant_.localWaiters(), keys * setup_.options.waitersPerKey);
  report(obs::Retained::tombstones, replication_.tombstones(), keys);
}

std::uint64_t RicartAgrawalaNode::canonicalHash(MonotonicInstant now, Duration horizon) const {
  StateHash hash(now, horizon);
  hash.add(timers_);
  hash.add(commits_);
  hash.add(replication_);
  hash.add(requests_);
  hash.add(sessions_);
  hash.add(participant_);
  return hash.value();
}

}  // namespace holdfast::protocol
