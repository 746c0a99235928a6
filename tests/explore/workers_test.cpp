// Every worker is called once for each task and nobody goes on before all have ended, whether they come soon
// or have to be waited for asleep.
#include "explore/workers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>

namespace holdfast::explore {
namespace {

TEST(Workers, EachIsCalledOnceForEachTaskAndAllHaveEndedWhenItReturns) {
  for (const unsigned count : {1U, 2U, 3U}) {
    Workers workers(count);
    ASSERT_EQ(workers.count(), count);
    std::vector<std::uint64_t> calls(count);
    for (std::uint64_t task = 1; task <= 500; ++task) {
      workers.run([&](unsigned worker) { ++calls[worker]; });
      for (const std::uint64_t made : calls) ASSERT_EQ(made, task) << count << " workers";
    }
  }
}

TEST(Workers, WhoeverIsMuchSlowerIsWaitedFor) {
  Workers workers(2);
  std::array<int, 2> ended{};
  for (int task = 1; task <= 6; ++task) {
    workers.run([&](unsigned worker) {
      const bool slow = worker == static_cast<unsigned>(task % 2);
      if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(5));
      ended[worker] = task;
    });
    ASSERT_EQ(ended, (std::array<int, 2>{task, task}));
    // Now the other thread has nothing to do, for longer than it looks for a task.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace
}  // namespace holdfast::explore
