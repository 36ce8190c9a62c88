// What the clip, writer, checks and evidence of the TotemTech codec share.
#pragma once
#include <cmath>
#include <numbers>

#include "dopesheet/sample.hpp"
#include "dopesheet/totemtech.hpp"

namespace dopesheet::totemtech {

inline constexpr double quat_unit = 2000;
inline constexpr float turn_flag = 6.2831855F;  // compared as the game's float

inline double dot(const std::array<std::int16_t, 4>& a, const std::array<std::int16_t, 4>& b) {
  double d = 0;
  for (std::size_t i = 0; i < 4; ++i) d += double{static_cast<double>(a[i])} * b[i];
  return d;
}
inline double length(const std::array<std::int16_t, 4>& q) { return std::sqrt(dot(q, q)); }

// The stored angle without its flag.
inline double plain_angle(float omega) {
  return omega > turn_flag ? omega - 2 * std::numbers::pi : double{omega};
}

inline Interp kind_of(std::uint16_t interp, Flags flags) {
  if ((interp & hold_bit) != 0) return Interp::step;
  const bool is_linear = (interp & (linear_bit | smooth_bit)) == linear_bit;
  return is_linear && flags == Flags::recommended ? Interp::linear : Interp::hermite;
}

inline Vec3 vec(const std::array<std::int16_t, 3>& v, double scale) {
  const auto at = [&](std::size_t i) { return static_cast<float>(v[i] * scale); };
  return {at(0), at(1), at(2)};
}

// How the numbers of a file become those of a clip.
struct Units {
  Meaning meaning;
  const Options& options;

  double seconds(std::uint16_t frame) const { return frame / meaning.frames_per_second; }
};

// What a key is to a curve: its value, and tangents of the segments before and after it.
inline float value_of(const KeyFloat& k, const Units&) { return k.value; }
inline float in_of(const KeyFloat& k, double per_second, const Units& u) {
  return static_cast<float>(u.meaning.tangent_sign * u.options.tangent_scale * k.tangent_in *
                            per_second);
}
inline float out_of(const KeyFloat& k, double per_second, const Units& u) {
  return static_cast<float>(u.options.tangent_scale * k.tangent_out * per_second);
}
inline Vec3 value_of(const KeyVec3& k, const Units& u) {
  return vec(k.value, u.options.vector_scale);
}
inline Vec3 in_of(const KeyVec3& k, double per_second, const Units& u) {
  return vec(k.tangent_in, u.meaning.tangent_sign * u.options.tangent_scale *
                               u.options.vector_scale * per_second);
}
inline Vec3 out_of(const KeyVec3& k, double per_second, const Units& u) {
  return vec(k.tangent_out, u.options.tangent_scale * u.options.vector_scale * per_second);
}
inline Quat value_of(const KeyRot& k, const Units& u) {
  const auto at = [&](std::size_t i) { return static_cast<float>(k.rotation[i]); };
  const Quat q = normalize({at(0), at(1), at(2), at(3)});
  return u.options.conjugate ? conjugate(q) : q;
}

// Which node each record moves: the first that has its id, the second record of that id the second, and
// so on. Records that find none add a root to `nodes`.
struct Targets {
  std::vector<std::size_t> nodes, meshes;
};
Targets assign(const File& file, const Names* names, std::vector<Node>& nodes);

// The id that a node goes by.
std::uint32_t id_of(const Node& node);

// The keyframers of a material by their number, from 0: calls f(keyframer).
template <class Material, class F>
void for_track(Material& m, std::size_t i, F f) {
  switch (i) {
    case 0:
      return f(m.track1);
    case 1:
      return f(m.track2);
    case 2:
      return f(m.track3);
    case 3:
      return f(m.track4);
    case 4:
      return f(m.track5);
    case 5:
      return f(m.track6);
    case 6:
      return f(m.track7);
    default:
      return f(m.track8);
  }
}

}  // namespace dopesheet::totemtech
