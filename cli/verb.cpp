#include "cli/verb.hpp"

namespace holdfast::cli {

std::span<const Verb> verbs() {
  static constexpr Verb kVerbs[] = {
#define HOLDFAST_LIST_VERB(name, declare) {#name, declare},
      HOLDFAST_VERBS(HOLDFAST_LIST_VERB)
#undef HOLDFAST_LIST_VERB
  };
  return kVerbs;
}

}  // namespace holdfast::cli
