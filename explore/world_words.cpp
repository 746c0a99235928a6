// The choices of the world in words. A schedule is written down as these lines and found again by them, so
// they are part of the format of plans.
#include <fmt/format.h>

#include <array>

#include "explore/world.hpp"

namespace holdfast::explore {

std::string World::describe(const State& state, const Choice& choice) const {
  const auto name = [&](std::size_t node) { return std::string(1, static_cast<char>('A' + node)); };
  const auto content = [&](const Item& item) -> std::string {
    if (const auto* deliver = std::get_if<protocol::Deliver>(&item.input)) {
      return fmt::format("{} from {}", obs::nameOf(protocol::kindOf(deliver->message)), name(item.from));
    }
    if (item.kind == ItemKind::commit) {
      return fmt::format("the commit of a {}", obs::nameOf(protocol::kindOf(item.entry)));
    }
    if (item.kind == ItemKind::apply) return fmt::format("the next entry of {}", name(item.from));
    if (item.record.index() == 0) return "its durable incarnation";
    return fmt::format("its durable {}", obs::nameOf(protocol::kindOf(item.record)));
  };
  static constexpr std::array kActs = {"locks", "stages a write", "submits", "unlocks"};
  static constexpr std::array kWishes = {"proposes a membership", "publishes a home map", "fences"};
  switch (choice.kind) {
    case ChoiceKind::client: {
      const Step& step = programs_[choice.who].steps[state.places[choice.who]];
      if (isOperators(step.act)) {
        return fmt::format(
            "the operator at {} {}", name(programs_[choice.who].node),
            kWishes[static_cast<std::size_t>(step.act) - static_cast<std::size_t>(Act::propose)]);
      }
      return fmt::format("a client of {} {} (call {})", name(programs_[choice.who].node),
                         kActs[static_cast<std::size_t>(step.act)], step.call + 1);
    }
    case ChoiceKind::wake:
      return fmt::format("a timer of {} fires{}", name(choice.who),
                         choice.which == 0 ? "" : fmt::format("; heartbeat {} is lost", choice.which));
    case ChoiceKind::tick:
      return configuration_.drift == 0 ? "all clocks tick"
                                       : fmt::format("the clock of {} ticks", name(choice.who));
    case ChoiceKind::deliver:
      return fmt::format("{} gets {}", name(choice.who), content(table_->item(itemOf(state, choice))));
    case ChoiceKind::abort:
      return fmt::format("{}: a native commit aborts", name(choice.who));
    case ChoiceKind::lose:
      return fmt::format("{} to {} is lost", content(table_->item(itemOf(state, choice))), name(choice.who));
    case ChoiceKind::duplicate:
      return fmt::format("{} gets a duplicate of {}", name(choice.who),
                         content(table_->item(itemOf(state, choice))));
    case ChoiceKind::crash: {
      const Survivors survivors = survivorsOf(state, choice);
      std::string text = fmt::format("{} crashes; {} of its pending commits are durable", name(choice.who),
                                     survivors.commits.size());
      if (!survivors.records.empty())
        text += fmt::format(", and {} of its records", survivors.records.size());
      return text;
    }
    case ChoiceKind::restart:
      return fmt::format("{} restarts", name(choice.who));
    case ChoiceKind::cut:
      return fmt::format("link {} is cut", choice.who);
    case ChoiceKind::heal:
      break;
  }
  return fmt::format("link {} is healed", choice.who);
}

}  // namespace holdfast::explore
