// The world as a model: protocol nodes, what is under way between them, their clients, clocks and faults.
//
// A state is a value of a few dozen bytes: the interned number of each node and of what is under way, each
// clock's lead, each client's place in its program, what is left of the fault budgets, and the ghost. A
// handler runs to completion as one step. The choices are: the next step of a client; a due timer; a tick of
// a clock within the drift bound; the arrival, loss or duplication of a datagram; the next message of a
// stream; the end of a commit, as committed or aborted; the next persist; the next apply; crash, with any
// prefix of the pending commits durable; restart; cut and heal of a link.
//
// Two states are taken for one when nodes and clients have equal futures, deadlines counted as what remains
// of them, with equal things under way and equal ghosts. The absolute readings of clocks and the numbers of
// messages are no part of that.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "explore/ghost.hpp"
#include "explore/independence.hpp"
#include "explore/mirror.hpp"
#include "explore/model.hpp"
#include "explore/node_table.hpp"

namespace holdfast::explore {

class World {
 public:
  struct State {
    std::array<std::uint32_t, kMaxNodes> nodes{};  // number of a node, or of what a crash has left
    std::uint32_t pool = 0;                        // number of what is under way
    std::array<std::uint8_t, kMaxNodes> ahead{};   // ticks ahead of the slowest clock
    std::array<std::uint8_t, kMaxClients> places{};
    std::uint8_t down = 0;    // a bit for each node
    std::uint8_t fenced = 0;  // of those, who stays so until a change of the home map is over
    std::uint8_t cut = 0;     // a bit for each pair of nodes
    Budgets left;
    Ghost ghost;
  };

  enum class ChoiceKind : std::uint8_t {
    client,
    wake,
    tick,
    deliver,
    abort,
    lose,
    duplicate,
    crash,
    restart,
    cut,
    heal,
  };
  struct Choice {
    ChoiceKind kind = ChoiceKind::tick;
    std::uint8_t who = 0;     // client, node or pair
    std::uint16_t which = 0;  // place in the pool; of a crash: what survives; of a wake: the lost heartbeat
    friend bool operator==(const Choice&, const Choice&) = default;
  };

  /// A step looks up what nodes do and sorts what is under way.
  static constexpr bool kCostlySteps = true;

  /// Precondition: whatIsWrong(configuration) is empty. With `symmetry`, states that a renaming of what is
  /// interchangeable makes equal (renaming.hpp) have equal fingerprints and are taken for one.
  explicit World(Configuration configuration, bool symmetry = false);
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  State initial() const { return initial_; }
  void choices(const State& state, std::vector<Choice>& out) const;
  void apply(State& state, const Choice& choice) const { apply(state, choice, nullptr); }
  /// What a node was given in the course of a choice, and what it did.
  struct Fed {
    std::uint8_t node = 0;
    std::uint32_t item = 0;
    const LocalStep* step = nullptr;  // null: it was lost on its way
  };
  /// The same; appends what each node was given, in order, unless `trail` is null.
  void apply(State& state, const Choice& choice, std::vector<Fed>* trail) const;
  /// What the nodes were given before the first state.
  const std::vector<Fed>& bootTrail() const { return bootTrail_; }

  std::uint64_t fingerprint(const State& state) const;
  Judgement judge(const State& state) const;
  /// Beyond the bounds that the configuration sets to a membership's changes.
  bool isBeyond(const State& state) const;
  std::uint32_t actor(const State& state, const Choice& choice) const;
  /// For partial-order reduction (independence.hpp); what commutes, and why, is in independence.cpp.
  std::uint32_t rank(const Choice& choice) const;
  bool commutes(const State& before, const Choice& first, const State& after, const Choice& then) const;
  /// Whose turn a choice is under fairness: of each thing under way its own.
  std::uint32_t turn(const State& state, const Choice& choice) const;
  /// The lock calls that wait at a node that runs, and the nodes that propose a membership, a bit each.
  std::uint32_t waiters(const State& state) const;
  /// Some of these in words, in their order: "call 2", "the proposer at A".
  static std::vector<std::string> describeWaiters(std::uint32_t waiters);
  /// Faults need not strike, and clients may stay where they are.
  bool mayStayAway(const Choice& choice) const;
  std::size_t bytes() const;

  /// How many renamings, the identity not counted, leave the first state as it is.
  std::size_t symmetries() const { return symmetries_.size(); }
  /// What the state is under one of them. It is a reachable state too, and has the same future so renamed.
  State renamed(const State& state, std::size_t symmetry) const {
    return renamedBy(state, symmetries_[symmetry]);
  }
  /// Why the protocol does not treat names alike after all, as a sentence; empty after a search: it does, in
  /// everything that was computed. On one thread.
  std::string whatBreaksSymmetry() const;
  /// The fingerprint as if nothing were interchangeable.
  std::uint64_t fingerprintOf(const State& state) const;

  /// The choice in words, as taken in `state`.
  std::string describe(const State& state, const Choice& choice) const;

  const Configuration& configuration() const { return configuration_; }
  const Cast& cast() const { return cast_; }
  NodeTable& table() const { return *table_; }
  /// The input that a choice gives to a node, or what it loses: a number for NodeTable::item(); for client
  /// steps, timers, ticks and what is under way only.
  std::uint32_t itemOf(const State& state, const Choice& choice) const;
  /// The commits under way of a node, in the order in which they were asked for.
  std::vector<std::uint32_t> commitsOf(const State& state, std::uint8_t node) const;
  /// The records under way of a node, in the order in which they were asked for, save its incarnation.
  std::vector<std::uint32_t> recordsOf(const State& state, std::uint8_t node) const;
  /// What of both has reached the disk before the crash.
  struct Survivors {
    std::vector<std::uint32_t> commits;
    std::vector<std::uint32_t> records;
  };
  Survivors survivorsOf(const State& state, const Choice& crash) const;
  std::uint8_t pairOf(std::uint8_t a, std::uint8_t b) const;

 private:
  struct Step {
    Act act = Act::lock;
    std::uint8_t call = 0;  // indices
    std::uint8_t txn = 0;
    std::uint8_t subject = kNobody;  // of a fence, or of what should be one
    std::uint32_t item = 0;
  };
  struct Program {
    std::uint8_t node = 0;
    bool again = false;
    std::uint8_t after = kNobody;
    std::vector<Step> steps;
  };

  /// Something under way; queue 0 is unordered.
  struct Entry {
    std::uint16_t queue = 0;
    std::uint32_t item = 0;
  };
  using Entries = std::vector<Entry>;
  struct UnderWay {
    Entries entries;
    std::vector<std::uint32_t> prompt;  // heartbeats that are to arrive within the step
    bool allPrompt = true;              // or they are under way like anything else
    std::uint16_t heartbeats = 0;       // so far
    std::uint16_t lost = 0;             // the one that is lost, counted from 1; 0: none
    std::vector<Fed>* trail = nullptr;
  };
  struct Pool {
    Entries entries;
    std::uint64_t hash = 0;
    Images images;
  };

  void addPrograms();
  void boot();
  void advance(State& state, UnderWay& way, std::uint8_t node, std::uint32_t item) const;
  void take(State& state, UnderWay& way, std::uint8_t node, std::uint32_t item) const;
  bool isHeartbeat(const Item& item) const;
  std::uint16_t heartbeatsOf(const State& state, std::uint8_t node) const;
  bool isOver(const State& state) const;
  bool acts(const State& state, std::uint8_t node) const;
  void judgeMembership(State& state, std::uint8_t node, const LocalStep& step) const;
  void judgeActivation(State& state, std::uint8_t node, const obs::MembershipActive& active) const;
  void judgeGrant(State& state, std::uint8_t node, const protocol::Membership& membership,
                  obs::MonotonicInstant now, const obs::Granted& event) const;
  std::uint8_t homesOf(std::uint32_t generation) const;
  bool hasStopped(const State& state, std::uint8_t node, const protocol::Membership& membership) const;
  void judgeCertificate(State& state, const protocol::Membership& before,
                        const obs::MembershipDecided& decided) const;
  void judgeRings(State& state, std::uint8_t node, bool activation) const;
  void judgeValues(State& state, std::uint8_t node) const;
  void crash(State& state, UnderWay& way, const Choice& choice) const;
  void restart(State& state, UnderWay& way, std::uint8_t node) const;
  void cut(State& state, UnderWay& way, std::uint8_t pair) const;
  void heal(State& state, UnderWay& way, std::uint8_t pair) const;
  void tick(State& state, std::uint8_t node, std::vector<Fed>* trail) const;
  void skipClients(State& state) const;
  std::string describeStep(const Program& program, const Step& step) const;
  std::string describeCrash(const State& state, const Choice& choice) const;
  std::uint32_t poolOf(Entries& entries) const;
  void setPool(State& state, UnderWay& way) const { state.pool = poolOf(way.entries); }
  void nameRoots();
  void keepSymmetries();
  State renamedBy(const State& state, std::size_t which) const;
  std::uint32_t renamedPool(std::uint32_t pool, std::size_t which) const;
  void choicesOfPool(const State& state, std::vector<Choice>& out) const;
  void faults(const State& state, std::vector<Choice>& out) const;
  bool isDue(const State& state) const;
  bool isAskedOf(const State& state) const;
  bool fewAreLate(const State& state) const;
  static std::uint64_t mixRest(std::uint64_t hash, const State& state);
  std::uint64_t renumberedFingerprint(const State& state) const;
  std::uint64_t renumberedBy(protocol::Renumbering& numbers, const State& state) const;
  bool first(const Entries& entries, std::size_t place) const;
  bool mayStep(const State& state, std::uint8_t client) const;
  bool mayTick(const State& state, std::uint8_t node) const;
  bool isDown(const State& state, std::uint8_t node) const { return (state.down >> node & 1U) != 0; }
  bool isCut(const State& state, std::uint8_t a, std::uint8_t b) const {
    return ((state.cut | configuration_.apart) >> pairOf(a, b) & 1U) != 0;
  }
  std::uint8_t nodeOf(const Choice& choice) const;
  bool isStep(const Choice& choice) const;
  bool wasUnderWay(const State& before, const State& after, const Choice& choice) const;
  template <class Marks>
  void mark(const State& state, const Choice& choice, Marks& marks) const;
  std::uint16_t queueOf(const Item& item) const;
  std::uint32_t peerUp(std::uint8_t node, std::uint8_t peer) const;

  Configuration configuration_;
  Cast cast_;
  bool renumbers_ = false;  // a caller asks again for as long as it is refused, or ballots have no bound
  std::unique_ptr<NodeTable> table_;
  std::unique_ptr<Mirror> mirror_;
  std::vector<std::size_t> symmetries_;  // the mirror's renamings that are in use
  std::unique_ptr<Interned<Pool>> pools_;
  std::vector<Program> programs_;
  std::array<std::uint32_t, kMaxNodes> wakes_{};
  std::array<std::uint32_t, kMaxNodes> ticks_{};
  std::array<std::uint32_t, kMaxNodes> settles_{};
  std::array<std::uint32_t, kMaxNodes> boots_{};
  std::array<std::uint32_t, kMaxNodes> ranks_{};  // of the steps of a node
  std::vector<Fed> bootTrail_;
  State initial_;
};

static_assert(CommutingModel<World>);
// States are hashed as bytes.
static_assert(std::has_unique_object_representations_v<World::State>);

}  // namespace holdfast::explore
