// Arbitrary observations, made from their descriptions.
#include "tests/traces/support.hpp"

#include <rapidcheck.h>

#include <boost/mp11/algorithm.hpp>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

#include "observations/hash_chain.hpp"
#include "observations/kinds.hpp"

namespace holdfast::traces {

namespace {

/// A value for a field of type T, from the ordinary and the extreme ones; ids with a name, without one, and
/// none.
template <class T>
T arbitraryField() {
  if constexpr (std::is_same_v<T, obs::NodeId>) {
    return {*rc::gen::element<std::uint16_t>(0, 1, 2, 3, 0xfffe, 0xffff)};
  } else if constexpr (std::is_same_v<T, obs::KeyId>) {
    return {*rc::gen::element<std::uint32_t>(0, 1, 2, 3, 0xfffffffe, 0xffffffff)};
  } else if constexpr (obs::Described<T>) {
    T out;
    obs::forEachField(out, [](std::string_view, auto& field) {
      field = arbitraryField<std::remove_cvref_t<decltype(field)>>();
    });
    return out;
  } else if constexpr (obs::kIsArray<T>) {
    T out;
    for (auto& element : out) element = arbitraryField<typename T::value_type>();
    return out;
  } else if constexpr (obs::DescribedEnum<T>) {
    std::vector<T> all;
    boost::mp11::mp_for_each<boost::describe::describe_enumerators<T>>(
        [&](auto enumerator) { all.push_back(enumerator.value); });
    return *rc::gen::elementOf(all);
  } else if constexpr (std::is_same_v<T, bool>) {
    return *rc::gen::arbitrary<bool>();
  } else {
    return *rc::gen::oneOf(rc::gen::arbitrary<T>(), rc::gen::element<T>(0, 1, std::numeric_limits<T>::min(),
                                                                        std::numeric_limits<T>::max()));
  }
}

}  // namespace

obs::Stamped arbitraryObservation(std::size_t kind) {
  obs::Stamped out;
  out.at = arbitraryField<obs::TrueInstant>();
  out.node = arbitraryField<obs::NodeId>();
  boost::mp11::mp_with_index<obs::kKindCount>(
      kind, [&](auto index) { out.what = arbitraryField<obs::ObservationOf<index>>(); });
  return out;
}

obs::Stamped arbitraryObservation() {
  return arbitraryObservation(*rc::gen::inRange<std::size_t>(0, obs::kKindCount));
}

}  // namespace holdfast::traces
