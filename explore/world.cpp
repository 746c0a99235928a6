#include "explore/world.hpp"

#include <algorithm>
#include <cstring>

#include "sim/random.hpp"

namespace holdfast::explore {
namespace {

/// The generation of a home map that an operator publishes; the nodes are born with the one before.
constexpr std::uint32_t kNextGeneration = 2;

sim::NodeId nodeOrNone(std::uint8_t node) {
  return node == kNobody ? sim::NodeId::none() : sim::NodeId{node};
}

std::vector<sim::NodeId> nodesOf(std::uint8_t bits) {
  std::vector<sim::NodeId> nodes;
  for (std::uint8_t node = 0; node < kMaxNodes; ++node) {
    if ((bits >> node & 1U) != 0) nodes.push_back({node});
  }
  return nodes;
}

}  // namespace

World::World(Configuration configuration, bool symmetry)
    : configuration_(std::move(configuration)), pools_(std::make_unique<Interned<Pool>>()) {
  std::vector<Renaming> renamings;
  if (symmetry) renamings = renamingsOf(configuration_);
  table_ = std::make_unique<NodeTable>(configuration_, renamings.size());
  mirror_ = std::make_unique<Mirror>(*table_, cast_, std::move(renamings));
  cast_.nodes = configuration_.nodes;
  for (std::uint8_t i = 0; i < configuration_.nodes; ++i) {
    wakes_[i] = table_->addItem({ItemKind::wake, i, i, protocol::Wake{}, {}, {}, 0});
    // A tick is no input; its own kind keeps it apart from a Wake.
    ticks_[i] = table_->addItem({ItemKind::tick, i, i, protocol::Wake{}, {}, {}, 0});
    settles_[i] = table_->addItem({ItemKind::settle, i, i, protocol::Wake{}, {}, {}, 0});
    boots_[i] = table_->addItem({ItemKind::local, i, i, protocol::Boot{}, {}, {}, 0});
    ranks_[i] = i;
  }
  renumbers_ = configuration_.outbids;
  addPrograms();
  nameRoots();
  boot();
  keepSymmetries();
}

void World::addPrograms() {
  const sim::Duration lease = kTick * configuration_.ticks.lease;
  for (const Client& client : configuration_.clients) {
    Program program{client.node, client.again, client.after, {}};
    renumbers_ = renumbers_ || client.again;
    const sim::Duration wait = ticksOrFar(client.patient ? 0 : configuration_.ticks.wait);
    for (const ClientStep& given : client.steps) {
      Step step;
      step.act = given.act;
      step.subject = given.remove;
      if (given.act == Act::lock) cast_.calls[cast_.callCount++] = {client.node, given.key};
      step.call = static_cast<std::uint8_t>(cast_.callCount - 1);
      if (given.act == Act::stage) cast_.txns[cast_.txnCount++] = {step.call};
      step.txn = static_cast<std::uint8_t>(cast_.txnCount - 1);
      const obs::CallId call{step.call + 1U};
      const obs::TxnId txn{step.txn + 1U};
      const sim::KeyId key{given.key};
      protocol::Input input;
      switch (given.act) {
        case Act::lock:
          input = protocol::CallLock{call, key, wait, lease, true, 0};
          break;
        case Act::stage:
          input = protocol::CallStage{
              txn, call, key, obs::WriteOp::put, obs::kAllFields, {std::int64_t{step.txn} + 1}, false, {}};
          break;
        case Act::submit:
          input = protocol::CallSubmit{txn};
          break;
        case Act::unlock:
          input = protocol::CallUnlock{call};
          break;
        case Act::propose:
          input = protocol::AdminProposeMembership{nodeOrNone(given.add), nodeOrNone(given.remove)};
          break;
        case Act::publish:
          input = protocol::AdminStageHomeMap{kNextGeneration, nodesOf(given.homes)};
          break;
        case Act::fence:
        case Act::declareRemoved:
          input =
              protocol::AdminFenceHome{kNextGeneration, nodeOrNone(given.remove), given.act == Act::fence};
          break;
      }
      step.item = table_->addItem({ItemKind::local, client.node, client.node, std::move(input), {}, {}, 0});
      program.steps.push_back(step);
    }
    programs_.push_back(std::move(program));
  }
}

/// Starts all nodes and lets everything that this brings under way arrive: the first state is a cluster at
/// rest.
void World::boot() {
  State state;
  state.left = configuration_.budgets;
  UnderWay way;
  way.trail = &bootTrail_;
  way.allPrompt = false;  // those to whom they are sent have yet to boot
  for (std::uint8_t i = 0; i < configuration_.nodes; ++i) state.nodes[i] = table_->start(i, table_->blank());
  for (std::uint8_t i = 0; i < configuration_.nodes; ++i) advance(state, way, i, boots_[i]);
  const auto settle = [&] {
    while (!way.entries.empty()) {
      const std::uint32_t item = way.entries.front().item;
      way.entries.erase(way.entries.begin());
      advance(state, way, table_->item(item).node, item);
    }
  };
  settle();
  way.allPrompt = true;
  if (configuration_.membership != protocol::MembershipKind::fixed) {
    for (std::uint8_t i = 0; i < configuration_.nodes; ++i) {
      // The first membership becomes active.
      if (table_->node(state.nodes[i]).wakeIn == 0) advance(state, way, i, wakes_[i]);
    }
    settle();
  }
  setPool(state, way);
  skipClients(state);
  initial_ = state;
}

std::uint8_t World::pairOf(std::uint8_t a, std::uint8_t b) const {
  const std::uint8_t low = std::min(a, b);
  const std::uint8_t high = std::max(a, b);
  return static_cast<std::uint8_t>(high * (high - 1) / 2 + low);
}

// ---- What is under way ------------------------------------------------------------------------------------

std::uint16_t World::queueOf(const Item& item) const {
  constexpr std::uint16_t kWidth = kMaxNodes;
  if (item.kind == ItemKind::stream) return static_cast<std::uint16_t>(1 + item.from * kWidth + item.node);
  if (item.kind == ItemKind::persist) return static_cast<std::uint16_t>(1 + kWidth * kWidth + item.node);
  return 0;
}

/// Puts the unordered part into the order of its hashes, so that equal contents are equal.
std::uint32_t World::poolOf(Entries& entries) const {
  const auto before = [&](const Entry& a, const Entry& b) {
    if (a.queue != b.queue) return a.queue < b.queue;
    return a.queue == 0 && table_->item(a.item).hash < table_->item(b.item).hash;
  };
  // By insertion: few things are under way, and those of one queue must keep their order.
  for (auto place = entries.begin(); place != entries.end(); ++place) {
    std::rotate(std::upper_bound(entries.begin(), place, *place, before), place, place + 1);
  }
  std::uint64_t hash = 0x9ddfea08eb382d69ULL;
  for (const Entry& entry : entries) hash = sim::mix(hash, table_->item(entry.item).hash + entry.queue);
  return pools_->add(hash, [&] { return Pool{entries, hash, Images(mirror_->size())}; });
}

/// Whether the entry is one that can arrive: unordered and not like the one before, or first of its queue.
bool World::first(const Entries& entries, std::size_t place) const {
  if (place == 0) return true;
  const Entry& before = entries[place - 1];
  const Entry& entry = entries[place];
  return entry.queue == 0 ? entry.item != before.item : entry.queue != before.queue;
}

// ---- Choices ----------------------------------------------------------------------------------------------

bool World::mayStep(const State& state, std::uint8_t client) const {
  const Program& program = programs_[client];
  const std::uint8_t place = state.places[client];
  if (place >= program.steps.size() || isDown(state, program.node)) return false;
  if (program.after != kNobody && state.places[program.after] < programs_[program.after].steps.size()) {
    return false;
  }
  const Step& step = program.steps[place];
  if (step.act == Act::fence) return isDown(state, step.subject);
  if (step.act == Act::declareRemoved) return !isDown(state, step.subject);
  return step.act == Act::lock || isOperators(step.act) ||
         state.ghost.calls[step.call].phase != Ghost::CallPhase::waiting;
}

bool World::mayTick(const State& state, std::uint8_t node) const {
  if (configuration_.drift != 0 && state.ahead[node] >= configuration_.drift) return false;
  if (isDown(state, node)) return configuration_.outage != Outage::brief;
  if (!configuration_.punctual) return true;
  return table_->node(state.nodes[node]).wakeIn != 0;
}

/// Whether the clocks may tick, as far as what is under way has a say in it.
bool World::fewAreLate(const State& state) const {
  return configuration_.late == kAnyNumber || (*pools_)[state.pool].entries.size() <= configuration_.late;
}

void World::choices(const State& state, std::vector<Choice>& out) const {
  if (isBeyond(state)) return;
  const bool due = configuration_.timersFirst && isDue(state);
  for (std::uint8_t client = 0; !due && client < programs_.size(); ++client) {
    if (mayStep(state, client)) out.push_back({ChoiceKind::client, client, 0});
  }
  const bool few = fewAreLate(state);
  bool allTick = few && !(configuration_.operatorsFirst && isAskedOf(state));
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    if (!isDown(state, node) && table_->node(state.nodes[node]).wakeIn == 0) {
      out.push_back({ChoiceKind::wake, node, 0});
      const std::uint16_t heartbeats = state.left.losses == 0 ? std::uint16_t{0} : heartbeatsOf(state, node);
      for (std::uint16_t lost = 1; lost <= heartbeats; ++lost) {
        out.push_back({ChoiceKind::wake, node, lost});
      }
    }
    const bool may = few && mayTick(state, node);
    allTick = allTick && may;
    if (configuration_.drift != 0 && may) out.push_back({ChoiceKind::tick, node, 0});
  }
  if (due) return;
  if (configuration_.drift == 0 && allTick) out.push_back({ChoiceKind::tick, 0, 0});
  choicesOfPool(state, out);
  faults(state, out);
}

/// Whether an operator has yet to act.
bool World::isAskedOf(const State& state) const {
  for (std::uint8_t client = 0; client < programs_.size(); ++client) {
    const std::uint8_t place = state.places[client];
    const std::vector<Step>& steps = programs_[client].steps;
    if (place < steps.size() && isOperators(steps[place].act) && mayStep(state, client)) return true;
  }
  return false;
}

bool World::isDue(const State& state) const {
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    if (!isDown(state, node) && table_->node(state.nodes[node]).wakeIn == 0) return true;
  }
  return false;
}

void World::choicesOfPool(const State& state, std::vector<Choice>& out) const {
  const Entries& entries = (*pools_)[state.pool].entries;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!first(entries, i)) continue;
    const auto which = static_cast<std::uint16_t>(i);
    const Item& item = table_->item(entries[i].item);
    out.push_back({ChoiceKind::deliver, item.node, which});
    if (item.kind == ItemKind::datagram) {
      if (state.left.losses != 0) out.push_back({ChoiceKind::lose, item.node, which});
      if (state.left.duplicates != 0) out.push_back({ChoiceKind::duplicate, item.node, which});
    } else if (item.kind == ItemKind::commit && state.left.aborts != 0 &&
               std::holds_alternative<protocol::TransactionEntry>(item.entry)) {
      out.push_back({ChoiceKind::abort, item.node, which});
    }
  }
}

// ---- Steps ------------------------------------------------------------------------------------------------

void World::apply(State& state, const Choice& choice, std::vector<Fed>* trail) const {
  thread_local UnderWay way;
  way.trail = trail;
  if (choice.kind == ChoiceKind::tick) {
    if (configuration_.drift != 0) {
      tick(state, choice.who, trail);
    } else {
      for (std::uint8_t node = 0; node < configuration_.nodes; ++node) tick(state, node, trail);
    }
    skipClients(state);
    return;
  }
  way.entries = (*pools_)[state.pool].entries;
  way.heartbeats = 0;
  way.lost = choice.kind == ChoiceKind::wake ? choice.which : std::uint16_t{0};
  const std::uint32_t item = itemOf(state, choice);
  const auto remove = [&] { way.entries.erase(way.entries.begin() + choice.which); };
  switch (choice.kind) {
    case ChoiceKind::client:
      ++state.places[choice.who];
      advance(state, way, programs_[choice.who].node, item);
      break;
    case ChoiceKind::wake:
      advance(state, way, choice.who, item);
      break;
    case ChoiceKind::deliver:
      remove();
      // What arrives at a process that is down is lost.
      if (!isDown(state, choice.who)) advance(state, way, choice.who, item);
      break;
    case ChoiceKind::abort:
      --state.left.aborts;
      remove();
      advance(state, way, choice.who, item);
      break;
    case ChoiceKind::lose:
      --state.left.losses;
      remove();
      break;
    case ChoiceKind::duplicate:
      --state.left.duplicates;
      if (!isDown(state, choice.who)) advance(state, way, choice.who, item);
      break;
    case ChoiceKind::crash:
      crash(state, way, choice);
      break;
    case ChoiceKind::restart:
      restart(state, way, choice.who);
      break;
    case ChoiceKind::cut:
      cut(state, way, choice.who);
      break;
    case ChoiceKind::heal:
      heal(state, way, choice.who);
      break;
    case ChoiceKind::tick:
      break;
  }
  setPool(state, way);
  skipClients(state);
}

std::uint32_t World::itemOf(const State& state, const Choice& choice) const {
  switch (choice.kind) {
    case ChoiceKind::client:
      return programs_[choice.who].steps[state.places[choice.who]].item;
    case ChoiceKind::wake:
      return wakes_[choice.who];
    case ChoiceKind::tick:
      return ticks_[choice.who];
    case ChoiceKind::deliver:
    case ChoiceKind::lose:
    case ChoiceKind::duplicate:
      return (*pools_)[state.pool].entries[choice.which].item;
    case ChoiceKind::abort: {
      Item item = table_->item((*pools_)[state.pool].entries[choice.which].item);
      std::get<protocol::CommitDone>(item.input).outcome = protocol::CommitOutcome::aborted;
      return table_->addItem(std::move(item));
    }
    default:
      return 0;
  }
}

void World::advance(State& state, UnderWay& way, std::uint8_t node, std::uint32_t item) const {
  take(state, way, node, item);
  // Heartbeats arrive at once, and their answers; one of them may be lost.
  for (std::size_t i = 0; i < way.prompt.size(); ++i) {
    const std::uint32_t heartbeat = way.prompt[i];
    const bool sent = table_->item(heartbeat).kind == ItemKind::datagram;
    if (sent && ++way.heartbeats == way.lost) {
      --state.left.losses;
      if (way.trail != nullptr) way.trail->push_back({table_->item(heartbeat).node, heartbeat, nullptr});
    } else {
      take(state, way, table_->item(heartbeat).node, heartbeat);
    }
  }
  way.prompt.clear();
  if (!configuration_.outbids) return;
  // Rounds without end write without end; whatever was written is durable now.
  for (std::uint8_t other = 0; other < configuration_.nodes; ++other) {
    if (!isDown(state, other)) state.nodes[other] = table_->step(state.nodes[other], settles_[other]).node;
  }
}

void World::take(State& state, UnderWay& way, std::uint8_t node, std::uint32_t item) const {
  const LocalStep& step = table_->step(state.nodes[node], item);
  state.nodes[node] = step.node;
  if (way.trail != nullptr) way.trail->push_back({node, item, &step});
  for (const obs::Observation& what : step.observations) state.ghost.on(node, what, step.now, cast_);
  judgeMembership(state, node, step);
  for (const std::uint32_t number : step.items) {
    const Item& made = table_->item(number);
    const bool sent = made.kind == ItemKind::datagram || made.kind == ItemKind::stream;
    if (sent && isCut(state, made.from, made.node)) continue;
    const bool heartbeat = way.allPrompt && isHeartbeat(made);
    if ((made.kind == ItemKind::stream || heartbeat) && isDown(state, made.node)) continue;
    const bool written = configuration_.promptDisk && made.kind == ItemKind::persist;
    if (heartbeat || written) {
      way.prompt.push_back(number);
    } else {
      way.entries.push_back({queueOf(made), number});
    }
  }
}

void World::tick(State& state, std::uint8_t node, std::vector<Fed>* trail) const {
  if (!isDown(state, node)) {
    const LocalStep& step = table_->step(state.nodes[node], ticks_[node]);
    state.nodes[node] = step.node;
    if (trail != nullptr) trail->push_back({node, ticks_[node], &step});
    state.ghost.tick(node, cast_);
  }
  if (configuration_.drift == 0) return;
  ++state.ahead[node];
  std::uint8_t slowest = 255;
  for (std::uint8_t i = 0; i < configuration_.nodes; ++i) slowest = std::min(slowest, state.ahead[i]);
  for (std::uint8_t i = 0; i < configuration_.nodes; ++i) {
    state.ahead[i] = static_cast<std::uint8_t>(state.ahead[i] - slowest);
  }
}

/// Passes what has become of no use: the rest of a section whose call is over, unless it is made again.
void World::skipClients(State& state) const {
  for (std::size_t client = 0; client < programs_.size(); ++client) {
    const std::vector<Step>& steps = programs_[client].steps;
    std::uint8_t& place = state.places[client];
    while (place < steps.size() && steps[place].act != Act::lock && !isOperators(steps[place].act)) {
      const Step& step = steps[place];
      const bool over = state.ghost.calls[step.call].phase == Ghost::CallPhase::over;
      const bool refused =
          step.act == Act::submit && state.ghost.txns[step.txn].phase != Ghost::TxnPhase::staged;
      const bool waiting = state.ghost.calls[step.call].phase == Ghost::CallPhase::waiting;
      if (waiting || (!over && !refused)) break;
      if (over && programs_[client].again) {
        while (steps[place].act != Act::lock) --place;
        break;
      }
      ++place;
    }
  }
}

// ---- Verdicts ---------------------------------------------------------------------------------------------

std::uint64_t World::fingerprintOf(const State& state) const {
  std::uint64_t hash = (*pools_)[state.pool].hash;
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    const std::uint64_t part =
        isDown(state, node) ? ~table_->durable(state.nodes[node]).hash : table_->node(state.nodes[node]).hash;
    hash = sim::mix(hash, part);
  }
  return mixRest(hash, state);
}

/// Mixes in whatever is neither a node nor under way.
std::uint64_t World::mixRest(std::uint64_t hash, const State& state) {
  constexpr std::size_t kFrom = offsetof(State, ahead);
  constexpr std::size_t kSize = sizeof(State) - kFrom;
  std::array<std::uint64_t, (kSize + 7) / 8> words{};
  std::memcpy(words.data(), reinterpret_cast<const char*>(&state) + kFrom, kSize);
  for (const std::uint64_t word : words) hash = sim::mix(hash, word);
  return hash;
}

Judgement World::judge(const State& state) const {
  Judgement judgement{static_cast<std::uint32_t>(state.ghost.breach), false};
  bool waits = false;
  bool settled = (*pools_)[state.pool].entries.empty() && state.down == 0 && state.cut == 0;
  for (std::uint8_t node = 0; settled && node < configuration_.nodes; ++node) {
    waits = waits || state.ghost.waits(node, cast_);
    settled = table_->node(state.nodes[node]).wakeIn == kNever;
  }
  for (std::uint8_t client = 0; settled && client < programs_.size(); ++client) {
    settled = !mayStep(state, client);
  }
  // Time passes for ever and changes nothing.
  judgement.stuck = settled && waits;
  return judgement;
}

std::uint32_t World::actor(const State&, const Choice& choice) const {
  return static_cast<std::uint32_t>(choice.kind) * kMaxNodes + choice.who;
}

std::uint32_t World::turn(const State& state, const Choice& choice) const {
  constexpr std::uint32_t kOthers = 256;
  if (choice.kind != ChoiceKind::deliver) return actor(state, choice);
  const std::uint32_t number = (*pools_)[state.pool].entries[choice.which].item;
  if (!renumbers_) return kOthers + number;
  // The next message of its kind is another one only by its numbers, so those alike take turns as one.
  const Item& item = table_->item(number);
  const auto* deliver = std::get_if<protocol::Deliver>(&item.input);
  const auto kind = static_cast<std::uint32_t>(deliver == nullptr ? 0U : deliver->message.index() + 1U);
  const std::uint32_t pair = item.node * std::uint32_t{kMaxNodes} + item.from;
  return kOthers + ((static_cast<std::uint32_t>(item.kind) << 8 | kind) << 8 | pair) * 256U + item.key;
}

std::uint32_t World::waiters(const State& state) const {
  std::uint32_t waiters = 0;
  for (std::size_t i = 0; i < cast_.callCount; ++i) {
    const bool waiting = state.ghost.calls[i].phase == Ghost::CallPhase::waiting;
    if (waiting && !isDown(state, cast_.calls[i].node)) waiters |= 1U << i;
  }
  for (std::uint8_t node = 0; node < configuration_.nodes; ++node) {
    if (isDown(state, node)) continue;
    const auto* epoch = table_->node(state.nodes[node]).node->membership().epoch();
    if (epoch != nullptr && epoch->proposing()) waiters |= 1U << (kMaxCalls + node);
  }
  return waiters;
}

bool World::mayStayAway(const Choice& choice) const {
  switch (choice.kind) {
    case ChoiceKind::client:
    case ChoiceKind::abort:
    case ChoiceKind::lose:
    case ChoiceKind::duplicate:
    case ChoiceKind::crash:
    case ChoiceKind::cut:
      return true;
    default:
      return false;
  }
}

std::size_t World::bytes() const { return table_->bytes() + pools_->size() * 160; }

}  // namespace holdfast::explore
