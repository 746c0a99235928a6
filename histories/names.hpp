// Numbers for values, so that models can compare them: equal values have equal numbers.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "checkers/linearizability/models.hpp"
#include "histories/value.hpp"

namespace holdfast::histories {

class Names {
 public:
  /// linearizability::kAbsent for nil.
  std::int64_t numberOf(const Value& value) {
    if (value.isNil()) return linearizability::kAbsent;
    const auto [at, fresh] = numbers_.try_emplace(value.printed(), static_cast<std::int64_t>(names_.size()));
    if (fresh) names_.push_back(at->first);
    return at->second;
  }
  std::string nameOf(std::int64_t number) const {
    return number >= 0 && static_cast<std::size_t>(number) < names_.size()
               ? names_[static_cast<std::size_t>(number)]
               : "nil";
  }

 private:
  boost::unordered_flat_map<std::string, std::int64_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace holdfast::histories
