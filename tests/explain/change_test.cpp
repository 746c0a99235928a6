// The change of membership that a story tells.
#include "explain/change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/explain/run_builder.hpp"

namespace holdfast::explain {
namespace {

using testing::Contains;
using testing::Not;

obs::NodeBits bitsOf(std::initializer_list<obs::NodeId> nodes) {
  obs::NodeBits bits;
  for (const obs::NodeId node : nodes) bits.insert(node);
  return bits;
}

/// B is admitted under home map 2, which A has never acknowledged: A is inside under home map 1.
struct TwoMaps : RunBuilder {
  TwoMaps() {
    older = add(0, kC, obs::HomeMapActivated{1, bitsOf({kA, kB}), {}, {}});
    for (const obs::NodeId node : {kA, kB, kC}) first.push_back(install(1, node, 1));
    add(10, kA, obs::Admitted{{1}, kAlice, {1, 1, 1}, obs::Path::virgin, false, {9'000'000'000}});
    published = add(20, kC, obs::HomeMapStaged{2, bitsOf({kB, kC})});
    send(20, kC, kB, 100, obs::MessageKind::homeMapStage, obs::KeyId::none());
    deliver(30, kB, kC, 100, obs::MessageKind::homeMapStage);
    staged = add(30, kB, obs::HomeMapStaged{2, bitsOf({kB, kC})});
    acknowledged = add(31, kB, obs::HomeMapAcknowledged{2, 1, false});
    send(31, kB, kC, 101, obs::MessageKind::homeMapAcknowledgement, obs::KeyId::none());
    deliver(40, kC, kB, 101, obs::MessageKind::homeMapAcknowledgement);
    activated = add(41, kC, obs::HomeMapActivated{2, bitsOf({kB, kC}), bitsOf({kB}), {}});
    send(41, kC, kB, 102, obs::MessageKind::homeMapActivation, obs::KeyId::none());
    deliver(50, kB, kC, 102, obs::MessageKind::homeMapActivation);
    over = install(50, kB, 2);
    incident.event =
        add(60, kB, obs::Admitted{{2}, kAlice, {2, 1, 1}, obs::Path::virgin, false, {9'000'000'000}});
    incident.calls = {{2}, {1}};
    incident.keys = {kAlice};
    incident.nodes = {kB, kA};
    later = add(70, kA, obs::HomeMapStaged{2, bitsOf({kB, kC})});
  }

  EventIndex install(std::int64_t ms, obs::NodeId node, std::uint32_t number) {
    return add(ms, node, obs::MembershipInstalled{number, bitsOf({kA, kB}), number, {}, {}});
  }

  EventIndex older, published, staged, acknowledged, activated, over, later;
  std::vector<EventIndex> first;
  Incident incident;
};

TEST(Change, OfTheHomeMapIsToldFromItsPublicationOn) {
  const TwoMaps r;
  const HappensBefore order(r.run);
  const Slice told = sliceOf(r.run, order, r.incident, 60, Change::told);
  EXPECT_THAT(told.events,
              testing::IsSupersetOf({r.published, r.staged, r.acknowledged, r.activated, r.over}));
  EXPECT_THAT(told.events, testing::IsSupersetOf({r.first[0], r.first[1]})) << "whoever served on the older";
  EXPECT_THAT(told.events, Not(Contains(r.older))) << "how that came about is another story";
  EXPECT_THAT(told.events, Not(Contains(r.later))) << "it happened afterwards";
  const Slice left = sliceOf(r.run, order, r.incident);
  EXPECT_THAT(left.events, Not(Contains(r.published)));
}

TEST(Change, IsNoneWhereAllActUnderOneMembership) {
  const OverlapRun r;
  const HappensBefore order(r.run);
  EXPECT_EQ(sliceOf(r.run, order, r.incident, 60, Change::told).events,
            sliceOf(r.run, order, r.incident).events);
}

TEST(Change, OfAnEpochHasPromisesVotesAndTheCertificate) {
  RunBuilder b;
  std::vector<EventIndex> steps;
  const auto renewed = b.add(0, kA, obs::MembershipRenewed{1, {9 * kMillisecond}});
  steps.push_back(b.add(1, kA, obs::MembershipInstalled{1, bitsOf({kA, kB}), 1, {}, {}}));
  steps.push_back(b.add(2, kA, obs::ProposalStarted{2, 1, bitsOf({kA}), 2, false}));
  steps.push_back(b.add(3, kA, obs::MembershipPromised{2, 1, kA, {}, {}, false}));
  steps.push_back(b.add(4, kA, obs::MembershipAccepted{2, 1, kA, bitsOf({kA}), 2, {}}));
  steps.push_back(b.add(5, kA, obs::MembershipDecided{2, 1, bitsOf({kA}), 2, bitsOf({kA}), {}}));
  steps.push_back(b.add(6, kA, obs::MembershipInstalled{2, bitsOf({kA}), 2, bitsOf({kA}), {}}));
  Incident incident;
  incident.event = b.add(7, kA, obs::MembershipActive{2});
  incident.nodes = {kA};
  steps.push_back(incident.event);
  const Slice slice = sliceOf(b.run, HappensBefore(b.run), incident, 60, Change::told);
  EXPECT_THAT(slice.events, testing::IsSupersetOf(steps));
  EXPECT_THAT(slice.events, Not(Contains(renewed))) << "before the change there is nothing to tell";
}

TEST(Change, StepsAreThoseOfEpochsAndHomeMaps) {
  EXPECT_EQ(stepOfChange(obs::HomeMapFenced{3, kA}), 3U);
  EXPECT_EQ(stepOfChange(obs::CertificateRefused{kA, 4, obs::CertificateFault::malformed}), 4U);
  EXPECT_EQ(stepOfChange(obs::MembershipRenewed{5, {}}), 0U) << "too many to be told";
}

}  // namespace
}  // namespace holdfast::explain
