// What a node appends to its own transaction log and replicates to every peer (LW-1, FR-1, FR-8, RA-1).
#pragma once

#include <boost/container/small_vector.hpp>
#include <variant>

#include "observations/types.hpp"
#include "protocol/dependency_set.hpp"

namespace holdfast::protocol {

using obs::EntryKind;
using obs::FieldMask;
using obs::FieldValues;
using obs::Timestamp;
using obs::Token;
using obs::TxnId;
using obs::WriteOp;
using sim::Duration;
using sim::KeyId;
using sim::MonotonicInstant;
using sim::WallInstant;

/// One write of a transaction. `fields` names the fields it touches: all of them for put and erase. `fence`
/// is 0 but without LW3_OneOrder, where it orders locked writes as their tokens do.
struct Write {
  KeyId key;
  WriteOp op = WriteOp::put;
  FieldMask fields = obs::kAllFields;
  std::uint16_t fence = 0;
  Timestamp stamp;
  FieldValues values{};
  friend bool operator==(const Write&, const Write&) = default;
};
BOOST_DESCRIBE_STRUCT(Write, (), (key, op, fields, fence, stamp, values))

using Writes = boost::container::small_vector<Write, 1>;

struct TransactionEntry {
  TxnId txn;
  Writes writes;
  friend bool operator==(const TransactionEntry&, const TransactionEntry&) = default;
};
BOOST_DESCRIBE_STRUCT(TransactionEntry, (), (txn, writes))

/// FR-1: LOCK_RELEASE. `holder` is what the entry claims; the home believes only the log's author (FR-4).
/// `form` is the wire version: kOldForm has no lineage, forms newer than kCurrentForm are ignored.
struct ReleaseEntry {
  static constexpr std::uint8_t kOldForm = 5;
  static constexpr std::uint8_t kCurrentForm = 6;

  KeyId key;
  NodeId holder;
  Token token;
  std::uint8_t form = kCurrentForm;
  DependencySet dependencies;
  friend bool operator==(const ReleaseEntry&, const ReleaseEntry&) = default;
};
BOOST_DESCRIBE_STRUCT(ReleaseEntry, (), (key, holder, token, form, dependencies))

/// FR-8: LOCK_BARRIER.
struct BarrierEntry {
  NodeId requester;
  std::uint64_t nonce = 0;
  friend bool operator==(const BarrierEntry&, const BarrierEntry&) = default;
};
BOOST_DESCRIBE_STRUCT(BarrierEntry, (), (requester, nonce))

/// RA-1: LOCK_REQUEST. The requester is the log's author; `stamp` is its tsR (RA-2).
struct RequestEntry {
  KeyId key;
  std::uint32_t stamp = 0;
  friend bool operator==(const RequestEntry&, const RequestEntry&) = default;
};
BOOST_DESCRIBE_STRUCT(RequestEntry, (), (key, stamp))

/// RA-3: LOCK_GRANT, the log's author's consent to one request. `held`: the author has held the key since it
/// saw the request, which tells the requester that it is not alone.
struct GrantEntry {
  KeyId key;
  NodeId requester;
  std::uint32_t stamp = 0;
  bool held = false;
  friend bool operator==(const GrantEntry&, const GrantEntry&) = default;
};
BOOST_DESCRIBE_STRUCT(GrantEntry, (), (key, requester, stamp, held))

/// The alternatives are in the order of obs::EntryKind.
using LogEntry = std::variant<TransactionEntry, ReleaseEntry, BarrierEntry, RequestEntry, GrantEntry>;

inline EntryKind kindOf(const LogEntry& entry) { return static_cast<EntryKind>(entry.index()); }

}  // namespace holdfast::protocol
