// The durable records of a node beside its log: what a Persist effect writes and a restart reads.
//
// A record is small, complete in itself and replaces the one before it of its kind; only certificates are
// kept one after another. What is not yet synced, or torn, is lost in a crash. A record that was durable and
// fails its checksum is never read as "nothing": the driver says `corrupted`, and the node starts as joining
// (EP-11).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "observations/reflect.hpp"
#include "protocol/membership/certificate.hpp"
#include "protocol/membership/home_map_record.hpp"

namespace holdfast::protocol {

/// TK-2: the coordination incarnation.
struct IncarnationRecord {
  std::uint32_t incarnation = 0;
};
BOOST_DESCRIBE_STRUCT(IncarnationRecord, (), (incarnation))

/// EP-2, EP-4: what an acceptor has promised and accepted for configuration `number`.
struct AcceptorRecord {
  MembershipNumber number = 0;
  Ballot promised;
  std::optional<AcceptedValue> accepted;
  friend bool operator==(const AcceptorRecord&, const AcceptorRecord&) = default;
};
BOOST_DESCRIBE_STRUCT(AcceptorRecord, (), (number, promised, accepted))

/// Kinds of records, in the order of DurableRecord; each is a file of its own.
enum class RecordKind : std::uint8_t { incarnation, acceptor, certificate, homeMap };
BOOST_DESCRIBE_ENUM(RecordKind, incarnation, acceptor, certificate, homeMap)

inline constexpr std::size_t kRecordKindCount = obs::kEnumeratorCount<RecordKind>;

using DurableRecord = std::variant<IncarnationRecord, AcceptorRecord, Certificate, HomeMapRecord>;

inline RecordKind kindOf(const DurableRecord& record) { return static_cast<RecordKind>(record.index()); }

/// The membership's part of a disk.
struct DurableMembership {
  /// The disk's serial number: the identity of the member whose records it holds. 0 for the disk that a node
  /// was first installed with; every replacement, also that of a disk with corrupted records, has a greater.
  std::uint32_t disk = 0;
  bool corrupted = false;  // records were found that fail their checksum
  /// EP-14: which start of the process this is. The driver's own: counted, or drawn at random, and never the
  /// same for two starts between which a message may be under way.
  std::uint64_t start = 0;
  AcceptorRecord acceptor;
  std::vector<Certificate> chain;  // installed configurations, in order
  HomeMapRecord homeMap;
};

/// Adds a record that has become durable. An IncarnationRecord is the caller's.
inline void store(DurableMembership& durable, const DurableRecord& record) {
  if (const auto* acceptor = std::get_if<AcceptorRecord>(&record)) {
    durable.acceptor = *acceptor;
  } else if (const auto* certificate = std::get_if<Certificate>(&record)) {
    std::erase_if(durable.chain, [&](const Certificate& c) { return c.number() >= certificate->number(); });
    durable.chain.push_back(*certificate);
  } else if (const auto* map = std::get_if<HomeMapRecord>(&record)) {
    durable.homeMap = *map;
  }
}

}  // namespace holdfast::protocol
