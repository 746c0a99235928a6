// The Asio bridge: order, virtual time, timers on a node's clock, cancellation both ways, and clean
// destruction.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/asio/awaitable.hpp"

namespace holdfast::sim {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr auto kAsTuple = asio::as_tuple(asio::deferred);

/// The code with which awaiting `wait` fails, or success.
error_code codeOf(const std::exception_ptr& failure) {
  if (!failure) return {};
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    return error.code();
  }
}

// A client and a server written as two straight coroutines; ten virtual minutes take no real time.
TEST(AsioBridge, TutorialAClientWaitsForAReply) {
  VirtualContext context;
  Completion<std::string> reply(context);
  std::vector<std::string> log;

  spawn(context, [&]() -> Awaitable<> {
    log.push_back("ask");
    const std::string answer = co_await reply.wait();
    log.push_back(answer + " at " + std::to_string(context.now().ns / 1'000'000'000) + " s");
  });
  spawn(context, [&]() -> Awaitable<> {
    co_await context.sleepFor(minutes(10));
    reply.complete("granted");
  });
  context.run();

  EXPECT_EQ(log, (std::vector<std::string>{"ask", "granted at 600 s"}));
  EXPECT_EQ(context.outstandingWork(), 0);
  EXPECT_EQ(context.waiting(), 0U);
}

TEST(VirtualExecutor, MeetsAsiosRequirements) {
  static_assert(asio::execution::is_executor<VirtualExecutor>::value);
  static_assert(std::is_convertible_v<VirtualExecutor, asio::any_io_executor>);
  VirtualContext context;
  const VirtualExecutor executor = context.get_executor();
  EXPECT_EQ(&asio::query(executor, asio::execution::context), &context);
  EXPECT_EQ(asio::query(executor, asio::execution::blocking), asio::execution::blocking.possibly);
  const VirtualExecutor never = asio::require(executor, asio::execution::blocking.never);
  EXPECT_EQ(asio::query(never, asio::execution::blocking), asio::execution::blocking.never);
  EXPECT_NE(never, executor);
  EXPECT_EQ(asio::require(never, asio::execution::blocking.possibly), executor);
  const VirtualExecutor continuation = asio::prefer(executor, asio::execution::relationship.continuation);
  EXPECT_EQ(asio::query(continuation, asio::execution::relationship),
            asio::execution::relationship.continuation);
  EXPECT_EQ(asio::query(executor, asio::execution::mapping), asio::execution::mapping.thread);
}

TEST(VirtualExecutor, CountsTrackedWork) {
  VirtualContext context;
  {
    VirtualExecutor tracked =
        asio::require(context.get_executor(), asio::execution::outstanding_work.tracked);
    EXPECT_EQ(context.outstandingWork(), 1);
    const VirtualExecutor copy = tracked;
    EXPECT_EQ(context.outstandingWork(), 2);
    tracked = context.get_executor();
    EXPECT_EQ(context.outstandingWork(), 1);
    EXPECT_EQ(asio::query(copy, asio::execution::outstanding_work),
              asio::execution::outstanding_work.tracked);
  }
  EXPECT_EQ(context.outstandingWork(), 0);
}

TEST(VirtualExecutor, PostsInOrderAndDispatchesInside) {
  VirtualContext context;
  std::vector<int> order;
  asio::dispatch(context, [&] { order.push_back(1); });
  EXPECT_TRUE(order.empty()) << "outside of the context even dispatch() queues";
  asio::post(context, [&] {
    order.push_back(2);
    asio::post(context, [&] { order.push_back(5); });
    asio::dispatch(context, [&] { order.push_back(3); });
    order.push_back(4);
  });
  EXPECT_TRUE(context.hasReady());
  EXPECT_EQ(context.runReady(), 3U);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3, 4, 5}));
  EXPECT_FALSE(context.hasReady());
}

TEST(VirtualContext, RunsNoMoreThanTheLimit) {
  VirtualContext context;
  int ran = 0;
  for (int i = 0; i < 5; ++i) asio::post(context, [&] { ++ran; });
  EXPECT_EQ(context.runReady(2), 2U);
  EXPECT_EQ(ran, 2);
  EXPECT_EQ(context.runReady(), 3U);
}

TEST(VirtualContext, AnExceptionPassesAndTheRestCanRun) {
  VirtualContext context;
  bool second = false;
  spawn(context, []() -> Awaitable<> {
    throw std::runtime_error("scenario failed");
    co_return;
  });
  asio::post(context, [&] { second = true; });
  EXPECT_THROW(context.run(), std::runtime_error);
  context.run();
  EXPECT_TRUE(second);
}

TEST(VirtualContext, IsNotReentrant) {
  VirtualContext context;
  int inner = -1;
  asio::post(context, [&] {
    asio::post(context, [] {});
    inner = static_cast<int>(context.runReady() + context.run());
  });
  EXPECT_EQ(context.run(), 2U);
  EXPECT_EQ(inner, 0);
}

TEST(VirtualContext, EachTimerSeesItsOwnInstant) {
  VirtualContext context;
  std::vector<std::int64_t> seen;
  for (const std::int64_t at : {30, 10, 20}) {
    spawn(context, [&context, &seen, at]() -> Awaitable<> {
      co_await context.sleepUntil(TrueInstant{at});
      seen.push_back(context.now().ns);
      co_await context.sleepFor(Duration{100});
      seen.push_back(context.now().ns);
    });
  }
  context.runReady();
  EXPECT_EQ(context.nextTime(), TrueInstant{10});
  context.advanceTo(TrueInstant{115});
  EXPECT_EQ(seen, (std::vector<std::int64_t>{10, 20, 30, 110}));
  EXPECT_EQ(context.now(), TrueInstant{115});
  context.advanceTo(TrueInstant{5});
  EXPECT_EQ(context.now(), TrueInstant{115}) << "time never moves back";
  context.run();
  EXPECT_EQ(seen.back(), 130);
  EXPECT_EQ(context.now(), TrueInstant{130});
}

TEST(VirtualContext, OneInstantOrdersBySeedOrArrival) {
  const auto order = [](std::uint64_t seed, TieBreak tieBreak) {
    VirtualContext context(seed, tieBreak);
    std::vector<int> seen;
    for (int i = 0; i < 20; ++i) {
      context.sleepUntil(TrueInstant{5}, [&seen, i](error_code) { seen.push_back(i); });
    }
    context.run();
    return seen;
  };
  std::vector<int> arrival(20);
  for (int i = 0; i < 20; ++i) arrival[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(order(1, TieBreak::fifo), arrival);
  EXPECT_EQ(order(1, TieBreak::seeded), order(1, TieBreak::seeded));
  EXPECT_NE(order(1, TieBreak::seeded), order(2, TieBreak::seeded));
}

TEST(VirtualContext, SleepingInThePastEndsAtOnceButNotInside) {
  VirtualContext context(0, TieBreak::fifo, TrueInstant{1000});
  bool done = false;
  context.sleepUntil(TrueInstant{3}, [&](error_code code) { done = !code; });
  EXPECT_FALSE(done);
  context.advanceTo(context.now());
  EXPECT_TRUE(done);
  EXPECT_EQ(context.now(), TrueInstant{1000});
}

TEST(VirtualTimer, CancelAbortsEveryWait) {
  VirtualContext context;
  VirtualTimer timer(context, seconds(1));
  std::vector<error_code> codes;
  timer.wait([&](error_code code) { codes.push_back(code); });
  timer.async_wait([&](error_code code) { codes.push_back(code); });
  EXPECT_EQ(timer.cancel(), 2U);
  EXPECT_TRUE(codes.empty()) << "no handler runs inside cancel()";
  context.run();
  EXPECT_EQ(codes, (std::vector<error_code>(2, asio::error::operation_aborted)));
  EXPECT_EQ(context.now(), TrueInstant{0});
  EXPECT_EQ(timer.cancel(), 0U);
}

TEST(VirtualTimer, ANewDeadlineCancelsTheOldWait) {
  VirtualContext context;
  VirtualTimer timer(context, seconds(1));
  error_code first;
  timer.wait([&](error_code code) { first = code; });
  EXPECT_EQ(timer.expiresAfter(seconds(5)), 1U);
  EXPECT_EQ(timer.expiry(), TrueInstant{seconds(5).ns});
  error_code second = asio::error::would_block;
  timer.wait([&](error_code code) { second = code; });
  context.run();
  EXPECT_EQ(first, asio::error::operation_aborted);
  EXPECT_EQ(second, error_code{});
  EXPECT_EQ(context.now(), TrueInstant{seconds(5).ns});
}

TEST(VirtualTimer, ItsDestructionAbortsTheWait) {
  VirtualContext context;
  error_code code;
  {
    VirtualTimer timer(context, seconds(1));
    timer.wait([&](error_code c) { code = c; });
  }
  context.run();
  EXPECT_EQ(code, asio::error::operation_aborted);
}

TEST(VirtualTimer, WithoutDeadlineItWaitsForever) {
  VirtualContext context;
  VirtualTimer timer(context);
  bool called = false;
  timer.wait([&](error_code) { called = true; });
  context.run();
  EXPECT_FALSE(called);
  EXPECT_EQ(context.waiting(), 1U);
  EXPECT_EQ(context.nextTime(), TrueInstant::never());
}

TEST(VirtualTimer, OnANodesClockItFollowsTheRate) {
  VirtualContext context;
  MonotonicClock clock;
  VirtualTimer timer(context, clock, MonotonicInstant{seconds(30).ns});
  MonotonicClock unrelatedClock;
  VirtualTimer unrelated(context, unrelatedClock, MonotonicInstant{seconds(40).ns});
  std::vector<std::int64_t> fired;
  for (VirtualTimer* t : {&timer, &unrelated}) {
    t->wait([&](error_code code) {
      ASSERT_FALSE(code);
      fired.push_back(context.now().ns / 1'000'000'000);
    });
  }
  context.advanceTo(TrueInstant{seconds(10).ns});
  clock.setRate(context.now(), -kMaxRatePpb);
  EXPECT_EQ(context.nextTime(), TrueInstant{seconds(30).ns}) << "nobody has said so yet";
  context.retimeAll(clock);
  EXPECT_EQ(timer.expiry(), TrueInstant{seconds(50).ns});
  context.run();
  EXPECT_EQ(fired, (std::vector<std::int64_t>{40, 50}));
}

TEST(VirtualTimer, AFrozenClockHoldsItBack) {
  VirtualContext context;
  MonotonicClock clock;
  VirtualTimer timer(context, clock, MonotonicInstant{seconds(5).ns});
  TrueInstant fired{};
  timer.wait([&](error_code) { fired = context.now(); });
  context.advanceTo(TrueInstant{seconds(2).ns});
  clock.freeze(context.now());
  timer.retime();
  context.run();
  EXPECT_EQ(fired, TrueInstant{}) << "a suspended machine fires nothing";
  context.advanceTo(TrueInstant{seconds(100).ns});
  clock.thaw(context.now());
  timer.retime();
  context.run();
  EXPECT_EQ(fired, TrueInstant{seconds(103).ns});
}

TEST(VirtualTimer, AClockThatGainsMakesTheDeadlinePastAndItFiresNow) {
  VirtualContext context;
  MonotonicClock clock;
  VirtualTimer timer(context, clock, MonotonicInstant{seconds(5).ns});
  TrueInstant fired{};
  timer.wait([&](error_code) { fired = context.now(); });
  context.advanceTo(TrueInstant{seconds(4).ns});
  // The same clock with a reading beyond the deadline stands for any change that puts it into the past.
  clock = MonotonicClock(MonotonicInstant{seconds(9).ns}, 0, TrueInstant{seconds(1).ns});
  context.retimeAll(clock);
  context.run();
  EXPECT_EQ(fired, TrueInstant{seconds(4).ns});
}

TEST(Completion, BringsItsValueBeforeOrAfterTheWait) {
  VirtualContext context;
  Completion<int> early(context);
  Completion<int> late(context);
  EXPECT_TRUE(early.complete(1));
  EXPECT_FALSE(early.complete(2)) << "the first value counts";
  int sum = 0;
  spawn(context, [&]() -> Awaitable<> {
    sum += co_await early.wait();
    sum += 10 * co_await late.wait();
  });
  context.runReady();
  EXPECT_EQ(sum, 1);
  EXPECT_TRUE(late.awaited());
  late.complete(3);
  EXPECT_EQ(sum, 1) << "the waiter does not run inside complete()";
  context.runReady();
  EXPECT_EQ(sum, 31);
}

TEST(Completion, ADeadlineEndsTheWaitAndKeepsALateValue) {
  VirtualContext context;
  Completion<int> reply(context);
  std::vector<std::string> log;
  spawn(context, [&]() -> Awaitable<> {
    auto [code, value] = co_await reply.waitFor(seconds(2), kAsTuple);
    log.push_back(code.message() + " " + std::to_string(value));
    log.push_back(std::to_string(co_await reply.wait()));
  });
  context.runReady();
  context.advanceTo(TrueInstant{seconds(3).ns});
  ASSERT_EQ(log.size(), 1U);
  EXPECT_EQ(log[0], error_code(asio::error::timed_out).message() + " 0");
  reply.complete(8);
  context.run();
  EXPECT_EQ(log.back(), "8");
}

TEST(Completion, AValueBeforeTheDeadlineLeavesNoTimerBehind) {
  VirtualContext context;
  Completion<int> reply(context);
  error_code code = asio::error::would_block;
  reply.waitFor(seconds(2), [&](error_code c, int) { code = c; });
  EXPECT_EQ(context.nextTime(), TrueInstant{seconds(2).ns});
  reply.complete(1);
  EXPECT_EQ(context.nextTime(), TrueInstant::never());
  context.run();
  EXPECT_EQ(code, error_code{});
  EXPECT_EQ(context.now(), TrueInstant{0});
}

TEST(Completion, OnlyOneMayWait) {
  VirtualContext context;
  Completion<int> reply(context);
  error_code first = asio::error::would_block;
  error_code second;
  reply.wait([&](error_code c, int) { first = c; });
  reply.wait([&](error_code c, int) { second = c; });
  context.run();
  EXPECT_EQ(second, asio::error::already_started);
  EXPECT_EQ(first, asio::error::would_block) << "the first still waits";
  EXPECT_TRUE(reply.cancel());
  context.run();
  EXPECT_EQ(first, asio::error::operation_aborted);
}

TEST(Completion, ResetAllowsAnotherRound) {
  VirtualContext context;
  Completion<int> reply(context);
  reply.complete(1);
  EXPECT_EQ(reply.take(), 1);
  EXPECT_EQ(reply.take(), std::nullopt);
  EXPECT_TRUE(reply.completed());
  reply.reset();
  EXPECT_FALSE(reply.completed());
  EXPECT_TRUE(reply.complete(2));
  EXPECT_EQ(reply.take(), 2);
}

TEST(Completion, CarriesAMoveOnlyValue) {
  VirtualContext context;
  Completion<std::unique_ptr<int>> reply(context);
  int seen = 0;
  spawn(context, [&]() -> Awaitable<> { seen = *co_await reply.wait(); });
  context.runReady();
  reply.complete(std::make_unique<int>(5));
  context.runReady();
  EXPECT_EQ(seen, 5);
}

TEST(AsioBridge, WorksWithTypeErasedAwaitablesAndStrands) {
  VirtualContext context;
  std::vector<std::int64_t> seen;
  const auto body = [&]() -> asio::awaitable<void> {
    VirtualTimer timer(context, seconds(1));
    co_await timer.wait(asio::use_awaitable);
    seen.push_back(context.now().ns / 1'000'000'000);
    timer.expiresAfter(seconds(1));
    co_await timer.wait();
    seen.push_back(context.now().ns / 1'000'000'000);
  };
  const auto strand = asio::make_strand(context.get_executor());
  std::exception_ptr failure;
  asio::co_spawn(context, body, [&](std::exception_ptr e) { failure = e; });
  asio::co_spawn(strand, body, [&](std::exception_ptr e) { failure = e; });
  context.run();
  EXPECT_EQ(codeOf(failure), error_code{});
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 1, 2, 2}));
}

TEST(AsioBridge, AHandlerRunsOnItsOwnExecutor) {
  VirtualContext context;
  VirtualContext elsewhere;
  bool called = false;
  context.sleepFor(seconds(1),
                   asio::bind_executor(elsewhere.get_executor(), [&](error_code) { called = true; }));
  EXPECT_EQ(elsewhere.outstandingWork(), 1) << "the other context is told to expect it";
  context.run();
  EXPECT_FALSE(called);
  elsewhere.run();
  EXPECT_TRUE(called);
  EXPECT_EQ(elsewhere.outstandingWork(), 0);
}

// Sleepers wake in the order of their deadlines, whatever they are.
RC_GTEST_PROP(AsioBridge, SleepersWakeInOrder, (const std::vector<std::uint16_t>& delays)) {
  VirtualContext context(7, TieBreak::seeded);
  std::vector<std::int64_t> woken;
  for (const std::uint16_t delay : delays) {
    spawn(context, [&context, &woken, delay]() -> Awaitable<> {
      co_await context.sleepFor(Duration{delay});
      woken.push_back(delay);
      RC_ASSERT(context.now().ns == delay);
    });
  }
  context.run();
  std::vector<std::int64_t> expected(delays.begin(), delays.end());
  std::sort(expected.begin(), expected.end());
  RC_ASSERT(woken == expected);
}

}  // namespace
}  // namespace holdfast::sim
