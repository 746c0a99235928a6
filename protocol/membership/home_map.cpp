#include "protocol/membership/home_map.hpp"

#include <algorithm>

namespace holdfast::protocol {

HomeMap::HomeMap(const NodeSetup& setup, DurableMembership)
    : homes_(setup.members), ringVersion_(setup.options.ringVersion) {
  std::sort(homes_.begin(), homes_.end());
}

bool HomeMap::isMember(NodeId node) const { return std::binary_search(homes_.begin(), homes_.end(), node); }

MembershipChange HomeMap::boot(const MembershipEnv&) { return {}; }

MembershipChange HomeMap::onMessage(NodeId from, const Message& message, const MembershipEnv& env) {
  env.observe(obs::MessageRefused{from, kindOf(message), Cause::membership});
  return {};
}

MembershipChange HomeMap::onTimer(TimerKind, const MembershipEnv&) { return {}; }

MembershipChange HomeMap::onPersisted(const PersistDone&, const MembershipEnv&) { return {}; }

void HomeMap::addTo(StateHash& hash) const {
  hash.add(static_cast<std::uint64_t>(generation_));
  hash.addRange(homes_);
}

}  // namespace holdfast::protocol
