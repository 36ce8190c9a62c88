#include "allocations.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> count{0}, live{0}, peak{0};

void* take(std::size_t n, std::size_t alignment = 0) {
  void* p = alignment == 0 ? std::malloc(n > 0 ? n : 1)
                           : std::aligned_alloc(alignment, (n / alignment + 1) * alignment);
  if (p == nullptr) throw std::bad_alloc();
  ++count;
  const std::size_t now = live += malloc_usable_size(p);
  if (now > peak) peak = now;
  return p;
}
void give(void* p) {
  if (p != nullptr) live -= malloc_usable_size(p);
  std::free(p);
}
}  // namespace

void* operator new(std::size_t n) { return take(n); }
void* operator new[](std::size_t n) { return take(n); }
void* operator new(std::size_t n, std::align_val_t a) {
  return take(n, static_cast<std::size_t>(a));
}
void operator delete(void* p, std::align_val_t) noexcept { give(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give(p); }
void operator delete(void* p) noexcept { give(p); }
void operator delete[](void* p) noexcept { give(p); }
void operator delete(void* p, std::size_t) noexcept { give(p); }
void operator delete[](void* p, std::size_t) noexcept { give(p); }

namespace support {
std::size_t allocations() { return count; }
std::size_t live_bytes() { return live; }
std::size_t peak_bytes() { return peak; }
void reset_peak() { peak = live.load(); }
}  // namespace support
