// A record and its conflict resolution: last write wins per field, increments fold (LW-3).
//
// A record is a join semilattice: merging is commutative, associative and idempotent, so replicas that have
// merged the same set of writes hold equal records, whatever the order and however often. Each field has a
// base (the greatest put, patch or erase) and the increments that are greater than the base; the visible
// value is their sum. An increment that is not greater than the base is dropped: the base was written later
// and stands for the whole field.
//
// An increment on an absent field counts from 0 and makes the field present, also when it was erased before.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <compare>
#include <cstdint>

#include "observations/types.hpp"
#include "protocol/log_entry.hpp"
#include "protocol/rules.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {

/// The place of a write in the total order of LW-3: (timestamp, origin name). NodeId order is name order.
/// `position` and `ordinal` (the write's index in its transaction) only tell two writes of one origin apart
/// that have equal timestamps. The default value is less than the version of any write.
struct Version {
  Timestamp stamp{INT64_MIN};
  NodeId origin{0};
  std::uint16_t ordinal = 0;
  Position position = 0;

  constexpr bool written() const { return position != 0; }
  friend constexpr bool operator==(const Version&, const Version&) = default;
  friend constexpr std::strong_ordering operator<=>(const Version& a, const Version& b) {
    if (const auto order = a.stamp <=> b.stamp; order != 0) return order;
    if (const auto order = a.origin <=> b.origin; order != 0) return order;
    if (const auto order = a.position <=> b.position; order != 0) return order;
    return a.ordinal <=> b.ordinal;
  }
};
BOOST_DESCRIBE_STRUCT(Version, (), (stamp, origin, ordinal, position))

/// A field's base: what the greatest put, patch or erase left there. Erased: not present, with a version.
struct FieldState {
  std::int64_t value = 0;
  Version version;
  TxnId writer;
  bool present = false;
  std::uint16_t fence = 0;  // of the write (rule LW3_OneOrder off)
  friend bool operator==(const FieldState&, const FieldState&) = default;
};
BOOST_DESCRIBE_STRUCT(FieldState, (), (value, version, writer, present, fence))

/// A delta that counts on top of the base of `field`.
struct Increment {
  std::int64_t delta = 0;
  Version version;
  TxnId writer;
  std::uint8_t field = 0;
  std::uint16_t fence = 0;  // of the write (rule LW3_OneOrder off)
  friend bool operator==(const Increment&, const Increment&) = default;
};
BOOST_DESCRIBE_STRUCT(Increment, (), (delta, version, writer, field, fence))

/// What a reader sees. `writers[i]` is the transaction that field i's value came from, the greatest counting
/// increment's or else the base's; none for an absent field. Absent fields have value 0.
struct RecordView {
  FieldMask present = 0;
  std::array<TxnId, obs::kRecordFields> writers{};
  FieldValues values{};
  friend bool operator==(const RecordView&, const RecordView&) = default;
};

class Record {
 public:
  /// Merges one write. Put and erase write all fields, patch those of `write.fields`; increment adds
  /// `write.values` to those of `write.fields`. Returns whether the record changed. Sums wrap around.
  /// LW3_TotalOrder off: of two writes with equal timestamps, the one that is merged later wins.
  bool merge(const Write& write, const Version& version, TxnId writer, const Rules& rules);

  /// Merges all writes that `other` knows of.
  void merge(const Record& other);

  RecordView view() const;

  /// Never written here, or reclaimed.
  bool empty() const;

  /// Erased and not written since: every field is absent and has a version.
  bool tombstone() const;

  /// Forgets everything, versions included: what reclaiming a tombstone does.
  void clear() { *this = Record(); }

  const FieldState& field(std::size_t index) const { return fields_[index]; }
  std::size_t incrementCount() const { return increments_.size(); }

  void addTo(StateHash& hash) const;
  friend bool operator==(const Record&, const Record&) = default;

 private:
  bool mergeBase(std::uint8_t field, const FieldState& incoming, bool byArrival);
  bool mergeIncrement(const Increment& incoming, bool byArrival);

  std::array<FieldState, obs::kRecordFields> fields_{};
  boost::container::small_vector<Increment, 2> increments_;  // sorted by (field, version), all counting
};

}  // namespace holdfast::protocol
