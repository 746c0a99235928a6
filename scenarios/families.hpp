// The families of directed scenarios, a function each. registry.cpp puts them together.
#pragma once

#include <vector>

#include "scenarios/scenario.hpp"

namespace holdfast::scenarios {}  // namespace holdfast::scenarios
