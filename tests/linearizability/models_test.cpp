// Each model by what it allows and what it does not.
#include "checkers/linearizability/models.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace holdfast::linearizability {
namespace {

/// Whether the model allows these operations one after the other.
template <class M>
bool allows(const M& model, const std::vector<typename M::Operation>& operations) {
  auto state = model.initial();
  for (const auto& operation : operations) {
    const auto next = model.step(state, operation);
    if (!next) return false;
    // What only reads leaves the state as it is.
    if (model.readsOnly(operation) && !(*next == state)) return false;
    state = *next;
  }
  return true;
}

TEST(Models, AMutexIsReleasedByAnybodyAndHeldOnce) {
  const Lock mutex{Lock::Kind::mutex};
  EXPECT_TRUE(allows(mutex, {{true, true, 1}, {false, true, 2}, {true, true, 2}}));
  EXPECT_FALSE(allows(mutex, {{true, true, 1}, {true, true, 1}}));
  EXPECT_FALSE(allows(mutex, {{false, true, 1}}));
}

TEST(Models, AReentrantLockIsLeftAsOftenAsEntered) {
  const Lock lock{Lock::Kind::reentrant};
  EXPECT_TRUE(
      allows(lock, {{true, true, 1}, {true, true, 1}, {false, true, 1}, {false, true, 1}, {true, true, 2}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1}, {true, true, 1}, {false, true, 1}, {true, true, 2}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1}, {false, true, 2}}));
}

TEST(Models, AFencedLockAnswersTokensThatGrow) {
  const Lock lock{Lock::Kind::fenced};
  EXPECT_TRUE(allows(lock, {{true, true, 1, 5}, {false, true, 1}, {true, true, 2, 6}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1, 5}, {false, true, 1}, {true, true, 2, 5}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1, 5}, {true, true, 2, 6}}));
}

TEST(Models, AReadWriteLockHasManyReadersOrOneWriter) {
  const ReadWriteLock lock;
  EXPECT_TRUE(allows(
      lock, {{true, false, 1}, {true, false, 2}, {false, false, 1}, {false, false, 2}, {true, true, 3}}));
  EXPECT_FALSE(allows(lock, {{true, false, 1}, {true, true, 2}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1}, {true, false, 2}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1}, {false, true, 2}}));
  EXPECT_FALSE(allows(lock, {{true, true, 1}, {false, false, 1}}));
}

TEST(Models, ASemaphoreHandsOutWhatItHas) {
  const Semaphore two{2};
  EXPECT_TRUE(allows(two, {{1}, {1}, {-1}, {1}}));
  EXPECT_FALSE(allows(two, {{1}, {2}}));
  EXPECT_FALSE(allows(two, {{-1}}));
}

TEST(Models, ACounterAddsUp) {
  EXPECT_TRUE(allows(Counter{}, {{false, true, 2}, {false, true, -3}, {true, true, -1}}));
  EXPECT_FALSE(allows(Counter{}, {{false, true, 2}, {true, true, 3}}));
}

TEST(Models, ASetShowsItsMembers) {
  using Kind = Set::Operation::Kind;
  EXPECT_TRUE(
      allows(Set{}, {{Kind::add, true, 2, {}}, {Kind::add, true, 1, {}}, {Kind::read, true, 0, {1, 2}}}));
  EXPECT_TRUE(
      allows(Set{}, {{Kind::add, true, 2, {}}, {Kind::remove, true, 2, {}}, {Kind::read, true, 0, {}}}));
  EXPECT_FALSE(allows(Set{}, {{Kind::add, true, 2, {}}, {Kind::read, true, 0, {}}}));
}

TEST(Models, AQueueGivesTheOldestFirst) {
  EXPECT_TRUE(
      allows(Queue{},
             {{true, true, 1}, {true, true, 2}, {false, true, 1}, {false, true, 2}, {false, true, kAbsent}}));
  EXPECT_FALSE(allows(Queue{}, {{true, true, 1}, {true, true, 2}, {false, true, 2}}));
  EXPECT_FALSE(allows(Queue{}, {{true, true, 1}, {false, true, kAbsent}}));
}

TEST(Models, AStoreOfTextsAppends) {
  using Kind = KeyValue::Operation::Kind;
  EXPECT_TRUE(
      allows(KeyValue{}, {{Kind::put, true, "a"}, {Kind::append, true, "b"}, {Kind::get, true, "ab"}}));
  EXPECT_FALSE(
      allows(KeyValue{}, {{Kind::append, true, "a"}, {Kind::append, true, "b"}, {Kind::get, true, "ba"}}));
}

TEST(Models, SeveralRegistersAreReadAtOnce) {
  const MultiRegister::Operation both{{{true, true, 1, 10}, {true, true, 2, 20}}};
  const MultiRegister::Operation seen{{{false, true, 1, 10}, {false, true, 2, 20}}};
  const MultiRegister::Operation torn{{{false, true, 1, 10}, {false, true, 2, kAbsent}}};
  EXPECT_TRUE(allows(MultiRegister{}, {torn.accesses[0].value == 10 ? both : torn, seen}));
  EXPECT_FALSE(allows(MultiRegister{}, {both, torn}));
}

}  // namespace
}  // namespace holdfast::linearizability
