// Ranges of pools, and what all readers of an animation's meaning share.
#pragma once
#include <cmath>

#include "dopesheet/zouna.hpp"

namespace dopesheet::zouna {

inline bool inside(std::int64_t start, std::int64_t count, std::size_t pool) {
  return start >= 0 && count >= 0 && start + count <= static_cast<std::int64_t>(pool);
}

// The keys of a range; none where it leaves the pool.
template <class Key, class Int>
std::span<const Key> slice(const std::vector<Key>& pool, Range<Int> r) {
  if (r.count <= 0 || !inside(r.start, r.count, pool.size())) return {};
  return {pool.data() + r.start, static_cast<std::size_t>(r.count)};
}

// The keys that the game can come by: those with a time that is not before the one in front.
template <class Key>
std::vector<std::size_t> reachable(std::span<const Key> keys) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!std::isfinite(keys[i].time)) continue;
    if (out.empty() || keys[i].time >= keys[out.back()].time) out.push_back(i);
  }
  return out;
}

// Every range of numbers and vectors with its pool, walked alike: f(keys, flag).
void each_curve(const Body& b, MaterialOrder order, auto f) {
  for (const Node& n : b.nodes) {
    f(slice(b.translation.keys, n.translation));
    f(slice(b.scale.keys, n.scale));
    f(slice(b.bezier_rotation, n.bezier_rotation));
  }
  for (const MaterialRanges& m : b.materials) {
    const MaterialParts p = parts(m, order);
    f(slice(b.u.keys, p.u));
    f(slice(b.v.keys, p.v));
    f(slice(b.diffuse.keys, p.diffuse));
    f(slice(b.emissive.keys, p.emissive));
    f(slice(b.material_rotation.keys, p.rotation));
  }
  for (const ObjectRange& o : b.morphs) f(slice(b.morph.keys, o.range));
}

inline Vec3 vec(const std::array<std::int16_t, 3>& v) {
  const auto at = [&](std::size_t i) { return static_cast<float>(v[i]) / value_scale; };
  return {at(0), at(1), at(2)};
}
inline Vec3 vec(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }

}  // namespace dopesheet::zouna
