#include "protocol/replication/record.hpp"

#include <algorithm>
#include <tuple>

namespace holdfast::protocol {
namespace {

/// Whether `incoming` counts against `base`, a field's base or an increment each. In arrival order (rule
/// LW3_TotalOrder off) the later comer wins a tie of the timestamps. Two fences (rule LW3_OneOrder off) come
/// before timestamps, which makes no order together with writes that have none.
template <class Incoming, class Base>
bool beats(const Incoming& incoming, const Base& base, bool byArrival) {
  if (incoming.fence != base.fence && incoming.fence != 0 && base.fence != 0)
    return incoming.fence > base.fence;
  if (byArrival) return incoming.version.stamp >= base.version.stamp && incoming.version != base.version;
  return incoming.version > base.version;
}

bool before(const Increment& a, const Increment& b) {
  return std::tie(a.field, a.version) < std::tie(b.field, b.version);
}

/// Sums wrap around, so that they commute whatever the deltas are.
std::int64_t wrappingSum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

bool Record::merge(const Write& write, const Version& version, TxnId writer, const Rules& rules) {
  const bool byArrival = !rules.on(Rule::LW3_TotalOrder);
  const bool whole = write.op == WriteOp::put || write.op == WriteOp::erase;
  bool changed = false;
  for (std::uint8_t field = 0; field < obs::kRecordFields; ++field) {
    if (!whole && (write.fields >> field & 1U) == 0) continue;
    if (write.op == WriteOp::increment) {
      changed |= mergeIncrement({write.values[field], version, writer, field, write.fence}, byArrival);
    } else if (write.op == WriteOp::erase) {
      changed |= mergeBase(field, {0, version, writer, false, write.fence}, byArrival);
    } else {
      changed |= mergeBase(field, {write.values[field], version, writer, true, write.fence}, byArrival);
    }
  }
  return changed;
}

void Record::merge(const Record& other) {
  for (std::uint8_t field = 0; field < obs::kRecordFields; ++field) {
    mergeBase(field, other.fields_[field], false);
  }
  for (const Increment& increment : other.increments_) mergeIncrement(increment, false);
}

bool Record::mergeBase(std::uint8_t field, const FieldState& incoming, bool byArrival) {
  FieldState& base = fields_[field];
  if (!beats(incoming, base, byArrival)) return false;
  base = incoming;
  const auto dominated = [&](const Increment& increment) {
    if (increment.field != field) return false;
    return beats(base, increment, byArrival);
  };
  increments_.erase(std::remove_if(increments_.begin(), increments_.end(), dominated), increments_.end());
  return true;
}

bool Record::mergeIncrement(const Increment& incoming, bool byArrival) {
  if (!beats(incoming, fields_[incoming.field], byArrival)) return false;
  const auto at = std::lower_bound(increments_.begin(), increments_.end(), incoming, before);
  if (at != increments_.end() && !before(incoming, *at)) return false;
  increments_.insert(at, incoming);
  return true;
}

RecordView Record::view() const {
  RecordView view;
  for (std::size_t i = 0; i < obs::kRecordFields; ++i) {
    if (!fields_[i].present) continue;
    view.present = static_cast<FieldMask>(view.present | 1U << i);
    view.writers[i] = fields_[i].writer;
    view.values[i] = fields_[i].value;
  }
  // Increments of a field are sorted by version: the greatest one comes last and names the writer.
  for (const Increment& increment : increments_) {
    view.present = static_cast<FieldMask>(view.present | 1U << increment.field);
    view.writers[increment.field] = increment.writer;
    view.values[increment.field] = wrappingSum(view.values[increment.field], increment.delta);
  }
  return view;
}

bool Record::empty() const {
  return increments_.empty() && std::none_of(fields_.begin(), fields_.end(),
                                             [](const FieldState& f) { return f.version.written(); });
}

bool Record::tombstone() const {
  return increments_.empty() && std::all_of(fields_.begin(), fields_.end(), [](const FieldState& f) {
           return f.version.written() && !f.present;
         });
}

void Record::addTo(StateHash& hash) const {
  for (const FieldState& field : fields_) hash.add(field);
  hash.addRange(increments_);
}

}  // namespace holdfast::protocol
