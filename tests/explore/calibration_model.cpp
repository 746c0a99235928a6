#include "tests/explore/calibration_model.hpp"

#include <algorithm>

namespace holdfast::explore::calibration {

void CalibrationModel::choices(const State& s, std::vector<Choice>& out) const {
  if (s.owned && s.remaining == 0) out.push_back({homeExpires, 0});
  if (!s.owned && !s.homeLocked) out.push_back({homeLocks, 0});
  if (s.homeLocked) out.push_back({homeUnlocks, 0});
  bool mayTick = true;
  for (const Delegate& d : s.delegates) mayTick = mayTick && d.behind < kSkew;
  if (mayTick) out.push_back({homeTicks, 0});
  for (std::uint8_t i = 0; i < 3; ++i) {
    const Delegate& d = s.delegates[i];
    const auto offer = [&](bool enabled, Rule rule) {
      if (enabled) out.push_back({rule, i});
    };
    offer(d.behind > 0, delegateTicks);
    offer(d.mode == Mode::idle, requests);
    offer(d.mode == Mode::waiting && !d.request, asksAgain);
    offer(d.grant > 0, receivesGrant);
    offer(d.mode == Mode::holding, locks);
    offer(d.mode == Mode::locked, unlocks);
    offer(d.mode == Mode::holding, releases);
    offer(d.recall > 0 && d.mode != Mode::locked, receivesRecall);
    offer(d.request && !s.owned && !s.homeLocked && s.number < parameters_.grants, homeGrants);
    offer(d.request && s.owned && d.owner, homeIgnores);
    offer(d.request && s.owned && !d.owner && !s.recalled, homeRecalls);
    offer(d.release > 0, homeReceivesRelease);
    offer(d.request, losesRequest);
    offer(d.release > 0, losesRelease);
    offer(d.grant > 0, losesGrant);
    offer(d.recall > 0, losesRecall);
  }
}

/// A delegate's rules read and write what is its own: its mode, its clock's lag and its slots. The home's
/// rules read and write the home's part and the slots of one delegate, or of the owner; its tick those of
/// all.
bool CalibrationModel::commutes(const State& before, const Choice& first, const State&,
                                const Choice& then) const {
  // A state that is sorted anew does not tell which delegate a choice of the state before was about.
  if (parameters_.symmetry) return false;
  if (!ofHome(first.rule) && !ofHome(then.rule)) return first.delegate != then.delegate;
  if (ofHome(first.rule) == ofHome(then.rule)) return false;
  const Choice& home = ofHome(first.rule) ? first : then;
  const Choice& own = ofHome(first.rule) ? then : first;
  switch (home.rule) {
    case homeTicks:
      return false;
    case homeExpires:
    case homeLocks:
    case homeUnlocks:
      return true;
    case homeRecalls:
      return own.delegate != home.delegate && !before.delegates[own.delegate].owner;
    default:
      return own.delegate != home.delegate;
  }
}

void CalibrationModel::tickHome(State& s) {
  if (s.remaining > 0) --s.remaining;
  for (Delegate& d : s.delegates) {
    ++d.behind;
    if (d.grant > 1) --d.grant;
  }
}

void CalibrationModel::tickDelegate(Delegate& d) {
  --d.behind;
  if (d.mode != Mode::holding && d.mode != Mode::locked) return;
  if (d.remaining == 1) {
    toIdle(d);
  } else {
    --d.remaining;
  }
}

void CalibrationModel::receiveGrant(Delegate& d) const {
  if (d.mode == Mode::waiting && d.grant + d.behind > 1 + kSkew) {
    d.mode = Mode::holding;
    d.remaining = static_cast<std::uint8_t>(d.grant + d.behind - 1 - kSkew);
    d.number = d.grantNumber;
  }
  d.grant = 0;
  d.grantNumber = 0;
}

void CalibrationModel::receiveRecall(Delegate& d) const {
  if (d.mode == Mode::holding && d.number == d.recall) {
    d.release = d.recall;
    toIdle(d);
  } else if (parameters_.bug == Bug::waiterReleases && d.mode == Mode::waiting) {
    d.release = d.recall;
  }
  d.recall = 0;
}

void CalibrationModel::grant(State& s, Delegate& d) const {
  s.owned = true;
  d.owner = true;
  ++s.number;
  s.recalled = false;
  s.remaining = parameters_.bug == Bug::noSkewMargin ? kLease : kLease + kSkew;
  d.request = false;
  d.grant = kLease + kSkew + 1;
  d.grantNumber = s.number;
}

void CalibrationModel::apply(State& s, const Choice& choice) const {
  Delegate& d = s.delegates[choice.delegate];
  switch (choice.rule) {
    case homeExpires:
      free(s);
      break;
    case homeLocks:
      s.homeLocked = true;
      break;
    case homeUnlocks:
      s.homeLocked = false;
      break;
    case homeTicks:
      tickHome(s);
      break;
    case delegateTicks:
      tickDelegate(d);
      break;
    case requests:
      d.mode = Mode::waiting;
      [[fallthrough]];
    case asksAgain:
      d.request = true;
      break;
    case receivesGrant:
      receiveGrant(d);
      break;
    case locks:
      d.mode = Mode::locked;
      break;
    case unlocks:
      d.mode = Mode::holding;
      break;
    case releases:
      d.release = d.number;
      toIdle(d);
      break;
    case receivesRecall:
      receiveRecall(d);
      break;
    case homeGrants:
      grant(s, d);
      break;
    case homeRecalls:
      s.recalled = true;
      for (Delegate& other : s.delegates) {
        if (other.owner) other.recall = s.number;
      }
      break;
    case homeReceivesRelease:
      if (s.owned && d.owner && (parameters_.bug == Bug::releaseUnmatched || d.release == s.number)) free(s);
      d.release = 0;
      break;
    case losesRelease:
      d.release = 0;
      break;
    case losesGrant:
      d.grant = 0;
      d.grantNumber = 0;
      break;
    case losesRecall:
      d.recall = 0;
      break;
    default:
      d.request = false;
      break;  // homeIgnores, losesRequest
  }
  if (parameters_.symmetry) normalise(s);
}

/// The representative of a state under all renamings of the delegates.
void CalibrationModel::normalise(State& s) {
  std::sort(s.delegates.begin(), s.delegates.end(),
            [](const Delegate& a, const Delegate& b) { return std::memcmp(&a, &b, sizeof(Delegate)) < 0; });
}

std::uint64_t CalibrationModel::fingerprint(const State& s) const {
  std::array<std::uint64_t, 4> words;
  std::memcpy(words.data(), &s, sizeof s);
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    const sim::Uint128 product = static_cast<sim::Uint128>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  const std::uint64_t front = fold(words[0] ^ 0x9e3779b97f4a7c15ULL, words[1] ^ 0xe7037ed1a0b428dbULL);
  const std::uint64_t back = fold(words[2] ^ 0x8ebc6af09c88c6e3ULL, words[3] ^ 0x589965cc75374cc3ULL);
  return fold(front ^ 0xa0761d6478bd642fULL, back ^ 0xd6e8feb86659fd93ULL);
}

Judgement CalibrationModel::judge(const State& s) const {
  int inside = s.homeLocked ? 1 : 0;
  for (const Delegate& d : s.delegates) inside += d.mode >= Mode::holding ? 1 : 0;
  return {inside > 1 ? 1U : 0U, false};
}

Result search(const Parameters& parameters, Limits limits) {
  const CalibrationModel model(parameters);
  BreadthFirst<CalibrationModel> search(model, std::move(limits));
  return search.run();
}

}  // namespace holdfast::explore::calibration
