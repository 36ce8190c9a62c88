// Geometry of the V3C codec that its model and checks share.
#pragma once
#include <algorithm>
#include <cmath>
#include <optional>

#include "dopesheet/v3c.hpp"

namespace dopesheet::v3c {

inline constexpr std::uint8_t unused_bone = 0xFF;

using Point = std::array<double, 3>;

inline Point operator-(const Point& a, const Point& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
inline double dot(const Point& a, const Point& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Point point(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }

// Unit length, to the outside. None for a triangle without area: one whose height is no more than
// the rounding of floats as large as its longest edge. Not finite where a corner is not.
inline std::optional<Point> face_normal(const std::array<float, 3>& a,
                                        const std::array<float, 3>& b,
                                        const std::array<float, 3>& c) {
  const Point ab = point(b) - point(a), ac = point(c) - point(a), bc = point(c) - point(b);
  const Point n = cross(ab, ac);
  const double size = std::sqrt(dot(n, n));
  if (size <= 1e-7 * std::max({dot(ab, ab), dot(ac, ac), dot(bc, bc)})) return {};
  return Point{n[0] / size, n[1] / size, n[2] / size};
}

// The skeleton: the first of its kind. Null where there is none.
struct BonesAt {
  const Bones* bones = nullptr;
  std::size_t chunk = 0;
};
inline BonesAt find_bones(const File& file) {
  for (std::size_t i = 0; i < file.chunks.size(); ++i) {
    if (const auto* b = std::get_if<Bones>(&file.chunks[i].body)) return {b, i};
  }
  return {};
}

}  // namespace dopesheet::v3c
