// The kernel alone: timer events, message fates, and what a coroutine adds to a timer event.

#include <benchmark/benchmark.h>

#include "measure/allocations.hpp"
#include "sim/asio/awaitable.hpp"
#include "sim/asio/virtual_timer.hpp"
#include "sim/event_queue.hpp"
#include "sim/network.hpp"
#include "sim/random.hpp"

namespace holdfast::bench {
namespace {

using measure::allocationsSoFar;
using sim::Duration;
using sim::NodeId;
using sim::TrueInstant;

/// Pops the next timer and sets another one, with `range` of them pending: the bar is 12 M a second at 1,000.
void timerEvents(benchmark::State& state) {
  const auto pending = static_cast<std::size_t>(state.range(0));
  const sim::KeyedRandom random{7};
  sim::EventQueue<std::uint32_t> queue(7);
  queue.reserve(pending);
  std::uint64_t index = 0;
  // Delays are drawn beforehand: the benchmark is of the queue.
  std::vector<Duration> delays(4'096);
  for (Duration& delay : delays) delay = random.between({1}, sim::seconds(1), 1, 1, index++);
  for (std::size_t i = 0; i < pending; ++i) queue.push(TrueInstant{} + delays[i % delays.size()], 0);
  const std::uint64_t before = allocationsSoFar();
  for (auto _ : state) {
    const auto [at, payload] = queue.pop();
    queue.push(at + delays[index++ % delays.size()], payload + 1);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["allocations/event"] =
      static_cast<double>(allocationsSoFar() - before) / static_cast<double>(state.iterations());
}
BENCHMARK(timerEvents)->Arg(5)->Arg(50)->Arg(1'000)->Arg(100'000);

/// A message between five nodes: its fate drawn, its delivery queued and taken.
void messageDeliveries(benchmark::State& state) {
  sim::LinkOptions link;
  link.latency = {sim::microseconds(200), sim::milliseconds(2), sim::milliseconds(25), 20'000};
  sim::Network network(5, 11, link);
  sim::EventQueue<std::uint32_t> queue(11);
  TrueInstant now;
  std::uint16_t turn = 0;
  std::uint64_t delivered = 0;
  for (auto _ : state) {
    const NodeId from{static_cast<std::uint16_t>(turn % 5)};
    const NodeId to{static_cast<std::uint16_t>((turn + 1 + turn / 5 % 4) % 5)};
    ++turn;
    const auto fate = network.send(now, from, to);
    for (std::uint8_t i = 0; i < fate.copies; ++i) queue.push(fate.at[i], turn);
    if (!queue.empty()) {
      now = queue.pop().time;
      ++delivered;
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(delivered));
}
BENCHMARK(messageDeliveries);

/// A coroutine that waits on a virtual timer again and again; the bar is 150 ns over a bare event.
void coroutineTimerEvents(benchmark::State& state) {
  const auto clients = static_cast<std::size_t>(state.range(0));
  sim::VirtualContext context;
  bool stop = false;
  std::uint64_t events = 0;
  const auto client = [&](Duration period) -> sim::Awaitable<> {
    sim::VirtualTimer timer(context);
    while (!stop) {
      timer.expiresAfter(period);
      co_await timer.wait();
      ++events;
    }
  };
  for (std::size_t i = 0; i < clients; ++i) {
    sim::spawn(context, client(sim::microseconds(static_cast<std::int64_t>(100 + i))));
  }
  context.runReady();
  const std::uint64_t before = allocationsSoFar();
  for (auto _ : state) {
    context.advanceTo(context.nextTime());
    context.runReady();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(events));
  state.counters["allocations/event"] =
      static_cast<double>(allocationsSoFar() - before) / static_cast<double>(events);
  stop = true;
  while (context.nextTime() != TrueInstant::never()) {
    context.advanceTo(context.nextTime());
    context.runReady();
  }
}
BENCHMARK(coroutineTimerEvents)->Arg(5)->Arg(1'000);

}  // namespace
}  // namespace holdfast::bench
