// Changes that keep a text's form, so that validation is reached and not only the reading of JSON.
#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "observations/hash_chain.hpp"
#include "sim/random.hpp"
#include "tests/fuzz/targets.hpp"
#include "traces/json.hpp"
#include "traces/kinds.hpp"
#include "traces/trace.hpp"

namespace holdfast::fuzz {
namespace {

using Json = nlohmann::ordered_json;

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint64_t below(std::uint64_t bound) {
    return sim::mix(seed_, ++count_) % std::max<std::uint64_t>(1, bound);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

void collect(Json& at, std::vector<Json*>& out) {
  out.push_back(&at);
  if (!at.is_structured()) return;
  for (auto& member : at) collect(member, out);
}

Json otherScalar(const Json& before, Draws& draws) {
  const std::array<Json, 14> extremes{
      0,         1,          -1,  63,   64,      1'000'000'000, INT64_MAX,
      INT64_MIN, UINT64_MAX, 0.5, true, nullptr, "crash",       Json::array()};
  if (before.is_number_integer() && draws.below(2) == 0) {
    // Near the value that it has.
    const auto near = static_cast<std::int64_t>(draws.below(5)) - 2;
    return static_cast<std::uint64_t>(before.get<std::int64_t>()) + static_cast<std::uint64_t>(near);
  }
  return extremes[draws.below(extremes.size())];
}

void changeOne(Json& root, Draws& draws) {
  std::vector<Json*> all;
  collect(root, all);
  Json& at = *all[draws.below(all.size())];
  const Json other = *all[draws.below(all.size())];
  switch (draws.below(6)) {
    case 0:
      at = other;
      break;
    case 1:
      if (at.is_structured() && !at.empty())
        at.erase(std::next(at.begin(), static_cast<std::ptrdiff_t>(draws.below(at.size()))));
      break;
    case 2:
      if (at.is_array() && at.size() < 64) at.push_back(at.empty() ? other : at[draws.below(at.size())]);
      break;
    default:
      if (!at.is_structured()) at = otherScalar(at, draws);
      break;
  }
}

std::string changedJson(std::string_view text, Draws& draws) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::string(text);
  for (std::uint64_t left = 1 + draws.below(3); left > 0; --left) changeOne(json, draws);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The lines with the hashes that they would have in a trace, as far as they can be read as one.
std::string sealed(const std::vector<std::string>& lines) {
  std::string out;
  traces::Names names;
  if (!lines.empty()) {
    Json header = Json::parse(lines.front(), nullptr, false);
    if (!header.is_object() || !header.contains("options") || !header["options"].is_object()) return "";
    traces::Header read;
    read.scenario = header.contains("scenario") && header["scenario"].is_string() ? header["scenario"] : "";
    read.options = nlohmann::json(header["options"]);
    const auto strings = [](const Json& list) {
      std::vector<std::string> texts;
      for (const Json& one : list) {
        if (one.is_string()) texts.push_back(one);
      }
      return texts;
    };
    if (header.contains("rules") && header["rules"].is_object())
      read.rulesOff = strings(header["rules"].value("off", Json()));
    if (header.contains("names") && header["names"].is_object()) {
      names = {strings(header["names"].value("nodes", Json())),
               strings(header["names"].value("keys", Json()))};
    }
    header["optionHash"] = traces::hexHash(traces::optionHashOf(read));
    out = header.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  const traces::ObservationReader reader(names);
  obs::HashChain chain;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    Json json = Json::parse(lines[i], nullptr, false);
    if (json.is_object() && json.contains("verdict")) {
      json["events"] = chain.count();
      json["hash"] = traces::hexHash(chain.value());
    } else if (json.is_object() && json.contains("is")) {
      json["n"] = chain.count() + 1;
      json["h"] = traces::hexHash(0);
      const auto line = reader.parse(json.dump(-1, ' ', false, Json::error_handler_t::replace));
      if (line) json["h"] = traces::hexHash(chain.add(line->stamped));
    }
    out += json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  return out;
}

std::string changedTrace(std::string_view text, Draws& draws) {
  std::vector<std::string> lines;
  std::istringstream input{std::string(text)};
  for (std::string line; std::getline(input, line);) lines.push_back(line);
  if (lines.size() < 3) return std::string(text);
  for (std::uint64_t left = 1 + draws.below(3); left > 0; --left) {
    const std::size_t at = draws.below(lines.size());
    switch (at > 1 && at + 1 < lines.size() ? draws.below(6) : 5) {
      case 0:
        lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(at),
                     lines[2 + draws.below(lines.size() - 3)]);
        break;
      case 2:
        std::swap(lines[at], lines[2 + draws.below(lines.size() - 3)]);
        break;
      default:
        lines[at] = changedJson(lines[at], draws);
        break;
    }
    if (lines.size() < 4) break;
  }
  return sealed(lines);
}

std::string changedBytes(std::string_view text, Draws& draws) {
  std::string out(text);
  for (std::uint64_t left = 1 + draws.below(4); left > 0 && !out.empty(); --left) {
    const std::size_t at = draws.below(out.size());
    switch (draws.below(4)) {
      case 0:
        out.erase(at, 1 + draws.below(8));
        break;
      case 1:
        out.insert(at, out.substr(draws.below(out.size()), 1 + draws.below(8)));
        break;
      default:
        out[at] = static_cast<char>(draws.below(256));
        break;
    }
  }
  return out;
}

}  // namespace

std::string mutated(Form form, std::string_view bytes, std::uint64_t seed) {
  Draws draws(seed);
  // Now and then what is no text of the form at all.
  if (form == Form::bytes || draws.below(8) == 0) return changedBytes(bytes, draws);
  return form == Form::json ? changedJson(bytes, draws) : changedTrace(bytes, draws);
}

}  // namespace holdfast::fuzz
