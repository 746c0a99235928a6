// What `holdfast ablate` and `holdfast bugs` share: a catalogue, for each entry of which searches are run.
//
// Contract: an entry is searched on one thread where there are as many entries as threads, and what was found
// is handed over in the catalogue's order as soon as it is that entry's turn; the number of threads has no
// say in it. An interrupt ends the searches under way: their entries are left out, those that were done are
// not.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "ablation/ablation.hpp"
#include "cli/interrupt.hpp"
#include "cli/verb.hpp"
#include "scenarios/in_order.hpp"

namespace holdfast::cli {

/// The options that shape the searches, as typed.
struct SearchArguments {
  bool quick = false;
  std::string states;
  std::string seeds;
  std::string jobs;
};

/// What --quick stands for.
struct QuickBounds {
  std::uint64_t states = 0;
  std::uint64_t seeds = 0;
};

/// What they mean.
struct SearchRequest {
  ablation::Bounds bounds;  ///< `bounds.jobs` is how many threads there are for all searches.
  std::string options;      ///< Those that have a say in the result, to be appended to the command.
};

/// Adds --quick, --states, --seeds and --jobs. `arguments` must outlive `app`.
void addSearchOptions(CLI::App& app, SearchArguments& arguments, const QuickBounds& quick);

std::expected<SearchRequest, Failure> readSearch(const SearchArguments& arguments, const QuickBounds& quick);

/// What is being done for each entry, for the line that shows progress.
class Doing {
 public:
  Doing(std::string_view verb, std::size_t entries) : verb_(verb), labels_(entries) {}

  void note(std::size_t entry, std::string label) {
    const std::lock_guard lock(mutex_);
    labels_[entry] = std::move(label);
  }

  /// Of the first entry that is not done.
  std::string line(std::size_t done) const;

 private:
  std::string_view verb_;
  mutable std::mutex mutex_;
  std::vector<std::string> labels_;
};

/// Calls `search(entry, bounds, show)` for each entry of a catalogue on the threads that `bounds.jobs`
/// allows, where `show(label)` says what it is doing, and hands what it gives to `take(found)` on the calling
/// thread, in the order of the entries. The first failure of `take` ends everything. An InterruptGuard must
/// live.
template <class Search, class Take>
std::expected<void, Failure> searchEach(Session& session, std::string_view verb, std::size_t entries,
                                        ablation::Bounds bounds, const Search& search, const Take& take) {
  using Show = void (*)(std::string);
  using Found = std::invoke_result_t<Search, std::size_t, const ablation::Bounds&, Show>;
  std::atomic<bool> abandoned = false;
  bounds.endsEarly = [&] { return abandoned || InterruptGuard::requested(); };
  const unsigned jobs = bounds.jobs;
  bounds.jobs = std::max(1U, jobs / static_cast<unsigned>(std::clamp<std::size_t>(entries, 1, jobs)));
  Doing doing(verb, entries);
  scenarios::InOrder<std::optional<Found>> searches(
      entries, jobs, [&](std::size_t, std::uint64_t entry) -> std::optional<Found> {
        Found found = search(entry, bounds, [&](std::string label) { doing.note(entry, std::move(label)); });
        // A search that was cut short has not found what it would have.
        if (bounds.endsEarly()) return std::nullopt;
        return found;
      });
  while (!searches.exhausted()) {
    if (InterruptGuard::requested()) searches.stop();
    session.out.progress(doing.line(searches.taken()));
    auto next = searches.take(std::chrono::steady_clock::now() + std::chrono::milliseconds(100));
    if (!next || !*next) continue;
    if (auto taken = take(**std::move(next)); !taken) {
      abandoned = true;
      return taken;
    }
    (void)session.out.flush();  // What goes wrong here stays, and is told at the end.
  }
  return {};
}

}  // namespace holdfast::cli
