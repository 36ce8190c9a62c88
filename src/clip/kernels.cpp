// The kernels that every machine has, and the choice among all.
#include "clip/packed.hpp"

namespace dopesheet::packed {
namespace {
#include "clip/kernels.hpp"

bool has_avx2() {
#if defined(DOPESHEET_LANES) && (defined(__x86_64__) || defined(__i386__))
  return __builtin_cpu_supports("avx2") != 0;
#else
  return false;
#endif
}
}  // namespace

const Kernels* kernels(Path path) {
  switch (path) {
    case Path::scalar:
      return &all_kernels<float>;
    case Path::vector4:
#if defined(DOPESHEET_LANES)
      return &all_kernels<F4>;
#else
      return nullptr;
#endif
    case Path::vector8:
      return has_avx2() ? vector8_kernels() : nullptr;
  }
  return nullptr;
}

const Kernels& best_kernels() {
  static const Kernels& best = [&]() -> const Kernels& {
    for (const Path path : {Path::vector8, Path::vector4}) {
      if (const Kernels* k = kernels(path)) return *k;
    }
    return all_kernels<float>;
  }();
  return best;
}

float sine(float x) { return sine_of<float>(x); }

Quat rotation_of_turns(Vec3 turns) {
  const auto q = rotation_of_turns_at<float>(turns.x, turns.y, turns.z);
  return {q.x, q.y, q.z, q.w};
}

}  // namespace dopesheet::packed
