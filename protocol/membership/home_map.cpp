#include "protocol/membership/home_map.hpp"

#include <algorithm>
#include <utility>

#include "protocol/membership/published_map.hpp"

namespace holdfast::protocol {

HomeMap::HomeMap(const NodeSetup& setup, DurableMembership durable) : member_(setup, durable) {
  store_.record = std::move(durable.homeMap);
}

bool HomeMap::isMember(NodeId node) const { return contains(member_.homes(), node); }

MembershipChange HomeMap::boot(const MembershipEnv& env) {
  const HomeMapDesk here = desk(env);
  MembershipChange change = member_.boot(here);
  console_.boot(here);
  return finish(change, here);
}

MembershipChange HomeMap::dispatch(NodeId from, const Message& message, const HomeMapDesk& here) {
  MembershipChange change;
  if (const auto* hello = std::get_if<HomeMapHello>(&message)) {
    change = member_.onHello(from, *hello, here);
  } else if (const auto* stage = std::get_if<HomeMapStage>(&message)) {
    change = member_.onStage(from, *stage, here);
  } else if (const auto* answer = std::get_if<HomeMapAcknowledgement>(&message)) {
    console_.onAcknowledgement(from, *answer, here);
  } else if (const auto* query = std::get_if<HomeMapQuery>(&message)) {
    member_.onQuery(from, *query, here);
  } else if (const auto* activation = std::get_if<HomeMapActivation>(&message)) {
    const Cause fault = member_.onActivation(from, *activation, here);
    // A member that has stopped for a greater generation does not take the map up, but its console hears of
    // it.
    const bool genuine = fault == Cause::none || fault == Cause::superseded;
    if (genuine) console_.onActivation(activation->record.map, here);
  } else {
    here.refuse(from, kindOf(message), Cause::membership);
  }
  return change;
}

MembershipChange HomeMap::onMessage(NodeId from, const Message& message, const MembershipEnv& env) {
  const HomeMapDesk here = desk(env);
  return finish(dispatch(from, message, here), here);
}

MembershipChange HomeMap::onTimer(TimerKind timer, const MembershipEnv& env) {
  const HomeMapDesk here = desk(env);
  MembershipChange change;
  if (timer == TimerKind::homeMap) {
    if (std::exchange(rewrite_, false)) (void)store_.write(env);
    change = member_.onTick(here);
  } else if (timer == TimerKind::homeMapConsole) {
    console_.onTimer(here);
  }
  return finish(change, here);
}

MembershipChange HomeMap::onPersisted(const PersistDone& done, const MembershipEnv& env) {
  const HomeMapDesk here = desk(env);
  if (done.failed) {
    // What waits for it goes on waiting; every write is the whole record.
    rewrite_ = true;
    return {};
  }
  store_.durable = std::max(store_.durable, done.sequence);
  MembershipChange change = member_.onDurable(here);
  console_.onDurable(here);
  if (announceAt_ != 0 && store_.holds(announceAt_)) {
    announceAt_ = 0;
    announce(here);
  }
  return finish(change, here);
}

MembershipChange HomeMap::stage(const AdminStageHomeMap& change, const MembershipEnv& env) {
  const HomeMapDesk here = desk(env);
  console_.stage(change, member_, here);
  return finish({}, here);
}

MembershipChange HomeMap::fence(const AdminFenceHome& fence, const MembershipEnv& env) {
  const HomeMapDesk here = desk(env);
  console_.fence(fence, here);
  return finish({}, here);
}

/// What the node tells itself is part of the same input, and so is the end of a change that it leads to.
MembershipChange HomeMap::finish(MembershipChange change, const HomeMapDesk& here) {
  const auto listen = [&] {
    for (std::size_t i = 0; i < loopback_.size(); ++i) {
      const Message message = std::move(loopback_[i]);
      change |= dispatch(here.env.self(), message, here);
    }
    loopback_.clear();
  };
  listen();
  std::optional<ActivationRecord> record = console_.conclude(here);
  if (!record && !loopback_.empty()) {
    // This node may have been the only one left to confirm its acknowledgement.
    listen();
    record = console_.conclude(here);
  }
  if (record) {
    member_.adopt(std::move(*record), here);
    announceAt_ = store_.written;
  }
  return change;
}

/// HM-3: the generation is active; who does not hear of it now asks for it when it hears of the generation.
void HomeMap::announce(const HomeMapDesk& here) const {
  const ActivationRecord& record = here.record().active;
  const HomeMapActivation activation{record};
  for (const Acknowledged& one : record.acknowledged) {
    if (one.member != here.env.self()) here.env.send(one.member, activation);
  }
  for (const NodeId node : record.fenced) {
    if (node != here.env.self()) here.env.send(node, activation);
  }
}

void HomeMap::addTo(StateHash& hash) const {
  member_.addTo(hash, store_);
  console_.addTo(hash);
  hash.add(store_.record);
  hash.add(static_cast<std::uint64_t>(announceAt_) << 1 | static_cast<std::uint64_t>(rewrite_));
}

}  // namespace holdfast::protocol
