#include "checkers/serial.hpp"

#include "checkers/attribution.hpp"

namespace holdfast::checkers {

namespace {

Finding serialViolation(Anomaly anomaly, const Stamp& stamp, KeyId key, CallId call) {
  Finding finding;
  finding.checker = Checker::serial;
  finding.severity = Severity::safety;
  finding.anomaly = anomaly;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = key;
  finding.call = call;
  return finding;
}

constexpr bool has(obs::FieldMask mask, unsigned field) { return (mask >> field & 1U) != 0; }

std::int64_t valueOf(const Write& write, unsigned field) {
  return has(write.leavesPresent(), field) ? write.values[field] : 0;
}

}  // namespace

// ---- Who wrote what is shown ------------------------------------------------------------------------------

void Serial::judgeProvenance(const Stamp& stamp, const Content& content, CallId call,
                             const Context& context) {
  for (unsigned field = 0; field < obs::kRecordFields; ++field) {
    if (content.writers[field].valid()) judgeWriter(stamp, content, field, call, context);
  }
}

void Serial::judgeWriter(const Stamp& stamp, const Content& content, unsigned field, CallId call,
                         const Context& context) {
  const TxnId id = content.writers[field];
  const Txn& txn = context.history.txn(id);
  Finding finding = serialViolation(Anomaly::refusedWriteVisible, stamp, content.key, call);
  finding.field = static_cast<std::uint8_t>(field);
  finding.otherTxn = id;
  finding.other = txn.node;
  finding.observed = content.values[field];
  switch (txn.state) {
    case TxnState::refused:
    case TxnState::aborted:
      context.findings.add(finding);
      return;
    case TxnState::staged:
      finding.anomaly = Anomaly::committedWithoutSubmission;
      context.findings.add(finding);
      return;
    case TxnState::submitted:
      shown_.at(id.value) = 1;
      break;
    case TxnState::unknown:
    case TxnState::committed:
      break;
  }
  const Write* write = context.history.writeOf(id, content.key, field);
  const KeySerial& row = keys_.at(content.key.value);
  const bool present = has(content.present, field);
  bool plausible = write != nullptr;
  if (plausible && !has(row.counted, field)) {
    plausible = present ? has(write->leavesPresent(), field) && write->values[field] == content.values[field]
                        : !has(write->leavesPresent(), field);
  }
  if (plausible) return;
  finding.anomaly = Anomaly::strangeValue;
  finding.expected = write == nullptr ? 0 : valueOf(*write, field);
  context.findings.add(finding);
}

// ---- Order ------------------------------------------------------------------------------------------------

/// How what `node` shows of `field` relates to the latest section's write of it.
Serial::Relation Serial::relate(NodeId node, const Content& content, unsigned field, const Context& context,
                                const Write*& shown) const {
  const KeySerial& row = keys_[content.key.value];
  const Write& expected = context.history.write(row.latest[field].write);
  const TxnId writer = content.writers[field];
  shown = nullptr;
  if (writer == expected.txn) return Relation::fine;
  const Txn& expectedTxn = context.history.txn(expected.txn);
  const bool applied = context.history.visible(node, expectedTxn);
  if (!writer.valid()) {
    if (!has(content.present, field)) {
      if (!has(expected.leavesPresent(), field) || has(row.wildAbsent, field)) return Relation::fine;
    }
    if (!applied) return Relation::hidden;
    // An absent field names no writer: look for the earlier section's erase that may have won.
    for (const std::uint32_t i : row.erases) {
      const Write& erase = context.history.write(i);
      const Txn& eraser = context.history.txn(erase.txn);
      if (!context.history.visible(node, eraser)) continue;
      if (context.history.outranks(erase, expected)) {
        shown = &erase;
        return Relation::outranked;
      }
    }
    return Relation::broken;
  }
  shown = context.history.writeOf(writer, content.key, field);
  if (shown == nullptr) return Relation::fine;  // reported as a strange value
  if (shown->op == obs::WriteOp::increment) return Relation::fine;
  const bool wins = context.history.outranks(*shown, expected);
  // What an erase has removed is not there to outrank what was written after the erase was forgotten.
  const auto broken = [&] {
    return context.history.showsForgottenErase(node, content.key, field, writer,
                                               context.options.tombstoneRetention)
               ? Relation::fine
               : Relation::broken;
  };
  if (!shown->call.valid()) {
    // Two stamps of one origin may be equal, as after a pause; the order of its log decides between them
    // then.
    const bool loses = context.history.outranks(expected, *shown);
    if (!loses || has(row.counted, field)) return Relation::fine;
    return applied ? broken() : Relation::hidden;
  }
  if (context.history.call(shown->call).rank > row.latest[field].rank) return Relation::fine;
  if (!applied) return Relation::hidden;
  return wins ? Relation::outranked : broken();
}

Finding Serial::outranked(const Stamp& stamp, KeyId key, unsigned field, const Write* shown,
                          const Write& expected, Relation relation, const Context& context) const {
  Finding finding = serialViolation(Anomaly::outrankedWrite, stamp, key, {});
  finding.field = static_cast<std::uint8_t>(field);
  finding.txn = expected.txn;
  finding.call = expected.call;
  finding.expected = valueOf(expected, field);
  if (shown == nullptr) return finding;
  finding.otherTxn = shown->txn;
  finding.otherCall = shown->call;
  finding.other = context.history.txn(shown->txn).node;
  finding.observed = valueOf(*shown, field);
  const bool callerStamp = shown->callerStamp || expected.callerStamp;
  if (relation == Relation::outranked) {
    if (callerStamp) {
      finding.route = Route::l1b;
    } else if (shown->stagedAt < expected.stagedAt) {
      finding.route = Route::l1a;
    }
  }
  if (finding.route != Route::none) finding.severity = Severity::limitation;
  const NodeId expectedNode = context.history.txn(expected.txn).node;
  finding.because(shown->callerStamp ? Fact::callerStamp : Fact::stagedEarlier, finding.other,
                  shown->stagedAt, shown->stamp.ns);
  finding.because(expected.callerStamp ? Fact::callerStamp : Fact::stagedLater, expectedNode,
                  expected.stagedAt, expected.stamp.ns);
  return finding;
}

void Serial::judgeRead(const Stamp& stamp, const Content& content, CallId call, const Context& context) {
  const std::uint32_t rank = context.history.call(call).rank;
  bool reported = false;
  for (unsigned field = 0; field < obs::kRecordFields; ++field) {
    const Latest& latest = keys_[content.key.value].latest[field];
    if (latest.write == kNothing || latest.rank > rank) continue;
    const Write* shown = nullptr;
    const Relation relation = relate(stamp.node, content, field, context, shown);
    if (relation == Relation::fine) continue;
    const Write& expected = context.history.write(latest.write);
    if (relation != Relation::hidden) {
      Finding finding = outranked(stamp, content.key, field, shown, expected, relation, context);
      finding.call = call;
      finding.observed = content.values[field];
      context.findings.add(finding);
      continue;
    }
    if (reported) continue;
    reported = true;
    const Txn& missed = context.history.txn(expected.txn);
    const Excuse excuse = context.lineage.excuseFor(content.key, missed, context.history.call(expected.call));
    Finding finding = serialViolation(Anomaly::staleRead, stamp, content.key, call);
    finding.route = excuse.route;
    if (excuse.route != Route::none) finding.severity = Severity::limitation;
    finding.field = static_cast<std::uint8_t>(field);
    finding.other = missed.node;
    finding.otherCall = expected.call;
    finding.otherTxn = expected.txn;
    finding.expected = valueOf(expected, field);
    finding.observed = has(content.present, field) ? content.values[field] : 0;
    finding.because(Fact::settled, missed.node, missed.settledAt, missed.position);
    addExcuse(finding, excuse, context.lineage.barrierOf(content.key, stamp.node), missed.node);
    context.findings.add(finding);
    Section& section = sections_.at(call.value);
    if (section.stale == kNothing) {
      section.stale = static_cast<std::uint32_t>(stale_.size());
      stale_.push_back({finding, field});
    }
  }
}

void Serial::on(const Stamp& stamp, const obs::Read& event, const Context& context) {
  const Content content{event.key, event.present, event.writers, event.values};
  keys_.at(event.key.value);
  judgeProvenance(stamp, content, event.call, context);
  if (!event.call.valid()) return;
  const Call& reader = context.history.call(event.call);
  if (reader.key != event.key || reader.node != stamp.node ||
      !context.history.surelyInside(reader, stamp.at)) {
    return;
  }
  judgeRead(stamp, content, event.call, context);
  Section& section = sections_.at(event.call.value);
  section.read = true;
  section.writers = event.writers;
  section.values = event.values;
}

// ---- Writes -----------------------------------------------------------------------------------------------

void Serial::on(const Stamp& stamp, const obs::Staged& event, const Context& context) {
  KeySerial& row = keys_.at(event.key.value);
  if (event.op == obs::WriteOp::increment) row.counted |= event.fields;
  if (!event.call.valid()) {
    if (event.op == obs::WriteOp::erase) row.wildAbsent = obs::kAllFields;
    if (event.op == obs::WriteOp::put) {
      row.wildAbsent |= static_cast<obs::FieldMask>(obs::kAllFields & ~event.fields);
    }
    return;
  }
  if (event.op == obs::WriteOp::erase) {
    row.erases.push_back(static_cast<std::uint32_t>(context.history.writes() - 1));
  }
  if (event.callerStamp) return;
  Section& section = sections_.at(event.call.value);
  if (section.stamped && event.stamp < section.floor) {
    Finding finding = serialViolation(Anomaly::stampWentBack, stamp, event.key, event.call);
    finding.txn = event.txn;
    finding.expected = section.floor.ns;
    finding.observed = event.stamp.ns;
    context.findings.add(finding);
  } else {
    section.floor = event.stamp;
  }
  section.stamped = true;
}

void Serial::reportDerived(const Stamp& stamp, Section& section, const Write& write,
                           const Context& context) const {
  const StaleRead& stale = stale_[section.stale];
  if ((write.fields & obs::kAllFields) == 0 && write.op != obs::WriteOp::erase) return;
  Finding finding = stale.finding;
  finding.anomaly = Anomaly::derivedFromStaleRead;
  finding.at = stamp.at;
  finding.txn = write.txn;
  unsigned field = stale.field;
  if (!has(write.touched(), field)) {
    field = 0;
    while (field + 1 < obs::kRecordFields && !has(write.touched(), field)) ++field;
  }
  finding.written = valueOf(write, field);
  context.findings.add(finding);
}

void Serial::on(const Stamp& stamp, const obs::Settled& event, const Context& context) {
  const Txn& txn = context.history.txn(event.txn);
  if (txn.settlements != 1) return;
  Finding finding = serialViolation(Anomaly::refusedWriteVisible, stamp, {}, {});
  finding.txn = event.txn;
  if (!event.committed) {
    const std::uint8_t* shown = shown_.find(event.txn.value);
    if (shown != nullptr && *shown != 0) context.findings.add(finding);
    return;
  }
  if (txn.refusals > 0) context.findings.add(finding);
  if (txn.submissions == 0) {
    finding.anomaly = Anomaly::committedWithoutSubmission;
    context.findings.add(finding);
  }
  for (std::uint32_t i = txn.firstWrite; i != kNothing; i = context.history.write(i).nextOfTxn) {
    const Write& write = context.history.write(i);
    if (!write.call.valid()) continue;
    const std::uint32_t rank = context.history.call(write.call).rank;
    if (write.op != obs::WriteOp::increment) {
      KeySerial& row = keys_.at(write.key.value);
      for (unsigned field = 0; field < obs::kRecordFields; ++field) {
        Latest& latest = row.latest[field];
        // Of one section's writes the one staged last counts, in whatever order they settle.
        const bool later =
            latest.write == kNothing || rank > latest.rank || (rank == latest.rank && i > latest.write);
        if (has(write.touched(), field) && later) latest = {i, rank};
      }
    }
    Section& section = sections_.at(write.call.value);
    section.committed = event.txn;
    if (section.stale != kNothing) reportDerived(stamp, section, write, context);
    judgeLate(stamp, txn, event.txn, write, context);
  }
}

/// Sections that began before `write` settled and had read the key by then computed without it.
void Serial::judgeLate(const Stamp& stamp, const Txn& txn, TxnId id, const Write& write,
                       const Context& context) {
  forEachOvertaker(context.history, context.lineage, txn, write, [&](CallId later, Route route) {
    Section* section = sections_.find(later.value);
    if (section == nullptr || !section->read || section->stale != kNothing) return;
    for (unsigned field = 0; field < obs::kRecordFields; ++field) {
      if (!has(write.touched(), field) || section->writers[field] == id) continue;
      Finding finding = serialViolation(Anomaly::staleRead, stamp, write.key, later);
      finding.route = route;
      if (route != Route::none) finding.severity = Severity::limitation;
      finding.node = context.history.call(later).node;
      finding.other = txn.node;
      finding.otherCall = write.call;
      finding.otherTxn = id;
      finding.field = static_cast<std::uint8_t>(field);
      finding.expected = valueOf(write, field);
      finding.observed = section->values[field];
      finding.because(Fact::settled, txn.node, txn.settledAt, txn.position);
      context.findings.add(finding);
      section->stale = static_cast<std::uint32_t>(stale_.size());
      stale_.push_back({finding, field});
      for (std::uint32_t i = context.history.txn(section->committed).firstWrite; i != kNothing;
           i = context.history.write(i).nextOfTxn) {
        const Write& derived = context.history.write(i);
        if (derived.call == later) reportDerived(stamp, *section, derived, context);
      }
      return;
    }
  });
}

void Serial::on(const Stamp& stamp, const obs::WriteRefused& event, const Context& context) {
  const Txn& txn = context.history.txn(event.txn);
  if (!event.call.valid() && txn.submissions > 0) return;  // submitted twice: the first one counts
  const std::uint8_t* shown = shown_.find(event.txn.value);
  if ((shown == nullptr || *shown == 0) && txn.state != TxnState::committed) return;
  Finding finding = serialViolation(Anomaly::refusedWriteVisible, stamp, event.key, event.call);
  finding.txn = event.txn;
  context.findings.add(finding);
}

// ---- The end ----------------------------------------------------------------------------------------------

void Serial::on(const Stamp& stamp, const obs::FinalRecord& event, const Context& context) {
  const Content content{event.key, event.present, event.writers, event.values};
  keys_.at(event.key.value);
  judgeProvenance(stamp, content, {}, context);
  for (unsigned field = 0; field < obs::kRecordFields; ++field) {
    const Latest latest = keys_[event.key.value].latest[field];
    if (latest.write == kNothing) continue;
    const Write* shown = nullptr;
    const Relation relation = relate(stamp.node, content, field, context, shown);
    // What is not applied at the end is a matter of convergence, not of resolution.
    if (relation == Relation::fine || relation == Relation::hidden) continue;
    const Write& expected = context.history.write(latest.write);
    Finding finding = outranked(stamp, event.key, field, shown, expected, relation, context);
    finding.anomaly = Anomaly::lostUpdate;
    finding.observed = content.values[field];
    context.findings.add(finding);
  }
}

}  // namespace holdfast::checkers
