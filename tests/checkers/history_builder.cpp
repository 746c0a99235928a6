#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {

Story& Story::at(Duration t) {
  EXPECT_GE(t.ns, now_.ns) << "a story is told in order";
  now_ = {t.ns};
  return *this;
}

Story& Story::clock(NodeId node, Duration local, std::int64_t ppb) {
  const obs::ClockRate rate{{local.ns}, ppb};
  clocks_[node].set(now_, rate);
  return tell(node, rate);
}

MonotonicInstant Story::local(NodeId node) { return clocks_[node].at(now_); }

Story& Story::ask(NodeId node, std::uint32_t call, KeyId key, Duration wait, Duration lease) {
  return tell(node, obs::LockRequested{{call}, key, wait, lease});
}

Story& Story::admit(NodeId node, std::uint32_t call, Path path, KeyId key, Duration lease, bool hold) {
  return tell(node, obs::Admitted{{call}, key, token_, path, hold, local(node) + lease});
}

Story& Story::lock(NodeId node, std::uint32_t call, Path path, KeyId key, Duration lease) {
  return ask(node, call, key, 30_s, lease).admit(node, call, path, key, lease);
}

Story& Story::reenter(NodeId node, std::uint32_t call, Duration lease, KeyId key, std::uint32_t handle) {
  return tell(node, obs::Reentered{{call}, key, false, local(node) + lease, {handle == 0 ? call : handle}});
}

Story& Story::refuse(NodeId node, std::uint32_t call, ErrorClass error, Cause cause, KeyId key) {
  return tell(node, obs::LockRefused{{call}, key, error, cause});
}

Story& Story::unlock(NodeId node, std::uint32_t call, KeyId key) {
  return tell(node, obs::Unlocked{{call}, key});
}

Story& Story::revoke(NodeId node, std::uint32_t call, KeyId key, bool unlocked) {
  return tell(node, obs::Revoked{{call}, key, unlocked});
}

Story& Story::stage(NodeId node, std::uint32_t txn, std::uint32_t call, WriteOp op, FieldMask fields,
                    FieldValues values, KeyId key) {
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

Story& Story::stamped(Duration stamp) {
  stamped_ = true;
  stamp_ = {stamp.ns};
  return *this;
}

Story& Story::stampedByCaller(Duration stamp) {
  callerStamp_ = true;
  return stamped(stamp);
}

Story& Story::put(NodeId node, std::uint32_t txn, std::uint32_t call, std::int64_t value, KeyId key) {
  return stage(node, txn, call, WriteOp::put, obs::kAllFields, {value, 0, 0, 0}, key);
}

Story& Story::patch(NodeId node, std::uint32_t txn, std::uint32_t call, unsigned field, std::int64_t value,
                    KeyId key) {
  FieldValues values{};
  values[field] = value;
  return stage(node, txn, call, WriteOp::patch, static_cast<FieldMask>(1U << field), values, key);
}

Story& Story::increment(NodeId node, std::uint32_t txn, std::uint32_t call, std::int64_t by, KeyId key) {
  return stage(node, txn, call, WriteOp::increment, 1, {by, 0, 0, 0}, key);
}

Story& Story::erase(NodeId node, std::uint32_t txn, std::uint32_t call, KeyId key) {
  return stage(node, txn, call, WriteOp::erase, obs::kAllFields, {}, key);
}

Story& Story::submit(NodeId node, std::uint32_t txn, std::uint32_t attempt) {
  for (const obs::Staged& write : writes_[txn]) {
    tell(node, obs::Submitted{{txn}, write.call, write.key, attempt});
  }
  return *this;
}

Story& Story::settle(NodeId node, std::uint32_t txn, bool recovered) {
  positions_[txn] = ++heads_[node];
  return tell(node, obs::Settled{{txn}, true, recovered, positions_[txn]});
}

Story& Story::abort(NodeId node, std::uint32_t txn) {
  return tell(node, obs::Settled{{txn}, false, false, 0});
}

Story& Story::commit(NodeId node, std::uint32_t txn) { return submit(node, txn).settle(node, txn); }

Story& Story::refuseWrite(NodeId node, std::uint32_t txn, std::uint32_t call, Cause cause, KeyId key) {
  return tell(node, obs::WriteRefused{{txn}, {call}, key, ErrorClass::conflict409, cause});
}

obs::Position Story::head(NodeId origin) { return heads_[origin]; }

obs::Position Story::positionOf(std::uint32_t txn) { return positions_[txn]; }

Story& Story::apply(NodeId node, NodeId origin, obs::Position position) {
  obs::Position& done = applied_[{node, origin}];
  const obs::Position to = position == 0 ? heads_[origin] : position;
  while (done < to) tell(node, obs::Applied{origin, ++done, false});
  return *this;
}

Story& Story::fail(NodeId node, NodeId origin) {
  return tell(node, obs::Applied{origin, ++applied_[{node, origin}], true});
}

Story& Story::repair(NodeId node, NodeId origin, obs::Position position) {
  return tell(node, obs::HoleRepaired{origin, position});
}

Content Story::contentOf(std::uint32_t txn, KeyId key) {
  Content content;
  for (const obs::Staged& write : writes_[txn]) {
    if (write.key != key || write.op == WriteOp::erase) continue;
    for (unsigned field = 0; field < obs::kRecordFields; ++field) {
      if ((write.fields >> field & 1U) != 0) content = content.with(field, txn, write.values[field]);
    }
  }
  return content;
}

Story& Story::read(NodeId node, std::uint32_t call, const Content& content, KeyId key) {
  return tell(node, obs::Read{{call}, key, content.present, content.writers, content.values});
}

Story& Story::reads(NodeId node, std::uint32_t call, std::uint32_t txn, KeyId key) {
  return read(node, call, contentOf(txn, key), key);
}

Story& Story::ends(NodeId node, const Content& content, KeyId key) {
  return tell(node, obs::FinalRecord{key, content.present, content.writers, content.values});
}

Story& Story::endsWith(NodeId node, std::uint32_t txn, KeyId key) {
  return ends(node, contentOf(txn, key), key);
}

Story& Story::grant(NodeId to, Path path, KeyId key, NodeId home, bool renewal) {
  token_ = {1, incarnation_, ++counter_};
  return tell(home, obs::Granted{key, to, token_, path, renewal, 60_s});
}

Story& Story::nextIncarnation() {
  ++incarnation_;
  counter_ = 0;
  return *this;
}

Story& Story::release(NodeId holder, KeyId key, NodeId home) {
  return appendRelease(holder, key).tell(home, obs::ReleaseSeen{key, holder, token_, true});
}

Story& Story::appendRelease(NodeId holder, KeyId key) {
  return tell(holder, obs::ControlAppended{EntryKind::release, key, token_, 0, ++heads_[holder]});
}

Story& Story::expire(NodeId holder, KeyId key, NodeId home) {
  return tell(home, obs::GrantExpired{key, holder, token_})
      .tell(home, obs::LineageLost{key, obs::LineageLoss::expired});
}

Token Story::token() const { return token_; }

Story& Story::startBarrier(NodeId acquirer, std::uint64_t nonce, std::initializer_list<KeyId> keys) {
  tell(acquirer, obs::BarrierStarted{nonce, static_cast<std::uint32_t>(keys.size()), 3});
  for (const KeyId key : keys) tell(acquirer, obs::RecoveryJoined{key, nonce});
  return *this;
}

Story& Story::measure(NodeId acquirer, std::uint64_t nonce, NodeId member) {
  const obs::Position position = ++heads_[member];
  tell(member, obs::ControlAppended{EntryKind::barrier, KeyId::none(), {}, nonce, position});
  at({now_.ns + 1'000'000});
  return tell(acquirer, obs::BarrierMeasured{nonce, member, position});
}

Story& Story::skip(NodeId acquirer, std::uint64_t nonce, NodeId member) {
  return tell(acquirer, obs::BarrierSkipped{nonce, member});
}

Story& Story::barrierDone(NodeId acquirer, std::uint64_t nonce, bool satisfied) {
  return tell(acquirer, obs::BarrierDone{nonce, satisfied});
}

Story& Story::crash(NodeId node) { return tell(node, obs::NodeCrashed{0}); }

Story& Story::restart(NodeId node, std::uint32_t start) { return tell(node, obs::NodeStarted{start}); }

Story& Story::cut(NodeId from, NodeId to) {
  return tell(from, obs::LinkCut{to}).tell(to, obs::LinkCut{from});
}

Story& Story::heal(NodeId from, NodeId to) {
  return tell(from, obs::LinkHealed{to}).tell(to, obs::LinkHealed{from});
}

Story& Story::phase(Phase phase) { return tell(A, obs::PhaseChanged{phase}); }

Story& Story::send(NodeId from, NodeId to, MessageKind kind, KeyId key) {
  return tell(from, obs::MessageSent{++messages_, to, kind, key});
}

Story& Story::deliver(NodeId from, NodeId to, MessageKind kind) {
  return tell(to, obs::MessageDelivered{messages_, from, kind});
}

Story& Story::lose(NodeId from, NodeId to, MessageKind kind) {
  return tell(from, obs::MessageLost{messages_, to, kind, obs::LossReason::random});
}

Story& Story::pause(NodeId node) { return tell(node, obs::NodePaused{}); }

Story& Story::resume(NodeId node) { return tell(node, obs::NodeResumed{}); }

Story& Story::askForBarrier(NodeId acquirer, NodeId member) {
  send(acquirer, member, MessageKind::barrierRequest, KeyId::none());
  return deliver(acquirer, member, MessageKind::barrierRequest);
}

Story& Story::answerBarrier(NodeId acquirer, std::uint64_t nonce, NodeId member) {
  tell(member, obs::ControlAppended{EntryKind::barrier, KeyId::none(), {}, nonce, ++heads_[member]});
  return send(member, acquirer, MessageKind::barrierReply, KeyId::none());
}

std::string Story::told() const {
  std::string text;
  for (const Finding& finding : findings().violations()) text += "\n  " + describe(finding);
  for (const Finding& finding : findings().limitations()) text += "\n  (" + describe(finding) + ")";
  return text.empty() ? " nothing" : text;
}

void expectHeld(Story& story) {
  story.finish();
  EXPECT_EQ(story.findings().count(Severity::safety), 0U) << story.told();
  EXPECT_EQ(story.findings().count(Severity::liveness), 0U) << story.told();
  EXPECT_EQ(story.checkers().verdict(), Verdict::held);
  EXPECT_EQ(story.checkers().malformed(), 0U);
}

Finding expectViolation(Story& story, Checker checker, Anomaly anomaly) {
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

Finding expectLimitation(Story& story, Route route, Anomaly anomaly) {
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
