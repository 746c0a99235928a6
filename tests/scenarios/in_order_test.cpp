// Products are taken in the order of their indices, whoever was done first, and none is lost at the end.
#include "scenarios/in_order.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

namespace holdfast::scenarios {
namespace {

using Numbers = InOrder<std::uint64_t>;

constexpr std::chrono::seconds kLong{60};

Numbers::Clock::time_point later() { return Numbers::Clock::now() + kLong; }

TEST(InOrder, TakesInTheOrderOfTheIndices) {
  for (const unsigned jobs : {0U, 1U, 2U, 5U}) {
    Numbers squares(1'000, jobs, [](std::size_t, std::uint64_t index) { return index * index; });
    for (std::uint64_t index = 0; index < 1'000; ++index) {
      EXPECT_FALSE(squares.exhausted());
      ASSERT_EQ(squares.take(later()), index * index) << jobs;
    }
    EXPECT_TRUE(squares.exhausted());
    EXPECT_EQ(squares.take(later()), std::nullopt);
  }
}

TEST(InOrder, WaitsForTheFirstWhileOthersAreDone) {
  std::atomic<bool> secondDone = false;
  Numbers numbers(2, 2, [&](std::size_t, std::uint64_t index) {
    if (index == 0) secondDone.wait(false);
    return index;
  });
  EXPECT_EQ(numbers.take(Numbers::Clock::now()), std::nullopt) << "it is not there yet, and not exhausted";
  EXPECT_FALSE(numbers.exhausted());
  secondDone = true;
  secondDone.notify_all();
  EXPECT_EQ(numbers.take(later()), 0U);
  EXPECT_EQ(numbers.take(later()), 1U);
}

TEST(InOrder, GivesWhatWasBegunAfterItWasStopped) {
  std::atomic<std::uint64_t> begun = 0;
  std::atomic<bool> open = false;
  Numbers numbers(100, 3, [&](std::size_t worker, std::uint64_t index) {
    EXPECT_LT(worker, 3U);
    ++begun;
    begun.notify_all();
    open.wait(false);
    return index;
  });
  for (std::uint64_t now = begun; now < 3; now = begun) begun.wait(now);
  numbers.stop();
  open = true;
  open.notify_all();
  for (std::uint64_t index = 0; index < 3; ++index) EXPECT_EQ(numbers.take(later()), index);
  EXPECT_TRUE(numbers.exhausted());
  EXPECT_EQ(begun, 3U);
}

TEST(InOrder, ThrowsInTurnWhatTheWorkThrows) {
  Numbers numbers(3, 2, [](std::size_t, std::uint64_t index) {
    if (index == 1) throw std::runtime_error("one");
    return index;
  });
  EXPECT_EQ(numbers.take(later()), 0U);
  EXPECT_THROW(numbers.take(later()), std::runtime_error);
  EXPECT_EQ(numbers.take(later()), 2U);
}

}  // namespace
}  // namespace holdfast::scenarios
