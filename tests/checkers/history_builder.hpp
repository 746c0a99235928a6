// Hand-made histories that read as stories: who does what, when.
//
// A Story feeds a CheckerSet with the observations that a cluster would make. It keeps the books that a
// cluster keeps by itself: the log position of each origin, the tokens of the one home, what a transaction
// staged, and the reading of each node's clock. Nothing is judged here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "checkers/checker_set.hpp"

namespace holdfast::checkers::testing {

using obs::Cause;
using obs::EntryKind;
using obs::ErrorClass;
using obs::FieldMask;
using obs::FieldValues;
using obs::MessageKind;
using obs::MonotonicInstant;
using obs::Path;
using obs::Phase;
using obs::Timestamp;
using obs::Token;
using obs::WriteOp;
using sim::milliseconds;
using sim::nanoseconds;
using sim::seconds;

inline constexpr NodeId A{0}, B{1}, C{2}, D{3};
inline constexpr KeyId K{0}, K2{1};

constexpr Duration operator""_s(unsigned long long n) { return seconds(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_ms(unsigned long long n) { return milliseconds(static_cast<std::int64_t>(n)); }
constexpr Duration operator""_ns(unsigned long long n) { return nanoseconds(static_cast<std::int64_t>(n)); }

/// What a replica shows of a record.
struct Content {
  FieldMask present = 0;
  std::array<TxnId, obs::kRecordFields> writers{};
  FieldValues values{};

  Content with(unsigned field, std::uint32_t txn, std::int64_t value) const {
    Content changed = *this;
    changed.present = static_cast<FieldMask>(changed.present | 1U << field);
    changed.writers[field] = {txn};
    changed.values[field] = value;
    return changed;
  }
};

class Story {
 public:
  explicit Story(CheckerOptions options = {}) : checkers_(options) {}

  // ---- Time

  /// The next observations are made at `t` after the start.
  Story& at(Duration t);
  TrueInstant now() const { return now_; }
  template <class Event>
  Story& tell(NodeId node, const Event& what) {
    if constexpr (std::is_same_v<Event, obs::Observation>) {
      checkers_.on(obs::Stamped{now_, node, what});
    } else {
      checkers_.on(Stamp{now_, node}, what);
    }
    return *this;
  }
  /// From now on the clock of `node` reads `local` and gains `ppb` parts per billion.
  Story& clock(NodeId node, Duration local, std::int64_t ppb = 0);
  MonotonicInstant local(NodeId node);

  // ---- Callers

  Story& ask(NodeId node, std::uint32_t call, KeyId key = K, Duration wait = 30_s, Duration lease = 10_s);
  /// Admits a call for `lease` on the clock of `node`.
  Story& admit(NodeId node, std::uint32_t call, Path path = Path::cached, KeyId key = K,
               Duration lease = 10_s, bool hold = false);
  Story& lock(NodeId node, std::uint32_t call, Path path = Path::cached, KeyId key = K,
              Duration lease = 10_s);
  /// The call enters `handle` again, by default its own.
  Story& reenter(NodeId node, std::uint32_t call, Duration lease, KeyId key = K, std::uint32_t handle = 0);
  Story& refuse(NodeId node, std::uint32_t call, ErrorClass error, Cause cause, KeyId key = K);
  Story& unlock(NodeId node, std::uint32_t call, KeyId key = K);
  Story& revoke(NodeId node, std::uint32_t call, KeyId key = K, bool unlocked = false);

  // ---- Writes

  /// Stages a write; its timestamp is true time unless a stamp is given. `call` 0: unlocked.
  Story& stage(NodeId node, std::uint32_t txn, std::uint32_t call, WriteOp op, FieldMask fields,
               FieldValues values, KeyId key = K);
  /// The next write carries this timestamp, from the wall clock.
  Story& stamped(Duration stamp);
  /// The next write carries this timestamp, given by its caller.
  Story& stampedByCaller(Duration stamp);
  Story& put(NodeId node, std::uint32_t txn, std::uint32_t call, std::int64_t value, KeyId key = K);
  Story& patch(NodeId node, std::uint32_t txn, std::uint32_t call, unsigned field, std::int64_t value,
               KeyId key = K);
  Story& increment(NodeId node, std::uint32_t txn, std::uint32_t call, std::int64_t by, KeyId key = K);
  Story& erase(NodeId node, std::uint32_t txn, std::uint32_t call, KeyId key = K);
  Story& submit(NodeId node, std::uint32_t txn, std::uint32_t attempt = 1);
  /// Commits at the next position of the node's log.
  Story& settle(NodeId node, std::uint32_t txn, bool recovered = false);
  Story& abort(NodeId node, std::uint32_t txn);
  Story& commit(NodeId node, std::uint32_t txn);
  Story& refuseWrite(NodeId node, std::uint32_t txn, std::uint32_t call, Cause cause, KeyId key = K);

  // ---- Replicas

  obs::Position head(NodeId origin);
  obs::Position positionOf(std::uint32_t txn);
  /// `node` applies the log of `origin` up to its end, or up to `position`.
  Story& apply(NodeId node, NodeId origin, obs::Position position = 0);
  Story& fail(NodeId node, NodeId origin);
  Story& repair(NodeId node, NodeId origin, obs::Position position);

  /// The record as the last write of `txn` to `key` leaves it.
  Content contentOf(std::uint32_t txn, KeyId key = K);
  Story& read(NodeId node, std::uint32_t call, const Content& content, KeyId key = K);
  Story& reads(NodeId node, std::uint32_t call, std::uint32_t txn, KeyId key = K);
  Story& ends(NodeId node, const Content& content, KeyId key = K);
  Story& endsWith(NodeId node, std::uint32_t txn, KeyId key = K);

  // ---- Home and delegates. The home is D unless said otherwise.

  Story& grant(NodeId to, Path path, KeyId key = K, NodeId home = D, bool renewal = false);
  Story& nextIncarnation();
  /// The holder's release: an entry in its own log, met by the home.
  Story& release(NodeId holder, KeyId key = K, NodeId home = D);
  Story& appendRelease(NodeId holder, KeyId key = K);
  Story& expire(NodeId holder, KeyId key = K, NodeId home = D);
  Token token() const;

  // ---- Recovery

  Story& startBarrier(NodeId acquirer, std::uint64_t nonce, std::initializer_list<KeyId> keys = {K});
  /// `member` appends its barrier entry and the acquirer learns of it, a millisecond apart.
  Story& measure(NodeId acquirer, std::uint64_t nonce, NodeId member);
  Story& skip(NodeId acquirer, std::uint64_t nonce, NodeId member);
  /// The request of the barrier that `acquirer` has just started reaches `member`.
  Story& askForBarrier(NodeId acquirer, NodeId member);
  /// `member` appends its entry and sends its answer, which has yet to arrive.
  Story& answerBarrier(NodeId acquirer, std::uint64_t nonce, NodeId member);
  Story& barrierDone(NodeId acquirer, std::uint64_t nonce, bool satisfied = true);

  // ---- Nodes

  Story& crash(NodeId node);
  Story& restart(NodeId node, std::uint32_t start = 2);
  Story& cut(NodeId from, NodeId to);
  Story& heal(NodeId from, NodeId to);
  Story& phase(Phase phase);
  Story& send(NodeId from, NodeId to, MessageKind kind, KeyId key = K);
  /// What was sent last arrives, or is lost.
  Story& deliver(NodeId from, NodeId to, MessageKind kind);
  Story& lose(NodeId from, NodeId to, MessageKind kind);
  Story& pause(NodeId node);
  Story& resume(NodeId node);

  // ---- The verdict

  /// Ends the run now and returns what was found.
  const Findings& finish() {
    if (!finished_) checkers_.finish(now_);
    finished_ = true;
    return checkers_.findings();
  }
  CheckerSet& checkers() { return checkers_; }
  const Findings& findings() const { return checkers_.findings(); }

  /// All violations and limitations as text, for failure messages.
  std::string told() const;

 private:
  CheckerSet checkers_;
  TrueInstant now_;
  std::map<NodeId, NodeClock> clocks_;
  std::map<std::uint32_t, std::vector<obs::Staged>> writes_;
  std::map<std::uint32_t, obs::Position> positions_;
  std::map<NodeId, obs::Position> heads_;
  std::map<std::pair<NodeId, NodeId>, obs::Position> applied_;
  Token token_{1, 1, 1};
  std::uint32_t incarnation_ = 1;
  std::uint64_t counter_ = 1;
  std::uint64_t messages_ = 0;
  Timestamp stamp_;
  bool stamped_ = false;
  bool callerStamp_ = false;
  bool finished_ = false;
};

/// Expects no violation at all.
void expectHeld(Story& story);

/// Expects that all violations are by `checker`, and returns the first one of this kind.
Finding expectViolation(Story& story, Checker checker, Anomaly anomaly);

/// Expects no violation, and that the limitation was reached by this kind of damage.
Finding expectLimitation(Story& story, Route route, Anomaly anomaly);

}  // namespace holdfast::checkers::testing
