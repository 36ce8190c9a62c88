// Curves at a time, in double: what the packed Sampler is measured against.
#include "dopesheet/sample.hpp"

#include <algorithm>
#include <cmath>

namespace dopesheet {
namespace {

constexpr double two_pi = 6.283185307179586;

// The last key at or before `time`, of times that are not empty; 0 when all are later. Of keys with one
// time the last one counts.
std::uint32_t find_key(const std::vector<double>& times, double time, std::uint32_t& hint) {
  const auto n = static_cast<std::uint32_t>(times.size());
  const auto good = [&](std::uint32_t i) {
    return i < n && (i == 0 || times[i] <= time) && (i + 1 == n || time < times[i + 1]);
  };
  if (good(hint)) return hint;
  if (good(hint + 1)) return ++hint;
  const auto next = std::upper_bound(times.begin(), times.end(), time);
  hint = next == times.begin() ? 0 : static_cast<std::uint32_t>(next - times.begin() - 1);
  return hint;
}

double hermite(double a, double out, double in, double b, double u, double dt) {
  const double u2 = u * u, u3 = u2 * u;
  return (2 * u3 - 3 * u2 + 1) * a + (u3 - 2 * u2 + u) * dt * out + (3 * u2 - 2 * u3) * b +
         (u3 - u2) * dt * in;
}
double bezier(double a, double out, double in, double b, double u) {
  const double v = 1 - u;
  return v * v * v * a + 3 * u * v * v * out + 3 * u * u * v * in + u * u * u * b;
}

// One component of a segment of a curve of vectors or scalars.
template <class T>
float component(const Curve<T>& c, std::size_t i, double u, double dt, float T::* m) {
  const double a = c.values[i].*m, b = c.values[i + 1].*m;
  switch (c.interp) {
    case Interp::step:
      return c.values[i].*m;
    case Interp::hermite:
      return static_cast<float>(hermite(a, c.out[i].*m, c.in[i + 1].*m, b, u, dt));
    case Interp::bezier:
      return static_cast<float>(bezier(a, c.out[i].*m, c.in[i + 1].*m, b, u));
    default:
      return static_cast<float>(a + u * (b - a));
  }
}

Quat mix(Quat a, Quat b, double wa, double wb) {
  const auto m = [&](float p, float q) { return static_cast<float>(wa * p + wb * q); };
  return normalize({m(a.x, b.x), m(a.y, b.y), m(a.z, b.z), m(a.w, b.w)});
}

// TotemTech: the angle between the keys as four-vectors and one over its sine, stored with the
// earlier key; two pi more means that the later key is to be negated. Values that cannot be right fall
// back to plain slerp.
Quat slerp_stored(Quat a, Quat b, Params p, double u) {
  constexpr float turn = 6.2831855F;  // compared as the game's float
  if (p[0] == 0) return a;
  double omega = p[0], sign = 1;
  if (p[0] > turn) {
    omega -= two_pi;
    sign = -1;
  }
  if (!(std::abs(p[1] * std::sin(omega) - 1) < 0.05)) return slerp(a, b, u);
  return mix(a, b, p[1] * std::sin((1 - u) * omega), sign * p[1] * std::sin(u * omega));
}

}  // namespace

float evaluate(const Curve<float>& c, double time, std::uint32_t& hint) {
  const std::size_t i = find_key(c.times, time, hint);
  if (time <= c.times[i] || i + 1 == c.times.size()) return c.values[i];
  const double dt = c.times[i + 1] - c.times[i], u = (time - c.times[i]) / dt;
  const double a = c.values[i], b = c.values[i + 1];
  switch (c.interp) {
    case Interp::step:
      return c.values[i];
    case Interp::hermite:
      return static_cast<float>(hermite(a, c.out[i], c.in[i + 1], b, u, dt));
    case Interp::bezier:
      return static_cast<float>(bezier(a, c.out[i], c.in[i + 1], b, u));
    default:
      return static_cast<float>(a + u * (b - a));
  }
}

Vec3 evaluate(const Curve<Vec3>& c, double time, std::uint32_t& hint) {
  const std::size_t i = find_key(c.times, time, hint);
  if (time <= c.times[i] || i + 1 == c.times.size()) return c.values[i];
  const double dt = c.times[i + 1] - c.times[i], u = (time - c.times[i]) / dt;
  return {component(c, i, u, dt, &Vec3::x), component(c, i, u, dt, &Vec3::y),
          component(c, i, u, dt, &Vec3::z)};
}

Quat evaluate(const Curve<Quat>& c, double time, std::uint32_t& hint) {
  const std::size_t i = find_key(c.times, time, hint);
  if (time <= c.times[i] || i + 1 == c.times.size()) return normalize(c.values[i]);
  const double dt = c.times[i + 1] - c.times[i], u = (time - c.times[i]) / dt;
  const Quat a = c.values[i], b = c.values[i + 1];
  switch (c.interp) {
    case Interp::step:
      return normalize(a);
    case Interp::hermite:
    case Interp::bezier:
      return normalize({component(c, i, u, dt, &Quat::x), component(c, i, u, dt, &Quat::y),
                        component(c, i, u, dt, &Quat::z), component(c, i, u, dt, &Quat::w)});
    case Interp::nlerp:
      return mix(a, b, 1 - u, dot(a, b) < 0 ? -u : u);
    case Interp::slerp_ease:
      // A negative ease makes the game jump; smooth evaluation takes it for none.
      return slerp(a, b, ease(u, std::max(c.params[i][1], 0.F), std::max(c.params[i + 1][0], 0.F)));
    case Interp::slerp_stored:
      return slerp_stored(a, b, c.params[i], u);
    default:
      return slerp(a, b, u);
  }
}

Quat rotation_of_turns(Vec3 turns) {
  const auto about = [](double turn, Vec3 axis) {
    const double half = turn * two_pi / 2;
    const auto s = static_cast<float>(std::sin(half));
    return Quat{s * axis.x, s * axis.y, s * axis.z, static_cast<float>(std::cos(half))};
  };
  return normalize(about(turns.z, {0, 0, 1}) * about(turns.y, {0, 1, 0}) *
                   about(turns.x, {1, 0, 0}));
}

void to_object_space(std::span<const Node> nodes, std::span<const std::size_t> order,
                     std::span<const Transform> local, std::span<Transform> object) {
  for (const std::size_t i : order) {
    const int p = nodes[i].parent;
    const bool has_parent = p >= 0 && static_cast<std::size_t>(p) < nodes.size();
    object[i] = has_parent ? object[static_cast<std::size_t>(p)] * local[i] : local[i];
  }
}

}  // namespace dopesheet
