// Ricart-Agrawala as a value: the table of open requests (RA-2, RA-4), and a node that is alone.
#include <gtest/gtest.h>

#include "protocol/ricart_agrawala/node.hpp"

namespace holdfast::protocol {
namespace {

constexpr NodeId kFirst{0};
constexpr NodeId kSecond{1};
constexpr KeyId kContested{0};

TEST(RequestTable, OrdersByStampAndThenByName) {
  RequestTable table;
  table.note(kSecond, {kContested, 4}, {});
  table.note(kFirst, {kContested, 4}, {});
  table.note(NodeId{2}, {kContested, 3}, {});
  const RequestTable::Open& open = table.open(kContested);
  ASSERT_EQ(open.size(), 3U);
  EXPECT_EQ(open[0].requester, NodeId{2});
  EXPECT_EQ(open[1].requester, kFirst);
  EXPECT_EQ(open[2].requester, kSecond);
}

TEST(RequestTable, ALaterRequestSupersedesAnEarlierOne) {
  RequestTable table;
  table.note(kSecond, {kContested, 4}, {});
  table.note(kSecond, {kContested, 7}, {});
  table.note(kSecond, {kContested, 5}, {});  // made good by a repair, too late
  EXPECT_EQ(table.size(), 1U);
  EXPECT_NE(table.find(kContested, kSecond, 7), nullptr);
  table.close({kContested, kSecond, 4, false});
  EXPECT_EQ(table.size(), 1U);
  table.close({kContested, kSecond, 7, false});
  EXPECT_EQ(table.size(), 0U);
}

TEST(RequestTable, StampsPassWhatWasSeenAndSurviveARestart) {
  RequestTable table;
  table.note(kSecond, {kContested, 9}, {});
  table.find(kContested, kSecond, 9)->state = GrantState::granting;
  table.restart({});
  EXPECT_EQ(table.find(kContested, kSecond, 9)->state, GrantState::open);
  EXPECT_EQ(table.nextStamp(), 10U);

  RequestTable careless;
  careless.note(kSecond, {kContested, 9}, Rules{}.without(Rule::RA2_StampsAdvance));
  EXPECT_EQ(careless.nextStamp(), 1U);
  table.restart(Rules{}.without(Rule::RA2_StampsSurvive));
  EXPECT_EQ(table.nextStamp(), 1U);
}

TEST(RequestTable, TokensGrowWithTheOrderOfSections) {
  EXPECT_LT(tokenOf(kSecond, 3), tokenOf(kFirst, 4));
  EXPECT_LT(tokenOf(kFirst, 4), tokenOf(kSecond, 4));
  EXPECT_TRUE(tokenOf(kFirst, 1).valid());
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
    setup.self = kFirst;
    setup.directory = &directory;
    setup.options.algorithm = LockAlgorithm::ricartAgrawala;
    setup.members = {kFirst};
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
  alone.give(CallLock{CallId{1}, kContested, sim::seconds(1), sim::seconds(1), false, 0},
             CommitOutcome::committed);
  ASSERT_EQ(alone.replies.size(), 1U);
  EXPECT_EQ(alone.replies[0].error, ErrorClass::none);
  EXPECT_EQ(alone.replies[0].token, tokenOf(kFirst, 1));
  EXPECT_EQ(alone.log, (std::vector{EntryKind::request, EntryKind::grant}));  // P+1 = 2 (RA-5)
}

TEST(RicartAgrawalaNode, ARequestWhoseCommitFailedIsTriedAgain) {
  Alone alone;
  alone.give(CallLock{CallId{1}, kContested, sim::seconds(1), sim::seconds(1), false, 0},
             CommitOutcome::failed);
  ASSERT_EQ(alone.replies.size(), 1U);
  EXPECT_EQ(alone.replies[0].error, ErrorClass::none);
  EXPECT_EQ(alone.replies[0].token, tokenOf(kFirst, 1));
}

TEST(RicartAgrawalaNode, CopiesHashAlikeUntilTheyPart) {
  Alone alone;
  RicartAgrawalaNode copy = alone.node;
  const MonotonicInstant now{1'000};
  EXPECT_EQ(copy.canonicalHash(now), alone.node.canonicalHash(now));
  alone.give(CallLock{CallId{1}, kContested, sim::seconds(1), sim::seconds(1), false, 0},
             CommitOutcome::committed);
  EXPECT_NE(copy.canonicalHash(now), alone.node.canonicalHash(now));
}

}  // namespace
}  // namespace holdfast::protocol
