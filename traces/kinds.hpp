// Looking up kinds of observations by name, exactly and by likeness.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "observations/kinds.hpp"

namespace holdfast::traces {

using obs::kindName;
using obs::kKindCount;
using obs::kKindNames;
using obs::ObservationOf;

/// The number of the kind of that name, if there is one.
std::optional<std::size_t> kindFromName(std::string_view name);

/// The kind whose name is most like `name`, for "did you mean".
std::string_view nearestKindName(std::string_view name);

/// A number that two builds of the tool share if their observations have the same kinds, fields, types and
/// enumerators, in the same order of fields and enumerators.
std::uint64_t vocabularyHash();

}  // namespace holdfast::traces
