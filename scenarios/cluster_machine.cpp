// Machines: processes that start, pause and die, their clocks, their disks, their commits and applies.
#include <algorithm>
#include <utility>

#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"
#include "scenarios/cluster_observe.hpp"

namespace holdfast::scenarios {

// ---- Processes --------------------------------------------------------------------------------------------

void Cluster::startProcess(NodeId node) {
  Machine& m = machine(node);
  const auto number = m.process.start();
  if (!number) return;
  observe(node, obs::NodeStarted{*number});
  for (const protocol::LogEntry& entry : m.found) observeRecovered(node, m, entry);
  m.found.clear();
  m.durable.membership = readRecords(m);
  m.durable.incarnation = m.storedIncarnation;
  m.node.emplace(m.setup, std::exchange(m.durable, {}));
  feed(node, protocol::Boot{});
}

void Cluster::observeRecovered(NodeId node, Machine& m, const protocol::LogEntry& entry) {
  const Position position = protocol::LockNode::recover(m.setup, m.durable, entry);
  if (const auto* transaction = std::get_if<protocol::TransactionEntry>(&entry)) {
    // Entries that were put into the log by a scenario belong to no transaction of the run.
    if (transaction->txn.valid()) observe(node, obs::Settled{transaction->txn, true, true, position});
  } else if (const auto* release = std::get_if<protocol::ReleaseEntry>(&entry)) {
    observe(node, obs::ControlAppended{EntryKind::release, release->key, release->token, 0, position});
  } else if (const auto* barrier = std::get_if<protocol::BarrierEntry>(&entry)) {
    observe(node, obs::ControlAppended{EntryKind::barrier, KeyId::none(), {}, barrier->nonce, position});
  } else if (const auto* request = std::get_if<protocol::RequestEntry>(&entry)) {
    const obs::Token token = protocol::tokenOf(node, request->stamp);
    observe(node, obs::ControlAppended{EntryKind::request, request->key, token, 0, position});
  } else if (const auto* grant = std::get_if<protocol::GrantEntry>(&entry)) {
    const obs::Token token = protocol::tokenOf(grant->requester, grant->stamp);
    observe(node, obs::ControlAppended{EntryKind::grant, grant->key, token, 0, position});
  }
}

void Cluster::restart(NodeId node, bool reboot) {
  if (!known(node) || !machine(node).process.crashed() || machine(node).keptDownFor != 0) return;
  Machine& m = machine(node);
  ++statistics_.restarts;
  m.downBy = 0;
  if (reboot) {
    const std::uint64_t draw = random_.bits(draws::kReboot, node.value, m.process.incarnations());
    const Duration uptime = sim::scaleBetween(draw, sim::seconds(5), sim::seconds(90));
    m.monotonic = sim::MonotonicClock({uptime.ns}, m.monotonic.ratePpb(), now_);
    observe(node, obs::ClockRate{m.monotonic.at(now_), m.monotonic.ratePpb()});
  }
  startProcess(node);
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    if (i != node.value) scheduleConnect(node, NodeId{i});
  }
  deliverReplies();
}

void Cluster::crash(NodeId node) { crashWith(node, std::nullopt); }
void Cluster::crashKeeping(NodeId node, std::uint32_t survivors) { crashWith(node, survivors); }

void Cluster::crashWith(NodeId node, std::optional<std::uint32_t> survivors) {
  if (!known(node) || machine(node).process.crashed()) return;
  Machine& m = machine(node);
  (void)m.process.crash();
  m.pausedBy = 0;
  m.durable = m.node->takeDurable();
  m.node.reset();
  queue_.cancel(m.wake);
  m.wake = sim::EventHandle::none();
  thaw(node);
  m.wakeFor = MonotonicInstant::never();

  std::array<std::uint64_t, protocol::kRecordKindCount> durable{};
  for (std::size_t kind = 0; kind < durable.size(); ++kind) {
    durable[kind] = m.disk.durableEnd(recordFile(kind));
  }
  if (survivors) {
    m.disk.crashWith(*survivors, false);
  } else {
    m.disk.crash();
  }
  std::uint32_t lost = 0;
  const std::uint64_t end = m.disk.recover(kLogFile)->end;
  for (PendingCommit& commit : m.commits) {
    if (commit.outcome != protocol::CommitOutcome::committed || commit.record >= end) {
      ++lost;
      continue;
    }
    if (!commit.durable) countDurable(node, protocol::kindOf(commit.entry));
    m.found.push_back(std::move(commit.entry));
  }
  m.commits.clear();
  (void)m.disk.truncate(kLogFile, end);
  crashRecords(m, durable);
  observe(node, obs::NodeCrashed{lost});
  for (const Event& event : std::exchange(m.held, {})) drop(event);
  breakStreams(node);
  clients_.crashed(node);
  if (listener_ != nullptr) listener_->callsLost(node);
}

void Cluster::pause(NodeId node) {
  if (!known(node) || !machine(node).process.pause()) return;
  observe(node, obs::NodePaused{});
}

void Cluster::suspend(NodeId node) {
  if (!known(node) || !machine(node).process.running()) return;
  Machine& m = machine(node);
  pause(node);
  m.monotonic.freeze(now_);
  observeClock(node);
  retimeWake(node, m);
}

void Cluster::thaw(NodeId node) {
  Machine& m = machine(node);
  if (!m.monotonic.frozen()) return;
  m.monotonic.thaw(now_);
  observeClock(node);
  retimeWake(node, m);
}

void Cluster::resume(NodeId node) {
  if (!known(node) || !machine(node).process.resume()) return;
  Machine& m = machine(node);
  m.pausedBy = 0;
  thaw(node);
  observe(node, obs::NodeResumed{});
  ready_.insert(ready_.end(), m.held.begin(), m.held.end());
  m.held.clear();
}

void Cluster::replaceCoordinator(NodeId node) {
  if (!known(node) || machine(node).process.crashed()) return;
  observe(node, obs::CoordinatorReplaced{});
  call(node, protocol::AdminReplaceCoordinator{});
}

// ---- Clocks -----------------------------------------------------------------------------------------------

void Cluster::setClockRate(NodeId node, std::int64_t ppb) {
  if (!known(node)) return;
  Machine& m = machine(node);
  m.monotonic.setRate(now_, ppb);
  observeClock(node);
  retimeWake(node, m);
}

void Cluster::observeClock(NodeId node) {
  const sim::MonotonicClock& clock = machine(node).monotonic;
  // A clock that stands still is one that is slow by all of a second each second.
  observe(node, obs::ClockRate{clock.at(now_), clock.frozen() ? -1'000'000'000 : clock.ratePpb()});
}

void Cluster::setWallRate(NodeId node, std::int64_t ppb) {
  if (!known(node)) return;
  Machine& m = machine(node);
  m.wall.setRate(now_, ppb);
  observe(node, obs::WallSet{m.wall.at(now_), m.wall.ratePpb()});
}

void Cluster::jumpWall(NodeId node, Duration step) {
  if (!known(node)) return;
  Machine& m = machine(node);
  m.wall.jump(now_, step);
  observe(node, obs::WallSet{m.wall.at(now_), m.wall.ratePpb()});
}

// ---- Commits ----------------------------------------------------------------------------------------------

void Cluster::startCommit(NodeId node, Machine& m, protocol::Commit& commit) {
  const std::uint32_t start = m.process.incarnations();
  const std::uint64_t who = draws::incarnation(node.value, start);
  const auto kind = static_cast<std::uint8_t>(protocol::kindOf(commit.entry));
  PendingCommit pending;
  pending.commit = commit.commit;
  pending.outcome = outcomeOf(node, m, commit, who);
  Duration delay = m.commitDelay;
  if (delay < Duration{}) {
    delay = setup_.options.delays.commit.sample(random_, draws::kCommitDelay, who, commit.commit) +
            m.bent.slowCommit;
  }
  if (!directives_.empty()) {
    if (Directive* const slow = findDirective(Directive::Kind::delayCommit, node, NodeId::none(), kind)) {
      delay = slow->duration;
      spend(*slow);
    }
  }
  // An attempt that will abort or fail never reaches the disk, so that no crash can bring it back.
  if (pending.outcome == protocol::CommitOutcome::committed) {
    pending.record = *m.disk.append(kLogFile, commit.commit);
  }
  pending.entry = std::move(commit.entry);
  m.commits.push_back(std::move(pending));
  queue_.pushKeyed(now_ + delay, draws::tie(draws::kCommitTie, who, commit.commit),
                   {EventKind::commitDone, node, NodeId::none(), start, commit.commit, 0});
}

protocol::CommitOutcome Cluster::outcomeOf(NodeId node, const Machine& m, const protocol::Commit& commit,
                                           std::uint64_t who) {
  const EntryKind entry = protocol::kindOf(commit.entry);
  if (!directives_.empty()) {
    const auto kind = static_cast<std::uint8_t>(entry);
    if (takeDirective(Directive::Kind::failCommit, node, NodeId::none(), kind)) {
      return protocol::CommitOutcome::failed;
    }
    if (takeDirective(Directive::Kind::abortCommit, node, NodeId::none(), kind)) {
      return protocol::CommitOutcome::aborted;
    }
  }
  if (m.bent.commitFailurePpm == 0 && m.bent.commitAbortPpm == 0) return protocol::CommitOutcome::committed;
  const std::uint64_t draw = random_.bits(draws::kCommitOutcome, who, commit.commit);
  if (sim::scaleChance(sim::mix(draw, 1), m.bent.commitFailurePpm)) return protocol::CommitOutcome::failed;
  // Only a transaction has anything to conflict with.
  if (entry == EntryKind::transaction && sim::scaleChance(sim::mix(draw, 2), m.bent.commitAbortPpm)) {
    return protocol::CommitOutcome::aborted;
  }
  return protocol::CommitOutcome::committed;
}

void Cluster::countDurable(NodeId node, EntryKind kind) {
  ++statistics_.durableCommits;
  observe(node, obs::DurableWrite{kind, false});
}

bool Cluster::completeOnDisk(NodeId node, Machine& m, const Event& event) {
  const auto pending = std::find_if(m.commits.begin(), m.commits.end(),
                                    [&](const PendingCommit& c) { return c.commit == event.slot; });
  if (pending == m.commits.end()) return false;
  if (pending->outcome == protocol::CommitOutcome::committed) {
    (void)m.disk.syncedThrough(kLogFile, pending->record + 1);
    pending->durable = true;
    countDurable(node, protocol::kindOf(pending->entry));
  }
  Event known = event;
  known.argument = 1;
  handOver(m, known);
  return true;
}

void Cluster::commitDone(NodeId node, Machine& m, const Event& event) {
  const auto pending = std::find_if(m.commits.begin(), m.commits.end(),
                                    [&](const PendingCommit& c) { return c.commit == event.slot; });
  if (pending == m.commits.end()) return;
  const protocol::CommitOutcome outcome = pending->outcome;
  m.commits.erase(pending);
  // What the node was told of is the node's to keep; the file need not grow.
  if (m.commits.empty()) (void)m.disk.dropBefore(kLogFile, m.disk.end(kLogFile));
  feed(node, protocol::CommitDone{event.slot, outcome});
}

void Cluster::setCommitDelay(NodeId node, Duration delay) {
  if (known(node)) machine(node).commitDelay = delay;
}

void Cluster::failNextCommit(NodeId node, EntryKind kind) {
  directives_.push_back(
      {Directive::Kind::failCommit, node, NodeId::none(), static_cast<std::uint8_t>(kind), 1, {}});
}

void Cluster::abortNextCommit(NodeId node, EntryKind kind) {
  directives_.push_back(
      {Directive::Kind::abortCommit, node, NodeId::none(), static_cast<std::uint8_t>(kind), 1, {}});
}

void Cluster::delayNextCommit(NodeId node, EntryKind kind, Duration delay) {
  directives_.push_back({Directive::Kind::delayCommit, node, NodeId::none(), static_cast<std::uint8_t>(kind),
                         1, std::max(delay, Duration{})});
}

// ---- Applies and logs -------------------------------------------------------------------------------------

void Cluster::startApply(NodeId node, Machine& m, const protocol::Apply& apply) {
  const std::uint64_t who = draws::pair(node.value, apply.origin.value);
  Duration delay{-1};
  if (!directives_.empty()) {
    if (const Directive* fixed = findDirective(Directive::Kind::applyDelay, node, apply.origin, 0)) {
      delay = fixed->duration;
    }
  }
  if (delay < Duration{}) {
    delay = setup_.options.delays.apply.sample(random_, draws::kApplyDelay, who, apply.position) +
            m.bent.slowApply;
  }
  queue_.pushKeyed(now_ + delay, draws::tie(draws::kApplyTie, who, apply.position),
                   {EventKind::applyTurn, node, apply.origin, m.process.incarnations(), 0, apply.position});
}

void Cluster::applyTurn(NodeId node, Machine& m, const Event& event) {
  bool failed = false;
  if (m.applyFailureOf == event.peer) {
    failed = true;
    m.applyFailureOf = NodeId::none();
  } else if (!directives_.empty()) {
    failed = takeDirective(Directive::Kind::failApply, node, event.peer, 0);
  }
  feed(node, protocol::ApplyReady{event.peer, failed});
}

void Cluster::setApplyDelay(NodeId node, NodeId origin, Duration delay) {
  std::erase_if(directives_, [&](const Directive& d) {
    return d.kind == Directive::Kind::applyDelay && d.node == node && d.peer == origin;
  });
  if (delay < Duration{}) return;
  directives_.push_back({Directive::Kind::applyDelay, node, origin, 0, kForever, delay});
}

void Cluster::failNextApply(NodeId node, NodeId origin) {
  directives_.push_back({Directive::Kind::failApply, node, origin, 0, 1, {}});
}

const protocol::OwnLog* Cluster::logOf(NodeId node) const {
  if (!known(node)) return nullptr;
  const Machine& m = machine(node);
  return m.node ? &m.node->replication().log() : &m.durable.replica.log;
}

void Cluster::purgeLog(NodeId node, Position through) {
  const protocol::OwnLog* const log = logOf(node);
  if (log == nullptr || machine(node).process.crashed()) return;
  std::vector<protocol::LogEntry>& kept = archive_[node.value];
  const Position last = std::min(through, log->head());
  for (Position position = std::max<Position>(log->first, static_cast<Position>(kept.size()) + 1);
       position <= last; ++position) {
    kept.push_back(log->at(position));
  }
  call(node, protocol::AdminPurgeLog{through});
}

const protocol::LogEntry* Cluster::entryOf(NodeId origin, Position position) const {
  const protocol::OwnLog* const log = logOf(origin);
  if (log == nullptr || position == 0) return nullptr;
  if (position >= log->first && position <= log->head()) return &log->at(position);
  const std::vector<protocol::LogEntry>& kept = archive_[origin.value];
  return position <= kept.size() ? &kept[position - 1] : nullptr;
}

bool Cluster::repairHole(NodeId node, NodeId origin, Position position) {
  const protocol::LogEntry* const entry = entryOf(origin, position);
  if (entry == nullptr) return false;
  return call(node, protocol::AdminRepair{origin, position, *entry});
}

bool Cluster::copyRows(NodeId from, NodeId node) {
  const protocol::Node* const source = this->node(from);
  if (source == nullptr || !known(node) || machine(node).process.crashed()) return false;
  protocol::AdminCopyRows copy;
  for (std::uint32_t i = 0; i < directory().keyCount(); ++i) {
    const protocol::Record* const row = source->record(KeyId{i});
    if (row != nullptr && !row->tombstone()) copy.rows.push_back({KeyId{i}, *row});
  }
  return call(node, copy);
}

bool Cluster::injectEntry(NodeId node, const protocol::LogEntry& entry) {
  if (!known(node) || !machine(node).process.crashed()) return false;
  machine(node).found.push_back(entry);
  return true;
}

// ---- Directives -------------------------------------------------------------------------------------------

Cluster::Directive* Cluster::findDirective(Directive::Kind kind, NodeId node, NodeId peer,
                                           std::uint8_t what) {
  const auto found = std::find_if(directives_.begin(), directives_.end(), [&](const Directive& d) {
    return d.kind == kind && d.node == node && d.peer == peer && d.what == what;
  });
  return found == directives_.end() ? nullptr : &*found;
}

bool Cluster::takeDirective(Directive::Kind kind, NodeId node, NodeId peer, std::uint8_t what) {
  Directive* const found = findDirective(kind, node, peer, what);
  if (found == nullptr) return false;
  spend(*found);
  return true;
}

void Cluster::spend(Directive& directive) {
  if (directive.count == kForever) return;
  --directive.count;
  if (directive.count == 0) {
    directives_.erase(directives_.begin() + (&directive - directives_.data()));
  }
}

}  // namespace holdfast::scenarios
