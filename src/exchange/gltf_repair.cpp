// What glTF cannot hold, or nothing could play, out of clips; every change is reported.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "dopesheet/sample.hpp"
#include "gltf_build.hpp"

namespace dopesheet::gltf {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

bool is_cubic(Interp i) { return i == Interp::hermite || i == Interp::bezier; }

double dot_exact(Quat a, Quat b) {
  return double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w;
}

template <class T>
bool is_usable(const T& v) {
  if constexpr (std::same_as<T, Quat>) return is_finite(v) && dot_exact(v, v) > 1e-12;
  return is_finite(v);
}

class Repair {
 public:
  Repair(GltfVisibility visibility, std::vector<Loss>& losses)
      : visibility_(visibility), losses_(losses) {}

  void range(Clip& clip) {
    const float length = static_cast<float>(clip.end - clip.start);
    if (std::isfinite(clip.start) && length >= 0 && length < infinity) return;
    say("end", fmt::format("the clip runs from {} to {} s; its length is taken for 0", clip.start,
                           clip.end));
    if (!std::isfinite(clip.start)) clip.start = std::isfinite(clip.end) ? clip.end : 0;
    clip.end = clip.start;
  }

  void nodes(std::vector<Node>& nodes) {
    std::vector<bool> placed(nodes.size());
    for (const std::size_t i : topological_order(nodes)) {
      Node& n = nodes[i];
      const std::string path = fmt::format("nodes[{}]", i);
      const bool is_good =
          n.parent == -1 || (n.parent >= 0 && std::cmp_less(n.parent, nodes.size()) &&
                             placed[static_cast<std::size_t>(n.parent)]);
      if (!is_good) {
        say(path + ".parent", fmt::format("{} is no parent for it; it becomes a root", n.parent));
        n.parent = -1;
      }
      placed[i] = true;
      n.rest = repaired(n.rest, path + ".rest", losses_);
    }
  }

  void morph(Morph& m) {
    for (std::size_t i = 0; i < m.positions.size(); ++i) {
      if (m.positions[i].size() == m.vertices.size()) continue;
      say(fmt::format("morph.positions[{}]", i),
          "does not fit morph.vertices; the morph is left out");
      m = {};
    }
  }

  void tracks(Clip& clip) {
    std::vector<Track> kept;
    // A later track of the same target and channel wins, as in the sampler.
    std::set<std::tuple<std::size_t, Channel>> taken;
    for (std::size_t i = clip.tracks.size(); i-- > 0;) {
      Track& t = clip.tracks[i];
      const std::string path = fmt::format("tracks[{}]", i);
      if (!is_writable(clip, t, path)) continue;
      if (taken.contains({t.target, t.channel})) {
        say(path, fmt::format("a second {} track of one target; it is left out", name(t.channel)));
        continue;
      }
      if (!std::visit([&](auto& c) { return curve(path + ".curve", c); }, t.curve)) continue;
      taken.insert({t.target, t.channel});
      kept.push_back(std::move(t));
    }
    std::reverse(kept.begin(), kept.end());
    std::erase_if(kept, [&](const Track& t) {
      if (t.channel != Channel::visibility) return false;
      const std::string path = fmt::format("nodes[{}].visibility", t.target);
      const bool is_scaled =
          visibility_ == GltfVisibility::scale && taken.contains({t.target, Channel::scale});
      if (is_scaled) {
        say(path, "plain glTF has no visibility, and the node's scale is animated; it is left out");
      } else if (std::get<Curve<float>>(t.curve).interp != Interp::step) {
        say(path, "fades; in glTF the node is there or not");
      }
      return is_scaled;
    });
    clip.tracks = std::move(kept);
  }

 private:
  bool is_writable(const Clip& clip, const Track& t, const std::string& path) {
    if (t.channel == Channel::custom) return false;  // goes to extras
    const bool is_weight = t.channel == Channel::weight;
    if (t.target >= (is_weight ? clip.morph.positions.size() : clip.nodes.size())) {
      say(path + ".target", fmt::format("{} {} does not exist; the track is left out",
                                        is_weight ? "morph target" : "node", t.target));
      return false;
    }
    const auto kind = t.curve.index();  // float, Vec3, Quat, three floats
    bool fits = kind == 0;
    if (t.channel == Channel::translation || t.channel == Channel::scale)
      fits = kind == 1 || kind == 3;
    if (t.channel == Channel::rotation) fits = kind == 2 || kind == 3;
    if (!fits) {
      say(path + ".curve",
          fmt::format("does not fit a {} channel; the track is left out", name(t.channel)));
    }
    return fits;
  }

  bool curve(const std::string& path, std::array<Curve<float>, 3>& axes) {
    bool is_good = true;
    for (std::size_t i = 0; i < 3; ++i) {
      is_good = curve(fmt::format("{}[{}]", path, i), axes[i]) && is_good;
    }
    return is_good;
  }

  template <class T>
  bool curve(const std::string& path, Curve<T>& c) {
    const std::size_t n = c.times.size(), tangents = is_cubic(c.interp) ? n : 0;
    const bool has_params = c.interp == Interp::slerp_ease || c.interp == Interp::slerp_stored;
    if (c.values.size() != n || c.in.size() != tangents || c.out.size() != tangents ||
        c.params.size() != (has_params ? n : 0)) {
      say(path, "its lists differ in length; the rest pose is written");
      return false;
    }
    std::size_t size = 0;
    Count bad{path + ".values", 0, 0}, handles{path + ".in", 0, 0};
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(c.times[i]) || !is_usable(c.values[i]) ||
          (size > 0 && c.times[i] < c.times[size - 1])) {
        bad.add(i);
        if (size > 0 && has_params) c.params[size - 1] = without_effect(c.interp);
        continue;
      }
      c.times[size] = c.times[i];
      c.values[size] = unit(c.values[i]);
      if (tangents > 0) {
        const T flat = c.interp == Interp::bezier ? c.values[size] : zero(c.values[size]);
        if (!is_finite(c.in[i]) || !is_finite(c.out[i])) handles.add(i);
        c.in[size] = is_finite(c.in[i]) ? c.in[i] : flat;
        c.out[size] = is_finite(c.out[i]) ? c.out[i] : flat;
      }
      if (has_params) {
        const bool good = std::isfinite(c.params[i][0]) && std::isfinite(c.params[i][1]);
        if (!good) handles.add(i);
        c.params[size] = good ? c.params[i] : without_effect(c.interp);
      }
      ++size;
    }
    c.times.resize(size);
    c.values.resize(size);
    for (auto* list : {&c.in, &c.out}) list->resize(tangents > 0 ? size : 0);
    c.params.resize(has_params ? size : 0);
    say(bad, size > 0 ? "not finite, not a rotation or out of order; left out" : "unusable");
    say(handles, "not finite; flat ones are written");
    if (size == 0) say(path, "has no usable key; the rest pose is written");
    return size > 0;
  }

  // Parameters that make plain slerp of a segment.
  static Params without_effect(Interp interp) {
    return interp == Interp::slerp_stored ? Params{1, 0} : Params{0, 0};
  }
  static float unit(float v) { return v; }
  static Vec3 unit(Vec3 v) { return v; }
  static Quat unit(Quat q) { return std::abs(dot_exact(q, q) - 1) > 2e-5 ? normalize(q) : q; }
  static float zero(float) { return 0; }
  static Vec3 zero(Vec3) { return {}; }
  static Quat zero(Quat) { return {0, 0, 0, 0}; }

  // Many keys with one fault, said once.
  struct Count {
    std::string path;
    std::size_t first, count;
    void add(std::size_t i) {
      if (count++ == 0) first = i;
    }
  };
  void say(const Count& c, const char* text) {
    if (c.count == 0) return;
    say(fmt::format("{}[{}]", c.path, c.first),
        c.count == 1 ? fmt::format("the key is {}", text)
                     : fmt::format("this key and {} more are {}", c.count - 1, text));
  }
  void say(std::string path, std::string text) {
    losses_.push_back({std::move(path), std::move(text)});
  }

  GltfVisibility visibility_;
  std::vector<Loss>& losses_;
};

void append(std::vector<float>& out, float v) { out.push_back(v); }
void append(std::vector<float>& out, Vec3 v) { out.insert(out.end(), {v.x, v.y, v.z}); }
void append(std::vector<float>& out, Quat q) { out.insert(out.end(), {q.x, q.y, q.z, q.w}); }

// A curve with all it has, its lists flat.
template <class T>
void add_curve(Object& o, const Curve<T>& c) {
  o.text("interpolation", name(c.interp));
  const auto flat = [](const auto& list) {
    std::vector<float> out;
    for (const auto& v : list) append(out, v);
    return out;
  };
  std::vector<std::string> times;
  times.reserve(c.times.size());
  for (const double t : c.times) times.push_back(Object::json(t));
  o.raw("times", array(times)).numbers("values", flat(c.values));
  if (!c.in.empty()) o.numbers("in", flat(c.in));
  if (!c.out.empty()) o.numbers("out", flat(c.out));
  std::vector<float> params;
  for (const Params& p : c.params) params.insert(params.end(), p.begin(), p.end());
  if (!params.empty()) o.numbers("params", params);
}

}  // namespace

std::string custom_tracks(const Clip& clip, std::vector<Loss>& losses) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
    const Track& t = clip.tracks[i];
    if (t.channel != Channel::custom) continue;
    Object o;
    o.text("name", escape_name(t.name)).number("target", t.target);
    if (const auto* axes = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
      std::vector<std::string> list;
      for (const auto& c : *axes) {
        Object axis;
        add_curve(axis, c);
        list.push_back(axis.str());
      }
      o.raw("axes", array(list));
    } else if (const auto* f = std::get_if<Curve<float>>(&t.curve)) {
      add_curve(o, *f);
    } else if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      add_curve(o, *v);
    } else {
      add_curve(o, std::get<Curve<Quat>>(t.curve));
    }
    o.extras(Object().properties(t.properties, {}, fmt::format("tracks[{}]", i), losses));
    out.push_back(o.str());
  }
  return out.empty() ? std::string() : array(out);
}

bool is_finite(float v) { return std::isfinite(v); }
bool is_finite(Vec3 v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }
bool is_finite(Quat q) { return is_finite(Vec3{q.x, q.y, q.z}) && std::isfinite(q.w); }

Transform repaired(const Transform& t, const std::string& path, std::vector<Loss>& losses) {
  Transform out = t;
  const auto replace = [&](const char* what, auto& member, auto identity) {
    if (is_finite(member)) return;
    member = identity;
    losses.push_back({path + what, "is not finite; the identity is written"});
  };
  replace(".translation", out.translation, Vec3{});
  replace(".rotation", out.rotation, Quat{});
  replace(".scale", out.scale, Vec3{1, 1, 1});
  out.rotation = normalize(out.rotation);
  return out;
}

Clip repaired(Clip clip, GltfVisibility visibility, std::vector<Loss>& losses) {
  Repair repair(visibility, losses);
  repair.range(clip);
  repair.nodes(clip.nodes);
  repair.morph(clip.morph);
  repair.tracks(clip);
  return clip;
}

}  // namespace dopesheet::gltf
