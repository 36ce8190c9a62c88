// Names, order of joints, and the change from left-handed to right-handed space.
#include "dopesheet/model.hpp"

#include <algorithm>

namespace dopesheet {

const char* name(Interp interp) {
  switch (interp) {
    case Interp::step:
      return "step";
    case Interp::linear:
      return "linear";
    case Interp::hermite:
      return "hermite";
    case Interp::bezier:
      return "bezier";
    case Interp::slerp_ease:
      return "slerp with ease";
    case Interp::slerp_stored:
      return "slerp with stored angle";
    case Interp::nlerp:
      return "nlerp";
  }
  return "unknown";
}

const char* name(Channel channel) {
  switch (channel) {
    case Channel::translation:
      return "translation";
    case Channel::rotation:
      return "rotation";
    case Channel::scale:
      return "scale";
    case Channel::visibility:
      return "visibility";
    case Channel::weight:
      return "weight";
    case Channel::custom:
      return "custom";
  }
  return "unknown";
}

std::vector<std::size_t> topological_order(std::span<const Node> nodes) {
  const auto parent_of = [&](std::size_t i) {
    const int p = nodes[i].parent;
    return p >= 0 && static_cast<std::size_t>(p) < nodes.size() ? p : -1;
  };
  std::vector<std::size_t> order;
  order.reserve(nodes.size());
  enum class Mark : std::uint8_t { unseen, open, done };
  std::vector<Mark> marks(nodes.size(), Mark::unseen);
  std::vector<std::size_t> chain;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    // Climb to a node that is done, to a root, or around a cycle; then come back down.
    for (int at = static_cast<int>(i);
         at >= 0 && marks[static_cast<std::size_t>(at)] == Mark::unseen;
         at = parent_of(static_cast<std::size_t>(at))) {
      marks[static_cast<std::size_t>(at)] = Mark::open;
      chain.push_back(static_cast<std::size_t>(at));
    }
    for (; !chain.empty(); chain.pop_back()) {
      marks[chain.back()] = Mark::done;
      order.push_back(chain.back());
    }
  }
  return order;
}

Vec3 mirror_x(Vec3 v) { return {-v.x, v.y, v.z}; }
Quat mirror_x(Quat q) { return {q.x, -q.y, -q.z, q.w}; }

namespace {

void mirror(Transform& t) {
  t.translation = mirror_x(t.translation);
  t.rotation = mirror_x(t.rotation);
}

template <class T>
void mirror(Curve<T>& c) {
  for (auto* list : {&c.values, &c.in, &c.out}) {
    for (T& v : *list) v = mirror_x(v);
  }
}

void negate(Curve<float>& c) {
  for (auto* list : {&c.values, &c.in, &c.out}) {
    for (float& v : *list) v = -v;
  }
}

void mirror(Track& t) {
  if (t.channel != Channel::translation && t.channel != Channel::rotation) return;
  if (auto* v = std::get_if<Curve<Vec3>>(&t.curve)) mirror(*v);
  if (auto* q = std::get_if<Curve<Quat>>(&t.curve)) mirror(*q);
  if (auto* axes = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
    if (t.channel == Channel::translation) {
      negate((*axes)[0]);
    } else {  // a turn about an axis in the mirror plane changes its sense
      negate((*axes)[1]);
      negate((*axes)[2]);
    }
  }
}

}  // namespace

Clip to_right_handed(Clip clip) {
  if (clip.space == Space::right_handed) return clip;
  clip.space = Space::right_handed;
  for (Node& n : clip.nodes) mirror(n.rest);
  for (Track& t : clip.tracks) mirror(t);
  for (auto& target : clip.morph.positions) {
    for (Vec3& p : target) p = mirror_x(p);
  }
  return clip;
}

Model to_right_handed(Model model) {
  if (model.space == Space::right_handed) return model;
  model.space = Space::right_handed;
  for (Node& n : model.nodes) mirror(n.rest);
  for (Transform& t : model.inverse_bind) mirror(t);
  for (Attachment& a : model.attachments) mirror(a.transform);
  for (Mesh& m : model.meshes) {
    m.translation = mirror_x(m.translation);
    for (Primitive& p : m.primitives) {
      for (Vec3& v : p.positions) v = mirror_x(v);
      for (Vec3& v : p.normals) v = mirror_x(v);
      for (auto& t : p.triangles) std::swap(t[1], t[2]);
    }
  }
  return model;
}

std::size_t key_count(const Clip& clip) {
  std::size_t n = 0;
  for (const Track& t : clip.tracks) {
    if (const auto* axes = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
      for (const auto& c : *axes) n += c.times.size();
    } else {
      std::visit(
          [&](const auto& c) {
            if constexpr (requires { c.times; }) n += c.times.size();
          },
          t.curve);
    }
  }
  return n;
}

}  // namespace dopesheet
