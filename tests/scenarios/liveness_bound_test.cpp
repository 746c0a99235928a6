// The bound within which every key must be obtainable after healing: its terms, and where there is none.
#include "scenarios/liveness_bound.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scenarios/cluster.hpp"

namespace holdfast::scenarios {
namespace {

using sim::milliseconds;
using sim::seconds;

RunOptions epochs() {
  RunOptions options;
  options.protocol.membership = protocol::MembershipKind::epoch;
  return options;
}

/// How much longer the bound is with `path` set to `value`.
Duration longerWith(const std::string& path, const std::string& value) {
  RunOptions options = epochs();
  const auto set = setOption(options, path, value);
  EXPECT_TRUE(set.has_value()) << set.error();
  return livenessBound(options) - livenessBound(epochs());
}

TEST(LivenessBound, LeavesTimeToBeJudgedByDefault) {
  for (const auto kind : {protocol::MembershipKind::fixed, protocol::MembershipKind::homeMap,
                          protocol::MembershipKind::epoch}) {
    RunOptions options;
    options.protocol.membership = kind;
    EXPECT_LE(livenessBound(options) + seconds(6), options.workload.intoHealedPhase);
    EXPECT_EQ(checkerOptionsFor(options).livenessBound, livenessBound(options));
  }
}

TEST(LivenessBound, HasATermForEachOptionThatPutsServiceOff) {
  EXPECT_EQ(longerWith("protocol.retryEvery", "60900ms"), seconds(60));
  EXPECT_EQ(longerWith("protocol.barrierTimeout", "2600ms"), seconds(2));
  EXPECT_EQ(longerWith("protocol.proposalTimeout", "2s"), seconds(6)) << "two are given up in each change";
  EXPECT_EQ(longerWith("protocol.proposalBackoff", "1s"), seconds(6));
  EXPECT_EQ(longerWith("delays.apply.tail", "1250ms"), seconds(1));
  EXPECT_EQ(longerWith("delays.commit.tail", "1400ms"), seconds(1));
  EXPECT_EQ(longerWith("delays.persist.tail", "1050ms"), seconds(6));
  EXPECT_EQ(longerWith("delays.link.tail", "125ms"), milliseconds(100 + 1'200));
}

TEST(LivenessBound, CountsTheProtectionOfAnEpochAsMembershipMdDoes) {
  // ((6 s + 0.4 s) * 1.05 + 8.4 s) * 1.05 = 15.876 s, and with 30 % ((6.4 s * 1.3) + 8.4 s) * 1.3 = 21.736 s;
  // carried once, 15.876 s * 1.05 and 21.736 s * 1.3.
  EXPECT_EQ(longerWith("protocol.rateErrorPpb", "300000000"), sim::microseconds(28'256'800 - 16'669'800));
}

TEST(LivenessBound, StretchesAndShortensByRates) {
  EXPECT_EQ(stretched(seconds(100), 20'000'000), seconds(102));
  EXPECT_EQ(shortened(seconds(102), 20'000'000), seconds(100));
  EXPECT_EQ(shortened(seconds(100), 0), seconds(100));
  RunOptions options;
  options.protocol.tombstoneRetention = seconds(51);
  options.faults.maxDriftPpb = 20'000'000;
  EXPECT_EQ(checkerOptionsFor(options).tombstoneRetention, seconds(50));
}

TEST(LivenessBound, WhatIsNeverServedIsRefusedWhereItWouldBeJudged) {
  const auto refused = [](const std::string& path, const std::string& value) {
    RunOptions options = epochs();
    EXPECT_TRUE(setOption(options, path, value).has_value());
    const auto judged = validate(options);
    options.healedPhase = options.workload.intoHealedPhase = {};
    EXPECT_TRUE(validate(options).has_value()) << path << " is no matter where liveness is not judged";
    return judged.has_value() ? std::string("accepted") : judged.error();
  };
  EXPECT_EQ(refused("protocol.proposalBackoff", "4ms"), "accepted");
  EXPECT_THAT(refused("protocol.proposalBackoff", "0s"),
              testing::HasSubstr("protocol.proposalBackoff is 0 ms; expected at least 4 ms"));
  EXPECT_THAT(refused("protocol.answerMargin", "10s"),
              testing::HasSubstr("workload.wait is 3000 ms; expected at least 21400 ms"));
  EXPECT_THAT(refused("delays.link.tail", "10s"), testing::HasSubstr("expected at least 41600 ms"));
  EXPECT_THAT(refused("delays.apply.tail", "10s"), testing::HasSubstr("delays.apply.tail"));
  EXPECT_EQ(refused("delays.apply.tail", "900ms"), "accepted");
}

}  // namespace
}  // namespace holdfast::scenarios
