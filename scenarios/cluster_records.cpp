// The durable records of the machines: promises, certificates, home maps and the incarnation counter.
#include <algorithm>
#include <utility>

#include "scenarios/cluster.hpp"
#include "scenarios/cluster_draws.hpp"
#include "scenarios/cluster_observe.hpp"

namespace holdfast::scenarios {

static_assert(kRecordKinds == protocol::kRecordKindCount);

void Cluster::persist(NodeId node, Machine& m, protocol::Persist& request) {
  const std::uint32_t start = m.process.incarnations();
  const std::uint64_t who = draws::incarnation(node.value, start);
  const std::size_t kind = request.record.index();
  // Each kind counts on its own; the draws of the counter are what they were when it was the only one.
  const std::uint64_t number = std::uint64_t{kind} << 32 | request.sequence;
  const Duration delay = setup_.options.delays.persist.sample(random_, draws::kPersistDelay, who, number);
  Event done{EventKind::persistDone, node, NodeId{static_cast<std::uint16_t>(kind)}, start,
             request.sequence,       0};
  if (!directives_.empty() &&
      takeDirective(Directive::Kind::failPersist, node, NodeId::none(), static_cast<std::uint8_t>(kind))) {
    done.argument = kFailed;
  } else {
    const std::uint64_t position = *m.disk.append(recordFile(kind), ++m.lastRecord);
    m.records.push_back({std::move(request.record), position});
  }
  queue_.pushKeyed(now_ + delay, draws::tie(draws::kPersistTie, who, number), done);
}

void Cluster::failNextPersist(NodeId node, protocol::RecordKind kind) {
  directives_.push_back(
      {Directive::Kind::failPersist, node, NodeId::none(), static_cast<std::uint8_t>(kind), 1, {}});
}

void Cluster::persistOnDisk(NodeId node, Machine& m, const Event& event) {
  const std::size_t kind = event.peer.value;
  // A sync covers the whole file, also what was appended for a later one.
  storeThrough(m, kind, m.disk.end(recordFile(kind)));
  observe(node, obs::DurableWrite{EntryKind::transaction, true});
  Event known = event;
  known.argument = 1;
  handOver(m, known);
}

/// The records of the kind before `position` are durable now.
void Cluster::storeThrough(Machine& m, std::size_t kind, std::uint64_t position) {
  const sim::FileId file = recordFile(kind);
  (void)m.disk.syncedThrough(file, position);
  for (const PendingRecord& pending : m.records) {
    if (pending.record.index() != kind || pending.position >= position) continue;
    if (const auto* counter = std::get_if<protocol::IncarnationRecord>(&pending.record)) {
      m.storedIncarnation = std::max(m.storedIncarnation, counter->incarnation);
    }
    protocol::store(m.stored, pending.record);
  }
  std::erase_if(m.records, [&](const PendingRecord& pending) {
    return pending.record.index() == kind && pending.position < position;
  });
  // Only certificates are kept one after another; of everything else the newest record says it all.
  const bool replaces = kind != static_cast<std::size_t>(protocol::RecordKind::certificate);
  if (replaces && position > 0) (void)m.disk.dropBefore(file, position - 1);
}

/// What was durable stays, and of what was on its way what the disk says has survived. A record that was
/// durable and can not be read is no torn one: it is left where it is, for the restart to find.
void Cluster::crashRecords(Machine& m, const std::array<std::uint64_t, protocol::kRecordKindCount>& durable) {
  for (std::size_t kind = 0; kind < durable.size(); ++kind) {
    const sim::FileId file = recordFile(kind);
    const sim::Recovered readable = *m.disk.recover(file);
    if (readable.bad && readable.end < durable[kind]) continue;
    storeThrough(m, kind, readable.end);
    (void)m.disk.truncate(file, readable.end);
  }
  m.records.clear();
}

/// Whether records fail their checksum.
bool Cluster::isSpoilt(const Machine& m) {
  for (std::size_t kind = 0; kind < protocol::kRecordKindCount; ++kind) {
    if (m.disk.recover(recordFile(kind))->bad) return true;
  }
  return false;
}

/// What a starting process finds. A disk on which records fail their checksum is formatted: that is a new
/// disk.
protocol::DurableMembership Cluster::readRecords(Machine& m) {
  const bool corrupted = isSpoilt(m);
  if (corrupted) formatDisk(m);
  protocol::DurableMembership found = m.stored;
  found.corrupted = corrupted;
  found.start = m.process.incarnations();
  return found;
}

/// An empty disk of another identity takes the place of the one with the records.
void Cluster::formatDisk(Machine& m) {
  const std::uint32_t disk = m.stored.disk + 1;
  m.stored = {};
  m.stored.disk = disk;
  m.storedIncarnation = 0;
  for (std::size_t kind = 0; kind < protocol::kRecordKindCount; ++kind) {
    (void)m.disk.truncate(recordFile(kind), m.disk.begin(recordFile(kind)));
  }
}

bool Cluster::replaceDisk(NodeId node) {
  if (!known(node) || !machine(node).process.crashed()) return false;
  formatDisk(machine(node));
  return true;
}

bool Cluster::corruptRecord(NodeId node, protocol::RecordKind kind) {
  if (!known(node)) return false;
  Machine& m = machine(node);
  const sim::FileId file = recordFile(static_cast<std::size_t>(kind));
  if (m.disk.end(file) == m.disk.begin(file)) return false;
  const auto newest = m.disk.read(file, m.disk.end(file) - 1);
  return newest.has_value() && m.disk.corrupt(file, *newest).has_value();
}

}  // namespace holdfast::scenarios
