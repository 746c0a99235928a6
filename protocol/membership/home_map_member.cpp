#include "protocol/membership/home_map_member.hpp"

#include <algorithm>
#include <utility>

#include "protocol/membership/published_map.hpp"

namespace holdfast::protocol {
namespace {

/// The generation that every node is born with, as its configuration names the homes.
constexpr std::uint32_t kBirthGeneration = 1;

/// Every participant acknowledged or is fenced, none is named twice in a list (HM-3).
bool coveredBy(std::span<const NodeId> nodes, const ActivationRecord& record) {
  return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) {
    return contains(record.fenced, node) ||
           std::any_of(record.acknowledged.begin(), record.acknowledged.end(),
                       [&](const Acknowledged& one) { return one.member == node; });
  });
}

/// HM-1: who is not named takes no part.
std::vector<NodeId> homesOf(const PublishedMap& map, const NodeSetup& setup) {
  std::vector<NodeId> homes = map.homes;
  if (!setup.rules.on(Rule::HM1_NamedOnly)) include(homes, std::span(&setup.self, 1));
  return homes;
}

std::vector<NodeId> acknowledgedOf(const ActivationRecord& record) {
  std::vector<NodeId> nodes;
  for (const Acknowledged& one : record.acknowledged) nodes.push_back(one.member);
  return nodes;
}

}  // namespace

HomeMapMember::HomeMapMember(const NodeSetup& setup, const DurableMembership& durable)
    : peers_(setup.directory->nodeCount()), disk_(durable.disk), corrupted_(durable.corrupted) {
  const HomeMapRecord& record = durable.homeMap;
  PublishedMap born{kBirthGeneration, setup.members, setup.options.ringVersion};
  std::sort(born.homes.begin(), born.homes.end());
  first_ = record.active.map.generation == 0;
  acting_ = first_ ? born : record.active.map;
  homes_ = homesOf(acting_, setup);
  // A disk without records that is not the first one has lost them: that is never an empty truth.
  blank_ = first_ && (durable.corrupted || durable.disk > 0);
  // HM-3, HM-4: who has stopped stays so, also in its next incarnation, which has yet to say so itself.
  stopped_ = record.staged.has_value() && setup.rules.on(Rule::HM4_AcknowledgementDies) &&
             setup.rules.on(Rule::HM3_StopBeforeAcknowledging);
}

std::uint32_t HomeMapMember::floor(const HomeMapDesk& desk) const {
  // HM-6: raised by what is acted on, or about to be; never by what was only heard of.
  const std::uint32_t born = blank_ ? 0 : kBirthGeneration;
  return std::max({born, desk.record().active.map.generation, floor_});
}

bool HomeMapMember::agrees(const NodeSetup& setup, NodeId peer) const {
  if (peer == setup.self || !setup.rules.on(Rule::HM2_CompareDigests)) return true;
  // HM-2: before anything is heard nothing is agreed. What was heard last counts, whatever this node acted on
  // when it heard it.
  const Peer& other = peers_[peer.value];
  return other.generation == acting_.generation && other.digest == digest_ && !other.refused;
}

bool HomeMapMember::conflict() const {
  return std::any_of(peers_.begin(), peers_.end(), [&](const Peer& peer) {
    return peer.generation == acting_.generation && peer.digest != digest_;
  });
}

bool HomeMapMember::agreesWithSomebody(NodeId self) const {
  if (acting_.homes.size() == 1 && acting_.homes.front() == self) return true;
  // HM-1: one that is not named has no say. It may be the last to hear that this map is over.
  return std::any_of(acting_.homes.begin(), acting_.homes.end(), [&](NodeId home) {
    const Peer& peer = peers_[home.value];
    return home != self && peer.answered && peer.generation == acting_.generation && peer.digest == digest_;
  });
}

bool HomeMapMember::compare(const HomeMapDesk& desk) {
  const bool took = takesPart();
  const bool compares = desk.on(Rule::HM2_CompareDigests);
  withheld_ = compares && conflict();
  // HM-2: after a start not before some peer, if there is to be any, has told this incarnation that it acts
  // on the same map.
  compared_ = compared_ || !compares || agreesWithSomebody(desk.env.self());
  return takesPart() && !took;
}

HomeMapHello HomeMapMember::hello(std::uint32_t asks, std::uint32_t answers) const {
  return {blank_ ? 0 : acting_.generation, blank_ ? 0 : digest_, asks, answers};
}

void HomeMapMember::greet(bool ask, const HomeMapDesk& desk) const {
  const HomeMapHello hello = this->hello(ask ? desk.env.incarnation : 0, 0);
  // To everybody, named or not: who was left out must learn of it too (HM-1).
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    const NodeId peer{static_cast<std::uint16_t>(i)};
    if (peer != desk.env.self()) desk.env.send(peer, hello);
  }
}

// ---- Starting, and hearing of others ----------------------------------------------------------------------

MembershipChange HomeMapMember::boot(const HomeMapDesk& desk) {
  act(acting_, desk);
  for (Peer& peer : peers_) {
    if (!desk.on(Rule::HM7_NoRehoming)) peer.heardAt = desk.env.now();
  }
  MembershipChange change;
  if (blank_) {
    desk.env.observe(obs::MembershipJoining{
        corrupted_ ? obs::JoiningReason::corrupted : obs::JoiningReason::blank, disk_});
  } else {
    // The record may have become durable in the crash, and then nobody has said so.
    if (!first_) sayActivated(desk);
    sayInstalled(desk);
    change.live = takesPart();
  }
  greet(true, desk);
  desk.env.timers.set(TimerKind::homeMap, 0, desk.env.now() + desk.env.options().renewEvery);
  return change;
}

MembershipChange HomeMapMember::onTick(const HomeMapDesk& desk) {
  desk.env.timers.set(TimerKind::homeMap, 0, desk.env.now() + desk.env.options().renewEvery);
  greet(!compared_, desk);
  MembershipChange change;
  if (!desk.on(Rule::HM7_NoRehoming) && dropSilent(desk)) {
    change.installed = change.live = true;
    change.oldDeadline = desk.env.now();
  }
  return change;
}

MembershipChange HomeMapMember::onHello(NodeId from, const HomeMapHello& hello, const HomeMapDesk& desk) {
  Peer& peer = peers_[from.value];
  peer.generation = hello.generation;
  peer.digest = hello.digest;
  // What was sent to an earlier incarnation may have been on its way while everybody else moved on.
  peer.answered = (hello.answers != 0 && hello.answers == desk.env.incarnation) ||
                  !desk.on(Rule::HM2_DigestIsNoFreshness);
  const bool same = hello.generation == acting_.generation && hello.digest == digest_;
  if (!same && !desk.on(Rule::HM2_NoStickyVerdict)) peer.refused = true;
  if (!desk.on(Rule::HM7_NoRehoming)) peer.heardAt = desk.env.now();
  if (!same && hello.generation == acting_.generation && !blank_) {
    desk.refuse(from, MessageKind::homeMapHello, Cause::membership);
  }
  if (hello.asks != 0) desk.env.send(from, this->hello(0, hello.asks));
  // HM-6: hearing of a greater generation is a reason to ask for its record and for nothing else.
  if (hello.generation > acting_.generation) desk.env.send(from, HomeMapQuery{acting_.generation});
  if (!desk.on(Rule::HM6_ReadingRaisesNothing)) floor_ = std::max(floor_, hello.generation);

  MembershipChange change;
  change.live = compare(desk);
  if (stopped_ && same && !desk.on(Rule::HM2_DigestIsNoFreshness)) {
    stopped_ = false;
    change.live = takesPart();
  }
  if (change.live) desk.env.observe(obs::MembershipActive{acting_.generation});
  return change;
}

void HomeMapMember::onQuery(NodeId from, const HomeMapQuery& query, const HomeMapDesk& desk) const {
  // HM-3: the record is shown only once it is durable here.
  const ActivationRecord& active = desk.record().active;
  if (activeAt_ != 0 || active.map.generation <= query.generation) return;
  desk.env.send(from, HomeMapActivation{active});
}

// ---- A change ---------------------------------------------------------------------------------------------

Cause HomeMapMember::faultOfStage(const HomeMapChange& change, const HomeMapDesk& desk) const {
  if (change.participants.size() > kMaxMembers) return Cause::capacity;
  const Directory& directory = desk.env.directory();
  const Cause fault = faultOf(directory, change.map, desk.env.options().ringVersion, desk.env.setup.rules);
  if (fault != Cause::none) return fault;
  if (!wellFormed(directory, change.participants) || change.seal != sealOf(change) ||
      !std::includes(change.participants.begin(), change.participants.end(), change.map.homes.begin(),
                     change.map.homes.end())) {
    return Cause::malformed;
  }
  if (!contains(change.participants, desk.env.self())) return Cause::notMember;
  const std::optional<HomeMapChange>& staged = desk.record().staged;
  if (staged && staged->map == change.map) return Cause::none;
  // HM-6: and a change under way is replaced by a greater one only; two maps of one generation are a mistake.
  if (change.map.generation <= floor(desk) && desk.on(Rule::HM6_Monotonic)) return Cause::superseded;
  if (staged && change.map.generation < staged->map.generation) return Cause::superseded;
  if (staged && change.map.generation == staged->map.generation) return Cause::membership;
  return Cause::none;
}

MembershipChange HomeMapMember::onStage(NodeId from, const HomeMapStage& stage, const HomeMapDesk& desk) {
  const Cause fault = faultOfStage(stage.change, desk);
  HomeMapRecord& record = desk.record();
  if (fault != Cause::none) {
    desk.refuse(from, MessageKind::homeMapStage, fault);
    // A console that is behind learns what it has missed.
    if (fault == Cause::superseded) {
      onQuery(from, HomeMapQuery{stage.change.map.generation - 1}, desk);
    }
    return {};
  }
  HomeMapChange staged = stage.change;
  if (desk.on(Rule::HM3_ParticipantsPersist) && desk.on(Rule::HM3_StageUnion)) {
    // HM-3, HM-5: whoever may act on an older map has a part in this, also if the console does not know.
    if (!blank_) include(staged.participants, acting_.homes);
    if (record.staged) include(staged.participants, record.staged->participants);
  }
  console_ = from;
  request_ = stage.request;
  owes_ = true;
  // HM-3: from here on nothing of the old generation is granted or honoured.
  if (desk.on(Rule::HM3_StopBeforeAcknowledging)) stopped_ = acting_ != stage.change.map;
  const bool repeated = record.staged && record.staged->map == staged.map;
  if (!repeated || record.staged->participants != staged.participants) {
    fresh_ = fresh_ || !repeated;
    record.staged = std::move(staged);
    stagedAt_ = desk.store.write(desk.env);
  }
  if (desk.store.holds(stagedAt_)) acknowledge(desk);
  MembershipChange change;
  if (!desk.on(Rule::HM3_ActiveOnly) && acting_.generation < stage.change.map.generation) {
    act(stage.change.map, desk);
    stopped_ = false;
    sayInstalled(desk);
    greet(true, desk);
    change.installed = change.live = true;
    change.oldDeadline = desk.env.now();
  }
  return change;
}

/// HM-4: in the name of this incarnation, once that and the staged change are durable; until then the console
/// asks again.
void HomeMapMember::acknowledge(const HomeMapDesk& desk) {
  const std::optional<HomeMapChange>& staged = desk.record().staged;
  const std::uint32_t incarnation = desk.env.incarnation;
  if (!owes_ || !staged || incarnation == 0) return;
  owes_ = false;
  const std::uint32_t generation = staged->map.generation;
  if (fresh_) desk.env.observe(obs::HomeMapStaged{generation, bitsOf(staged->map.homes)});
  fresh_ = false;
  const bool again = saidGeneration_ == generation && saidIncarnation_ == incarnation;
  if (!again || saidTo_ != request_) {
    desk.env.observe(obs::HomeMapAcknowledged{generation, incarnation, again});
  }
  saidGeneration_ = generation;
  saidIncarnation_ = incarnation;
  saidTo_ = request_;
  Duration wait = desk.drain();
  // CK-2: a duration, which the console counts from the receipt.
  if (!desk.on(Rule::HM3_RelativeWait)) wait = desk.env.now() + wait - MonotonicInstant{};
  const std::uint64_t digest = digestOf(desk.env.directory(), staged->map, desk.env.setup.rules);
  desk.tell(console_,
            HomeMapAcknowledgement{request_, generation, digest, incarnation, wait, staged->participants});
}

Cause HomeMapMember::faultOfActivation(const ActivationRecord& record, const HomeMapDesk& desk) const {
  const Directory& directory = desk.env.directory();
  if (record.acknowledged.size() > kMaxMembers || record.fenced.size() > kMaxMembers) return Cause::capacity;
  const Cause fault = faultOf(directory, record.map, desk.env.options().ringVersion, desk.env.setup.rules);
  if (fault != Cause::none) return fault;
  const std::optional<HomeMapChange>& staged = desk.record().staged;
  const bool expected = staged && staged->map == record.map;
  if (!wellFormed(directory, record.fenced) || !wellFormed(directory, acknowledgedOf(record)) ||
      record.seal != sealOf(record) || !coveredBy(record.map.homes, record) ||
      (expected && !coveredBy(staged->participants, record))) {
    return Cause::malformed;
  }
  // HM-3: a console that counts on shorter delegations than this node's has not waited them out.
  const bool early = record.notBefore < desk.drain();
  if (early && desk.on(Rule::HM3_WaitsOut)) return Cause::activation;
  // HM-6: durably, since the floor is what the disk says.
  if (!desk.on(Rule::HM6_Monotonic)) return record.map == acting_ ? Cause::superseded : Cause::none;
  if (record.map.generation <= floor(desk)) return Cause::superseded;
  if (blank_ && !expected) return Cause::notMember;
  // Who has stopped for a greater generation has promised its console never to act on a lower one again.
  if (staged && staged->map.generation > record.map.generation) return Cause::superseded;
  if (staged && staged->map.generation == record.map.generation && !expected) return Cause::membership;
  return Cause::none;
}

Cause HomeMapMember::onActivation(NodeId from, const HomeMapActivation& activation, const HomeMapDesk& desk) {
  const Cause fault = faultOfActivation(activation.record, desk);
  if (fault != Cause::none) {
    desk.refuse(from, MessageKind::homeMapActivation, fault);
    return fault;
  }
  adopt(activation.record, desk);
  return fault;
}

void HomeMapMember::adopt(ActivationRecord record, const HomeMapDesk& desk) {
  HomeMapRecord& own = desk.record();
  const std::uint32_t generation = record.map.generation;
  if (own.staged && own.staged->map.generation <= generation) own.staged.reset();
  if (own.console && own.console->change.map.generation <= generation) own.console.reset();
  // FR-8: what they have written under the lock is part of what a recovery looks for.
  include(own.former, acting_.homes);
  include(own.former, acknowledgedOf(record));
  include(own.former, record.fenced);
  std::erase_if(own.former, [&](NodeId node) { return contains(record.map.homes, node); });
  own.active = std::move(record);
  // HM-3: one durable record, and nobody answers with the new generation before.
  activeAt_ = desk.store.write(desk.env);
}

MembershipChange HomeMapMember::onDurable(const HomeMapDesk& desk) {
  if (desk.store.holds(stagedAt_)) acknowledge(desk);
  if (activeAt_ == 0 || !desk.store.holds(activeAt_)) return {};
  activeAt_ = 0;
  return install(desk);
}

MembershipChange HomeMapMember::install(const HomeMapDesk& desk) {
  const ActivationRecord& record = desk.record().active;
  sayActivated(desk);
  MembershipChange change;
  first_ = false;
  blank_ = false;
  stopped_ = desk.record().staged.has_value() && desk.on(Rule::HM3_StopBeforeAcknowledging);
  if (acting_ != record.map) {
    act(record.map, desk);
    change.installed = true;
    change.oldDeadline = desk.env.now();
  }
  change.live = takesPart();
  sayInstalled(desk);
  greet(true, desk);
  return change;
}

void HomeMapMember::sayActivated(const HomeMapDesk& desk) const {
  const ActivationRecord& record = desk.record().active;
  desk.env.observe(obs::HomeMapActivated{record.map.generation, bitsOf(record.map.homes),
                                         bitsOf(acknowledgedOf(record)), bitsOf(record.fenced)});
}

void HomeMapMember::sayInstalled(const HomeMapDesk& desk) const {
  desk.env.observe(
      obs::MembershipInstalled{acting_.generation, bitsOf(acting_.homes), acting_.ringVersion, {}, {}});
  if (takesPart()) desk.env.observe(obs::MembershipActive{acting_.generation});
}

void HomeMapMember::act(const PublishedMap& map, const HomeMapDesk& desk) {
  acting_ = map;
  digest_ = digestOf(desk.env.directory(), acting_, desk.env.setup.rules);
  homes_ = homesOf(acting_, desk.env.setup);
  (void)compare(desk);
}

/// Without HM-7: homes that were not heard of for a while lose their keys to the others.
bool HomeMapMember::dropSilent(const HomeMapDesk& desk) {
  const Duration patience = desk.env.options().renewEvery * desk.env.options().missedRenewals;
  std::vector<NodeId> heard;
  for (const NodeId home : acting_.homes) {
    const bool silent = peers_[home.value].heardAt + patience < desk.env.now();
    if (home == desk.env.self() || !silent) heard.push_back(home);
  }
  if (heard == homes_) return false;
  homes_ = std::move(heard);
  return true;
}

void HomeMapMember::addTo(StateHash& hash, const HomeMapStore& store) const {
  hash.add(acting_);
  hash.addRange(homes_);
  for (const Peer& peer : peers_) {
    hash.add(static_cast<std::uint64_t>(peer.generation) << 2 |
             static_cast<std::uint64_t>(peer.answered) << 1 | static_cast<std::uint64_t>(peer.refused));
    hash.add(peer.digest);
    hash.add(peer.heardAt);
  }
  hash.add(static_cast<std::uint64_t>(compared_) << 6 | static_cast<std::uint64_t>(blank_) << 5 |
           static_cast<std::uint64_t>(first_) << 4 | static_cast<std::uint64_t>(stopped_) << 3 |
           static_cast<std::uint64_t>(withheld_) << 2 | static_cast<std::uint64_t>(owes_) << 1 |
           static_cast<std::uint64_t>(fresh_));
  hash.add(static_cast<std::uint64_t>(floor_));
  hash.add(console_);
  hash.add(request_);
  hash.add(store.holds(stagedAt_) ? 0 : stagedAt_);
  hash.add(activeAt_);
  hash.add(static_cast<std::uint64_t>(saidGeneration_) << 32 | saidIncarnation_);
  hash.add(saidTo_);
}

}  // namespace holdfast::protocol
