#include "checkers/membership_lease.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace holdfast::checkers {

namespace {

Finding violation(Anomaly anomaly, const Stamp& stamp) {
  Finding finding;
  finding.checker = Checker::membership;
  finding.severity = Severity::safety;
  finding.anomaly = anomaly;
  finding.at = stamp.at;
  finding.node = stamp.node;
  return finding;
}

}  // namespace

// ---- What was asked and answered --------------------------------------------------------------------------

const MembershipLease::Renewal* MembershipLease::find(std::uint64_t message) const {
  const auto at = std::ranges::lower_bound(underWay_, message, {}, &Renewal::message);
  return at == underWay_.end() || at->message != message ? nullptr : &*at;
}

/// Remembers a message until no lease can count from it any more.
void MembershipLease::keep(const Renewal& renewal, TrueInstant now, const Context& context) {
  if (!underWay_.empty() && underWay_.back().message >= renewal.message) return;
  if (underWay_.size() >= sweepAt_) {
    std::erase_if(underWay_, [&](const Renewal& one) {
      const NodeFacts& holder = context.history.node(one.holder);
      const obs::MonotonicInstant ends = one.sentAt + context.options.epochLease;
      return holder.crashes != one.crashes || holder.clock.surelyReached(ends, now);
    });
    sweepAt_ = std::max<std::size_t>(64, 2 * underWay_.size());
  }
  underWay_.push_back(renewal);
}

void MembershipLease::on(const Stamp& stamp, const obs::MessageSent& event, const Context& context) {
  if (context.options.epochLease <= Duration{}) return;
  if (event.message == obs::MessageKind::membershipRenew) {
    const NodeFacts& facts = context.history.node(stamp.node);
    Holder& holder = holders_.at(stamp.node.value);
    const obs::MonotonicInstant now = facts.clock.at(stamp.at);
    holder.asked = true;
    if (holder.number == 0) acknowledge(stamp.node, stamp.node, now);
    keep({event.id, stamp.node, now, facts.crashes, holder.number}, stamp.at, context);
  } else if (event.message == obs::MessageKind::membershipRenewAck) {
    const Renewal* const answered = handed_.find(stamp.node.value, event.to);
    if (answered == nullptr || !answered->holder.valid()) return;
    Renewal answer = *answered;
    answer.message = event.id;
    keep(answer, stamp.at, context);
  }
}

void MembershipLease::on(const Stamp& stamp, const obs::MessageDelivered& event, const Context& context) {
  const bool renews = event.message == obs::MessageKind::membershipRenew;
  if (!renews && event.message != obs::MessageKind::membershipRenewAck) return;
  const Renewal* const found = find(event.id);
  if (renews) {
    handed_.at(stamp.node.value, event.from) = found != nullptr ? *found : Renewal{};
    return;
  }
  if (found == nullptr || found->holder != stamp.node) return;
  // EP-14: what an earlier start had asked, or this one under another membership, prolongs nothing.
  if (found->crashes != context.history.node(stamp.node).crashes) return;
  if (found->number != holders_.at(stamp.node.value).number) return;
  acknowledge(stamp.node, event.from, found->sentAt);
}

void MembershipLease::acknowledge(NodeId holder, NodeId by, obs::MonotonicInstant sentAt) {
  auto& acknowledged = holders_.at(holder.value).acknowledged;
  const auto known = std::ranges::find(acknowledged, by, &Acknowledged::by);
  if (known == acknowledged.end()) {
    acknowledged.push_back({by, sentAt});
  } else {
    known->sentAt = std::max(known->sentAt, sentAt);
  }
}

void MembershipLease::on(const Stamp& stamp, const obs::ReservationMade& event, const Context& context) {
  const obs::MonotonicInstant now = context.history.node(stamp.node).clock.at(stamp.at);
  Reservation& reservation = reservations_.at(stamp.node.value, event.holder);
  const obs::MonotonicInstant until = now + event.remaining;
  const bool longer = !reservation.made || reservation.anew || until > reservation.until;
  if (longer) reservation = {true, false, until};
  // A holder's own acknowledgement is its reservation (EP-7), made as it sends the renewal.
  if (event.holder == stamp.node) acknowledge(stamp.node, stamp.node, now);
}

// ---- Lives ------------------------------------------------------------------------------------------------

void MembershipLease::on(const Stamp& stamp, const obs::MembershipInstalled& event, const Context&) {
  Holder& holder = holders_.at(stamp.node.value);
  holder.number = event.number;
  holder.members = event.members;
  holder.acknowledged.clear();
}

void MembershipLease::on(const Stamp& stamp, const obs::NodeCrashed&, const Context&) {
  holders_.at(stamp.node.value).acknowledged.clear();
}

void MembershipLease::on(const Stamp& stamp, const obs::NodeStarted&, const Context&) {
  countAnew(stamp.node);
}

void MembershipLease::on(const Stamp& stamp, const obs::MembershipJoining&, const Context&) {
  countAnew(stamp.node);
}

void MembershipLease::countAnew(NodeId acceptor) {
  for (std::uint16_t i = 0; i < reservations_.width(); ++i) {
    if (Reservation* const one = reservations_.find(acceptor.value, NodeId{i})) one->anew = true;
  }
}

// ---- Leases -----------------------------------------------------------------------------------------------

void MembershipLease::on(const Stamp& stamp, const obs::MembershipRenewed& event, const Context& context) {
  const Holder* const holder = holders_.find(stamp.node.value);
  if (context.options.epochLease <= Duration{} || holder == nullptr) return;
  const obs::NodeBits members =
      holder->number != 0 ? holder->members : obs::NodeBits{context.options.members};
  obs::NodeBits self;
  self.insert(stamp.node);
  const obs::MonotonicInstant now = context.history.node(stamp.node).clock.at(stamp.at);
  const bool alone = members == self;
  // Whoever is given a membership of his own, as a misconfigured node is, is measured by nobody else's.
  if (holder->number == 0 && !members.contains(stamp.node)) return;
  if (members.bits == 0 || !(holder->asked || alone) || event.deadline <= now) return;

  boost::container::small_vector<obs::MonotonicInstant, 12> renewed;
  if (alone) renewed.push_back(now);
  for (const Acknowledged& one : holder->acknowledged) {
    if (!alone && members.contains(one.by)) renewed.push_back(one.sentAt);
  }
  const std::size_t needed = static_cast<std::size_t>(std::popcount(members.bits)) / 2 + 1;
  if (renewed.size() < needed) {
    Finding finding = violation(Anomaly::leaseUnacknowledged, stamp);
    finding.expected = static_cast<std::int64_t>(needed);
    finding.observed = static_cast<std::int64_t>(renewed.size());
    context.findings.add(finding);
  } else {
    std::ranges::sort(renewed, std::greater{});
    const obs::MonotonicInstant latest = renewed[needed - 1] + context.options.epochLease;
    // What a clock reads is known to a nanosecond.
    if (event.deadline > latest + sim::nanoseconds(1)) {
      Finding finding = violation(Anomaly::membershipTooLong, stamp);
      finding.expected = latest.ns;
      finding.observed = event.deadline.ns;
      context.findings.add(finding);
    }
  }
  if (holder->number != 0) judgeReservations(stamp, event, members, context);
}

/// EP-7, CK-3: in true time, by the rates that the clocks go by now.
void MembershipLease::judgeReservations(const Stamp& stamp, const obs::MembershipRenewed& event,
                                        obs::NodeBits members, const Context& context) const {
  const TrueInstant ends = context.history.node(stamp.node).clock.whenReads(event.deadline);
  int kept = 0;
  for (std::uint16_t i = 0; i < 64; ++i) {
    const NodeId member{i};
    if (!members.contains(member)) continue;
    const Reservation* const one = reservations_.find(i, stamp.node);
    if (one == nullptr || !one->made) continue;
    const TrueInstant free = context.history.node(member).clock.whenReads(one->until);
    if (one->anew || ends <= free) ++kept;
  }
  const int needed = std::popcount(members.bits) / 2 + 1;
  if (kept >= needed) return;
  Finding finding = violation(Anomaly::leaseBeyondReservations, stamp);
  finding.expected = needed;
  finding.observed = kept;
  finding.because(Fact::membershipLive, stamp.node, ends, event.number);
  context.findings.add(finding);
}

}  // namespace holdfast::checkers
