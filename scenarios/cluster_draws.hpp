// The keys of the cluster's draws: whom each is about.
//
// A draw's entity is packed into one word, and so are the keys that break ties between events of one instant,
// so that neither depends on how many events there were before.
#pragma once

#include <cstdint>

#include "sim/random.hpp"

namespace holdfast::scenarios {

/// Files of a node's disk: its log, and one for each kind of record (protocol::RecordKind).
inline constexpr std::uint16_t kRecordKinds = 4;
inline constexpr std::uint16_t kFiles = 1 + kRecordKinds;
inline constexpr sim::FileId kLogFile{0};
constexpr sim::FileId recordFile(std::size_t kind) { return {static_cast<std::uint16_t>(1 + kind)}; }

namespace draws {

// Streams. They are arbitrary but fixed: changing one changes every recorded run.
inline constexpr std::uint64_t kCommitDelay = 0x636c2e636d746462ULL;    // "cl.cmtdb"
inline constexpr std::uint64_t kCommitOutcome = 0x636c2e636d746f63ULL;  // "cl.cmtoc"
inline constexpr std::uint64_t kApplyDelay = 0x636c2e61706c7964ULL;     // "cl.aplyd"
inline constexpr std::uint64_t kPersistDelay = 0x636c2e7072737464ULL;   // "cl.prstd"
inline constexpr std::uint64_t kRejection = 0x636c2e72656a6374ULL;      // "cl.rejct"
inline constexpr std::uint64_t kReboot = 0x636c2e7265626f6fULL;         // "cl.reboo"
inline constexpr std::uint64_t kClient = 0x636c2e636c69656eULL;         // "cl.clien"
inline constexpr std::uint64_t kConsole = 0x636c2e636f6e736fULL;        // "cl.conso"

// What a tie-break key is about.
inline constexpr std::uint64_t kWakeTie = 1;
inline constexpr std::uint64_t kPlanTie = 2;
inline constexpr std::uint64_t kMessageTie = 3;
inline constexpr std::uint64_t kCommitTie = 4;
inline constexpr std::uint64_t kApplyTie = 5;
inline constexpr std::uint64_t kPersistTie = 6;
inline constexpr std::uint64_t kConnectTie = 7;
inline constexpr std::uint64_t kClientTie = 8;
inline constexpr std::uint64_t kRepairTie = 9;
inline constexpr std::uint64_t kRejectionTie = 10;
inline constexpr std::uint64_t kOperatorTie = 11;

/// A key for EventQueue::pushKeyed().
constexpr std::uint64_t tie(std::uint64_t kind, std::uint64_t whom, std::uint64_t number) {
  return sim::mix(kind << 56 | whom, number);
}

/// The incarnation `start` of `node`.
constexpr std::uint64_t incarnation(std::uint16_t node, std::uint32_t start) {
  return std::uint64_t{node} << 32 | start;
}

/// The pair (to or node, from or origin).
constexpr std::uint64_t pair(std::uint16_t a, std::uint16_t b) { return std::uint64_t{a} << 16 | b; }

}  // namespace draws
}  // namespace holdfast::scenarios
