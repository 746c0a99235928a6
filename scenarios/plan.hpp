// A plan: everything that is done to a cluster in one run, as data.
//
// Contract: (options, rules, plan) determine a run. An operation or fault has an id that is its own, and all
// draws made on its behalf are keyed by that id, so that taking one out of the plan, or moving it, leaves the
// draws of all others as they were. A plan is written to JSON and read back unchanged; a text that is no plan
// is refused with the path of what is wrong and what was expected there. Plans of any origin are safe to run:
// entries that name nodes or keys which do not exist are refused by validate().
#pragma once

#include <cstdint>
#include <expected>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "observations/reflect.hpp"
#include "observations/types.hpp"
#include "scenarios/options.hpp"

namespace holdfast::scenarios {

using obs::KeyId;
using obs::MonotonicInstant;
using obs::NodeId;
using sim::TrueInstant;

/// What a client does; see WorkloadOptions. An unlocked write has a kind for each way to write.
enum class OperationKind : std::uint8_t {
  lockedUpdate,
  earlyUnlock,
  holdAndReenter,
  readOnlySection,
  unlockedPut,
  unlockedPatch,
  unlockedIncrement,
  unlockedErase,
  futureStamp,
  lockedErase,
  transfer,
  abandon,
  dropDelegation,
};
BOOST_DESCRIBE_ENUM(OperationKind, lockedUpdate, earlyUnlock, holdAndReenter, readOnlySection, unlockedPut,
                    unlockedPatch, unlockedIncrement, unlockedErase, futureStamp, lockedErase, transfer,
                    abandon, dropDelegation)

struct Operation {
  std::uint64_t id = 0;  ///< Keys the operation's draws; unique in the plan.
  TrueInstant at;
  NodeId node;
  OperationKind kind = OperationKind::lockedUpdate;
  KeyId key;
  KeyId secondKey;  ///< transfer only; another key, none otherwise
  Duration wait;
  Duration lease;
  Duration think;       ///< before each step that a person or program would take time for
  Duration stampAhead;  ///< futureStamp only: how far the caller's stamp is ahead of its wall clock

  friend bool operator==(const Operation&, const Operation&) = default;
};
BOOST_DESCRIBE_STRUCT(Operation, (), (id, at, node, kind, key, secondKey, wait, lease, think, stampAhead))

/// `node`, `peer`, `duration` and `amount` mean what is said here; what a kind does not mention is unused.
/// A node of none means every node.
enum class FaultKind : std::uint8_t {
  crash,  ///< node; restarts after duration; amount 1: the machine reboots (monotonic clock anew)
  replaceCoordinator,  ///< node (BD-4)
  pause,               ///< node, for duration
  cutOneWay,           ///< node to peer, for duration
  partition,           ///< amount: bit i puts node i on one side; for duration
  isolate,             ///< node from all others, for duration
  loss,                ///< amount ppm of datagrams on all links, for duration
  duplication,         ///< amount ppm of datagrams on all links, for duration
  reordering,          ///< amount ppm of datagrams on all links, for duration
  latencySpike,        ///< node to peer: amount ns more, for duration
  slowApply,           ///< node: every apply takes amount ns more, for duration
  slowCommit,          ///< node: every commit takes amount ns more, for duration
  commitAbort,         ///< node: amount ppm of native attempts abort, for duration
  commitFailure,       ///< node: amount ppm of commits fail for good, for duration
  applyFailure,        ///< node: the next entry of peer fails to apply; repaired after duration
  sendFailure,         ///< node: amount ppm of its datagrams are rejected, for duration
  logPurge,            ///< node drops its log up to its end; gaps at its peers are repaired after duration
  rateChange,          ///< node: its monotonic clock runs at amount ppb
  wallJump,            ///< node: its wall clock jumps by amount ns
  admitMember,         ///< an operator has node let in, until it is (EP-13, HM-3)
  dismissMember,       ///< an operator has node left out, and let in again after duration
  replaceMember,       ///< the same, with peer let in for it
  replaceDisk,         ///< node crashes and restarts after duration with another disk for its records (EP-11)
  corruptDisk,         ///< the same, with its records spoilt
  wallRate,            ///< node: its wall clock runs at amount ppb
  suspend,  ///< node: its machine stops for duration, and its monotonic clock with it, against CK-1
};
BOOST_DESCRIBE_ENUM(FaultKind, crash, replaceCoordinator, pause, cutOneWay, partition, isolate, loss,
                    duplication, reordering, latencySpike, slowApply, slowCommit, commitAbort, commitFailure,
                    applyFailure, sendFailure, logPurge, rateChange, wallJump, admitMember, dismissMember,
                    replaceMember, replaceDisk, corruptDisk, wallRate, suspend)

struct Fault {
  std::uint64_t id = 0;  ///< Keys the fault's draws; unique in the plan.
  TrueInstant at;
  FaultKind kind = FaultKind::crash;
  NodeId node;
  NodeId peer;
  Duration duration;
  std::int64_t amount = 0;

  friend bool operator==(const Fault&, const Fault&) = default;
};
BOOST_DESCRIBE_STRUCT(Fault, (), (id, at, kind, node, peer, duration, amount))

/// How a node's clocks start (CK-1).
struct ClockSettings {
  MonotonicInstant monotonic;  ///< reading at true instant 0
  std::int64_t ratePpb = 0;    ///< of the monotonic clock
  Duration wallOffset;         ///< wall reading minus true time at 0
  std::int64_t wallRatePpb = 0;

  friend bool operator==(const ClockSettings&, const ClockSettings&) = default;
};
BOOST_DESCRIBE_STRUCT(ClockSettings, (), (monotonic, ratePpb, wallOffset, wallRatePpb))

struct Plan {
  TrueInstant healAt;  ///< Everything is healed here, whatever the faults' durations say.
  TrueInstant endAt;
  std::vector<ClockSettings> clocks;  ///< by node
  std::vector<Operation> operations;  ///< in any order
  std::vector<Fault> faults;          ///< in any order

  friend bool operator==(const Plan&, const Plan&) = default;
};
BOOST_DESCRIBE_STRUCT(Plan, (), (healAt, endAt, clocks, operations, faults))

/// Nothing, or what is wrong and what would be right: "operations[3].node is 9; expected 0 to 4".
std::expected<void, std::string> validate(const Plan& plan, const RunOptions& options);

nlohmann::json toJson(const Plan& plan);
nlohmann::json toJson(const RunOptions& options);

/// Reads a plan. The error names the path: "plan.faults[2].kind: expected one of crash, ..., found 7".
std::expected<Plan, std::string> planFromJson(const nlohmann::json& json);
/// Reads options. Members that are left out keep their defaults; unknown members are refused.
std::expected<RunOptions, std::string> optionsFromJson(const nlohmann::json& json);

/// Sets one option by its path, as a command line does: ("faults.lossPpm", "20000"). Durations take a unit
/// (ns, us, ms, s, min, h) or are ns.
std::expected<void, std::string> setOption(RunOptions& options, const std::string& path,
                                           const std::string& value);

}  // namespace holdfast::scenarios
