#include "protocol/membership/home_map_console.hpp"

#include <algorithm>
#include <utility>

#include "protocol/membership/published_map.hpp"

namespace holdfast::protocol {
namespace {

/// No node's delegations last nearly as long; whoever says so is not believed (BD-3).
constexpr Duration kLongestWait = sim::hours(1);

}  // namespace

HomeMapConsole::Participant* HomeMapConsole::find(NodeId node) {
  const auto found = std::find_if(participants_.begin(), participants_.end(),
                                  [&](const Participant& one) { return one.node == node; });
  return found == participants_.end() ? nullptr : &*found;
}

// ---- The operator -----------------------------------------------------------------------------------------

void HomeMapConsole::boot(const HomeMapDesk& desk) {
  if (!desk.record().console) return;
  begin(desk);
  told_ = true;
  // HM-3: the crash may have come after a map was taken up and before its homes were involved.
  involve(desk.record().active.map.homes, desk);
}

void HomeMapConsole::stage(const AdminStageHomeMap& input, const HomeMapMember& member,
                           const HomeMapDesk& desk) {
  HomeMapRecord& record = desk.record();
  HomeMapChange change;
  change.map = {input.generation, input.homes, desk.env.options().ringVersion};
  std::sort(change.map.homes.begin(), change.map.homes.end());
  Cause fault =
      protocol::faultOf(desk.env.directory(), change.map, change.map.ringVersion, desk.env.setup.rules);
  std::vector<NodeId> earlier = input.earlier;
  std::sort(earlier.begin(), earlier.end());
  if (fault == Cause::none && !wellFormed(desk.env.directory(), earlier)) fault = Cause::malformed;
  const std::optional<HomeMapChange>& staged = record.staged;
  std::uint32_t newest = std::max(member.floor(desk), staged ? staged->map.generation : 0);
  if (record.console) newest = std::max(newest, record.console->change.map.generation);
  const bool again =
      (staged && staged->map == change.map) || (record.console && record.console->change.map == change.map);
  // HM-6: and no two maps of one generation.
  if (fault == Cause::none && change.map.generation <= newest && !again && desk.on(Rule::HM6_Monotonic))
    fault = Cause::superseded;
  if (fault != Cause::none) {
    desk.env.observe(obs::HomeMapRefused{input.generation, fault});
    return;
  }
  change.participants = change.map.homes;
  if (desk.on(Rule::HM3_StageUnion)) {
    // HM-3: homes(g) as well, and whoever has a part in a change that never came to its end. Which map g is
    // the operator may know better: all that acted on it may be fenced and tell nothing.
    if (desk.on(Rule::HM3_ParticipantsPersist)) {
      include(change.participants, earlier);
      if (!member.blank()) include(change.participants, member.acting().homes);
      if (staged) include(change.participants, staged->participants);
      if (record.console) include(change.participants, record.console->change.participants);
    } else {
      include(change.participants, staged ? staged->map.homes : member.acting().homes);
    }
  }
  change.seal = sealOf(change);
  const bool sameChange = record.console && record.console->change.map == change.map;
  std::vector<NodeId> fenced;
  if (sameChange) fenced = record.console->fenced;
  record.console = ConsoleRecord{std::move(change), std::move(fenced)};
  changeAt_ = desk.store.write(desk.env);
  begin(desk);
}

/// Starts with nothing but the change and its fences, whose wait is counted anew.
void HomeMapConsole::begin(const HomeMapDesk& desk) {
  participants_.clear();
  const ConsoleRecord& console = *desk.record().console;
  const MonotonicInstant drained = desk.env.now() + waitedOut(desk.drain(), desk);
  for (const NodeId node : console.change.participants) {
    participants_.push_back({node, 0, contains(console.fenced, node), false, drained});
  }
  fencing_.clear();
  told_ = false;
  nextRound();
  reckon(desk);
}

/// HM-4: an acknowledgement answers the request that it was asked with, so that none from before counts.
void HomeMapConsole::nextRound() {
  ++round_;
  for (Participant& one : participants_) one.confirmed = false;
}

Duration HomeMapConsole::waitedOut(Duration wait, const HomeMapDesk& desk) {
  return desk.on(Rule::HM3_WaitsOut) ? std::max(wait, desk.drain()) : Duration{};
}

void HomeMapConsole::fence(const AdminFenceHome& input, const HomeMapDesk& desk) {
  std::optional<ConsoleRecord>& console = desk.record().console;
  Cause fault = Cause::none;
  if (!console || console->change.map.generation != input.generation) {
    fault = Cause::superseded;
  } else if (find(input.member) == nullptr) {
    fault = Cause::notMember;
  } else if (!input.stopped && desk.on(Rule::HM5_RemovalIsNoFence)) {
    // HM-5: a node that is declared removed, and runs, goes on serving what it acts on.
    fault = Cause::membership;
  }
  if (fault != Cause::none) {
    desk.env.observe(obs::HomeMapRefused{input.generation, fault});
    return;
  }
  include(console->fenced, std::span(&input.member, 1));
  fencing_.push_back(input.member);
  changeAt_ = desk.store.write(desk.env);
}

// ---- Acknowledgements -------------------------------------------------------------------------------------

Cause HomeMapConsole::faultOf(const HomeMapAcknowledgement& message, const HomeMapDesk& desk) const {
  const std::optional<ConsoleRecord>& console = desk.record().console;
  if (!console || message.generation != console->change.map.generation) return Cause::superseded;
  if (message.digest != digestOf(desk.env.directory(), console->change.map, desk.env.setup.rules)) {
    return Cause::membership;
  }
  const bool strange =
      message.wait < Duration{} || (message.wait > kLongestWait && desk.on(Rule::HM3_RelativeWait));
  // HM-4: what was said before this console, or this round of it, asked is not an answer.
  if (message.request != RequestId{desk.env.incarnation, round_}) return Cause::superseded;
  if (message.incarnation == 0 || strange || !wellFormed(desk.env.directory(), message.participants)) {
    return Cause::malformed;
  }
  return Cause::none;
}

void HomeMapConsole::onAcknowledgement(NodeId from, const HomeMapAcknowledgement& message,
                                       const HomeMapDesk& desk) {
  Cause fault = faultOf(message, desk);
  Participant* const sender = find(from);
  if (fault == Cause::none && sender == nullptr) fault = Cause::notMember;
  if (fault != Cause::none) {
    desk.refuse(from, MessageKind::homeMapAcknowledgement, fault);
    return;
  }
  if (sender->fenced) return;
  // HM-4: the acknowledgement of an earlier incarnation is dead, and the wait starts from this one.
  const bool dead = sender->incarnation != message.incarnation && desk.on(Rule::HM4_AcknowledgementDies);
  const bool first = sender->incarnation == 0;
  if (first || dead) {
    sender->incarnation = message.incarnation;
    // HM-3, CK-2: from the receipt, on this clock and no other.
    sender->drained = desk.env.now() + waitedOut(message.wait, desk);
    if (!desk.on(Rule::HM3_RelativeWait)) {
      for (Participant& one : participants_) one.drained = MonotonicInstant{} + message.wait;
    }
    confirming_ = false;
    reckon(desk);
  } else {
    sender->confirmed = true;
  }
  // HM-3: the sender knows of others who may act on an older map.
  involve(message.participants, desk);
}

void HomeMapConsole::onActivation(const PublishedMap& map, const HomeMapDesk& desk) {
  const HomeMapRecord& record = desk.record();
  if (!record.console || map.generation >= record.console->change.map.generation) return;
  // HM-3: its homes act on it, and who staged this change may not have known.
  if (map.generation >= record.active.map.generation) involve(map.homes, desk);
}

/// These have to stop, too, and are asked to once that is durable.
void HomeMapConsole::involve(std::span<const NodeId> nodes, const HomeMapDesk& desk) {
  if (!desk.on(Rule::HM3_StageUnion) || !desk.on(Rule::HM3_ParticipantsPersist)) return;
  HomeMapChange& change = desk.record().console->change;
  if (std::includes(change.participants.begin(), change.participants.end(), nodes.begin(), nodes.end())) {
    return;
  }
  include(change.participants, nodes);
  change.seal = sealOf(change);
  changeAt_ = desk.store.write(desk.env);
  told_ = false;
  for (const NodeId node : change.participants) {
    if (find(node) == nullptr) participants_.push_back({node, 0, false, false, desk.env.now()});
  }
  std::sort(participants_.begin(), participants_.end(),
            [](const Participant& a, const Participant& b) { return a.node < b.node; });
  confirming_ = false;
  drainedAt_ = MonotonicInstant::never();
}

/// HM-3: once everybody is accounted for, the drain ends with the wait of the last one.
void HomeMapConsole::reckon(const HomeMapDesk& desk) {
  drainedAt_ = MonotonicInstant::never();
  const bool all = std::all_of(participants_.begin(), participants_.end(),
                               [](const Participant& one) { return one.accountedFor(); });
  if (all || !desk.on(Rule::HM3_WaitsForAll)) {
    drainedAt_ = MonotonicInstant::longAgo();
    for (const Participant& one : participants_) drainedAt_ = std::max(drainedAt_, one.drained);
    drainedAtWall_ = desk.env.context.wall + desk.drain();
  }
  arm(desk);
}

bool HomeMapConsole::drained(const HomeMapDesk& desk) const {
  if (drainedAt_ == MonotonicInstant::never()) return false;
  // HM-3: the wall clock has no say in this (CK-5).
  return desk.on(Rule::HM3_MonotonicDrain) ? desk.env.now() >= drainedAt_
                                           : desk.env.context.wall >= drainedAtWall_;
}

// ---- Time and disk ----------------------------------------------------------------------------------------

void HomeMapConsole::arm(const HomeMapDesk& desk) const {
  MonotonicInstant next = desk.env.now() + desk.env.options().renewEvery;
  if (drainedAt_ > desk.env.now()) next = std::min(next, drainedAt_);
  desk.env.timers.set(TimerKind::homeMapConsole, 0, next);
}

void HomeMapConsole::ask(bool everybody, const HomeMapDesk& desk) {
  if (!told_ || desk.env.incarnation == 0) return;
  const HomeMapStage stage{desk.record().console->change, {desk.env.incarnation, round_}};
  for (const Participant& one : participants_) {
    if (!one.fenced && (everybody || one.owes(confirming_))) desk.tell(one.node, stage);
  }
}

void HomeMapConsole::onTimer(const HomeMapDesk& desk) {
  if (!desk.record().console) return;
  ask(false, desk);
  arm(desk);
}

void HomeMapConsole::onDurable(const HomeMapDesk& desk) {
  if (!desk.record().console || !desk.store.holds(changeAt_)) return;
  for (const NodeId node : std::exchange(fencing_, {})) {
    Participant* const one = find(node);
    if (one == nullptr || one->fenced) continue;
    one->fenced = true;
    one->drained = desk.env.now() + waitedOut(desk.drain(), desk);
    desk.env.observe(obs::HomeMapFenced{desk.record().console->change.map.generation, node});
    confirming_ = false;  // HM-4: whoever has confirmed before may die in the drain that starts here
    reckon(desk);
  }
  if (told_) return;
  told_ = true;
  ask(true, desk);
}

// ---- The end ----------------------------------------------------------------------------------------------

std::optional<ActivationRecord> HomeMapConsole::conclude(const HomeMapDesk& desk) {
  if (!desk.record().console) {
    participants_.clear();
    return std::nullopt;
  }
  if (!told_ || !drained(desk)) return std::nullopt;
  if (desk.on(Rule::HM4_AcknowledgementDies)) {
    // HM-4: whoever acknowledged must still be the incarnation that did.
    if (!confirming_) {
      confirming_ = true;
      nextRound();
      ask(true, desk);
      arm(desk);
    }
    if (!awaited().empty() && desk.on(Rule::HM3_WaitsForAll)) return std::nullopt;
  }
  ActivationRecord record = recordOf(desk);
  participants_.clear();
  drainedAt_ = MonotonicInstant::never();
  desk.env.timers.cancel(TimerKind::homeMapConsole, 0);
  return record;
}

ActivationRecord HomeMapConsole::recordOf(const HomeMapDesk& desk) const {
  ActivationRecord record;
  record.map = desk.record().console->change.map;
  for (const Participant& one : participants_) {
    if (one.fenced) {
      record.fenced.push_back(one.node);
    } else {
      record.acknowledged.push_back({one.node, one.incarnation});
    }
  }
  record.notBefore = desk.drain();
  record.seal = sealOf(record);
  return record;
}

std::vector<NodeId> HomeMapConsole::awaited() const {
  std::vector<NodeId> nodes;
  for (const Participant& one : participants_) {
    if (one.owes(confirming_)) nodes.push_back(one.node);
  }
  return nodes;
}

void HomeMapConsole::addTo(StateHash& hash) const {
  for (const Participant& one : participants_) {
    hash.add(one.node);
    hash.add(static_cast<std::uint64_t>(one.incarnation) << 2 |
             static_cast<std::uint64_t>(one.confirmed) << 1 | static_cast<std::uint64_t>(one.fenced));
  }
  hash.addRange(fencing_);
  hash.add(static_cast<std::uint64_t>(round_) << 32 | changeAt_);
  hash.add(static_cast<std::uint64_t>(told_) << 1 | static_cast<std::uint64_t>(confirming_));
  hash.add(drainedAt_);
}

}  // namespace holdfast::protocol
