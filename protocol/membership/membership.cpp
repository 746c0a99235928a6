#include "protocol/membership/membership.hpp"

#include <utility>

namespace holdfast::protocol {

Membership::Membership(const NodeSetup& setup, DurableMembership durable)
    : kind_(make(setup, std::move(durable))) {}

Membership::Kind Membership::make(const NodeSetup& setup, DurableMembership durable) {
  switch (setup.options.membership) {
    case MembershipKind::epoch:
      return EpochMembership(setup, std::move(durable));
    case MembershipKind::homeMap:
      return HomeMap(setup, std::move(durable));
    case MembershipKind::fixed:
      break;
  }
  return FixedEpoch(setup, durable.start);
}

}  // namespace holdfast::protocol
