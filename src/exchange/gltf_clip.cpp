// Clips as glTF samplers: cut to the clip's range, times as floats from 0.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "dopesheet/sample.hpp"
#include "gltf_build.hpp"

namespace dopesheet::gltf {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

bool is_cubic(Interp i) { return i == Interp::hermite || i == Interp::bezier; }

double dot_exact(Quat a, Quat b) {
  return double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w;
}
Quat negated(Quat q) { return {-q.x, -q.y, -q.z, -q.w}; }

// k (b - a), rounded once.
Vec3 difference(Vec3 a, Vec3 b, double k) {
  const auto one = [k](float p, float q) { return static_cast<float>(k * (double{q} - p)); };
  return {one(a.x, b.x), one(a.y, b.y), one(a.z, b.z)};
}

// The same curve with derivatives per second instead of control points; 0 where a segment has no
// length.
Curve<Vec3> as_hermite(Curve<Vec3> c) {
  if (c.interp != Interp::bezier) return c;
  c.interp = Interp::hermite;
  for (std::size_t i = 0; i < c.times.size(); ++i) {
    const double before = i > 0 ? c.times[i] - c.times[i - 1] : 0;
    const double after = i + 1 < c.times.size() ? c.times[i + 1] - c.times[i] : 0;
    c.in[i] = before > 0 ? difference(c.in[i], c.values[i], 3 / before) : Vec3{};
    c.out[i] = after > 0 ? difference(c.values[i], c.out[i], 3 / after) : Vec3{};
  }
  return c;
}

// Of a hermite curve at a time inside one of its segments, per second; 0 outside them.
Vec3 derivative(const Curve<Vec3>& c, double time) {
  const auto next = std::upper_bound(c.times.begin(), c.times.end(), time);
  if (next == c.times.begin() || next == c.times.end()) return {};
  const auto i = static_cast<std::size_t>(next - c.times.begin() - 1);
  const double dt = c.times[i + 1] - c.times[i], u = (time - c.times[i]) / dt;
  const auto at = [&](float Vec3::* m) {
    const double slope = (6 * u - 6 * u * u) * (double{c.values[i + 1].*m} - c.values[i].*m) / dt;
    return static_cast<float>(slope + (3 * u * u - 4 * u + 1) * (c.out[i].*m) +
                              (3 * u * u - 2 * u) * (c.in[i + 1].*m));
  };
  return {at(&Vec3::x), at(&Vec3::y), at(&Vec3::z)};
}

// The keys from `start` to `end`, with a new one at either where the curve goes on beyond: keys out
// there are never reached, but lead to and from. Derivatives stay the same under cutting.
template <class T>
Curve<T> cut(const Curve<T>& source, double start, double end) {
  Curve<T> smooth;
  if constexpr (std::same_as<T, Vec3>) smooth = as_hermite(source);
  const auto& times = source.times;
  Curve<T> out;
  out.interp = is_cubic(source.interp) ? Interp::hermite : source.interp;
  std::uint32_t hint = 0;
  const auto add = [&](double time) {
    out.times.push_back(time);
    out.values.push_back(evaluate(source, time, hint));
    if constexpr (std::same_as<T, Vec3>) {
      if (!is_cubic(source.interp)) return;
      out.in.push_back(derivative(smooth, time));
      out.out.push_back(out.in.back());
    }
  };
  const auto first = std::lower_bound(times.begin(), times.end(), start);
  const auto last = std::upper_bound(times.begin(), times.end(), end);
  if (times.front() < start && (first == times.end() || *first > start)) add(start);
  for (auto i = first; i < last; ++i) {
    const auto at = static_cast<std::size_t>(i - times.begin());
    out.times.push_back(*i);
    out.values.push_back(source.values[at]);
    if constexpr (std::same_as<T, Vec3>) {
      if (!is_cubic(source.interp)) continue;
      out.in.push_back(smooth.in[at]);
      out.out.push_back(smooth.out[at]);
    }
  }
  if (last != times.end() && (out.times.empty() || out.times.back() < end)) add(end);
  return out;
}

// A key to write: where its value, the tangent into it and the one out of it come from.
struct Slot {
  float time;
  std::size_t value, in, out;
};
constexpr std::size_t none = std::numeric_limits<std::size_t>::max();

// Clip times as floats from 0, strictly increasing. Of keys with one time the last one stays: it is
// what the game shows then. Where `jumps` says that the value changes between them, the first one
// stays too, just before.
std::vector<Slot> slots(const std::vector<double>& times, double start, double end, auto&& jumps) {
  std::vector<Slot> out;
  const auto seconds = [&](std::size_t i) {
    return static_cast<float>(std::max(times[i] - start, 0.0));
  };
  const auto add = [&](float time, Slot s) {
    s.time = out.empty() ? time : std::max(time, std::nextafter(out.back().time, infinity));
    out.push_back(s);
  };
  for (std::size_t a = 0, b = 0; a < times.size(); a = b + 1) {
    const float time = seconds(a);
    for (b = a; b + 1 < times.size() && seconds(b + 1) == time; ++b) {
    }
    if (a != b && time > 0 && jumps(a, b)) {
      add(std::nextafter(time, 0.0F), {0, a, a, none});
      add(time, {0, b, none, b});
    } else {
      add(time, {0, b, a, b});
    }
  }
  // Where many keys crowd before the end, towards the start instead.
  std::vector<Slot> bounded = out;
  float limit = static_cast<float>(end - start);
  for (auto slot = bounded.rbegin(); slot != bounded.rend() && slot->time > limit; ++slot) {
    slot->time = limit;
    limit = std::nextafter(limit, -infinity);
  }
  return bounded.empty() || bounded[0].time >= 0 ? bounded : out;
}

bool differ(float a, float b) {
  // Less than this is how two ways to compute one time round, not a jump.
  return std::abs(a - b) > 1e-6F * std::max(1.0F, std::max(std::abs(a), std::abs(b)));
}
bool differ(Vec3 a, Vec3 b) { return differ(a.x, b.x) || differ(a.y, b.y) || differ(a.z, b.z); }
bool differ(Quat a, Quat b) { return std::abs(dot_exact(a, b)) < 1 - 1e-12; }

void append(std::vector<float>& out, float v) { out.push_back(v); }
void append(std::vector<float>& out, Vec3 v) { out.insert(out.end(), {v.x, v.y, v.z}); }
void append(std::vector<float>& out, Quat q) { out.insert(out.end(), {q.x, q.y, q.z, q.w}); }

Kind kind_of(Interp interp) {
  if (is_cubic(interp)) return Kind::cubic;
  return interp == Interp::step ? Kind::step : Kind::linear;
}

// A cut curve as a sampler.
// Between two keys half a turn apart every program picks its own way round; a key in the middle settles it.
Curve<Quat> without_half_turns(const Curve<Quat>& c) {
  constexpr double half_turn = 1e-4;  // cosine of half the angle
  if (c.interp != Interp::linear) return c;
  Curve<Quat> out;
  out.interp = c.interp;
  for (std::size_t i = 0; i < c.times.size(); ++i) {
    if (i > 0 && c.times[i] > c.times[i - 1] &&
        std::abs(dot_exact(c.values[i - 1], c.values[i])) < half_turn) {
      out.times.push_back(c.times[i - 1] + (c.times[i] - c.times[i - 1]) / 2);
      out.values.push_back(slerp(c.values[i - 1], c.values[i], 0.5));
    }
    out.times.push_back(c.times[i]);
    out.values.push_back(c.values[i]);
  }
  return out;
}

template <class T>
Samples samples(const Curve<T>& c, double start, double end) {
  const auto keys = slots(c.times, start, end, [&](std::size_t a, std::size_t b) {
    return (c.interp != Interp::step || a == 0) && differ(c.values[a], c.values[b]);
  });
  Samples out;
  out.kind = keys.size() > 1 ? kind_of(c.interp) : Kind::linear;
  out.components = sizeof(T) / sizeof(float);
  // Derivatives that give the same segment although rounding has changed its length.
  const auto tangent = [&](std::size_t k, bool is_out) {
    if constexpr (std::same_as<T, Vec3>) {
      const std::size_t from = is_out ? k : k - 1;
      if (from < keys.size() - 1 && keys[from].out != none && keys[from + 1].in != none) {
        const double dt = c.times[keys[from + 1].in] - c.times[keys[from].out];
        const double written = double{keys[from + 1].time} - keys[from].time;
        const Vec3 slope = is_out ? c.out[keys[k].out] : c.in[keys[k].in];
        return append(out.values, difference({}, slope, dt / written));
      }
    }
    append(out.values, Vec3{});
  };
  T before{};
  for (std::size_t k = 0; k < keys.size(); ++k) {
    T value = c.values[keys[k].value];
    if constexpr (std::same_as<T, Quat>) {
      value = normalize(value);
      if (k > 0 && dot_exact(before, value) < 0) value = negated(value);
      before = value;
    }
    out.times.push_back(keys[k].time);
    if (out.kind == Kind::cubic) tangent(k, false);
    append(out.values, value);
    if (out.kind == Kind::cubic) tangent(k, true);
  }
  return out;
}

// 0 or 1, at once.
Curve<float> shown(const Curve<float>& c) {
  Curve<float> out;
  out.interp = Interp::step;
  out.times = c.times;
  for (std::size_t i = 0; i < c.values.size(); ++i) {
    // A fade shows the node from its first trace to its last one.
    const bool fades_in =
        c.interp != Interp::step && i + 1 < c.values.size() && c.values[i + 1] > 0;
    out.values.push_back(c.values[i] > 0 || fades_in ? 1.F : 0.F);
  }
  return out;
}
// The scale that stands for a node's visibility.
Curve<Vec3> scale_of(const Curve<float>& visibility, Vec3 rest) {
  const Curve<float> flags = shown(visibility);
  Curve<Vec3> out;
  out.interp = flags.interp;
  out.times = flags.times;
  for (const float v : flags.values) out.values.push_back(v * rest);
  return out;
}

// The value that the curve comes from at a time: another one than at the time where it jumps.
float left_limit(const Curve<float>& c, double time, std::uint32_t& hint) {
  const auto key = std::lower_bound(c.times.begin(), c.times.end(), time);
  const auto i = static_cast<std::size_t>(key - c.times.begin());
  if (i == 0) return c.values[0];
  if (i == c.times.size() || *key != time) return evaluate(c, time, hint);
  return c.interp == Interp::step ? c.values[i - 1] : c.values[i];
}

}  // namespace

const char* name(Path path) {
  switch (path) {
    case Path::translation:
      return "translation";
    case Path::rotation:
      return "rotation";
    case Path::scale:
      return "scale";
    case Path::visibility:
      return "visibility";
    case Path::weights:
      return "weights";
  }
  return "";
}
const char* name(Kind kind) {
  switch (kind) {
    case Kind::step:
      return "STEP";
    case Kind::linear:
      return "LINEAR";
    case Kind::cubic:
      return "CUBICSPLINE";
  }
  return "";
}

std::vector<Movement> movements(const Clip& clip, std::span<const Node> rest,
                                GltfVisibility visibility, std::vector<Loss>& losses) {
  std::vector<Movement> out;
  for (const Track& t : clip.tracks) {
    const bool is_node = t.channel != Channel::weight && t.channel != Channel::custom;
    if (!is_node || t.target >= rest.size()) continue;
    Movement m{t.target, Path::scale, {}, t.properties};
    const auto write = [&](const auto& curve) {
      m.samples = samples(cut(curve, clip.start, clip.end), clip.start, clip.end);
    };
    if (t.channel == Channel::translation) m.path = Path::translation;
    if (t.channel == Channel::rotation) m.path = Path::rotation;
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
      write(without_half_turns(*q));
    } else if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      write(*v);
    } else if (const auto* f = std::get_if<Curve<float>>(&t.curve)) {
      if (visibility == GltfVisibility::scale) {
        write(scale_of(*f, rest[t.target].rest.scale));
      } else {
        m.path = Path::visibility;
        write(shown(*f));
        m.samples.kind = Kind::step;
      }
    } else {
      continue;
    }
    for (float& v : m.samples.values) {
      if (std::isfinite(v)) continue;
      v = 0;
      losses.push_back({fmt::format("nodes[{}].{}", t.target, name(t.channel)),
                        "a value is too large for a float; 0 is written"});
    }
    out.push_back(std::move(m));
  }
  std::sort(out.begin(), out.end(), [](const Movement& a, const Movement& b) {
    return std::tie(a.node, a.path) < std::tie(b.node, b.path);
  });
  return out;
}

std::optional<Samples> weight_samples(const Clip& clip, std::size_t first, std::size_t targets,
                                      std::size_t max_floats) {
  std::vector<std::pair<std::size_t, Curve<float>>> curves;
  std::vector<double> times;
  for (const Track& t : clip.tracks) {
    const auto* c = std::get_if<Curve<float>>(&t.curve);
    if (t.channel != Channel::weight || c == nullptr) continue;
    curves.emplace_back(first + t.target, cut(*c, clip.start, clip.end));
    times.insert(times.end(), curves.back().second.times.begin(), curves.back().second.times.end());
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  if (times.empty()) times = {clip.start};
  const auto is_step = [](const auto& c) { return c.second.interp == Interp::step; };
  const bool all_step = !curves.empty() && std::all_of(curves.begin(), curves.end(), is_step);
  if (targets == 0 || times.size() > max_floats / targets / 2) return {};

  // Two rows where something jumps: what it comes from, and what it goes to.
  std::vector<double> row_times;
  std::vector<std::vector<float>> rows;
  std::vector<std::uint32_t> hints(curves.size());
  for (const double time : times) {
    std::vector<float> before(targets), after(targets);
    bool jumps = false;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const auto& [target, c] = curves[i];
      before[target] = left_limit(c, time, hints[i]);
      after[target] = evaluate(c, time, hints[i]);
      jumps = jumps || before[target] != after[target];
    }
    if (jumps) {
      row_times.push_back(time);
      rows.push_back(before);
    }
    row_times.push_back(time);
    rows.push_back(std::move(after));
  }
  const auto keys = slots(row_times, clip.start, clip.end, [&](std::size_t a, std::size_t b) {
    return (!all_step || a == 0) && rows[a] != rows[b];
  });
  Samples out;
  out.kind = all_step && keys.size() > 1 ? Kind::step : Kind::linear;
  out.components = targets;
  for (const Slot& k : keys) {
    out.times.push_back(k.time);
    out.values.insert(out.values.end(), rows[k.value].begin(), rows[k.value].end());
  }
  return out;
}

void hold_until_end(const Clip& clip, Samples& s) {
  const auto end = static_cast<float>(clip.end - clip.start);
  if (s.times.empty() || !(s.times.back() < end)) return;
  const std::size_t n = s.components, tangents = s.kind == Kind::cubic ? n : 0;
  const std::vector<float> last(s.values.end() - static_cast<std::ptrdiff_t>(n + tangents),
                                s.values.end() - static_cast<std::ptrdiff_t>(tangents));
  s.times.push_back(end);
  s.values.insert(s.values.end(), tangents, 0.0F);
  s.values.insert(s.values.end(), last.begin(), last.end());
  s.values.insert(s.values.end(), tangents, 0.0F);
}

}  // namespace dopesheet::gltf
