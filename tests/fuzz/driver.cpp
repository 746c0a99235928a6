// What libFuzzer calls: the target that the environment names in HOLDFAST_FUZZ.
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>

#include "tests/fuzz/targets.hpp"

namespace {

const holdfast::fuzz::Target& chosen() {
  static const holdfast::fuzz::Target& target = []() -> const holdfast::fuzz::Target& {
    const char* const name = std::getenv("HOLDFAST_FUZZ");
    if (const auto* found = holdfast::fuzz::findTarget(name != nullptr ? name : "")) return *found;
    std::cerr << "HOLDFAST_FUZZ names no target; expected one of";
    for (const auto& known : holdfast::fuzz::targets()) std::cerr << ' ' << known.name;
    std::cerr << '\n';
    std::exit(64);
  }();
  return target;
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the names that libFuzzer looks for.
std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) __attribute__((weak));
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  chosen().run({reinterpret_cast<const char*>(data), size});
  return 0;
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const holdfast::fuzz::Form form = chosen().form;
  if (form == holdfast::fuzz::Form::bytes || seed % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string changed =
      holdfast::fuzz::mutated(form, {reinterpret_cast<const char*>(data), size}, seed);
  if (changed.empty() || changed.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::memcpy(data, changed.data(), changed.size());
  return changed.size();
}
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
