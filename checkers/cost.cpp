#include "checkers/cost.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::checkers {

void Amount::merge(const Amount& other) {
  sum += other.sum;
  least = std::min(least, other.least);
  most = std::max(most, other.most);
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
}

std::uint64_t Amount::median() const {
  std::uint64_t count = 0;
  for (const std::uint64_t n : histogram) count += n;
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < histogram.size(); ++i) {
    below += histogram[i];
    if (count > 0 && below * 2 >= count) return i;
  }
  return 0;
}

void WaitTimes::add(obs::Duration wait) {
  sumNs += wait.ns;
  mostNs = std::max(mostNs, wait.ns);
  const std::size_t place = wait.ns <= 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(wait.ns));
  ++histogram[std::min(place, histogram.size() - 1)];
}

void WaitTimes::merge(const WaitTimes& other) {
  sumNs += other.sumNs;
  mostNs = std::max(mostNs, other.mostNs);
  for (std::size_t i = 0; i < histogram.size(); ++i) histogram[i] += other.histogram[i];
}

void CostTable::merge(const CostTable& other) { mergeFields(*this, other); }

PathCost& CostTable::of(obs::Path path) {
  switch (path) {
    case obs::Path::cached:
      return cached;
    case obs::Path::virgin:
      return virgin;
    case obs::Path::clean:
      return clean;
    case obs::Path::recovery:
      return recovery;
  }
  return cached;
}

void Cost::on(const Stamp& stamp, const obs::LockRequested& event, const Context&) {
  LocalCost& local = locals_.at(event.key.value, stamp.node);
  ++local.calls;
  const KeyCost& key = keys_.at(event.key.value);
  starts_.at(event.call.value) = {true, key.messages, key.releases, barrierMessages_.at(stamp.node.value),
                                  local};
}

void Cost::on(const Stamp& stamp, const obs::Admitted& event, const Context& context) {
  const Start& start = starts_.at(event.call.value);
  if (!start.known) return;
  const KeyCost& key = keys_.at(event.key.value);
  const LocalCost& local = locals_.at(event.key.value, stamp.node);
  const Call& call = context.history.call(event.call);
  const std::uint32_t messages = key.messages - start.messages;
  PathCost& cost = table_.of(event.path);
  ++cost.acquisitions;
  cost.messages.add(messages);
  cost.releaseCommits.add(key.releases - start.releases);
  cost.wait.add(call.admittedAt - call.requestedAt);
  if (event.path == obs::Path::recovery) {
    cost.barrierMessages.add(barrierMessages_.at(stamp.node.value) - start.barrierMessages);
    const Barrier* barrier = context.lineage.barrierOf(event.key, stamp.node);
    std::uint64_t entries = 0;
    if (barrier != nullptr) {
      for (const BarrierMember& member : barrier->members) entries += member.appended ? 1U : 0U;
    }
    cost.barrierEntries.add(entries);
  }
  Finding finding;
  finding.checker = Checker::cost;
  finding.severity = Severity::safety;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.key = event.key;
  finding.call = event.call;
  finding.detail = static_cast<std::uint8_t>(event.path);
  if (event.path == obs::Path::cached && local.requests != start.local.requests) {
    const bool alone = !call.behind && local.calls == start.local.calls;
    if (alone && local.installs == start.local.installs) {
      finding.anomaly = Anomaly::cachedAcquisitionPaid;
      finding.observed = local.requests - start.local.requests;
      context.findings.add(finding);
    } else {
      ++table_.ambiguousRepeats;
    }
  }
  const std::uint32_t bound = context.options.maxMessages[static_cast<std::size_t>(event.path) & 3];
  if (bound != 0 && messages > bound) {
    finding.anomaly = Anomaly::costBeyondBound;
    finding.observed = messages;
    finding.expected = bound;
    context.findings.add(finding);
  }
}

void Cost::on(const Stamp& stamp, const obs::UnlockedWritesChecked& event, const Context& context) {
  Finding finding;
  finding.checker = Checker::cost;
  finding.severity = Severity::safety;
  finding.anomaly = Anomaly::unlockedWritePaid;
  finding.at = stamp.at;
  finding.node = stamp.node;
  finding.txn = event.txn;
  finding.observed = event.writes;
  context.findings.add(finding);
}

void Cost::on(const Stamp& stamp, const obs::Installed& event, const Context&) {
  ++locals_.at(event.key.value, stamp.node).installs;
}

void Cost::on(const Stamp& stamp, const obs::MessageSent& event, const Context&) {
  switch (event.message) {
    case obs::MessageKind::barrierRequest:
      ++barrierMessages_.at(stamp.node.value);
      return;
    case obs::MessageKind::barrierReply:
      ++barrierMessages_.at(event.to.value);
      return;
    case obs::MessageKind::lockRequest:
      if (event.key.valid()) ++locals_.at(event.key.value, stamp.node).requests;
      break;
    case obs::MessageKind::lockGrant:
    case obs::MessageKind::lockDeny:
    case obs::MessageKind::lockRecall:
    case obs::MessageKind::lockHandBack:
      break;
    default:
      return;
  }
  if (event.key.valid()) ++keys_.at(event.key.value).messages;
}

void Cost::on(const Stamp& stamp, const obs::ControlAppended& event, const Context&) {
  if (event.entry == obs::EntryKind::release) {
    ++table_.releases;
    if (event.key.valid()) ++keys_.at(event.key.value).releases;
  } else if (event.entry == obs::EntryKind::barrier) {
    ++table_.barrierEntries;
  }
  if (event.position > kMaxPosition) return;
  std::vector<std::uint8_t>& kinds = entryKinds_.at(stamp.node.value);
  if (event.position >= kinds.size()) {
    if (event.position >= kinds.capacity()) kinds.reserve(event.position + event.position / 2 + 64);
    kinds.resize(event.position + std::size_t{1});
  }
  kinds[event.position] = static_cast<std::uint8_t>(1 + static_cast<unsigned>(event.entry));
}

void Cost::on(const Stamp& stamp, const obs::Applied& event, const Context&) {
  const std::vector<std::uint8_t>* kinds = entryKinds_.find(event.origin.value);
  if (kinds == nullptr || event.position >= kinds->size() || stamp.node == event.origin || event.failed)
    return;
  const std::uint8_t kind = (*kinds)[event.position];
  if (kind == 1 + static_cast<unsigned>(obs::EntryKind::release)) ++table_.releaseDeliveries;
  if (kind == 1 + static_cast<unsigned>(obs::EntryKind::barrier)) ++table_.barrierDeliveries;
}

}  // namespace holdfast::checkers
