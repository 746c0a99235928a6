// Serial equivalence: each key's critical sections behave as if run one after the other in the order of their
// admissions, judged field by field on every value read, staged and left at the end.
//
// A read inside a section must show, for each field, the write of the latest earlier section that decided it
// (or the section's own), unless an unlocked write resolved above it: unlocked writes are never gated (LH-5).
// What differs is attributed: the write is not applied here -> the route that Lineage finds (L-2a, L-2b,
// L-2c); it is applied but an earlier section's write outranks it -> L-1b if a caller gave the timestamp,
// L-1a if the timestamps contradict the order in which the two were staged; otherwise it is a violation. The
// final records are judged likewise, and an update computed from a stale read is reported with the value
// that stood, the value read and the value written.
//
// Every value shown must be the one its writer staged; no write of a refused or aborted transaction may show
// anywhere; a committed transaction must have been submitted; a holder's stamps do not go back (LW-2). On
// fields that are ever incremented, values fold, so only the writer is judged.
#pragma once

#include <vector>

#include "checkers/context.hpp"

namespace holdfast::checkers {

class Serial {
 public:
  static constexpr Checker kChecker = Checker::serial;

  void on(const Stamp& stamp, const obs::Read& event, const Context& context);
  void on(const Stamp& stamp, const obs::Staged& event, const Context& context);
  void on(const Stamp& stamp, const obs::Settled& event, const Context& context);
  void on(const Stamp& stamp, const obs::WriteRefused& event, const Context& context);
  void on(const Stamp& stamp, const obs::FinalRecord& event, const Context& context);

 private:
  /// A content of a record, as read or as left at the end.
  struct Content {
    KeyId key;
    obs::FieldMask present = 0;
    const std::array<TxnId, obs::kRecordFields>& writers;
    const obs::FieldValues& values;
  };
  /// The locked committed write of the latest section that decided a field.
  struct Latest {
    std::uint32_t write = kNothing;
    std::uint32_t rank = 0;
  };
  struct KeySerial {
    std::array<Latest, obs::kRecordFields> latest{};
    obs::FieldMask counted = 0;                               // ever incremented
    obs::FieldMask wildAbsent = 0;                            // an unlocked write may have removed the value
    boost::container::small_vector<std::uint32_t, 2> erases;  // locked ones
  };
  struct Section {
    bool read = false;
    bool stamped = false;
    obs::Timestamp floor;
    std::uint32_t stale = kNothing;  // into stale_
    TxnId committed;
    std::array<TxnId, obs::kRecordFields> writers{};
    obs::FieldValues values{};
  };
  /// A section's read that missed a write.
  struct StaleRead {
    Finding finding;
    unsigned field = 0;
  };
  enum class Relation : std::uint8_t { fine, hidden, outranked, broken };

  void judgeProvenance(const Stamp& stamp, const Content& content, CallId call, const Context& context);
  void judgeWriter(const Stamp& stamp, const Content& content, unsigned field, CallId call,
                   const Context& context);
  Relation relate(NodeId node, const Content& content, unsigned field, const Context& context,
                  const Write*& shown) const;
  void judgeRead(const Stamp& stamp, const Content& content, CallId call, const Context& context);
  void reportDerived(const Stamp& stamp, Section& section, const Write& write, const Context& context) const;
  void judgeLate(const Stamp& stamp, const Txn& txn, TxnId id, const Write& write, const Context& context);
  Finding outranked(const Stamp& stamp, KeyId key, unsigned field, const Write* shown, const Write& expected,
                    Relation relation, const Context& context) const;

  FlatTable<KeySerial> keys_;
  FlatTable<Section> sections_;
  FlatTable<std::uint8_t> shown_;  // by transaction: some replica has shown a write of it
  std::vector<StaleRead> stale_;
};

}  // namespace holdfast::checkers
