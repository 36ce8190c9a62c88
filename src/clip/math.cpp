// Vectors, quaternions and transforms. Plain formulas in double, rounded once.
#include <cmath>

#include "dopesheet/sample.hpp"

namespace dopesheet {

Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vec3 operator*(float s, Vec3 v) { return {s * v.x, s * v.y, s * v.z}; }
float length(Vec3 v) {
  return static_cast<float>(std::sqrt(double{v.x} * v.x + double{v.y} * v.y + double{v.z} * v.z));
}
float dot(Quat a, Quat b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

Quat operator*(Quat a, Quat b) {
  return {
      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
Quat conjugate(Quat q) { return {-q.x, -q.y, -q.z, q.w}; }

Quat normalize(Quat q) {
  const double n =
      std::sqrt(double{q.x} * q.x + double{q.y} * q.y + double{q.z} * q.z + double{q.w} * q.w);
  if (!(n > 0) || !std::isfinite(n)) return {};
  return {static_cast<float>(q.x / n), static_cast<float>(q.y / n), static_cast<float>(q.z / n),
          static_cast<float>(q.w / n)};
}

Vec3 rotate(Quat q, Vec3 v) {
  const Vec3 u{q.x, q.y, q.z};
  const auto cross = [](Vec3 a, Vec3 b) {
    return Vec3{a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
  };
  const Vec3 t = 2 * cross(u, v);
  return v + q.w * t + cross(u, t);
}

double angle_between(Quat a, Quat b) {
  const auto d = [](float x) { return static_cast<double>(x); };
  const double x = d(a.w) * b.x - d(a.x) * b.w - d(a.y) * b.z + d(a.z) * b.y;
  const double y = d(a.w) * b.y + d(a.x) * b.z - d(a.y) * b.w - d(a.z) * b.x;
  const double z = d(a.w) * b.z - d(a.x) * b.y + d(a.y) * b.x - d(a.z) * b.w;
  const double w = d(a.w) * b.w + d(a.x) * b.x + d(a.y) * b.y + d(a.z) * b.z;
  return 2 * std::atan2(std::sqrt(x * x + y * y + z * z), std::abs(w)) * 57.29577951308232;
}

Quat slerp(Quat a, Quat b, double u) {
  double d = double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w;
  // Codecs choose the arc of a half turn; rounding must not choose again.
  const double sign = d < -1e-6 ? -1 : 1;
  d *= sign;
  double wa = 1 - u, wb = u;
  if (d < 1 - 1e-12) {
    const double angle = std::acos(d), s = std::sin(angle);
    wa = std::sin((1 - u) * angle) / s;
    wb = std::sin(u * angle) / s;
  }
  wb *= sign;
  const auto mix = [&](float p, float q) { return static_cast<float>(wa * p + wb * q); };
  return normalize({mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z), mix(a.w, b.w)});
}

Transform operator*(const Transform& p, const Transform& l) {
  const Vec3 scaled{p.scale.x * l.translation.x, p.scale.y * l.translation.y,
                    p.scale.z * l.translation.z};
  return {p.translation + rotate(p.rotation, scaled),
          normalize(p.rotation * l.rotation),
          {p.scale.x * l.scale.x, p.scale.y * l.scale.y, p.scale.z * l.scale.z}};
}

Transform inverse(const Transform& t) {
  const Quat q = conjugate(t.rotation);
  const Vec3 v = rotate(q, t.translation);
  return {{-v.x, -v.y, -v.z}, q, {1, 1, 1}};
}

double ease(double u, double a, double b) {
  if (u == 0 || u == 1 || a + b == 0) return u;
  if (a + b > 1) {
    const double s = a + b;
    a /= s;
    b /= s;
  }
  const double k = 1 / (2 - a - b);
  if (u < a) return k / a * u * u;
  if (u < 1 - b) return (2 * u - a) * k;
  return 1 - k / b * (1 - u) * (1 - u);
}

}  // namespace dopesheet
