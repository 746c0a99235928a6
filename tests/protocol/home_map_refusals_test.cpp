// BD-3 for the home map: what is forged, partial, duplicated, obsolete, oversized, of strangers or of unknown
// versions changes nothing, and is counted.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/protocol/home_map_network.hpp"

namespace holdfast::protocol {
namespace {

constexpr NodeId kHomeA{0};
constexpr NodeId kHomeB{1};
constexpr NodeId kHomeC{2};
constexpr NodeId kSpare{3};

HomeMapStage goodStage() {
  HomeMapChange change{{2, {kHomeB, kHomeC}, 1}, {kHomeA, kHomeB, kHomeC}, 0};
  change.seal = sealOf(change);
  return {change, {1, 1}};
}

HomeMapActivation goodActivation(const MapNetwork& net) {
  const Duration drain = net.options.maxDelegation + net.options.skew;
  ActivationRecord record{{2, {kHomeB, kHomeC}, 1}, {{kHomeA, 1}, {kHomeB, 1}}, {kHomeC}, drain, 0};
  record.seal = sealOf(record);
  return {record};
}

/// A message, what is wrong with it, and why it is refused.
struct Refusal {
  std::string what;
  std::function<Message(const MapNetwork&)> make;
  Cause cause = Cause::malformed;
};

Refusal badStage(std::string what, Cause cause, std::function<void(HomeMapChange&)> spoil, bool seal = true) {
  return {std::move(what),
          [spoil = std::move(spoil), seal](const MapNetwork&) {
            HomeMapStage stage = goodStage();
            spoil(stage.change);
            if (seal) stage.change.seal = sealOf(stage.change);
            return Message(stage);
          },
          cause};
}

Refusal badActivation(std::string what, Cause cause, std::function<void(ActivationRecord&)> spoil,
                      bool seal = true) {
  return {std::move(what),
          [spoil = std::move(spoil), seal](const MapNetwork& net) {
            HomeMapActivation activation = goodActivation(net);
            spoil(activation.record);
            if (seal) activation.record.seal = sealOf(activation.record);
            return Message(activation);
          },
          cause};
}

std::vector<NodeId> manyNodes(std::size_t count) {
  std::vector<NodeId> nodes;
  for (std::size_t i = 0; i < count; ++i) nodes.push_back({static_cast<std::uint16_t>(i)});
  return nodes;
}

std::vector<Refusal> refusals() {
  return {
      badStage(
          "a forged change", Cause::malformed, [](HomeMapChange& c) { c.seal ^= 1; }, false),
      badStage(
          "a change that was tampered with", Cause::malformed,
          [](HomeMapChange& c) { c.map.homes = {kHomeB}; }, false),
      badStage("unsorted homes", Cause::malformed,
               [](HomeMapChange& c) { std::swap(c.map.homes[0], c.map.homes[1]); }),
      badStage("a home named twice", Cause::malformed,
               [](HomeMapChange& c) { c.map.homes = {kHomeB, kHomeB}; }),
      badStage("no home at all", Cause::malformed, [](HomeMapChange& c) { c.map.homes.clear(); }),
      badStage("an unknown home", Cause::malformed,
               [](HomeMapChange& c) {
                 c.map.homes = {kHomeB, NodeId{99}};
                 c.participants.push_back(NodeId{99});
               }),
      badStage("a home that is no participant", Cause::malformed,
               [](HomeMapChange& c) { c.participants = {kHomeA, kHomeB}; }),
      badStage("too many homes", Cause::capacity,
               [](HomeMapChange& c) { c.map.homes = manyNodes(kMaxMembers + 1); }),
      badStage("too many participants", Cause::capacity,
               [](HomeMapChange& c) { c.participants = manyNodes(kMaxMembers + 1); }),
      badStage("another ring version", Cause::version, [](HomeMapChange& c) { c.map.ringVersion = 2; }),
      badStage("an unknown ring version", Cause::version, [](HomeMapChange& c) { c.map.ringVersion = 77; }),
      badStage("a change that leaves the receiver out", Cause::notMember,
               [](HomeMapChange& c) { c.participants = {kHomeB, kHomeC}; }),
      badStage("the generation that is acted on", Cause::superseded,
               [](HomeMapChange& c) { c.map.generation = 1; }),
      badActivation(
          "a forged record", Cause::malformed, [](ActivationRecord& r) { r.seal ^= 1; }, false),
      badActivation(
          "made-up evidence", Cause::malformed, [](ActivationRecord& r) { r.fenced = {kHomeA, kHomeC}; },
          false),
      badActivation("a record without a home's evidence", Cause::malformed,
                    [](ActivationRecord& r) { r.fenced.clear(); }),
      badActivation("an acknowledgement that is counted twice", Cause::malformed,
                    [](ActivationRecord& r) { r.acknowledged = {{kHomeA, 1}, {kHomeB, 1}, {kHomeB, 2}}; }),
      badActivation("too many fences", Cause::capacity,
                    [](ActivationRecord& r) { r.fenced = manyNodes(kMaxMembers + 1); }),
      badActivation("another ring version", Cause::version,
                    [](ActivationRecord& r) { r.map.ringVersion = 2; }),
      badActivation("a wait that is too short for this node's delegations", Cause::activation,
                    [](ActivationRecord& r) { r.notBefore = r.notBefore - sim::nanoseconds(1); }),
      badActivation("an obsolete generation", Cause::superseded,
                    [](ActivationRecord& r) { r.map.generation = 1; }),
  };
}

class HomeMapRefusal : public testing::TestWithParam<std::size_t> {};

TEST_P(HomeMapRefusal, ChangesNothingAndIsCounted) {
  const Refusal refusal = refusals()[GetParam()];
  SCOPED_TRACE(refusal.what);
  MapNetwork net(4, 3);
  net.startAll();
  const std::uint64_t before = net.hashOf(kHomeA);
  const Message message = refusal.make(net);
  net.receive(kHomeA, kHomeB, message);
  EXPECT_EQ(net.hashOf(kHomeA), before);
  EXPECT_EQ(net.writesUnderWay(kHomeA), 0U);
  EXPECT_EQ(net.refusals(kindOf(message), refusal.cause), 1U);
  EXPECT_EQ(net.all<obs::MessageRefused>().size(), 1U);
  EXPECT_TRUE(net.live(kHomeA));
}

INSTANTIATE_TEST_SUITE_P(All, HomeMapRefusal, testing::Range(std::size_t{0}, refusals().size()));

TEST(HomeMapRefusals, TheGoodOnesAreTakenUp) {
  MapNetwork net(4, 3);
  net.startAll();
  net.receive(kHomeA, kHomeB, goodStage());
  EXPECT_FALSE(net.live(kHomeA));
  net.settle();
  net.receive(kHomeA, kHomeB, goodActivation(net));
  net.settle();
  EXPECT_EQ(net.at(kHomeA).number(), 2U);
}

TEST(HomeMapRefusals, ARecordThatCameBeforeIsADuplicate) {
  MapNetwork net(4, 3);
  net.startAll();
  net.receive(kHomeB, kHomeA, goodActivation(net));
  net.settle();
  ASSERT_EQ(net.at(kHomeB).number(), 2U);
  const std::uint64_t before = net.hashOf(kHomeB);
  net.receive(kHomeB, kHomeA, goodActivation(net));
  EXPECT_EQ(net.hashOf(kHomeB), before);
  EXPECT_EQ(net.refusals(MessageKind::homeMapActivation, Cause::superseded), 1U);
  // HM-6: durably.
  net.crash(kHomeB);
  net.start(kHomeB);
  net.settle();
  EXPECT_EQ(net.at(kHomeB).number(), 2U);
  net.receive(kHomeB, kHomeA, goodStage());
  EXPECT_EQ(net.refusals(MessageKind::homeMapStage, Cause::superseded), 1U);
  EXPECT_TRUE(net.live(kHomeB));
}

TEST(HomeMapRefusals, ARecordWithoutAParticipantOfTheStagedChangeIsPartial) {
  MapNetwork net(4, 4);
  net.startAll();
  HomeMapStage stage = goodStage();
  stage.change.participants.push_back(kSpare);
  stage.change.seal = sealOf(stage.change);
  net.receive(kHomeA, kHomeB, stage);
  net.settle();
  const HomeMapActivation partial = goodActivation(net);  // says nothing of D, which acts on generation 1
  net.receive(kHomeA, kHomeB, partial);
  EXPECT_EQ(net.refusals(MessageKind::homeMapActivation, Cause::malformed), 1U);
  EXPECT_EQ(net.writesUnderWay(kHomeA), 0U);
}

TEST(HomeMapRefusals, WhoHasStoppedForAGreaterGenerationActsOnNoLowerOne) {
  MapNetwork net(4, 3);
  net.startAll();
  HomeMapStage stage = goodStage();
  stage.change.map.generation = 5;
  stage.change.seal = sealOf(stage.change);
  net.receive(kHomeA, kHomeB, stage);
  net.settle();
  net.receive(kHomeA, kHomeB, goodStage());
  EXPECT_EQ(net.refusals(MessageKind::homeMapStage, Cause::superseded), 1U);
  net.receive(kHomeA, kHomeB, goodActivation(net));
  EXPECT_EQ(net.refusals(MessageKind::homeMapActivation, Cause::superseded), 1U);
  HomeMapStage namesake = stage;
  namesake.change.map.homes = {kHomeC};
  namesake.change.seal = sealOf(namesake.change);
  net.receive(kHomeA, kHomeB, namesake);
  EXPECT_EQ(net.refusals(MessageKind::homeMapStage, Cause::membership), 1U);
  EXPECT_FALSE(net.live(kHomeA));
}

TEST(HomeMapRefusals, AConsoleBelievesOnlyAnswersToWhatItAsked) {
  MapNetwork net(4, 3);
  net.startAll();
  const std::vector<NodeId> everybody{kHomeA, kHomeB, kHomeC};
  HomeMapAcknowledgement answer{{1, 1}, 2, 0, 1, net.options.maxDelegation, everybody};
  answer.digest = digestOf(net.directory(), goodStage().change.map, {});
  const auto refusedFor = [&](NodeId from, const HomeMapAcknowledgement& message, Cause cause) {
    const std::uint64_t before = net.hashOf(kHomeB);
    const std::size_t count = net.refusals(MessageKind::homeMapAcknowledgement, cause);
    net.receive(kHomeB, from, message);
    EXPECT_EQ(net.hashOf(kHomeB), before);
    EXPECT_EQ(net.refusals(MessageKind::homeMapAcknowledgement, cause), count + 1);
  };
  refusedFor(kHomeA, answer, Cause::superseded);  // nothing was asked
  net.stage(kHomeB, 2, {kHomeB, kHomeC});
  ASSERT_TRUE(net.persistOne(kHomeB));
  refusedFor(kSpare, answer, Cause::notMember);
  HomeMapAcknowledgement bad = answer;
  bad.generation = 3;
  refusedFor(kHomeA, bad, Cause::superseded);
  bad = answer;
  bad.request = {1, 9};
  refusedFor(kHomeA, bad, Cause::superseded);
  bad = answer;
  bad.digest ^= 1;
  refusedFor(kHomeA, bad, Cause::membership);
  bad = answer;
  bad.incarnation = 0;
  refusedFor(kHomeA, bad, Cause::malformed);
  bad = answer;
  bad.wait = sim::hours(9);
  refusedFor(kHomeA, bad, Cause::malformed);
  bad = answer;
  bad.wait = -bad.wait;
  refusedFor(kHomeA, bad, Cause::malformed);
  bad = answer;
  bad.participants = {kHomeC, kHomeA};
  refusedFor(kHomeA, bad, Cause::malformed);
  const std::uint64_t before = net.hashOf(kHomeB);
  net.receive(kHomeB, kHomeA, answer);
  EXPECT_NE(net.hashOf(kHomeB), before) << "the good one counts";
}

TEST(HomeMapRefusals, TheOperatorsMistakesAreRefused) {
  MapNetwork net(4, 3);
  net.startAll();
  const auto refusedFor = [&](Cause cause) {
    const auto all = net.all<obs::HomeMapRefused>();
    ASSERT_FALSE(all.empty());
    EXPECT_EQ(all.back().cause, cause);
    EXPECT_EQ(net.writesUnderWay(kSpare), 0U);
  };
  net.stage(kSpare, 2, {});
  refusedFor(Cause::malformed);
  net.stage(kSpare, 2, {kHomeA, kHomeA});
  refusedFor(Cause::malformed);
  net.stage(kSpare, 2, {NodeId{99}});
  refusedFor(Cause::malformed);
  net.stage(kSpare, 1, {kHomeA});
  refusedFor(Cause::superseded);
  net.fence(kSpare, 2, kHomeA);
  refusedFor(Cause::superseded);
  net.stage(kSpare, 2, {kHomeA});
  net.settle();
  net.fence(kSpare, 2, kSpare);
  refusedFor(Cause::notMember);
  net.stage(kSpare, 2, {kHomeB});
  refusedFor(Cause::superseded);
  EXPECT_EQ(net.all<obs::HomeMapRefused>().size(), 7U);
}

TEST(HomeMapRefusals, MessagesOfAnotherKindOfMembershipAreRefused) {
  MapNetwork net(4, 3);
  net.startAll();
  net.receive(kHomeA, kHomeB, MembershipPrepare{2, {1, kHomeB}, 1});
  EXPECT_EQ(net.refusals(MessageKind::membershipPrepare, Cause::membership), 1U);
}

}  // namespace
}  // namespace holdfast::protocol
