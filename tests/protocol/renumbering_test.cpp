// Numbers that only grow count by their order and by which of them are equal, and by nothing else.
#include "protocol/renumbering.hpp"

#include <gtest/gtest.h>

#include "protocol/messages.hpp"
#include "protocol/state_hash.hpp"

namespace holdfast::protocol {
namespace {

TEST(Renumbering, GivesRanksWithinAKindAndLeavesNothingAsItIs) {
  Renumbering numbers;
  for (const std::uint64_t number : {40U, 7U, 0U, 40U}) {
    EXPECT_EQ(numbers.of(Growing::token, number), number) << "while it collects";
  }
  numbers.of(Growing::request, 9);
  numbers.settle();
  EXPECT_EQ(numbers.of(Growing::token, 7), 1U);
  EXPECT_EQ(numbers.of(Growing::token, 40), 2U);
  EXPECT_EQ(numbers.of(Growing::token, 0), 0U);
  EXPECT_EQ(numbers.of(Growing::request, 9), 1U);
}

/// Two tokens and a request, hashed in the numbers of just these.
std::uint64_t renumberedHash(std::uint64_t first, std::uint64_t second, RequestId request) {
  Renumbering numbers;
  const auto hashed = [&] {
    StateHash hash(sim::MonotonicInstant{}, StateHash::kNoHorizon, &numbers);
    hash.add(obs::Token{1, 1, first});
    hash.add(LockRecall{obs::Token{1, 1, second}, obs::KeyId{0}});
    hash.add(request);
    return hash.value();
  };
  hashed();
  numbers.settle();
  return hashed();
}

TEST(Renumbering, MakesStatesEqualThatDifferInNumbersButNotInTheirOrder) {
  const std::uint64_t hash = renumberedHash(3, 5, {1, 2});
  EXPECT_EQ(hash, renumberedHash(6, 90, {1, 41}));
  EXPECT_NE(hash, renumberedHash(5, 3, {1, 2})) << "another order";
  EXPECT_NE(hash, renumberedHash(5, 5, {1, 2})) << "the same token";
  EXPECT_NE(hash, renumberedHash(3, 0, {1, 2})) << "no token";
  EXPECT_NE(hash, renumberedHash(3, 5, {2, 2})) << "an incarnation is no such number";
}

TEST(Renumbering, IsNoPartOfAHashThatIsNotAskedForIt) {
  const auto plain = [](std::uint64_t counter) {
    StateHash hash(sim::MonotonicInstant{});
    hash.add(obs::Token{1, 1, counter});
    return hash.value();
  };
  EXPECT_NE(plain(3), plain(4));
  EXPECT_EQ(plain(3), plain(3));
}

}  // namespace
}  // namespace holdfast::protocol
