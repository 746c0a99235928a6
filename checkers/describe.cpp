// Findings as sentences, for people.

#include <fmt/format.h>

#include "checkers/finding.hpp"

namespace holdfast::checkers {

namespace {

class Teller {
 public:
  Teller(const Finding& finding, const Names& names) : f_(finding), names_(names) {}

  std::string tell() const {
    std::string text = fmt::format("{} promises that {}. {}.", ruleOf(f_.anomaly), promise(), observed());
    if (f_.evidenceCount > 0) text += fmt::format(" Evidence: {}.", evidence());
    return text + ' ' + judgement() + '.';
  }

 private:
  std::string node(NodeId id) const {
    if (!id.valid()) return "no node";
    if (id.value < names_.nodes.size()) return fmt::format("node {}", names_.nodes[id.value]);
    return fmt::format("node {}", id.value);
  }
  std::string key() const {
    if (!f_.key.valid()) return "no key";
    if (f_.key.value < names_.keys.size()) return fmt::format("key {}", names_.keys[f_.key.value]);
    return fmt::format("key {}", f_.key.value);
  }
  /// Seconds with as many digits as it takes, at least three.
  static std::string seconds(std::int64_t ns) {
    const std::uint64_t size = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
    std::string text =
        fmt::format("{}{}.{:09}", ns < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000);
    for (int i = 0; i < 6 && text.back() == '0'; ++i) text.pop_back();
    return text + " s";
  }
  static std::string time(TrueInstant at) { return seconds(at.ns); }
  std::string nodes(std::int64_t bits) const;
  std::string path() const { return std::string(obs::nameOf(static_cast<obs::Path>(f_.detail))); }
  std::string cause() const { return std::string(obs::nameOf(static_cast<obs::Cause>(f_.detail))); }

  std::string promise() const;
  std::string observed() const;
  std::string observedOfSections() const;
  std::string observedOfBarrier() const;
  std::string observedOfWrites() const;
  std::string observedOfMembership() const;
  std::string evidence() const;
  std::string end(TrueInstant at) const;
  std::string evidence(const Evidence& one) const;
  std::string judgement() const;

  const Finding& f_;
  const Names& names_;
};

/// A set of nodes, one bit each.
std::string Teller::nodes(std::int64_t bits) const {
  const obs::NodeBits set{static_cast<std::uint64_t>(bits)};
  std::string text;
  for (std::uint16_t i = 0; i < 64; ++i) {
    if (!set.contains(NodeId{i})) continue;
    if (!text.empty()) text += ", ";
    text += i < names_.nodes.size() ? names_.nodes[i] : fmt::format("{}", i);
  }
  return '{' + text + '}';
}

std::string Teller::promise() const {
  switch (f_.anomaly) {
    case Anomaly::overlappingAdmissions:
      return "at most one node is inside a critical section of a key";
    case Anomaly::submittedAfterLapse:
      return "no write is submitted through a handle whose lease has ended";
    case Anomaly::submittedAfterRevocation:
      return "no write is submitted through a revoked handle";
    case Anomaly::submittedWithoutHandle:
      return "a locked write is submitted through a handle of its node";
    case Anomaly::admittedWithoutMembership:
      return "a node without a live membership admits nobody";
    case Anomaly::leaseBeyondBound:
      return "a handle ends no later than its delegation and its membership";
    case Anomaly::reenteredAfterEnd:
      return "a handle that has ended is not entered again";
    case Anomaly::reenteredByAnother:
      return "nobody enters a handle but the caller who holds it";
    case Anomaly::tokenNotIncreasing:
      return "the tokens that a home grants for a key increase";
    case Anomaly::grantedInQuarantine:
      return "a restarted home grants nothing in its quarantine";
    case Anomaly::grantedToStranger:
      return "a home grants to members only";
    case Anomaly::membershipTooLong:
      return "a membership lease counts from the sending of the renewal that a majority acknowledged";
    case Anomaly::leaseUnacknowledged:
      return "a membership lease rests on a majority's answers to the start of the process that takes it";
    case Anomaly::leaseBeyondReservations:
      return "a membership lease ends before the reservations that a majority has made for it";
    case Anomaly::staleAdmission:
    case Anomaly::staleRead:
      return "a node admitted to a key shows what earlier sections had committed";
    case Anomaly::derivedFromStaleRead:
      return "a section computes from what earlier sections had committed";
    case Anomaly::lateSettlement:
      return "the key is not handed over before submitted writes have settled";
    case Anomaly::recoveryAfterCleanRelease:
      return "the dependency set of a clean release is kept for the next";
    case Anomaly::admittedWithoutBarrier:
      return "a recovery admits only after a barrier that was satisfied";
    case Anomaly::leftOutOfBarrier:
      return "a barrier leaves out only members that were asked and did not answer in time";
    case Anomaly::appliedOutOfOrder:
      return "entries of one origin are applied in the order of their positions";
    case Anomaly::outrankedWrite:
    case Anomaly::lostUpdate:
      return "the later of two locked writes to a field stands";
    case Anomaly::strangeValue:
      return "a field shows what its writer staged";
    case Anomaly::committedWithoutSubmission:
      return "only a submitted transaction takes effect";
    case Anomaly::refusedWriteVisible:
      return "a refused or aborted transaction has no effect";
    case Anomaly::stampWentBack:
      return "a holder's timestamps do not go backwards";
    case Anomaly::replicasDiffer:
      return "replicas agree once everything is applied";
    case Anomaly::wrongResolution:
      return "a record is the last-write-wins fold of what was applied";
    case Anomaly::replicationBehind:
      return "everything is applied in the end";
    case Anomaly::answeredTwice:
    case Anomaly::answeredUnasked:
    case Anomaly::neverAnswered:
      return "every caller is answered exactly once";
    case Anomaly::settledTwice:
    case Anomaly::neverSettled:
      return "every submitted transaction settles exactly once";
    case Anomaly::answeredLate:
      return "a caller waits no longer than it said it would";
    case Anomaly::servedOutOfOrder:
      return "local callers of a key are served in the order in which they asked";
    case Anomaly::grantedOutOfOrder:
      return "a home serves its waiters in the order of their arrival";
    case Anomaly::renewedAfterRecall:
      return "a home does not renew what it has recalled";
    case Anomaly::wrongErrorClass:
      return "a caller sees 503, 423 or 409, each for its own causes";
    case Anomaly::lockedWithoutHolder:
      return "423 is answered only when somebody else held the key";
    case Anomaly::conflictOnLiveHandle:
      return "a write through a live or merely unlocked handle succeeds";
    case Anomaly::retainedBeyondBound:
      return "what a node keeps is bounded";
    case Anomaly::cachedAcquisitionPaid:
      return "a repeat under a live delegation costs no message";
    case Anomaly::costBeyondBound:
      return "an acquisition costs no more than its bound";
    case Anomaly::unlockedWritePaid:
      return "an unlocked write pays nothing for locks";
    case Anomaly::refusedAfterHealing:
    case Anomaly::keyNotObtainable:
      return "every key can be obtained again once all faults are over";
    case Anomaly::ballotWentBack:
      return "an acceptor promises and accepts no ballot below one that it promised";
    case Anomaly::acceptanceConcealed:
      return "a promise reports what its acceptor has accepted before";
    case Anomaly::reservationConcealed:
      return "a promise reports how long the renewals that its acceptor acknowledged may still be relied on";
    case Anomaly::restartForgotReservation:
      return "a restarted acceptor takes every epoch for renewed at its restart";
    case Anomaly::renewedAfterPromise:
      return "an acceptor that promised a successor renews the predecessor no more";
    case Anomaly::certificateWithoutMajority:
      return "a certificate is a majority of distinct members of the preceding configuration";
    case Anomaly::certificateForged:
      return "every voter of a certificate has accepted its configuration";
    case Anomaly::twoConfigurations:
      return "a membership number has one value";
    case Anomaly::installedWithoutCertificate:
      return "a membership is installed on a certificate or an activation record only";
    case Anomaly::membershipWentBack:
      return "the membership numbers that a node acts under grow";
    case Anomaly::protectionForgotten:
      return "what is still owed to earlier memberships stays owed";
    case Anomaly::activatedTooEarly:
      return "a membership is activated after the last authority of its predecessors has ended";
    case Anomaly::activatedUnquiesced:
      return "a home map is activated after every participant has stopped";
    case Anomaly::twoLiveRings:
      return "at most one ring is live at any instant";
    case Anomaly::twoRingsForKey:
      return "at most one membership arbitrates a key at any instant";
    case Anomaly::grantedBeforeActivation:
      return "a home grants nothing, for any key, before its membership is active";
    case Anomaly::grantedWithoutMembership:
      return "a home without a live membership grants nothing";
    case Anomaly::servedAfterAcknowledging:
      return "a node that has acknowledged a new home map serves the old one no more";
    case Anomaly::strangerTakesPart:
      return "only members grant and are granted to";
  }
  return "";
}

std::string Teller::observedOfSections() const {
  const std::string who = fmt::format("At {} call {} of {}", time(f_.at), f_.call.value, node(f_.node));
  switch (f_.anomaly) {
    case Anomaly::overlappingAdmissions:
      return fmt::format("{} was admitted to {} while call {} of {} was inside", who, key(),
                         f_.otherCall.value, node(f_.other));
    case Anomaly::submittedAfterLapse:
      return fmt::format(
          "{} submitted transaction {} on {} when its clock read {}, past the lease's end at {}", who,
          f_.txn.value, key(), seconds(f_.observed), seconds(f_.expected));
    case Anomaly::submittedAfterRevocation:
    case Anomaly::submittedWithoutHandle:
      return fmt::format("{} submitted transaction {} on {}", who, f_.txn.value, key());
    case Anomaly::admittedWithoutMembership:
    case Anomaly::admittedWithoutBarrier:
      return fmt::format("{} was admitted to {}", who, key());
    case Anomaly::leaseBeyondBound:
      return fmt::format("{} got a handle on {} until {} of its clock, beyond {}", who, key(),
                         seconds(f_.observed), seconds(f_.expected));
    case Anomaly::reenteredAfterEnd:
      return fmt::format("{} entered {} again", who, key());
    case Anomaly::reenteredByAnother:
      return fmt::format("{} entered {} by the handle of call {} of {}", who, key(), f_.otherCall.value,
                         node(f_.other));
    case Anomaly::tokenNotIncreasing:
      return fmt::format("At {} home {} granted {} to {} with counter {} after {}", time(f_.at),
                         node(f_.node), key(), node(f_.other), f_.observed, f_.expected);
    case Anomaly::grantedInQuarantine:
      return fmt::format("At {} home {} granted {} to {} when its clock read {}, before {}", time(f_.at),
                         node(f_.node), key(), node(f_.other), seconds(f_.observed), seconds(f_.expected));
    case Anomaly::grantedToStranger:
      return fmt::format("At {} home {} granted {} to {}, which is no member", time(f_.at), node(f_.node),
                         key(), node(f_.other));
    case Anomaly::staleAdmission:
      return fmt::format(
          "{} was admitted to {} by path {} without transaction {} of {}, at position {}: its prefix ends at "
          "{}",
          who, key(), path(), f_.otherTxn.value, node(f_.other), f_.expected, f_.observed);
    case Anomaly::lateSettlement:
      return fmt::format("At {} transaction {} of {} settled on {} after call {} of {} had been admitted",
                         time(f_.at), f_.txn.value, node(f_.node), key(), f_.otherCall.value, node(f_.other));
    case Anomaly::recoveryAfterCleanRelease:
      return fmt::format("{} was admitted to {} by recovery although the last release was clean", who, key());
    case Anomaly::leftOutOfBarrier:
      return observedOfBarrier();
    case Anomaly::appliedOutOfOrder:
      return fmt::format("At {} {} applied position {} of {} before position {}", time(f_.at), node(f_.node),
                         f_.observed, node(f_.other), f_.expected);
    default:
      return fmt::format("{} on {}", who, key());
  }
}

std::string Teller::observedOfBarrier() const {
  const std::string who =
      fmt::format("At {} {} left {} out of its barrier", time(f_.at), node(f_.node), node(f_.other));
  switch (static_cast<LeftOut>(f_.detail)) {
    case LeftOut::tooSoon:
      return fmt::format("{} when its clock read {}, before the timeout at {}", who, seconds(f_.observed),
                         seconds(f_.expected));
    case LeftOut::answered:
      return fmt::format("{} although it had the answer", who);
    default:
      return fmt::format("{} without having asked it", who);
  }
}

std::string Teller::observedOfWrites() const {
  const std::string field = fmt::format("field {} of {}", f_.field, key());
  switch (f_.anomaly) {
    case Anomaly::staleRead:
      return fmt::format("At {} call {} of {} had read {} in {} where transaction {} of {} had left {}",
                         time(f_.at), f_.call.value, node(f_.node), f_.observed, field, f_.otherTxn.value,
                         node(f_.other), f_.expected);
    case Anomaly::derivedFromStaleRead:
      return fmt::format(
          "Stored {}, reads {}, writes {}: call {} of {} computed {} in transaction {} without "
          "transaction {} of {}",
          f_.expected, f_.observed, f_.written, f_.call.value, node(f_.node), field, f_.txn.value,
          f_.otherTxn.value, node(f_.other));
    case Anomaly::outrankedWrite:
    case Anomaly::lostUpdate:
      return fmt::format(
          "At {} {} shows {} in {}, by transaction {}, where the later section's transaction {} "
          "had written {}",
          time(f_.at), node(f_.node), f_.observed, field, f_.otherTxn.value, f_.txn.value, f_.expected);
    case Anomaly::strangeValue:
      return fmt::format("At {} {} shows {} in {}, by transaction {} that staged {}", time(f_.at),
                         node(f_.node), f_.observed, field, f_.otherTxn.value, f_.expected);
    case Anomaly::committedWithoutSubmission:
    case Anomaly::refusedWriteVisible:
      return fmt::format("At {} {} shows transaction {}", time(f_.at), node(f_.node),
                         f_.txn.valid() ? f_.txn.value : f_.otherTxn.value);
    case Anomaly::stampWentBack:
      return fmt::format("At {} call {} of {} staged timestamp {} on {} after {}", time(f_.at), f_.call.value,
                         node(f_.node), f_.observed, key(), f_.expected);
    case Anomaly::replicasDiffer:
      return fmt::format(
          "At the end {} holds {} in {}, by transaction {}, and {} holds {}, by transaction {}",
          node(f_.node), f_.observed, field, f_.txn.value, node(f_.other), f_.expected, f_.otherTxn.value);
    case Anomaly::wrongResolution:
      return fmt::format(
          "At the end {} holds {} in {}, by transaction {}; what it applied gives {}, by "
          "transaction {}",
          node(f_.node), f_.observed, field, f_.otherTxn.value, f_.expected, f_.txn.value);
    case Anomaly::replicationBehind:
      return fmt::format("At the end {} has applied the log of {} up to {} of {}", node(f_.node),
                         node(f_.other), f_.observed, f_.expected);
    case Anomaly::settledTwice:
    case Anomaly::neverSettled:
      return fmt::format("At {} transaction {} of {} had {}", time(f_.at), f_.txn.value, node(f_.node),
                         f_.anomaly == Anomaly::settledTwice ? "settled again" : "not settled");
    default:
      return observedOfSections();
  }
}

std::string Teller::observedOfMembership() const {
  const std::string who = fmt::format("At {} {}", time(f_.at), node(f_.node));
  switch (f_.anomaly) {
    case Anomaly::membershipTooLong:
      return fmt::format("{} took its membership to last until {} of its clock, beyond {}", who,
                         seconds(f_.observed), seconds(f_.expected));
    case Anomaly::leaseUnacknowledged:
      return fmt::format("{} took a membership lease with {} of the {} acknowledgements that it takes", who,
                         f_.observed, f_.expected);
    case Anomaly::leaseBeyondReservations:
      return fmt::format("{} took a membership lease that {} of the {} reservations it takes outlast", who,
                         f_.observed, f_.expected);
    case Anomaly::ballotWentBack:
      return fmt::format("{} answered ballot {} of {} for membership {} after it had promised {}", who,
                         f_.observed, node(f_.other), f_.written, f_.expected);
    case Anomaly::acceptanceConcealed:
      return fmt::format("{} promised {} membership {} and kept silent about the value it had accepted", who,
                         node(f_.other), f_.written);
    case Anomaly::reservationConcealed:
    case Anomaly::restartForgotReservation:
      return fmt::format("{} promised membership {} and reported a reservation of {} instead of {}", who,
                         f_.written, seconds(f_.observed), seconds(f_.expected));
    case Anomaly::protectionForgotten:
      return fmt::format("{} reckoned with {} of protection in membership {}, where {} of it were left", who,
                         seconds(f_.observed), f_.written, seconds(f_.expected));
    case Anomaly::renewedAfterPromise:
      return fmt::format("{} acknowledged a renewal of membership {} by {} after promising {}", who,
                         f_.observed, node(f_.other), f_.expected);
    case Anomaly::certificateWithoutMajority:
      return fmt::format(
          "{} took {} votes, where {} members of the predecessor are needed, for a certificate "
          "of membership {}",
          who, f_.observed, f_.expected, f_.written);
    case Anomaly::certificateForged:
      return fmt::format(
          "{} believed a certificate of membership {} with the vote of {}, which never "
          "accepted it",
          who, f_.written, node(f_.other));
    case Anomaly::twoConfigurations:
      return fmt::format("{} had membership {} with another value than {}", who, f_.written, node(f_.other));
    case Anomaly::installedWithoutCertificate:
      return fmt::format("{} installed membership {} without any", who, f_.written);
    case Anomaly::membershipWentBack:
      return fmt::format("{} installed membership {} after {}", who, f_.observed, f_.expected);
    case Anomaly::activatedTooEarly:
      return fmt::format("{} activated membership {} while {} could admit under {}", who, f_.observed,
                         node(f_.other), f_.expected);
    case Anomaly::activatedUnquiesced:
      return fmt::format("{} activated home map {} while {} had neither acknowledged it nor been stopped",
                         who, f_.observed, node(f_.other));
    case Anomaly::twoLiveRings:
      return fmt::format("{} acted under membership {} while {} acted under {}", who, f_.observed,
                         node(f_.other), f_.expected);
    case Anomaly::twoRingsForKey:
      return fmt::format("{} acted for {} under membership {} while {} held it under {}", who, key(),
                         f_.observed, node(f_.other), f_.expected);
    case Anomaly::strangerTakesPart:
      return fmt::format("{} granted {} under membership {}, of which {} is no member", who, key(),
                         f_.observed, node(f_.other));
    case Anomaly::servedAfterAcknowledging:
      return fmt::format("{} still served {} under membership {}", who, key(), f_.observed);
    default:
      return fmt::format("{} granted {} to {} under membership {}", who, key(), node(f_.other), f_.observed);
  }
}

std::string Teller::observed() const {
  if (f_.checker == Checker::membership) return observedOfMembership();
  const std::string who = fmt::format("At {} call {} of {}", time(f_.at), f_.call.value, node(f_.node));
  switch (f_.anomaly) {
    case Anomaly::answeredTwice:
      return fmt::format("{} got answer number {} on {}", who, f_.observed, key());
    case Anomaly::answeredUnasked:
      return fmt::format("{} was answered on {} without waiting", who, key());
    case Anomaly::neverAnswered:
      return fmt::format("{} was still waiting for {}, for {}, with a limit of {}", who, key(),
                         seconds(f_.observed), seconds(f_.expected));
    case Anomaly::answeredLate:
      return fmt::format("{} was answered on {} after {}, with a limit of {}", who, key(),
                         seconds(f_.observed), seconds(f_.expected));
    case Anomaly::servedOutOfOrder:
      return fmt::format("{}, made at {}, was served on {} before call {}, made at {}", who,
                         seconds(f_.observed), key(), f_.otherCall.value, seconds(f_.expected));
    case Anomaly::grantedOutOfOrder:
      return fmt::format("At {} home {} granted {} to {} before {}, queued earlier, at {}, for call {}",
                         time(f_.at), node(f_.node), key(), node({static_cast<std::uint16_t>(f_.observed)}),
                         node(f_.other), seconds(f_.expected), f_.otherCall.value);
    case Anomaly::wrongErrorClass:
      return fmt::format("{} on {} got error class {} for cause {}", who, key(),
                         obs::nameOf(static_cast<obs::ErrorClass>(f_.observed)), cause());
    case Anomaly::lockedWithoutHolder:
      return fmt::format("{} got 423 on {}, which nobody else had held since {}", who, key(),
                         seconds(f_.expected));
    case Anomaly::conflictOnLiveHandle:
      return fmt::format("{} got 409 ({}) on {} when its clock read {}, before the lease's end at {}", who,
                         cause(), key(), seconds(f_.observed), seconds(f_.expected));
    case Anomaly::retainedBeyondBound:
      return fmt::format("At the end {} keeps {} {}, with a bound of {}", node(f_.node), f_.observed,
                         obs::nameOf(static_cast<obs::Retained>(f_.detail)), f_.expected);
    case Anomaly::cachedAcquisitionPaid:
    case Anomaly::costBeyondBound:
      return fmt::format("{} was admitted to {} by path {} for {} messages, with a bound of {}", who, key(),
                         path(), f_.observed, f_.expected);
    case Anomaly::renewedAfterRecall:
      return fmt::format("At {} {} renewed {} to {}, from whom it had recalled it at {}", time(f_.at),
                         node(f_.node), key(), node(f_.other), seconds(f_.expected));
    case Anomaly::unlockedWritePaid:
      return fmt::format("{} looked at {} writes of transaction {} for handles, and none is under a lock",
                         node(f_.node), f_.observed, f_.txn.value);
    case Anomaly::refusedAfterHealing:
      return fmt::format("{}, made {} after healing with a bound of {}, was refused {} ({})", who,
                         seconds(f_.observed), seconds(f_.expected), key(), cause());
    case Anomaly::keyNotObtainable:
      return fmt::format("{} was refused to {} calls made later than {} after healing and granted to none",
                         key(), f_.observed, seconds(f_.expected));
    default:
      return observedOfWrites();
  }
}

/// When what was in force ends. By a clock that stands still, as the explorer's do between ticks, it never
/// would.
std::string Teller::end(TrueInstant at) const {
  constexpr obs::Duration kNeverSoon = sim::minutes(24 * 60);
  if (at - f_.at > kNeverSoon) return "had not ended";
  return fmt::format("{} at {}", at < f_.at ? "had ended" : "ends", time(at));
}

std::string Teller::evidence(const Evidence& one) const {
  const std::string who = node(one.node);
  const std::string when = time(one.at);
  switch (one.fact) {
    case Fact::none:
      return "none";
    case Fact::admitted:
      return fmt::format("{} admitted it at {} by path {}", who, when,
                         obs::nameOf(static_cast<obs::Path>(one.number)));
    case Fact::submitted:
      return fmt::format("{} submitted transaction {} at {}", who, one.number, when);
    case Fact::settled:
      return fmt::format("it settled at {} at {}, position {}", who, when, one.number);
    case Fact::applied:
      return fmt::format("{} had applied up to {}", who, one.number);
    case Fact::lapsed:
      return fmt::format("the lease at {} {}", who, end(one.at));
    case Fact::revoked:
      return fmt::format("it was revoked at {}", when);
    case Fact::unlocked:
      return fmt::format("it was unlocked at {}", when);
    case Fact::crashed:
      return fmt::format("{} crashed at {}", who, when);
    case Fact::down:
      return fmt::format("{} was down at {}", who, when);
    case Fact::linkCut:
      return fmt::format("the link of {} was cut at {}", who, when);
    case Fact::paused:
      return fmt::format("{} was suspended at {}", who, when);
    case Fact::barrierStarted:
      return fmt::format("{} had started a barrier at {}", who, when);
    case Fact::barrierAppended:
      return fmt::format("{} appended a barrier at {}", who, when);
    case Fact::barrierMeasured:
      return fmt::format("the barrier measured {} at {}, up to position {}", who, when, one.number);
    case Fact::barrierSkipped:
      return fmt::format("the barrier left {} out at {}", who, when);
    case Fact::barrierAnswered:
      return fmt::format("the answer of {} was there at {}", who, when);
    case Fact::barrierUnsatisfied:
      return fmt::format("the barrier of {} was not satisfied", who);
    case Fact::lineageLost:
      return fmt::format("the dependency set was lost: {}",
                         obs::nameOf(static_cast<obs::LineageLoss>(one.number)));
    case Fact::released:
      return fmt::format("it was released at {}", when);
    case Fact::grantOutstanding:
      return fmt::format("{} held the grant at {}", who, when);
    case Fact::stagedEarlier:
    case Fact::stagedLater:
      return fmt::format("{} staged it at {} with timestamp {} of its clock", who, when, one.number);
    case Fact::callerStamp:
      return fmt::format("{} staged it at {} with timestamp {} of the caller", who, when, one.number);
    case Fact::recovered:
      return fmt::format("the key was recovered at {}", when);
    case Fact::installed:
      return fmt::format("{} had it as {} at {}", who, nodes(one.number), when);
    case Fact::certificate:
      return one.number == 0 ? fmt::format("{} had no votes for it at {}", who, when)
                             : fmt::format("{} had the votes of {} at {}", who, nodes(one.number), when);
    case Fact::membershipLive:
      return fmt::format("the lease of {} on membership {} {}", who, one.number, end(one.at));
    case Fact::delegationLive:
      return fmt::format("the delegation of {} under membership {} {}", who, one.number, end(one.at));
  }
  return "";
}

std::string Teller::evidence() const {
  std::string text;
  for (std::size_t i = 0; i < f_.evidenceCount; ++i) {
    if (i > 0) text += "; ";
    text += evidence(f_.evidence[i]);
  }
  return text;
}

std::string Teller::judgement() const {
  const std::string_view id = limitationOf(f_.route);
  switch (f_.route) {
    case Route::none:
      break;
    case Route::l1a:
      return fmt::format("This is {}: the earlier writer's wall clock was ahead", id);
    case Route::l1b:
      return fmt::format("This is {}: the caller gave the timestamp", id);
    case Route::l2a:
      return fmt::format("This is {}: recovery went on without a crashed member", id);
    case Route::l2b:
      return fmt::format("This is {}: recovery went on without an unreachable member", id);
    case Route::l2c:
      return fmt::format("This is {}: it settled after the barrier was measured", id);
    case Route::l2HomeRestart:
      return fmt::format("This is {}: the home restarted after the release", id);
    case Route::l2MembershipChange:
      return fmt::format("This is {}: the membership changed after the release", id);
    case Route::l2Eviction:
      return fmt::format("This is {}: the home evicted the set at its cap", id);
    case Route::lh4:
      return fmt::format("This is {}: an unlock waits for no commit, so the next local caller may come first",
                         id);
  }
  return f_.severity == Severity::liveness ? "This breaks liveness" : "No documented limitation explains it";
}

}  // namespace

std::string describe(const Finding& finding, const Names& names) { return Teller(finding, names).tell(); }

}  // namespace holdfast::checkers
