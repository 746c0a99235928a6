#include "checkers/linearizability/transactions.hpp"

#include <algorithm>
#include <array>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <deque>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "checkers/linearizability/dependencies.hpp"

namespace holdfast::linearizability {
namespace {

using Graph = boost::compressed_sparse_row_graph<boost::directedS>;

/// Links by the transaction that they lead from.
class Links {
 public:
  Links(std::size_t transactions, std::vector<Link> links) : links_(std::move(links)) {
    std::ranges::sort(links_, {}, [](const Link& link) {
      return std::tuple(link.from, link.to, link.dependency, link.key);
    });
    first_.assign(transactions + 1, 0);
    for (const Link& link : links_) ++first_[link.from + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  }
  std::span<const Link> from(std::uint32_t transaction) const {
    return std::span(links_).subspan(first_[transaction], first_[transaction + 1] - first_[transaction]);
  }
  std::span<const Link> all() const { return links_; }
  std::size_t transactions() const { return first_.size() - 1; }

 private:
  std::vector<Link> links_;
  std::vector<std::size_t> first_;
};

using Allowed = std::uint8_t;  // a bit for each Dependency

constexpr Allowed bit(Dependency dependency) {
  return static_cast<Allowed>(1U << static_cast<unsigned>(dependency));
}
constexpr Allowed kWrites = bit(Dependency::ww);
constexpr Allowed kReads = kWrites | bit(Dependency::wr);
constexpr Allowed kAnti = kReads | bit(Dependency::rw);
constexpr Allowed kInTime = bit(Dependency::realTime);

bool allows(Allowed allowed, const Link& link) { return (allowed & bit(link.dependency)) != 0; }

/// The component of each transaction in the graph of the allowed links; only within one can there be a cycle.
std::vector<std::uint32_t> componentsOf(const Links& links, Allowed allowed) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (const Link& link : links.all()) {
    if (allows(allowed, link)) edges.emplace_back(link.from, link.to);
  }
  const Graph graph(boost::edges_are_sorted, edges.begin(), edges.end(), links.transactions());
  std::vector<std::uint32_t> components(links.transactions());
  boost::strong_components(
      graph, boost::make_iterator_property_map(components.begin(), boost::get(boost::vertex_index, graph)));
  return components;
}

/// Looks for shortest ways within a component, with a bound on all its work.
class Ways {
 public:
  explicit Ways(const Links& links)
      : links_(links), seenAt_(links.transactions(), 0), came_(links.transactions()) {}

  /// A shortest way of allowed links from `from` to `to` within one of `components`.
  std::optional<std::vector<Link>> between(std::uint32_t from, std::uint32_t to, Allowed allowed,
                                           const std::vector<std::uint32_t>& components) {
    ++round_;
    std::deque<std::uint32_t> queue{from};
    seenAt_[from] = round_;
    while (!queue.empty() && work_ < kMostWork) {
      const std::uint32_t at = queue.front();
      queue.pop_front();
      for (const Link& link : links_.from(at)) {
        ++work_;
        if (!allows(allowed, link) || components[link.to] != components[from]) continue;
        if (link.to == to) return wayTo(link, from);
        if (seenAt_[link.to] == round_) continue;
        seenAt_[link.to] = round_;
        came_[link.to] = link;
        queue.push_back(link.to);
      }
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint64_t kMostWork = 200'000'000;

  std::vector<Link> wayTo(const Link& last, std::uint32_t from) const {
    std::vector<Link> way{last};
    while (way.back().from != from) way.push_back(came_[way.back().from]);
    std::ranges::reverse(way);
    return way;
  }

  const Links& links_;
  std::vector<std::uint32_t> seenAt_;
  std::vector<Link> came_;
  std::uint32_t round_ = 0;
  std::uint64_t work_ = 0;
};

std::size_t countOf(const std::vector<Link>& cycle, Dependency dependency) {
  return static_cast<std::size_t>(std::ranges::count(cycle, dependency, &Link::dependency));
}

/// One cycle of the kind: it begins with a link of `first`, goes on by `rest`, and has what `is` asks for.
struct Kind {
  Anomaly anomaly;
  Dependency first;
  Allowed rest;
};

constexpr std::array kKinds = {
    Kind{Anomaly::g0, Dependency::ww, kWrites},
    Kind{Anomaly::g1c, Dependency::wr, kReads},
    Kind{Anomaly::gSingle, Dependency::rw, kReads},
    Kind{Anomaly::g2, Dependency::rw, kAnti},
    Kind{Anomaly::staleRead, Dependency::rw, kReads | kInTime},
    Kind{Anomaly::realTime, Dependency::realTime, kAnti | kInTime},
};

/// Whether a cycle is of this kind and not of one before it.
bool isOf(const Kind& kind, const std::vector<Link>& cycle) {
  const bool inTime = countOf(cycle, Dependency::realTime) > 0;
  if (kind.anomaly == Anomaly::g2) return countOf(cycle, Dependency::rw) > 1;
  if (kind.anomaly == Anomaly::staleRead || kind.anomaly == Anomaly::realTime) return inTime;
  return !inTime;
}

bool hasCycle(const AnomalyFound& found) { return !found.cycle.empty(); }

void findCycles(const Links& links, std::vector<AnomalyFound>& found) {
  Ways ways(links);
  for (const Kind& kind : kKinds) {
    // What is not serializable is not strictly so either, and a stale read tells more than another cycle.
    const bool inTime = kind.anomaly == Anomaly::staleRead || kind.anomaly == Anomaly::realTime;
    if (inTime && std::ranges::any_of(found, hasCycle)) continue;
    const auto components = componentsOf(links, static_cast<Allowed>(kind.rest | bit(kind.first)));
    std::optional<std::vector<Link>> best;
    for (const Link& link : links.all()) {
      if (link.dependency != kind.first || components[link.from] != components[link.to]) continue;
      auto rest = ways.between(link.to, link.from, kind.rest, components);
      if (!rest) continue;
      rest->insert(rest->begin(), link);
      if (!isOf(kind, *rest) || (best && best->size() <= rest->size())) continue;
      best = std::move(rest);
      if (best->size() == 2) break;
    }
    if (!best) continue;
    AnomalyFound one;
    one.anomaly = kind.anomaly;
    for (const Link& link : *best) one.transactions.push_back(link.from);
    one.cycle = std::move(*best);
    found.push_back(std::move(one));
  }
}

}  // namespace

std::string_view nameOf(Anomaly anomaly) {
  switch (anomaly) {
    case Anomaly::abortedRead:
      return "G1a (aborted read)";
    case Anomaly::intermediateRead:
      return "G1b (intermediate read)";
    case Anomaly::incompatibleOrder:
      return "incompatible order";
    case Anomaly::internal:
      return "internal inconsistency";
    case Anomaly::lostUpdate:
      return "lost update";
    case Anomaly::g0:
      return "G0 (write cycle)";
    case Anomaly::g1c:
      return "G1c (circular information flow)";
    case Anomaly::gSingle:
      return "G-single (read skew)";
    case Anomaly::g2:
      return "G2 (write skew)";
    case Anomaly::staleRead:
      return "stale read";
    case Anomaly::realTime:
      break;
  }
  return "cycle with real time";
}

std::string_view nameOf(Dependency dependency) {
  switch (dependency) {
    case Dependency::ww:
      return "ww";
    case Dependency::wr:
      return "wr";
    case Dependency::rw:
      return "rw";
    case Dependency::realTime:
      break;
  }
  return "real time";
}

std::vector<AnomalyFound> findAnomalies(const std::vector<Transaction>& history, Workload workload) {
  Dependencies dependencies = dependenciesOf(history, workload);
  std::vector<AnomalyFound> found = std::move(dependencies.direct);
  findCycles(Links(history.size(), std::move(dependencies.links)), found);
  std::ranges::stable_sort(found, {}, &AnomalyFound::anomaly);
  return found;
}

}  // namespace holdfast::linearizability
