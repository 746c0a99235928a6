// The program's own operator new: every form counts, and what a form gave its partner takes back. Under a
// sanitizer a form that was left out is found here, and not in the first sort that asks for a buffer.
#include "measure/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <new>
#include <numeric>
#include <vector>

namespace holdfast::measure {
namespace {

struct alignas(256) Wide {
  char bytes[256];
};

/// How many allocations `work` makes.
template <class Work>
std::uint64_t allocationsOf(const Work& work) {
  const std::uint64_t before = allocationsSoFar();
  work();
  return allocationsSoFar() - before;
}

/// Calls the functions themselves: a compiler may leave a new expression out.
template <class... How>
void takeAndGiveBack(std::size_t size, How... how) {
  ::operator delete(::operator new(size, how...), how...);
  ::operator delete[](::operator new[](size, how...), how...);
}

TEST(Allocations, EachFormCountsOnceAndGivesBack) {
  constexpr std::align_val_t kPage{4096};
  EXPECT_EQ(allocationsOf([] { takeAndGiveBack(40); }), 2U);
  EXPECT_EQ(allocationsOf([] { takeAndGiveBack(0); }), 2U);
  EXPECT_EQ(allocationsOf([] { takeAndGiveBack(40, std::nothrow); }), 2U);
  EXPECT_EQ(allocationsOf([] { takeAndGiveBack(40, kPage); }), 2U);
  EXPECT_EQ(allocationsOf([] { takeAndGiveBack(0, kPage); }), 2U);
  EXPECT_EQ(allocationsOf([] { takeAndGiveBack(40, kPage, std::nothrow); }), 2U);
}

TEST(Allocations, AlignedMemoryIsAligned) {
  const std::vector<Wide> wide(3);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide.data()) % alignof(Wide), 0U);
}

TEST(Allocations, ASortThatAsksForABufferGivesItBack) {
  std::vector<std::uint32_t> numbers(5000);
  std::iota(numbers.rbegin(), numbers.rend(), 0U);
  EXPECT_EQ(allocationsOf([&] { std::ranges::stable_sort(numbers); }), 1U);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
}

}  // namespace
}  // namespace holdfast::measure
