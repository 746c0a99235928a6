// A cluster of protocol nodes in a simulated world: clocks, network, disks, processes, clients, checkers.
//
// Contract. The cluster owns true time and one queue of events. step() takes the next event, lets the node
// that it concerns handle one input, carries the effects out, and lets the plan's clients react at the same
// instant. What happens follows from the setup and the calls alone.
//   - Lock messages and renewals are datagrams; those of replication, from Subscribe to LogHead, go over an
//     ordered stream for each pair of nodes, which breaks when a link is cut or a process dies, and is opened
//     anew, with a PeerUp at both ends, `reconnect` after both processes run and both directions pass.
//   - A message that arrives over a cut link is lost, also when it was sent before the cut.
//   - A paused process receives nothing; what is due meanwhile is handled in order at its resumption, while
//     its clocks run on (CK-1, CK-4). What a disk completes for it becomes durable at once.
//   - A crash loses volatile state and what was queued for a paused process. Commits that had not completed
//     survive as sim::Disk decides; survivors are appended at the restart and observed as recovered.
//   - Every draw is keyed by what it is about: (node, incarnation, commit), (node, origin, position),
//     (link, n-th message).
// Every observation goes to the hash chain, the coverage, the checkers and then the sink, if there is one.
//
// In steady state an event allocates nothing. A cluster holds no pointer to itself.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "checkers/checker_set.hpp"
#include "observations/hash_chain.hpp"
#include "protocol/lock_node.hpp"
#include "protocol/rules.hpp"
#include "scenarios/client.hpp"
#include "scenarios/coverage.hpp"
#include "scenarios/options.hpp"
#include "scenarios/plan.hpp"
#include "scenarios/sink.hpp"
#include "sim/clock.hpp"
#include "sim/disk.hpp"
#include "sim/event_queue.hpp"
#include "sim/network.hpp"
#include "sim/process.hpp"

namespace holdfast::scenarios {

using obs::Cause;
using obs::EntryKind;
using obs::MessageKind;
using obs::Position;

/// What differs at one node from the rest of the cluster.
struct NodeOverride {
  NodeId node;
  std::optional<protocol::ProtocolOptions> options;
  std::optional<protocol::Rules> rules;
  std::optional<std::vector<NodeId>> members;  ///< A stale or foreign view of the membership.
  std::uint8_t ownerWorker = 0;
  std::vector<NodeId> namesakes{};  ///< Others that were given this node's name as well (RT-4).
};

struct ClusterSetup {
  std::shared_ptr<const protocol::Directory> directory;
  /// Of the fixed membership; empty: all nodes of the directory.
  std::vector<NodeId> members;
  /// Seed, protocol, delays, and of the faults what concerns disks. Nodes and keys follow the directory.
  RunOptions options;
  protocol::Rules rules;
  std::vector<NodeOverride> overrides;
  std::vector<ClockSettings> clocks;  ///< By node; nodes beyond its end have perfect clocks.
  checkers::CheckerOptions checkers;
  sim::TieBreak tieBreak = sim::TieBreak::seeded;
};

class RunProgress;

/// Told of the answers to calls that did not come from the plan's clients. It must not call the cluster from
/// inside; it may note the answer and act after step() returned.
class ReplyListener {
 public:
  virtual ~ReplyListener() = default;
  virtual void replied(NodeId node, const protocol::Reply& reply) = 0;
  /// The process of `node` died, and with it every call that it had not answered.
  virtual void callsLost(NodeId node) = 0;
};

struct ClusterStatistics {
  std::uint64_t events = 0;    ///< Inputs handled by nodes.
  std::uint64_t messages = 0;  ///< Sent, lost ones included.
  std::array<std::uint64_t, obs::kEnumeratorCount<MessageKind>> byKind{};
  std::uint64_t durableCommits = 0;  ///< Log entries that became durable.
  std::uint64_t restarts = 0;
  std::uint64_t healedOperations = 0;  ///< Of the plan, due after everything was healed,
  std::uint64_t healedAsked = 0;       ///< and begun, because the node was up.
};

class Cluster {
 public:
  explicit Cluster(ClusterSetup setup);
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;
  Cluster(Cluster&&) = default;
  Cluster& operator=(Cluster&&) = default;

  /// Starts all nodes at time 0. Call it first, once the sink is set.
  void start();

  // ---- Time ----

  TrueInstant now() const { return now_; }
  /// When the next event is due; now() if something is due at once, never() if nothing is left.
  TrueInstant nextTime() const { return hasReady() ? now_ : queue_.nextTime(); }
  /// Handles the next event; false when there is none.
  bool step();
  /// Handles everything due until `until`, then moves time there.
  void runUntil(TrueInstant until);
  /// Moves time forward without handling anything. Precondition: until <= nextTime().
  void advanceTo(TrueInstant until);

  // ---- Plan ----

  /// Schedules a valid plan's operations, faults and phases. Its clocks are not looked at: they belong in the
  /// setup. Call it once, at time 0.
  void load(const Plan& plan);
  /// Starts judging liveness: heals, restarts, resumes and repairs everything, and says PhaseChanged{healed}.
  void healEverything();
  /// Ends the run: PhaseChanged{end}, final records of all live nodes, what each retains, checkers' last
  /// word. `progress` may be null; false if it has ended this before its end.
  bool finish(RunProgress* progress = nullptr);

  // ---- Clients ----

  /// A new number for a call or a transaction, dense from 1.
  obs::CallId newCall();
  obs::TxnId newTxn();
  /// Gives an input to a node now; kept until it resumes if it is paused; false, and no effect, if it is
  /// down.
  bool call(NodeId node, const protocol::Input& input);
  /// At most one listener; null for none. It must outlive the cluster or be taken away.
  void setReplyListener(ReplyListener* listener) { listener_ = listener; }
  void setSink(ObservationSink* sink) { sink_ = sink; }

  // ---- Processes ----

  /// Each does nothing if the process is not in the state for it.
  void crash(NodeId node);
  /// The same with a chosen fate of the commits under way: the first `survivors` of them are durable.
  void crashKeeping(NodeId node, std::uint32_t survivors);
  /// `reboot`: the machine's monotonic clock starts anew as well.
  void restart(NodeId node, bool reboot = false);
  void pause(NodeId node);
  /// Pauses the process and stops its monotonic clock until it resumes, as a virtual machine may that is
  /// stopped: what CK-1 rules out.
  void suspend(NodeId node);
  void resume(NodeId node);
  void replaceCoordinator(NodeId node);
  bool running(NodeId node) const { return machine(node).process.running(); }

  // ---- Network ----

  void cut(NodeId from, NodeId to);   ///< One way.
  void heal(NodeId from, NodeId to);  ///< One way.
  /// Cuts both ways between the nodes of `side` and all others.
  void partition(const std::vector<NodeId>& side);
  void isolate(NodeId node);
  /// Heals everything that these functions cut; the plan's own cuts last as the plan says.
  void healAll();
  /// Adds to the latency of one direction; zero ends it.
  void delayLink(NodeId from, NodeId to, Duration extra);
  /// The next `count` messages of the kind on that direction vanish.
  void dropNext(NodeId from, NodeId to, MessageKind kind, std::uint32_t count = 1);
  /// Messages of the kind that would arrive from now on are kept back until releaseHeld().
  void holdMessages(NodeId from, NodeId to, MessageKind kind);
  /// Ends the holding; what was kept back arrives now, in the order of its arrival. Gives how many.
  std::size_t releaseHeld(NodeId from, NodeId to, MessageKind kind);
  /// How many messages are kept back.
  std::size_t heldCount() const { return heldMessages_.size(); }
  /// Every message of the kind on that direction arrives twice, the second time `after` later; zero ends it.
  void duplicate(NodeId from, NodeId to, MessageKind kind, Duration after);
  /// The next send of the kind is rejected: the node is told at once, or `later`.
  void failNextSend(NodeId node, MessageKind kind, Duration later = {});
  /// A message that `from` never sent arrives at `to` as if it had: forged, malformed, of an old form.
  void injectMessage(NodeId from, NodeId to, protocol::Message message, Duration after = {});
  const sim::Network& network() const { return network_; }

  // ---- Storage and replication ----

  /// From now on every apply of origin's entries at `node` takes `delay`; a negative one restores the draws.
  void setApplyDelay(NodeId node, NodeId origin, Duration delay);
  /// From now on every native commit at `node` takes `delay`; a negative one restores the draws.
  void setCommitDelay(NodeId node, Duration delay);
  /// The next commit of an entry of the kind fails for good, or aborts once and is tried again (DR-3).
  void failNextCommit(NodeId node, EntryKind kind);
  void abortNextCommit(NodeId node, EntryKind kind);
  /// The next commit of an entry of the kind takes `delay`.
  void delayNextCommit(NodeId node, EntryKind kind, Duration delay);
  /// The next record of the kind can not be made durable, and nothing of it reaches the disk.
  void failNextPersist(NodeId node, protocol::RecordKind kind);
  /// The next entry of `origin` fails to apply at `node` and leaves a hole.
  void failNextApply(NodeId node, NodeId origin);
  /// Drops the node's own log up to `through` (FR-5).
  void purgeLog(NodeId node, Position through);
  /// Gives `node` the entry it lacks, from the origin's log or its archive; false if there is none, or if
  /// `node` is down.
  bool repairHole(NodeId node, NodeId origin, Position position);
  /// Gives `node` all rows that `from` has now: what was deleted there is none. False if either is down, or
  /// where another protocol than delegation gives the locks.
  bool copyRows(NodeId from, NodeId node);
  /// The disk with the records of a node that is down is replaced: what was promised, accepted and installed
  /// is gone, and the new disk has another serial number (EP-11). Log and replica stay. False if it is not
  /// down.
  bool replaceDisk(NodeId node);
  /// Spoils the newest record of the kind on the disk; its checksum will tell at the next restart. False if
  /// there is none.
  bool corruptRecord(NodeId node, protocol::RecordKind kind);
  /// Puts `entry` behind the log on the disk of a node that is down, as another version of the software might
  /// have; the node has it from its restart on. False, and no effect, if the node is not down.
  bool injectEntry(NodeId node, const protocol::LogEntry& entry);

  // ---- Clocks ----

  void setClockRate(NodeId node, std::int64_t ppb);
  void jumpWall(NodeId node, Duration step);
  void setWallRate(NodeId node, std::int64_t ppb);
  const sim::MonotonicClock& monotonic(NodeId node) const { return machine(node).monotonic; }
  const sim::WallClock& wall(NodeId node) const { return machine(node).wall; }

  // ---- Looking on ----

  const protocol::Directory& directory() const { return *setup_.directory; }
  std::uint16_t nodeCount() const { return static_cast<std::uint16_t>(machines_.size()); }
  /// The member that arbitrates the key (RT-1).
  NodeId homeOf(KeyId key) const;
  /// The node as a value; null while it is down, or where another protocol than delegation gives the locks.
  const protocol::Node* node(NodeId node) const;
  /// What the replica of a running node shows for the key.
  obs::FinalRecord record(NodeId node, KeyId key) const;
  const ClusterStatistics& statistics() const { return statistics_; }
  /// Whether the plan healed everything and nobody could tell: no node runs, or clients were to ask and each
  /// found its node down. Such a run proves nothing about liveness.
  bool healedInVain() const;
  const checkers::CheckerSet& checkers() const { return checkers_; }
  const Coverage& coverage() const { return coverage_; }
  const obs::HashChain& chain() const { return chain_; }

 private:
  friend class PlanClients;

  /// What may be in the queue. `start` names the incarnation that an event is for, where it matters.
  enum class EventKind : std::uint8_t {
    deliver,  // from peer; slot: an Input in flight; argument: epoch of the stream, kDatagram or kInjected
    arrived,  // the same past the network
    input,    // slot: an Input for `node` of incarnation `start`
    wake,
    commitDone,   // slot: the commit's number; argument 1: its disk part is done
    persistDone,  // slot: the record's sequence, peer: its kind; argument 1: its disk part is done, kFailed
    applyTurn,    // peer: the origin; argument: position
    connect,      // node and peer; slot: number of the event for this pair
    clientStep,   // slot: the section; argument: its generation
    operation,    // slot: index in the plan
    fault,        // slot: index in the plan
    faultEnd,     // slot: index in the plan
    repair,       // peer: the origin; argument: position
    heal,
    operate,   // the operator looks after those who are to be let in
    rejected,  // a send failed: peer, slot: key, argument: kind
  };

  struct Event {
    EventKind kind = EventKind::wake;
    NodeId node;
    NodeId peer;
    std::uint32_t start = 0;
    std::uint32_t slot = 0;
    std::uint64_t argument = 0;
  };
  static constexpr std::uint64_t kDatagram = ~std::uint64_t{0};
  static constexpr std::uint64_t kInjected = kDatagram - 1;
  static constexpr std::uint64_t kFailed = 2;
  static constexpr std::uint32_t kNoSlot = 0xffffffff;
  static constexpr std::uint32_t kForever = 0xffffffff;  // count of a directive that is never spent

  /// An Input that waits for its event, and who sent it.
  struct Slot {
    protocol::Input input;
    std::uint64_t message = 0;  // its id
    std::uint32_t references = 0;
    std::uint32_t nextFree = 0;
  };

  struct PendingCommit {
    std::uint32_t commit = 0;
    protocol::CommitOutcome outcome = protocol::CommitOutcome::committed;
    bool durable = false;
    std::uint64_t record = 0;  // position in the disk's file; outcome committed only
    protocol::LogEntry entry;
  };

  /// A record on its way to the disk, or on it.
  struct PendingRecord {
    protocol::DurableRecord record;
    std::uint64_t position = 0;  // in the file of its kind
  };

  /// How faults in force bend what a machine does.
  struct Bent {
    Duration slowApply{};
    Duration slowCommit{};
    std::uint32_t commitAbortPpm = 0;
    std::uint32_t commitFailurePpm = 0;
    std::uint32_t sendFailurePpm = 0;
    friend bool operator==(const Bent&, const Bent&) = default;
  };

  struct Machine {
    std::optional<protocol::LockNode> node;
    protocol::NodeSetup setup;
    sim::MonotonicClock monotonic;
    sim::WallClock wall;
    sim::Process process;
    sim::Disk disk;
    protocol::Durable durable;              // while the process is down
    std::vector<protocol::LogEntry> found;  // durable after a crash, to be appended at the restart
    std::vector<PendingCommit> commits;     // in the order in which they were asked for
    std::vector<PendingRecord> records;     // asked for and not yet durable, in order
    protocol::DurableMembership stored;     // what the durable records say
    std::uint32_t storedIncarnation = 0;    // and the newest durable incarnation counter
    std::uint64_t lastRecord = 0;           // numbers the records on the disk
    std::vector<Event> held;                // due while paused
    sim::EventHandle wake;
    MonotonicInstant wakeFor = MonotonicInstant::never();  // what `wake` is set for; never(): not set
    std::uint32_t wakes = 0;
    std::uint32_t keptDownFor = 0;  // the generation for which the operator stopped it (HM-5); 0: none
    std::uint64_t downBy = 0;       // id of the fault that crashed, or paused, the process; 0: none
    std::uint64_t pausedBy = 0;
    Bent bent;
    NodeId applyFailureOf;     // origin whose next entry fails, by a fault
    Duration applyRepair{};    // how long such a hole stays
    Duration gapRepair{};      // how long gaps stay that a purge of this node's log makes
    Duration commitDelay{-1};  // directed; negative: drawn
  };

  /// A standing instruction of a directed schedule. Few, and looked for only when there are any.
  struct Directive {
    enum class Kind : std::uint8_t {
      dropMessage,
      holdMessage,
      duplicateMessage,
      rejectSend,
      failCommit,
      abortCommit,
      delayCommit,
      failPersist,
      failApply,
      applyDelay
    };
    Kind kind = Kind::dropMessage;
    NodeId node;
    NodeId peer;
    std::uint8_t what = 0;  // a MessageKind or EntryKind
    std::uint32_t count = 0;
    Duration duration{};
  };

  /// The operator of a home map: whom he wants to be homes, and the change that he has under way.
  struct MapOperator {
    std::vector<NodeId> wanted;    // sorted
    std::uint32_t generation = 0;  // the greatest that he has asked for
    NodeId console;                // of the change under way; none: no change
    std::vector<NodeId> staged;    // its homes
    std::vector<NodeId> mayAct;    // homes of the newest map seen active, and of all published since; sorted
    TrueInstant smoothUntil;       // since when the change has not gone as it should
  };

  Machine& machine(NodeId node) { return machines_[node.value]; }
  const Machine& machine(NodeId node) const { return machines_[node.value]; }
  bool known(NodeId node) const { return node.value < machines_.size(); }

  struct Hole {
    NodeId node;
    NodeId origin;
    Position position = 0;
  };

  // cluster.cpp: time, inputs and effects
  bool hasReady() const { return readyHead_ != ready_.size(); }
  void dispatch(const Event& event);
  void drop(const Event& event);
  void handOver(Machine& m, const Event& event);
  void feed(NodeId node, const protocol::Input& input);
  void carryOut(NodeId node, Machine& m);
  void deliverReplies();
  void readyInput(NodeId node, protocol::Input input);
  std::uint32_t takeSlot();
  void dropSlot(std::uint32_t slot);
  void rearm(NodeId node, Machine& m);
  void setAlarm(NodeId node, Machine& m);
  void wakeUp(NodeId node, Machine& m);
  void retimeWake(NodeId node, Machine& m);
  void observeEffects(NodeId node);
  template <class T>
  void observe(NodeId node, const T& what);

  // For the plan's clients.
  void clientStepAfter(NodeId node, Duration think, std::uint32_t section, std::uint32_t generation);
  std::uint64_t seed() const { return setup_.options.seed; }
  sim::WallInstant wallAt(NodeId node) const { return machine(node).wall.at(now_); }

  // cluster_delivery.cpp: messages, streams, cuts
  std::size_t link(NodeId from, NodeId to) const { return std::size_t{from.value} * nodeCount() + to.value; }
  void send(NodeId from, Machine& m, protocol::Send& message);
  bool rejects(NodeId from, Machine& m, NodeId to, MessageKind kind, KeyId key, std::uint64_t nth);
  void reject(const Event& rejection, Duration later, std::uint64_t nth);
  std::uint32_t post(NodeId from, NodeId to, std::uint64_t id, protocol::Message&& message, TrueInstant at,
                     std::uint64_t tie, std::uint64_t epoch);
  void postAgain(std::uint32_t slot, NodeId to, TrueInstant at, std::uint64_t tie);
  void arrive(const Event& event);
  void lose(NodeId from, NodeId to, std::uint64_t id, MessageKind kind, obs::LossReason why);
  template <class Which>
  std::size_t releaseIf(Which&& which);
  void releaseAllHeld();
  void applyCuts();
  void addCuts(const Fault& fault, std::vector<bool>& cuts) const;
  bool passes(NodeId a, NodeId b) const;
  void scheduleConnect(NodeId a, NodeId b);
  void connect(const Event& event);
  void breakStreams(NodeId node);

  // cluster_machine.cpp: processes, disks, commits, applies
  void startProcess(NodeId node);
  void thaw(NodeId node);
  void observeClock(NodeId node);
  void observeRecovered(NodeId node, Machine& m, const protocol::LogEntry& entry);
  void crashWith(NodeId node, std::optional<std::uint32_t> survivors);
  void startCommit(NodeId node, Machine& m, protocol::Commit& commit);
  protocol::CommitOutcome outcomeOf(NodeId node, const Machine& m, const protocol::Commit& commit,
                                    std::uint64_t who);
  void countDurable(NodeId node, EntryKind kind);
  bool completeOnDisk(NodeId node, Machine& m, const Event& event);
  void commitDone(NodeId node, Machine& m, const Event& event);
  void persist(NodeId node, Machine& m, protocol::Persist& request);
  void storeThrough(Machine& m, std::size_t kind, std::uint64_t position);
  void crashRecords(Machine& m, const std::array<std::uint64_t, protocol::kRecordKindCount>& durable);
  protocol::DurableMembership readRecords(Machine& m);
  static bool isSpoilt(const Machine& m);
  void formatDisk(Machine& m);
  void persistOnDisk(NodeId node, Machine& m, const Event& event);
  void startApply(NodeId node, Machine& m, const protocol::Apply& apply);
  void applyTurn(NodeId node, Machine& m, const Event& event);
  const protocol::OwnLog* logOf(NodeId node) const;
  const protocol::LogEntry* entryOf(NodeId origin, Position position) const;
  Directive* findDirective(Directive::Kind kind, NodeId node, NodeId peer, std::uint8_t what);
  bool takeDirective(Directive::Kind kind, NodeId node, NodeId peer, std::uint8_t what);
  void spend(Directive& directive);

  // cluster_faults.cpp: the plan's faults
  void beginFault(std::uint32_t index);
  void endFault(std::uint32_t index);
  void bend(FaultKind kind);
  void bendMachines();
  void bendNetwork();
  void noteHole(NodeId node, NodeId origin, Position from, Position to);
  bool entryIsPurged(NodeId origin, Position position) const;
  void scheduleRepair(const Hole& hole, Duration after);
  void repair(const Event& event);

  // cluster_operator.cpp: who has the members changed
  void beginChange(const Fault& fault);
  void endChange(const Fault& fault);
  bool tellMembers(const protocol::AdminProposeMembership& change);
  bool isLiveMember(NodeId node) const;
  void letIn(NodeId node);
  void operate();
  static const protocol::EpochMembership* epochOf(const Machine& m);
  template <class Visit>
  bool allConfigurations(Visit&& visit) const;
  bool allOthersAreWhole(NodeId node) const;
  bool isCandidate(NodeId node) const;
  std::size_t mutedCandidates(NodeId node) const;
  bool isDismissing() const;
  bool canDismiss(NodeId node) const;
  bool canDoWithout(NodeId node) const;
  bool isFitToJoin(NodeId node, NodeId member) const;

  // cluster_home_map.cpp: who publishes the maps
  bool publishesMaps() const {
    return setup_.options.protocol.membership == protocol::MembershipKind::homeMap;
  }
  const protocol::Membership* membershipOf(NodeId node) const;
  void wantIn(NodeId node);
  void wantOut(NodeId node, NodeId successor);
  void keepOperating();
  void operateHomeMap();
  void urgeChange();
  void publish();
  void fenceAll(const std::vector<NodeId>& nodes);
  void letRun(std::uint32_t newest);
  void raise();
  bool isHeldFenced(NodeId node) const;
  bool anyKeptDown() const;
  std::uint32_t newestMap(std::vector<NodeId>& homes) const;

  ClusterSetup setup_;
  sim::KeyedRandom random_;
  TrueInstant now_;
  sim::EventQueue<Event> queue_;
  std::vector<Event> ready_;  // due now, before anything in the queue
  std::size_t readyHead_ = 0;
  std::vector<Machine> machines_;
  sim::Network network_;
  std::vector<Slot> slots_;
  std::uint32_t freeSlot_ = kNoSlot;
  protocol::Effects effects_;
  struct PendingReply {
    NodeId node;
    protocol::Reply reply;
  };
  std::vector<PendingReply> replies_;
  std::size_t repliesHead_ = 0;

  std::vector<bool> manualCuts_;          // by link
  std::vector<bool> cutsInForce_;         // by link
  std::vector<std::uint64_t> linkSends_;  // datagrams offered on each link
  std::vector<Duration> manualDelays_;
  std::vector<TrueInstant> streamLast_;  // arrival of the last segment on each link
  std::vector<std::uint32_t> connects_;  // number of the latest connect event of each pair
  std::uint64_t messageCount_ = 0;
  std::vector<Directive> directives_;
  std::vector<Event> heldMessages_;

  Plan plan_;
  std::vector<std::uint32_t> activeFaults_;
  bool autoRepair_ = false;
  std::vector<Hole> holes_;
  std::vector<NodeId> toLetIn_;  // whom the operator wants to be members (again)
  bool operating_ = false;       // an `operate` event is on its way
  MapOperator mapOperator_;
  std::vector<std::vector<protocol::LogEntry>> archive_;  // index: NodeId; purged entries, from position 1 on

  PlanClients clients_;
  std::uint32_t lastCall_ = 0;
  std::uint32_t lastTxn_ = 0;
  ReplyListener* listener_ = nullptr;
  ObservationSink* sink_ = nullptr;

  obs::HashChain chain_;
  Coverage coverage_;
  checkers::CheckerSet checkers_;
  ClusterStatistics statistics_;
  bool finished_ = false;
};

/// The directory of a run of plans: nodes A, B, ... and keys accounts/k0, accounts/k1, ...
std::shared_ptr<const protocol::Directory> makeDirectory(const RunOptions& options);

/// A record of a table, as a directory wants it. `bytes`: the key is the string's bytes, no text.
protocol::KeyInfo makeKey(const std::string& table, const std::string& key, std::uint16_t tableNumber,
                          bool bytes = false);

/// What the checkers are told about runs with these options.
checkers::CheckerOptions checkerOptionsFor(const RunOptions& options);

}  // namespace holdfast::scenarios
