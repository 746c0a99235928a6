// The durable records of a cluster's machines: what a crash leaves, what a spoilt or replaced disk means
// (TK-2, EP-10, EP-11).

#include <gtest/gtest.h>

#include <map>

#include "protocol/membership/membership.hpp"
#include "scenarios/cluster.hpp"

namespace holdfast::scenarios::records {
namespace {

constexpr NodeId kLast{2};

Cluster clusterOf(std::uint64_t seed) {
  ClusterSetup setup;
  setup.options.seed = seed;
  setup.options.nodes = 3;
  setup.options.keys = 1;
  setup.options.protocol.membership = protocol::MembershipKind::epoch;
  setup.directory = makeDirectory(setup.options);
  return Cluster(std::move(setup));
}

TrueInstant at(std::int64_t seconds) { return TrueInstant{sim::seconds(seconds).ns}; }

TEST(Records, AFounderFindsItsConfigurationAgain) {
  Cluster cluster = clusterOf(1);
  cluster.start();
  cluster.runUntil(at(1));
  cluster.crash(kLast);
  cluster.restart(kLast);
  cluster.runUntil(at(2));
  ASSERT_NE(cluster.node(kLast), nullptr);
  ASSERT_NE(cluster.node(kLast)->membership().epoch(), nullptr);
  EXPECT_FALSE(cluster.node(kLast)->membership().epoch()->joining());
  EXPECT_EQ(cluster.coverage().kind<obs::MembershipJoining>(), 0U);
}

TEST(Records, ASpoiltRecordIsDetectedAndTheNodeJoins) {
  Cluster cluster = clusterOf(1);
  cluster.start();
  cluster.runUntil(at(1));
  ASSERT_TRUE(cluster.corruptRecord(kLast, protocol::RecordKind::certificate));
  cluster.crash(kLast);
  cluster.restart(kLast);
  EXPECT_EQ(cluster.coverage().kind<obs::MembershipJoining>(), 1U);
  // It asks, and is admitted with its new identity; nobody is left out for long.
  cluster.runUntil(at(40));
  EXPECT_GT(cluster.node(kLast)->membership().number(), 1U);
  EXPECT_TRUE(cluster.node(kLast)->membership().isMember(kLast));
}

TEST(Records, AReplacedDiskHasNothingAndItsIncarnationsAreNewOnes) {
  Cluster cluster = clusterOf(1);
  cluster.start();
  cluster.runUntil(at(1));
  EXPECT_FALSE(cluster.replaceDisk(kLast)) << "it is running";
  cluster.crash(kLast);
  ASSERT_TRUE(cluster.replaceDisk(kLast));
  cluster.restart(kLast);
  cluster.runUntil(at(2));
  EXPECT_EQ(cluster.coverage().kind<obs::MembershipJoining>(), 1U);
  EXPECT_EQ(cluster.checkers().findings().violations().size(), 0U);
}

}  // namespace
}  // namespace holdfast::scenarios::records
