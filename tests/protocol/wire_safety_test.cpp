// CK-2: a type with an instant anywhere inside is not sent over the network. All of this happens in the
// compiler; the tests only make the answers visible.
#include "protocol/wire_safety.hpp"

#include <gtest/gtest.h>

#include <string>

namespace holdfast::protocol {
namespace {

struct Durations {
  KeyId key;
  Duration remaining;
  DependencySet dependencies;
  std::array<std::int64_t, 4> values{};
};
BOOST_DESCRIBE_STRUCT(Durations, (), (key, remaining, dependencies, values))

struct WithDeadline {
  KeyId key;
  MonotonicInstant deadline;
};
BOOST_DESCRIBE_STRUCT(WithDeadline, (), (key, deadline))

struct WithWall {
  WallInstant at;
};
BOOST_DESCRIBE_STRUCT(WithWall, (), (at))

struct WithTrueTime {
  sim::TrueInstant at;
};
BOOST_DESCRIBE_STRUCT(WithTrueTime, (), (at))

struct Nested {
  Durations fine;
  boost::container::small_vector<std::variant<Durations, std::optional<WithDeadline>>, 2> list;
};
BOOST_DESCRIBE_STRUCT(Nested, (), (fine, list))

struct Forgetful {
  KeyId key;
  MonotonicInstant deadline;
};
BOOST_DESCRIBE_STRUCT(Forgetful, (), (key))

struct Undescribed {
  KeyId key;
};

struct WithPointer {
  const KeyId* key = nullptr;
};
BOOST_DESCRIBE_STRUCT(WithPointer, (), (key))

TEST(WireSafety, AcceptsTheProtocolsMessages) {
  EXPECT_TRUE(WireSafe<Message>);
  EXPECT_TRUE(WireSafe<LogEntry>);
  EXPECT_TRUE(WireSafe<LockGrant>);
  EXPECT_TRUE(WireSafe<Durations>);
}

TEST(WireSafety, RefusesInstantsOfEveryClock) {
  EXPECT_FALSE(WireSafe<MonotonicInstant>);
  EXPECT_FALSE(WireSafe<WallInstant>);
  EXPECT_FALSE(WireSafe<sim::TrueInstant>);
  EXPECT_FALSE(WireSafe<WithDeadline>);
  EXPECT_FALSE(WireSafe<WithWall>);
  EXPECT_FALSE(WireSafe<WithTrueTime>);
}

TEST(WireSafety, LooksIntoContainersAndVariants) {
  EXPECT_FALSE(WireSafe<Nested>);
  EXPECT_FALSE((WireSafe<std::variant<Durations, WithDeadline>>));
  EXPECT_FALSE((WireSafe<std::array<WithWall, 2>>));
  EXPECT_TRUE((WireSafe<std::variant<Durations, std::optional<Durations>>>));
}

TEST(WireSafety, RefusesWhatItCannotLookInto) {
  EXPECT_FALSE(WireSafe<Undescribed>);
  EXPECT_FALSE(WireSafe<WithPointer>);
  EXPECT_FALSE(WireSafe<std::string>);
  EXPECT_FALSE(WireSafe<Forgetful>) << "a description that leaves a field out hides what is in it";
}

}  // namespace
}  // namespace holdfast::protocol
