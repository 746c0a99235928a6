// Draws a plan from options: which faults a seed has at all, when each strikes, and what the clients do.
//
// Contract: a pure function of the options, the seed among them. Every number comes from a keyed draw whose
// entity is the node or the kind of fault, and whose index is the number of the operation or fault in its own
// sequence; nothing depends on how many draws were made before. All faults end at the end of the fault phase.
// Clocks start, and stay, within maxDriftPpb. validate() of options and plan holds for every result if it
// holds for the options.
#pragma once

#include "scenarios/plan.hpp"

namespace holdfast::scenarios {

/// The plan of `options.seed`.
Plan drawPlan(const RunOptions& options);

/// Whether the homes of the seed keep a single dependency set each.
bool lineageIsScarce(const RunOptions& options);

/// How long tombstones are kept in this seed (LW-3): protocol.tombstoneRetention, or less where retention is
/// brief.
Duration retentionOf(const RunOptions& options);

/// Whether the last node of the seed is no founder: a blank identity that may be let in later (EP-11).
bool hasSpare(const RunOptions& options);

/// Whether the seed has this kind of fault at all (its swarm draw).
bool swarmHas(const RunOptions& options, FaultKind kind);

/// Seed number `index` (from 0) of a sweep that starts at `first`: first + index, modulo 2^64.
constexpr std::uint64_t sweepSeed(std::uint64_t first, std::uint64_t index) { return first + index; }

}  // namespace holdfast::scenarios
