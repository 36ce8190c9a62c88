// The same kernels, eight lanes at a time. See lanes.hpp for what this source must not use.
#include "clip/packed.hpp"

namespace dopesheet::packed {

#if defined(__AVX2__)
namespace {
#include "clip/kernels.hpp"
}  // namespace
const Kernels* vector8_kernels() { return &all_kernels<F8>; }
#else
const Kernels* vector8_kernels() { return nullptr; }
#endif

}  // namespace dopesheet::packed
