#include "explain/change.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace holdfast::explain {
namespace {

template <class Kind, class... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<Kind, Kinds> || ...);

// What a step of a change is told by; renewals and single reservations would drown it.
template <class Kind>
constexpr bool kIsStep =
    kIsOneOf<Kind, obs::ProposalStarted, obs::ProposalAbandoned, obs::MembershipPromised,
             obs::MembershipAccepted, obs::MembershipDecided, obs::CertificateRefused,
             obs::MembershipInstalled, obs::MembershipActive, obs::HomeMapStaged, obs::HomeMapAcknowledged,
             obs::HomeMapFenced, obs::HomeMapRefused, obs::HomeMapActivated>;

}  // namespace

std::uint32_t stepOfChange(const obs::Observation& what) {
  return std::visit(
      [](const auto& o) -> std::uint32_t {
        using Kind = std::remove_cvref_t<decltype(o)>;
        if constexpr (!kIsStep<Kind>) {
          return 0;
        } else if constexpr (requires { o.generation; }) {
          return o.generation;
        } else {
          return o.number;
        }
      },
      what);
}

MembershipChange::MembershipChange(Run run, const Incident& incident, std::span<const EventIndex> parties)
    : run_(run) {
  const auto widen = [&](std::uint32_t number) {
    if (number == 0) return;
    oldest_ = newest_ == 0 ? number : std::min(oldest_, number);
    newest_ = std::max(newest_, number);
  };
  for (const EventIndex party : parties) widen(actedUnder(party));
  for (const obs::NodeId node : incident.nodes) {
    // A node may have gone over since, or not yet, which is what the incident is about.
    for (EventIndex i = incident.event + 1; i-- > 0;) {
      const auto* installed = std::get_if<obs::MembershipInstalled>(&run_[i].what);
      if (installed == nullptr || run_[i].node != node) continue;
      widen(installed->number);
      break;
    }
  }
  // A step of a change is about what was before it, whoever has a part in it.
  if (const std::uint32_t step = stepOfChange(run_[incident.event].what); step > 1) widen(step - 1);
  if (!happened()) return;
  begin_ = incident.event;
  for (EventIndex i = 0; i < incident.event; ++i) {
    if (!has(i)) continue;
    begin_ = i;
    break;
  }
}

std::uint32_t MembershipChange::actedUnder(EventIndex event) const {
  if (const std::uint32_t step = stepOfChange(run_[event].what); step != 0) return step;
  if (const obs::Token token = mentionsOf(run_[event].what).token; token.valid()) return token.membership;
  for (EventIndex i = event + 1; i-- > 0;) {
    const auto* installed = std::get_if<obs::MembershipInstalled>(&run_[i].what);
    if (installed != nullptr && run_[i].node == run_[event].node) return installed->number;
  }
  return 0;
}

bool MembershipChange::has(EventIndex event) const {
  if (!happened()) return false;
  const obs::Observation& what = run_[event].what;
  const std::uint32_t step = stepOfChange(what);
  if (step > oldest_ && step <= newest_) return true;
  return step == oldest_ && (std::holds_alternative<obs::MembershipInstalled>(what) ||
                             std::holds_alternative<obs::MembershipActive>(what));
}

}  // namespace holdfast::explain
