// The directory of a run and the names it accepts (RT-4, BD-1).
#include "protocol/directory.hpp"

#include <gtest/gtest.h>

namespace holdfast::protocol {
namespace {

using sim::KeyId;
using sim::NodeId;

TEST(Directory, SortsNamesSoThatIdsCompareLikeThem) {
  const Directory directory({"node-b", "node-a", "node-c", "Node-z"}, {});
  const std::vector<std::string> expected{"Node-z", "node-a", "node-b", "node-c"};
  EXPECT_EQ(directory.names(), expected);
  EXPECT_EQ(directory.nodeCount(), 4u);
  EXPECT_EQ(directory.find("node-b"), NodeId{2});
  EXPECT_EQ(directory.name(NodeId{2}), "node-b");
}

TEST(Directory, FindsExactNamesOnly) {
  const Directory directory({"a", "ab"}, {});
  EXPECT_EQ(directory.find("ab"), NodeId{1});
  EXPECT_FALSE(directory.find("").valid());
  EXPECT_FALSE(directory.find("A").valid());
  EXPECT_FALSE(directory.find("abc").valid());
}

TEST(Directory, KeepsKeysInOrderAndCountsTables) {
  const Directory directory({"a"}, {{"t/x", "x", 0}, {"u/y", "y", 2}, {"t/z", "z", 0}});
  EXPECT_EQ(directory.keyCount(), 3u);
  EXPECT_EQ(directory.tableCount(), 3u) << "table numbers go up to 2";
  EXPECT_EQ(directory.key(KeyId{1}).printable, "u/y");
  EXPECT_EQ(Directory({"a"}, {}).tableCount(), 0u);
}

TEST(ValidateNames, AcceptsDistinctNames) {
  EXPECT_TRUE(validateNames({"a"}).has_value());
  EXPECT_TRUE(
      validateNames({"node-1", "node-2", "10.0.0.1", "1127.example", std::string(255, 'x')}).has_value());
}

struct BadNames {
  std::vector<std::string> names;
  std::string says;
};

TEST(ValidateNames, RefusesWhatCannotTellNodesApart) {
  const BadNames cases[] = {
      {{}, "no node names"},
      {{"a", ""}, "node name 2 is empty"},
      {{"a", "b", "a"}, "\"a\" occurs twice"},
      {{"localhost"}, "\"localhost\", which every machine"},
      {{"LocalHost"}, "every machine"},
      {{"a", "127.0.0.1"}, "node name 2 is \"127.0.0.1\""},
      {{"127.0.1.1"}, "every machine"},
      {{"::1"}, "every machine"},
      {{"0.0.0.0"}, "every machine"},
      {{std::string(256, 'x')}, "256 bytes: at most 255"},
      {{std::string("a\0b", 3)}, "NUL"},
      {std::vector<std::string>(65'535, "x"), "at most 65534"},
  };
  for (const BadNames& bad : cases) {
    const auto result = validateNames(bad.names);
    ASSERT_FALSE(result.has_value()) << bad.says;
    EXPECT_NE(result.error().find(bad.says), std::string::npos) << result.error();
  }
}

}  // namespace
}  // namespace holdfast::protocol
