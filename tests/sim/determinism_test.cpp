// One number for everything that the kernel decides, the same for every compiler and every build type.
//
// A change of it changes every recorded run. That may be right, but never by accident.
#include <gtest/gtest.h>

#include "sim/sim.hpp"

namespace holdfast::sim {
namespace {

/// Drives all parts from one seed and folds each decision into a digest.
std::uint64_t digestOf(std::uint64_t seed) {
  std::uint64_t digest = seed;
  const auto fold = [&](std::int64_t value) { digest = mix(digest, static_cast<std::uint64_t>(value)); };

  LinkOptions options;
  options.lossPpm = 100'000;
  options.duplicatePpm = 100'000;
  options.reorderPpm = 100'000;
  Network network(4, seed, options);
  EventQueue<std::uint32_t> queue(seed);
  Disk disk(1, seed, 2);
  MonotonicClock clock(MonotonicInstant{0}, 12'345'678);
  WallClock wall(hours(5), -98'765);

  for (std::uint16_t i = 0; i < 8; ++i) queue.push(TrueInstant{0}, i);
  for (std::uint32_t step = 0; step < 5'000; ++step) {
    const auto [now, payload] = queue.pop();
    fold(now.ns);
    fold(payload);
    fold(clock.at(now).ns);
    fold(wall.at(now).ns);
    if (step % 500 == 499) {
      clock.setRate(now, static_cast<std::int64_t>(step) * 10'007 - 20'000'000);
      wall.jump(now, milliseconds(step % 3 == 0 ? 40 : -40));
      for (const CrashLoss& loss : disk.crash())
        fold(static_cast<std::int64_t>(loss.survived * 2 + loss.torn));
    }
    disk.append(FileId{0}, step).value();
    const NodeId from{static_cast<std::uint16_t>(payload % 4)};
    const NodeId to{static_cast<std::uint16_t>(step % 4)};
    const Fate fate = network.send(now, from, to);
    for (int copy = 0; copy < fate.copies; ++copy) queue.push(fate.at[copy], payload + 1);
    fold(network.stream(now, from, to)->ns);
    // Coarse instants, so that the tie-break has something to decide.
    while (queue.size() < 8) queue.push(TrueInstant{(now.ns / 100'000 + 1) * 100'000}, step);
  }
  return digest;
}

TEST(Determinism, OneSeedOneDigestEverywhere) {
  EXPECT_EQ(digestOf(1), 16337947113914535721ULL);
  EXPECT_EQ(digestOf(2), 663250409272477006ULL);
}

}  // namespace
}  // namespace holdfast::sim
