// A home map is activated once everybody has stopped and drained (HM), over hand-made histories.
#include "tests/checkers/ring.hpp"

namespace holdfast::checkers::testing {
namespace {

/// Home maps: nobody renews.
class Map : public Ring {
 public:
  Map() {
    at(0_s);
    for (const NodeId node : {A, B, C}) install(node, 1, kFirst).activate(node, 1);
  }
  Map& acknowledge(NodeId node) {
    story.tell(node, obs::HomeMapAcknowledged{2, 1, false});
    return *this;
  }
  Map& confirm(NodeId node) {
    story.tell(node, obs::HomeMapAcknowledged{2, 1, true});
    return *this;
  }
  Map& record(obs::NodeBits acknowledged, obs::NodeBits fenced = kNobody) {
    story.tell(A, obs::HomeMapActivated{2, kSecond, acknowledged, fenced});
    return *this;
  }
};

TEST(Membership, AHomeMapChangeWithAllItsStepsHolds) {
  Map map;
  map.grant(A, C, 1).hold(C, 1).at(1_s);
  for (const NodeId node : {A, B, C, D}) map.acknowledge(node);
  map.at(12_s);
  map.record(setOf({A, B, C, D}));
  for (const NodeId node : {A, B, D}) map.install(node, 2, kSecond).activate(node, 2);
  map.grant(D, A, 2);
  map.expectHolds();
}

TEST(Membership, AHomeMapIsActivatedAfterEverybodyStopped) {
  Map leaver;  // nobody told the one that leaves
  for (const NodeId node : {A, B, D}) leaver.acknowledge(node);
  leaver.at(20_s);
  leaver.record(setOf({A, B, D}));
  EXPECT_EQ(leaver.expect(Anomaly::activatedUnquiesced).other, C);

  Map declared;  // HM-5: declared removed, and running
  for (const NodeId node : {A, B, D}) declared.acknowledge(node);
  declared.record(setOf({A, B, D}), setOf({C}));
  EXPECT_EQ(declared.expect(Anomaly::activatedUnquiesced).other, C);

  Map stopped;
  for (const NodeId node : {A, B, D}) stopped.acknowledge(node);
  stopped.story.crash(C);
  stopped.record(setOf({A, B, D}), setOf({C}));
  stopped.expectHolds();

  Map restarted;  // HM-4
  for (const NodeId node : {A, B, C, D}) restarted.acknowledge(node);
  restarted.story.crash(C).restart(C);
  restarted.install(C, 1, kFirst).activate(C, 1);
  restarted.at(20_s);
  restarted.record(setOf({A, B, C, D}));
  EXPECT_EQ(restarted.expect(Anomaly::activatedUnquiesced).other, C);
}

TEST(Membership, EveryParticipantOfAHomeMapStopsForThatMapOrIsFenced) {
  Map joiner;  // who is new takes part, too
  for (const NodeId node : {A, B, C}) joiner.acknowledge(node);
  joiner.record(setOf({A, B, C}));
  EXPECT_EQ(joiner.expect(Anomaly::activatedUnquiesced).other, D);

  Map older;
  for (const NodeId node : {A, B, D}) older.acknowledge(node);
  older.story.tell(C, obs::HomeMapAcknowledged{1, 1, false});
  older.record(setOf({A, B, C, D}));
  EXPECT_EQ(older.expect(Anomaly::activatedUnquiesced).other, C);

  Map down;  // to be down is not to be declared removed
  for (const NodeId node : {A, B, D}) down.acknowledge(node);
  down.story.crash(C);
  down.record(setOf({A, B, C, D}));
  EXPECT_EQ(down.expect(Anomaly::activatedUnquiesced).other, C);
}

TEST(Membership, AnAcknowledgementOutlivesItsNodeOnlyOnceConfirmed) {
  const auto drained = [](Map& map) {
    for (const NodeId node : {A, B, C, D}) map.acknowledge(node);
    map.at(12_s);
    map.confirm(C);
  };
  Map confirmed;
  drained(confirmed);
  confirmed.story.crash(C).restart(C);
  confirmed.record(setOf({A, B, C, D}));
  confirmed.expectHolds();

  Map fencedSince;  // the drain that the fence has started is one in which C dies
  drained(fencedSince);
  fencedSince.story.crash(D);
  fencedSince.story.tell(A, obs::HomeMapFenced{2, D});
  fencedSince.story.crash(C).restart(C);
  fencedSince.record(setOf({A, B, C}), setOf({D}));
  EXPECT_EQ(fencedSince.expect(Anomaly::activatedUnquiesced).other, C);
}

TEST(Membership, AStrangerToItsOwnMapHasNoAuthority) {
  Map map;
  map.install(D, 1, kFirst).activate(D, 1).at(1_s);
  for (const NodeId node : {A, B, C}) map.acknowledge(node);
  map.at(12_s);
  map.story.tell(A, obs::HomeMapActivated{2, setOf({A, B}), setOf({A, B, C}), kNobody});
  for (const NodeId node : {A, B}) map.install(node, 2, setOf({A, B})).activate(node, 2);
  map.expectHolds();
}

TEST(Membership, AHomeMapIsActivatedAfterTheDrain) {
  Map map;
  map.grant(A, C, 1).hold(C, 1).at(1_s);
  for (const NodeId node : {A, B, C, D}) map.acknowledge(node);
  map.at(2_s);
  map.record(setOf({A, B, C, D})).install(D, 2, kSecond).activate(D, 2);
  EXPECT_EQ(map.expect(Anomaly::activatedTooEarly).other, C);
}

TEST(Membership, WhoHasAcknowledgedServesNoMore) {
  Map grants;
  grants.acknowledge(A).grant(A, B, 1);
  EXPECT_EQ(grants.expect(Anomaly::servedAfterAcknowledging).rule(), "HM-3");

  Map admits;
  admits.acknowledge(C);
  admits.story.tell(C, obs::Admitted{{1}, K, {1, 1, 1}, Path::cached, false, admits.story.local(C) + 1_s});
  admits.expect(Anomaly::servedAfterAcknowledging);
}

TEST(Membership, AHomeMapNeedsItsActivationRecord) {
  Map map;
  map.install(D, 2, kSecond);
  map.expect(Anomaly::installedWithoutCertificate);
}

}  // namespace
}  // namespace holdfast::checkers::testing
