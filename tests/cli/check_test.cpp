// holdfast check, as a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/cli/process.hpp"

namespace holdfast::cli {
namespace {

using testing::HasSubstr;

std::string recorded(const std::string& name) {
  return std::string(HOLDFAST_SOURCE_DIR) + "/tests/histories/recorded/" + name;
}

TEST(Check, HoldsALinearizableHistory) {
  const Ran ran = holdfast({"check", recorded("etcd_048.log")});
  EXPECT_EQ(ran.exitCode, 0) << ran.standardError;
  EXPECT_THAT(ran.standardError, HasSubstr("linearizable: 80 operations on 1 object"));
}

TEST(Check, SaysWhatCanNotReturnAndWhy) {
  const Ran ran = holdfast({"check", recorded("knossos-cas-rethink-minimal.edn")});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.standardOutput,
              HasSubstr("not linearizable: process 1 read answered 3, lines 4 to 7 can not return"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("then the state is one of 0, 4"));
}

TEST(Check, TellsTheCycleOfTransactions) {
  const Ran ran = holdfast({"check", recorded("elle-paper-example.edn"), "--model", "list-append"});
  EXPECT_EQ(ran.exitCode, 1);
  EXPECT_THAT(ran.standardOutput, HasSubstr("G-single (read skew)"));
  EXPECT_THAT(ran.standardOutput, HasSubstr("the transaction of line 7 -> that of line 3: rw on key 255"));
}

TEST(Check, DrawsAPage) {
  const ScratchFolder scratch;
  const std::string page = scratch.file("history.html");
  EXPECT_EQ(holdfast({"check", recorded("kv-c01-bad.txt"), "--model", "key-value", "--html", page}).exitCode,
            1);
  std::ifstream in(page);
  const std::string html{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(html, HasSubstr("Key &quot;7&quot;"));
  EXPECT_THAT(html, HasSubstr("Not linearizable."));
  EXPECT_EQ(holdfast({"check", recorded("kv-c01-bad.txt"), "--model", "key-value", "--html", page}).exitCode,
            64)
      << "what may not be replaced is told before the work";
}

TEST(Check, SaysUnknownWhereItsMemoryEnds) {
  const Ran ran = holdfast({"check", recorded("etcd_040.log"), "--configurations", "50"});
  EXPECT_EQ(ran.exitCode, 3);
  EXPECT_THAT(ran.standardOutput, HasSubstr("unknown: 50 configurations were not enough"));
}

TEST(Check, NamesThePlaceOfWhatIsWrong) {
  const ScratchFolder scratch;
  const std::string file = scratch.file("bad.edn");
  std::ofstream(file) << "{:process 0 :type :invoke :f :read}\n{:process 0 :type :ok :f";
  const Ran cut = holdfast({"check", file});
  EXPECT_EQ(cut.exitCode, 64);
  EXPECT_THAT(cut.standardError, HasSubstr("bad.edn:2:25: the text ends; expected '}'"));
  const Ran model = holdfast({"check", file, "--model", "casregister"});
  EXPECT_EQ(model.exitCode, 64);
  EXPECT_THAT(model.standardError, HasSubstr("cas-register"));
  EXPECT_EQ(holdfast({"check", scratch.file("none.edn")}).exitCode, 64);
}

}  // namespace
}  // namespace holdfast::cli
