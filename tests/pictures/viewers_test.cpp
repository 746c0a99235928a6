// What other viewers open keeps the rules of their formats, and a breach of each would be found.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/mp11/algorithm.hpp>

#include "observations/kinds.hpp"
#include "pictures/diagrams.hpp"
#include "tests/pictures/picture_source.hpp"
#include "tests/pictures/viewer_formats.hpp"

namespace holdfast::pictures {
namespace {

using testing::HasSubstr;

const std::string kParser(kShivizParser);

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(Viewers, TheTraceOfARunKeepsTheRulesOfItsFormat) {
  const explain::OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  EXPECT_EQ(TraceEventRules::brokenBy(chromeTrace(sceneOf(p.source, {}))), "");
  SceneOptions slice;
  slice.sliceOnly = true;
  EXPECT_EQ(TraceEventRules::brokenBy(chromeTrace(sceneOf(p.source, slice))), "");
  SceneOptions late;  // messages whose sending is not shown
  late.from = obs::TrueInstant{15'000'000};
  EXPECT_EQ(TraceEventRules::brokenBy(chromeTrace(sceneOf(p.source, late))), "");
}

TEST(Viewers, TheLogOfARunKeepsTheRulesOfItsFormat) {
  const explain::OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  EXPECT_EQ(shivizRuleBrokenBy(shiviz(sceneOf(p.source, {})), kParser), "");
  SceneOptions late;
  late.from = obs::TrueInstant{15'000'000};
  EXPECT_EQ(shivizRuleBrokenBy(shiviz(sceneOf(p.source, late)), kParser), "");
}

TEST(Viewers, EveryKindOfEventAndWickedNamesAreWithinTheRules) {
  explain::RunBuilder b;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<obs::kKindCount>>(
      [&](auto kind) { b.add(static_cast<std::int64_t>(kind), explain::kA, obs::ObservationOf<kind>{}); });
  const PictureSource p(b.run, nullptr, {{"A</script><b>", "B\"&;#\n"}, {"k<i>\"'\\"}});
  EXPECT_EQ(TraceEventRules::brokenBy(chromeTrace(sceneOf(p.source, {}))), "");
  EXPECT_EQ(shivizRuleBrokenBy(shiviz(sceneOf(p.source, {})), kParser), "");
}

TEST(Viewers, ABreachOfTheTraceFormatIsFound) {
  const explain::OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  const std::string good = chromeTrace(sceneOf(p.source, {}));
  const auto broken = [&](const std::string& from, const std::string& to) {
    return TraceEventRules::brokenBy(replaced(good, from, to));
  };
  EXPECT_THAT(TraceEventRules::brokenBy(good.substr(0, good.size() / 2)), HasSubstr("one JSON object"));
  EXPECT_THAT(broken(R"("ph":"X")", R"("ph":"Z")"), HasSubstr("what has two ends"));
  EXPECT_THAT(broken(R"(,"dur":0)", ""), HasSubstr("has a duration"));
  EXPECT_THAT(broken(R"("ph":"s")", R"("ph":"f","bp":"e")"), HasSubstr("a flow"));
  EXPECT_THAT(broken(R"(,"bp":"e")", ""), HasSubstr("binds to the slice"));
  EXPECT_THAT(broken(R"("ph":"e")", R"("ph":"b")"), HasSubstr("a span"));
  EXPECT_THAT(broken(R"("s":"g")", R"("s":"q")"), HasSubstr("scope"));
  EXPECT_THAT(broken(R"("process_name","pid":1)", R"("process_name","pid":9)"), HasSubstr("has a name"));
  const std::string flow = R"("ph":"s","cat":"message","name":"lockRequest","id":1,"pid":1,"tid":1,"ts":)";
  EXPECT_THAT(broken(flow + "10", flow + "11"), HasSubstr("in a slice"));
}

TEST(Viewers, ABreachOfTheLogFormatIsFound) {
  const std::string head = kParser + "\n\n";
  const auto broken = [&](const std::string& events) { return shivizRuleBrokenBy(head + events, kParser); };
  EXPECT_EQ(broken("A {\"A\": 1}\nsent\nB {\"A\": 1, \"B\": 1}\nreceived\n"), "");
  EXPECT_THAT(shivizRuleBrokenBy("A {\"A\": 1}\nsent\n", kParser), HasSubstr("first line"));
  EXPECT_THAT(broken(""), HasSubstr("there are events"));
  EXPECT_THAT(broken("A B {\"A\": 1}\nsent\n"), HasSubstr("is parsed"));
  EXPECT_THAT(broken("A {\"A\": 2}\nsent\n"), HasSubstr("one by one"));
  EXPECT_THAT(broken("A {\"A\": 1, \"B\": 1}\nsent\n"), HasSubstr("which exists"));
  EXPECT_THAT(broken("A {\"A\": 1}\nx\nB {\"A\": 1, \"B\": 1}\ny\nC {\"B\": 1, \"C\": 1}\nz\n"),
              HasSubstr("do not go back"));
}

}  // namespace
}  // namespace holdfast::pictures
