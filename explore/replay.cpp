#include "explore/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string_view>

#include "explore/fair_loop.hpp"

namespace holdfast::explore {
namespace {

constexpr sim::Duration kStepTime = sim::milliseconds(1);
// A clock that stands still, as nearly as an observation can say so.
constexpr std::int64_t kStandsStill = -999'999'999;

class Replayer {
 public:
  Replayer(const World& world, const Listener& listener)
      : world_(world), listener_(listener), checkers_(checkerOptionsOf(world.configuration())) {
    const std::uint8_t nodes = world.configuration().nodes;
    observe(0, obs::PhaseChanged{obs::Phase::faults});
    for (std::uint8_t node = 0; node < nodes; ++node) {
      machines_.push_back({std::nullopt, {}, {}, NodeTable::startReading(node), 0, {}});
      observe(node, obs::WallSet{NodeTable::kWall, 0});
    }
    for (std::uint8_t node = 0; node < nodes; ++node) start(node, protocol::Durable{});
    for (const World::Fed& fed : world.bootTrail()) feed(fed);
  }

  void take(const World::State& before, const World::Choice& choice) {
    now_ = now_ + kStepTime;
    using Kind = World::ChoiceKind;
    World::State after = before;
    std::vector<World::Fed> trail;
    world_.apply(after, choice, &trail);
    switch (choice.kind) {
      case Kind::tick:
        now_ = now_ + kTick;
        break;
      case Kind::lose:
        lose(world_.itemOf(before, choice));
        break;
      case Kind::duplicate:
        again_ = true;
        break;
      case Kind::crash:
        crash(before, choice);
        break;
      case Kind::restart:
        start(choice.who, std::exchange(machines_[choice.who].durable, {}));
        break;
      case Kind::cut:
      case Kind::heal:
        link(choice.who, choice.kind == Kind::cut);
        break;
      default:
        break;
    }
    for (const World::Fed& fed : trail) feed(fed);
    again_ = false;
  }

  Replayed result() const { return {faithful_, false, checkers_.findings(), now_}; }

 private:
  struct Machine {
    std::optional<protocol::Node> node;
    protocol::Durable durable;
    protocol::DurableMembership records;
    obs::MonotonicInstant clock;
    std::uint32_t starts = 0;
    std::vector<obs::Observation> found;  // durable after a crash, told of at the restart
  };

  void observe(std::uint8_t node, const obs::Observation& what) {
    const obs::Stamped stamped{now_, sim::NodeId{node}, what};
    checkers_.on(stamped);
    if (listener_) listener_(stamped);
  }

  void start(std::uint8_t node, protocol::Durable durable) {
    Machine& machine = machines_[node];
    machine.clock = NodeTable::startReading(node);
    durable.membership.start = ++machine.starts;
    machine.node.emplace(world_.table().setup(node), std::move(durable));
    observe(node, obs::ClockRate{machine.clock, kStandsStill});
    observe(node, obs::NodeStarted{machine.starts});
    for (const obs::Observation& what : std::exchange(machine.found, {})) observe(node, what);
  }

  void feed(const World::Fed& fed) {
    Machine& machine = machines_[fed.node];
    const Item& item = world_.table().item(fed.item);
    if (fed.step == nullptr) {
      lose(fed.item);
      return;
    }
    if (item.kind == ItemKind::tick) {
      machine.clock = machine.clock + kTick;
      observe(fed.node, obs::ClockRate{machine.clock, kStandsStill});
      return;
    }
    if (const auto* deliver = std::get_if<protocol::Deliver>(&item.input)) {
      observe(fed.node, obs::MessageDelivered{messageOf(fed.item, again_), deliver->from,
                                              protocol::kindOf(deliver->message)});
    }
    effects_.clear();
    if (item.kind == ItemKind::persist) protocol::store(machine.records, item.record);
    const protocol::Input input = inputFor(fed.node, item);
    machine.node->handle(input, protocol::Context{machine.clock, NodeTable::kWall, effects_});
    const auto& expected = fed.step->observations;
    faithful_ = faithful_ && effects_.observations.size() == expected.size();
    for (std::size_t i = 0; i < effects_.observations.size(); ++i) {
      const bool same = i < expected.size() && effects_.observations[i].index() == expected[i].index();
      faithful_ = faithful_ && same;
      observe(fed.node, effects_.observations[i]);
    }
    for (const std::uint32_t number : fed.step->items) send(fed.node, number);
    noteNumbers(fed);
  }

  /// What the node itself calls the commit, record or renewal that its interned double calls by a number: as
  /// soon as nothing under way names any, the count of earlier ones is no part of what makes nodes equal.
  enum class Numbered : std::uint8_t { commit, record, renewal };
  std::uint32_t& ownNumber(Numbered what, std::uint8_t node, std::size_t kind, std::uint32_t number) {
    const std::uint64_t whose = static_cast<std::uint64_t>(what) << 16 | kind << 8 | node;
    return numbers_[whose << 32 | number];
  }

  /// The input as this machine's own node knows it.
  protocol::Input inputFor(std::uint8_t node, const Item& item) {
    protocol::Input input = item.input;
    if (auto* done = std::get_if<protocol::CommitDone>(&input)) {
      done->commit = ownNumber(Numbered::commit, node, 0, done->commit);
    } else if (auto* persisted = std::get_if<protocol::PersistDone>(&input)) {
      persisted->sequence =
          ownNumber(Numbered::record, node, static_cast<std::size_t>(persisted->record), persisted->sequence);
    } else if (auto* deliver = std::get_if<protocol::Deliver>(&input)) {
      auto* ack = std::get_if<protocol::MembershipRenewAck>(&deliver->message);
      if (ack != nullptr) ack->sequence = ownNumber(Numbered::renewal, node, 0, ack->sequence);
    }
    return input;
  }

  void noteNumbers(const World::Fed& fed) {
    std::size_t commit = 0;
    std::size_t persist = 0;
    std::size_t send = 0;
    for (const std::uint32_t number : fed.step->items) {
      const Item& made = world_.table().item(number);
      if (made.kind == ItemKind::commit && commit < effects_.commits.size()) {
        ownNumber(Numbered::commit, fed.node, 0, std::get<protocol::CommitDone>(made.input).commit) =
            effects_.commits[commit++].commit;
      } else if (made.kind == ItemKind::persist && persist < effects_.persists.size()) {
        const auto& done = std::get<protocol::PersistDone>(made.input);
        ownNumber(Numbered::record, fed.node, static_cast<std::size_t>(done.record), done.sequence) =
            effects_.persists[persist++].sequence;
      } else if (const auto* deliver = std::get_if<protocol::Deliver>(&made.input)) {
        if (send >= effects_.sends.size()) continue;
        const auto* own = std::get_if<protocol::MembershipRenew>(&effects_.sends[send++].message);
        const auto* renewal = std::get_if<protocol::MembershipRenew>(&deliver->message);
        if (own != nullptr && renewal != nullptr) {
          ownNumber(Numbered::renewal, fed.node, 0, renewal->sequence) = own->sequence;
        }
      }
    }
  }

  void send(std::uint8_t from, std::uint32_t number) {
    const Item& item = world_.table().item(number);
    const auto* deliver = std::get_if<protocol::Deliver>(&item.input);
    if (deliver == nullptr) return;
    const std::uint64_t id = ++messages_;
    underWay_[number].push_back(id);
    const sim::KeyId key = std::visit(
        [](const auto& message) {
          if constexpr (requires { message.key; }) {
            return message.key;
          } else {
            return sim::KeyId::none();
          }
        },
        deliver->message);
    observe(from, obs::MessageSent{id, sim::NodeId{item.node}, protocol::kindOf(deliver->message), key});
  }

  /// The id of the earliest copy under way, which is taken out unless it stays.
  std::uint64_t messageOf(std::uint32_t number, bool stays) {
    std::deque<std::uint64_t>& ids = underWay_[number];
    if (ids.empty()) return 0;
    const std::uint64_t id = ids.front();
    if (!stays) ids.pop_front();
    return id;
  }

  void lose(std::uint32_t number) {
    const Item& item = world_.table().item(number);
    const auto& deliver = std::get<protocol::Deliver>(item.input);
    observe(item.from, obs::MessageLost{messageOf(number, false), sim::NodeId{item.node},
                                        protocol::kindOf(deliver.message), obs::LossReason::random});
  }

  void crash(const World::State& before, const World::Choice& choice) {
    Machine& machine = machines_[choice.who];
    const std::size_t pending = world_.commitsOf(before, choice.who).size();
    const auto [commits, records] = world_.survivorsOf(before, choice);
    machine.durable = machine.node->takeDurable();
    machine.node.reset();
    observe(choice.who, obs::NodeCrashed{static_cast<std::uint32_t>(pending - commits.size())});
    for (const std::uint32_t record : records) {
      protocol::store(machine.records, world_.table().item(record).record);
    }
    machine.durable.membership = machine.records;
    for (const std::uint32_t commit : commits) {
      const protocol::LogEntry& entry = world_.table().item(commit).entry;
      const obs::Position position =
          protocol::Node::recover(machine.durable, world_.table().setup(choice.who), entry);
      if (const auto* transaction = std::get_if<protocol::TransactionEntry>(&entry)) {
        machine.found.push_back(obs::Settled{transaction->txn, true, true, position});
      } else if (const auto* release = std::get_if<protocol::ReleaseEntry>(&entry)) {
        machine.found.push_back(
            obs::ControlAppended{obs::EntryKind::release, release->key, release->token, 0, position});
      } else if (const auto* barrier = std::get_if<protocol::BarrierEntry>(&entry)) {
        machine.found.push_back(
            obs::ControlAppended{obs::EntryKind::barrier, sim::KeyId::none(), {}, barrier->nonce, position});
      }
    }
  }

  void link(std::uint8_t pair, bool cut) {
    for (std::uint8_t high = 1; high < machines_.size(); ++high) {
      for (std::uint8_t low = 0; low < high; ++low) {
        if (world_.pairOf(low, high) != pair) continue;
        for (const auto& [from, to] : {std::pair{low, high}, std::pair{high, low}}) {
          if (cut) {
            observe(from, obs::LinkCut{sim::NodeId{to}});
          } else {
            observe(from, obs::LinkHealed{sim::NodeId{to}});
          }
        }
      }
    }
  }

  const World& world_;
  const Listener& listener_;
  checkers::CheckerSet checkers_;
  std::vector<Machine> machines_;
  protocol::Effects effects_;
  std::map<std::uint32_t, std::deque<std::uint64_t>> underWay_;  // by item: ids in the order of sending
  std::map<std::uint64_t, std::uint32_t> numbers_;
  std::uint64_t messages_ = 0;
  obs::TrueInstant now_;
  bool faithful_ = true;
  bool again_ = false;  // what is delivered stays under way
};

}  // namespace

checkers::CheckerOptions checkerOptionsOf(const Configuration& configuration) {
  checkers::CheckerOptions options;
  options.nodes = configuration.nodes;
  options.countCoverage = false;
  // Timers may be late in an exploration, which no caller can be promised anything about.
  options.waitTolerance = sim::hours(1);
  return options;
}

bool Replayed::confirms(Breach breach) const {
  return std::any_of(findings.violations().begin(), findings.violations().end(),
                     [&](const checkers::Finding& finding) {
                       return finding.severity == checkers::Severity::safety &&
                              obs::nameOf(finding.anomaly) == nameOf(breach);
                     });
}

Replayed replay(const World& world, const std::vector<std::uint16_t>& path, const Listener& listener) {
  Replayer replayer(world, listener);
  World::State state = world.initial();
  std::vector<World::Choice> choices;
  for (const std::uint16_t ordinal : path) {
    choices.clear();
    world.choices(state, choices);
    replayer.take(state, choices.at(ordinal));
    world.apply(state, choices.at(ordinal));
  }
  Replayed result = replayer.result();
  result.stuck = world.judge(state).stuck;
  result.loop = fairLoopAt(world, path);
  return result;
}

namespace {

/// The choices of a state in words; those that the same words fit are numbered.
std::vector<std::string> wordsOf(const World& world, const World::State& state,
                                 const std::vector<World::Choice>& choices) {
  std::vector<std::string> words;
  std::map<std::string, int> seen;
  for (const World::Choice& choice : choices) {
    std::string text = world.describe(state, choice);
    if (const int number = ++seen[text]; number > 1) text += fmt::format(", no. {} of its kind", number);
    words.push_back(std::move(text));
  }
  return words;
}

/// Goes from the first state by steps in words.
class Walker {
 public:
  explicit Walker(const World& world) : world_(world), state_(world.initial()) {}

  std::vector<std::string> possible() {
    choices_.clear();
    world_.choices(state_, choices_);
    return wordsOf(world_, state_, choices_);
  }

  /// Whether the step could happen; if so it has.
  bool take(const std::string& step) {
    const std::vector<std::string> words = possible();
    const auto taken = std::ranges::find(words, step);
    if (taken == words.end()) return false;
    path_.push_back(static_cast<std::uint16_t>(taken - words.begin()));
    world_.apply(state_, choices_[path_.back()]);
    return true;
  }

  const std::vector<std::uint16_t>& path() const { return path_; }

 private:
  const World& world_;
  World::State state_;
  std::vector<World::Choice> choices_;
  std::vector<std::uint16_t> path_;
};

}  // namespace

std::vector<std::string> describe(const World& world, const std::vector<std::uint16_t>& path) {
  std::vector<std::string> lines;
  World::State state = world.initial();
  std::vector<World::Choice> choices;
  for (const std::uint16_t ordinal : path) {
    choices.clear();
    world.choices(state, choices);
    lines.push_back(wordsOf(world, state, choices).at(ordinal));
    world.apply(state, choices.at(ordinal));
  }
  return lines;
}

std::expected<std::vector<std::uint16_t>, std::string> pathOf(const World& world,
                                                              std::span<const std::string> steps) {
  Walker walker(world);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (walker.take(steps[i])) continue;
    const std::vector<std::string> words = walker.possible();
    return std::unexpected(
        fmt::format("steps[{}]: '{}' can not happen here; expected {}", i, steps[i].substr(0, 80),
                    words.empty() ? "the end" : fmt::format("one of '{}'", fmt::join(words, "', '"))));
  }
  return walker.path();
}

Possible possibleOf(const World& world, std::span<const std::string> steps) {
  Walker walker(world);
  Possible possible;
  for (const std::string& step : steps) {
    if (walker.take(step)) possible.steps.push_back(step);
  }
  possible.path = walker.path();
  return possible;
}

}  // namespace holdfast::explore
