// The operator of a home map, as a plan's faults have him work (HM-3): publishes, waits, fences, publishes
// anew.
//
// He knows whom he wants to be homes and has one change under way at a time. He talks to a console that runs,
// and looks on. When a change does not come on for a while, he stops the few who have not acknowledged it and
// says that they are fenced (HM-5), keeping them down until a map is active that was drained without them; or
// he leaves the console alone and asks another for a greater generation, if it is the console that does not
// answer, if too many are silent, or if he wants something else by now.
#include <algorithm>
#include <utility>

#include "protocol/membership/published_map.hpp"
#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"

namespace holdfast::scenarios {

void Cluster::wantIn(NodeId node) {
  protocol::include(mapOperator_.wanted, std::span(&node, 1));
  keepOperating();
}

void Cluster::wantOut(NodeId node, NodeId successor) {
  std::vector<NodeId>& wanted = mapOperator_.wanted;
  if (successor.valid()) protocol::include(wanted, std::span(&successor, 1));
  // He leaves nobody without a home.
  if (wanted.size() > setup_.options.protocol.minMembers) std::erase(wanted, node);
  keepOperating();
}

void Cluster::keepOperating() {
  if (!operating_) operate();
}

const protocol::Membership* Cluster::membershipOf(NodeId node) const {
  const Machine& m = machine(node);
  const protocol::Node* const state = m.node ? m.node->delegation() : nullptr;
  return state != nullptr ? &state->membership() : nullptr;
}

/// The greatest generation that anybody acts on, and its homes.
std::uint32_t Cluster::newestMap(std::vector<NodeId>& homes) const {
  std::uint32_t newest = 0;
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    const protocol::Membership* const membership = membershipOf(NodeId{i});
    if (membership == nullptr || membership->number() <= newest) continue;
    newest = membership->number();
    homes.assign(membership->members().begin(), membership->members().end());
  }
  return newest;
}

void Cluster::operateHomeMap() {
  std::vector<NodeId> homes;
  const std::uint32_t newest = newestMap(homes);
  letRun(newest);
  if (newest >= mapOperator_.generation) {
    mapOperator_.console = NodeId::none();
    mapOperator_.mayAct = homes;
  }
  if (mapOperator_.console.valid()) {
    urgeChange();
  } else if (newest > 0 && homes != mapOperator_.wanted) {
    mapOperator_.generation = std::max(mapOperator_.generation, newest);
    publish();
  }
  operating_ = newest == 0 || mapOperator_.console.valid() || homes != mapOperator_.wanted || anyKeptDown();
  if (!operating_) return;
  queue_.pushKeyed(now_ + kOperatorLooks, draws::tie(draws::kOperatorTie, 0, 0),
                   {EventKind::operate, NodeId{0}, NodeId::none(), 0, 0, 0});
}

/// Asks some node that runs for the next generation.
void Cluster::publish() {
  const std::uint32_t generation = mapOperator_.generation + 1;
  const std::uint64_t draw = random_.bits(draws::kConsole, generation, 0);
  const std::uint64_t first = sim::scaleBelow(draw, nodeCount());
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    const NodeId console{static_cast<std::uint16_t>((first + i) % nodeCount())};
    if (!machine(console).process.running()) continue;
    mapOperator_.generation = generation;
    mapOperator_.console = console;
    mapOperator_.staged = mapOperator_.wanted;
    mapOperator_.smoothUntil = now_;
    // HM-3: nobody else is sure to know all who may act on one of them.
    (void)call(console, protocol::AdminStageHomeMap{generation, mapOperator_.wanted, mapOperator_.mayAct});
    protocol::include(mapOperator_.mayAct, mapOperator_.wanted);
    return;
  }
}

/// Looks after the change under way, and steps in when it has not come on for too long.
void Cluster::urgeChange() {
  const protocol::Membership* const membership = membershipOf(mapOperator_.console);
  const bool answers = machine(mapOperator_.console).process.running() && membership != nullptr;
  const protocol::HomeMap* const console = answers ? membership->homeMap() : nullptr;
  const bool works = console != nullptr && console->stages(mapOperator_.generation);
  const std::vector<NodeId> awaited = works ? console->awaited() : std::vector<NodeId>{};
  const bool meant = mapOperator_.staged == mapOperator_.wanted;
  if (works && meant && awaited.empty()) mapOperator_.smoothUntil = now_;
  if (now_ < mapOperator_.smoothUntil + kOperatorPatience) return;
  const auto silent = std::count_if(awaited.begin(), awaited.end(),
                                    [&](NodeId node) { return machine(node).keptDownFor == 0; });
  if (works && meant && silent * 2 <= nodeCount()) {
    fenceAll(awaited);
    mapOperator_.smoothUntil = now_;
  } else {
    publish();
  }
}

/// HM-5: a fence is a stop, which lasts until it is not needed any more.
void Cluster::fenceAll(const std::vector<NodeId>& nodes) {
  for (const NodeId node : nodes) {
    crash(node);
    machine(node).keptDownFor = mapOperator_.generation;
    (void)call(mapOperator_.console, protocol::AdminFenceHome{mapOperator_.generation, node, true});
  }
}

/// Lets those run again who are not needed down any more: one at a time, when everybody else acts on the
/// newest map. Whoever came back beside one that knows no more than itself, though it has stopped, would find
/// that the two agree on the old map (HM-2).
void Cluster::letRun(std::uint32_t newest) {
  if (std::ranges::all_of(machines_,
                          [](const Machine& m) { return m.keptDownFor != 0 && m.process.crashed(); })) {
    raise();
    return;
  }
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    Machine& m = machines_[i];
    const protocol::Membership* const membership = membershipOf(NodeId{i});
    if (membership != nullptr && membership->number() >= newest) m.keptDownFor = 0;
  }
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    const Machine& m = machines_[i];
    const protocol::Membership* const membership = membershipOf(NodeId{i});
    const bool knows = membership != nullptr && membership->number() >= newest;
    const bool keptDown = m.keptDownFor != 0 && m.process.crashed();
    if (!knows && !keptDown) return;
  }
  for (std::uint16_t i = 0; i < nodeCount(); ++i) {
    Machine& m = machines_[i];
    if (m.keptDownFor == 0 || m.keptDownFor > newest) continue;
    // Nobody else restarts it, also if it should die before it has learned.
    const std::uint32_t kept = std::exchange(m.keptDownFor, 0);
    restart(NodeId{i});
    m.keptDownFor = kept;
    return;
  }
}

/// When everybody is kept down, whoever was to activate the map that they wait for has died, too. He starts
/// one that no console takes for fenced: a console that has died keeps its fences, and counts on them when it
/// is back (HM-5). Of those, the one whose disk has the newest map, and has it drain all the others.
void Cluster::raise() {
  const auto first = std::ranges::max_element(machines_, {}, [&](const Machine& m) {
    const NodeId node{static_cast<std::uint16_t>(&m - machines_.data())};
    return std::pair{!isHeldFenced(node), m.stored.homeMap.active.map.generation};
  });
  first->keptDownFor = 0;
  restart(NodeId{static_cast<std::uint16_t>(first - machines_.begin())});
}

/// Whether some console's disk says that the node is fenced, for a change that is not over.
bool Cluster::isHeldFenced(NodeId node) const {
  std::uint32_t newest = 0;
  for (const Machine& m : machines_) newest = std::max(newest, m.stored.homeMap.active.map.generation);
  return std::ranges::any_of(machines_, [&](const Machine& m) {
    const std::optional<protocol::ConsoleRecord>& console = m.stored.homeMap.console;
    return console && console->change.map.generation > newest && protocol::contains(console->fenced, node);
  });
}

bool Cluster::anyKeptDown() const {
  return std::any_of(machines_.begin(), machines_.end(), [](const Machine& m) { return m.keptDownFor != 0; });
}

}  // namespace holdfast::scenarios
