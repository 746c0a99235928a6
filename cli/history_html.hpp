// A judged history as a page: every operation from invocation to return, in the order that explains it.
#pragma once

#include <string>
#include <string_view>

#include "histories/judge.hpp"

namespace holdfast::cli {

/// One file that opens without a network. Of each object that is not linearizable the operations about the
/// failure are drawn, of the others the first ones: at most kMostBars of each, and as many objects.
std::string historyPage(std::string_view title, const histories::History& history,
                        const histories::Judgement& judgement);

}  // namespace holdfast::cli
