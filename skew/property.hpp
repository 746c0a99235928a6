// The properties that are to hold for every generated case, and the judging of one case by them.
//
// Contract: each property is what some checkers say of one run, but for `wall`, which compares two: with the
// wall clocks of the case, and with wall clocks that show true time, everybody must be granted, admitted and
// refused in the same way at the same instants (CK-5). Every violation that a run can end in belongs to one
// property.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkers/finding.hpp"
#include "checkers/signature.hpp"
#include "protocol/rules.hpp"
#include "scenarios/run.hpp"
#include "shrink/case.hpp"

namespace holdfast::skew {

enum class Property : std::uint8_t {
  exclusion,  ///< X-1, and one live membership on which it rests, whatever the clocks do inside CK-3
  wall,       ///< wall clocks never matter for who is admitted, and when (CK-5)
  freshness,  ///< X-2: a clean handoff shows what the predecessors had committed
  anomalies,  ///< every value that last-write-wins takes from a caller has a documented route (section 10)
  liveness,   ///< once healed everybody is answered, replicas agree, and nothing stays retained (S-70)
};
BOOST_DESCRIBE_ENUM(Property, exclusion, wall, freshness, anomalies, liveness)
inline constexpr std::size_t kProperties = obs::kEnumeratorCount<Property>;

/// One sentence for people.
std::string_view wordsOf(Property property);

/// The property that a violation breaks.
Property propertyOf(const checkers::Finding& violation);

/// A set of properties.
class Properties {
 public:
  constexpr Properties() = default;
  static constexpr Properties all() {
    Properties properties;
    properties.bits_ = (1U << kProperties) - 1;
    return properties;
  }
  constexpr void insert(Property property) { bits_ |= 1U << static_cast<unsigned>(property); }
  constexpr bool contains(Property property) const {
    return (bits_ >> static_cast<unsigned>(property) & 1U) != 0;
  }
  constexpr bool empty() const { return bits_ == 0; }
  friend constexpr bool operator==(Properties, Properties) = default;

 private:
  std::uint32_t bits_ = 0;
};

/// What a case breaks.
struct Broken {
  Property property = Property::exclusion;
  std::optional<checkers::Signature> signature;  ///< Of the first violation; none for `wall`.

  friend bool operator==(const Broken&, const Broken&) = default;
};

struct Judgement {
  std::vector<Broken> broken;   ///< In the order of the properties, each once.
  scenarios::RunReport report;  ///< Of the run with the case's own wall clocks.
};

/// Runs a valid case and judges it by `properties`.
Judgement judge(const shrink::Case& whole, const protocol::Rules& rules, Properties properties);

/// Whether the run goes on for long enough after its healing to be held to promises of liveness.
bool judgesLiveness(const shrink::Case& whole);

/// The case with wall clocks that show true time.
shrink::Case withTrueWalls(shrink::Case whole);

/// What `wall` compares: a hash over who was granted, admitted, refused and revoked, and when. Its state is
/// that of one run.
std::uint64_t exclusionHash(const shrink::Case& whole, const protocol::Rules& rules,
                            scenarios::RunReport* report = nullptr);

}  // namespace holdfast::skew
