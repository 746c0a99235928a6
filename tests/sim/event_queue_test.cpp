// The event queue against a model, and the order of simultaneous events.
#include "sim/event_queue.hpp"

#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

namespace holdfast::sim {
namespace {

/// The payloads in the order in which they come out.
template <class T>
std::vector<T> drain(EventQueue<T> queue) {
  std::vector<T> order;
  while (!queue.empty()) order.push_back(queue.pop().payload);
  return order;
}

EventQueue<int> simultaneous(std::uint64_t seed, int count, TieBreak tieBreak = TieBreak::seeded) {
  EventQueue<int> queue(seed, tieBreak);
  for (int i = 0; i < count; ++i) queue.push(TrueInstant{5}, i);
  return queue;
}

// How a loop is driven by the queue.
TEST(EventQueue, TutorialPushCancelPop) {
  EventQueue<std::string> queue(/*seed*/ 1);
  queue.push(TrueInstant{30}, "renew");
  const EventHandle expire = queue.push(TrueInstant{20}, "expire");
  queue.push(TrueInstant{10}, "grant");
  EXPECT_EQ(queue.nextTime(), TrueInstant{10});

  EXPECT_TRUE(queue.cancel(expire));
  EXPECT_FALSE(queue.cancel(expire)) << "a handle is good for one cancellation";
  EXPECT_EQ(queue.size(), 2U);

  std::vector<std::string> seen;
  while (!queue.empty()) {
    auto [time, payload] = queue.pop();
    seen.push_back(std::to_string(time.ns) + " " + payload);
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"10 grant", "30 renew"}));
  EXPECT_EQ(queue.nextTime(), TrueInstant::never());
}

TEST(EventQueue, NegativeTimesComeFirst) {
  EventQueue<int> queue;
  queue.push(TrueInstant{0}, 2);
  queue.push(TrueInstant{-5}, 1);
  queue.push(TrueInstant{INT64_MIN}, 0);
  queue.push(TrueInstant::never(), 3);
  EXPECT_EQ(drain(queue), (std::vector<int>{0, 1, 2, 3}));
}

TEST(EventQueue, FifoKeepsTheOrderOfArrival) {
  std::vector<int> expected(500);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(drain(simultaneous(3, 500, TieBreak::fifo)), expected);
}

TEST(EventQueue, OneSeedOneOrder) {
  EXPECT_EQ(drain(simultaneous(1, 100)), drain(simultaneous(1, 100)));
  EXPECT_NE(drain(simultaneous(1, 100)), drain(simultaneous(2, 100)));
}

TEST(EventQueue, SeedsReachEveryOrderOfSimultaneousEvents) {
  std::map<std::vector<int>, int> orders;
  for (std::uint64_t seed = 0; seed < 2400; ++seed) ++orders[drain(simultaneous(seed, 4))];
  EXPECT_EQ(orders.size(), 24U);
  for (const auto& [order, count] : orders) {
    EXPECT_GT(count, 50) << "each of the 24 orders is expected about 100 times";
    EXPECT_LT(count, 160);
  }
}

TEST(EventQueue, AKeyedEventKeepsItsPlaceWhenOthersAreRemoved) {
  // Which of two events comes first must not depend on a third that was pushed before them.
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EventQueue<int> with(seed);
    EventQueue<int> without(seed);
    with.push(TrueInstant{1}, 99);
    for (auto* queue : {&with, &without}) {
      queue->pushKeyed(TrueInstant{5}, 1001, 1);
      queue->pushKeyed(TrueInstant{5}, 1002, 2);
    }
    EXPECT_EQ(with.pop().payload, 99);
    EXPECT_EQ(drain(with), drain(without));
  }
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EventQueue<int> queue(seed);
    queue.pushKeyed(TrueInstant{5}, 1001, 1);
    queue.pushKeyed(TrueInstant{5}, 1002, 2);
    orders.insert(drain(queue));
  }
  EXPECT_EQ(orders.size(), 2U) << "the seed still explores both orders";
}

TEST(EventQueue, AHandleIsStaleOnceItsSlotIsUsedAgain) {
  EventQueue<int> queue;
  const EventHandle first = queue.push(TrueInstant{1}, 1);
  EXPECT_TRUE(queue.pending(first));
  queue.pop();
  const EventHandle second = queue.push(TrueInstant{2}, 2);
  EXPECT_EQ(second.slot, first.slot) << "the test wants the slot to be used again";
  EXPECT_FALSE(queue.pending(first));
  EXPECT_FALSE(queue.cancel(first));
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_TRUE(queue.cancel(second));
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.cancel(EventHandle::none()));
  EXPECT_FALSE(queue.cancel(EventHandle{77, 0}));
}

TEST(EventQueue, AHandleOfACancelledEventDoesNotNameItsSuccessor) {
  EventQueue<int> queue;
  const EventHandle first = queue.push(TrueInstant{1}, 1);
  queue.cancel(first);
  const EventHandle second = queue.push(TrueInstant{2}, 2);
  EXPECT_EQ(second.slot, first.slot) << "the test wants the slot to be used again";
  EXPECT_FALSE(queue.pending(first));
  EXPECT_FALSE(queue.cancel(first));
  EXPECT_EQ(queue.size(), 1U);
}

TEST(EventQueue, CancellingTheNextEventMovesNextTime) {
  EventQueue<int> queue;
  const EventHandle a = queue.push(TrueInstant{1}, 1);
  const EventHandle b = queue.push(TrueInstant{2}, 2);
  queue.push(TrueInstant{3}, 3);
  queue.cancel(b);
  EXPECT_EQ(queue.nextTime(), TrueInstant{1});
  queue.cancel(a);
  EXPECT_EQ(queue.nextTime(), TrueInstant{3});
  EXPECT_EQ(queue.top(), 3);
}

TEST(EventQueue, ACancelledPayloadIsDestroyedAtOnce) {
  EventQueue<std::shared_ptr<int>> queue;
  auto payload = std::make_shared<int>(1);
  queue.push(TrueInstant{1}, std::make_shared<int>(0));
  const EventHandle handle = queue.push(TrueInstant{9}, payload);
  EXPECT_EQ(payload.use_count(), 2);
  queue.cancel(handle);
  EXPECT_EQ(payload.use_count(), 1);
}

TEST(EventQueue, HoldsMoveOnlyPayloads) {
  EventQueue<std::unique_ptr<int>> queue;
  queue.push(TrueInstant{2}, std::make_unique<int>(2));
  queue.emplace(TrueInstant{1}, new int(1));
  std::unique_ptr<int> out;
  EXPECT_EQ(queue.popInto(out), TrueInstant{1});
  EXPECT_EQ(*out, 1);
  EXPECT_EQ(*queue.pop().payload, 2);
}

// A timer that is set and cancelled over and over must not leave its corpses behind.
TEST(EventQueue, CancelledEventsDoNotPileUp) {
  EventQueue<int> queue;
  queue.push(TrueInstant{1'000'000}, 0);
  std::uint32_t largest = 0;
  for (int i = 0; i < 100'000; ++i) {
    const EventHandle handle = queue.push(TrueInstant{2'000'000 + i}, i);
    largest = std::max(largest, handle.slot);
    ASSERT_TRUE(queue.cancel(handle));
  }
  EXPECT_EQ(queue.size(), 1U);
  EXPECT_LT(largest, 200U);
}

TEST(EventQueue, ClearMakesHandlesStale) {
  EventQueue<int> queue;
  const EventHandle handle = queue.push(TrueInstant{1}, 1);
  queue.push(TrueInstant{2}, 2);
  queue.clear();
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(queue.nextTime(), TrueInstant::never());
  EXPECT_FALSE(queue.cancel(handle));
  queue.push(TrueInstant{3}, 3);
  EXPECT_EQ(drain(queue), std::vector<int>{3});
}

TEST(EventQueue, ForEachSeesThePendingOnly) {
  EventQueue<int> queue;
  const EventHandle handle = queue.push(TrueInstant{7}, 7);
  for (int i = 0; i < 5; ++i) queue.push(TrueInstant{i}, i);
  queue.cancel(handle);
  queue.pop();
  std::set<int> seen;
  queue.forEach([&](TrueInstant t, int payload) {
    EXPECT_EQ(t.ns, payload);
    seen.insert(payload);
  });
  EXPECT_EQ(seen, (std::set<int>{1, 2, 3, 4}));
}

TEST(EventQueue, ACopyContinuesAsTheOriginal) {
  EventQueue<int> original = simultaneous(11, 50);
  original.pop();
  EventQueue<int> copy = original;
  for (auto* queue : {&original, &copy}) {
    for (int i = 100; i < 150; ++i) queue->push(TrueInstant{5}, i);
  }
  EXPECT_EQ(drain(copy), drain(original));
  copy.pop();
  EXPECT_EQ(original.size(), 99U);
  EXPECT_EQ(copy.size(), 98U);
}

// Any mix of operations behaves like a sorted list of (time, arrival).
RC_GTEST_PROP(EventQueue, AgreesWithASortedList, ()) {
  EventQueue<int> queue(0, TieBreak::fifo);
  std::map<std::pair<std::int64_t, int>, EventHandle> model;
  const int operations = *rc::gen::inRange(1, 600);
  std::int64_t now = 0;
  for (int i = 0; i < operations; ++i) {
    const int choice = *rc::gen::inRange(0, 10);
    if (choice < 5 || model.empty()) {
      const std::int64_t time = now + *rc::gen::inRange<std::int64_t>(0, 40);
      model[{time, i}] = queue.push(TrueInstant{time}, i);
    } else if (choice < 8) {
      auto victim = model.begin();
      std::advance(victim, *rc::gen::inRange<std::size_t>(0, model.size()));
      RC_ASSERT(queue.cancel(victim->second));
      model.erase(victim);
    } else {
      const auto [time, payload] = queue.pop();
      RC_ASSERT(std::make_pair(time.ns, payload) == model.begin()->first);
      now = time.ns;
      model.erase(model.begin());
    }
    RC_ASSERT(queue.size() == model.size());
    RC_ASSERT(queue.nextTime().ns == (model.empty() ? INT64_MAX : model.begin()->first.first));
  }
  for (const auto& [key, handle] : model) {
    RC_ASSERT(queue.pending(handle));
    RC_ASSERT(queue.pop().payload == key.second);
  }
  RC_ASSERT(queue.empty());
}

// Cancelling never disturbs the order of what stays, also with seeded ties.
RC_GTEST_PROP(EventQueue, CancellationKeepsTheOrderOfTheRest,
              (std::uint64_t seed, const std::vector<bool>& cancelled)) {
  EventQueue<int> queue(seed);
  std::vector<EventHandle> handles;
  for (std::size_t i = 0; i < cancelled.size(); ++i) {
    handles.push_back(queue.push(TrueInstant{static_cast<std::int64_t>(i % 3)}, static_cast<int>(i)));
  }
  std::vector<int> expected = drain(queue);
  std::erase_if(expected, [&](int i) { return cancelled[static_cast<std::size_t>(i)]; });
  for (std::size_t i = 0; i < cancelled.size(); ++i) {
    if (cancelled[i]) queue.cancel(handles[i]);
  }
  RC_ASSERT(drain(queue) == expected);
}

}  // namespace
}  // namespace holdfast::sim
