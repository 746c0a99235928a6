#include "checkers/kept_sets.hpp"

namespace holdfast::checkers {

void KeptSets::store(obs::KeyId key, obs::NodeId home, std::uint32_t life) {
  Home& facts = homes_.at(home.value);
  if (facts.life != life) {
    loseAll(home);
    facts.life = life;
  }
  Set& set = sets_.at(key.value, home);
  if (set.state != State::kept) {
    if (facts.count >= cap_) evictOldest(home);
    ++facts.count;
  }
  set = {State::kept, ++clock_};
}

void KeptSets::lose(obs::KeyId key, obs::NodeId home) {
  Set* const set = sets_.find(key.value, home);
  if (set == nullptr) return;
  if (set->state == State::kept) --homes_.at(home.value).count;
  set->state = State::none;
}

void KeptSets::loseAll(obs::NodeId home) {
  for (std::size_t key = 0; key < sets_.rows(); ++key) lose({static_cast<std::uint32_t>(key)}, home);
}

bool KeptSets::evicted(obs::KeyId key, obs::NodeId home) const {
  const Set* const set = sets_.find(key.value, home);
  return set != nullptr && set->state == State::evicted;
}

void KeptSets::evictOldest(obs::NodeId home) {
  Set* oldest = nullptr;
  for (std::size_t key = 0; key < sets_.rows(); ++key) {
    Set* const set = sets_.find(key, home);
    if (set == nullptr || set->state != State::kept) continue;
    if (oldest == nullptr || set->storedAt < oldest->storedAt) oldest = set;
  }
  if (oldest == nullptr) return;
  oldest->state = State::evicted;
  --homes_.at(home.value).count;
}

}  // namespace holdfast::checkers
