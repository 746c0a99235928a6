// Plans and options: written and read without loss, and refused with the place of what is wrong.
#include "scenarios/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "scenarios/swarm.hpp"
#include "sim/clock.hpp"

namespace holdfast::scenarios {
namespace {

using testing::HasSubstr;

RunOptions smallRun(std::uint64_t seed = 7) {
  RunOptions options;
  options.seed = seed;
  options.faultPhase = sim::seconds(10);
  options.healedPhase = sim::seconds(12);
  options.workload.intoHealedPhase = sim::seconds(2);
  options.faults.swarmOnPpm = sim::kPpmOne;
  return options;
}

std::string problemOf(const nlohmann::json& json) {
  const auto plan = planFromJson(json);
  return plan ? "" : plan.error();
}

std::string problemOf(const Plan& plan, const RunOptions& options) {
  const auto judged = validate(plan, options);
  return judged ? "" : judged.error();
}

TEST(Plan, SurvivesItsJsonText) {
  const Plan plan = drawPlan(smallRun());
  ASSERT_GT(plan.operations.size(), 10U);
  ASSERT_GT(plan.faults.size(), 5U);
  const std::string text = toJson(plan).dump();
  const auto read = planFromJson(nlohmann::json::parse(text));
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(*read, plan);
}

TEST(Plan, IsWrittenWithNamesAndNulls) {
  Plan plan;
  plan.endAt = {5};
  plan.faults.push_back({17, {3}, FaultKind::loss, NodeId::none(), NodeId::none(), {2}, 1'000});
  const nlohmann::json json = toJson(plan);
  EXPECT_EQ(json["faults"][0]["kind"], "loss");
  EXPECT_TRUE(json["faults"][0]["node"].is_null());
  EXPECT_EQ(json["faults"][0]["at"], 3);
  EXPECT_EQ(json["endAt"], 5);
}

RC_GTEST_PROP(Plan, AnyDrawnPlanIsValidAndSurvives, (std::uint64_t seed)) {
  RunOptions options = smallRun(seed);
  options.nodes = static_cast<std::uint16_t>(1 + seed % 7);
  options.keys = static_cast<std::uint32_t>(1 + seed % 5);
  const Plan plan = drawPlan(options);
  RC_ASSERT(problemOf(plan, options) == "");
  const auto read = planFromJson(toJson(plan));
  RC_ASSERT(read.has_value());
  RC_ASSERT(*read == plan);
}

TEST(Plan, NamesThePlaceOfWhatIsNoPlan) {
  const nlohmann::json good = toJson(drawPlan(smallRun()));
  nlohmann::json bad = good;
  bad["faults"][1]["kind"] = "earthquake";
  EXPECT_THAT(problemOf(bad), HasSubstr("plan.faults[1].kind: expected one of crash, replaceCoordinator"));
  EXPECT_THAT(problemOf(bad), HasSubstr("found \"earthquake\""));

  bad = good;
  bad["operations"][0].erase("lease");
  EXPECT_EQ(problemOf(bad), "plan.operations[0].lease: is missing");

  bad = good;
  bad["operations"][2]["nodes"] = 1;
  EXPECT_EQ(problemOf(bad), "plan.operations[2].nodes: there is no such member");

  bad = good;
  bad["operations"][0]["node"] = 70'000;
  EXPECT_EQ(problemOf(bad), "plan.operations[0].node: expected an integer from 0 to 65535, found 70000");

  bad = good;
  bad["healAt"] = 1.5;
  EXPECT_THAT(problemOf(bad), HasSubstr("plan.healAt: expected an integer"));

  bad = good;
  bad["clocks"] = "fast";
  EXPECT_EQ(problemOf(bad), "plan.clocks: expected an array, found \"fast\"");

  EXPECT_EQ(problemOf(nlohmann::json::array()), "plan: expected an object, found []");
  EXPECT_THAT(problemOf(nlohmann::json("x")), HasSubstr("plan: expected an object"));
}

TEST(Plan, RefusesWhatTheRunDoesNotHave) {
  const RunOptions options = smallRun();
  const Plan good = drawPlan(options);
  ASSERT_EQ(problemOf(good, options), "");

  Plan bad = good;
  bad.operations[1].node = NodeId{9};
  EXPECT_EQ(problemOf(bad, options), "plan: operations[1].node is 9; expected 0 to 4");

  bad = good;
  bad.operations[1].key = KeyId{6};
  EXPECT_EQ(problemOf(bad, options), "plan: operations[1].key is 6; expected 0 to 5");

  bad = good;
  bad.faults[0].at = bad.endAt + sim::nanoseconds(1);
  EXPECT_THAT(problemOf(bad, options), HasSubstr("faults[0].at is 22000000001 ns; expected 0 to endAt"));

  bad = good;
  bad.faults[1].id = bad.operations[0].id;
  EXPECT_THAT(problemOf(bad, options), HasSubstr("plan: faults[1].id is "));
  EXPECT_THAT(problemOf(bad, options), HasSubstr(", as that of operations[0] is; expected an id of its own"));

  bad = good;
  bad.faults.push_back({1, {0}, FaultKind::loss, NodeId::none(), NodeId::none(), {}, 2'000'000});
  EXPECT_THAT(problemOf(bad, options), HasSubstr(".amount is 2000000; expected 0 to 1000000 for loss"));

  bad = good;
  bad.faults.push_back({1, {0}, FaultKind::latencySpike, NodeId{1}, NodeId{1}, {}, 0});
  EXPECT_THAT(problemOf(bad, options), HasSubstr(".peer is 1, the node itself; expected another node"));

  bad = good;
  bad.operations[0].kind = OperationKind::lockedUpdate;
  bad.operations[0].secondKey = KeyId{7};
  EXPECT_EQ(problemOf(bad, options), "plan: operations[0].secondKey is 7; expected 0 to 5, or null for none");

  bad = good;
  bad.faults.push_back({1, {0}, FaultKind::crash, NodeId{1}, NodeId{9}, {}, 0});
  EXPECT_THAT(problemOf(bad, options), HasSubstr(".peer is 9; expected 0 to 4, or null for none"));

  bad = good;
  bad.healAt = bad.endAt + sim::seconds(1);
  EXPECT_THAT(problemOf(bad, options), HasSubstr("plan: healAt is 23000000000 ns; expected 0 to endAt"));

  bad = good;
  bad.endAt = {-1};
  EXPECT_THAT(problemOf(bad, options), HasSubstr("plan: endAt is -1 ns; expected 0 to "));

  bad = good;
  bad.clocks[1].wallRatePpb = INT64_MAX;
  EXPECT_THAT(problemOf(bad, options), HasSubstr("plan: clocks[1].wallRatePpb is 9223372036854775807 ppb; "));

  bad = good;
  bad.clocks[1].monotonic.ns = INT64_MIN;
  EXPECT_THAT(problemOf(bad, options), HasSubstr("plan: clocks[1].monotonic is -9223372036854775808 ns; "));
}

TEST(Options, SurviveTheirJsonAndKeepDefaultsForWhatIsLeftOut) {
  RunOptions options = smallRun();
  options.workload.lockedUpdate = 3;
  options.delays.link.tail = sim::milliseconds(77);
  const auto read = optionsFromJson(nlohmann::json::parse(toJson(options).dump()));
  ASSERT_TRUE(read.has_value()) << read.error();
  EXPECT_EQ(*read, options);

  const auto partial = optionsFromJson(nlohmann::json::parse(R"({"nodes":3,"faults":{"lossPpm":5}})"));
  ASSERT_TRUE(partial.has_value()) << partial.error();
  EXPECT_EQ(partial->nodes, 3);
  EXPECT_EQ(partial->faults.lossPpm, 5U);
  EXPECT_EQ(partial->keys, RunOptions{}.keys);

  const auto unknown = optionsFromJson(nlohmann::json::parse(R"({"faults":{"lost":5}})"));
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error(), "options.faults.lost: there is no such member");
}

TEST(Options, AreSetByPathWithUnits) {
  RunOptions options;
  ASSERT_TRUE(setOption(options, "protocol.maxDelegation", "12s").has_value());
  EXPECT_EQ(options.protocol.maxDelegation, sim::seconds(12));
  ASSERT_TRUE(setOption(options, "delays.link.typical", "250 us").has_value());
  EXPECT_EQ(options.delays.link.typical, sim::microseconds(250));
  ASSERT_TRUE(setOption(options, "protocol.enabled", "false").has_value());
  EXPECT_FALSE(options.protocol.enabled);
  ASSERT_TRUE(setOption(options, "faults.maxDriftPpb", "1000").has_value());
  EXPECT_EQ(options.faults.maxDriftPpb, 1'000);

  const RunOptions before = options;
  for (const auto& [path, value, problem] :
       {std::tuple{"faults.lossPpm", "many", "'many' is no integer from 0 to 4294967295"},
        std::tuple{"faults.lossPpm", "5000000000", "is no integer from 0 to 4294967295"},
        std::tuple{"protocol.skew", "3 weeks", "'3 weeks' is no duration"},
        std::tuple{"protocol.skew", "9999999999h", "is no duration"},
        std::tuple{"protocol.enabled", "yes", "'yes' is neither true nor false"},
        std::tuple{"protocol.skw", "3s",
                   "there is no option 'protocol.skw'; expected one of algorithm, epochLease"},
        std::tuple{"nodes.count", "3", "there is no option 'nodes.count'"},
        std::tuple{"protocol", "3", "there is no option 'protocol'"},
        std::tuple{"", "3", "there is no option ''"}}) {
    const auto set = setOption(options, path, value);
    ASSERT_FALSE(set.has_value()) << path << " = " << value;
    EXPECT_THAT(set.error(), HasSubstr(problem));
  }
  EXPECT_EQ(options, before) << "a refused value changes nothing";
}

TEST(Options, AreDescribedInFull) {
  const std::string text = describe(RunOptions{});
  EXPECT_THAT(text, HasSubstr("seed = 1\n"));
  EXPECT_THAT(text, HasSubstr("protocol.maxDelegation = 8 s\n"));
  EXPECT_THAT(text, HasSubstr("delays.link.minimum = 200 us\n"));
  EXPECT_THAT(text, HasSubstr("faults.crash.meanGap = 20 s\n"));
  EXPECT_THAT(text, HasSubstr("faults.maxDriftPpb = 20000000\n"));
}

TEST(Options, DefaultsAreValidAndWrongOnesAreNamed) {
  ASSERT_TRUE(validate(RunOptions{}).has_value()) << validate(RunOptions{}).error();
  const auto problemAfter = [](auto&& change) {
    RunOptions options;
    change(options);
    const auto judged = validate(options);
    return judged ? std::string() : judged.error();
  };
  EXPECT_EQ(problemAfter([](RunOptions& o) { o.nodes = 64; }), "options: nodes is 64; expected 1 to 63");
  EXPECT_EQ(problemAfter([](RunOptions& o) { o.keys = 0; }), "options: keys is 0; expected 1 to 1000000");
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.delays.link.minimum = {}; }),
              HasSubstr("options: delays.link is 0 ns"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.faults.lossPpm = 1'000'001; }),
              HasSubstr("faults.lossPpm is 1000001; expected at most 1000000"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.protocol.renewEvery = o.protocol.epochLease; }),
              HasSubstr("expected less than protocol.epochLease"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.protocol.everDelegatedBits = 1'000; }),
              HasSubstr("expected a power of two"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.workload.gap = {1}; }), HasSubstr("workload.gap is 1 ns"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.protocol.sweepEvery = sim::microseconds(999); }),
              HasSubstr("protocol.sweepEvery is 999 us; expected 1 ms to"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.faults.maxDriftPpb = 25'000'000; }),
              HasSubstr("expected 0 to 24390243, which is what protocol.skew of 400 ms covers"));
  EXPECT_THAT(problemAfter([](RunOptions& o) { o.faults.pause.longest = sim::milliseconds(1); }),
              HasSubstr("faults.pause.longest is 1 ms; expected 20 ms to"));
}

// The slowest holder and the fastest home, at the bound and just beyond it (CK-3, DG-3).
TEST(Options, TheCoveredDriftIsExact) {
  const protocol::ProtocolOptions options;
  const std::int64_t covered = driftCovered(options);
  const auto overlap = [&](std::int64_t ppb) {
    const sim::MonotonicClock holder({}, -ppb);
    const sim::MonotonicClock home({}, ppb);
    const TrueInstant lapsed = holder.whenReads(MonotonicInstant{} + options.maxDelegation);
    const TrueInstant expired = home.whenReads(MonotonicInstant{} + options.maxDelegation + options.skew);
    return lapsed > expired;
  };
  EXPECT_FALSE(overlap(covered));
  EXPECT_TRUE(overlap(covered + 10));
}

}  // namespace
}  // namespace holdfast::scenarios
