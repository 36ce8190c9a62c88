// Matrices, root motion, events.
#include "dopesheet/playback.hpp"

#include <algorithm>
#include <cmath>

namespace dopesheet {
namespace {

constexpr double most_loops = 1000;

// A time that counts on through loops: how many, and the time within one.
struct Place {
  double loops, time;
};
Place place_of(double time, double start, double end) {
  const double loops = std::floor((time - start) / (end - start));
  return {loops, std::clamp(time - loops * (end - start), start, end)};
}

}  // namespace

Matrix to_matrix(const Transform& t) {
  const Quat q = t.rotation;
  const float xx = 2 * q.x * q.x, yy = 2 * q.y * q.y, zz = 2 * q.z * q.z;
  const float xy = 2 * q.x * q.y, xz = 2 * q.x * q.z, yz = 2 * q.y * q.z;
  const float wx = 2 * q.w * q.x, wy = 2 * q.w * q.y, wz = 2 * q.w * q.z;
  const Vec3 s = t.scale, p = t.translation;
  return {{s.x * (1 - yy - zz), s.x * (xy + wz), s.x * (xz - wy), 0,  //
           s.y * (xy - wz), s.y * (1 - xx - zz), s.y * (yz + wx), 0,  //
           s.z * (xz + wy), s.z * (yz - wx), s.z * (1 - xx - yy), 0,  //
           p.x, p.y, p.z, 1}};
}

Matrix operator*(const Matrix& a, const Matrix& b) {
  Matrix out;
  for (std::size_t c = 0; c < 4; ++c) {
    for (std::size_t r = 0; r < 4; ++r) {
      const auto at = [&](std::size_t k) { return a.values[4 * k + r] * b.values[4 * c + k]; };
      out.values[4 * c + r] = at(0) + at(1) + at(2) + at(3);
    }
  }
  return out;
}

void to_model_space(std::span<const Node> nodes, std::span<const std::size_t> order,
                    std::span<const Transform> local, std::span<Matrix> model) {
  for (const std::size_t i : order) {
    const Matrix m = to_matrix(local[i]);
    const int p = nodes[i].parent;
    const bool has_parent = p >= 0 && static_cast<std::size_t>(p) < nodes.size();
    model[i] = has_parent ? model[static_cast<std::size_t>(p)] * m : m;
  }
}

void skinning_palette(std::span<const Matrix> model, std::span<const Transform> inverse_bind,
                      std::span<Matrix> palette) {
  const std::size_t n = std::min({model.size(), inverse_bind.size(), palette.size()});
  for (std::size_t i = 0; i < n; ++i) palette[i] = model[i] * to_matrix(inverse_bind[i]);
}

Transform root_motion(const Sampler& sampler, Cursor& cursor, std::size_t node, double t0,
                      double t1, std::span<Transform> scratch) {
  const double start = sampler.start(), end = sampler.end();
  if (node >= sampler.nodes() || node >= scratch.size() || !(end > start) || !std::isfinite(t0) ||
      !std::isfinite(t1)) {
    return {};
  }
  // The end of a loop is not the start of the next one: its pose is that just before.
  const auto at = [&](double time) {
    const bool last = time >= end && sampler.outside() == Outside::wrap;
    sampler.sample(last ? std::nextafter(end, start) : time, cursor, scratch.first(node + 1));
    Transform t = scratch[node];
    t.scale = {1, 1, 1};
    return t;
  };
  if (sampler.outside() == Outside::clamp) return inverse(at(t0)) * at(t1);
  if (t1 < t0) return inverse(root_motion(sampler, cursor, node, t1, t0, scratch));
  const Place a = place_of(t0, start, end), b = place_of(t1, start, end);
  if (a.loops == b.loops) return inverse(at(a.time)) * at(b.time);
  const Transform first = at(start), last = at(end);
  Transform out = inverse(at(a.time)) * last;
  const Transform loop = inverse(first) * last;
  const auto whole = static_cast<int>(std::min(b.loops - a.loops - 1, most_loops));
  for (int i = 0; i < whole; ++i) out = out * loop;
  return out * (inverse(first) * at(b.time));
}

void events_between(std::span<const Event> events, double start, double end, Outside outside,
                    double t0, double t1, std::vector<std::size_t>& out) {
  if (!(t1 > t0) || !(end >= start)) return;
  const auto fire = [&](double from, double to, bool rest) {
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    for (std::size_t i = 0; i < events.size(); ++i) {
      if (events[i].time >= from && (rest || events[i].time < to)) out.push_back(i);
    }
    std::sort(out.begin() + first, out.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(events[a].time, a) < std::pair(events[b].time, b);
    });
  };
  if (outside == Outside::clamp || end == start) {
    if (t0 < end || (t0 == end && end == start)) fire(t0, t1, t1 >= end);
    return;
  }
  if (!std::isfinite(t0) || !std::isfinite(t1)) return;
  const Place a = place_of(t0, start, end), b = place_of(t1, start, end);
  if (a.loops == b.loops) return fire(a.time, b.time, false);
  fire(a.time, end, true);
  const auto whole = static_cast<int>(std::min(b.loops - a.loops - 1, most_loops));
  for (int i = 0; i < whole; ++i) fire(start, end, true);
  fire(start, b.time, false);
}

void events_between(const Clip& clip, double t0, double t1, std::vector<std::size_t>& out) {
  events_between(clip.events, clip.start, clip.end, clip.outside, t0, t1, out);
}

}  // namespace dopesheet
