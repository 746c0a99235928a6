// The fates of datagrams and of segments of ordered streams.
#include "sim/network.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <algorithm>
#include <array>
#include <set>
#include <vector>

namespace holdfast::sim {
namespace {

constexpr NodeId kA{0};
constexpr NodeId kB{1};
constexpr NodeId kC{2};

/// A link on which every message takes exactly `d` and nothing goes wrong.
LinkOptions steady(Duration d) {
  LinkOptions options;
  options.latency = LatencyDistribution::constant(d);
  return options;
}

// How a message is sent: ask for its fate, then schedule a delivery for each copy.
TEST(Network, TutorialFatesOfADatagram) {
  LinkOptions options = steady(microseconds(300));
  options.duplicatePpm = kPpmOne;
  Network network(/*nodes*/ 3, /*seed*/ 1, options);
  const Fate fate = network.send(TrueInstant{1'000}, kA, kB);
  ASSERT_EQ(fate.copies, 2);
  EXPECT_EQ(fate.loss, Fate::Loss::none);
  EXPECT_EQ(fate.at[0], TrueInstant{301'000});
  EXPECT_EQ(fate.at[1], TrueInstant{301'000});

  network.cut(kA, kB);
  EXPECT_EQ(network.send(TrueInstant{2'000}, kA, kB).loss, Fate::Loss::cut);
  EXPECT_EQ(network.send(TrueInstant{2'000}, kB, kA).copies, 2) << "the other direction is a link of its own";
}

TEST(Network, LatenciesFollowTheLink) {
  Network network(3, 1, steady(milliseconds(1)));
  network.setLink(kA, kC, steady(milliseconds(9)));
  EXPECT_EQ(network.send({}, kA, kB).at[0], TrueInstant{milliseconds(1).ns});
  EXPECT_EQ(network.send({}, kA, kC).at[0], TrueInstant{milliseconds(9).ns});
  EXPECT_EQ(network.send({}, kC, kA).at[0], TrueInstant{milliseconds(1).ns});
  EXPECT_EQ(network.link(kA, kC).latency.typical, milliseconds(9));
  EXPECT_EQ(network.sent(kA, kC), 1U);
}

TEST(Network, AMessageToItselfArrivesAtOnce) {
  LinkOptions lossy;
  lossy.lossPpm = kPpmOne;
  Network network(2, 1, lossy);
  network.cut(kA, kA);
  network.addDelay(kA, kA, seconds(1));
  network.partition(0b11, 0b11);
  const Fate fate = network.send(TrueInstant{7}, kA, kA);
  EXPECT_EQ(fate.copies, 1);
  EXPECT_EQ(fate.at[0], TrueInstant{7});
  EXPECT_EQ(network.stream(TrueInstant{8}, kA, kA), TrueInstant{8});
}

TEST(Network, LossAndDuplicationComeAsOftenAsAskedFor) {
  LinkOptions options;
  options.lossPpm = 100'000;
  options.duplicatePpm = 200'000;
  Network network(2, 3, options);
  int lost = 0;
  int twice = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Fate fate = network.send({}, kA, kB);
    EXPECT_EQ(fate.copies == 0, fate.loss == Fate::Loss::random);
    lost += fate.copies == 0 ? 1 : 0;
    twice += fate.copies == 2 ? 1 : 0;
  }
  EXPECT_NEAR(lost, 2'000, 200);
  EXPECT_NEAR(twice, 3'600, 300);
}

TEST(Network, ReorderingLetsLaterMessagesOvertake) {
  const auto overtakings = [](std::uint32_t reorderPpm) {
    LinkOptions options = steady(microseconds(100));
    options.reorderPpm = reorderPpm;
    options.reorderExtra = milliseconds(1);
    Network network(2, 5, options);
    int count = 0;
    TrueInstant last{};
    for (int i = 0; i < 1'000; ++i) {
      const TrueInstant arrival = network.send(TrueInstant{i * 1'000}, kA, kB).at[0];
      count += arrival < last ? 1 : 0;
      last = std::max(last, arrival);
    }
    return count;
  };
  EXPECT_EQ(overtakings(0), 0);
  EXPECT_GT(overtakings(100'000), 50);
}

TEST(Network, OneWayCutLetsTheOtherDirectionPass) {
  Network network(2, 1);
  network.cut(kA, kB);
  EXPECT_FALSE(network.connected(kA, kB));
  EXPECT_TRUE(network.connected(kB, kA));
  EXPECT_EQ(network.send({}, kA, kB).loss, Fate::Loss::cut);
  EXPECT_EQ(network.send({}, kB, kA).copies, 1);
  network.heal(kA, kB);
  EXPECT_EQ(network.send({}, kA, kB).copies, 1);
}

TEST(Network, PartitionCutsExactlyBetweenTheGroups) {
  constexpr std::uint16_t kNodes = 5;
  const std::array minority{NodeId{0}, NodeId{3}};
  const std::array majority{NodeId{1}, NodeId{2}, NodeId{4}};
  Network bySpan(kNodes, 1);
  bySpan.partition(minority, majority);
  Network byMask(kNodes, 1);
  byMask.partition(0b01001, 0b10110);
  int cuts = 0;
  for (std::uint16_t x = 0; x < kNodes; ++x) {
    for (std::uint16_t y = 0; y < kNodes; ++y) {
      const bool apart = (x == 0 || x == 3) != (y == 0 || y == 3);
      EXPECT_EQ(bySpan.connected(NodeId{x}, NodeId{y}), !apart);
      EXPECT_EQ(byMask.connected(NodeId{x}, NodeId{y}), !apart);
      cuts += apart ? 1 : 0;
    }
  }
  EXPECT_EQ(cuts, 12);
  bySpan.healAll();
  for (std::uint16_t x = 0; x < kNodes; ++x) EXPECT_TRUE(bySpan.connected(NodeId{x}, NodeId{1}));
}

TEST(Network, DirectedDelaysAndDrops) {
  Network network(2, 1, steady(milliseconds(1)));
  network.addDelay(kA, kB, seconds(2));
  EXPECT_EQ(network.send({}, kA, kB).at[0], TrueInstant{(seconds(2) + milliseconds(1)).ns});
  network.addDelay(kA, kB, {});
  network.dropNext(kA, kB, 2);
  EXPECT_EQ(network.send({}, kA, kB).loss, Fate::Loss::directed);
  EXPECT_EQ(network.send({}, kA, kB).loss, Fate::Loss::directed);
  EXPECT_EQ(network.send({}, kA, kB).at[0], TrueInstant{milliseconds(1).ns});
  network.addDelay(kA, kB, -seconds(1));
  EXPECT_EQ(network.send({}, kA, kB).at[0], TrueInstant{milliseconds(1).ns})
      << "no message arrives before it left";
}

TEST(Network, NodesOutsideTheSetAreUnreachable) {
  Network network(2, 1);
  const NodeId stranger{9};
  network.cut(kA, stranger);
  network.setLink(stranger, kA, {});
  network.partition(std::array{kA}, std::array{stranger});
  EXPECT_FALSE(network.connected(kA, stranger));
  EXPECT_EQ(network.send({}, kA, stranger).loss, Fate::Loss::cut);
  EXPECT_EQ(network.stream({}, stranger, kA), std::nullopt);
  EXPECT_EQ(network.stream({}, kA, kB, Network::kStreamChannels), std::nullopt);
  EXPECT_EQ(network.send({}, NodeId::none(), kA).copies, 0);
}

// What shrinking rests on: whether other links carry messages, and whether this one was cut for a while, does
// not change what happens to the n-th message here.
RC_GTEST_PROP(Network, FatesAreIndependentOfOtherMessages, (std::uint64_t seed)) {
  LinkOptions options;
  options.lossPpm = 200'000;
  options.duplicatePpm = 200'000;
  options.reorderPpm = 200'000;
  Network quiet(3, seed, options);
  Network busy(3, seed, options);
  for (int i = 0; i < 50; ++i) {
    const TrueInstant now{i * 1'000};
    const bool cut = *rc::gen::arbitrary<bool>();
    if (*rc::gen::arbitrary<bool>()) {
      busy.send(now, kB, kA);
      busy.send(now, kA, kC);
      busy.stream(now, kA, kB);
    }
    if (cut) busy.cut(kA, kB);
    const Fate here = quiet.send(now, kA, kB);
    const Fate there = busy.send(now, kA, kB);
    if (cut) {
      RC_ASSERT(there.loss == Fate::Loss::cut);
      busy.heal(kA, kB);
    } else {
      RC_ASSERT(here == there);
    }
  }
}

TEST(Network, EveryLinkHasFatesOfItsOwn) {
  Network network(3, 8);
  std::set<std::int64_t> arrivals;
  int links = 0;
  for (const NodeId from : {kA, kB, kC}) {
    for (const NodeId to : {kA, kB, kC}) {
      if (from == to) continue;
      arrivals.insert(network.send({}, from, to).at[0].ns);
      arrivals.insert(network.stream({}, from, to)->ns);
      ++links;
    }
  }
  EXPECT_EQ(arrivals.size(), 2U * static_cast<std::size_t>(links));
}

TEST(Network, FatesDoNotDependOnTheNumberOfNodes) {
  Network small(2, 8);
  Network large(7, 8);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(small.send({}, kA, kB) == large.send({}, kA, kB));
}

TEST(Network, ACopyContinuesAsTheOriginal) {
  LinkOptions options;
  options.lossPpm = 300'000;
  Network original(2, 4, options);
  original.send({}, kA, kB);
  Network copy = original;
  std::set<std::int64_t> arrivals;
  for (int i = 0; i < 50; ++i) {
    const Fate fate = original.send({}, kA, kB);
    EXPECT_TRUE(copy.send({}, kA, kB) == fate);
    arrivals.insert(fate.at[0].ns);
  }
  EXPECT_GT(arrivals.size(), 20U);
}

RC_GTEST_PROP(Stream, DeliversInOrderWhateverIsLost, (std::uint64_t seed)) {
  LinkOptions options;
  options.lossPpm = *rc::gen::inRange<std::uint32_t>(0, kPpmOne + 1);
  Network network(2, seed, options);
  TrueInstant last{};
  TrueInstant now{};
  for (int i = 0; i < 100; ++i) {
    now = now + nanoseconds(*rc::gen::inRange<std::int64_t>(0, 300'000));
    const std::optional<TrueInstant> arrival = network.stream(now, kA, kB);
    RC_ASSERT(arrival.has_value());
    RC_ASSERT(*arrival >= last);
    RC_ASSERT(*arrival >= now + options.latency.minimum);
    last = *arrival;
  }
}

TEST(Stream, ALossCostsARetransmitAndHoldsUpTheRest) {
  LinkOptions options = steady(milliseconds(1));
  options.retransmit = milliseconds(200);
  options.lossPpm = 100'000;
  Network network(2, 2, options);
  int heldUp = 0;
  int delayed = 0;
  TrueInstant last{};
  for (int i = 0; i < 500; ++i) {
    const TrueInstant now{i * milliseconds(10).ns};
    const TrueInstant arrival = *network.stream(now, kA, kB);
    if (arrival == last) ++heldUp;
    if (arrival - now >= milliseconds(201)) ++delayed;
    last = arrival;
  }
  EXPECT_GT(delayed, 25);
  EXPECT_GT(heldUp, 100) << "a segment behind a lost one waits for it";
}

TEST(Stream, CertainLossIsABoundedDelay) {
  LinkOptions options = steady({});
  options.lossPpm = kPpmOne;
  options.retransmit = milliseconds(100);
  Network network(2, 2, options);
  EXPECT_EQ(network.stream({}, kA, kB), TrueInstant{milliseconds(100).ns * Network::kMaxRetransmits});
}

TEST(Stream, ChannelsAreOrderedApart) {
  Network network(2, 1, steady(milliseconds(1)));
  network.addDelay(kA, kB, seconds(1));
  EXPECT_EQ(network.stream({}, kA, kB, 0), TrueInstant{(seconds(1) + milliseconds(1)).ns});
  network.addDelay(kA, kB, {});
  EXPECT_EQ(network.stream({}, kA, kB, 0), TrueInstant{(seconds(1) + milliseconds(1)).ns}) << "waits in line";
  EXPECT_EQ(network.stream({}, kA, kB, 1), TrueInstant{milliseconds(1).ns});
}

TEST(Stream, ACutBreaksItUntilItIsReset) {
  Network network(2, 1, steady(milliseconds(1)));
  ASSERT_TRUE(network.stream({}, kA, kB).has_value());
  network.cut(kA, kB);
  EXPECT_TRUE(network.streamBroken(kA, kB));
  EXPECT_EQ(network.stream({}, kA, kB), std::nullopt);
  network.resetStream(kA, kB);
  EXPECT_EQ(network.stream({}, kA, kB), std::nullopt) << "the link is still cut";
  network.heal(kA, kB);
  EXPECT_EQ(network.stream({}, kA, kB), std::nullopt) << "a segment was lost, so the stream may not go on";
  EXPECT_EQ(network.streamEpoch(kA, kB), 1U);
  network.resetStream(kA, kB);
  EXPECT_EQ(network.streamEpoch(kA, kB), 2U);
  EXPECT_EQ(network.stream(TrueInstant{5}, kA, kB), TrueInstant{milliseconds(1).ns + 5});
  EXPECT_FALSE(network.streamBroken(kB, kA));
}

TEST(Stream, AResetForgetsTheOldOrder) {
  Network network(2, 1, steady(milliseconds(1)));
  network.addDelay(kA, kB, seconds(9));
  network.stream({}, kA, kB);
  network.addDelay(kA, kB, {});
  network.resetStream(kA, kB);
  EXPECT_EQ(network.stream({}, kA, kB), TrueInstant{milliseconds(1).ns});
}

TEST(LinkOptions, AreDescribedInFull) {
  LinkOptions options = steady({5});
  options.lossPpm = 7;
  EXPECT_EQ(
      describe(options),
      "latency 5..5 ns, 0 ppm up to 5 ns; loss 7 ppm; duplicate 0 ppm; reorder 0 ppm by up to 10000000 ns; "
      "retransmit after 200000000 ns");
}

}  // namespace
}  // namespace holdfast::sim
