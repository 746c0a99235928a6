// What a picture shows of a run, and how arrows and bars come to stand where they stand.
#include "pictures/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/mp11/algorithm.hpp>
#include <nlohmann/json.hpp>

#include "observations/kinds.hpp"
#include "pictures/diagrams.hpp"
#include "pictures/space_time.hpp"
#include "tests/pictures/picture_source.hpp"

namespace holdfast::pictures {
namespace {

using explain::OverlapRun;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST(Scene, OfASliceHasItsEventsNumbered) {
  const OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  SceneOptions options;
  options.sliceOnly = true;
  const Scene scene = sceneOf(p.source, options);
  EXPECT_EQ(scene.events, p.slice.events);
  EXPECT_EQ(scene.steps.front(), 1U);
  EXPECT_EQ(scene.steps, p.slice.steps);
  EXPECT_LT(scene.steps.back(), scene.events.size()) << "a delivery is one step with its sending";
  EXPECT_TRUE(scene.isIncident(scene.events.size() - 1));
  EXPECT_EQ(scene.lanes.size(), 3U);
}

TEST(Scene, CanBeNarrowedByTimeAndKey) {
  const OverlapRun r;
  const PictureSource p(r.run);
  SceneOptions options;
  options.from = obs::TrueInstant{100'000'000};
  options.to = obs::TrueInstant{120'000'000};
  const Scene late = sceneOf(p.source, options);
  EXPECT_EQ(late.events.front(), r.secondAsked);
  EXPECT_LE(late.at(late.events.size() - 1).at.ns, 120'000'000);
  SceneOptions ofBob;
  ofBob.key = explain::kBob;
  EXPECT_THAT(sceneOf(p.source, ofBob).events, Contains(r.noise));
  EXPECT_THAT(sceneOf(p.source, ofBob).events, Not(Contains(r.asked)));
}

TEST(Scene, OfALongRunKeepsTheIncident) {
  const OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  SceneOptions options;
  options.most = 5;
  const Scene scene = sceneOf(p.source, options);
  EXPECT_EQ(scene.events.size(), 5U);
  EXPECT_THAT(scene.events, Contains(r.overlap));
  EXPECT_THAT(scene.subtitle, HasSubstr("at most 5"));
}

TEST(Scene, ArrowsEndAtTheirDeliveryOrLoss) {
  const OverlapRun r;
  const PictureSource p(r.run);
  const Scene scene = sceneOf(p.source, {});
  const std::vector<Arrow> arrows = arrowsOf(scene);
  ASSERT_EQ(arrows.size(), 5U);
  const auto lost = std::ranges::find_if(arrows, &Arrow::lost);
  ASSERT_NE(lost, arrows.end());
  EXPECT_EQ(lost->id, 103U);
  EXPECT_EQ(lost->to, r.lost);
  for (const Arrow& arrow : arrows) EXPECT_GT(arrow.to.value_or(0), arrow.from) << arrow.id;
}

TEST(Scene, BarsOfOneLaneDoNotCoverEachOther) {
  const OverlapRun r;
  const PictureSource p(r.run);
  const Geometry geometry(sceneOf(p.source, {}));
  ASSERT_GT(geometry.bars().size(), 5U);
  for (const Bar& a : geometry.bars()) {
    for (const Bar& b : geometry.bars()) {
      if (&a == &b || a.lane != b.lane || a.track != b.track || a.span.isFault() || b.span.isFault())
        continue;
      EXPECT_TRUE(a.to <= b.from || b.to <= a.from);
    }
  }
}

/// One event of each kind, and names that every format has to escape.
std::vector<obs::Stamped> everyKind() {
  explain::RunBuilder b;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<obs::kKindCount>>(
      [&](auto kind) { b.add(static_cast<std::int64_t>(kind), explain::kA, obs::ObservationOf<kind>{}); });
  b.add(1000, explain::kB, obs::Unlocked{{1}, explain::kAlice});
  return b.run;
}
const traces::Names kWickedNames{{"A</script><b>", "B\"&;#\n"}, {"k<i>\"'\\"}};

TEST(Pictures, EveryKindOfEventIsInEveryForm) {
  const PictureSource p(everyKind(), nullptr, kWickedNames);
  const Scene scene = sceneOf(p.source, {});
  ASSERT_EQ(scene.events.size(), p.run.size());
  EXPECT_EQ(textTimeline(scene).size(), p.run.size() + 1);
  const nlohmann::json trace = nlohmann::json::parse(chromeTrace(scene));
  std::size_t slices = 0;
  for (const auto& item : trace.at("traceEvents")) slices += item.at("ph") == "X" ? 1 : 0;
  EXPECT_EQ(slices, p.run.size());
  const std::string log = shiviz(scene);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(log, '\n')), 2 + 2 * p.run.size());
  for (const std::string& drawing : {svg(scene), page(scene)}) {
    EXPECT_THAT(drawing, Not(HasSubstr("</script><b>")));
    EXPECT_THAT(drawing, HasSubstr(escaped("A</script><b>")));
    EXPECT_THAT(drawing, Not(HasSubstr("http-equiv=\"refresh\"")));
  }
}

TEST(Pictures, TheGraphHasTheReducedOrder) {
  const OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  SceneOptions options;
  options.sliceOnly = true;
  const Scene scene = sceneOf(p.source, options);
  const std::string dot = graphviz(scene);
  for (const explain::Edge& edge : p.slice.edges) {
    EXPECT_THAT(dot, HasSubstr("e" + std::to_string(edge.from + 1) + " -> e" + std::to_string(edge.to + 1)));
  }
  EXPECT_THAT(dot, HasSubstr("penwidth=3"));
}

TEST(Pictures, MermaidTellsMessagesAndTheViolation) {
  const OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  SceneOptions options;
  options.sliceOnly = true;
  const std::string text = mermaid(sceneOf(p.source, options));
  EXPECT_THAT(text, testing::StartsWith("sequenceDiagram\n  participant A as A\n"));
  EXPECT_THAT(text, HasSubstr("A->>C: 0.010s lockRequest"));
  EXPECT_THAT(text, HasSubstr("C-xA: 0.111s lockRecall (lost)"));
  EXPECT_THAT(text, HasSubstr("VIOLATION: overlappingAdmissions (X-1)"));
}

TEST(Pictures, ShivizClocksCountTheEventsShown) {
  explain::RunBuilder b;
  b.add(0, explain::kB, obs::LockRequested{{9}, explain::kBob, {}, {}});
  b.send(1, explain::kA, explain::kB, 5);
  b.deliver(2, explain::kB, explain::kA, 5);
  const PictureSource p(b.run);
  EXPECT_THAT(shiviz(sceneOf(p.source, {})),
              HasSubstr("B {\"A\": 1, \"B\": 2}\n0.002s received lockRequest"));
}

TEST(Pictures, TheTimelineShowsWhoIsInside) {
  const OverlapRun r;
  const PictureSource p(r.run, &r.incident);
  const std::vector<std::string> lines = textTimeline(sceneOf(p.source, {}));
  EXPECT_THAT(lines[r.overlap + 1], HasSubstr("#  #* |"));
  EXPECT_THAT(lines[r.overlap + 1], HasSubstr("<== overlappingAdmissions (X-1)"));
}

}  // namespace
}  // namespace holdfast::pictures
