// holdfast check: whether a history that somebody else recorded is linearizable, or which anomalies its
// transactions have.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "cli/arguments.hpp"
#include "cli/figures.hpp"
#include "cli/history_html.hpp"
#include "cli/json_source.hpp"
#include "cli/suggest.hpp"
#include "cli/target_file.hpp"
#include "cli/verb.hpp"
#include "cli/verb_options.hpp"
#include "histories/judge.hpp"
#include "histories/transactions.hpp"

namespace holdfast::cli {
namespace {

namespace lin = linearizability;

struct CheckArguments {
  std::string file;
  std::string model = "cas-register";
  std::string keyOf = "key";
  std::string permits = "1";
  std::string configurations = "20000000";
  std::string html;
  bool force = false;
};

constexpr std::string_view kListAppend = "list-append";
constexpr std::string_view kRegisters = "rw-register";

bool ofTransactions(const CheckArguments& arguments) {
  return arguments.model == kListAppend || arguments.model == kRegisters;
}

std::expected<histories::JudgeOptions, Failure> judgeOptionsOf(const CheckArguments& arguments) {
  histories::JudgeOptions options;
  std::vector<std::string> known;
  for (const histories::ModelName& model : histories::models()) known.emplace_back(model.name);
  known.emplace_back(kListAppend);
  known.emplace_back(kRegisters);
  if (std::ranges::find(known, arguments.model) == known.end()) {
    return std::unexpected(badValue(
        "--model", fmt::format("there is no model '{}'{}; expected one of {}", arguments.model.substr(0, 60),
                               didYouMean(arguments.model, known), fmt::join(known, ", "))));
  }
  options.model = arguments.model;
  if (arguments.keyOf == "value") {
    options.keyOf = histories::KeyOf::value;
  } else if (arguments.keyOf == "none") {
    options.keyOf = histories::KeyOf::none;
  } else if (arguments.keyOf != "key") {
    return std::unexpected(badValue("--key-of", fmt::format("'{}' is none of key, value, none; expected one",
                                                            arguments.keyOf.substr(0, 60))));
  }
  const auto model = std::ranges::find(histories::models(), arguments.model, &histories::ModelName::name);
  if (model != histories::models().end() && !model->keyed) options.keyOf = histories::KeyOf::none;
  const auto permits = parseCount("how many may hold it at once", arguments.permits, 1, 1'000'000'000);
  if (!permits) return std::unexpected(badValue("--permits", permits.error()));
  options.permits = static_cast<std::int64_t>(*permits);
  const auto bound =
      parseCount("how many configurations are kept", arguments.configurations, 1, 1'000'000'000);
  if (!bound) return std::unexpected(badValue("--configurations", bound.error()));
  options.limits.configurations = *bound;
  return options;
}

Failure wrongAt(const std::string& file, const histories::ReadError& error) {
  return {fmt::format("{}:{}:{}: {}", file, error.line, error.column, error.text), kExitUsage};
}

std::string toldOf(const histories::Operation& operation) {
  const bool answered = operation.outcome == histories::Outcome::ok;
  std::string line = fmt::format("process {} {}", operation.process, operation.function);
  if (!operation.argument.isNil()) line += " " + operation.argument.printed();
  if (answered && operation.argument.isNil()) line += " answered " + operation.result.printed();
  return line + (operation.returnLine == 0
                     ? fmt::format(", line {}, never returned", operation.line)
                     : fmt::format(", lines {} to {}", operation.line, operation.returnLine));
}

void tellObject(Session& session, const histories::History& history, const histories::Judged& judged) {
  const histories::Operation& stuck = history.operations[judged.stuck];
  session.out.print(fmt::format("{}not linearizable: {} can not return",
                                judged.key.empty() ? "" : "key " + judged.key + ": ", toldOf(stuck)));
  session.out.print(fmt::format("  {} operations before can be put in order; then the state is {}{}",
                                judged.order.size(), judged.states.size() > 1 ? "one of " : "",
                                fmt::join(judged.states, ", ")));
  session.out.print("  under way at that return, in no order that allows it:");
  for (const std::uint32_t index : judged.window)
    session.out.print("    " + toldOf(history.operations[index]));
}

Json judgedJson(const histories::History& history, const histories::Judged& judged) {
  Json window = Json::array();
  for (const std::uint32_t index : judged.window) window.push_back(history.operations[index].line);
  Json order = Json::array();
  for (const std::uint32_t index : judged.order) order.push_back(history.operations[index].line);
  return {{"is", "object"},
          {"key", judged.key},
          {"linearizable", judged.verdict == lin::Verdict::linearizable      ? Json(true)
                           : judged.verdict == lin::Verdict::notLinearizable ? Json(false)
                                                                             : Json()},
          {"operations", judged.operations.size()},
          {"order", std::move(order)},
          {"stuck", judged.stuck == lin::kNever ? Json() : Json(history.operations[judged.stuck].line)},
          {"window", std::move(window)},
          {"states", judged.states},
          {"configurations", judged.configurations}};
}

int exitCodeOf(lin::Verdict verdict) {
  if (verdict == lin::Verdict::notLinearizable) return kExitSafety;
  return verdict == lin::Verdict::unknown ? kExitInconclusive : kExitHeld;
}

Result judgeObjects(Session& session, const CheckArguments& arguments, const histories::History& history,
                    const histories::JudgeOptions& options) {
  const auto judgement = histories::judge(history, options);
  if (!judgement) return std::unexpected(wrongAt(arguments.file, judgement.error()));
  std::size_t bad = 0;
  std::size_t unknown = 0;
  for (const histories::Judged& judged : judgement->objects) {
    if (judged.verdict == lin::Verdict::notLinearizable) {
      ++bad;
      tellObject(session, history, judged);
    }
    if (judged.verdict == lin::Verdict::unknown) {
      ++unknown;
      session.out.print(
          fmt::format("{}unknown: {} configurations were not enough; --configurations says how "
                      "many are kept",
                      judged.key.empty() ? "" : "key " + judged.key + ": ", judged.configurations));
    }
    session.out.object(judgedJson(history, judged));
  }
  session.out.say(fmt::format("verdict     {}: {} operations on {} {}, {} not linearizable, {} unknown",
                              bad > 0       ? "not linearizable"
                              : unknown > 0 ? "unknown"
                                            : "linearizable",
                              grouped(history.operations.size()), grouped(judgement->objects.size()),
                              judgement->objects.size() == 1 ? "object" : "objects", bad, unknown));
  const int exitCode = exitCodeOf(judgement->verdict);
  if (arguments.html.empty()) return exitCode;
  const std::string title = fmt::format("{} as {}", arguments.file, arguments.model);
  if (auto written =
          writeTarget({"--html", arguments.html}, historyPage(title, history, *judgement), arguments.force);
      !written) {
    return reportUnwritten(session.out, written.error(), exitCode);
  }
  return exitCode;
}

Result judgeTransactions(Session& session, const CheckArguments& arguments,
                         const histories::History& history) {
  const auto workload = arguments.model == kListAppend ? lin::Workload::listAppend : lin::Workload::registers;
  const auto transactions = histories::transactionsOf(history, workload);
  if (!transactions) return std::unexpected(wrongAt(arguments.file, transactions.error()));
  const auto anomalies = lin::findAnomalies(transactions->transactions, workload);
  const auto line = [&](std::uint32_t index) { return history.operations[index].line; };
  for (const lin::AnomalyFound& found : anomalies) {
    Json cycle = Json::array();
    session.out.print(fmt::format("{}", lin::nameOf(found.anomaly)));
    for (const lin::Link& link : found.cycle) {
      const bool keyed = link.dependency != lin::Dependency::realTime;
      const std::string key = keyed ? transactions->names.nameOf(link.key) : std::string();
      session.out.print(fmt::format("  the transaction of line {} -> that of line {}: {}{}", line(link.from),
                                    line(link.to), lin::nameOf(link.dependency),
                                    keyed ? " on key " + key : ""));
      cycle.push_back({{"from", line(link.from)},
                       {"to", line(link.to)},
                       {"dependency", lin::nameOf(link.dependency)},
                       {"key", keyed ? Json(key) : Json()}});
    }
    Json lines = Json::array();
    for (const std::uint32_t index : found.transactions) lines.push_back(line(index));
    if (found.cycle.empty()) {
      session.out.print(fmt::format("  key {}, the transactions of lines {}",
                                    transactions->names.nameOf(found.key), fmt::join(lines, ", ")));
    }
    session.out.object({{"is", "anomaly"},
                        {"anomaly", lin::nameOf(found.anomaly)},
                        {"cycle", std::move(cycle)},
                        {"transactions", std::move(lines)}});
  }
  session.out.say(fmt::format("verdict     {}: {} transactions, {} kinds of anomalies",
                              anomalies.empty() ? "no anomaly" : "anomalies",
                              grouped(history.operations.size()), anomalies.size()));
  return anomalies.empty() ? kExitHeld : kExitSafety;
}

Result runCheck(Session& session, const CLI::App& verb, const CheckArguments& arguments) {
  const auto options = judgeOptionsOf(arguments);
  if (!options) return std::unexpected(options.error());
  if (auto heeded = refuseIdle(verb, {{{"--html", "--key-of", "--configurations"},
                                       ofTransactions(arguments),
                                       "is about objects one by one, and transactions join them; expected a "
                                       "model of objects with it"},
                                      {{"--permits"},
                                       arguments.model != "semaphore",
                                       "is about a semaphore; expected --model semaphore with it"},
                                      {{"--force"},
                                       arguments.html.empty(),
                                       "replaces a file, and none is written; expected it with --html"}});
      !heeded) {
    return std::unexpected(heeded.error());
  }
  if (auto fits = checkTargets({{"--html", arguments.html}}, arguments.force); !fits) {
    return std::unexpected(fits.error());
  }
  const auto source = JsonSource::read(arguments.file, "a history");
  if (!source) return std::unexpected(source.error());
  const auto history = histories::read(source->text());
  if (!history) return std::unexpected(wrongAt(arguments.file, history.error()));
  session.out.say(fmt::format("history     {}: {} operations, judged as {}", arguments.file,
                              grouped(history->operations.size()), arguments.model));
  if (ofTransactions(arguments)) return judgeTransactions(session, arguments, *history);
  return judgeObjects(session, arguments, *history, *options);
}

std::string modelsInWords() {
  std::string words = "Models and their operations:";
  for (const histories::ModelName& model : histories::models()) {
    words += fmt::format("\n  {}: {}", model.name, model.operations);
  }
  words += "\n  list-append: txn [[append K V] [r K LIST] ...]";
  words += "\n  rw-register: txn [[w K V] [r K V] ...]";
  return words;
}

}  // namespace

Action declareCheck(CLI::App& app) {
  auto arguments = std::make_shared<CheckArguments>();
  app.description(
      "Judge a history that was recorded elsewhere: whether it is linearizable, object by object, or which "
      "anomalies its transactions have. Reads JSON lines (docs/history-format.md), Jepsen's EDN, and lines "
      "of "
      "Jepsen's log.");
  app.add_option("file", arguments->file, "the history")->type_name("FILE")->required();
  app.add_option("--model", arguments->model, "what the history is one of")
      ->type_name("MODEL")
      ->capture_default_str();
  app.add_option("--key-of", arguments->keyOf,
                 "what tells objects apart: the member 'key', the first of a 'value' that is a pair, or none")
      ->type_name("WHERE")
      ->capture_default_str();
  app.add_option("--permits", arguments->permits, "of a semaphore")->type_name("N")->capture_default_str();
  app.add_option("--configurations", arguments->configurations,
                 "how many configurations the search keeps before it says unknown")
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--html", arguments->html, "a page with the operations and their order")->type_name("FILE");
  addForceOption(app, arguments->force, "--html");
  app.footer(
      modelsInWords() +
      "\n\nExit code: 0 when it is linearizable or has no anomaly, 1 when it is not, 3 when the bound was "
      "met first, 64 for a file that can not be read.\n\n"
      "Example:\n  holdfast check history.edn --model cas-register --html history.html");
  return [arguments, verb = &app](Session& session) { return runCheck(session, *verb, *arguments); };
}

}  // namespace holdfast::cli
