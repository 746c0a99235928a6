#include "scenarios/membership_parts.hpp"

#include <algorithm>
#include <functional>

#include "protocol/routing.hpp"

namespace holdfast::scenarios::parts {
namespace {

const protocol::Membership* membershipOf(Story& story, std::string_view node) {
  const protocol::Node* const state = story.cluster().node(story.id(node));
  return state == nullptr ? nullptr : &state->membership();
}

NodeId idOrNone(const Story& story, std::string_view name) {
  return name.empty() ? NodeId::none() : story.id(name);
}

}  // namespace

StoryOptions epochOptions(std::vector<std::string> nodes, std::vector<std::string> founders,
                          std::vector<std::string> keys) {
  StoryOptions options;
  options.nodes = std::move(nodes);
  options.members = std::move(founders);
  options.keys.clear();
  for (const std::string& key : keys) options.keys.push_back({key, key.substr(1), "accounts"});
  options.protocol.membership = protocol::MembershipKind::epoch;
  return options;
}

void propose(Story& story, std::string_view by, std::string_view add, std::string_view remove) {
  story.cluster().call(story.id(by),
                       protocol::AdminProposeMembership{idOrNone(story, add), idOrNone(story, remove)});
}

std::uint32_t numberAt(Story& story, std::string_view node) {
  const protocol::Membership* const membership = membershipOf(story, node);
  return membership == nullptr ? 0 : membership->number();
}

bool activeAt(Story& story, std::string_view node, std::uint32_t number) {
  const protocol::Membership* const membership = membershipOf(story, node);
  return membership != nullptr && membership->number() >= number &&
         story.node(node).monotonicNow() >= membership->grantsFrom();
}

bool liveAt(Story& story, std::string_view node) {
  const protocol::Membership* const membership = membershipOf(story, node);
  return membership != nullptr && story.node(node).monotonicNow() < membership->deadline();
}

Task<bool> untilNumber(Story& story, std::string node, std::uint32_t number, Duration limit) {
  std::function<bool()> holds = [&story, node, number] { return numberAt(story, node) >= number; };
  co_return co_await story.until(std::move(holds), limit);
}

Task<bool> untilLive(Story& story, std::string node, std::uint32_t number, Duration limit) {
  std::function<bool()> holds = [&story, node, number] {
    return numberAt(story, node) >= number && liveAt(story, node);
  };
  co_return co_await story.until(std::move(holds), limit);
}

Task<bool> untilActive(Story& story, std::string node, std::uint32_t number, Duration limit) {
  std::function<bool()> holds = [&story, node, number] {
    return activeAt(story, node, number) && liveAt(story, node);
  };
  co_return co_await story.until(std::move(holds), limit);
}

obs::NodeBits setOf(const Story& story, std::initializer_list<std::string_view> names) {
  obs::NodeBits set;
  for (const std::string_view name : names) set.insert(story.id(name));
  return set;
}

std::optional<std::pair<obs::Stamp, obs::MembershipInstalled>> installation(const Story& story,
                                                                            std::string_view node,
                                                                            std::uint32_t number) {
  const NodeId id = story.id(node);
  return story.first<obs::MembershipInstalled>(
      [=](const obs::MembershipInstalled& what, NodeId at) { return at == id && what.number == number; });
}

TrueInstant activation(const Story& story, std::string_view node, std::uint32_t number) {
  const NodeId id = story.id(node);
  const auto found = story.first<obs::MembershipActive>(
      [=](const obs::MembershipActive& what, NodeId at) { return at == id && what.number == number; });
  return found ? found->first.at : TrueInstant::never();
}

std::string homeUnder(const Story& story, std::string_view key,
                      std::initializer_list<std::string_view> members) {
  std::vector<NodeId> ids;
  for (const std::string_view name : members) ids.push_back(story.id(name));
  std::sort(ids.begin(), ids.end());
  const NodeId home =
      protocol::homeOf(story.directory(), ids, story.key(key), story.options().protocol.ringVersion);
  return std::string(story.nameOf(home));
}

Duration longestActivation(const protocol::ProtocolOptions& options) {
  const Duration reserved = options.epochLease + options.skew;
  // Nanoseconds of a reservation times ppb stay far within 64 bits for any lease below an hour.
  const Duration stretched{reserved.ns + reserved.ns / 1'000 * options.rateErrorPpb / 1'000'000 + 1};
  return stretched + options.maxDelegation + options.skew;
}

Duration rehomedWithin(const StoryOptions& options) {
  const protocol::ProtocolOptions& protocol = options.protocol;
  const Duration noticed = protocol.renewEvery * (protocol.missedRenewals + 1);
  const Duration round = options.latency * 4 + options.persistDelay * 3;
  // Who learns of the decision by its certificate counts the protection from there.
  const Duration told = options.latency + options.persistDelay;
  const Duration protection = longestActivation(protocol);
  const Duration stretched{protection.ns + protection.ns / 1'000 * protocol.rateErrorPpb / 1'000'000 + 1};
  return noticed + protocol.proposalBackoff + round + told + stretched + options.latency * 2;
}

protocol::Configuration configurationOf(const Story& story, std::uint32_t number,
                                        std::initializer_list<std::string_view> members) {
  protocol::Configuration configuration;
  configuration.number = number;
  configuration.ringVersion = story.options().protocol.ringVersion;
  for (const std::string_view name : members) configuration.members.push_back({story.id(name), 0});
  std::sort(configuration.members.begin(), configuration.members.end());
  return configuration;
}

protocol::Certificate certify(const Story& story, protocol::Configuration configuration,
                              std::uint32_t counter, std::string_view proposer,
                              std::initializer_list<std::string_view> voters) {
  protocol::Certificate certificate;
  certificate.value.ballot = {counter, story.id(proposer)};
  certificate.value.configuration = std::move(configuration);
  for (const std::string_view voter : voters) {
    certificate.votes.push_back(
        {story.id(voter), protocol::signVote(story.directory(), story.id(voter), certificate.value)});
  }
  return certificate;
}

}  // namespace holdfast::scenarios::parts
