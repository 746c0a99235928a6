// 128-bit integers, which GCC and Clang offer as an extension: the one place that names them.
//
// Exact clock arithmetic multiplies nanoseconds by parts per billion, and keyed draws multiply two 64-bit
// words; both need the product in full.
#pragma once

namespace holdfast::sim {

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace holdfast::sim
