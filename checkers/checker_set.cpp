#include "checkers/checker_set.hpp"

namespace holdfast::checkers {

namespace {

template <class Subject, class Event>
concept Watches = requires(Subject& subject, const Stamp& stamp, const Event& event, const Context& context) {
  subject.on(stamp, event, context);
};

template <class Model, class Event>
concept Records = requires(Model& model, const Stamp& stamp, const Event& event) { model.on(stamp, event); };

template <class Model, class Event>
concept Relates = requires(Model& model, const Stamp& stamp, const Event& event, const History& history) {
  model.on(stamp, event, history);
};

template <class Subject>
concept Finishes =
    requires(Subject& subject, TrueInstant at, const Context& context) { subject.finish(at, context); };

template <class Event, class... Others>
constexpr bool kIsOneOf = (std::is_same_v<Event, Others> || ...);

/// Observations that may name no key, no call, or no node.
template <class Event>
constexpr bool kKeyIsOptional =
    kIsOneOf<Event, obs::ControlAppended, obs::MessageSent, obs::LineageLost, obs::WriteRefused>;
template <class Event>
constexpr bool kCallIsOptional = kIsOneOf<Event, obs::Read, obs::Staged, obs::Submitted, obs::WriteRefused>;
template <class Event>
constexpr bool kNodeIsOptional = kIsOneOf<Event, obs::MessageRefused>;

constexpr bool dense(std::uint32_t id) { return id <= CheckerSet::kMaxDenseId; }

/// Far beyond every run, and far enough from the ends of int64 for sums and differences not to overflow.
constexpr std::int64_t kMaxTime = std::int64_t{1} << 60;
constexpr bool sane(std::int64_t ns) { return ns >= -kMaxTime && ns <= kMaxTime; }

/// Whether every id in the observation is one that a table may be indexed with, and its time one to reckon
/// with.
template <class Event>
constexpr bool plausible(const Stamp& stamp, const Event& event) {
  bool ok = stamp.node.value < CheckerSet::kMaxNodes && sane(stamp.at.ns);
  if constexpr (std::is_same_v<Event, obs::ClockRate>) {
    ok = ok && sane(event.local.ns) && event.ratePpb >= -1'000'000'000 && event.ratePpb < 1'000'000'000;
  }
  obs::forEachField(event, [&ok](std::string_view, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    if constexpr (std::is_same_v<Field, CallId>) {
      ok = ok && dense(field.value) && (field.valid() || kCallIsOptional<Event>);
    } else if constexpr (std::is_same_v<Field, TxnId>) {
      ok = ok && dense(field.value) && field.valid();
    } else if constexpr (std::is_same_v<Field, KeyId>) {
      ok = ok && (field.valid() ? dense(field.value) : kKeyIsOptional<Event>);
    } else if constexpr (std::is_same_v<Field, NodeId>) {
      ok = ok && (field.value < CheckerSet::kMaxNodes || (!field.valid() && kNodeIsOptional<Event>));
    } else if constexpr (std::is_same_v<Field, std::array<TxnId, obs::kRecordFields>>) {
      for (const TxnId id : field) ok = ok && dense(id.value);
    }
  });
  return ok;
}

}  // namespace

CheckerSet::CheckerSet(const CheckerOptions& options) : options_(options), lineage_(options) {
  history_.reserveNodes(options.nodes < kMaxNodes ? options.nodes : kMaxNodes);
}

template <class Event>
void CheckerSet::on(const Stamp& stamp, const Event& event) {
  if (!plausible(stamp, event)) {
    ++malformed_;
    return;
  }
  if constexpr (Records<History, Event>) history_.on(stamp, event);
  if constexpr (Relates<Lineage, Event>) lineage_.on(stamp, event, history_);
  const Context context{options_, history_, lineage_, findings_};
  if constexpr (Watches<CoverageCounter, Event>) {
    if (options_.countCoverage) coverage_.on(stamp, event, context);
  }
  const auto tell = [&]<class One>(One& one) {
    if constexpr (Watches<One, Event>) {
      if (options_.on(One::kChecker)) one.on(stamp, event, context);
    }
  };
  std::apply([&](auto&... checker) { (tell(checker), ...); }, checkers_);
}

void CheckerSet::on(const obs::Stamped& stamped) {
  const Stamp stamp{stamped.at, stamped.node};
  std::visit([&](const auto& event) { on(stamp, event); }, stamped.what);
}

void CheckerSet::finish(TrueInstant at) {
  const Context context{options_, history_, lineage_, findings_};
  const auto tell = [&]<class One>(One& one) {
    if constexpr (Finishes<One>) {
      if (options_.on(One::kChecker)) one.finish(at, context);
    }
  };
  std::apply([&](auto&... checker) { (tell(checker), ...); }, checkers_);
  coverage_.coverage().seal(findings_, options_.seed);
}

Verdict CheckerSet::verdict() const {
  return verdictOf(findings_.count(Severity::safety), findings_.count(Severity::liveness),
                   history_.admissions(), malformed_);
}

// One for each alternative of obs::Observation.
// clang-format off
#define HOLDFAST_CHECKERS_ON(Event) template void CheckerSet::on<obs::Event>(const Stamp&, const obs::Event&);
HOLDFAST_CHECKERS_ON(LockRequested)
HOLDFAST_CHECKERS_ON(Admitted)
HOLDFAST_CHECKERS_ON(Reentered)
HOLDFAST_CHECKERS_ON(LockRefused)
HOLDFAST_CHECKERS_ON(Unlocked)
HOLDFAST_CHECKERS_ON(Revoked)
HOLDFAST_CHECKERS_ON(Read)
HOLDFAST_CHECKERS_ON(Staged)
HOLDFAST_CHECKERS_ON(Submitted)
HOLDFAST_CHECKERS_ON(AttemptAborted)
HOLDFAST_CHECKERS_ON(Settled)
HOLDFAST_CHECKERS_ON(WriteRefused)
HOLDFAST_CHECKERS_ON(UnlockedWritesChecked)
HOLDFAST_CHECKERS_ON(Granted)
HOLDFAST_CHECKERS_ON(Denied)
HOLDFAST_CHECKERS_ON(Queued)
HOLDFAST_CHECKERS_ON(Installed)
HOLDFAST_CHECKERS_ON(GrantRejected)
HOLDFAST_CHECKERS_ON(HandedBack)
HOLDFAST_CHECKERS_ON(HandBackSeen)
HOLDFAST_CHECKERS_ON(RecallSent)
HOLDFAST_CHECKERS_ON(RecallFailed)
HOLDFAST_CHECKERS_ON(AdmissionClosed)
HOLDFAST_CHECKERS_ON(Drained)
HOLDFAST_CHECKERS_ON(DelegationLapsed)
HOLDFAST_CHECKERS_ON(ControlAppended)
HOLDFAST_CHECKERS_ON(ReleaseSeen)
HOLDFAST_CHECKERS_ON(GrantExpired)
HOLDFAST_CHECKERS_ON(LineageLost)
HOLDFAST_CHECKERS_ON(FenceWaiting)
HOLDFAST_CHECKERS_ON(FenceSatisfied)
HOLDFAST_CHECKERS_ON(BarrierStarted)
HOLDFAST_CHECKERS_ON(BarrierMeasured)
HOLDFAST_CHECKERS_ON(BarrierSkipped)
HOLDFAST_CHECKERS_ON(BarrierDone)
HOLDFAST_CHECKERS_ON(RecoveryJoined)
HOLDFAST_CHECKERS_ON(MembershipRenewed)
HOLDFAST_CHECKERS_ON(MembershipLapsed)
HOLDFAST_CHECKERS_ON(ProposalStarted)
HOLDFAST_CHECKERS_ON(ProposalAbandoned)
HOLDFAST_CHECKERS_ON(ReservationMade)
HOLDFAST_CHECKERS_ON(MembershipPromised)
HOLDFAST_CHECKERS_ON(MembershipAccepted)
HOLDFAST_CHECKERS_ON(MembershipDecided)
HOLDFAST_CHECKERS_ON(MembershipInstalled)
HOLDFAST_CHECKERS_ON(MembershipActive)
HOLDFAST_CHECKERS_ON(CertificateRefused)
HOLDFAST_CHECKERS_ON(MembershipJoining)
HOLDFAST_CHECKERS_ON(HomeMapStaged)
HOLDFAST_CHECKERS_ON(HomeMapAcknowledged)
HOLDFAST_CHECKERS_ON(HomeMapFenced)
HOLDFAST_CHECKERS_ON(HomeMapRefused)
HOLDFAST_CHECKERS_ON(HomeMapActivated)
HOLDFAST_CHECKERS_ON(CoordinatorStarted)
HOLDFAST_CHECKERS_ON(MessageRefused)
HOLDFAST_CHECKERS_ON(Applied)
HOLDFAST_CHECKERS_ON(GapFound)
HOLDFAST_CHECKERS_ON(HoleRepaired)
HOLDFAST_CHECKERS_ON(TombstoneReclaimed)
HOLDFAST_CHECKERS_ON(NodeStarted)
HOLDFAST_CHECKERS_ON(NodeCrashed)
HOLDFAST_CHECKERS_ON(NodePaused)
HOLDFAST_CHECKERS_ON(NodeResumed)
HOLDFAST_CHECKERS_ON(CoordinatorReplaced)
HOLDFAST_CHECKERS_ON(LinkCut)
HOLDFAST_CHECKERS_ON(LinkHealed)
HOLDFAST_CHECKERS_ON(ClockRate)
HOLDFAST_CHECKERS_ON(WallSet)
HOLDFAST_CHECKERS_ON(MessageSent)
HOLDFAST_CHECKERS_ON(MessageDelivered)
HOLDFAST_CHECKERS_ON(MessageLost)
HOLDFAST_CHECKERS_ON(DurableWrite)
HOLDFAST_CHECKERS_ON(PhaseChanged)
HOLDFAST_CHECKERS_ON(FinalRecord)
HOLDFAST_CHECKERS_ON(RetainedCount)
#undef HOLDFAST_CHECKERS_ON
// clang-format on

}  // namespace holdfast::checkers
