// Names of the nodes and keys of a run, as its trace prints them.
#pragma once

#include <string>
#include <vector>

namespace holdfast::traces {

/// `nodes[i]` names NodeId i and `keys[i]` names KeyId i. Names are UTF-8, not empty, and unique within their
/// list. An id beyond its list has no name and is printed as its number.
struct Names {
  std::vector<std::string> nodes;
  std::vector<std::string> keys;

  friend bool operator==(const Names&, const Names&) = default;
};

}  // namespace holdfast::traces
