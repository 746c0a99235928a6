#include "measure/allocations.hpp"

#include <cstdlib>
#include <new>

// Every form is replaced: a sanitizer, or a library of another make, gives the forms that are left to it
// memory of its own, which free() must not be handed.
namespace {
thread_local std::uint64_t allocations = 0;

// malloc answers a size of zero with whatever it likes, operator new with memory.
void* allocateOrNull(std::size_t size) noexcept {
  ++allocations;
  return std::malloc(size == 0 ? 1 : size);
}

// aligned_alloc takes multiples of the alignment.
void* allocateOrNull(std::size_t size, std::align_val_t alignment) noexcept {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  const std::size_t units = size == 0 ? 1 : (size - 1) / unit + 1;
  return std::aligned_alloc(unit, units * unit);
}

void* orThrow(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
}  // namespace

namespace holdfast::measure {
std::uint64_t allocationsSoFar() { return allocations; }
}  // namespace holdfast::measure

using Aligned = std::align_val_t;
using NoThrow = const std::nothrow_t&;

void* operator new(std::size_t size) { return orThrow(allocateOrNull(size)); }
void* operator new[](std::size_t size) { return orThrow(allocateOrNull(size)); }
void* operator new(std::size_t size, NoThrow) noexcept { return allocateOrNull(size); }
void* operator new[](std::size_t size, NoThrow) noexcept { return allocateOrNull(size); }
void* operator new(std::size_t size, Aligned to) { return orThrow(allocateOrNull(size, to)); }
void* operator new[](std::size_t size, Aligned to) { return orThrow(allocateOrNull(size, to)); }
void* operator new(std::size_t size, Aligned to, NoThrow) noexcept { return allocateOrNull(size, to); }
void* operator new[](std::size_t size, Aligned to, NoThrow) noexcept { return allocateOrNull(size, to); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, NoThrow) noexcept { std::free(memory); }
void operator delete[](void* memory, NoThrow) noexcept { std::free(memory); }
void operator delete(void* memory, Aligned) noexcept { std::free(memory); }
void operator delete[](void* memory, Aligned) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, Aligned) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, Aligned) noexcept { std::free(memory); }
void operator delete(void* memory, Aligned, NoThrow) noexcept { std::free(memory); }
void operator delete[](void* memory, Aligned, NoThrow) noexcept { std::free(memory); }
