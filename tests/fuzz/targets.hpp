// Everything that holdfast reads and did not write itself, as targets for a fuzzer: each takes any bytes.
//
// Contract: a target reads, validates, and does with what was accepted what the command would, in a bounded
// time. It ends the process if that leads to a contradiction, an exception included, and does not return
// anything else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace holdfast::fuzz {

/// What is changed in an input beside its bytes.
enum class Form : std::uint8_t { bytes, json, trace };

struct Target {
  std::string_view name;  ///< Its corpus is the folder of that name in tests/fuzz/corpus.
  Form form = Form::bytes;
  void (*run)(std::string_view bytes) = nullptr;
};

std::span<const Target> targets();

/// Null if there is none of that name.
const Target* findTarget(std::string_view name);

/// `bytes` with a few members taken out, repeated, or with other values, drawn by `seed`; a trace has fitting
/// hashes again. What is no text of the form is returned as it is.
std::string mutated(Form form, std::string_view bytes, std::uint64_t seed);

}  // namespace holdfast::fuzz
