// HM-1 to HM-7 step by step: what a member acts on, and what a console waits for.
#include "protocol/membership/home_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/protocol/home_map_network.hpp"

namespace holdfast::protocol {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr NodeId kMapA{0};
constexpr NodeId kMapB{1};
constexpr NodeId kMapC{2};
constexpr NodeId kMapD{3};

Duration drainOf(const MapNetwork& net) { return net.options.maxDelegation + net.options.skew; }

/// A change from {A, B, C} to {B, C, D} by the console D, staged and acknowledged, now.
MapNetwork acknowledgedChange(Rules rules = {}) {
  MapNetwork net(4, 3, rules);
  net.startAll();
  net.stage(kMapD, 2, {kMapB, kMapC, kMapD});
  net.settle();
  return net;
}

TEST(HomeMap, FoundersActByBirthAndOthersTakeNoPart) {
  MapNetwork net(4, 3);
  net.startAll();
  EXPECT_EQ(net.at(kMapD).number(), 1U);
  EXPECT_THAT(std::vector<NodeId>(net.at(kMapD).members().begin(), net.at(kMapD).members().end()),
              ElementsAre(kMapA, kMapB, kMapC));
  EXPECT_TRUE(net.at(kMapA).isMember(kMapC));
  EXPECT_FALSE(net.at(kMapA).isMember(kMapD));  // HM-1
  EXPECT_TRUE(net.at(kMapA).first());
  EXPECT_TRUE(net.live(kMapA));
}

TEST(HomeMap, NothingIsAgreedBeforeADigestWasHeard) {
  MapNetwork net(3, 3);
  net.silent = kMapC;
  net.startAll();
  NodeSetup setup;
  setup.self = kMapA;
  EXPECT_TRUE(net.at(kMapA).agrees(setup, kMapA));
  EXPECT_TRUE(net.at(kMapA).agrees(setup, kMapB));
  EXPECT_FALSE(net.at(kMapA).agrees(setup, kMapC));
  setup.rules.switchOff(Rule::HM2_CompareDigests);
  EXPECT_TRUE(net.at(kMapA).agrees(setup, kMapC));
}

TEST(HomeMap, AfterAStartNobodyTakesPartBeforeAPeerAgrees) {
  MapNetwork net(3, 3);
  net.startAll();
  net.crash(kMapA);
  net.silent = kMapA;
  net.start(kMapA);
  net.settle();
  net.advance(sim::minutes(1));
  EXPECT_FALSE(net.live(kMapA));
  net.silent = NodeId::none();
  net.advance(net.options.renewEvery);
  EXPECT_TRUE(net.live(kMapA));
  MapNetwork single(1, 1);
  single.startAll();
  EXPECT_TRUE(single.live(kMapA)) << "a map of one has nobody to compare with";
}

TEST(HomeMap, AGreetingToAnEarlierStartIsNoAgreement) {
  for (const bool kept : {true, false}) {
    Rules rules;
    if (!kept) rules.switchOff(Rule::HM2_DigestIsNoFreshness);
    MapNetwork net(3, 3, rules);
    net.startAll();
    net.crash(kMapA);
    net.silent = kMapA;
    net.start(kMapA);
    net.settle();
    const std::uint64_t digest = digestOf(net.directory(), {1, {kMapA, kMapB, kMapC}, 1}, {});
    net.receive(kMapA, kMapB, HomeMapHello{1, digest, 0, 0});
    net.receive(kMapA, kMapB, HomeMapHello{1, digest, 0, 1});
    EXPECT_EQ(net.live(kMapA), !kept);
    net.receive(kMapA, kMapB, HomeMapHello{1, digest, 0, 2});
    EXPECT_TRUE(net.live(kMapA));
  }
}

TEST(HomeMap, EverybodyOfBothMapsStopsAndAcknowledgesOnceDurable) {
  MapNetwork net(4, 3);
  net.startAll();
  net.stage(kMapD, 2, {kMapD, kMapC, kMapB});
  EXPECT_THAT(net.letters, IsEmpty()) << "the console's change is not durable yet";
  ASSERT_TRUE(net.persistOne(kMapD));
  ASSERT_EQ(net.letters.size(), 3U);
  const auto letter = net.letters.front();
  const auto* const stage = std::get_if<HomeMapStage>(&letter.message);
  ASSERT_NE(stage, nullptr);
  EXPECT_THAT(stage->change.map.homes, ElementsAre(kMapB, kMapC, kMapD));
  EXPECT_THAT(stage->change.participants, ElementsAre(kMapA, kMapB, kMapC, kMapD)) << "HM-3: the union";
  net.letters.clear();
  net.receive(kMapA, kMapD, *stage);
  EXPECT_FALSE(net.live(kMapA)) << "A has stopped before it says so";
  EXPECT_THAT(net.letters, IsEmpty()) << "its stop is not durable yet";
  ASSERT_TRUE(net.persistOne(kMapA));
  ASSERT_EQ(net.letters.size(), 1U);
  EXPECT_EQ(net.letters.front().to, kMapD);
  const auto* const answer = std::get_if<HomeMapAcknowledgement>(&net.letters.front().message);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer->incarnation, 1U);
  EXPECT_EQ(answer->wait, drainOf(net));
  EXPECT_EQ(net.at(kMapA).number(), 1U) << "and answers with nothing newer";
}

TEST(HomeMap, ActivationComesTheDrainAfterTheLastAcknowledgement) {
  MapNetwork net(4, 3);
  net.startAll();
  net.silent = kMapB;
  net.stage(kMapD, 2, {kMapB, kMapC, kMapD});
  net.settle();
  net.advance(sim::seconds(30));
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty()) << "B has not acknowledged";
  net.silent = NodeId::none();
  net.advance(net.options.renewEvery);
  const MonotonicInstant last{net.seen.back().at.ns};
  ASSERT_FALSE(net.live(kMapB));
  net.advance(drainOf(net) - sim::milliseconds(1) - (net.now - last));
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty());
  EXPECT_FALSE(net.live(kMapC));
  net.advance(sim::milliseconds(1) + net.options.renewEvery);
  EXPECT_EQ(net.all<obs::HomeMapActivated>().size(), 4U);
  for (const NodeId node : {kMapB, kMapC, kMapD}) {
    EXPECT_EQ(net.at(node).number(), 2U);
    EXPECT_TRUE(net.live(node));
    EXPECT_FALSE(net.at(node).first());
  }
  EXPECT_FALSE(net.at(kMapC).isMember(kMapA));
  const HomeMapRecord& record = net.disk(kMapD).homeMap;
  EXPECT_EQ(record.active.map.generation, 2U);
  EXPECT_EQ(record.active.acknowledged.size(), 4U);
  EXPECT_EQ(record.active.notBefore, drainOf(net));
  EXPECT_FALSE(record.staged.has_value());
  EXPECT_FALSE(record.console.has_value());
}

TEST(HomeMap, NobodyActsBeforeTheActivationRecordIsDurable) {
  MapNetwork net = acknowledgedChange();
  net.advance(drainOf(net));
  ASSERT_EQ(net.at(kMapC).number(), 2U);
  // Once more, with C's disk being slow.
  net.stage(kMapD, 3, {kMapC, kMapD});
  net.settle();
  net.advance(drainOf(net) - sim::milliseconds(1));
  ActivationRecord record{{3, {kMapC, kMapD}, 1}, {{kMapB, 1}, {kMapC, 1}, {kMapD, 1}}, {}, drainOf(net), 0};
  record.seal = sealOf(record);
  net.receive(kMapC, kMapD, HomeMapActivation{record});
  EXPECT_EQ(net.at(kMapC).number(), 2U);
  EXPECT_FALSE(net.live(kMapC));
  net.receive(kMapC, kMapB, HomeMapQuery{2});
  EXPECT_THAT(net.letters, IsEmpty()) << "nor shows it to others";
  ASSERT_TRUE(net.persistOne(kMapC));
  EXPECT_EQ(net.at(kMapC).number(), 3U);
  EXPECT_TRUE(net.live(kMapC));
}

TEST(HomeMap, AnAcknowledgementDiesWithItsIncarnation) {
  MapNetwork net = acknowledgedChange();
  net.advance(sim::seconds(5));
  net.crash(kMapA);
  net.start(kMapA);
  net.settle();
  EXPECT_FALSE(net.live(kMapA)) << "it stays stopped, by its disk";
  net.silent = kMapA;
  net.advance(sim::seconds(30));
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty()) << "HM-4: it has not said so";
  net.silent = NodeId::none();
  net.advance(net.options.renewEvery);
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty()) << "and the drain starts anew";
  net.advance(drainOf(net) + net.options.renewEvery);
  ASSERT_EQ(net.all<obs::HomeMapActivated>().size(), 4U);
  EXPECT_EQ(net.disk(kMapD).homeMap.active.acknowledged.front(), (Acknowledged{kMapA, 2}));
}

TEST(HomeMap, WithoutItsRuleAnAcknowledgementOutlivesItsIncarnation) {
  MapNetwork net = acknowledgedChange(Rules().without(Rule::HM4_AcknowledgementDies));
  net.crash(kMapA);
  net.start(kMapA);
  net.settle();
  net.silent = kMapA;
  net.advance(drainOf(net));
  EXPECT_TRUE(net.live(kMapA));
  EXPECT_EQ(net.at(kMapA).number(), 1U);
  EXPECT_EQ(net.at(kMapC).number(), 2U);
}

TEST(HomeMap, AFenceStandsForAnAcknowledgementAndADeclarationDoesNot) {
  MapNetwork net(4, 3);
  net.startAll();
  net.crash(kMapA);
  net.stage(kMapD, 2, {kMapB, kMapC, kMapD});
  net.settle();
  net.fence(kMapD, 2, kMapA, false);
  net.settle();
  net.advance(sim::seconds(30));
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty());
  ASSERT_EQ(net.all<obs::HomeMapRefused>().size(), 1U);
  net.fence(kMapD, 2, kMapA);
  EXPECT_THAT(net.all<obs::HomeMapFenced>(), IsEmpty()) << "it is not durable yet";
  net.settle();
  ASSERT_EQ(net.all<obs::HomeMapFenced>().size(), 1U);
  net.advance(drainOf(net) - sim::milliseconds(1));
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty());
  net.advance(sim::milliseconds(1));
  EXPECT_THAT(net.disk(kMapD).homeMap.active.fenced, ElementsAre(kMapA));
  // A comes back, and learns of it from whomever it greets.
  net.start(kMapA);
  net.settle();
  EXPECT_EQ(net.at(kMapA).number(), 2U);
  EXPECT_FALSE(net.at(kMapA).isMember(kMapA));
}

TEST(HomeMap, AConsoleThatRestartsTakesItsChangeUpAndDrainsAnew) {
  MapNetwork net = acknowledgedChange();
  net.advance(drainOf(net) - sim::milliseconds(1));
  net.crash(kMapD);
  net.start(kMapD);
  net.settle();
  net.advance(sim::milliseconds(2));
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty());
  net.advance(drainOf(net) + net.options.renewEvery * 2);
  EXPECT_EQ(net.all<obs::HomeMapActivated>().size(), 4U);
}

TEST(HomeMap, AnotherConsoleTakesOverWithTheParticipantsOnItsDisk) {
  MapNetwork net = acknowledgedChange();
  net.crash(kMapD);
  net.stage(kMapB, 2, {kMapB, kMapC, kMapD});
  net.settle();
  net.fence(kMapB, 2, kMapD);
  net.settle();
  net.advance(drainOf(net) + net.options.renewEvery);
  EXPECT_EQ(net.at(kMapC).number(), 2U);
  EXPECT_EQ(net.disk(kMapB).homeMap.active.acknowledged.size(), 3U);
}

TEST(HomeMap, AConsoleLearnsOfParticipantsThatItDidNotKnow) {
  MapNetwork net(4, 3);
  // D was installed with an old configuration, and thinks that A is alone.
  net.startAll();
  net.disk(kMapD).homeMap.active.map = {1, {kMapA}, 1};
  net.crash(kMapD);
  net.start(kMapD);
  net.letters.clear();
  net.stage(kMapD, 2, {kMapD});
  net.settle();
  const std::optional<ConsoleRecord>& console = net.disk(kMapD).homeMap.console;
  ASSERT_TRUE(console.has_value());
  EXPECT_THAT(console->change.participants, ElementsAre(kMapA, kMapB, kMapC, kMapD));
  net.advance(drainOf(net) + net.options.renewEvery);
  EXPECT_EQ(net.at(kMapB).number(), 2U);
  EXPECT_EQ(net.disk(kMapD).homeMap.active.acknowledged.size(), 4U);
}

/// B and D act on map 2, which C has missed. A and B, who knew of it, are fenced for a change to C alone,
/// whose console is C, while D can not be reached.
MapNetwork changeByOneWhoMissedAMap(std::vector<NodeId> earlier) {
  MapNetwork net(4, 2);
  net.startAll();
  net.silent = kMapC;
  net.stage(kMapB, 2, {kMapB, kMapD});
  net.settle();
  net.advance(drainOf(net) + net.options.renewEvery);
  net.crash(kMapA);
  net.crash(kMapB);
  net.silent = kMapD;
  net.stage(kMapC, 3, {kMapC}, std::move(earlier));
  net.settle();
  net.fence(kMapC, 3, kMapA);
  net.fence(kMapC, 3, kMapB);
  net.settle();
  return net;
}

TEST(HomeMap, TheOperatorNamesWhomItsConsoleHasMissed) {
  for (const bool named : {true, false}) {
    MapNetwork net = changeByOneWhoMissedAMap(named ? std::vector{kMapD, kMapB} : std::vector<NodeId>{});
    ASSERT_EQ(net.at(kMapC).number(), 1U);
    ASSERT_EQ(net.at(kMapD).number(), 2U);
    net.advance(drainOf(net) + net.options.renewEvery);
    EXPECT_TRUE(net.live(kMapD));
    EXPECT_EQ(net.at(kMapC).number(), named ? 1U : 3U) << "HM-3: D, a home of map 2, has not stopped";
    if (!named) continue;
    EXPECT_THAT(net.at(kMapC).awaited(), ElementsAre(kMapD));
    net.silent = NodeId::none();
    net.advance(net.options.renewEvery);
    EXPECT_FALSE(net.live(kMapD));
    EXPECT_EQ(net.at(kMapC).number(), 1U) << "D's own wait is yet to pass";
    net.advance(drainOf(net) + net.options.renewEvery);
    EXPECT_EQ(net.at(kMapC).number(), 3U);
  }
}

TEST(HomeMap, AConsoleThatHearsOfAnActiveMapAsksItsHomes) {
  MapNetwork net = changeByOneWhoMissedAMap({});
  net.advance(sim::seconds(1));
  net.silent = NodeId::none();
  net.advance(net.options.renewEvery * 2);
  EXPECT_EQ(net.at(kMapC).number(), 1U) << "it has stopped for map 3, and takes no other up";
  EXPECT_FALSE(net.live(kMapD)) << "HM-3: asked to stop, as a home of map 2";
  const std::optional<ConsoleRecord>& console = net.disk(kMapC).homeMap.console;
  ASSERT_TRUE(console.has_value());
  EXPECT_THAT(console->change.participants, ElementsAre(kMapA, kMapB, kMapC, kMapD));
  net.advance(drainOf(net) + net.options.renewEvery);
  EXPECT_EQ(net.at(kMapC).number(), 3U);
  EXPECT_EQ(net.disk(kMapC).homeMap.active.acknowledged.size(), 2U);
}

TEST(HomeMap, AConsoleThatTakesAMapUpAsksItsHomes) {
  // C has no part in either map, and is the console of the second.
  MapNetwork net(4, 2);
  net.startAll();
  net.silent = kMapC;
  net.stage(kMapB, 2, {kMapB, kMapD});
  net.settle();
  net.advance(drainOf(net) + net.options.renewEvery);
  net.crash(kMapB);
  net.silent = kMapD;
  net.stage(kMapC, 3, {kMapB});
  ASSERT_TRUE(net.persistOne(kMapC));
  net.crash(kMapA);
  const HomeMapActivation second{net.disk(kMapD).homeMap.active};
  net.receive(kMapC, kMapD, second);
  ASSERT_TRUE(net.persistOne(kMapC));
  EXPECT_EQ(net.at(kMapC).number(), 2U);
  // The next write, with what follows from it for the change, is lost; a restart makes up for it.
  net.crash(kMapC);
  net.start(kMapC);
  net.settle();
  ASSERT_TRUE(net.disk(kMapC).homeMap.console.has_value());
  EXPECT_THAT(net.disk(kMapC).homeMap.console->change.participants, ElementsAre(kMapA, kMapB, kMapD));
}

TEST(HomeMap, EarlierHomesThatCanNotBeAreRefused) {
  MapNetwork net(3, 3);
  net.startAll();
  net.stage(kMapA, 2, {kMapA, kMapB}, {kMapC, NodeId{400}});
  net.settle();
  ASSERT_EQ(net.all<obs::HomeMapRefused>().size(), 1U);
  EXPECT_EQ(net.all<obs::HomeMapRefused>().front().cause, Cause::malformed);
  EXPECT_FALSE(net.at(kMapA).stages(2));
}

TEST(HomeMap, TwoMapsOfOneGenerationAreWithheldUntilTheyAgree) {
  MapNetwork net(2, 2);
  net.startAll();
  net.receive(kMapA, kMapB, HomeMapHello{1, 4711, 0, 0});
  EXPECT_FALSE(net.live(kMapA));
  EXPECT_EQ(net.refusals(MessageKind::homeMapHello, Cause::membership), 1U);
  const std::uint64_t digest = digestOf(net.directory(), {1, {kMapA, kMapB}, 1}, {});
  net.receive(kMapA, kMapB, HomeMapHello{1, digest, 0, 0});
  EXPECT_TRUE(net.live(kMapA)) << "a verdict is not for ever";
}

TEST(HomeMap, HearingOfAGenerationRaisesNothing) {
  MapNetwork net(4, 3);
  net.startAll();
  net.receive(kMapA, kMapB, HomeMapHello{9'999, 4711, 0, 0});
  EXPECT_TRUE(net.live(kMapA));
  EXPECT_EQ(net.at(kMapA).number(), 1U);
  net.settle();
  net.stage(kMapA, 2, {kMapA, kMapB});
  net.settle();
  net.advance(drainOf(net) + net.options.renewEvery);
  EXPECT_EQ(net.at(kMapA).number(), 2U);
}

TEST(HomeMap, LostRecordsAreNoEmptyTruth) {
  MapNetwork net(3, 3);
  net.startAll();
  net.crash(kMapA);
  net.disk(kMapA) = {};
  net.disk(kMapA).disk = 1;
  net.disk(kMapA).corrupted = true;
  net.start(kMapA);
  net.settle();
  ASSERT_EQ(net.all<obs::MembershipJoining>().size(), 1U);
  EXPECT_EQ(net.all<obs::MembershipJoining>().front().why, obs::JoiningReason::corrupted);
  EXPECT_FALSE(net.live(kMapA));
  net.advance(sim::seconds(30));
  EXPECT_FALSE(net.live(kMapA)) << "that others act on generation 1 is no evidence of what A had stopped for";
  net.stage(kMapB, 2, {kMapA, kMapB, kMapC});
  net.settle();
  net.advance(drainOf(net) + net.options.renewEvery);
  EXPECT_TRUE(net.live(kMapA));
  EXPECT_EQ(net.at(kMapA).number(), 2U);
}

TEST(HomeMap, ASilentHomeKeepsItsKeys) {
  MapNetwork net(3, 3);
  net.startAll();
  net.silent = kMapC;
  net.advance(sim::minutes(5));
  EXPECT_TRUE(net.at(kMapA).isMember(kMapC));  // HM-7
  EXPECT_EQ(net.at(kMapA).number(), 1U);
  MapNetwork mutant(3, 3, Rules().without(Rule::HM7_NoRehoming));
  mutant.startAll();
  mutant.silent = kMapC;
  mutant.advance(sim::minutes(5));
  EXPECT_FALSE(mutant.at(kMapA).isMember(kMapC));
}

TEST(HomeMap, WhoDiesInTheDrainOfALateFenceIsAskedAgain) {
  MapNetwork net = acknowledgedChange();
  net.crash(kMapA);
  net.advance(drainOf(net) + sim::seconds(1));  // A's confirmation is what is missing
  EXPECT_THAT(net.at(kMapD).awaited(), ElementsAre(kMapA));
  EXPECT_TRUE(net.at(kMapD).stages(2));
  net.fence(kMapD, 2, kMapA);
  net.settle();
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty()) << "HM-3: the fence starts the drain anew";
  net.advance(sim::seconds(1));
  net.crash(kMapC);  // it had confirmed before the fence
  net.advance(drainOf(net) + net.options.renewEvery);
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), IsEmpty()) << "HM-4";
  EXPECT_THAT(net.at(kMapD).awaited(), ElementsAre(kMapC));
  net.start(kMapC);
  net.advance(drainOf(net) + net.options.renewEvery * 3);
  EXPECT_THAT(net.all<obs::HomeMapActivated>(), testing::SizeIs(3));
}

TEST(HomeMap, AWriteThatFailsIsWrittenAgain) {
  MapNetwork net(3, 3);
  net.startAll();
  net.stage(kMapA, 2, {kMapA, kMapB});
  ASSERT_TRUE(net.persistOne(kMapA, true));
  EXPECT_THAT(net.letters, IsEmpty());
  net.advance(net.options.renewEvery * 2);
  EXPECT_EQ(net.all<obs::HomeMapAcknowledged>().size(), 3U);
}

TEST(HomeMap, EqualFuturesHashEqualAndDifferentOnesDoNot) {
  MapNetwork one = acknowledgedChange();
  MapNetwork other = acknowledgedChange();
  other.advance(Duration{});
  EXPECT_EQ(one.hashOf(kMapD), other.hashOf(kMapD));
  EXPECT_EQ(one.hashOf(kMapA), other.hashOf(kMapA));
  MapNetwork idle(4, 3);
  idle.startAll();
  EXPECT_NE(one.hashOf(kMapA), idle.hashOf(kMapA)) << "stopped or not";
  other.fence(kMapD, 2, kMapA);
  EXPECT_NE(one.hashOf(kMapD), other.hashOf(kMapD)) << "a fence under way";
}

}  // namespace
}  // namespace holdfast::protocol
