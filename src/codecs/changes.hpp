// What writers of clips share: whether a track or property is still what it was, to the last bit.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "dopesheet/clip.hpp"

namespace dopesheet {

inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T>
bool same_bits(const Curve<T>& a, const Curve<T>& b) {
  return a.interp == b.interp && same_bits(a.times, b.times) && same_bits(a.values, b.values) &&
         same_bits(a.in, b.in) && same_bits(a.out, b.out) && same_bits(a.params, b.params);
}
template <class T, std::size_t N>
bool same_bits(const std::array<Curve<T>, N>& a, const std::array<Curve<T>, N>& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](const auto& x, const auto& y) { return same_bits(x, y); });
}
inline bool same_bits(const Morph& a, const Morph& b) {
  return same_bits(a.vertices, b.vertices) &&
         std::equal(a.positions.begin(), a.positions.end(), b.positions.begin(), b.positions.end(),
                    [](const auto& x, const auto& y) { return same_bits(x, y); });
}
inline bool same_curve(const Track& a, const Track& b) {
  if (a.curve.index() != b.curve.index()) return false;
  return std::visit(
      [&](const auto& x) {
        return same_bits(x, std::get<std::remove_cvref_t<decltype(x)>>(b.curve));
      },
      a.curve);
}

// Null where there is none.
inline const PropertyValue* find_property(const Properties& list, std::string_view key) {
  for (const Property& p : list) {
    if (p.key == key) return &p.value;
  }
  return nullptr;
}

}  // namespace dopesheet
