// The choices of the world in words. A plan is written in them, so each choice of a state has words of its
// own.
#include <fmt/format.h>

#include <array>

#include "explore/world.hpp"

namespace holdfast::explore {
namespace {

constexpr std::array kActs = {"locks",
                              "stages a write",
                              "submits",
                              "unlocks",
                              "proposes a membership",
                              "publishes a home map",
                              "fences a home that is down",
                              "declares a home removed that runs"};

std::string letterOf(std::size_t node) { return std::string(1, static_cast<char>('A' + node)); }

std::string contentOf(const Item& item) {
  if (const auto* deliver = std::get_if<protocol::Deliver>(&item.input)) {
    return fmt::format("{} from {}", obs::nameOf(protocol::kindOf(deliver->message)), letterOf(item.from));
  }
  if (item.kind == ItemKind::commit) {
    return fmt::format("the commit of a {}", obs::nameOf(protocol::kindOf(item.entry)));
  }
  if (item.kind == ItemKind::apply) return fmt::format("the next entry of {}", letterOf(item.from));
  return fmt::format("its durable {}", obs::nameOf(protocol::kindOf(item.record)));
}

}  // namespace

std::string World::describeStep(const Program& program, const Step& step) const {
  const char* const act = kActs[static_cast<std::size_t>(step.act)];
  if (isOperators(step.act)) return fmt::format("the operator at {} {}", letterOf(program.node), act);
  return fmt::format("a client of {} {} (call {})", letterOf(program.node), act, step.call + 1);
}

std::string World::describeCrash(const State& state, const Choice& choice) const {
  const Survivors survivors = survivorsOf(state, choice);
  std::string text = fmt::format("{} crashes; {} of its pending commits are durable", letterOf(choice.who),
                                 survivors.commits.size());
  if (!survivors.records.empty()) text += fmt::format(", and {} of its records", survivors.records.size());
  return text;
}

std::string World::describe(const State& state, const Choice& choice) const {
  const auto content = [&] { return contentOf(table_->item(itemOf(state, choice))); };
  switch (choice.kind) {
    case ChoiceKind::client: {
      const Program& program = programs_[choice.who];
      return describeStep(program, program.steps[state.places[choice.who]]);
    }
    case ChoiceKind::wake:
      return fmt::format("a timer of {} fires{}", letterOf(choice.who),
                         choice.which == 0 ? "" : fmt::format("; heartbeat {} is lost", choice.which));
    case ChoiceKind::tick:
      return configuration_.drift == 0 ? "all clocks tick"
                                       : fmt::format("the clock of {} ticks", letterOf(choice.who));
    case ChoiceKind::deliver:
      return fmt::format("{} gets {}", letterOf(choice.who), content());
    case ChoiceKind::abort:
      return fmt::format("{}: a native commit aborts", letterOf(choice.who));
    case ChoiceKind::lose:
      return fmt::format("{} to {} is lost", content(), letterOf(choice.who));
    case ChoiceKind::duplicate:
      return fmt::format("{} gets a duplicate of {}", letterOf(choice.who), content());
    case ChoiceKind::crash:
      return describeCrash(state, choice);
    case ChoiceKind::restart:
      return fmt::format("{} restarts", letterOf(choice.who));
    case ChoiceKind::cut:
      return fmt::format("link {} is cut", choice.who);
    case ChoiceKind::heal:
      break;
  }
  return fmt::format("link {} is healed", choice.who);
}

std::vector<std::string> World::describeWaiters(std::uint32_t waiters) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < kMaxCalls; ++i) {
    if ((waiters >> i & 1U) != 0) words.push_back(fmt::format("call {}", i + 1));
  }
  for (std::size_t node = 0; node < kMaxNodes; ++node) {
    if ((waiters >> (kMaxCalls + node) & 1U) != 0) {
      words.push_back(fmt::format("the proposer at {}", letterOf(node)));
    }
  }
  return words;
}

}  // namespace holdfast::explore
