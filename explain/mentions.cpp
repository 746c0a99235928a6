#include "explain/mentions.hpp"

#include <string_view>
#include <type_traits>
#include <variant>

namespace holdfast::explain {
namespace {

template <class... Kinds>
bool isOneOf(const obs::Observation& what) {
  return (std::holds_alternative<Kinds>(what) || ...);
}

}  // namespace

Mentions mentionsOf(const obs::Observation& what) {
  Mentions found;
  std::visit(
      [&](const auto& o) {
        obs::forEachField(o, [&](std::string_view name, const auto& field) {
          using Field = std::remove_cvref_t<decltype(field)>;
          if constexpr (std::is_same_v<Field, obs::KeyId>) {
            found.key = field;
          } else if constexpr (std::is_same_v<Field, obs::CallId>) {
            found.call = field;
          } else if constexpr (std::is_same_v<Field, obs::TxnId>) {
            found.txn = field;
          } else if constexpr (std::is_same_v<Field, obs::Token>) {
            found.token = field;
          } else if constexpr (std::is_same_v<Field, obs::NodeId>) {
            found.peer = field;
          } else if constexpr (std::is_same_v<Field, std::uint64_t>) {
            if (name == "nonce") found.nonce = field;
            if (name == "id" && requires { o.message; }) found.message = field;
          }
        });
      },
      what);
  return found;
}

obs::Position appendedAt(const obs::Observation& what) {
  if (const auto* settled = std::get_if<obs::Settled>(&what))
    return settled->committed ? settled->position : 0;
  if (const auto* control = std::get_if<obs::ControlAppended>(&what)) return control->position;
  return 0;
}

bool isFault(const obs::Observation& what) {
  return isOneOf<obs::NodeCrashed, obs::NodeStarted, obs::NodePaused, obs::NodeResumed,
                 obs::CoordinatorReplaced, obs::LinkCut, obs::LinkHealed, obs::ClockRate, obs::WallSet>(what);
}

bool fromOutside(const obs::Observation& what) {
  return isFault(what) || isOneOf<obs::LockRequested, obs::Unlocked, obs::Staged, obs::MessageLost>(what);
}

}  // namespace holdfast::explain
