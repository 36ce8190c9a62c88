// Poses blended and added.
#include "dopesheet/blend.hpp"

#include <algorithm>

namespace dopesheet {
namespace {

Quat scaled(float s, Quat q) { return {s * q.x, s * q.y, s * q.z, s * q.w}; }
Quat sum(Quat a, Quat b) { return {a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w}; }

// Rotations and translations one after another, each with its weight.
class RunningSlerp {
 public:
  void take(const Transform& t, float weight) {
    if (!(weight > 0)) return;
    total_ += weight;
    translation_ = translation_ + weight * t.translation;
    rotation_ = total_ == weight ? t.rotation
                                 : slerp(rotation_, t.rotation, double{weight} / double{total_});
  }
  Transform finish(const Transform& rest) const {
    if (!(total_ > 0)) return rest;
    return {(1 / total_) * translation_, rotation_, rest.scale};
  }

 private:
  float total_ = 0;
  Vec3 translation_;
  Quat rotation_;
};

// A curve with `value` done to all that is absolute and `tangent` to all that is a derivative.
template <class T, class Value, class Tangent>
void change(Curve<T>& c, Value value, Tangent tangent) {
  for (T& v : c.values) v = value(v);
  for (auto* list : {&c.in, &c.out}) {
    for (T& v : *list) v = c.interp == Interp::hermite ? tangent(v) : value(v);
  }
}

float over(float a, float b) { return b != 0 ? a / b : 1; }
Vec3 over(Vec3 a, Vec3 b) { return {over(a.x, b.x), over(a.y, b.y), over(a.z, b.z)}; }

// `reference` off a curve of translations or scales.
template <class T>
void take_off(Curve<T>& c, Channel channel, T reference) {
  if (channel == Channel::scale) {
    const auto divide = [&](T v) { return over(v, reference); };
    change(c, divide, divide);
  } else {
    change(c, [&](T v) { return v - reference; }, [](T v) { return v; });
  }
}

}  // namespace

void blend(std::span<const Layer> layers, std::span<const Transform> rest,
           std::span<Transform> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    float total = 0;
    Vec3 translation, scale;
    Quat first, rotation{0, 0, 0, 0};
    for (const Layer& layer : layers) {
      const float w = layer.weight_of(i);
      if (!(w > 0)) continue;
      const Transform& t = layer.pose[i];
      if (total == 0) first = t.rotation;
      total += w;
      translation = translation + w * t.translation;
      scale = scale + w * t.scale;
      rotation = sum(rotation, scaled(dot(first, t.rotation) < 0 ? -w : w, t.rotation));
    }
    out[i] = total > 0
                 ? Transform{(1 / total) * translation, normalize(rotation), (1 / total) * scale}
                 : rest[i];
  }
}

void blend_red_faction(std::span<const Layer> states, std::span<const Layer> actions,
                       std::span<const Transform> rest, std::span<Transform> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float owned = actions.empty() ? 0 : std::clamp(actions[0].weight_of(i), 0.F, 10.F);
    RunningSlerp mean;
    for (const Layer& s : states) mean.take(s.pose[i], s.weight_of(i) * ((10 - owned) / 10));
    for (const Layer& a : actions) mean.take(a.pose[i], a.weight_of(i));
    out[i] = mean.finish(rest[i]);
  }
}

Transform difference(const Transform& pose, const Transform& reference) {
  return {pose.translation - reference.translation,
          normalize(conjugate(reference.rotation) * pose.rotation),
          over(pose.scale, reference.scale)};
}

Transform add(const Transform& base, const Transform& delta, float weight) {
  const auto factor = [&](float s) { return 1 + weight * (s - 1); };
  return {base.translation + weight * delta.translation,
          normalize(base.rotation * slerp({}, delta.rotation, weight)),
          {base.scale.x * factor(delta.scale.x), base.scale.y * factor(delta.scale.y),
           base.scale.z * factor(delta.scale.z)}};
}

void add(std::span<Transform> pose, const Layer& layer) {
  const std::size_t n = std::min(pose.size(), layer.pose.size());
  for (std::size_t i = 0; i < n; ++i) pose[i] = add(pose[i], layer.pose[i], layer.weight_of(i));
}

Result<Clip> make_additive(const Clip& clip, std::span<const Transform> reference) {
  const auto bad = [](const char* path, const char* text) {
    return tl::unexpected(Error{Code::bad_value, 0, path, text});
  };
  if (reference.size() != clip.nodes.size()) {
    return bad("nodes", "the reference pose has another number of nodes");
  }
  Clip out = clip;
  for (std::size_t i = 0; i < out.nodes.size(); ++i) {
    out.nodes[i].rest = difference(clip.nodes[i].rest, reference[i]);
  }
  for (Track& t : out.tracks) {
    const bool placed = t.channel == Channel::translation || t.channel == Channel::scale;
    if ((!placed && t.channel != Channel::rotation) || t.target >= reference.size()) continue;
    const Transform& r = reference[t.target];
    const Vec3 off = t.channel == Channel::scale ? r.scale : r.translation;
    if (auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
      const auto turn = [&](Quat v) { return conjugate(r.rotation) * v; };
      change(*q, turn, turn);
    } else if (auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      take_off(*v, t.channel, off);
    } else if (auto* a = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
      if (!placed) return bad("tracks", "a rotation about three axes has to be baked first");
      take_off((*a)[0], t.channel, off.x);
      take_off((*a)[1], t.channel, off.y);
      take_off((*a)[2], t.channel, off.z);
    }
  }
  return out;
}

}  // namespace dopesheet
