#include "measure/lone_node.hpp"

#include "protocol/canonical_key.hpp"

namespace holdfast::measure {
namespace {

protocol::Directory directoryOfOneKey() {
  const auto bytes = protocol::canonicalKey("db", "accounts", protocol::KeyPart{std::string("k")});
  return protocol::Directory({"A"}, {{"accounts/k", bytes.value(), 0}});
}

protocol::NodeSetup setupOfLoneNode(const protocol::Directory& directory) {
  protocol::NodeSetup setup;
  setup.self = obs::NodeId{0};
  setup.directory = &directory;
  setup.members = {obs::NodeId{0}};
  setup.options.maxDelegation = sim::hours(1'000'000);
  setup.options.epochLease = sim::hours(1'000'000);
  return setup;
}

}  // namespace

LoneNode::LoneNode() : directory_(directoryOfOneKey()), node_(setupOfLoneNode(directory_), {}) {
  give(protocol::Boot{});
  give(protocol::PersistDone{1, false});
}

void LoneNode::lockAndUnlock() {
  const obs::CallId call{++calls_};
  give(protocol::CallLock{call, obs::KeyId{0}, sim::seconds(5), sim::seconds(5), true, 0});
  give(protocol::CallUnlock{call});
}

void LoneNode::give(const protocol::Input& input) {
  effects_.clear();
  now_ = now_ + sim::microseconds(1);
  node_.handle(input, protocol::Context{now_, sim::WallInstant{now_.ns}, effects_});
}

}  // namespace holdfast::measure
