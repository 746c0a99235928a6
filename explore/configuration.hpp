// A small cluster to be explored exhaustively: nodes, keys, client programs, durations in ticks, and how many
// faults of each kind may strike.
//
// What a verdict says is bounded by this and by nothing else: time is not bounded, every order of steps
// within the budgets is tried. A configuration must fit the fixed sizes below, which keep a state small.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "protocol/node_setup.hpp"
#include "sim/time.hpp"

namespace holdfast::explore {

inline constexpr std::size_t kMaxNodes = 4;
inline constexpr std::size_t kMaxKeys = 2;
inline constexpr std::size_t kMaxCalls = 6;  // lock calls, over all clients
inline constexpr std::size_t kMaxTxns = 4;   // transactions, over all clients
inline constexpr std::size_t kMaxClients = 6;

inline constexpr std::uint8_t kAnyNumber = 0xff;

/// One tick of the discrete clocks.
inline constexpr sim::Duration kTick = sim::milliseconds(100);

/// A duration that nothing in an exploration lasts for.
inline constexpr std::int64_t kFarTicks = 1'000'000;
constexpr sim::Duration ticksOrFar(std::int64_t ticks) { return kTick * (ticks == 0 ? kFarTicks : ticks); }

/// What a client does, one step at a time. A lock that is refused skips the rest of its section. The last
/// four are an operator's: who is fenced is down, who is declared removed runs (HM-5).
enum class Act : std::uint8_t { lock, stage, submit, unlock, propose, publish, fence, declareRemoved };
constexpr bool isOperators(Act act) { return act >= Act::propose; }

inline constexpr std::uint8_t kNobody = 0xff;

struct ClientStep {
  Act act = Act::lock;
  std::uint8_t key = 0;
  std::uint8_t add = kNobody;     // propose: who becomes a member (EP-13)
  std::uint8_t remove = kNobody;  // propose: who is none any more; fence, declareRemoved: whom
  std::uint8_t homes = 0;         // publish: the next home map, a bit each (HM-3)
};

/// A client of one node; its steps are sections lock [stage [submit]] unlock. An operator at one node.
struct Client {
  std::uint8_t node = 0;
  std::vector<ClientStep> steps;
  bool patient = false;  // its calls wait without end
  bool again = false;    // a call that is refused is made again; what grows thereby counts by its order
  std::uint8_t after = kNobody;  // an earlier client, which must have ended before this one begins
};

/// How often each fault may strike in one schedule.
struct Budgets {
  std::uint8_t losses = 0;
  std::uint8_t duplicates = 0;
  std::uint8_t crashes = 0;
  std::uint8_t cuts = 0;    // of one link, both ways; healed by a later choice
  std::uint8_t aborts = 0;  // native commit attempts that abort
  friend bool operator==(const Budgets&, const Budgets&) = default;
};

/// In ticks.
struct Ticks {
  std::uint16_t delegation = 2;  // 0: without end
  std::uint16_t skew = 1;
  std::uint16_t minUseful = 1;
  std::uint16_t wait = 3;    // of every caller that is not patient
  std::uint16_t lease = 1;   // that every caller asks for
  std::uint16_t retry = 0;   // of an unanswered request; 0: never within the horizon
  std::uint16_t recall = 0;  // of an unanswered recall; 0: never within the horizon
  std::uint16_t tenure = 0;
  std::uint16_t grace = 1;
  std::uint16_t barrier = 1;
  std::uint16_t margin = 0;      // by which a home answers before a waiter's deadline
  std::uint16_t membership = 0;  // of a membership's lease; 0: never lapses within the horizon
  std::uint16_t renew = 0;       // between renewals; 0: never within the horizon
  std::uint16_t missed = 2;      // renewals until a silent member is proposed away
  std::uint16_t round = 2;       // of a round of agreement without its majority
  std::uint16_t backoff = 1;     // the first pause before a round is up to this
};

/// When a node that has crashed restarts: any time, before the next tick of a clock, or never.
enum class Outage : std::uint8_t { any, brief, endless };

struct Configuration {
  std::string name;
  std::string summary;
  std::uint8_t nodes = 2;
  std::uint8_t keys = 1;
  /// The node that is to be the home of each key; key names are chosen accordingly.
  std::uint8_t home = 0;
  std::vector<Client> clients;
  Budgets budgets;
  /// The nodes that may crash, a bit each.
  std::uint8_t mayCrash = 0xff;
  Outage outage = Outage::any;
  Ticks ticks;
  /// The pairs of nodes that never hear each other, a bit each: pair (a, b), a < b, is bit b (b - 1) / 2 + a.
  std::uint8_t apart = 0;
  /// How many ticks one node's clock may be ahead of another's, counted from the start. Over any time two
  /// clocks diverge by at most twice that, which `ticks.skew` must cover (CK-3). 0: all tick together.
  std::uint8_t drift = 0;
  /// No clock ticks while more messages, commits, persists and applies than that are under way: so many may
  /// be slower than a tick.
  std::uint8_t late = kAnyNumber;
  /// A node's clock does not pass a timer that is due: processes are never suspended (CK-4 is idle).
  bool punctual = true;
  /// Timers that are due fire, in any order, before anything else happens.
  bool timersFirst = false;
  /// No clock ticks before every operator has had its say.
  bool operatorsFirst = false;
  /// What a node writes is durable within the step that writes it.
  bool promptDisk = false;
  protocol::MembershipKind membership = protocol::MembershipKind::fixed;
  /// The members of the first epoch or home map, a bit each.
  std::uint8_t members = 0xff;
  /// States with a greater epoch, or with a promise of a ballot beyond these, are not gone on from.
  std::uint8_t epochs = kAnyNumber;
  std::uint8_t ballots = kAnyNumber;
  /// Rounds may go on for ever: ballots are told by their order (protocol/renumbering.hpp).
  bool outbids = false;
  /// What the nodes draw by: how long each pauses before a round (EP-2).
  std::uint64_t seed = 0;
  protocol::Rules rules;
};

/// Whatever makes the configuration impossible to explore, as a sentence; empty: nothing does.
std::string whatIsWrong(const Configuration& configuration);

/// From which states a search does not go on, in words; empty: it goes on from all.
std::string boundsOf(const Configuration& configuration);

/// Everything that a search depends on, in one line: the identity of a checkpoint.
std::string identityOf(const Configuration& configuration);

/// A client's section: lock, and with `write` stage and submit, unlock.
std::vector<ClientStep> section(std::uint8_t key, bool write = false);

/// The configurations that are shipped, and one of them by name; null when there is none of that name.
const std::vector<Configuration>& configurations();
const Configuration* findConfiguration(const std::string& name);

}  // namespace holdfast::explore
