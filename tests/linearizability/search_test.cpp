// The search for a linearization, held against all permutations of small histories.
#include "checkers/linearizability/search.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "checkers/linearizability/models.hpp"

namespace holdfast::linearizability {
namespace {

using testing::ElementsAre;
using Kind = Register::Operation::Kind;

Register::Operation read(std::int64_t value) { return {Kind::read, true, true, value, 0}; }
Register::Operation write(std::int64_t value) { return {Kind::write, true, true, value, 0}; }
Register::Operation unknownWrite(std::int64_t value) { return {Kind::write, false, true, value, 0}; }
Register::Operation swapped(std::int64_t from, std::int64_t to, bool succeeded) {
  return {Kind::compareAndSet, true, succeeded, to, from};
}

TEST(Search, PutsOverlappingCallsInTheOrderThatWasSeen) {
  // Two writes overlap, and both reads behind show the one invoked first.
  const Calls<Register::Operation> calls{{write(1), 0, 0, 2}, {write(2), 1, 1, 3}, {read(1), 0, 4, 5}};
  const auto result = check(Register{}, calls);
  EXPECT_EQ(result.verdict, Verdict::linearizable);
  EXPECT_THAT(result.order, ElementsAre(1, 0, 2));
}

TEST(Search, TellsTheStatesAndTheWindowOfAFailure) {
  // The shortest one of Knossos: 0 is written; then 4 is written while 3 is read.
  const Calls<Register::Operation> calls{
      {write(0), 0, 0, 1}, {read(3), 1, 2, 4}, {write(4), 2, 3, 5}, {read(4), 3, 6, 7}};
  const auto result = check(Register{}, calls);
  EXPECT_EQ(result.verdict, Verdict::notLinearizable);
  EXPECT_EQ(result.stuck, 1U);
  EXPECT_THAT(result.window, ElementsAre(1, 2));
  EXPECT_THAT(result.states, testing::UnorderedElementsAre(0, 4));
}

TEST(Search, LetsAnUnknownCallTakeEffectLateOrNever) {
  const Calls<Register::Operation> late{
      {write(1), 0, 0, 1}, {unknownWrite(2), 1, 2, kNever}, {read(1), 0, 3, 4}, {read(2), 0, 5, 6}};
  EXPECT_EQ(check(Register{}, late).verdict, Verdict::linearizable);
  const Calls<Register::Operation> never{
      {write(1), 0, 0, 1}, {unknownWrite(2), 1, 2, kNever}, {read(1), 0, 3, 4}};
  EXPECT_EQ(check(Register{}, never).verdict, Verdict::linearizable);
  const Calls<Register::Operation> early{{read(2), 0, 0, 1}, {unknownWrite(2), 1, 2, kNever}};
  EXPECT_EQ(check(Register{}, early).verdict, Verdict::notLinearizable);
}

TEST(Search, HoldsACompareAndSetToItsAnswer) {
  const Calls<Register::Operation> right{{write(1), 0, 0, 1},
                                         {swapped(1, 2, true), 0, 2, 3},
                                         {swapped(1, 3, false), 0, 4, 5},
                                         {read(2), 0, 6, 7}};
  EXPECT_EQ(check(Register{}, right).verdict, Verdict::linearizable);
  const Calls<Register::Operation> wrong{{write(1), 0, 0, 1}, {swapped(1, 2, false), 0, 2, 3}};
  EXPECT_EQ(check(Register{}, wrong).verdict, Verdict::notLinearizable);
}

TEST(Search, SaysUnknownWhereItsMemoryEnds) {
  // Twelve writes of which nobody knows the outcome, and a read of what none of them wrote.
  Calls<Register::Operation> calls;
  for (std::uint32_t i = 0; i < 12; ++i) calls.push_back({unknownWrite(i), i, i, kNever});
  calls.push_back({read(99), 12, 20, 21});
  SearchLimits limits;
  limits.configurations = 100;
  EXPECT_EQ(check(Register{}, calls, limits).verdict, Verdict::unknown);
  limits.configurations = 0;
  EXPECT_EQ(check(Register{}, calls, limits).verdict, Verdict::notLinearizable);
}

TEST(Search, TakesALongHistoryInStride) {
  // 50,000 calls of one register by 20 clients, each taking effect at its invocation.
  Calls<Register::Operation> calls;
  std::vector<std::int64_t> open(20, -1);
  std::int64_t state = kAbsent;
  std::uint64_t draw = 7;
  std::uint32_t event = 0;
  while (calls.size() < 50'000) {
    draw = draw * 6'364'136'223'846'793'005ULL + 1;
    const std::size_t client = draw >> 33U & 15U;
    if (open[client] >= 0) {
      calls[static_cast<std::size_t>(open[client])].returned = event++;
      open[client] = -1;
      continue;
    }
    if ((draw >> 40U & 1U) != 0) state = static_cast<std::int64_t>(draw >> 41U & 7U);
    const bool writes = (draw >> 40U & 1U) != 0;
    calls.push_back(
        {writes ? write(state) : read(state), static_cast<std::uint32_t>(client), event++, kNever});
    open[client] = static_cast<std::int64_t>(calls.size() - 1);
  }
  const auto result = check(Register{}, calls);
  EXPECT_EQ(result.verdict, Verdict::linearizable);
  EXPECT_GE(result.order.size(), 49'980U);
  EXPECT_LT(result.configurations, 500'000U);
}

/// Tries every subset that holds all calls that returned, in every order.
template <Model M>
bool linearizableByForce(const M& model, const Calls<typename M::Operation>& calls) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    // Of each order each beginning is tried: what stands behind it has had no effect.
    auto state = model.initial();
    bool possible = true;
    for (std::size_t taken = 0; possible; ++taken) {
      bool whole = true;
      for (std::size_t i = taken; i < order.size(); ++i) whole = whole && calls[order[i]].pendingForever();
      if (whole) return true;
      if (taken == order.size()) break;
      const auto& call = calls[order[taken]];
      for (std::size_t i = taken + 1; i < order.size(); ++i) {
        if (calls[order[i]].returned < call.invoked) possible = false;
      }
      if (!possible) break;
      const auto next = model.step(state, call.operation);
      possible = next.has_value();
      if (next) state = *next;
    }
  } while (std::ranges::next_permutation(order).found);
  return false;
}

RC_GTEST_PROP(Search, AgreesWithAllPermutations, ()) {
  const int count = *rc::gen::inRange(1, 7);
  Calls<Register::Operation> calls;
  std::vector<std::pair<std::uint32_t, bool>> ends;
  std::vector<std::uint32_t> places(static_cast<std::size_t>(count) * 2);
  std::iota(places.begin(), places.end(), 0U);
  for (std::size_t i = places.size(); i > 1; --i) {
    std::swap(places[i - 1], places[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(i)))]);
  }
  for (int i = 0; i < count; ++i) {
    const auto at = static_cast<std::size_t>(i) * 2;
    const std::uint32_t first = std::min(places[at], places[at + 1]);
    const std::uint32_t last = std::max(places[at], places[at + 1]);
    const std::int64_t value = *rc::gen::inRange(0, 3);
    const int what = *rc::gen::inRange(0, 4);
    const bool open = *rc::gen::inRange(0, 5) == 0;
    Register::Operation op = what == 0 ? write(value)
                             : what == 1
                                 ? swapped(*rc::gen::inRange(0, 3), value, *rc::gen::arbitrary<bool>())
                                 : read(*rc::gen::inRange(-1, 3));
    op.known = !open;
    calls.push_back({op, static_cast<std::uint32_t>(i), first, open ? kNever : last});
  }
  const auto result = check(Register{}, calls);
  RC_ASSERT((result.verdict == Verdict::linearizable) == linearizableByForce(Register{}, calls));
  // The order that it gives is one: it keeps real time, and each step is possible.
  auto state = Register{}.initial();
  for (std::size_t i = 0; i < result.order.size(); ++i) {
    const auto& call = calls[result.order[i]];
    for (std::size_t j = i + 1; j < result.order.size(); ++j) {
      RC_ASSERT(calls[result.order[j]].returned >= call.invoked);
    }
    const auto next = Register{}.step(state, call.operation);
    RC_ASSERT(next.has_value());
    state = *next;
  }
}

}  // namespace
}  // namespace holdfast::linearizability
