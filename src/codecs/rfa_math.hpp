// Arithmetic of the RFA codec that its clip, writer and checks share.
#pragma once
#include <cmath>
#include <cstdlib>

#include "dopesheet/rfa.hpp"

namespace dopesheet::rfa {

inline std::int64_t raw_dot(const std::array<std::int16_t, 4>& a,
                            const std::array<std::int16_t, 4>& b) {
  std::int64_t d = 0;
  for (std::size_t i = 0; i < 4; ++i) d += std::int64_t{a[i]} * b[i];
  return d;
}

// The engine's conversion: toward zero, the low 16 bits.
inline std::int16_t to_int16(double v) {
  return static_cast<std::int16_t>(static_cast<std::int32_t>(v));
}

// True when the engine does not interpolate between two keys but shows the later one all along.
inline bool snaps(const std::array<std::int16_t, 4>& a, const std::array<std::int16_t, 4>& b) {
  constexpr double unit = double{rotation_scale} * rotation_scale;
  return 1 - static_cast<double>(std::abs(raw_dot(a, b))) / unit <= 1e-6;
}

inline double raw_length(const std::array<std::int16_t, 4>& q) {
  return std::sqrt(static_cast<double>(raw_dot(q, q)));
}

// A vertex of a morph keyframe, metres. `keyframe` and `vertex` must exist.
inline Vec3 morph_position(const File& file, std::size_t keyframe, std::size_t vertex) {
  const std::size_t i = keyframe * file.morph_vertices.size() + vertex;
  if (file.version != 8) {
    const auto& p = file.morph_positions7[i];
    return {p[0], p[1], p[2]};
  }
  const auto& b = file.morph_positions8[i];
  const auto at = [&](std::size_t c) {
    const double low = file.morph_box_min[c], size = file.morph_box_max[c] - low;
    return static_cast<float>(low + b[c] * size / 255);
  };
  return {at(0), at(1), at(2)};
}

}  // namespace dopesheet::rfa
