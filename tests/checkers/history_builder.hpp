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
  Story& at(Duration t) {
    EXPECT_GE(t.ns, now_.ns) << "a story is told in order";
    now_ = {t.ns};
    return *this;
  }
  TrueInstant now() const { return now_; }
  Story& tell(NodeId node, const obs::Observation& what) {
    checkers_.on(obs::Stamped{now_, node, what});
    return *this;
  }
  /// From now on the clock of `node` reads `local` and gains `ppb` parts per billion.
  Story& clock(NodeId node, Duration local, std::int64_t ppb = 0) {
    const obs::ClockRate rate{{local.ns}, ppb};
    clocks_[node].set(now_, rate);
    return tell(node, rate);
  }
  MonotonicInstant local(NodeId node) { return clocks_[node].at(now_); }

  // ---- Callers

  Story& ask(NodeId node, std::uint32_t call, KeyId key = K, Duration wait = 30_s, Duration lease = 10_s) {
    return tell(node, obs::LockRequested{{call}, key, wait, lease});
  }
  /// Admits a call for `lease` on the clock of `node`.
  Story& admit(NodeId node, std::uint32_t call, Path path = Path::cached, KeyId key = K,
               Duration lease = 10_s, bool hold = false) {
    return tell(node, obs::Admitted{{call}, key, token_, path, hold, local(node) + lease});
  }
  Story& lock(NodeId node, std::uint32_t call, Path path = Path::cached, KeyId key = K,
              Duration lease = 10_s) {
    return ask(node, call, key, 30_s, lease).admit(node, call, path, key, lease);
  }
  Story& reenter(NodeId node, std::uint32_t call, Duration lease, KeyId key = K) {
    return tell(node, obs::Reentered{{call}, key, false, local(node) + lease});
  }
  Story& refuse(NodeId node, std::uint32_t call, ErrorClass error, Cause cause, KeyId key = K) {
    return tell(node, obs::LockRefused{{call}, key, error, cause});
  }
  Story& unlock(NodeId node, std::uint32_t call, KeyId key = K) {
    return tell(node, obs::Unlocked{{call}, key});
  }
  Story& revoke(NodeId node, std::uint32_t call, KeyId key = K, bool unlocked = false) {
    return tell(node, obs::Revoked{{call}, key, unlocked});
  }

  // ---- Writes

  /// Stages a write; its timestamp is true time unless a stamp is given. `call` 0: unlocked.
  Story& stage(NodeId node, std::uint32_t txn, std::uint32_t call, WriteOp op, FieldMask fields,
               FieldValues values, KeyId key = K) {
    const bool whole = op == WriteOp::put || op == WriteOp::erase;
    const obs::Staged staged{{txn},
                             {call},
                             key,
                             op,
                             whole ? obs::kAllFields : fields,
                             callerStamp_,
                             stamped_ ? stamp_ : Timestamp{now_.ns},
                             values};
    stamped_ = false;
    callerStamp_ = false;
    writes_[txn].push_back(staged);
    return tell(node, staged);
  }
  /// The next write carries this timestamp, from the wall clock.
  Story& stamped(Duration stamp) {
    stamped_ = true;
    stamp_ = {stamp.ns};
    return *this;
  }
  /// The next write carries this timestamp, given by its caller.
  Story& stampedByCaller(Duration stamp) {
    callerStamp_ = true;
    return stamped(stamp);
  }
  Story& put(NodeId node, std::uint32_t txn, std::uint32_t call, std::int64_t value, KeyId key = K) {
    return stage(node, txn, call, WriteOp::put, obs::kAllFields, {value, 0, 0, 0}, key);
  }
  Story& patch(NodeId node, std::uint32_t txn, std::uint32_t call, unsigned field, std::int64_t value,
               KeyId key = K) {
    FieldValues values{};
    values[field] = value;
    return stage(node, txn, call, WriteOp::patch, static_cast<FieldMask>(1U << field), values, key);
  }
  Story& increment(NodeId node, std::uint32_t txn, std::uint32_t call, std::int64_t by, KeyId key = K) {
    return stage(node, txn, call, WriteOp::increment, 1, {by, 0, 0, 0}, key);
  }
  Story& erase(NodeId node, std::uint32_t txn, std::uint32_t call, KeyId key = K) {
    return stage(node, txn, call, WriteOp::erase, obs::kAllFields, {}, key);
  }
  Story& submit(NodeId node, std::uint32_t txn, std::uint32_t attempt = 1) {
    for (const obs::Staged& write : writes_[txn]) {
      tell(node, obs::Submitted{{txn}, write.call, write.key, attempt});
    }
    return *this;
  }
  /// Commits at the next position of the node's log.
  Story& settle(NodeId node, std::uint32_t txn, bool recovered = false) {
    positions_[txn] = ++heads_[node];
    return tell(node, obs::Settled{{txn}, true, recovered, positions_[txn]});
  }
  Story& abort(NodeId node, std::uint32_t txn) { return tell(node, obs::Settled{{txn}, false, false, 0}); }
  Story& commit(NodeId node, std::uint32_t txn) { return submit(node, txn).settle(node, txn); }
  Story& refuseWrite(NodeId node, std::uint32_t txn, std::uint32_t call, Cause cause, KeyId key = K) {
    return tell(node, obs::WriteRefused{{txn}, {call}, key, ErrorClass::conflict409, cause});
  }

  // ---- Replicas

  obs::Position head(NodeId origin) { return heads_[origin]; }
  obs::Position positionOf(std::uint32_t txn) { return positions_[txn]; }
  /// `node` applies the log of `origin` up to its end, or up to `position`.
  Story& apply(NodeId node, NodeId origin, obs::Position position = 0) {
    obs::Position& done = applied_[{node, origin}];
    const obs::Position to = position == 0 ? heads_[origin] : position;
    while (done < to) tell(node, obs::Applied{origin, ++done, false});
    return *this;
  }
  Story& fail(NodeId node, NodeId origin) {
    return tell(node, obs::Applied{origin, ++applied_[{node, origin}], true});
  }
  Story& repair(NodeId node, NodeId origin, obs::Position position) {
    return tell(node, obs::HoleRepaired{origin, position});
  }

  /// The record as the last write of `txn` to `key` leaves it.
  Content contentOf(std::uint32_t txn, KeyId key = K) {
    Content content;
    for (const obs::Staged& write : writes_[txn]) {
      if (write.key != key || write.op == WriteOp::erase) continue;
      for (unsigned field = 0; field < obs::kRecordFields; ++field) {
        if ((write.fields >> field & 1U) != 0) content = content.with(field, txn, write.values[field]);
      }
    }
    return content;
  }
  Story& read(NodeId node, std::uint32_t call, const Content& content, KeyId key = K) {
    return tell(node, obs::Read{{call}, key, content.present, content.writers, content.values});
  }
  Story& reads(NodeId node, std::uint32_t call, std::uint32_t txn, KeyId key = K) {
    return read(node, call, contentOf(txn, key), key);
  }
  Story& ends(NodeId node, const Content& content, KeyId key = K) {
    return tell(node, obs::FinalRecord{key, content.present, content.writers, content.values});
  }
  Story& endsWith(NodeId node, std::uint32_t txn, KeyId key = K) {
    return ends(node, contentOf(txn, key), key);
  }

  // ---- Home and delegates. The home is D unless said otherwise.

  Story& grant(NodeId to, Path path, KeyId key = K, NodeId home = D, bool renewal = false) {
    token_ = {1, incarnation_, ++counter_};
    return tell(home, obs::Granted{key, to, token_, path, renewal, 60_s});
  }
  Story& nextIncarnation() {
    ++incarnation_;
    counter_ = 0;
    return *this;
  }
  /// The holder's release: an entry in its own log, met by the home.
  Story& release(NodeId holder, KeyId key = K, NodeId home = D) {
    return appendRelease(holder, key).tell(home, obs::ReleaseSeen{key, holder, token_, true});
  }
  Story& appendRelease(NodeId holder, KeyId key = K) {
    return tell(holder, obs::ControlAppended{EntryKind::release, key, token_, 0, ++heads_[holder]});
  }
  Story& expire(NodeId holder, KeyId key = K, NodeId home = D) {
    return tell(home, obs::GrantExpired{key, holder, token_})
        .tell(home, obs::LineageLost{key, obs::LineageLoss::expired});
  }
  Token token() const { return token_; }

  // ---- Recovery

  Story& startBarrier(NodeId acquirer, std::uint64_t nonce, std::initializer_list<KeyId> keys = {K}) {
    tell(acquirer, obs::BarrierStarted{nonce, static_cast<std::uint32_t>(keys.size()), 3});
    for (const KeyId key : keys) tell(acquirer, obs::RecoveryJoined{key, nonce});
    return *this;
  }
  /// `member` appends its barrier entry and the acquirer learns of it, a millisecond apart.
  Story& measure(NodeId acquirer, std::uint64_t nonce, NodeId member) {
    const obs::Position position = ++heads_[member];
    tell(member, obs::ControlAppended{EntryKind::barrier, KeyId::none(), {}, nonce, position});
    at({now_.ns + 1'000'000});
    return tell(acquirer, obs::BarrierMeasured{nonce, member, position});
  }
  Story& skip(NodeId acquirer, std::uint64_t nonce, NodeId member) {
    return tell(acquirer, obs::BarrierSkipped{nonce, member});
  }
  Story& barrierDone(NodeId acquirer, std::uint64_t nonce, bool satisfied = true) {
    return tell(acquirer, obs::BarrierDone{nonce, satisfied});
  }

  // ---- Nodes

  Story& crash(NodeId node) { return tell(node, obs::NodeCrashed{0}); }
  Story& restart(NodeId node, std::uint32_t start = 2) { return tell(node, obs::NodeStarted{start}); }
  Story& cut(NodeId from, NodeId to) { return tell(from, obs::LinkCut{to}).tell(to, obs::LinkCut{from}); }
  Story& heal(NodeId from, NodeId to) {
    return tell(from, obs::LinkHealed{to}).tell(to, obs::LinkHealed{from});
  }
  Story& phase(Phase phase) { return tell(A, obs::PhaseChanged{phase}); }
  Story& send(NodeId from, NodeId to, MessageKind kind, KeyId key = K) {
    return tell(from, obs::MessageSent{++messages_, to, kind, key});
  }

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
  std::string told() const {
    std::string text;
    for (const Finding& finding : findings().violations()) text += "\n  " + describe(finding);
    for (const Finding& finding : findings().limitations()) text += "\n  (" + describe(finding) + ")";
    return text.empty() ? " nothing" : text;
  }

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
inline void expectHeld(Story& story) {
  story.finish();
  EXPECT_EQ(story.findings().count(Severity::safety), 0U) << story.told();
  EXPECT_EQ(story.findings().count(Severity::liveness), 0U) << story.told();
  EXPECT_EQ(story.checkers().verdict(), Verdict::held);
  EXPECT_EQ(story.checkers().malformed(), 0U);
}

/// Expects that all violations are by `checker`, and returns the first one of this kind.
inline Finding expectViolation(Story& story, Checker checker, Anomaly anomaly) {
  story.finish();
  const Finding* found = story.findings().first(anomaly);
  EXPECT_NE(found, nullptr) << "expected " << obs::nameOf(anomaly) << ", found" << story.told();
  if (found == nullptr) return {};
  EXPECT_EQ(found->checker, checker) << describe(*found);
  EXPECT_NE(found->severity, Severity::limitation);
  EXPECT_EQ(found->route, Route::none);
  EXPECT_FALSE(describe(*found).empty());
  const std::uint64_t violations =
      story.findings().count(Severity::safety) + story.findings().count(Severity::liveness);
  EXPECT_EQ(story.findings().count(checker), violations) << story.told();
  EXPECT_EQ(story.checkers().verdict(),
            found->severity == Severity::safety ? Verdict::safetyViolation : Verdict::livenessViolation);
  return *found;
}

/// Expects no violation, and that the limitation was reached by this kind of damage.
inline Finding expectLimitation(Story& story, Route route, Anomaly anomaly) {
  story.finish();
  EXPECT_EQ(story.findings().count(Severity::safety), 0U) << story.told();
  EXPECT_EQ(story.findings().count(Severity::liveness), 0U) << story.told();
  const Finding* found = story.findings().first(route, anomaly);
  EXPECT_NE(found, nullptr) << "expected " << obs::nameOf(route) << " by " << obs::nameOf(anomaly)
                            << ", found" << story.told();
  if (found == nullptr) return {};
  EXPECT_EQ(found->severity, Severity::limitation);
  EXPECT_EQ(story.checkers().verdict(), Verdict::held);
  return *found;
}

}  // namespace holdfast::checkers::testing
