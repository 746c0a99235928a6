// What survives a crash, and what a reader may trust.
#include "sim/disk.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <set>
#include <vector>

namespace holdfast::sim {
namespace {

constexpr FileId kLog{0};
constexpr FileId kStore{1};
constexpr FileId kMissing{9};

/// The readable ids of a file from its front, as a recovering process reads them.
std::vector<std::uint64_t> readable(const Disk& disk, FileId file) {
  std::vector<std::uint64_t> ids;
  const Recovered found = disk.recover(file).value();
  for (std::uint64_t position = disk.begin(file); position < found.end; ++position) {
    ids.push_back(disk.read(file, position).value());
  }
  return ids;
}

// How a write becomes durable: append, begin a sync, wait for its latency, complete it.
TEST(Disk, TutorialAppendSyncCrashRecover) {
  Disk disk(/*files*/ 2, /*seed*/ 1, /*entity*/ 0);
  EXPECT_EQ(disk.append(kLog, 100), 0U);
  EXPECT_EQ(disk.append(kLog, 101), 1U);
  const SyncTicket ticket = disk.beginSync(kLog).value();
  EXPECT_GT(ticket.latency, Duration{});
  EXPECT_EQ(disk.append(kLog, 102), 2U);
  EXPECT_EQ(disk.completeSync(ticket), 2U) << "what was appended meanwhile is not covered";
  EXPECT_EQ(disk.durableEnd(kLog), 2U);
  EXPECT_EQ(disk.read(kLog, 2), 102U) << "a process reads its own unsynced writes";

  const std::vector<CrashLoss> losses = disk.crashWith(/*survive*/ 0, /*torn*/ true);
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_EQ(losses[0], (CrashLoss{kLog, 1, 0, true}));
  EXPECT_EQ(readable(disk, kLog), (std::vector<std::uint64_t>{100, 101}));
  EXPECT_EQ(disk.read(kLog, 2).error().kind, DiskError::Kind::checksum);

  const Recovered found = disk.recover(kLog).value();
  EXPECT_TRUE(found.bad);
  EXPECT_TRUE(found.tail);
  ASSERT_TRUE(disk.truncate(kLog, found.end).has_value());
  EXPECT_EQ(disk.append(kLog, 200), 2U);
}

RC_GTEST_PROP(Disk, ACrashLeavesSyncedRecordsAndAPrefixOfTheRest, (std::uint64_t seed)) {
  Disk disk(2, seed, 3);
  std::vector<std::uint64_t> written;
  std::uint64_t synced = 0;
  const int steps = *rc::gen::inRange(0, 30);
  for (int i = 0; i < steps; ++i) {
    if (*rc::gen::inRange(0, 4) == 0) {
      synced = disk.completeSync(disk.beginSync(kLog).value()).value();
    } else {
      written.push_back(1'000 + static_cast<std::uint64_t>(i));
      disk.append(kLog, written.back()).value();
    }
  }
  RC_ASSERT(disk.durableEnd(kLog) == synced);
  const std::vector<CrashLoss> losses = disk.crash();
  const std::vector<std::uint64_t> left = readable(disk, kLog);
  RC_ASSERT(left.size() >= synced);
  RC_ASSERT(left.size() <= written.size());
  RC_ASSERT(std::equal(left.begin(), left.end(), written.begin()));
  RC_ASSERT(losses.empty() == (written.size() == synced));
  if (!losses.empty()) {
    RC_ASSERT(losses[0].survived == left.size() - synced);
    RC_ASSERT(disk.end(kLog) == left.size() + (losses[0].torn ? 1 : 0));
  }
  RC_ASSERT(disk.crash().empty());
  RC_ASSERT(readable(disk, kLog) == left);
}

TEST(Disk, EveryOutcomeOfACrashIsReachedByTheDraw) {
  std::set<std::pair<std::uint64_t, bool>> outcomes;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Disk disk(1, seed, 0);
    disk.append(kLog, 1).value();
    disk.append(kLog, 2).value();
    const CrashLoss loss = disk.crash().at(0);
    outcomes.insert({loss.survived, loss.torn});
  }
  EXPECT_EQ(outcomes, (std::set<std::pair<std::uint64_t, bool>>{
                          {0, false}, {0, true}, {1, false}, {1, true}, {2, false}}));
}

TEST(Disk, CrashesOfOneSeedRepeatAndThoseOfOtherNodesDiffer) {
  const auto outcome = [](std::uint64_t seed, std::uint64_t entity) {
    Disk disk(1, seed, entity);
    std::vector<std::uint64_t> survived;
    for (int crash = 0; crash < 20; ++crash) {
      for (std::uint64_t id = 0; id < 100; ++id) disk.append(kLog, id).value();
      survived.push_back(disk.crash().at(0).survived);
    }
    return survived;
  };
  EXPECT_EQ(outcome(1, 0), outcome(1, 0));
  EXPECT_NE(outcome(1, 0), outcome(1, 1));
  EXPECT_NE(outcome(1, 0), outcome(2, 0));
}

TEST(Disk, ACrashOfOneFileDoesNotChangeAnothersDraw) {
  const auto survivedInStore = [](bool alsoLog) {
    Disk disk(2, 5, 0);
    if (alsoLog) disk.append(kLog, 1).value();
    for (std::uint64_t id = 0; id < 1000; ++id) disk.append(kStore, id).value();
    return disk.crash().back();
  };
  EXPECT_EQ(survivedInStore(true), survivedInStore(false));
}

TEST(Disk, AFailedSyncMakesNothingDurable) {
  Disk disk(1, 1, 0);
  disk.append(kLog, 1).value();
  ASSERT_TRUE(disk.failNextSync(kLog).has_value());
  const SyncTicket failing = disk.beginSync(kLog).value();
  EXPECT_EQ(disk.completeSync(failing).error().kind, DiskError::Kind::syncFailed);
  EXPECT_EQ(disk.durableEnd(kLog), 0U);
  EXPECT_EQ(disk.completeSync(disk.beginSync(kLog).value()), 1U) << "only the next sync fails";
}

TEST(Disk, ASyncThatACrashOvertookCompletesNothing) {
  Disk disk(1, 1, 0);
  disk.append(kLog, 1).value();
  const SyncTicket ticket = disk.beginSync(kLog).value();
  disk.crashWith(0, false);
  disk.append(kLog, 2).value();
  const auto completed = disk.completeSync(ticket);
  ASSERT_FALSE(completed.has_value());
  EXPECT_EQ(completed.error().kind, DiskError::Kind::syncSuperseded);
  EXPECT_EQ(completed.error().text(), "disk: sync of file 0 through 1 began before a crash");
  EXPECT_EQ(disk.durableEnd(kLog), 0U);
  EXPECT_EQ(disk.crashes(), 1U);
}

TEST(Disk, SyncsMayCompleteOutOfOrder) {
  Disk disk(1, 1, 0);
  disk.append(kLog, 1).value();
  const SyncTicket first = disk.beginSync(kLog).value();
  disk.append(kLog, 2).value();
  const SyncTicket second = disk.beginSync(kLog).value();
  EXPECT_EQ(disk.completeSync(second), 2U);
  EXPECT_EQ(disk.completeSync(first), 2U) << "what is durable stays durable";
}

TEST(Disk, CorruptionIsDetectedAndEndsRecovery) {
  Disk disk(1, 1, 0);
  for (std::uint64_t id = 10; id < 14; ++id) disk.append(kLog, id).value();
  disk.syncedThrough(kLog, 4).value();
  ASSERT_TRUE(disk.corrupt(kLog, 11).has_value());
  EXPECT_EQ(disk.read(kLog, 1).error(), (DiskError{DiskError::Kind::checksum, kLog, 1}));
  EXPECT_EQ(disk.read(kLog, 2), 12U);
  const Recovered found = disk.recover(kLog).value();
  EXPECT_EQ(found.end, 1U);
  EXPECT_TRUE(found.bad);
  EXPECT_FALSE(found.tail) << "good records follow, so this is no torn tail";
  EXPECT_FALSE(disk.corrupt(kLog, 99).has_value());
}

TEST(Disk, PositionsSurviveAPurge) {
  Disk disk(1, 1, 0);
  for (std::uint64_t id = 10; id < 20; ++id) disk.append(kLog, id).value();
  disk.syncedThrough(kLog, 8).value();
  ASSERT_TRUE(disk.dropBefore(kLog, 5).has_value());
  EXPECT_EQ(disk.begin(kLog), 5U);
  EXPECT_EQ(disk.read(kLog, 5), 15U);
  EXPECT_EQ(disk.read(kLog, 4).error().kind, DiskError::Kind::noSuchRecord);
  disk.crashWith(1, false);
  EXPECT_EQ(disk.end(kLog), 9U);
  EXPECT_EQ(disk.append(kLog, 30), 9U);
  EXPECT_TRUE(disk.dropBefore(kLog, 2).has_value()) << "already gone";
  EXPECT_FALSE(disk.dropBefore(kLog, 11).has_value());
}

TEST(Disk, WrongFilesAndPositionsAreErrors) {
  Disk disk(1, 1, 0);
  EXPECT_EQ(disk.append(kMissing, 1).error().kind, DiskError::Kind::noSuchFile);
  EXPECT_EQ(disk.append(kMissing, 1).error().text(), "disk: there is no file 9");
  EXPECT_FALSE(disk.beginSync(kMissing).has_value());
  EXPECT_FALSE(disk.recover(kMissing).has_value());
  EXPECT_FALSE(disk.failNextSync(kMissing).has_value());
  EXPECT_EQ(disk.end(kMissing), 0U);
  EXPECT_EQ(disk.appendLatency(kMissing), Duration{});
  EXPECT_EQ(disk.syncedThrough(kLog, 1).error().kind, DiskError::Kind::noSuchRecord);
  EXPECT_EQ(disk.truncate(kLog, 1).error().kind, DiskError::Kind::noSuchRecord);
  EXPECT_TRUE(disk.recover(kLog).has_value());
}

TEST(Disk, LatenciesAreKeyedByFileAndCount) {
  Disk first(2, 1, 0);
  Disk second(2, 1, 0);
  second.beginSync(kStore).value();
  second.append(kStore, 1).value();
  std::set<std::int64_t> latencies;
  for (int i = 0; i < 20; ++i) {
    const Duration latency = first.beginSync(kLog).value().latency;
    EXPECT_EQ(second.beginSync(kLog).value().latency, latency);
    latencies.insert(latency.ns);
    first.append(kLog, 1).value();
    second.append(kLog, 1).value();
    EXPECT_EQ(first.appendLatency(kLog), second.appendLatency(kLog));
  }
  EXPECT_GT(latencies.size(), 15U);
}

TEST(Disk, IsAValue) {
  Disk disk(1, 1, 0);
  disk.append(kLog, 1).value();
  const Disk copy = disk;
  EXPECT_EQ(copy, disk);
  disk.crashWith(0, true);
  EXPECT_NE(copy, disk);
  EXPECT_EQ(copy.end(kLog), 1U);
}

}  // namespace
}  // namespace holdfast::sim
