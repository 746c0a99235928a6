// What stories under Ricart-Agrawala share.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "scenarios/story.hpp"

namespace holdfast::scenarios::parts {

/// Participants of these names and key k, under Ricart-Agrawala.
inline StoryOptions ricartAgrawala(std::vector<std::string> names) {
  StoryOptions options;
  options.nodes = std::move(names);
  options.protocol.algorithm = protocol::LockAlgorithm::ricartAgrawala;
  return options;
}

/// From the commit of an entry being asked for to its being visible at a peer.
inline Duration grantRound(const Story& story) {
  return story.options().commitDelay + story.options().latency + story.options().applyDelay;
}

}  // namespace holdfast::scenarios::parts
