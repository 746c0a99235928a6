#include "cli/catalogue.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "cli/arguments.hpp"
#include "cli/verb_options.hpp"

namespace holdfast::cli {

void addSearchOptions(CLI::App& app, SearchArguments& arguments, const QuickBounds& quick) {
  app.add_flag(
      "--quick", arguments.quick,
      fmt::format("explore {} states a configuration instead of {}, and sweep {} seeds instead of {}",
                  quick.states, ablation::Bounds{}.states, quick.seeds, ablation::Bounds{}.seeds));
  app.add_option("--states", arguments.states, "explore so many states of each configuration")
      ->type_name("COUNT");
  app.add_option("--seeds", arguments.seeds, "sweep so many seeds")->type_name("N");
  addJobsOption(app, arguments.jobs);
}

std::expected<SearchRequest, Failure> readSearch(const SearchArguments& arguments, const QuickBounds& quick) {
  SearchRequest request;
  if (arguments.quick && !arguments.states.empty() && !arguments.seeds.empty()) {
    return std::unexpected(
        Failure{"--quick bounds states and seeds, and both were given; expected it without --states or "
                "without --seeds"});
  }
  const auto jobs = readJobs(arguments.jobs);
  if (!jobs) return std::unexpected(jobs.error());
  request.bounds.jobs = *jobs;
  if (arguments.quick) {
    request.bounds.states = quick.states;
    request.bounds.seeds = quick.seeds;
    request.options += " --quick";
  }
  const auto count = [&](std::string_view name, const std::string& text,
                         std::uint64_t& into) -> std::expected<void, Failure> {
    if (text.empty()) return {};
    const auto value = parseCount(name, text, 1, 100'000'000);
    if (!value) return std::unexpected(badValue(fmt::format("--{}", name), value.error()));
    into = *value;
    request.options += fmt::format(" --{} {}", name, *value);
    return {};
  };
  if (auto read = count("states", arguments.states, request.bounds.states); !read) {
    return std::unexpected(read.error());
  }
  if (auto read = count("seeds", arguments.seeds, request.bounds.seeds); !read) {
    return std::unexpected(read.error());
  }
  return request;
}

std::string Doing::line(std::size_t done) const {
  const std::lock_guard lock(mutex_);
  return fmt::format("{}: {} of {} done; {}", verb_, done, labels_.size(),
                     done < labels_.size() ? labels_[done] : std::string());
}

}  // namespace holdfast::cli
