#include "checkers/convergence.hpp"

#include <algorithm>
#include <bit>
#include <tuple>

namespace holdfast::checkers {

namespace {

/// The first field in which the two differ, or kRecordFields.
unsigned differingField(const obs::FinalRecord& a, const obs::FinalRecord& b) {
  unsigned differing = static_cast<unsigned>(a.present ^ b.present) & obs::kAllFields;
  const unsigned inBoth = static_cast<unsigned>(a.present & b.present) & obs::kAllFields;
  for (unsigned field = 0; field < obs::kRecordFields; ++field) {
    const bool same = a.values[field] == b.values[field] && a.writers[field] == b.writers[field];
    if (!same) differing |= inBoth & 1U << field;
  }
  return differing == 0 ? obs::kRecordFields : static_cast<unsigned>(std::countr_zero(differing));
}

/// A write with its place in the total order of LW-3; writes of one origin with equal timestamps stand in log
/// order.
struct Versioned {
  std::tuple<obs::Timestamp, NodeId, Position, std::uint32_t> version;
  const Write* write = nullptr;
};

struct Folded {
  bool present = false;
  std::int64_t value = 0;
  TxnId writer;
};

/// The fold of those of `writes`, in ascending order of version, that show in `node`'s replica.
Folded fold(const std::vector<Versioned>& writes, unsigned field, NodeId node, const History& history) {
  Folded folded;
  for (const Versioned& one : writes) {
    const Write& write = *one.write;
    if ((write.touched() >> field & 1U) == 0 || !history.visible(node, history.txn(write.txn))) continue;
    if (write.op == obs::WriteOp::increment) {
      // Sums wrap around, so that they commute.
      folded.value = static_cast<std::int64_t>(static_cast<std::uint64_t>(folded.value) +
                                               static_cast<std::uint64_t>(write.values[field]));
      folded.present = true;
    } else {
      folded.present = (write.leavesPresent() >> field & 1U) != 0;
      folded.value = folded.present ? write.values[field] : 0;
    }
    folded.writer = folded.present ? write.txn : TxnId{};
  }
  return folded;
}

}  // namespace

void Convergence::on(const Stamp& stamp, const obs::Settled& event, const Context&) {
  if (!event.committed) return;
  Position& top = logTop_.at(stamp.node.value);
  top = std::max(top, event.position);
}

void Convergence::on(const Stamp& stamp, const obs::ControlAppended& event, const Context&) {
  Position& top = logTop_.at(stamp.node.value);
  top = std::max(top, event.position);
}

void Convergence::on(const Stamp& stamp, const obs::FinalRecord& event, const Context&) {
  finals_.push_back({stamp.node, event});
}

NodeId Convergence::behindOn(NodeId node, const History& history, bool& hole) const {
  hole = false;
  NodeId behind;
  const auto origins = static_cast<std::uint16_t>(logTop_.size());
  for (std::uint16_t i = 0; i < origins; ++i) {
    if (NodeId{i} == node || logTop_[i] == 0) continue;
    const ReplicaView& view = history.replica(node, {i});
    if (view.hasHoles()) hole = true;
    if (!behind.valid() && !view.showsAllUpTo(logTop_[i])) behind = {i};
  }
  return behind;
}

void Convergence::finish(TrueInstant at, const Context& context) {
  judgeAgreement(at, context);
  judgeResolution(at, context);
}

void Convergence::judgeAgreement(TrueInstant at, const Context& context) {
  const History& history = context.history;
  if (history.phased() && !(history.ended() && history.healedAt() != TrueInstant::never())) return;
  for (std::uint32_t i = 0; i < finals_.size(); ++i) {
    const Final& mine = finals_[i];
    if (!history.node(mine.node).up) continue;
    std::uint32_t& first = firstOfKey_.at(mine.record.key.value);
    if (first == 0) {
      first = i + 1;
      continue;
    }
    const Final& theirs = finals_[first - 1];
    const unsigned field = differingField(theirs.record, mine.record);
    if (field == obs::kRecordFields) continue;
    bool hole = false;
    bool otherHole = false;
    const NodeId behind = behindOn(mine.node, history, hole);
    const NodeId otherBehind = behindOn(theirs.node, history, otherHole);
    if (hole || otherHole || forgotErase(mine, field, context) || forgotErase(theirs, field, context)) {
      ++unjudged_;
      continue;
    }
    Finding finding;
    finding.checker = Checker::convergence;
    finding.anomaly = Anomaly::replicasDiffer;
    finding.at = at;
    finding.node = mine.node;
    finding.other = theirs.node;
    finding.key = mine.record.key;
    finding.field = static_cast<std::uint8_t>(field);
    finding.txn = mine.record.writers[field];
    finding.otherTxn = theirs.record.writers[field];
    finding.observed = mine.record.values[field];
    finding.expected = theirs.record.values[field];
    if (behind.valid() || otherBehind.valid()) {
      const NodeId late = behind.valid() ? mine.node : theirs.node;
      const NodeId origin = behind.valid() ? behind : otherBehind;
      finding.severity = Severity::liveness;
      finding.anomaly = Anomaly::replicationBehind;
      finding.node = late;
      finding.other = origin;
      finding.expected = logTop_[origin.value];
      finding.observed = history.replica(late, origin).prefix();
    }
    context.findings.add(finding);
  }
}

bool Convergence::forgotErase(const Final& final, unsigned field, const Context& context) {
  return context.history.showsForgottenErase(final.node, final.record.key, field, final.record.writers[field],
                                             context.options.tombstoneRetention);
}

void Convergence::judgeResolution(TrueInstant at, const Context& context) const {
  const History& history = context.history;
  std::vector<std::vector<Versioned>> byKey(history.keys());
  for (std::uint32_t id = 1; id < history.txns(); ++id) {
    const Txn& txn = history.txn({id});
    std::uint32_t ordinal = 0;
    for (std::uint32_t i = txn.firstWrite; i != kNothing; i = history.write(i).nextOfTxn) {
      const Write& write = history.write(i);
      byKey[write.key.value].push_back({{write.stamp, txn.node, txn.position, ordinal++}, &write});
    }
  }
  for (std::vector<Versioned>& writes : byKey) {
    std::sort(writes.begin(), writes.end(),
              [](const Versioned& a, const Versioned& b) { return a.version < b.version; });
  }
  for (const Final& final : finals_) {
    const KeyId key = final.record.key;
    if (key.value >= byKey.size() || history.reclaimed(key, final.node)) continue;
    const std::vector<Versioned>& writes = byKey[key.value];
    for (unsigned field = 0; field < obs::kRecordFields; ++field) {
      const Folded expected = fold(writes, field, final.node, history);
      const bool present = (final.record.present >> field & 1U) != 0;
      const bool same =
          present == expected.present && (!present || (final.record.values[field] == expected.value &&
                                                       final.record.writers[field] == expected.writer));
      // A record that was there before the run has no writer and is no business of ours.
      if (same || (!expected.writer.valid() && !final.record.writers[field].valid())) continue;
      Finding finding;
      finding.checker = Checker::convergence;
      finding.anomaly = Anomaly::wrongResolution;
      finding.at = at;
      finding.node = final.node;
      finding.key = key;
      finding.field = static_cast<std::uint8_t>(field);
      finding.txn = expected.writer;
      finding.otherTxn = final.record.writers[field];
      finding.expected = expected.value;
      finding.observed = final.record.values[field];
      context.findings.add(finding);
      break;
    }
  }
}

}  // namespace holdfast::checkers
