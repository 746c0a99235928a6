#include "explore/renaming.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "observations/reflect.hpp"

namespace holdfast::explore {
namespace {

constexpr std::size_t kMostRenamings = 23;

/// Whether the client with these names does what the other one does.
bool becomes(const Client& client, const Client& other, const Renaming& names) {
  if (names.nodes[client.node] != other.node || client.patient != other.patient) return false;
  if (client.again != other.again) return false;
  if (client.steps.size() != other.steps.size()) return false;
  for (std::size_t i = 0; i < client.steps.size(); ++i) {
    const ClientStep& step = client.steps[i];
    if (step.act != other.steps[i].act || names.keys[step.key] != other.steps[i].key) return false;
  }
  return true;
}

/// What each client's calls and transactions are numbered from, as they are numbered in the world.
struct Firsts {
  std::array<std::uint8_t, kMaxClients> calls{};
  std::array<std::uint8_t, kMaxClients> txns{};
};

Firsts firstsOf(const Configuration& configuration) {
  Firsts firsts;
  std::uint8_t calls = 0;
  std::uint8_t txns = 0;
  for (std::size_t i = 0; i < configuration.clients.size(); ++i) {
    firsts.calls[i] = calls;
    firsts.txns[i] = txns;
    for (const ClientStep& step : configuration.clients[i].steps) {
      if (step.act == Act::lock) ++calls;
      if (step.act == Act::stage) ++txns;
    }
  }
  return firsts;
}

/// Fills in the renaming of clients, calls and transactions in every way that fits those of nodes and keys.
void addClients(const Configuration& configuration, Renaming names, std::vector<Renaming>& all) {
  const std::vector<Client>& clients = configuration.clients;
  const Firsts firsts = firstsOf(configuration);
  std::vector<std::uint8_t> order(clients.size());
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  do {
    bool fits = true;
    for (std::size_t i = 0; fits && i < clients.size(); ++i) {
      fits = becomes(clients[i], clients[order[i]], names);
      names.clients[i] = order[i];
      std::uint8_t calls = 0;
      std::uint8_t txns = 0;
      for (const ClientStep& step : clients[i].steps) {
        if (step.act == Act::lock) {
          names.calls[firsts.calls[i] + calls] = static_cast<std::uint8_t>(firsts.calls[order[i]] + calls);
          ++calls;
        } else if (step.act == Act::stage) {
          names.txns[firsts.txns[i] + txns] = static_cast<std::uint8_t>(firsts.txns[order[i]] + txns);
          ++txns;
        }
      }
    }
    for (std::size_t i = 0; fits && i < clients.size(); ++i) {
      const std::uint8_t after = clients[i].after;
      fits = clients[order[i]].after == (after == kNobody ? kNobody : order[after]);
    }
    if (fits) all.push_back(names);
  } while (std::next_permutation(order.begin(), order.end()));
}

/// A set of small numbers, each renamed.
template <std::size_t Size>
std::uint8_t renamedSet(std::uint8_t set, const std::array<std::uint8_t, Size>& names) {
  std::uint8_t result = 0;
  for (std::size_t i = 0; i < Size; ++i) {
    if ((set >> i & 1U) != 0) result = static_cast<std::uint8_t>(result | 1U << names[i]);
  }
  return result;
}

/// The key that an observation concerns, as far as the ghost looks at it.
struct KeyOf {
  static constexpr int kIgnored = -1;
  static constexpr int kEveryKey = -2;
  const Cast& cast;

  int of(obs::CallId call) const { return call.valid() ? cast.calls[call.value - 1].key : kEveryKey; }
  int of(obs::TxnId txn) const { return cast.calls[cast.txns[txn.value - 1].call].key; }
  static int of(sim::KeyId key) { return key.value < kMaxKeys ? static_cast<int>(key.value) : kEveryKey; }

  int operator()(const obs::Admitted& event) const { return of(event.key); }
  int operator()(const obs::Reentered& event) const { return of(event.call); }
  int operator()(const obs::LockRequested& event) const { return of(event.call); }
  int operator()(const obs::LockRefused& event) const { return of(event.call); }
  int operator()(const obs::Unlocked& event) const { return of(event.call); }
  int operator()(const obs::Revoked& event) const { return of(event.call); }
  int operator()(const obs::Staged& event) const { return of(event.call); }
  int operator()(const obs::WriteRefused& event) const { return of(event.txn); }
  int operator()(const obs::Submitted& event) const { return of(event.call); }
  int operator()(const obs::Settled& event) const { return of(event.txn); }
  int operator()(const obs::Granted& event) const { return of(event.key); }
  int operator()(const obs::Installed& event) const { return of(event.key); }
  int operator()(const obs::RecoveryJoined& event) const { return of(event.key); }
  int operator()(const obs::Applied&) const { return kEveryKey; }
  int operator()(const obs::BarrierStarted&) const { return kEveryKey; }
  int operator()(const obs::BarrierMeasured&) const { return kEveryKey; }
  int operator()(const obs::BarrierDone&) const { return kEveryKey; }
  int operator()(const auto&) const { return kIgnored; }
};

/// Compares described values field by field, names as renamed.
struct Correspondence {
  const Renaming& names;
  obs::MonotonicInstant now;
  obs::MonotonicInstant otherNow;

  bool same(sim::NodeId a, sim::NodeId b) const {
    if (!a.valid() || a.value >= kMaxNodes) return a == b;
    return names.nodes[a.value] == b.value;
  }
  bool same(sim::KeyId a, sim::KeyId b) const {
    if (!a.valid() || a.value >= kMaxKeys) return a == b;
    return names.keys[a.value] == b.value;
  }
  bool same(obs::CallId a, obs::CallId b) const {
    if (!a.valid() || a.value > kMaxCalls) return a == b;
    return names.calls[a.value - 1] + 1U == b.value;
  }
  bool same(obs::TxnId a, obs::TxnId b) const {
    if (!a.valid() || a.value > kMaxTxns) return a == b;
    return names.txns[a.value - 1] + 1U == b.value;
  }
  /// As precisely as the ghost reads it: what is past, or far off, may be so by any time.
  bool same(obs::MonotonicInstant a, obs::MonotonicInstant b) const {
    return ticksUntil(a, now) == ticksUntil(b, otherNow);
  }
  bool same(obs::NodeBits a, obs::NodeBits b) const {
    return renamedSet(static_cast<std::uint8_t>(a.bits), names.nodes) == b.bits;
  }
  /// Every transaction writes a value of its own: its number.
  bool same(const obs::FieldValues& a, const obs::FieldValues& b) const {
    return std::ranges::equal(a, b, [&](std::int64_t one, std::int64_t other) {
      const bool own = one > 0 && one <= static_cast<std::int64_t>(kMaxTxns);
      return own ? names.txns[static_cast<std::size_t>(one - 1)] + 1 == other : one == other;
    });
  }
  bool ofKind(const obs::Observation& a, const obs::Observation& b) const {
    return a.index() == b.index() &&
           std::visit([&]<class T>(const T& event) { return same(event, std::get<T>(b)); }, a);
  }
  template <class T>
  bool same(const T& a, const T& b) const {
    if constexpr (obs::Described<T>) {
      bool equal = true;
      boost::mp11::mp_for_each<obs::FieldsOf<T>>([&](auto field) {
        // A nonce is unique and means nothing; its node's id makes it so.
        const bool looked = std::string_view(field.name) != "nonce";
        if (looked && !same(a.*field.pointer, b.*field.pointer)) equal = false;
      });
      return equal;
    } else {
      return a == b;
    }
  }
};

}  // namespace

std::vector<Renaming> renamingsOf(const Configuration& configuration) {
  std::vector<Renaming> all;
  // Ballots are ordered by their proposers' names (EP-1), and a home map has one console.
  if (configuration.membership != protocol::MembershipKind::fixed) return all;
  Renaming names;
  std::iota(names.nodes.begin(), names.nodes.end(), std::uint8_t{0});
  std::iota(names.calls.begin(), names.calls.end(), std::uint8_t{0});
  std::iota(names.txns.begin(), names.txns.end(), std::uint8_t{0});
  do {
    if (names.nodes[configuration.home] != configuration.home) continue;
    const auto crashable = static_cast<std::uint8_t>(configuration.mayCrash & ((1U << kMaxNodes) - 1U));
    if (renamedSet(crashable, names.nodes) != crashable) continue;
    std::iota(names.keys.begin(), names.keys.end(), std::uint8_t{0});
    std::iota(names.clients.begin(), names.clients.end(), std::uint8_t{0});
    do {
      addClients(configuration, names, all);
    } while (std::next_permutation(names.keys.begin(), names.keys.begin() + configuration.keys));
  } while (std::next_permutation(names.nodes.begin(), names.nodes.begin() + configuration.nodes));
  // The identity comes first, because permutations come in lexicographic order.
  all.erase(all.begin());
  if (all.size() > kMostRenamings) all.clear();
  return all;
}

Ghost renamed(const Ghost& ghost, const Renaming& names, const Cast& cast) {
  // What is added to the ghost has names to be changed here.
  static_assert(sizeof(Ghost) == 3 * kMaxCalls + 2 * kMaxTxns + 6 * kMaxNodes + 6 * kMaxKeys + 4);
  Ghost result = ghost;
  for (std::size_t i = 0; i < cast.callCount; ++i) result.calls[names.calls[i]] = ghost.calls[i];
  for (std::size_t i = 0; i < cast.txnCount; ++i) result.txns[names.txns[i]] = ghost.txns[i];
  for (std::size_t i = 0; i < cast.nodes; ++i) {
    Ghost::Recovery& recovery = result.recoveries[names.nodes[i]];
    recovery.joined = renamedSet(ghost.recoveries[i].joined, names.keys);
    recovery.fenced = renamedSet(ghost.recoveries[i].fenced, names.keys);
    recovery.covered = renamedSet(ghost.recoveries[i].covered, names.txns);
    result.visible[names.nodes[i]] = renamedSet(ghost.visible[i], names.txns);
    result.newest[names.nodes[i]] = ghost.newest[i];
    result.served[names.nodes[i]] = ghost.served[i];
  }
  for (std::size_t i = 0; i < kMaxKeys; ++i) result.tokens[names.keys[i]] = ghost.tokens[i];
  result.acknowledged = renamedSet(ghost.acknowledged, names.nodes);
  result.excused = renamedSet(ghost.excused, names.txns);
  result.overtaken = renamedSet(ghost.overtaken, names.txns);
  return result;
}

bool corresponds(const Renaming& names, const Cast& cast, const Said& said, const Said& other) {
  const KeyOf keyOf{cast};
  const Correspondence correspondence{names, said.now, other.now};
  // What the ghost looks at, apart by key; all of it in one row if some of it concerns no key or every key.
  const auto rowsOf = [&](const Said& one) {
    std::array<std::vector<const obs::Observation*>, kMaxKeys> rows;
    std::vector<const obs::Observation*> all;
    bool apart = true;
    for (const obs::Observation& what : one.observations) {
      const int key = std::visit(keyOf, what);
      if (key == KeyOf::kIgnored) continue;
      all.push_back(&what);
      if (key == KeyOf::kEveryKey) {
        apart = false;
      } else {
        rows[static_cast<std::size_t>(key)].push_back(&what);
      }
    }
    if (!apart) rows = {std::move(all)};
    return std::pair{rows, apart};
  };
  const auto [rows, apart] = rowsOf(said);
  const auto [otherRows, otherApart] = rowsOf(other);
  if (apart != otherApart) return false;
  for (std::size_t i = 0; i < kMaxKeys; ++i) {
    const bool same = std::ranges::equal(
        rows[i], otherRows[apart ? names.keys[i] : i],
        [&](const obs::Observation* a, const obs::Observation* b) { return correspondence.ofKind(*a, *b); });
    if (!same) return false;
  }
  return true;
}

}  // namespace holdfast::explore
