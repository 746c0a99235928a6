// Time, inputs and effects: how one event goes through a node and out again.
#include "scenarios/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "protocol/canonical_key.hpp"
#include "protocol/routing.hpp"
#include "scenarios/cluster_draws.hpp"
#include "scenarios/cluster_observe.hpp"
#include "scenarios/liveness_bound.hpp"
#include "scenarios/run.hpp"

namespace holdfast::scenarios {
namespace {

constexpr std::size_t kMostNodes = 256;

std::vector<NodeId> everybody(const protocol::Directory& directory) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < directory.nodeCount(); ++i) nodes.push_back({static_cast<std::uint16_t>(i)});
  return nodes;
}

sim::LinkOptions linkOptions(const DelayOptions& delays) {
  sim::LinkOptions link;
  link.latency = delays.link;
  link.retransmit = delays.retransmit;
  return link;
}

}  // namespace

Cluster::Cluster(ClusterSetup setup)
    : setup_(std::move(setup)),
      random_{setup_.options.seed},
      queue_(setup_.options.seed, setup_.tieBreak),
      network_(static_cast<std::uint16_t>(setup_.directory->nodeCount()), setup_.options.seed,
               linkOptions(setup_.options.delays)),
      checkers_(setup_.checkers) {
  const std::size_t nodes = setup_.directory->nodeCount();
  if (nodes == 0 || nodes > kMostNodes) throw std::invalid_argument("a cluster has 1 to 256 nodes");
  if (setup_.members.empty()) setup_.members = everybody(*setup_.directory);
  std::sort(setup_.members.begin(), setup_.members.end());
  mapOperator_.wanted = setup_.members;
  sim::SyncOptions disk;
  disk.tornPpm = setup_.options.faults.tornPpm;
  machines_.resize(nodes);
  for (std::uint16_t i = 0; i < nodes; ++i) {
    Machine& m = machines_[i];
    m.setup.self = NodeId{i};
    m.setup.directory = setup_.directory.get();
    m.setup.options = setup_.options.protocol;
    m.setup.rules = setup_.rules;
    m.setup.members = setup_.members;
    m.setup.seed = setup_.options.seed;
    // A numbering that no two nodes share, which is what makes identity by short id go wrong (RT-4).
    for (std::uint16_t j = 0; j < nodes; ++j) {
      m.setup.shortIds.push_back(static_cast<std::uint16_t>((j + nodes - i) % nodes));
    }
    const ClockSettings clock = i < setup_.clocks.size() ? setup_.clocks[i] : ClockSettings{};
    m.monotonic = sim::MonotonicClock(clock.monotonic, clock.ratePpb);
    m.wall = sim::WallClock(clock.wallOffset, clock.wallRatePpb);
    m.disk = sim::Disk(kFiles, setup_.options.seed, i, disk);
  }
  for (const NodeOverride& special : setup_.overrides) {
    if (!known(special.node)) throw std::invalid_argument("an override names a node that does not exist");
    protocol::NodeSetup& own = machine(special.node).setup;
    if (special.options) own.options = *special.options;
    if (special.rules) own.rules = *special.rules;
    if (special.members) own.members = *special.members;
    std::sort(own.members.begin(), own.members.end());
    own.ownerWorker = special.ownerWorker;
    own.namesakes = special.namesakes;
  }
  manualCuts_.resize(nodes * nodes);
  cutsInForce_.resize(nodes * nodes);
  linkSends_.resize(nodes * nodes);
  manualDelays_.resize(nodes * nodes);
  streamLast_.resize(nodes * nodes, TrueInstant{INT64_MIN});
  connects_.resize(nodes * nodes);
  archive_.resize(nodes);
  queue_.reserve(1'024);
}

void Cluster::start() {
  observe(NodeId{0}, obs::PhaseChanged{obs::Phase::faults});
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    observe(NodeId{i}, obs::ClockRate{machines_[i].monotonic.at(now_), machines_[i].monotonic.ratePpb()});
    observe(NodeId{i}, obs::WallSet{machines_[i].wall.at(now_), machines_[i].wall.ratePpb()});
  }
  for (std::uint16_t i = 0; i < nodeCount(); ++i) startProcess(NodeId{i});
  deliverReplies();
}

// ---- Time -------------------------------------------------------------------------------------------------

bool Cluster::step() {
  Event event;
  if (hasReady()) {
    event = ready_[readyHead_++];
    if (!hasReady()) {
      ready_.clear();
      readyHead_ = 0;
    }
  } else if (!queue_.empty()) {
    now_ = queue_.popInto(event);
  } else {
    return false;
  }
  dispatch(event);
  deliverReplies();
  return true;
}

void Cluster::runUntil(TrueInstant until) {
  while (nextTime() <= until && step()) {
  }
  advanceTo(until);
}

void Cluster::advanceTo(TrueInstant until) {
  if (until != TrueInstant::never()) now_ = std::max(now_, until);
}

void Cluster::dispatch(const Event& event) {
  switch (event.kind) {
    case EventKind::deliver:
      arrive(event);
      return;
    case EventKind::connect:
      connect(event);
      return;
    case EventKind::fault:
      beginFault(event.slot);
      return;
    case EventKind::faultEnd:
      endFault(event.slot);
      return;
    case EventKind::repair:
      repair(event);
      return;
    case EventKind::heal:
      healEverything();
      return;
    case EventKind::operate:
      operate();
      return;
    default:
      break;
  }
  Machine& m = machine(event.node);
  if (event.kind == EventKind::operation && now_ >= plan_.healAt) {
    ++statistics_.healedOperations;
    if (!m.process.crashed()) ++statistics_.healedAsked;
  }
  const bool stale = event.kind != EventKind::arrived && event.kind != EventKind::operation &&
                     event.start != m.process.incarnations();
  if (m.process.crashed() || stale) {
    drop(event);
  } else if (event.kind == EventKind::commitDone && event.argument == 0 &&
             !completeOnDisk(event.node, m, event)) {
    return;
  } else if (event.kind == EventKind::persistDone && event.argument == 0) {
    persistOnDisk(event.node, m, event);
  } else {
    handOver(m, event);
  }
}

void Cluster::drop(const Event& event) {
  if (event.kind == EventKind::arrived) {
    const Slot& slot = slots_[event.slot];
    const auto* message = std::get_if<protocol::Deliver>(&slot.input);
    lose(message->from, event.node, slot.message, protocol::kindOf(message->message),
         obs::LossReason::receiverDown);
  }
  if (event.kind == EventKind::arrived || event.kind == EventKind::input) dropSlot(event.slot);
}

void Cluster::handOver(Machine& m, const Event& event) {
  if (m.process.paused()) {
    // The alarm that is kept must not be set a second time meanwhile.
    if (event.kind == EventKind::wake) m.wakeFor = MonotonicInstant::longAgo();
    m.held.push_back(event);
    (void)m.process.enqueue();
    return;
  }
  const NodeId node = event.node;
  switch (event.kind) {
    case EventKind::arrived: {
      const auto* message = std::get_if<protocol::Deliver>(&slots_[event.slot].input);
      observe(node, obs::MessageDelivered{slots_[event.slot].message, message->from,
                                          protocol::kindOf(message->message)});
      feed(node, slots_[event.slot].input);
      dropSlot(event.slot);
      return;
    }
    case EventKind::input:
      feed(node, slots_[event.slot].input);
      dropSlot(event.slot);
      return;
    case EventKind::wake:
      wakeUp(node, m);
      return;
    case EventKind::commitDone:
      commitDone(node, m, event);
      return;
    case EventKind::persistDone:
      feed(node, protocol::PersistDone{event.slot, event.argument == kFailed,
                                       static_cast<protocol::RecordKind>(event.peer.value)});
      return;
    case EventKind::applyTurn:
      applyTurn(node, m, event);
      return;
    case EventKind::rejected:
      feed(node,
           protocol::SendFailed{event.peer, static_cast<MessageKind>(event.argument), KeyId{event.slot}});
      return;
    case EventKind::clientStep:
      clients_.step(*this, event.slot, static_cast<std::uint32_t>(event.argument));
      return;
    case EventKind::operation:
      clients_.begin(*this, plan_.operations[event.slot]);
      return;
    default:
      return;
  }
}

// ---- Inputs and effects -----------------------------------------------------------------------------------

void Cluster::feed(NodeId node, const protocol::Input& input) {
  Machine& m = machine(node);
  ++statistics_.events;
  effects_.clear();
  m.node->handle(input, protocol::Context{m.monotonic.at(now_), m.wall.at(now_), effects_});
  carryOut(node, m);
  rearm(node, m);
}

void Cluster::carryOut(NodeId node, Machine& m) {
  observeEffects(node);
  for (protocol::Send& message : effects_.sends) send(node, m, message);
  for (protocol::Commit& commit : effects_.commits) startCommit(node, m, commit);
  for (protocol::Persist& request : effects_.persists) persist(node, m, request);
  for (const protocol::Apply& apply : effects_.applies) startApply(node, m, apply);
  for (const protocol::Reply& reply : effects_.replies) replies_.push_back({node, reply});
}

void Cluster::deliverReplies() {
  // A client's reaction is an input that may bring further replies, which come after those that are here.
  while (repliesHead_ < replies_.size()) {
    const PendingReply next = replies_[repliesHead_++];
    if (!clients_.replied(*this, next.node, next.reply) && listener_ != nullptr) {
      listener_->replied(next.node, next.reply);
    }
  }
  replies_.clear();
  repliesHead_ = 0;
}

void Cluster::observeEffects(NodeId node) {
  for (const obs::Observation& observation : effects_.observations) {
    std::visit(
        [&]<class T>(const T& what) {
          observe(node, what);
          if constexpr (std::is_same_v<T, obs::Applied>) {
            if (what.failed) noteHole(node, what.origin, what.position, what.position);
          } else if constexpr (std::is_same_v<T, obs::GapFound>) {
            noteHole(node, what.origin, what.from, what.to);
          } else if constexpr (std::is_same_v<T, obs::HoleRepaired>) {
            std::erase_if(holes_, [&](const Hole& hole) {
              return hole.node == node && hole.origin == what.origin && hole.position == what.position;
            });
          }
        },
        observation);
  }
}

std::uint32_t Cluster::takeSlot() {
  if (freeSlot_ == kNoSlot) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  const std::uint32_t slot = freeSlot_;
  freeSlot_ = slots_[slot].nextFree;
  return slot;
}

void Cluster::dropSlot(std::uint32_t slot) {
  if (--slots_[slot].references != 0) return;
  slots_[slot].nextFree = freeSlot_;
  freeSlot_ = slot;
}

void Cluster::readyInput(NodeId node, protocol::Input input) {
  const std::uint32_t slot = takeSlot();
  slots_[slot].input = std::move(input);
  slots_[slot].references = 1;
  ready_.push_back({EventKind::input, node, NodeId::none(), machine(node).process.incarnations(), slot, 0});
}

// ---- The alarm clock --------------------------------------------------------------------------------------

void Cluster::rearm(NodeId node, Machine& m) {
  // An alarm that is set too early is left: when it fires it is set again, which is cheaper than moving it
  // each time that a deadline is put off.
  const MonotonicInstant wanted = m.node->nextWake();
  if (wanted >= m.wakeFor) return;
  queue_.cancel(m.wake);
  m.wakeFor = wanted;
  setAlarm(node, m);
}

void Cluster::setAlarm(NodeId node, Machine& m) {
  const TrueInstant at = std::max(now_, m.monotonic.whenReads(m.wakeFor));
  const std::uint64_t key = draws::tie(draws::kWakeTie, node.value, ++m.wakes);
  m.wake = queue_.pushKeyed(at, key, {EventKind::wake, node, NodeId::none(), m.process.incarnations(), 0, 0});
}

void Cluster::wakeUp(NodeId node, Machine& m) {
  m.wake = sim::EventHandle::none();
  m.wakeFor = MonotonicInstant::never();
  if (m.monotonic.at(now_) < m.node->nextWake()) {
    rearm(node, m);
  } else {
    feed(node, protocol::Wake{});
  }
}

void Cluster::retimeWake(NodeId node, Machine& m) {
  if (queue_.cancel(m.wake)) setAlarm(node, m);
}

// ---- Plan, clients, end -----------------------------------------------------------------------------------

void Cluster::load(const Plan& plan) {
  plan_ = plan;
  autoRepair_ = true;
  clients_.reserve(plan_.operations.size());
  queue_.reserve(plan_.operations.size() + plan_.faults.size() * 2 + 1'024);
  for (std::uint32_t i = 0; i < plan_.operations.size(); ++i) {
    const Operation& operation = plan_.operations[i];
    queue_.pushKeyed(operation.at, draws::tie(draws::kPlanTie, operation.node.value, operation.id),
                     {EventKind::operation, operation.node, NodeId::none(), 0, i, 0});
  }
  for (std::uint32_t i = 0; i < plan_.faults.size(); ++i) {
    queue_.pushKeyed(plan_.faults[i].at, draws::tie(draws::kPlanTie, 0, plan_.faults[i].id),
                     {EventKind::fault, NodeId{0}, NodeId::none(), 0, i, 0});
  }
  queue_.pushKeyed(plan_.healAt, draws::tie(draws::kPlanTie, 1, 0),
                   {EventKind::heal, NodeId{0}, NodeId::none(), 0, 0, 0});
}

obs::CallId Cluster::newCall() { return {++lastCall_}; }
obs::TxnId Cluster::newTxn() { return {++lastTxn_}; }

bool Cluster::call(NodeId node, const protocol::Input& input) {
  if (!known(node) || machine(node).process.crashed()) return false;
  if (hasReady() || machine(node).process.paused()) {
    // Behind what is due already.
    readyInput(node, input);
  } else {
    feed(node, input);
    deliverReplies();
  }
  return true;
}

void Cluster::clientStepAfter(NodeId node, Duration think, std::uint32_t section, std::uint32_t generation) {
  const std::uint32_t start = machine(node).process.incarnations();
  queue_.pushKeyed(now_ + think,
                   draws::tie(draws::kClientTie, draws::incarnation(node.value, section), generation),
                   {EventKind::clientStep, node, NodeId::none(), start, section, generation});
}

bool Cluster::healedInVain() const {
  if (!autoRepair_ || now_ <= plan_.healAt) return false;
  const bool silent = statistics_.healedOperations > 0 && statistics_.healedAsked == 0;
  return silent || std::ranges::all_of(machines_, [](const Machine& m) { return m.process.crashed(); });
}

bool Cluster::finish(RunProgress* progress) {
  constexpr std::uint32_t kLookEvery = 1'024;
  if (finished_) return true;
  finished_ = true;
  observe(NodeId{0}, obs::PhaseChanged{obs::Phase::end});
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    Machine& m = machines_[i];
    if (!m.node) continue;
    for (std::uint32_t key = 0; key < directory().keyCount(); ++key) {
      const bool looks = progress != nullptr && key % kLookEvery == kLookEvery - 1;
      if (looks && !progress->reached(now_, statistics().events)) return false;
      observe(NodeId{i}, record(NodeId{i}, KeyId{key}));
    }
    effects_.clear();
    m.node->reportRetained(protocol::Context{m.monotonic.at(now_), m.wall.at(now_), effects_});
    observeEffects(NodeId{i});
  }
  checkers_.finish(now_);
  return true;
}

obs::FinalRecord Cluster::record(NodeId node, KeyId key) const {
  if (!known(node) || !machine(node).node) return {key, 0, {}, {}};
  return machine(node).node->replication().finalRecord(key);
}

const protocol::Node* Cluster::node(NodeId node) const {
  return known(node) && machine(node).node ? machine(node).node->delegation() : nullptr;
}

NodeId Cluster::homeOf(KeyId key) const {
  return protocol::homeOf(directory(), setup_.members, key, setup_.options.protocol.ringVersion);
}

std::shared_ptr<const protocol::Directory> makeDirectory(const RunOptions& options) {
  std::vector<std::string> names;
  for (std::uint16_t i = 0; i < options.nodes; ++i) {
    if (options.nodes <= 26) {
      names.emplace_back(1, static_cast<char>('A' + i));
    } else {
      names.push_back(fmt::format("N{:0{}}", i, options.nodes <= 100 ? 2 : 3));
    }
  }
  std::vector<protocol::KeyInfo> keys;
  for (std::uint32_t i = 0; i < options.keys; ++i)
    keys.push_back(makeKey("accounts", "k" + std::to_string(i), 0));
  return std::make_shared<const protocol::Directory>(std::move(names), std::move(keys));
}

protocol::KeyInfo makeKey(const std::string& table, const std::string& key, std::uint16_t tableNumber,
                          bool bytes) {
  protocol::KeyPart part{key};
  if (bytes) part.value = protocol::KeyPart::Bytes(key.begin(), key.end());
  auto canonical = protocol::canonicalKey("data", table, part);
  if (!canonical) throw std::invalid_argument(canonical.error().text);
  return {table + "/" + key, std::move(*canonical), tableNumber};
}

checkers::CheckerOptions checkerOptionsFor(const RunOptions& options) {
  checkers::CheckerOptions judged;
  judged.nodes = options.nodes;
  // Runs of plans have their own coverage, whose milestones a sweep must reach.
  judged.countCoverage = false;
  const protocol::ProtocolOptions& p = options.protocol;
  judged.livenessBound = livenessBound(options);
  judged.epochLease = p.epochLease;
  judged.barrierTimeout = p.barrierTimeout;
  judged.lineageSets = p.lineageSets;
  judged.tombstoneRetention = shortened(p.tombstoneRetention, options.faults.maxDriftPpb);
  // Members that change are known to the checker that watches them change.
  if (p.membership == protocol::MembershipKind::fixed) {
    for (unsigned i = 0; i < options.nodes; ++i) judged.members |= std::uint64_t{1} << i;
  }
  return judged;
}

}  // namespace holdfast::scenarios
