// The one place through which every observation goes; for the cluster's own source files.
#pragma once

#include "scenarios/cluster.hpp"

namespace holdfast::scenarios {

template <class T>
void Cluster::observe(NodeId node, const T& what) {
  const std::uint64_t chain = chain_.add(obs::Stamp{now_, node}, what);
  coverage_.add(what, node);
  const obs::Stamped stamped{now_, node, what};
  checkers_.on(stamped);
  if (sink_ != nullptr) sink_->observe(stamped, chain);
}

}  // namespace holdfast::scenarios
