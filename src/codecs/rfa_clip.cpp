// document -> Clip, and the engine's own integer evaluation. Sources of every rule: docs/formats/rfa.md.
#include <fmt/format.h>

#include <cmath>

#include "dopesheet/rfa.hpp"
#include "dopesheet/sample.hpp"
#include "rfa_math.hpp"

namespace dopesheet::rfa {
namespace {

double seconds(double ticks) { return ticks / ticks_per_second; }

Vec3 vec(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }

Curve<Quat> rotation_curve(const File& file, const Bone& bone) {
  Curve<Quat> c;
  c.interp = Interp::linear;
  if (bone.rotation_keys.empty()) {
    c.times = {seconds(file.start_time)};
    c.values = {Quat{}};
    return c;
  }
  bool eased = false;
  std::array<std::int16_t, 4> last{};
  bool negated = false;
  for (const RotationKey& k : bone.rotation_keys) {
    const double t = seconds(k.time);
    if (!c.times.empty() && t < c.times.back())
      continue;  // the game never gets there; check() says so
    // The engine turns the later key of a segment over when the sum is not longer than the difference.
    // Doing it here keeps that rule, also at exactly 180 degrees.
    const bool flip = !c.times.empty() && raw_dot(last, k.rotation) <= 0;
    negated = negated != flip;
    last = k.rotation;
    Quat q = normalize({-static_cast<float>(k.rotation[0]), -static_cast<float>(k.rotation[1]),
                        -static_cast<float>(k.rotation[2]), static_cast<float>(k.rotation[3])});
    if (negated) q = {-q.x, -q.y, -q.z, -q.w};
    c.times.push_back(t);
    c.values.push_back(q);
    c.params.push_back({static_cast<float>(k.ease_in) / 127, static_cast<float>(k.ease_out) / 127});
    eased = eased || k.ease_in != 0 || k.ease_out != 0;
  }
  if (eased) {
    c.interp = Interp::slerp_ease;
  } else {
    c.params.clear();
  }
  return c;
}

Curve<Vec3> position_curve(const File& file, const Bone& bone) {
  Curve<Vec3> c;
  c.interp = Interp::bezier;
  if (bone.position_keys.empty()) {
    c.times = {seconds(file.start_time)};
    c.values = c.in = c.out = {Vec3{}};
    return c;
  }
  for (const PositionKey& k : bone.position_keys) {
    const double t = seconds(k.time);
    if (!c.times.empty() && t < c.times.back()) continue;
    c.times.push_back(t);
    c.values.push_back(vec(k.position));
    c.in.push_back(vec(k.in));
    c.out.push_back(vec(k.out));
  }
  return c;
}

// Keyframe k of a morph is shown in full at its time and fades into its neighbours.
void add_morph(const File& file, Clip& clip) {
  const std::size_t vertices = file.morph_vertices.size();
  const auto frames = static_cast<std::size_t>(file.num_morph_keyframes);
  if (vertices == 0 || frames == 0) return;
  clip.morph.vertices.assign(file.morph_vertices.begin(), file.morph_vertices.end());
  std::vector<double> times;
  for (std::size_t k = 0; k < frames; ++k) {
    auto& target = clip.morph.positions.emplace_back();
    target.reserve(vertices);
    for (std::size_t v = 0; v < vertices; ++v) target.push_back(morph_position(file, k, v));
    const double span = static_cast<double>(file.end_time) - file.start_time;
    const double ticks = file.version == 8 ? file.morph_times[k]
                                           : file.start_time + static_cast<double>(k) * span /
                                                                   static_cast<double>(frames);
    times.push_back(times.empty() ? seconds(ticks) : std::max(times.back(), seconds(ticks)));
  }
  for (std::size_t k = 0; k < frames; ++k) {
    Curve<float> c;
    const auto key = [&](std::size_t at, float value) {
      c.times.push_back(times[at]);
      c.values.push_back(value);
    };
    if (k > 0) key(k - 1, 0);
    key(k, 1);
    if (k + 1 < frames) key(k + 1, 0);
    clip.tracks.push_back({k, Channel::weight, {}, std::move(c), {}});
  }
}

// The number of the key that starts the segment at `tick`; keys must not be empty.
template <class Key>
std::size_t find_segment(const std::vector<Key>& keys, std::int32_t tick) {
  std::size_t i = 0;
  while (i + 2 < keys.size() && keys[i + 1].time <= tick) ++i;
  return i;
}

template <class Key>
double fraction(const Key& a, const Key& b, std::int32_t tick) {
  if (tick <= a.time) return 0;
  if (tick >= b.time) return 1;
  return (static_cast<double>(tick) - a.time) / (static_cast<double>(b.time) - a.time);
}

Quat decode(const std::array<std::int16_t, 4>& q) {
  constexpr float s = 1.0F / rotation_scale;
  return {-static_cast<float>(q[0]) * s, -static_cast<float>(q[1]) * s,
          -static_cast<float>(q[2]) * s, static_cast<float>(q[3]) * s};
}

Quat exact_rotation(const std::vector<RotationKey>& keys, std::int32_t tick) {
  if (keys.empty()) return {};
  if (keys.size() == 1) return decode(keys[0].rotation);
  const std::size_t i = find_segment(keys, tick);
  const RotationKey &a = keys[i], &b = keys[i + 1];
  const double u = ease(fraction(a, b, tick), a.ease_out / 127.0, b.ease_in / 127.0);
  const std::int64_t raw = raw_dot(a.rotation, b.rotation);
  const double sign = raw <= 0 ? -1 : 1;
  std::array<std::int16_t, 4> q{};
  if (snaps(a.rotation, b.rotation)) {
    for (std::size_t c = 0; c < 4; ++c) q[c] = to_int16(sign * b.rotation[c]);
  } else {
    const double d = std::abs(static_cast<double>(raw)) / (double{rotation_scale} * rotation_scale);
    const double angle = std::acos(d), s = std::sin(angle);
    const double wa = std::sin((1 - u) * angle) / s, wb = sign * std::sin(u * angle) / s;
    for (std::size_t c = 0; c < 4; ++c) q[c] = to_int16(a.rotation[c] * wa + b.rotation[c] * wb);
  }
  if (q[3] == 0) q[3] = 1;
  return decode(q);
}

Vec3 exact_position(const std::vector<PositionKey>& keys, std::int32_t tick) {
  if (keys.empty()) return {};
  if (keys.size() == 1) return vec(keys[0].position);
  const std::size_t i = find_segment(keys, tick);
  const PositionKey &a = keys[i], &b = keys[i + 1];
  const double u = fraction(a, b, tick), v = 1 - u;
  const auto at = [&](std::size_t c) {
    return static_cast<float>(v * v * v * a.position[c] + 3 * u * v * v * a.out[c] +
                              3 * u * u * v * b.in[c] + u * u * u * b.position[c]);
  };
  return {at(0), at(1), at(2)};
}

}  // namespace

Clip to_clip(const File& file, std::span<const Node> skeleton, std::string name) {
  Clip clip;
  clip.name = std::move(name);
  clip.start = seconds(file.start_time);
  clip.end = seconds(file.end_time);
  clip.ticks_per_second = ticks_per_second;
  clip.frames_per_second = 30;
  clip.space = Space::left_handed;
  clip.properties = {{"rf_version", std::int64_t{file.version}},
                     {"rf_start_time", std::int64_t{file.start_time}},
                     {"rf_end_time", std::int64_t{file.end_time}},
                     {"rf_ramp_in_time", std::int64_t{file.ramp_in}},
                     {"rf_ramp_out_time", std::int64_t{file.ramp_out}},
                     {"rf_pos_reduction", file.pos_reduction},
                     {"rf_rot_reduction", file.rot_reduction},
                     {"rf_total_rotation",
                      std::vector<float>(file.total_rotation.begin(), file.total_rotation.end())},
                     {"rf_total_translation", std::vector<float>(file.total_translation.begin(),
                                                                 file.total_translation.end())}};
  clip.nodes.assign(skeleton.begin(), skeleton.end());
  for (std::size_t i = clip.nodes.size(); i < file.bones.size(); ++i) {
    Node node;
    node.name = fmt::format("bone_{}", i);
    node.properties = {{"rf_type", std::string("bone")},
                       {"rf_bone_index", static_cast<std::int64_t>(i)}};
    clip.nodes.push_back(std::move(node));
  }
  for (std::size_t i = 0; i < file.bones.size(); ++i) {
    const Bone& bone = file.bones[i];
    const Properties weight{{"rf_weight", bone.weight}};
    clip.tracks.push_back({i, Channel::rotation, {}, rotation_curve(file, bone), weight});
    clip.tracks.push_back({i, Channel::translation, {}, position_curve(file, bone), weight});
  }
  add_morph(file, clip);
  return clip;
}

void sample_exact(const File& file, std::int32_t tick, std::span<Transform> out) {
  const std::size_t n = std::min(out.size(), file.bones.size());
  for (std::size_t i = 0; i < n; ++i) {
    out[i] = {exact_position(file.bones[i].position_keys, tick),
              exact_rotation(file.bones[i].rotation_keys, tick),
              {1, 1, 1}};
  }
}

float action_weight(const File& file, std::size_t bone, std::int32_t tick) {
  if (bone >= file.bones.size()) return 0;
  const double w = file.bones[bone].weight, t = static_cast<double>(tick) - file.start_time;
  const double d = static_cast<double>(file.end_time) - file.start_time;
  if (w < 1e-5 || t < 0) return 0;
  if (t < file.ramp_in) return static_cast<float>(w * t / file.ramp_in);
  if (t > d) return 0;
  if (t > d - file.ramp_out) return static_cast<float>(w * (d - t) / file.ramp_out);
  return static_cast<float>(w);
}

}  // namespace dopesheet::rfa
