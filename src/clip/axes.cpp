#include "clip/axes.hpp"

#include <algorithm>

namespace dopesheet {
namespace {

struct Point {
  double value, slope;  // per second
};

// One axis, read forwards: at each time what the curve comes from, and what it goes on with.
class Axis {
 public:
  explicit Axis(const Curve<float>& curve) : c_(curve) {}

  // Times must not decrease.
  std::pair<Point, Point> at(double time) {
    const std::size_t n = c_.times.size();
    while (next_ < n && c_.times[next_] < time) ++next_;
    const std::size_t before = next_;
    std::size_t after = next_;
    while (after < n && c_.times[after] == time) ++after;
    if (after == before) {  // inside a segment, or outside them all
      const Point p = inside(time);
      return {p, p};
    }
    return {left_of(before), right_of(after - 1)};
  }

 private:
  double slope(std::size_t segment, bool at_end) const {
    if (c_.interp == Interp::hermite) return at_end ? c_.in[segment + 1] : c_.out[segment];
    const double dt = c_.times[segment + 1] - c_.times[segment];
    if (c_.interp == Interp::bezier) {
      return at_end ? 3 * (double{c_.values[segment + 1]} - c_.in[segment + 1]) / dt
                    : 3 * (double{c_.out[segment]} - c_.values[segment]) / dt;
    }
    return (double{c_.values[segment + 1]} - c_.values[segment]) / dt;
  }
  Point left_of(std::size_t key) const {
    const bool starts = key == 0 || c_.times[key - 1] == c_.times[key];
    return {c_.values[key], starts ? 0 : slope(key - 1, true)};
  }
  Point right_of(std::size_t key) const {
    const bool ends = key + 1 == c_.times.size() || c_.times[key + 1] == c_.times[key];
    return {c_.values[key], ends ? 0 : slope(key, false)};
  }
  Point inside(double time) const {
    if (next_ == 0) return {c_.values.front(), 0};
    if (next_ == c_.times.size()) return {c_.values.back(), 0};
    const std::size_t i = next_ - 1;
    const double dt = c_.times[i + 1] - c_.times[i], u = (time - c_.times[i]) / dt;
    const double a = c_.values[i], b = c_.values[i + 1];
    const double out = slope(i, false) * dt, in = slope(i, true) * dt;
    const double u2 = u * u, u3 = u2 * u;
    return {(2 * u3 - 3 * u2 + 1) * a + (u3 - 2 * u2 + u) * out + (3 * u2 - 2 * u3) * b +
                (u3 - u2) * in,
            ((6 * u2 - 6 * u) * (a - b) + (3 * u2 - 4 * u + 1) * out + (3 * u2 - 2 * u) * in) / dt};
  }

  const Curve<float>& c_;
  std::size_t next_ = 0;  // the first key not before the last time asked for
};

Vec3 vector(double x, double y, double z) {
  return {static_cast<float>(x), static_cast<float>(y), static_cast<float>(z)};
}

bool is_smooth(const Curve<float>& c) {
  return c.times.size() == 1 || c.interp == Interp::linear || c.interp == Interp::hermite ||
         c.interp == Interp::bezier;
}

}  // namespace

std::optional<Curve<Vec3>> merged(const std::array<Curve<float>, 3>& axes, std::size_t most) {
  std::vector<double> times;
  for (const auto& c : axes) {
    if (!is_smooth(c)) return std::nullopt;
    times.insert(times.end(), c.times.begin(), c.times.end());
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (times.size() > most / 2) return std::nullopt;  // a jump takes two keys

  Curve<Vec3> out;
  out.interp = Interp::hermite;
  std::array<Axis, 3> axis{Axis(axes[0]), Axis(axes[1]), Axis(axes[2])};
  const auto add = [&](double time, Vec3 value, Vec3 in, Vec3 after) {
    out.times.push_back(time);
    out.values.push_back(value);
    out.in.push_back(in);
    out.out.push_back(after);
  };
  for (const double t : times) {
    const auto [xl, xr] = axis[0].at(t);
    const auto [yl, yr] = axis[1].at(t);
    const auto [zl, zr] = axis[2].at(t);
    const Vec3 left = vector(xl.value, yl.value, zl.value);
    const Vec3 right = vector(xr.value, yr.value, zr.value);
    const Vec3 in = vector(xl.slope, yl.slope, zl.slope);
    const Vec3 after = vector(xr.slope, yr.slope, zr.slope);
    if (left == right) {
      add(t, left, in, after);
    } else {
      add(t, left, in, {});
      add(t, right, {}, after);
    }
  }
  return out;
}

}  // namespace dopesheet
