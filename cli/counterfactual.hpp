// From when on a violation was inevitable: what remains of it when the end of the plan is cut off.
#pragma once

#include <optional>
#include <string>

#include "cli/study.hpp"

namespace holdfast::cli {

/// The last step of a plan that a violation needs: with all that is planned later taken away it still
/// happens, without this step (and all later ones) it does not.
struct NoReturn {
  std::string step;  ///< "operation 12: transfer".
  obs::TrueInstant at;
  obs::NodeId node;
  std::size_t kept = 0;     ///< Steps of the plan up to it, itself included.
  std::size_t planned = 0;  ///< All steps of the plan.
};

/// Runs shortened plans, about as many as the plan's length has binary digits. Nothing for a directed
/// scenario, whose plan is its story, and for a violation that needs no step of a plan.
std::optional<NoReturn> pointOfNoReturn(Session& session, const Study& study,
                                        const explain::Incident& incident);

std::string describe(const NoReturn& turn, const traces::Names& names);

}  // namespace holdfast::cli
