// Skel_Z: bytes <-> document -> Model. Games: Ratatouille, WALL-E, FUEL; unverified.
#include <algorithm>

#include "dopesheet/sample.hpp"
#include "io/dump.hpp"
#include "io/json.hpp"
#include "zouna_envelope.hpp"

namespace dopesheet::zouna {
namespace {

bool names_bones(const Skeleton& s) {
  const auto n = static_cast<std::int64_t>(s.bones.size());
  return std::all_of(s.bones.begin(), s.bones.end(), [&](const Bone& b) {
    for (const std::int64_t i : {b.child, b.parent, b.next, b.previous}) {
      if (i < -1 || i >= n) return false;
    }
    return true;
  });
}

}  // namespace

Result<Skeleton> read_skeleton(ByteView in, const Limits& limits, const Choices& choices) {
  if (in.size() > limits.bytes) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the input is larger than the limit"});
  }
  const auto d = headed(in, skeleton_class, choices);
  if (!d) return tl::unexpected(Error{Code::bad_magic, 0, "header", "no header of a Skel_Z"});
  Error error{Code::bad_value, 0, "bones", "links of bones lead to no bones in either layout"};
  for (const std::uint8_t rotation : {std::uint8_t{1}, std::uint8_t{0}}) {
    Skeleton s;
    s.envelope = blank(*d, skeleton_class);
    s.has_rotation = rotation;
    io::Reader r(in, d->order);
    Skeleton::fields(r, s);
    if (r.ok() && !s.bones.empty() && names_bones(s)) return s;
    if (!r.ok()) error = r.error();
    if (rotation == 0 && r.ok() && s.bones.empty()) return s;
  }
  return tl::unexpected(std::move(error));
}

Result<Bytes> write(const Skeleton& skeleton) {
  return io::write(skeleton, skeleton.envelope.order());
}
std::string dump(const Skeleton& skeleton) { return io::dump(skeleton); }
std::string to_json(const Skeleton& skeleton) { return io::to_json(skeleton, "zouna-skeleton"); }
Result<Skeleton> skeleton_from_json(std::string_view json, const Limits& limits) {
  return io::from_json<Skeleton>(json, "zouna-skeleton", limits);
}
bool probe_skeleton(ByteView in) { return headed(in, skeleton_class, {}).has_value(); }

Model to_model(const Skeleton& skeleton, const Names* names, std::string name) {
  Model model;
  model.name = std::move(name);
  const auto n = static_cast<int>(skeleton.bones.size());
  for (const Bone& b : skeleton.bones) {
    dopesheet::Node node;
    node.name = names != nullptr ? names->of(NameHash::zouna, b.name) : hash_text(b.name);
    node.parent = b.parent >= 0 && b.parent < n ? b.parent : -1;
    node.rest = {{b.translation[0], b.translation[1], b.translation[2]},
                 normalize({b.rotation[0], b.rotation[1], b.rotation[2], b.rotation[3]}),
                 {b.scale[0], b.scale[1], b.scale[2]}};
    node.properties = {{"zn_name", std::int64_t{b.name}}};
    model.nodes.push_back(std::move(node));
  }
  std::vector<bool> placed(model.nodes.size());
  for (const std::size_t i : topological_order(model.nodes)) {
    const int p = model.nodes[i].parent;
    if (p >= 0 && !placed[static_cast<std::size_t>(p)]) model.nodes[i].parent = -1;  // a cycle
    placed[i] = true;
  }
  const auto order = topological_order(model.nodes);
  std::vector<Transform> local, object(model.nodes.size());
  for (const auto& node : model.nodes) local.push_back(node.rest);
  to_object_space(model.nodes, order, local, object);
  for (const Transform& t : object) model.inverse_bind.push_back(inverse(t));
  return model;
}

}  // namespace dopesheet::zouna
