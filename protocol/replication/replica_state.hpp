// What replication keeps on a node's disk: the own log, how far each other log was applied, the records.
//
// All of it survives a crash. An entry and its effect on the records become durable together, so that the
// cursors never promise more, or less, than the records hold (LW-1).
#pragma once

#include <cstddef>
#include <vector>

#include "observations/types.hpp"
#include "protocol/log_entry.hpp"
#include "protocol/replication/record.hpp"

namespace holdfast::protocol {

/// A node's own log. Entries before `first` have been purged (FR-5).
struct OwnLog {
  Position first = 1;
  std::vector<LogEntry> entries;

  /// The position of the last entry ever appended; 0 when there was none.
  Position head() const { return first + static_cast<Position>(entries.size()) - 1; }
  const LogEntry& at(Position position) const { return entries[position - first]; }
};
BOOST_DESCRIBE_STRUCT(OwnLog, (), (first, entries))

/// Positions from ... to, both included.
struct PositionRange {
  Position from = 0;
  Position to = 0;
  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};
BOOST_DESCRIBE_STRUCT(PositionRange, (), (from, to))

/// How far the log of one origin has been taken in here. Every position up to `applied` is applied and
/// visible, unless it is in `holes` (its apply failed, FR-8) or in `gaps` (purged before it was delivered,
/// FR-5). Both are sorted; ranges neither overlap nor touch. A gap may also lie beyond `applied`, behind
/// entries that are still queued.
struct OriginState {
  Position applied = 0;
  std::vector<Position> holes;
  std::vector<PositionRange> gaps;
  Position newestStamp = 0;  // of what was applied, in ms; only without FR3_PositionsNotStamps
};
BOOST_DESCRIBE_STRUCT(OriginState, (), (applied, holes, gaps, newestStamp))

struct ReplicaState {
  OwnLog log;
  std::vector<OriginState> origins;  // index: NodeId; the node's own entry is unused
  std::vector<Record> records;       // index: KeyId
};
BOOST_DESCRIBE_STRUCT(ReplicaState, (), (log, origins, records))

}  // namespace holdfast::protocol
