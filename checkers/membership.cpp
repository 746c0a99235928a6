#include "checkers/membership.hpp"

#include <algorithm>
#include <bit>

namespace holdfast::checkers {

namespace {

Finding membershipViolation(Anomaly anomaly, const Stamp& stamp) {
  Finding finding;
  finding.checker = Checker::membership;
  finding.severity = Severity::safety;
  finding.anomaly = anomaly;
  finding.at = stamp.at;
  finding.node = stamp.node;
  return finding;
}

constexpr int bitCount(obs::NodeBits set) { return std::popcount(set.bits); }

}  // namespace

// ---- Agreement --------------------------------------------------------------------------------------------

void Membership::judgeBallot(const Stamp& stamp, const Node& node, std::uint32_t number, Ballot ballot,
                             const Context& context) const {
  // EP-1, EP-2, EP-4: nothing below what was promised.
  if (node.promisedNumber != number || ballot >= node.promised) return;
  Finding finding = membershipViolation(Anomaly::ballotWentBack, stamp);
  finding.other = NodeId{ballot.proposer};
  finding.expected = node.promised.counter;
  finding.observed = ballot.counter;
  finding.written = number;
  context.findings.add(finding);
}

void Membership::judgeReservation(const Stamp& stamp, const Node& node, const obs::MembershipPromised& event,
                                  const Context& context) const {
  if (!node.reserved) return;
  const obs::Duration owed = node.reservedUntil - context.history.node(stamp.node).clock.at(stamp.at);
  // What a clock reads is known to a nanosecond.
  if (event.reservation + sim::nanoseconds(1) >= owed) return;
  Finding finding = membershipViolation(
      node.restarted ? Anomaly::restartForgotReservation : Anomaly::reservationConcealed, stamp);
  finding.expected = owed.ns;
  finding.observed = event.reservation.ns;
  finding.written = event.number;
  context.findings.add(finding);
}

/// EP-9: what this node itself waits for is neither kept from a proposer nor dropped with the next ring.
void Membership::judgeProtection(const Stamp& stamp, const Node& node, obs::Duration reckoned,
                                 std::uint32_t number, const Context& context) const {
  if (!node.protects) return;
  const obs::Duration owed = node.protectedUntil - context.history.node(stamp.node).clock.at(stamp.at);
  if (reckoned + sim::nanoseconds(1) >= owed) return;
  Finding finding = membershipViolation(Anomaly::protectionForgotten, stamp);
  finding.expected = owed.ns;
  finding.observed = reckoned.ns;
  finding.written = number;
  context.findings.add(finding);
}

void Membership::on(const Stamp& stamp, const obs::MembershipPromised& event, const Context& context) {
  Node& node = nodes_.at(stamp.node.value);
  const Ballot ballot{event.counter, event.proposer.value};
  judgeBallot(stamp, node, event.number, ballot, context);
  const bool voted = std::any_of(node.votes.begin(), node.votes.end(),
                                 [&](const Vote& vote) { return vote.number == event.number; });
  if (voted && !event.accepted) {
    Finding finding = membershipViolation(Anomaly::acceptanceConcealed, stamp);
    finding.other = event.proposer;
    finding.written = event.number;
    context.findings.add(finding);
  }
  judgeReservation(stamp, node, event, context);
  judgeProtection(stamp, node, event.carried, event.number, context);
  if (node.promisedNumber != event.number) node.promised = {};
  node.promisedNumber = event.number;
  node.promised = std::max(node.promised, ballot);
}

void Membership::on(const Stamp& stamp, const obs::MembershipAccepted& event, const Context& context) {
  Node& node = nodes_.at(stamp.node.value);
  const Ballot ballot{event.counter, event.proposer.value};
  judgeBallot(stamp, node, event.number, ballot, context);
  if (node.promisedNumber != event.number) node.promised = {};
  node.promisedNumber = event.number;
  node.promised = std::max(node.promised, ballot);
  const Vote vote{event.number, ballot, event.members, event.ringVersion};
  const auto earlier = std::find_if(node.votes.begin(), node.votes.end(),
                                    [&](const Vote& one) { return one.number == event.number; });
  if (earlier == node.votes.end()) {
    node.votes.push_back(vote);
  } else {
    *earlier = vote;
  }
  judgeChoice(stamp, vote, context);
}

/// EP-4: what a majority has accepted under one ballot is decided, whether or not anybody lives to say so.
void Membership::judgeChoice(const Stamp& stamp, const Vote& vote, const Context& context) {
  obs::NodeBits voters;
  for (std::uint16_t i = 0; i < nodes_.size(); ++i) {
    const auto same = [&](const Vote& one) { return one.number == vote.number && one.ballot == vote.ballot; };
    if (std::any_of(nodes_[i].votes.begin(), nodes_[i].votes.end(), same)) voters.insert(NodeId{i});
  }
  const auto decides = [&](const Ring& ring) {
    const obs::NodeBits members{voters.bits & ring.members.bits};
    return ring.number + 1 == vote.number && bitCount(members) * 2 > bitCount(ring.members);
  };
  if (std::none_of(rings_.begin(), rings_.end(), decides)) return;
  (void)ringOf(stamp, vote.number, vote.members, vote.ringVersion, voters, context);
}

void Membership::on(const Stamp& stamp, const obs::ReservationMade& event, const Context& context) {
  Node& node = nodes_.at(stamp.node.value);
  if (node.promisedNumber > event.number) {  // EP-3
    Finding finding = membershipViolation(Anomaly::renewedAfterPromise, stamp);
    finding.other = event.holder;
    finding.expected = node.promisedNumber;
    finding.observed = event.number;
    context.findings.add(finding);
  }
  const obs::MonotonicInstant until = context.history.node(stamp.node).clock.at(stamp.at) + event.remaining;
  node.reservedUntil = node.reserved ? std::max(node.reservedUntil, until) : until;
  node.reserved = true;
  node.restarted = false;
  fullReservation_ = std::max(fullReservation_, event.remaining);
}

void Membership::on(const Stamp& stamp, const obs::MembershipJoining&, const Context&) {
  // EP-11: another member than before, that has never promised or installed anything. What it voted for as
  // the one that it was stands in certificates.
  Node& node = nodes_.at(stamp.node.value);
  Node fresh;
  fresh.formerVotes = std::move(node.formerVotes);
  fresh.formerVotes.insert(fresh.formerVotes.end(), node.votes.begin(), node.votes.end());
  node = std::move(fresh);
}

bool Membership::accepted(NodeId voter, const Ring& ring, const Ballot* ballot) const {
  const Node* const node = nodes_.find(voter.value);
  if (node == nullptr) return false;
  const auto forThis = [&](const Vote& vote) {
    return vote.number == ring.number && vote.members == ring.members &&
           vote.ringVersion == ring.ringVersion && (ballot == nullptr || vote.ballot >= *ballot);
  };
  return std::any_of(node->votes.begin(), node->votes.end(), forThis) ||
         std::any_of(node->formerVotes.begin(), node->formerVotes.end(), forThis);
}

/// EP-5: a majority of a predecessor, each of whom accepted.
void Membership::judgeCertificate(const Stamp& stamp, RingIndex index, obs::NodeBits voters,
                                  const Ballot* ballot, const Context& context) const {
  const Ring& ring = rings_[index];
  bool known = false;
  bool majority = false;
  int members = 0;
  for (const Ring& predecessor : rings_) {
    if (predecessor.number + 1 != ring.number) continue;
    known = true;
    members = bitCount(predecessor.members);
    const bool within = (voters.bits & ~predecessor.members.bits) == 0;
    majority = majority || (within && bitCount(voters) * 2 > members);
  }
  if (known && !majority) {
    Finding finding = membershipViolation(Anomaly::certificateWithoutMajority, stamp);
    finding.written = ring.number;
    finding.expected = members / 2 + 1;
    finding.observed = bitCount(voters);
    finding.because(Fact::certificate, stamp.node, stamp.at, static_cast<std::int64_t>(voters.bits));
    context.findings.add(finding);
  }
  for (std::uint16_t i = 0; i < 64; ++i) {
    if (!voters.contains(NodeId{i}) || accepted(NodeId{i}, ring, ballot)) continue;
    Finding finding = membershipViolation(Anomaly::certificateForged, stamp);
    finding.other = NodeId{i};
    finding.written = ring.number;
    finding.because(Fact::certificate, stamp.node, stamp.at, static_cast<std::int64_t>(voters.bits));
    context.findings.add(finding);
    return;
  }
}

/// The ring of that value, made and held against its namesakes when it is new.
Membership::RingIndex Membership::ringOf(const Stamp& stamp, std::uint32_t number, obs::NodeBits members,
                                         std::uint32_t ringVersion, obs::NodeBits voters,
                                         const Context& context) {
  const auto same = std::find_if(rings_.begin(), rings_.end(), [&](const Ring& ring) {
    return ring.number == number && ring.members == members && ring.ringVersion == ringVersion;
  });
  if (same != rings_.end()) {
    if (same->voters.bits == 0) same->voters = voters;
    return static_cast<RingIndex>(same - rings_.begin());
  }
  for (const Ring& namesake : rings_) {
    if (namesake.number != number) continue;
    Finding finding = membershipViolation(Anomaly::twoConfigurations, stamp);
    finding.other = namesake.by;
    finding.written = number;
    finding.because(Fact::installed, namesake.by, namesake.at,
                    static_cast<std::int64_t>(namesake.members.bits));
    finding.because(Fact::certificate, namesake.by, namesake.at,
                    static_cast<std::int64_t>(namesake.voters.bits));
    finding.because(Fact::installed, stamp.node, stamp.at, static_cast<std::int64_t>(members.bits));
    finding.because(Fact::certificate, stamp.node, stamp.at, static_cast<std::int64_t>(voters.bits));
    context.findings.add(finding);
    break;
  }
  rings_.push_back({number, members, ringVersion, voters, stamp.node, stamp.at});
  return static_cast<RingIndex>(rings_.size() - 1);
}

void Membership::on(const Stamp& stamp, const obs::MembershipDecided& event, const Context& context) {
  const RingIndex ring = ringOf(stamp, event.number, event.members, event.ringVersion, event.voters, context);
  const Ballot ballot{event.counter, stamp.node.value};
  judgeCertificate(stamp, ring, event.voters, &ballot, context);
}

// ---- Succession -------------------------------------------------------------------------------------------

void Membership::on(const Stamp& stamp, const obs::MembershipInstalled& event, const Context& context) {
  const bool first = rings_.empty() || event.number == rings_.front().number;
  const RingIndex ring = ringOf(stamp, event.number, event.members, event.ringVersion, event.voters, context);
  if (event.voters.bits != 0) {
    judgeCertificate(stamp, ring, event.voters, nullptr, context);
  } else if (!first && event.number > activatedMap_) {
    Finding finding = membershipViolation(Anomaly::installedWithoutCertificate, stamp);
    finding.written = event.number;
    context.findings.add(finding);
  }
  Node& node = nodes_.at(stamp.node.value);
  if (event.number < node.newest) {  // EP-11, HM-6: durably, so a restart makes no difference
    Finding finding = membershipViolation(Anomaly::membershipWentBack, stamp);
    finding.expected = node.newest;
    finding.observed = event.number;
    context.findings.add(finding);
  }
  judgeProtection(stamp, node, event.activateAfter, event.number, context);
  node.protectedUntil = context.history.node(stamp.node).clock.at(stamp.at) + event.activateAfter;
  node.protects = event.activateAfter > obs::Duration{};
  node.newest = std::max(node.newest, event.number);
  node.ring = ring;
  node.active = false;
  node.leased = false;
}

void Membership::on(const Stamp& stamp, const obs::MembershipRenewed& event, const Context& context) {
  Node& node = nodes_.at(stamp.node.value);
  if (node.ring == kNothing || rings_[node.ring].number != event.number) return;
  node.lease = event.deadline;
  node.leased = true;
  judgeLiveRings(stamp, false, context);
}

void Membership::on(const Stamp& stamp, const obs::MembershipActive& event, const Context& context) {
  Node& node = nodes_.at(stamp.node.value);
  if (node.ring == kNothing || rings_[node.ring].number != event.number) return;
  node.active = true;
  judgeLiveRings(stamp, true, context);
  judgeDelegations(stamp, context);
}

// ---- One live ring ----------------------------------------------------------------------------------------

/// Whether the node may grant at `at`: its ring is active there, and its lease runs or a map needs none.
bool Membership::acts(NodeId id, TrueInstant at, const Context& context) const {
  const Node* const node = nodes_.find(id.value);
  if (node == nullptr || node->ring == kNothing || !node->active) return false;
  if (!rings_[node->ring].members.contains(id)) return false;  // a stranger has no authority (HM-1)
  if (!context.history.membershipSeen()) return node->acknowledged <= rings_[node->ring].number;
  return node->leased && context.history.node(id).clock.surelyBefore(node->lease, at);
}

void Membership::addCertificate(Finding& finding, std::uint32_t ring) const {
  const Ring& one = rings_[ring];
  if (one.voters.bits == 0) return;  // It was given, and nobody had to vote.
  finding.because(Fact::certificate, one.by, one.at, static_cast<std::int64_t>(one.voters.bits));
}

/// Called when this node begins to act, or goes on to: nobody may act under another ring.
void Membership::judgeLiveRings(const Stamp& stamp, bool activation, const Context& context) {
  const Node& self = nodes_[stamp.node.value];
  // Whoever has just activated a ring answers for the leases of its predecessors, whether or not it has one.
  if (!activation && !acts(stamp.node, stamp.at, context)) return;
  for (std::uint16_t i = 0; i < nodes_.size(); ++i) {
    const NodeId id{i};
    if (id == stamp.node || nodes_[i].ring == self.ring || !acts(id, stamp.at, context)) continue;
    const Ring& mine = rings_[self.ring];
    const Ring& theirs = rings_[nodes_[i].ring];
    const bool early = activation && theirs.number < mine.number;
    if (!early && !acts(stamp.node, stamp.at, context)) continue;
    const std::uint64_t pair =
        std::uint64_t{std::max(self.ring, nodes_[i].ring)} << 32 | std::min(self.ring, nodes_[i].ring);
    if (std::find(reported_.begin(), reported_.end(), pair) != reported_.end()) continue;
    reported_.push_back(pair);
    Finding finding = membershipViolation(early ? Anomaly::activatedTooEarly : Anomaly::twoLiveRings, stamp);
    finding.other = id;
    finding.expected = theirs.number;
    finding.observed = mine.number;
    addCertificate(finding, nodes_[i].ring);
    addCertificate(finding, self.ring);
    if (nodes_[i].leased) {
      finding.because(Fact::membershipLive, id, context.history.node(id).clock.whenReads(nodes_[i].lease),
                      theirs.number);
    }
    context.findings.add(finding);
  }
}

/// EP-8, HM-3: at an activation nothing that a predecessor granted still runs anywhere.
void Membership::judgeDelegations(const Stamp& stamp, const Context& context) const {
  const RingIndex ring = nodes_[stamp.node.value].ring;
  for (std::uint32_t i = 0; i < keys_.size(); ++i) {
    for (const Delegation& one : keys_[i]) {
      const NodeClock& clock = context.history.node(one.node).clock;
      if (one.token.membership >= rings_[ring].number || !clock.surelyBefore(one.deadline, stamp.at))
        continue;
      Finding finding = membershipViolation(Anomaly::activatedTooEarly, stamp);
      finding.key = KeyId{i};
      finding.other = one.node;
      finding.expected = one.token.membership;
      finding.observed = rings_[ring].number;
      addCertificate(finding, ring);
      finding.because(Fact::delegationLive, one.node, clock.whenReads(one.deadline), one.token.membership);
      context.findings.add(finding);
      return;
    }
  }
}

/// Nobody acts for `key` under `number` while a delegation of another membership runs.
void Membership::judgeKey(const Stamp& stamp, KeyId key, std::uint32_t number, const Context& context) const {
  const Delegations* const delegations = keys_.find(key.value);
  if (delegations == nullptr || rings_.empty()) return;
  for (const Delegation& one : *delegations) {
    const NodeClock& clock = context.history.node(one.node).clock;
    if (one.token.membership == number || !clock.surelyBefore(one.deadline, stamp.at)) continue;
    Finding finding = membershipViolation(Anomaly::twoRingsForKey, stamp);
    finding.key = key;
    finding.other = one.node;
    finding.expected = one.token.membership;
    finding.observed = number;
    for (RingIndex i = 0; i < rings_.size(); ++i) {
      if (rings_[i].number == number || rings_[i].number == one.token.membership) addCertificate(finding, i);
    }
    finding.because(Fact::delegationLive, one.node, clock.whenReads(one.deadline), one.token.membership);
    context.findings.add(finding);
    return;
  }
}

void Membership::on(const Stamp& stamp, const obs::Granted& event, const Context& context) {
  judgeKey(stamp, event.key, event.token.membership, context);
  const Node* const node = nodes_.find(stamp.node.value);
  if (node == nullptr || node->ring == kNothing) return;
  const Ring& ring = rings_[node->ring];
  const NodeClock& clock = context.history.node(stamp.node).clock;
  const auto complain = [&](Anomaly anomaly, NodeId other) {
    Finding finding = membershipViolation(anomaly, stamp);
    finding.key = event.key;
    finding.other = other;
    finding.observed = ring.number;
    addCertificate(finding, node->ring);
    if (node->leased) {
      finding.because(Fact::membershipLive, stamp.node, clock.whenReads(node->lease), ring.number);
    }
    context.findings.add(finding);
  };
  if (!node->active) complain(Anomaly::grantedBeforeActivation, event.to);
  if (context.history.membershipSeen() && (!node->leased || clock.surelyReached(node->lease, stamp.at))) {
    complain(Anomaly::grantedWithoutMembership, event.to);
  }
  if (node->acknowledged > ring.number) complain(Anomaly::servedAfterAcknowledging, event.to);
  if (!ring.members.contains(event.to)) complain(Anomaly::strangerTakesPart, event.to);
  if (!ring.members.contains(stamp.node)) complain(Anomaly::strangerTakesPart, stamp.node);
}

void Membership::on(const Stamp& stamp, const obs::Admitted& event, const Context& context) {
  judgeKey(stamp, event.key, event.token.membership, context);
  const Node* const node = nodes_.find(stamp.node.value);
  if (node == nullptr || node->ring == kNothing) return;
  // HM-3: staging ends admission as well as granting.
  if (node->acknowledged <= rings_[node->ring].number) return;
  Finding finding = membershipViolation(Anomaly::servedAfterAcknowledging, stamp);
  finding.key = event.key;
  finding.call = event.call;
  finding.other = stamp.node;
  finding.observed = rings_[node->ring].number;
  context.findings.add(finding);
}

// ---- Home maps --------------------------------------------------------------------------------------------

void Membership::on(const Stamp& stamp, const obs::HomeMapAcknowledged& event, const Context&) {
  Node& node = nodes_.at(stamp.node.value);
  node.acknowledged = event.generation;
  if (event.again) {
    node.confirmed = event.generation;
  } else {
    startDrain(event.generation);
  }
}

void Membership::on(const Stamp&, const obs::HomeMapFenced& event, const Context&) {
  startDrain(event.generation);
}

/// HM-3: the drain starts with the last acknowledgement or fence, and what was confirmed before counts no
/// more (HM-4).
void Membership::startDrain(std::uint32_t generation) {
  for (Node& node : nodes_) {
    if (node.confirmed == generation) node.confirmed = 0;
  }
}

void Membership::on(const Stamp& stamp, const obs::HomeMapActivated& event, const Context& context) {
  if (event.generation <= activatedMap_) return;
  activatedMap_ = event.generation;
  const Ring* before = nullptr;
  for (const Ring& ring : rings_) {
    if (ring.number < event.generation && (before == nullptr || ring.number > before->number)) before = &ring;
  }
  if (before == nullptr) return;
  const std::uint64_t participants = before->members.bits | event.homes.bits;
  for (std::uint16_t i = 0; i < 64; ++i) {
    const NodeId id{i};
    if ((participants >> i & 1U) == 0) continue;
    const Node* const node = nodes_.find(i);
    const NodeFacts& facts = context.history.node(id);
    // HM-4: an acknowledgement dies with the incarnation that gave it, up to its confirmation: nobody can
    // know of a death after that. HM-5: only who is stopped is fenced.
    const bool quiesced =
        node != nullptr && std::max(node->acknowledged, node->confirmed) >= event.generation;
    if (quiesced || (event.fenced.contains(id) && !facts.up)) continue;
    Finding finding = membershipViolation(Anomaly::activatedUnquiesced, stamp);
    finding.other = id;
    finding.expected = before->number;
    finding.observed = event.generation;
    if (facts.crashes > 0) finding.because(Fact::crashed, id, facts.crashedAt);
    context.findings.add(finding);
  }
}

// ---- Delegations and lives of nodes -----------------------------------------------------------------------

void Membership::on(const Stamp& stamp, const obs::Installed& event, const Context&) {
  Delegations& delegations = keys_.at(event.key.value);
  for (Delegation& one : delegations) {
    if (one.node != stamp.node) continue;
    one.deadline = event.deadline;
    one.token = event.token;
    return;
  }
  delegations.push_back({stamp.node, event.deadline, event.token});
}

void Membership::drop(NodeId node, KeyId key, const obs::Token& token) {
  Delegations* const delegations = keys_.find(key.value);
  if (delegations == nullptr) return;
  const auto gone = std::find_if(delegations->begin(), delegations->end(), [&](const Delegation& one) {
    return one.node == node && one.token == token;
  });
  if (gone != delegations->end()) delegations->erase(gone);
}

void Membership::dropAll(NodeId node) {
  for (Delegations& delegations : keys_) {
    const auto gone = std::find_if(delegations.begin(), delegations.end(),
                                   [&](const Delegation& one) { return one.node == node; });
    if (gone != delegations.end()) delegations.erase(gone);
  }
}

void Membership::on(const Stamp& stamp, const obs::HandedBack& event, const Context&) {
  drop(stamp.node, event.key, event.token);
}

void Membership::on(const Stamp& stamp, const obs::Drained& event, const Context&) {
  drop(stamp.node, event.key, event.token);
}

void Membership::on(const Stamp& stamp, const obs::DelegationLapsed& event, const Context&) {
  drop(stamp.node, event.key, event.token);
}

void Membership::on(const Stamp& stamp, const obs::ControlAppended& event, const Context&) {
  if (event.entry == obs::EntryKind::release) drop(stamp.node, event.key, event.token);
}

void Membership::on(const Stamp& stamp, const obs::NodeCrashed&, const Context&) {
  Node& node = nodes_.at(stamp.node.value);
  node.ring = kNothing;
  node.active = false;
  node.leased = false;
  node.protects = false;
  node.acknowledged = 0;
  dropAll(stamp.node);
}

void Membership::on(const Stamp& stamp, const obs::NodeStarted& event, const Context& context) {
  Node& node = nodes_.at(stamp.node.value);
  if (event.start <= 1 || !node.reserved) return;
  // EP-10: as if every renewal that it ever acknowledged had been acknowledged at the restart.
  node.restarted = true;
  node.reservedUntil = context.history.node(stamp.node).clock.at(stamp.at) + fullReservation_;
}

void Membership::on(const Stamp& stamp, const obs::CoordinatorReplaced&, const Context&) {
  dropAll(stamp.node);
}

}  // namespace holdfast::checkers
