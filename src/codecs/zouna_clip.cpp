// document -> Clip. Sources of every rule: docs/formats/zouna.md.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numbers>
#include <set>
#include <unordered_map>

#include "dopesheet/sample.hpp"
#include "zouna_ranges.hpp"

namespace dopesheet::zouna {
namespace {

double dot(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
std::array<double, 3> wide(const std::array<std::int16_t, 3>& v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}
std::array<double, 3> wide(const std::array<float, 3>& v) {
  return {double{v[0]} * value_scale, double{v[1]} * value_scale, double{v[2]} * value_scale};
}
std::array<double, 3> wide(std::int16_t v) { return {static_cast<double>(v), 0, 0}; }

// How long the segments before and after a key are.
struct Lengths {
  double before, after;
};
Lengths lengths(const std::vector<double>& times, std::size_t i) {
  return {i > 0 ? times[i] - times[i - 1] : 0, i + 1 < times.size() ? times[i + 1] - times[i] : 0};
}

// Derivatives per second of what is stored per segment; 0 where there is no segment.
template <class T>
void set_tangents(Curve<T>& c, const std::vector<T>& in, const std::vector<T>& out, int sign) {
  const auto times = [](double k, const T& v) -> T {
    if constexpr (std::same_as<T, float>) {
      return static_cast<float>(k * v);
    } else {
      return {static_cast<float>(k * v.x), static_cast<float>(k * v.y),
              static_cast<float>(k * v.z)};
    }
  };
  for (std::size_t i = 0; i < c.times.size(); ++i) {
    const Lengths l = lengths(c.times, i);
    c.in.push_back(l.before > 0 ? times(sign / l.before, in[i]) : T{});
    c.out.push_back(l.after > 0 ? times(1 / l.after, out[i]) : T{});
  }
}

Vec3 number(const std::array<std::int16_t, 3>& v) { return vec(v); }
Vec3 number(const std::array<float, 3>& v) { return vec(v); }
float number(std::int16_t v) { return static_cast<float>(v) / value_scale; }

template <class T, class Key>
Curve<T> curve_of(std::span<const Key> keys, unsigned flag, int sign) {
  Curve<T> c;
  std::vector<T> in, out;
  for (const std::size_t i : reachable(keys)) {
    c.times.push_back(double{keys[i].time});
    c.values.push_back(number(keys[i].value));
    in.push_back(number(keys[i].tangent_in));
    out.push_back(number(keys[i].tangent_out));
  }
  c.interp = (flag & hold_bit) != 0 ? Interp::step : Interp::hermite;
  if (c.interp == Interp::hermite) set_tangents(c, in, out, sign);
  return c;
}

Curve<Quat> rotation_curve(std::span<const KeyRot> keys, RotationRule rule) {
  Curve<Quat> c;
  c.interp = rule == RotationRule::slerp ? Interp::linear : Interp::nlerp;
  for (const std::size_t i : reachable(keys)) {
    const auto& q = keys[i].rotation;
    c.times.push_back(double{keys[i].time});
    c.values.push_back(normalize({static_cast<float>(q[0]), static_cast<float>(q[1]),
                                  static_cast<float>(q[2]), static_cast<float>(q[3])}));
  }
  return c;
}

// Whatever is not 0 shows, so that a segment hides only where it is 0 all along.
Curve<float> visibility_curve(std::span<const KeyFloat> keys, unsigned flag) {
  Curve<float> c;
  c.interp = Interp::step;
  const auto at = reachable(keys);
  for (std::size_t n = 0; n < at.size(); ++n) {
    const KeyFloat& a = keys[at[n]];
    bool shows = a.value != 0;
    if ((flag & hold_bit) == 0 && n + 1 < at.size() && keys[at[n + 1]].time > a.time) {
      const KeyFloat& b = keys[at[n + 1]];
      shows = shows || b.value != 0 || a.tangent_out != 0 || b.tangent_in != 0;
    }
    c.times.push_back(double{a.time});
    c.values.push_back(shows ? 1.F : 0.F);
  }
  return c;
}

std::array<Curve<float>, 3> turns(const Curve<Vec3>& radians) {
  std::array<Curve<float>, 3> axes;
  const std::array<float Vec3::*, 3> members{&Vec3::x, &Vec3::y, &Vec3::z};
  for (std::size_t i = 0; i < 3; ++i) {
    axes[i].interp = radians.interp;
    axes[i].times = radians.times;
    const auto copy = [&](const std::vector<Vec3>& from, std::vector<float>& to) {
      for (const Vec3& v : from)
        to.push_back(static_cast<float>(double{v.*members[i]} / (2 * std::numbers::pi)));
    };
    copy(radians.values, axes[i].values);
    copy(radians.in, axes[i].in);
    copy(radians.out, axes[i].out);
  }
  return axes;
}

Quat of_vector(Vec3 v) {
  const double x = v.x, y = v.y, z = v.z, angle = std::sqrt(x * x + y * y + z * z);
  const double s = angle > 0 ? std::sin(angle / 2) / angle : 0.5;
  return normalize({static_cast<float>(s * x), static_cast<float>(s * y), static_cast<float>(s * z),
                    static_cast<float>(std::cos(angle / 2))});
}
// Between keys a rotation vector moves like no quaternion curve: sixteen steps a segment.
Curve<Quat> of_vectors(const Curve<Vec3>& c) {
  constexpr int steps = 16;
  Curve<Quat> out;
  std::uint32_t hint = 0;
  for (std::size_t i = 0; i < c.times.size(); ++i) {
    out.times.push_back(c.times[i]);
    out.values.push_back(of_vector(c.values[i]));
    const double dt = lengths(c.times, i).after;
    for (int k = 1; k < steps && dt > 0; ++k) {
      const double t = c.times[i] + dt * k / steps;
      if (!(t > out.times.back() && t < c.times[i + 1])) continue;
      out.times.push_back(t);
      out.values.push_back(of_vector(evaluate(c, t, hint)));
    }
  }
  return out;
}

class ClipMaker {
 public:
  ClipMaker(const File& file, const Options& options, std::span<const dopesheet::Node> skeleton,
            std::string name)
      : file_(file),
        b_(file.body),
        options_(options),
        sign_(tangent_sign(file.body, options)),
        budget_(most_keys(file.body)) {
    clip_.name = std::move(name);
    clip_.nodes.assign(skeleton.begin(), skeleton.end());
    for (std::size_t i = 0; i < clip_.nodes.size(); ++i)
      by_hash_[node_hash(clip_.nodes[i])].push_back(i);
  }

  Clip run() {
    clip_.end = std::isfinite(b_.max_time) && b_.max_time > 0 ? double{b_.max_time} : 0;
    clip_.properties = {{"zn_max_time", b_.max_time},
                        {"zn_smooth_ratio", b_.smooth_ratio},
                        {"zn_flag", std::int64_t{b_.flag}},
                        {"zn_tangent_sign", std::int64_t{sign_}}};
    if (!file_.envelope.has(Flavour::bare))
      clip_.properties.push_back({"zn_name", std::int64_t{file_.envelope.header.name}});
    for (const Node& n : b_.nodes) node(n);
    for (const ObjectRange& o : b_.meshes) mesh(o);
    for (const MaterialRanges& m : b_.materials) material(m);
    for (const ObjectRange& o : b_.morphs) {
      custom(0, "morph/" + label(o.name),
             curve_of<float>(take(b_.morph.keys, o.range), b_.morph.flag, sign_), o.name);
    }
    sort_events();
    return std::move(clip_);
  }

 private:
  // By time; those of one time stay in the file's order.
  void sort_events() {
    std::vector<std::pair<double, std::size_t>> order;
    order.reserve(clip_.events.size());
    for (const Event& e : clip_.events) order.emplace_back(e.time, order.size());
    std::sort(order.begin(), order.end());
    std::vector<Event> sorted;
    sorted.reserve(order.size());
    for (const auto& [time, i] : order) sorted.push_back(std::move(clip_.events[i]));
    clip_.events = std::move(sorted);
  }
  // A range's keys, while all tracks together are not many times the pools: a small file could ask for
  // any amount of memory.
  template <class Key, class Int>
  std::span<const Key> take(const std::vector<Key>& pool, Range<Int> range) {
    const auto keys = slice(pool, range);
    if (keys.size() > budget_) return {};
    budget_ -= keys.size();
    return keys;
  }
  std::string label(std::uint32_t hash) const {
    return options_.names != nullptr ? options_.names->of(NameHash::zouna, hash) : hash_text(hash);
  }
  // The first node of this name that has no such role yet, or a new one.
  std::size_t place(std::uint32_t hash, std::set<std::size_t>& taken) {
    auto& known = by_hash_[hash];
    for (const std::size_t i : known) {
      if (taken.insert(i).second) return i;
    }
    const std::size_t i = clip_.nodes.size();
    dopesheet::Node added;
    added.name = label(hash);
    added.properties = {{"zn_name", std::int64_t{hash}}};
    clip_.nodes.push_back(std::move(added));
    known.push_back(i);
    taken.insert(i);
    return i;
  }
  template <class C>
  void track(std::size_t target, Channel channel, C curve) {
    if (!curve.times.empty()) clip_.tracks.push_back({target, channel, {}, std::move(curve), {}});
  }
  template <class C>
  void custom(std::size_t target, std::string name, C curve, std::uint32_t hash) {
    if (curve.times.empty()) return;
    const int n = ++customs_[{target, name}];
    if (n > 1) name += fmt::format("~{}", n);
    clip_.tracks.push_back({target,
                            Channel::custom,
                            std::move(name),
                            std::move(curve),
                            {{"zn_name", std::int64_t{hash}}}});
  }
  void node(const Node& n) {
    const std::size_t at = place(n.name, bones_);
    const auto rotation = take(b_.rotation, n.rotation);
    track(at, Channel::translation,
          curve_of<Vec3>(take(b_.translation.keys, n.translation), b_.translation.flag, sign_));
    track(at, Channel::rotation, rotation_curve(rotation, options_.rotation));
    track(at, Channel::scale, curve_of<Vec3>(take(b_.scale.keys, n.scale), b_.scale.flag, sign_));
    bezier(n, at, !rotation.empty());
    for (const KeyMessage& k : take(b_.messages, n.messages)) {
      if (!std::isfinite(k.time)) continue;
      for (const Message& m : k.messages) {
        clip_.events.push_back(
            {double{k.time}, message_name(m.id),
             fmt::format("node={} id={} param={} flag={} value={} name={}", label(n.name), m.id,
                         m.links() ? label(m.param) : fmt::format("{}", m.param), m.flag, m.value,
                         m.name == 0 ? "0" : label(m.name))});
      }
    }
  }
  void bezier(const Node& n, std::size_t at, bool rotates) {
    auto c = curve_of<Vec3>(take(b_.bezier_rotation, n.bezier_rotation), smooth_bit, sign_);
    if (c.times.empty()) return;
    // Rotation keys win where a node has both.
    if (rotates || options_.bezier_rotation == BezierMeaning::raw) {
      custom(at, "bezier_rotation", std::move(c), n.name);
    } else if (options_.bezier_rotation == BezierMeaning::vector) {
      track(at, Channel::rotation, of_vectors(c));
    } else {
      clip_.tracks.push_back({at, Channel::rotation, {}, turns(c), {}});
    }
  }
  void mesh(const ObjectRange& o) {
    auto c = visibility_curve(take(b_.visibility.keys, o.range), b_.visibility.flag);
    if (!c.times.empty()) track(place(o.name, meshes_), Channel::visibility, std::move(c));
  }
  void material(const MaterialRanges& m) {
    const MaterialParts p = parts(m, options_.material_order);
    const auto numbers = [&](const char* what, const Keyframer<KeyFloat>& k, auto range) {
      custom(0, fmt::format("material/{}/{}", label(m.name), what),
             curve_of<float>(take(k.keys, range), k.flag, sign_), m.name);
    };
    const auto vectors = [&](const char* what, const Keyframer<KeyVec3>& k, auto range) {
      custom(0, fmt::format("material/{}/{}", label(m.name), what),
             curve_of<Vec3>(take(k.keys, range), k.flag, sign_), m.name);
    };
    numbers("u", b_.u, p.u);
    numbers("v", b_.v, p.v);
    vectors("diffuse", b_.diffuse, p.diffuse);
    vectors("emissive", b_.emissive, p.emissive);
    numbers("rotation", b_.material_rotation, p.rotation);
  }

  const File& file_;
  const Body& b_;
  const Options& options_;
  int sign_;
  std::size_t budget_;
  Clip clip_;
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_hash_;
  std::set<std::size_t> bones_, meshes_;
  std::map<std::pair<std::size_t, std::string>, int> customs_;
};

}  // namespace

Sign tangent_sign(const Body& body) {
  double inner = 0, along = 0;
  each_curve(body, MaterialOrder::engine, [&](auto keys) {
    for (std::size_t i = 1; i < keys.size(); ++i) {
      const auto in = wide(keys[i].tangent_in), out = wide(keys[i].tangent_out);
      const auto a = wide(keys[i - 1].value), b = wide(keys[i].value);
      if (i + 1 < keys.size()) inner += dot(in, out);
      along += dot(in, {b[0] - a[0], b[1] - a[1], b[2] - a[2]});
    }
  });
  const auto decides = [](double sum) { return std::isfinite(sum) && sum != 0; };
  if (decides(inner)) return {inner > 0 ? 1 : -1, inner};
  if (decides(along)) return {along > 0 ? 1 : -1, along};
  return {};
}

int tangent_sign(const Body& body, const Options& options) {
  if (options.tangent_sign == TangentSign::plus) return 1;
  if (options.tangent_sign == TangentSign::minus) return -1;
  return tangent_sign(body).sign;
}

MaterialParts parts(const MaterialRanges& m, MaterialOrder order) {
  if (order == MaterialOrder::pool) return {m.range0, m.range1, m.range2, m.range3, m.range4};
  return {m.range0, m.range4, m.range2, m.range1, m.range3};
}

bool fits(const Body& b, MaterialOrder order) {
  const auto good = [](Range<std::int16_t> r, const auto& pool) {
    return r.count == 0 || inside(r.start, r.count, pool.keys.size());
  };
  return std::all_of(b.materials.begin(), b.materials.end(), [&](const MaterialRanges& m) {
    const MaterialParts p = parts(m, order);
    return good(p.u, b.u) && good(p.v, b.v) && good(p.diffuse, b.diffuse) &&
           good(p.emissive, b.emissive) && good(p.rotation, b.material_rotation);
  });
}

std::size_t most_keys(const Body& b) {
  const std::size_t keys = b.rotation.size() + b.bezier_rotation.size() + b.scale.keys.size() +
                           b.translation.keys.size() + b.messages.size() + b.u.keys.size() +
                           b.v.keys.size() + b.diffuse.keys.size() + b.emissive.keys.size() +
                           b.material_rotation.keys.size() + b.visibility.keys.size() +
                           b.morph.keys.size();
  return 64 * keys + 4096;
}

Clip to_clip(const File& file, const Options& options, std::span<const dopesheet::Node> skeleton,
             std::string name) {
  return ClipMaker(file, options, skeleton, std::move(name)).run();
}

std::uint32_t node_hash(const dopesheet::Node& node) {
  for (const Property& p : node.properties) {
    const auto* v = std::get_if<std::int64_t>(&p.value);
    if (p.key == "zn_name" && v != nullptr) return static_cast<std::uint32_t>(*v);
  }
  return parse_hash_text(node.name).value_or(hash_name(NameHash::zouna, node.name));
}

std::string message_name(std::int32_t id) {
  static constexpr std::array names{"none",
                                    "note_track_first",
                                    "skel_collide",
                                    "loop",
                                    "nosmooth",
                                    "smoothratio",
                                    "node_collide",
                                    "node_uncollide",
                                    "node_getorient",
                                    "node_orient",
                                    "node_noorient",
                                    "action",
                                    "loop_start",
                                    "loop_end",
                                    "nodynamic",
                                    "dynamic",
                                    "material_color",
                                    "activate",
                                    "deactivate",
                                    "hide",
                                    "unhide",
                                    "reset",
                                    "replay",
                                    "pause",
                                    "resume",
                                    "dialog_play",
                                    "dialog_stop",
                                    "dialog_load",
                                    "unknown_skel_collide",
                                    "hit_skel_collide",
                                    "particles",
                                    "particles_pause",
                                    "particles_reset",
                                    "play_sound",
                                    "stop_sound",
                                    "hide_node",
                                    "unhide_node",
                                    "set_anim",
                                    "material_anim_start",
                                    "material_anim_stop",
                                    "material_anim_pause",
                                    "note_track_end",
                                    "range_end"};
  const auto i = static_cast<std::size_t>(id);
  return id >= 0 && i < names.size() ? names[i] : fmt::format("message_{}", id);
}

}  // namespace dopesheet::zouna
