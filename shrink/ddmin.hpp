// Delta debugging: a smallest part of a set of changes for which a failure stays (Zeller and Hildebrandt,
// "Simplifying and Isolating Failure-Inducing Input", IEEE TSE 28(2), 2002, algorithm ddmin).
//
// Contract: the result fails, and taking any one element out of it makes it pass (it is 1-minimal), provided
// that the whole set fails and that the answers are a function of the candidates. It asks for candidates in
// batches, whose order is that of the paper, so that the asked one may judge several at once.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace holdfast::shrink {

/// Indices of the elements that are kept, ascending.
using Subset = std::vector<std::size_t>;

/// The index of the first of the candidates that fails; nothing if none does.
using FirstFailing = std::function<std::optional<std::size_t>(std::span<const Subset>)>;

/// A 1-minimal subset of the elements 0 to size - 1, all of which together must fail.
Subset ddmin(std::size_t size, const FirstFailing& firstFailing);

}  // namespace holdfast::shrink
