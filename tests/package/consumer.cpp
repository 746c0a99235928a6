// A program of somebody else's that uses the installed package; it exits with 0 if that behaves as expected.
#include "sim/ids.hpp"
#include "sim/time.hpp"

int main() {
  using namespace holdfast::sim;
  constexpr TrueInstant start{1'000};
  const TrueInstant later = start + microseconds(2);
  const bool times = later - start == nanoseconds(2'000);
  const bool ids = NodeId{1} < NodeId{2} && !KeyId::none().valid();
  return times && ids ? 0 : 1;
}
