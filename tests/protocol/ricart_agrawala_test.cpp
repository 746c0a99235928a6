// Ricart-Agrawala as a value: the table of open requests (RA-2, RA-4), and a node that is alone.
#include <gtest/gtest.h>

#include "protocol/ricart_agrawala/node.hpp"

namespace holdfast::protocol {
namespace {

constexpr NodeId kA{0};
constexpr NodeId kB{1};
constexpr KeyId kKey{0};

TEST(RequestTable, OrdersByStampAndThenByName) {
  RequestTable table;
  table.note(kB, {kKey, 4}, {});
  table.note(kA, {kKey, 4}, {});
  table.note(NodeId{2}, {kKey, 3}, {});
  const RequestTable::Open& open = table.open(kKey);
  ASSERT_EQ(open.size(), 3U);
  EXPECT_EQ(open[0].requester, NodeId{2});
  EXPECT_EQ(open[1].requester, kA);
  EXPECT_EQ(open[2].requester, kB);
}

TEST(RequestTable, ALaterRequestSupersedesAnEarlierOne) {
  RequestTable table;
  table.note(kB, {kKey, 4}, {});
  table.note(kB, {kKey, 7}, {});
  table.note(kB, {kKey, 5}, {});  // made good by a repair, too late
  EXPECT_EQ(table.size(), 1U);
  EXPECT_NE(table.find(kKey, kB, 7), nullptr);
  table.close({kKey, kB, 4, false});
  EXPECT_EQ(table.size(), 1U);
  table.close({kKey, kB, 7, false});
  EXPECT_EQ(table.size(), 0U);
}

TEST(RequestTable, StampsPassWhatWasSeenAndSurviveARestart) {
  RequestTable table;
  table.note(kB, {kKey, 9}, {});
  table.find(kKey, kB, 9)->granting = true;
  table.restart({});
  EXPECT_FALSE(table.find(kKey, kB, 9)->granting);
  EXPECT_EQ(table.nextStamp(), 10U);

  RequestTable careless;
  careless.note(kB, {kKey, 9}, Rules{}.without(Rule::RA2_StampsAdvance));
  EXPECT_EQ(careless.nextStamp(), 1U);
  table.restart(Rules{}.without(Rule::RA2_StampsSurvive));
  EXPECT_EQ(table.nextStamp(), 1U);
}

TEST(RequestTable, TokensGrowWithTheOrderOfSections) {
  EXPECT_LT(tokenOf(kB, 3), tokenOf(kA, 4));
  EXPECT_LT(tokenOf(kA, 4), tokenOf(kB, 4));
  EXPECT_TRUE(tokenOf(kA, 1).valid());
}

/// A node without peers, whose disk does at once what it is asked.
struct Alone {
  Directory directory{{"A"}, {{"t/k", "t/k", 0}}};
  RicartAgrawalaNode node;
  Effects effects;
  std::vector<LockReply> replies;
  std::vector<EntryKind> log;

  static NodeSetup setupOf(const Directory& directory) {
    NodeSetup setup;
    setup.self = kA;
    setup.directory = &directory;
    setup.options.algorithm = LockAlgorithm::ricartAgrawala;
    setup.members = {kA};
    return setup;
  }

  Alone() : node(setupOf(directory), Durable{}) { give(Boot{}, CommitOutcome::committed); }

  void give(const Input& input, CommitOutcome outcome) {
    effects.clear();
    node.handle(input, Context{MonotonicInstant{1'000}, WallInstant{0}, effects});
    const Effects now = effects;
    for (const Reply& reply : now.replies) {
      if (const auto* lock = std::get_if<LockReply>(&reply)) replies.push_back(*lock);
    }
    for (const Commit& commit : now.commits) {
      if (outcome == CommitOutcome::committed) log.push_back(kindOf(commit.entry));
      give(CommitDone{commit.commit, outcome}, CommitOutcome::committed);
    }
  }
};

TEST(RicartAgrawalaNode, AloneItAsksAndGrantsItself) {
  Alone alone;
  alone.give(CallLock{CallId{1}, kKey, sim::seconds(1), sim::seconds(1), false, 0}, CommitOutcome::committed);
  ASSERT_EQ(alone.replies.size(), 1U);
  EXPECT_EQ(alone.replies[0].error, ErrorClass::none);
  EXPECT_EQ(alone.replies[0].token, tokenOf(kA, 1));
  EXPECT_EQ(alone.log, (std::vector{EntryKind::request, EntryKind::grant}));  // P+1 = 2 (RA-5)
}

TEST(RicartAgrawalaNode, ARequestWhoseCommitFailedIsTriedAgain) {
  Alone alone;
  alone.give(CallLock{CallId{1}, kKey, sim::seconds(1), sim::seconds(1), false, 0}, CommitOutcome::failed);
  ASSERT_EQ(alone.replies.size(), 1U);
  EXPECT_EQ(alone.replies[0].error, ErrorClass::none);
  EXPECT_EQ(alone.replies[0].token, tokenOf(kA, 1));
}

TEST(RicartAgrawalaNode, CopiesHashAlikeUntilTheyPart) {
  Alone alone;
  RicartAgrawalaNode copy = alone.node;
  const MonotonicInstant now{1'000};
  EXPECT_EQ(copy.canonicalHash(now), alone.node.canonicalHash(now));
  alone.give(CallLock{CallId{1}, kKey, sim::seconds(1), sim::seconds(1), false, 0}, CommitOutcome::committed);
  EXPECT_NE(copy.canonicalHash(now), alone.node.canonicalHash(now));
}

}  // namespace
}  // namespace holdfast::protocol
