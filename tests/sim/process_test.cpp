// The states of a process and the transitions between them, allowed and refused.
#include "sim/process.hpp"

#include <gtest/gtest.h>

namespace holdfast::sim {
namespace {

TEST(Process, TutorialALife) {
  Process process;
  EXPECT_TRUE(process.crashed());
  EXPECT_EQ(process.start().value(), 1U);
  ASSERT_TRUE(process.pause().has_value());
  ASSERT_TRUE(process.enqueue().has_value());
  ASSERT_TRUE(process.enqueue().has_value());
  EXPECT_EQ(process.resume().value(), 2U) << "what had queued is due now";
  EXPECT_EQ(process.queued(), 0U);
  EXPECT_EQ(process.crash().value(), 0U);
  EXPECT_EQ(process.start().value(), 2U);
  EXPECT_EQ(process.incarnations(), 2U);
}

TEST(Process, ACrashLosesWhatHadQueued) {
  Process process = Process::started();
  ASSERT_TRUE(process.pause());
  ASSERT_TRUE(process.enqueue());
  EXPECT_EQ(process.crash().value(), 1U);
  EXPECT_EQ(process.queued(), 0U);
  EXPECT_EQ(process.state(), ProcessState::crashed);
}

TEST(Process, RefusesNonsenseAndChangesNothing) {
  Process running = Process::started();
  const Process before = running;
  EXPECT_EQ(running.start().error(), (ProcessError{"start", ProcessState::running}));
  EXPECT_EQ(running.resume().error().text(), "process: cannot resume a process that is running");
  EXPECT_FALSE(running.enqueue().has_value());
  EXPECT_EQ(running, before);

  Process paused = Process::started();
  ASSERT_TRUE(paused.pause());
  EXPECT_EQ(paused.pause().error().state, ProcessState::paused);
  EXPECT_FALSE(paused.start().has_value());
  EXPECT_TRUE(paused.paused());

  Process crashed;
  EXPECT_EQ(crashed.crash().error().text(), "process: cannot crash a process that is crashed");
  EXPECT_FALSE(crashed.pause().has_value());
  EXPECT_FALSE(crashed.resume().has_value());
  EXPECT_FALSE(crashed.enqueue().has_value());
  EXPECT_EQ(crashed, Process{});
  EXPECT_EQ(crashed.incarnations(), 0U);
}

}  // namespace
}  // namespace holdfast::sim
