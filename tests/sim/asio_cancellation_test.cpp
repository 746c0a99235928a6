// Cancelling waits on the Asio bridge, and destroying a context under suspended coroutines.
#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/asio/awaitable.hpp"

namespace holdfast::sim {
namespace {

namespace asio = boost::asio;
using asio::experimental::awaitable_operators::operator||;
using asio::experimental::awaitable_operators::operator&&;
using boost::system::error_code;

// Both directions of `reply || timeout`: the loser is cancelled and leaves nothing behind.
TEST(Cancellation, TheTimeoutWins) {
  VirtualContext context;
  Completion<int> reply(context);
  std::size_t winner = 99;
  spawn(context, [&]() -> Awaitable<> {
    VirtualTimer timer(context, seconds(1));
    const auto result = co_await (reply.wait(useAwaitable) || timer.wait(useAwaitable));
    winner = result.index();
  });
  context.run();
  EXPECT_EQ(winner, 1U);
  EXPECT_EQ(context.now(), TrueInstant{seconds(1).ns});
  EXPECT_FALSE(reply.awaited());
  EXPECT_EQ(context.waiting(), 0U);
  EXPECT_EQ(context.outstandingWork(), 0);
}

TEST(Cancellation, TheReplyWins) {
  VirtualContext context;
  Completion<int> reply(context);
  int value = 0;
  spawn(context, [&]() -> Awaitable<> {
    VirtualTimer timer(context, seconds(1));
    const auto result = co_await (reply.wait(useAwaitable) || timer.wait(useAwaitable));
    value = std::get<0>(result);
  });
  context.runReady();
  EXPECT_EQ(context.nextTime(), TrueInstant{seconds(1).ns});
  reply.complete(4);
  context.runReady();
  EXPECT_EQ(value, 4);
  EXPECT_EQ(context.nextTime(), TrueInstant::never()) << "the timer's wait is gone";
  EXPECT_EQ(context.waiting(), 0U);
  EXPECT_EQ(context.outstandingWork(), 0);
}

TEST(Cancellation, BothAreAwaitedTogether) {
  VirtualContext context;
  Completion<int> reply(context);
  TrueInstant done{};
  spawn(context, [&]() -> Awaitable<> {
    VirtualTimer timer(context, seconds(3));
    const int value = co_await (reply.wait(useAwaitable) && timer.wait(useAwaitable));
    EXPECT_EQ(value, 6);
    done = context.now();
  });
  context.runReady();
  reply.complete(6);
  context.run();
  EXPECT_EQ(done, TrueInstant{seconds(3).ns});
}

TEST(Cancellation, ASignalEndsASleepingCoroutine) {
  VirtualContext context;
  asio::cancellation_signal signal;
  std::vector<std::string> log;
  spawn(
      context,
      [&]() -> Awaitable<> {
        struct OnExit {
          std::vector<std::string>& log;
          ~OnExit() { log.push_back("unwound"); }
        } const onExit{log};
        co_await context.sleepFor(hours(1));
        log.push_back("slept");
      },
      signal);
  context.advanceTo(TrueInstant{seconds(5).ns});
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(log, (std::vector<std::string>{"unwound"}));
  EXPECT_EQ(context.now(), TrueInstant{seconds(5).ns});
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(context.outstandingWork(), 0);
}

TEST(Cancellation, ASlotCancelsOneWaitOfMany) {
  VirtualContext context;
  VirtualTimer timer(context, seconds(1));
  asio::cancellation_signal signal;
  std::vector<std::pair<int, error_code>> ended;
  timer.wait([&](error_code code) { ended.emplace_back(1, code); });
  timer.wait(
      asio::bind_cancellation_slot(signal.slot(), [&](error_code code) { ended.emplace_back(2, code); }));
  timer.wait([&](error_code code) { ended.emplace_back(3, code); });
  signal.emit(asio::cancellation_type::total);
  signal.emit(asio::cancellation_type::total);
  context.run();
  EXPECT_EQ(ended, (std::vector<std::pair<int, error_code>>{
                       {2, asio::error::operation_aborted}, {1, error_code{}}, {3, error_code{}}}));
}

TEST(Cancellation, ALateSignalDoesNotTouchTheNextWait) {
  VirtualContext context;
  asio::cancellation_signal signal;
  error_code first = asio::error::would_block;
  context.sleepFor(seconds(1), asio::bind_cancellation_slot(signal.slot(), [&](error_code c) { first = c; }));
  context.run();
  ASSERT_EQ(first, error_code{});
  // The next wait may live in the same memory and the same registry entry.
  error_code second = asio::error::would_block;
  context.sleepFor(seconds(1), [&](error_code c) { second = c; });
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(second, error_code{});
}

TEST(Cancellation, OfARepliedWaitComesTooLate) {
  VirtualContext context;
  asio::cancellation_signal signal;
  Completion<int> reply(context);
  int value = 0;
  error_code code = asio::error::would_block;
  reply.wait(asio::bind_cancellation_slot(signal.slot(), [&](error_code c, int v) {
    code = c;
    value = v;
  }));
  reply.complete(3);
  signal.emit(asio::cancellation_type::terminal);
  context.run();
  EXPECT_EQ(code, error_code{});
  EXPECT_EQ(value, 3);
}

/// Counts how many of it exist.
struct Tracked {
  explicit Tracked(int& count) : alive(&count) { ++*alive; }
  Tracked(const Tracked& other) : alive(other.alive) { ++*alive; }
  Tracked& operator=(const Tracked&) = delete;
  ~Tracked() { --*alive; }
  int* alive;
};

TEST(Destruction, SuspendedCoroutinesEndWithTheContext) {
  int alive = 0;
  bool resumed = false;
  {
    VirtualContext context;
    const auto body = [&]() -> Awaitable<> {
      const Tracked tracked(alive);
      VirtualTimer timer(context, seconds(1));
      Completion<int> never(context);
      const auto inner = [&]() -> Awaitable<> {
        const Tracked innerTracked(alive);
        co_await (timer.wait(useAwaitable) || never.wait(useAwaitable));
        resumed = true;
      };
      co_await inner();
      resumed = true;
    };
    for (int i = 0; i < 3; ++i) spawn(context, body);
    context.runReady();
    EXPECT_EQ(alive, 6);
    spawn(context, body);  // one that never started
    asio::post(context, [tracked = Tracked(alive)] {});
    EXPECT_EQ(alive, 7);
  }
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(resumed);
}

TEST(Destruction, OfAReadyCoroutine) {
  int alive = 0;
  {
    VirtualContext context;
    Completion<int> reply(context);
    spawn(context, [&]() -> Awaitable<> {
      const Tracked tracked(alive);
      co_await reply.wait();
      ADD_FAILURE() << "must not be resumed";
    });
    context.runReady();
    reply.complete(1);
    EXPECT_EQ(alive, 1);
  }
  EXPECT_EQ(alive, 0);
}

// A destructor in a coroutine's frame that itself ends waits and posts work while the context goes down.
TEST(Destruction, WhileFramesStillCauseWork) {
  int alive = 0;
  bool called = false;
  {
    auto context = std::make_unique<VirtualContext>();
    VirtualContext& c = *context;
    struct Noisy {
      VirtualContext& context;
      Completion<int>& other;
      int& alive;
      bool& called;
      ~Noisy() {
        other.complete(1);
        asio::post(context, [tracked = Tracked(alive), this_called = &called] { *this_called = true; });
      }
    };
    auto shared = std::make_shared<Completion<int>>(c);
    spawn(c, [&alive, shared]() -> Awaitable<> {
      const Tracked tracked(alive);
      co_await shared->wait();
    });
    spawn(c, [&c, &alive, &called, shared]() -> Awaitable<> {
      const Noisy noisy{c, *shared, alive, called};
      co_await c.sleepFor(seconds(1));
    });
    shared.reset();
    c.runReady();
    EXPECT_EQ(alive, 1);
    context.reset();
  }
  EXPECT_EQ(alive, 0);
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace holdfast::sim
