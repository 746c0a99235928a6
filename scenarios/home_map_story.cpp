#include "scenarios/home_map_story.hpp"

#include <algorithm>
#include <stdexcept>

#include "protocol/routing.hpp"

namespace holdfast::scenarios::maps {
namespace {

constexpr int kKeys = 12;

std::vector<NodeId> idsIn(const Story& story, const std::vector<std::string>& names) {
  std::vector<NodeId> ids;
  for (const std::string& name : names) ids.push_back(story.id(name));
  return ids;
}

}  // namespace

StoryOptions options(std::vector<std::string> nodes, std::vector<std::string> members,
                     const std::string& home) {
  StoryOptions options;
  options.nodes = std::move(nodes);
  options.members = std::move(members);
  options.keys.clear();
  for (int i = 0; i < kKeys; ++i) options.keys.push_back({fmt::format("k{}", i), home, "accounts"});
  options.protocol.membership = protocol::MembershipKind::homeMap;
  options.checkers.members = (std::uint64_t{1} << options.nodes.size()) - 1;
  return options;
}

std::string movedKey(Story& story, const std::vector<std::string>& homes, std::string_view home) {
  const std::vector<NodeId> ids = idsIn(story, homes);
  for (const StoryKey& key : story.options().keys) {
    const NodeId found = protocol::homeOf(story.cluster().directory(), ids, story.key(key.name),
                                          story.options().protocol.ringVersion);
    if (found == story.id(home)) return key.name;
  }
  throw std::invalid_argument(fmt::format("no key moves to '{}'", home));
}

void stage(Story& story, std::string_view console, std::uint32_t generation,
           const std::vector<std::string>& homes) {
  story.cluster().call(story.id(console), protocol::AdminStageHomeMap{generation, idsIn(story, homes)});
}

void fence(Story& story, std::string_view console, std::uint32_t generation, std::string_view member,
           bool stopped) {
  story.cluster().call(story.id(console), protocol::AdminFenceHome{generation, story.id(member), stopped});
}

Task<bool> untilActing(Story& story, std::string_view node, std::uint32_t generation, Duration limit) {
  const NodeId id = story.id(node);
  const auto acts = [=](const obs::MembershipInstalled& installed, NodeId at) {
    return at == id && installed.number == generation;
  };
  return story.untilSeen<obs::MembershipInstalled>(acts, 1, limit);
}

std::size_t activations(const Story& story, std::uint32_t generation) {
  return story.count<obs::HomeMapActivated>(
      [=](const obs::HomeMapActivated& activated, NodeId) { return activated.generation == generation; });
}

std::size_t acknowledgements(const Story& story) {
  return story.count<obs::HomeMapAcknowledged>(
      [](const obs::HomeMapAcknowledged& given, NodeId) { return !given.again; });
}

Task<bool> untilAcknowledged(Story& story, std::size_t count) {
  return story.until([&story, count] { return acknowledgements(story) >= count; });
}

TrueInstant lastAcknowledgement(const Story& story, std::uint32_t generation) {
  const auto last = story.last<obs::HomeMapAcknowledged>([=](const obs::HomeMapAcknowledged& given, NodeId) {
    return given.generation == generation && !given.again;
  });
  return last ? last->first.at : TrueInstant::never();
}

std::size_t refused(const Story& story, MessageKind kind, Cause cause) {
  return story.count<obs::MessageRefused>(
      [=](const obs::MessageRefused& one, NodeId) { return one.message == kind && one.cause == cause; });
}

Task<> keepEntering(Story& story, std::string node, std::string key, Duration length, std::size_t& admitted) {
  const StoryNode caller = story.node(node);
  const TrueInstant end = story.now() + length;
  const LockCall call = parts::callFor(1_s, 3_s);
  while (story.now() < end) {
    const LockOutcome lock = co_await caller.lock(key, call);
    if (!lock.admitted()) {
      co_await story.sleep(100_ms);
      continue;
    }
    ++admitted;
    co_await story.sleep(2_s);
    caller.unlock(lock);
  }
}

}  // namespace holdfast::scenarios::maps
