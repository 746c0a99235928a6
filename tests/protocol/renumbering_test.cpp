// Numbers that only grow count by their order and by which of them are equal, and by nothing else.
#include "protocol/renumbering.hpp"

#include <gtest/gtest.h>

#include <vector>

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

/// What the counters of ballots are called where each proposer has seen one of `floors`, and no greater one.
std::vector<std::uint64_t> ballotsCalled(const std::vector<std::uint64_t>& counters,
                                         const std::vector<std::uint64_t>& floors) {
  Renumbering numbers;
  for (const std::uint64_t floor : floors) numbers.noteFloor(floor);
  for (const std::uint64_t counter : counters) numbers.of(Growing::ballot, counter);
  numbers.settle();
  std::vector<std::uint64_t> called;
  for (const std::uint64_t counter : counters) called.push_back(numbers.of(Growing::ballot, counter));
  return called;
}

using Counters = std::vector<std::uint64_t>;

/// A new ballot is one greater than what its proposer has seen, which may be less than what others have.
TEST(Renumbering, GivesRanksToBallotsThatAllHaveSeenAndDistancesToTheOthers) {
  EXPECT_EQ(ballotsCalled({0, 2, 7, 9, 10}, {7, 9}), (Counters{0, 1, 2, 4, 5}));
  EXPECT_EQ(ballotsCalled({0, 4, 5, 7, 8}, {5, 7}), (Counters{0, 1, 2, 4, 5})) << "the same, earlier";
  EXPECT_EQ(ballotsCalled({0, 4, 5, 6, 8}, {5, 6}), (Counters{0, 1, 2, 3, 5})) << "a gap is closed next";
  EXPECT_EQ(ballotsCalled({3, 8}, {0, 8}), (Counters{3, 8})) << "one proposer begins at 1";
  EXPECT_EQ(ballotsCalled({3, 8}, {}), (Counters{1, 2})) << "nobody proposes";
}

TEST(Renumbering, LeavesAttemptsOutOnlyWhereNobodyPausesBetweenThem) {
  EXPECT_EQ(Renumbering(true).of(Growing::attempt, 6), 6U);
  EXPECT_EQ(Renumbering(false).of(Growing::attempt, 6), 0U);
}

/// A signature follows from what is signed, and knows the ballot by its number.
TEST(Renumbering, LooksPastWhatFollowsFromTheNumbers) {
  const auto hashOf = [](std::uint32_t counter, std::uint64_t signature, Renumbering* numbers) {
    StateHash hash(sim::MonotonicInstant{}, StateHash::kNoHorizon, numbers);
    hash.add(MembershipAccepted{2, {counter, {0}}, 7, signature});
    return hash.value();
  };
  const auto renumbered = [&](std::uint32_t counter, std::uint64_t signature) {
    Renumbering numbers;
    hashOf(counter, signature, &numbers);
    numbers.settle();
    return hashOf(counter, signature, &numbers);
  };
  EXPECT_EQ(renumbered(5, 55), renumbered(9, 99));
  EXPECT_NE(hashOf(5, 55, nullptr), hashOf(5, 56, nullptr));
  EXPECT_NE(hashOf(5, 55, nullptr), hashOf(6, 55, nullptr));
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
