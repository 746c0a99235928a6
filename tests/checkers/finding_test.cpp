// Findings: counts, caps, text, verdicts and exit codes.
#include "checkers/signature.hpp"
#include "tests/checkers/history_builder.hpp"

namespace holdfast::checkers::testing {
namespace {

Finding violationAt(std::int64_t ns, Severity severity = Severity::safety) {
  Finding finding;
  finding.severity = severity;
  finding.at = {ns};
  finding.node = A;
  finding.key = K;
  return finding;
}

Finding limitation(Route route, Anomaly anomaly, std::int64_t ns) {
  Finding finding = violationAt(ns, Severity::limitation);
  finding.checker = Checker::serial;
  finding.route = route;
  finding.anomaly = anomaly;
  return finding;
}

TEST(Findings, KeepsTheFirstViolationsAndCountsAll) {
  Findings findings;
  for (std::int64_t i = 0; i < 100; ++i) findings.add(violationAt(i));
  EXPECT_EQ(findings.count(Severity::safety), 100U);
  EXPECT_EQ(findings.count(Checker::exclusion), 100U);
  ASSERT_EQ(findings.violations().size(), Findings::kMaxKept);
  EXPECT_EQ(findings.violations().front().at, TrueInstant{0});
  EXPECT_EQ(findings.violations().back().at, TrueInstant{63});
}

TEST(Findings, CountsEachRouteAndKeepsTheFirstOfEachKindOfDamage) {
  Findings findings;
  findings.add(limitation(Route::l2c, Anomaly::staleRead, 5));
  findings.add(limitation(Route::l2c, Anomaly::staleRead, 6));
  findings.add(limitation(Route::l2c, Anomaly::derivedFromStaleRead, 7));
  EXPECT_EQ(findings.count(Route::l2c), 3U);
  EXPECT_EQ(findings.count(Route::l2a), 0U);
  EXPECT_EQ(findings.count(Checker::serial), 0U) << "a limitation is no violation";
  EXPECT_EQ(findings.count(Severity::limitation), 3U);
  ASSERT_EQ(findings.limitations().size(), 2U);
  ASSERT_NE(findings.first(Route::l2c), nullptr);
  EXPECT_EQ(findings.first(Route::l2c)->at, TrueInstant{5});
  EXPECT_EQ(findings.first(Route::l2c, Anomaly::derivedFromStaleRead)->at, TrueInstant{7});
  EXPECT_EQ(findings.first(Route::l2a), nullptr);
  EXPECT_EQ(findings.first(Anomaly::staleRead), nullptr);
}

TEST(Findings, TheFirstOfAKindIsOfThatKind) {
  Findings findings;
  findings.add(violationAt(1));
  Finding other = violationAt(2);
  other.anomaly = Anomaly::leaseBeyondBound;
  findings.add(other);
  EXPECT_EQ(findings.first(Anomaly::leaseBeyondBound)->at, TrueInstant{2});
  EXPECT_EQ(findings.first(Anomaly::staleRead), nullptr);
}

TEST(Signatures, EachKindOfFailureIsListedOnceAndFoundByItsRoute) {
  Findings findings;
  findings.add(violationAt(1));
  findings.add(violationAt(2));
  Finding other = violationAt(3);
  other.anomaly = Anomaly::leaseBeyondBound;
  findings.add(other);
  findings.add(limitation(Route::l2a, Anomaly::staleRead, 4));
  findings.add(limitation(Route::l2c, Anomaly::staleRead, 5));
  const std::vector<Signature> kinds = signaturesOf(findings);
  ASSERT_EQ(kinds.size(), 2U);
  EXPECT_EQ(kinds[1], (Signature{Checker::exclusion, Anomaly::leaseBeyondBound, Route::none}));
  EXPECT_EQ(firstOf(findings, kinds[0])->at, TrueInstant{1});
  EXPECT_EQ(firstOf(findings, kinds[1])->at, TrueInstant{3});
  const Signature route{Checker::serial, Anomaly::staleRead, Route::l2c};
  ASSERT_NE(firstOf(findings, route), nullptr);
  EXPECT_EQ(firstOf(findings, route)->at, TrueInstant{5});
  EXPECT_EQ(firstOf(findings, {Checker::serial, Anomaly::staleRead, Route::none}), nullptr);
  EXPECT_EQ(describe(route), "checker serial, rule X-2, anomaly staleRead, route l2c");
}

TEST(Findings, EveryAnomalyHasARuleAndASentence) {
  std::size_t anomalies = 0;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Anomaly>>([&](auto enumerator) {
    ++anomalies;
    EXPECT_FALSE(ruleOf(enumerator.value).empty()) << enumerator.name;
    for (const Route route : {Route::none, Route::l1a, Route::l2HomeRestart}) {
      Finding finding = limitation(route, enumerator.value, 1'500'000'000);
      finding.because(Fact::settled, B, {1'250'000'000}, 4);
      const std::string text = describe(finding);
      EXPECT_NE(text.find("promises that"), std::string::npos) << enumerator.name;
      EXPECT_NE(text.find("settled at node 1 at 1.250 s, position 4"), std::string::npos) << text;
      EXPECT_EQ(text.find("promises that ."), std::string::npos) << enumerator.name;
      EXPECT_EQ(text.back(), '.') << text;
    }
  });
  EXPECT_EQ(anomalies, obs::kEnumeratorCount<Anomaly>);
}

TEST(Findings, EveryRouteButNoneHasADocumentedLimitation) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Route>>([&](auto enumerator) {
    EXPECT_EQ(limitationOf(enumerator.value).empty(), enumerator.value == Route::none) << enumerator.name;
  });
}

TEST(Findings, ASentenceNamesNodesKeysTimesAndValues) {
  const std::string nodes[] = {"alpha", "beta"};
  const std::string keys[] = {"accounts/7"};
  Finding finding = limitation(Route::l2b, Anomaly::derivedFromStaleRead, 61'000'000'001);
  finding.node = B;
  finding.other = A;
  finding.call = {2};
  finding.txn = {3};
  finding.otherTxn = {2};
  finding.expected = 150;
  finding.observed = 100;
  finding.written = 80;
  finding.because(Fact::barrierSkipped, A, {61'000'000'000}, 9);
  EXPECT_EQ(
      describe(finding, {nodes, keys}),
      "X-2 promises that a section computes from what earlier sections had committed. Stored 150, reads "
      "100, writes 80: call 2 of node beta computed field 0 of key accounts/7 in transaction 3 without "
      "transaction 2 of node alpha. Evidence: the barrier left node alpha out at 61.000 s. This is L-2b: "
      "recovery went on without an unreachable member.");
}

TEST(Findings, AViolationSaysThatNothingExplainsIt) {
  Story story;
  story.at(0_s).lock(A, 1).at(5_s).lock(B, 2, Path::clean);
  story.finish();
  ASSERT_FALSE(story.findings().violations().empty());
  EXPECT_EQ(
      describe(story.findings().violations().front()),
      "X-1 promises that at most one node is inside a critical section of a key. At 5.000 s call 2 of "
      "node 1 was admitted to key 0 while call 1 of node 0 was inside. Evidence: node 0 admitted it at "
      "0.000 s by path cached; node 1 admitted it at 5.000 s by path clean; the lease at node 0 ends at "
      "10.000 s. No documented limitation explains it.");
}

TEST(Findings, MoreEvidenceThanFitsIsDropped) {
  Finding finding;
  for (int i = 0; i < 6; ++i) finding.because(Fact::applied, A, {i}, i);
  EXPECT_EQ(finding.evidenceCount, kMaxEvidence);
  EXPECT_EQ(finding.evidence.back().number, 3);
}

TEST(Outcome, SafetyOutranksLivenessAndBothOutrankAnEmptyHistory) {
  EXPECT_EQ(verdictOf(1, 1, 0, 0), Verdict::safetyViolation);
  EXPECT_EQ(verdictOf(0, 1, 0, 0), Verdict::livenessViolation);
  EXPECT_EQ(verdictOf(0, 0, 0, 0), Verdict::inconclusive);
  EXPECT_EQ(verdictOf(0, 0, 5, 1), Verdict::inconclusive);
  EXPECT_EQ(verdictOf(0, 0, 5, 0), Verdict::held);
}

TEST(Outcome, ExitCodes) {
  EXPECT_EQ(exitCodeOf(Verdict::held), 0);
  EXPECT_EQ(exitCodeOf(Verdict::safetyViolation), 1);
  EXPECT_EQ(exitCodeOf(Verdict::livenessViolation), 2);
  EXPECT_EQ(exitCodeOf(Verdict::inconclusive), 3);
}

}  // namespace
}  // namespace holdfast::checkers::testing
