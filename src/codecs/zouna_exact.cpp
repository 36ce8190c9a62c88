// Poses as the game computes them: its search with its quirks, in floats.
#include "dopesheet/sample.hpp"
#include "zouna_ranges.hpp"

namespace dopesheet::zouna {
namespace {

// The earlier key of the segment in hand, and where in it; a key that holds has u = 0.
struct Place {
  std::size_t key;
  float u;
  bool between;
};
// The game's loop: forward from the cursor, to the first segment that holds the time.
template <class Key>
Place find(std::span<const Key> keys, float time, std::uint32_t& cursor) {
  if (keys.size() == 1) return {0, 0, false};
  std::uint32_t k = std::max(cursor, 1U);
  while (k < keys.size() && !(keys[k - 1].time <= time && time < keys[k].time)) ++k;
  cursor = k;
  if (k >= keys.size()) return {keys.size() - 1, 0, false};
  return {k - 1, (time - keys[k - 1].time) / (keys[k].time - keys[k - 1].time), true};
}

Vec3 vector(std::span<const KeyVec3> keys, unsigned flag, int sign, float time,
            std::uint32_t& cursor) {
  const Place p = find(keys, time, cursor);
  const Vec3 a = vec(keys[p.key].value);
  if (!p.between || (flag & hold_bit) != 0) return a;
  const Vec3 b = vec(keys[p.key + 1].value), t = vec(keys[p.key].tangent_out);
  const Vec3 m = static_cast<float>(sign) * vec(keys[p.key + 1].tangent_in);
  const auto at = [&](float Vec3::* c) {
    const float p0 = a.*c, p1 = b.*c, t0 = t.*c, m1 = m.*c;
    return p0 + p.u * (t0 + p.u * ((-3 * p0 + 3 * p1 - 2 * t0 - m1) +
                                   p.u * (2 * p0 - 2 * p1 + t0 + m1)));
  };
  return {at(&Vec3::x), at(&Vec3::y), at(&Vec3::z)};
}

Quat quaternion(const KeyRot& k) {
  const auto at = [&](std::size_t i) { return static_cast<float>(k.rotation[i]) / rotation_scale; };
  return {at(0), at(1), at(2), at(3)};
}
Quat rotation(std::span<const KeyRot> keys, RotationRule rule, float time, std::uint32_t& cursor) {
  const Place p = find(keys, time, cursor);
  const Quat a = quaternion(keys[p.key]);
  if (!p.between) return normalize(a);
  const Quat b = quaternion(keys[p.key + 1]);
  if (rule == RotationRule::slerp) return slerp(normalize(a), normalize(b), double{p.u});
  const float wa = 1 - p.u, wb = dot(a, b) < 0 ? -p.u : p.u;
  return normalize(
      {wa * a.x + wb * b.x, wa * a.y + wb * b.y, wa * a.z + wb * b.z, wa * a.w + wb * b.w});
}

}  // namespace

void sample_exact(const File& file, const Options& options, float time, EngineCursor& cursor,
                  std::span<Transform> out) {
  const Body& b = file.body;
  const int sign = tangent_sign(b, options);
  cursor.at.resize(3 * b.nodes.size());
  for (std::size_t i = 0; i < b.nodes.size() && i < out.size(); ++i) {
    const Node& n = b.nodes[i];
    const auto t = slice(b.translation.keys, n.translation), s = slice(b.scale.keys, n.scale);
    const auto r = slice(b.rotation, n.rotation);
    std::uint32_t* const at = cursor.at.data() + 3 * i;
    if (!t.empty()) out[i].translation = vector(t, b.translation.flag, sign, time, at[0]);
    if (!r.empty()) out[i].rotation = rotation(r, options.rotation, time, at[1]);
    if (!s.empty()) out[i].scale = vector(s, b.scale.flag, sign, time, at[2]);
  }
}

}  // namespace dopesheet::zouna
