#include "scenarios/must_reach.hpp"

#include <fmt/format.h>

#include <array>

#include "scenarios/sweep.hpp"

namespace holdfast::scenarios {
namespace {

/// Limitation routes that runs of plans must reach; and that of a membership that changes, where one does.
constexpr std::array kRoutesToReach = {
    checkers::Route::l1a, checkers::Route::l1b, checkers::Route::l2a,           checkers::Route::l2b,
    checkers::Route::l2c, checkers::Route::lh4, checkers::Route::l2HomeRestart, checkers::Route::l2Eviction};

// A seed in two or three, a seed in ten, a seed in a hundred, a seed in some hundreds. A sweep of fresh seeds
// as large as its budget misses a point less than once in ten thousand times.
constexpr std::uint64_t kCommon = 100;
constexpr std::uint64_t kUncommon = 250;
constexpr std::uint64_t kRare = 1'000;
constexpr std::uint64_t kRarest = 5'000;

/// What is not known to be more common is taken for rare.
std::uint64_t budgetOf(Milestone milestone) {
  using enum Milestone;
  switch (milestone) {
    case admittedCached:
    case admittedVirgin:
    case admittedClean:
    case admittedRecovery:
    case handoff:
    case renewal:
    case recall:
    case drainSettled:
    case delegationLapsed:
    case grantExpired:
    case grantRejected:
    case handedBack:
    case queued:
    case barrier:
    case fenceWaited:
    case quarantine:
    case coordinatorReplaced:
    case membershipLapsed:
    case reentered:
    case revoked:
    case applyFailed:
    case holeRepaired:
    case crashed:
    case paused:
    case messageLost:
    case refused503Quarantine:
    case refused503HomeUnreachable:
    case refused503NoMembership:
    case refused423Contended:
    case refused409Revoked:
    case proposalFailureDriven:
    case proposalAdministrative:
    case acceptedBefore:
    case epochDecided:
    case memberRemoved:
    case memberAdded:
    case joinerInstalled:
    case joiningCorrupted:
    case caughtUp:
    case protectionCarried:
    case refused503Activation:
    case refused503NotMember:
    case homeMapActivated:
    case tombstoneReclaimed:
      return kCommon;
    case recallFailed:
    case drainCutShort:
    case earlyDrop:
    case barrierFailed:
    case attemptAborted:
    case commitFailed:
    case gapFound:
    case refused503Barrier:
    case refused409Expired:
    case duel:
    case memberReplaced:
    case certificateRefused:
      return kUncommon;
    default:
      return kRare;
  }
}

std::uint64_t budgetOf(checkers::Route route) {
  switch (route) {
    case checkers::Route::l1a:
      return kCommon;
    case checkers::Route::lh4:
      return kUncommon;
    case checkers::Route::l2a:
    case checkers::Route::l2HomeRestart:
      return kRarest;
    default:
      return kRare;
  }
}

/// "L-2a", with the variant behind it where several share a number.
std::string titleOf(checkers::Route route) {
  const std::string_view limitation = checkers::limitationOf(route);
  return limitation == "L-2" ? fmt::format("L-2 ({})", obs::nameOf(route)) : std::string(limitation);
}

}  // namespace

std::vector<MustReachPoint> mustReachPoints(const SweepReport& report) {
  std::vector<MustReachPoint> points;
  // The points are those of the delegation protocol: where nothing is ever granted by a home although callers
  // are admitted, another one gives the locks.
  if (report.coverage.admissions() > 0 && report.coverage.kind<obs::Granted>() == 0) return points;
  // Only members that agree on themselves reserve anything (EP-7); a sweep yet to be run is one of theirs.
  const bool epochs = report.ran == 0 || report.coverage.kind<obs::ReservationMade>() > 0;
  // Nobody installs members that are given.
  const bool maps = !epochs && report.coverage.kind<obs::MembershipInstalled>() > 0;
  const auto concerns = epochs ? isOfEpochs : maps ? isOfHomeMaps : isOfFixedMembers;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Milestone>>([&](auto milestone) {
    if (!concerns(milestone.value)) return;
    const MilestoneReached& reached = report.milestones[static_cast<std::size_t>(milestone.value)];
    points.push_back({milestone.name, budgetOf(milestone.value), reached.seeds, reached.firstSeed});
  });
  std::vector<checkers::Route> routes(kRoutesToReach.begin(), kRoutesToReach.end());
  if (epochs || maps) routes.push_back(checkers::Route::l2MembershipChange);
  for (const checkers::Route route : routes) {
    const RouteReached& reached = report.routes[static_cast<std::size_t>(route)];
    points.push_back({titleOf(route), budgetOf(route), reached.seeds, reached.firstSeed});
  }
  return points;
}

std::vector<std::string> missedBy(const SweepReport& report) {
  std::vector<std::string> missed;
  for (MustReachPoint& point : mustReachPoints(report)) {
    if (point.seeds == 0 && point.judgedAfter(report.ran)) missed.push_back(std::move(point.name));
  }
  return missed;
}

}  // namespace holdfast::scenarios
