#include "explain/wait_for.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/strong_components.hpp>

#include "traces/text.hpp"

namespace holdfast::explain {
namespace {

std::vector<Wait> waitsAt(std::span<const Span> spans, EventIndex event, obs::TrueInstant at) {
  std::vector<const Span*> active;
  for (const Span& span : spans) {
    if (span.activeAt(event, at)) active.push_back(&span);
  }
  std::vector<Wait> waits;
  for (const Span* waiting : active) {
    if (waiting->kind != SpanKind::waiting) continue;
    for (const Span* inside : active) {
      if (inside->kind != SpanKind::section || inside->key != waiting->key) continue;
      if (inside->node == waiting->node) continue;
      waits.push_back({waiting->node, waiting->call, waiting->key, inside->node, inside->call});
    }
  }
  return waits;
}

}  // namespace

std::vector<WaitCycle> waitCycles(std::span<const Span> spans, EventIndex event, obs::TrueInstant at) {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;
  const std::vector<Wait> waits = waitsAt(spans, event, at);
  std::size_t nodes = 0;
  for (const Wait& wait : waits) {
    nodes = std::max<std::size_t>(
        {nodes, wait.waiter.value + std::size_t{1}, wait.holder.value + std::size_t{1}});
  }
  Graph graph(nodes);
  for (const Wait& wait : waits) boost::add_edge(wait.waiter.value, wait.holder.value, graph);
  std::vector<std::size_t> knot(nodes);
  boost::strong_components(graph,
                           boost::make_iterator_property_map(knot.begin(), get(boost::vertex_index, graph)));

  std::vector<WaitCycle> cycles;
  std::vector<bool> told(nodes, false);
  for (const Wait& start : waits) {
    const std::size_t component = knot[start.waiter.value];
    if (told[component] || knot[start.holder.value] != component) continue;
    told[component] = true;
    // Within a knot every node waits for another of it, so that following waits comes back to a node met
    // before.
    WaitCycle path{start};
    while (true) {
      const obs::NodeId here = path.back().holder;
      const auto met = std::ranges::find(path, here, &Wait::waiter);
      if (met != path.end()) {
        path.erase(path.begin(), met);
        break;
      }
      path.push_back(*std::ranges::find_if(waits, [&](const Wait& wait) {
        return wait.waiter == here && knot[wait.holder.value] == component;
      }));
    }
    cycles.push_back(std::move(path));
  }
  return cycles;
}

std::string describe(const WaitCycle& cycle, const traces::Names& names) {
  std::string text;
  for (const Wait& wait : cycle) {
    text += fmt::format("{}{} waits for {} (call {}), which {} holds (call {})", text.empty() ? "" : "; ",
                        traces::describe(wait.waiter, names), traces::describe(wait.key, names),
                        wait.call.value, traces::describe(wait.holder, names), wait.holding.value);
  }
  return text;
}

}  // namespace holdfast::explain
