// The hash chain: pinned values, sensitivity to every field, and blindness to everything else.
#include "observations/hash_chain.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <new>
#include <set>

#include "tests/traces/support.hpp"

namespace holdfast::obs {
namespace {

using traces::sampleRun;

std::vector<std::uint64_t> wordsOf(const Stamped& stamped) {
  WordBuffer buffer;
  const std::size_t count = packObservation(stamped, buffer);
  return {buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::uint64_t hashOf(const Stamped& stamped) { return HashChain().add(stamped); }

TEST(HashChain, BeginsAtZero) {
  EXPECT_EQ(HashChain().value(), 0U);
  EXPECT_EQ(HashChain().count(), 0U);
}

// Every trace ever written depends on these values: a change needs a new version of the trace format.
TEST(HashChain, HasPinnedValues) {
  HashChain chain;
  std::vector<std::uint64_t> values;
  for (const Stamped& stamped : sampleRun()) values.push_back(chain.add(stamped));
  EXPECT_EQ(values.front(), 0x1845919ed2f7bd10U);
  EXPECT_EQ(values[6], 0xdcc4720bfead0009U);
  EXPECT_EQ(chain.value(), 0x95db7ee194bb67ebU);
  EXPECT_EQ(chain.count(), sampleRun().size());
}

TEST(HashChain, PacksEachFieldAsAWord) {
  const Stamped admitted{{-2}, {1}, Admitted{{3}, {0}, {1, 2, 7}, Path::clean, true, {20'100'000'000}}};
  EXPECT_THAT(wordsOf(admitted), testing::ElementsAre(std::uint64_t{0} - 2, 1, kindTag("Admitted"), 3, 0, 1,
                                                      2, 7, 2, 1, 20'100'000'000));
  const Stamped read{{5}, NodeId::none(), Read{{0}, {2}, 9, {{{1}, {2}, {3}, {4}}}, {{-1, 6, 7, 8}}}};
  EXPECT_THAT(wordsOf(read), testing::ElementsAre(5, 0xffff, kindTag("Read"), 0, 2, 9, 1, 2, 3, 4,
                                                  ~std::uint64_t{0}, 6, 7, 8));
}

TEST(HashChain, IsXxh3OverLittleEndianBytesSeededByTheValueBefore) {
  HashChain chain;
  std::uint64_t expected = 0;
  for (const Stamped& stamped : sampleRun()) {
    std::string bytes;
    for (const std::uint64_t word : wordsOf(stamped)) {
      for (unsigned shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(word >> shift);
    }
    expected = XXH3_64bits_withSeed(bytes.data(), bytes.size(), expected);
    EXPECT_EQ(chain.add(stamped), expected);
  }
}

TEST(HashChain, IgnoresPaddingAndTheRestOfTheVariant) {
  for (const Stamped& stamped : sampleRun()) {
    std::set<std::uint64_t> hashes;
    for (const int fill : {0x00, 0x5a, 0xff}) {
      alignas(Stamped) std::array<unsigned char, sizeof(Stamped)> memory;
      std::memset(memory.data(), fill, memory.size());
      auto* const copy = new (memory.data()) Stamped;
      copy->at = stamped.at;
      copy->node = stamped.node;
      std::visit([&](const auto& what) { copy->what.emplace<std::remove_cvref_t<decltype(what)>>(what); },
                 stamped.what);
      hashes.insert(hashOf(*copy));
    }
    EXPECT_EQ(hashes.size(), 1U) << kindName(stamped.what);
  }
}

TEST(HashChain, TheTypedCallAgreesWithTheDispatchedOne) {
  HashChain dispatched;
  HashChain typed;
  for (const Stamped& stamped : sampleRun()) {
    dispatched.add(stamped);
    std::visit([&](const auto& what) { typed.add({stamped.at, stamped.node}, what); }, stamped.what);
    EXPECT_EQ(dispatched, typed);
  }
}

TEST(HashChain, DependsOnTheOrder) {
  const std::vector<Stamped> run = sampleRun();
  HashChain forth;
  HashChain back;
  forth.add(run[0]);
  forth.add(run[1]);
  back.add(run[1]);
  back.add(run[0]);
  EXPECT_NE(forth.value(), back.value());
}

TEST(HashChain, ACopyContinuesAsTheOriginalWould) {
  const std::vector<Stamped> run = sampleRun();
  HashChain original;
  original.add(run[0]);
  HashChain copy = original;
  EXPECT_EQ(original.add(run[1]), copy.add(run[1]));
  copy.add(run[2]);
  EXPECT_EQ(original.count(), 2U);
}

/// Adds one to the `wanted`-th leaf of a value, counting from 0 in `seen`.
template <class T>
void bumpLeaf(T& value, std::size_t wanted, std::size_t& seen) {
  if constexpr (Described<T>) {
    forEachField(value, [&](std::string_view, auto& field) { bumpLeaf(field, wanted, seen); });
  } else if constexpr (kIsArray<T>) {
    for (auto& element : value) bumpLeaf(element, wanted, seen);
  } else {
    if (seen++ != wanted) return;
    if constexpr (std::is_same_v<T, bool>) {
      value = !value;
    } else {
      value = static_cast<T>(static_cast<std::uint64_t>(value) + 1);
    }
  }
}

TEST(HashChain, EveryLeafOfEveryKindCounts) {
  std::size_t leaves = 0;
  boost::mp11::mp_for_each<boost::mp11::mp_iota_c<kKindCount>>([&](auto kind) {
    using What = ObservationOf<kind>;
    const std::uint64_t plain = hashOf({{1}, {0}, What{}});
    for (std::size_t leaf = 0; leaf < wordCount<What>(); ++leaf) {
      What changed{};
      std::size_t seen = 0;
      bumpLeaf(changed, leaf, seen);
      EXPECT_EQ(seen, wordCount<What>()) << kKindNames[kind];
      EXPECT_NE(hashOf({{1}, {0}, changed}), plain) << kKindNames[kind] << ", leaf " << leaf;
      EXPECT_FALSE(sameObservation({{1}, {0}, changed}, {{1}, {0}, What{}}));
      ++leaves;
    }
    EXPECT_NE(hashOf({{2}, {0}, What{}}), plain);
    EXPECT_NE(hashOf({{1}, {1}, What{}}), plain);
    EXPECT_TRUE(sameObservation({{1}, {0}, What{}}, {{1}, {0}, What{}}));
  });
  EXPECT_GT(leaves, 2 * kKindCount);
}

TEST(HashChain, KindsWithoutFieldsDiffer) {
  EXPECT_NE(hashOf({{1}, {0}, NodePaused{}}), hashOf({{1}, {0}, NodeResumed{}}));
  EXPECT_FALSE(sameObservation({{1}, {0}, NodePaused{}}, {{1}, {0}, NodeResumed{}}));
}

}  // namespace
}  // namespace holdfast::obs
