// The queue of received entries against a deque.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>

#include "protocol/replication/stream_queue.hpp"
#include "tests/protocol/replication_fixture.hpp"

namespace holdfast::protocol {
namespace {

using namespace testing;

RC_GTEST_PROP(StreamQueue, BehavesLikeADeque, ()) {
  StreamQueue queue;
  std::deque<Position> model;
  Position next = 0;
  // Pushes come in bursts, so that the queue grows, shrinks and wraps while it is not empty.
  for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-4, 6))) {
    for (int i = 0; i < step; ++i) {
      ++next;
      queue.push(next, barrier(next));
      model.push_back(next);
    }
    for (int i = 0; i < -step && !model.empty(); ++i) {
      const bool back = step == -1;
      const ReceivedEntry taken = back ? queue.takeBack() : queue.takeFront();
      const Position expected = back ? model.back() : model.front();
      back ? model.pop_back() : model.pop_front();
      RC_ASSERT(taken.position == expected);
      RC_ASSERT(taken.entry == barrier(expected));
    }
    RC_ASSERT(queue.size() == model.size());
    RC_ASSERT(queue.empty() == model.empty());
    if (model.empty()) continue;
    RC_ASSERT(queue.front().position == model.front());
    for (std::size_t i = 0; i < model.size(); ++i) RC_ASSERT(queue[i].position == model[i]);
  }
}

TEST(StreamQueue, StaysSmallWhenItIsNeverEmpty) {
  StreamQueue queue;
  for (Position position = 1; position <= 3; ++position) queue.push(position, barrier(position));
  std::size_t most = 0;
  for (Position position = 4; position < 10'000; ++position) {
    queue.push(position, barrier(position));
    ASSERT_EQ(queue.takeFront().position, position - 3);
    most = std::max(most, queue.capacity());
  }
  EXPECT_LE(most, 16u);
}

}  // namespace
}  // namespace holdfast::protocol
