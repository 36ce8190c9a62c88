// The rig's numbers, and everything that follows from them without solving.
// Games: Shenmue (1999). Sources of every number: docs/formats/mt5.md.
#include "dopesheet/shenmue_rig.hpp"

#include <algorithm>
#include <cmath>

#include "dopesheet/sample.hpp"

namespace dopesheet::shenmue {
namespace {

constexpr Control control(std::string_view name, int parent, Point offset, int rx, int ry, int rz,
                          int type, Solver solver, int variant) {
  const auto bams = [](int v) { return static_cast<std::int16_t>(v); };
  return {name, parent, offset, {bams(rx), bams(ry), bams(rz)}, type, solver, variant};
}

constexpr Rig human{{
    control("root", -1, {0, 1.1504, 0}, 0, 0, 0, 0, Solver::root, 0),
    control("waist_aim", 0, {0, 0, 0}, 0, 16384, 0, 19, Solver::aim, 1),
    control("waist", 1, {0, 0, 0}, 0, 0, -16384, 20, Solver::solved, 1),
    control("waist_target", 2, {0.251262, 0, 0}, 0, 0, 0, 21, Solver::target, 0),
    control("hip_R", 3, {-0.109731, 0, 0.055835}, 0, 0, 0, 29, Solver::plain, 0),
    control("leg_pole_R", 4, {0.049936, 0, 0.035837}, 0, 0, 16384, 30, Solver::aim, 2),
    control("thigh_R", 5, {0, 0, 0}, 0, 0, -16383, 31, Solver::solved, 1),
    control("shin_R", 6, {0.392729, 0, 0}, 0, 0, 0, 32, Solver::solved, 1),
    control("ankle_target_R", 7, {0.444608, 0, 0}, 0, 0, 0, 33, Solver::target, 0),
    control("foot_R", 8, {0, 0, 0}, 0, 0, 0, 34, Solver::free, 0),
    control("toes_R", 9, {-0.000001, -0.088240, -0.115665}, 0, 0, 0, 35, Solver::free, 0),
    control("hip_L", 3, {-0.109732, 0, -0.055837}, 0, 0, 0, 22, Solver::plain, 0),
    control("leg_pole_L", 11, {0.049937, 0, -0.035835}, 0, 0, 16384, 23, Solver::aim, 2),
    control("thigh_L", 12, {0, 0, 0}, 0, 0, -16329, 24, Solver::solved, 1),
    control("shin_L", 13, {0.392729, 0, 0}, 0, 0, -102, 25, Solver::solved, 1),
    control("ankle_target_L", 14, {0.444624, 0, 0}, 0, 0, 0, 26, Solver::target, 0),
    control("foot_L", 15, {0, 0, 0}, 0, 0, 0, 27, Solver::free, 0),
    control("toes_L", 16, {0, -0.088240, -0.115665}, 0, 0, 0, 28, Solver::free, 0),
    control("spine_aim", 0, {0, 0, 0}, 0, 16384, 0, 1, Solver::aim, 1),
    control("spine", 18, {0, 0, 0}, 0, 0, 16384, 2, Solver::solved, 0),
    control("neck_target", 19, {0.380852, 0, 0}, 0, 0, 0, 3, Solver::target, 0),
    control("neck", 20, {0, 0.000001, 0.000001}, -32768, -16384, 0, 4, Solver::aim, 1),
    control("head", 21, {0, 0, 0}, 0, 0, 16384, 5, Solver::solved, 0),
    control("look_target", 22, {0.209385, 0, 0}, 0, 0, 0, 6, Solver::target, 0),
    control("head_extra", 22, {0, 0, 0}, 0, 0, 0, 47, Solver::free, 0),
    control("shoulder_L", 20, {-0.125631, 0, -0.055834}, 0, 0, 0, 7, Solver::plain, 0),
    control("arm_pole_L", 25, {0.016951, 0, -0.168590}, 0, 0, -16384, 8, Solver::aim, 2),
    control("upperarm_L", 26, {0, 0, 0}, 0, 0, -16384, 9, Solver::solved, 1),
    control("forearm_L", 27, {0.242530, 0, 0}, 0, 0, 0, 10, Solver::solved, 0),
    control("wrist_target_L", 28, {0.250658, 0, 0}, 0, 0, 0, 11, Solver::target, 0),
    control("hand_L", 29, {0, 0, 0}, 0, 0, 0, 12, Solver::free, 0),
    control("shoulder_R", 20, {-0.125632, 0, 0.055838}, 0, 0, 0, 13, Solver::plain, 0),
    control("arm_pole_R", 31, {0.016945, 0, 0.168566}, 0, 0, -16384, 14, Solver::aim, 2),
    control("upperarm_R", 32, {0, 0, 0}, 0, 0, -16451, 15, Solver::solved, 1),
    control("forearm_R", 33, {0.242525, 0, 0}, 0, 0, 133, 16, Solver::solved, 0),
    control("wrist_target_R", 34, {0.250665, 0, 0}, 0, 0, 0, 17, Solver::target, 0),
    control("hand_R", 35, {0, 0, 0}, 0, 0, 0, 18, Solver::free, 0),
}};

constexpr NodeLink links[] = {
    {0, 0, Follows::guessed},   {2, 14, Follows::copied},   {6, 16, Follows::copied},
    {7, 17, Follows::copied},   {9, 18, Follows::guessed},  {10, 19, Follows::guessed},
    {13, 21, Follows::copied},  {14, 22, Follows::copied},  {16, 23, Follows::guessed},
    {17, 24, Follows::guessed}, {19, 1, Follows::copied},   {22, 189, Follows::copied},
    {25, 9, Follows::guessed},  {27, 10, Follows::copied},  {28, 11, Follows::copied},
    {30, 190, Follows::copied}, {31, 4, Follows::guessed},  {33, 5, Follows::copied},
    {34, 6, Follows::copied},   {36, 191, Follows::copied},
};

constexpr std::array<int, joint_count> controls_of_joints{
    0, 2, 6, 7, 9, 10, 13, 14, 16, 17, 19, 21, 22, 31, 33, 34, 36, 25, 27, 28, 30};
constexpr std::array<int, joint_count> parents_of_joints{-1, 0,  1,  2,  3,  4,  1,  6,  7,  8, 0,
                                                         10, 11, 10, 13, 14, 15, 10, 17, 18, 19};

const std::int64_t* integer_property(const Node& node, std::string_view key) {
  for (const Property& p : node.properties) {
    if (p.key == key) return std::get_if<std::int64_t>(&p.value);
  }
  return nullptr;
}

// One rest pose of a model, asked for segments by bone id.
class RestModel {
 public:
  explicit RestModel(std::span<const Node> nodes) : object_(nodes.size()) {
    std::vector<Transform> local;
    for (const Node& n : nodes) local.push_back(n.rest);
    to_object_space(nodes, topological_order(nodes), local, object_);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const auto* id = integer_property(nodes[i], "mt5_id");
      const auto bone =
          id != nullptr ? bone_of_node(static_cast<std::uint32_t>(*id)) : std::nullopt;
      if (bone && !nodes_[static_cast<std::size_t>(*bone)])
        nodes_[static_cast<std::size_t>(*bone)] = i;
    }
  }
  // Where one bone is in the space of another.
  std::optional<Point> segment(int from, int to) const {
    const auto a = nodes_[static_cast<std::size_t>(from)], b = nodes_[static_cast<std::size_t>(to)];
    if (!a || !b) return {};
    const Vec3 v = (inverse(object_[*a]) * object_[*b]).translation;
    if (!std::isfinite(v.x) || !std::isfinite(v.y) || !std::isfinite(v.z)) return {};
    return Point{v.x, v.y, v.z};
  }

 private:
  std::vector<Transform> object_;
  std::array<std::optional<std::size_t>, 256> nodes_;
};

Point minus(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }

// A node's local transform below a parent that may be scaled.
Transform relative(const Transform& parent, const Transform& child) {
  Transform t = inverse({parent.translation, parent.rotation, {1, 1, 1}}) * child;
  const auto divide = [](float a, float b) { return b != 0 ? a / b : a; };
  const Vec3 s = parent.scale;
  t.translation = {divide(t.translation.x, s.x), divide(t.translation.y, s.y),
                   divide(t.translation.z, s.z)};
  t.scale = {divide(t.scale.x, s.x), divide(t.scale.y, s.y), divide(t.scale.z, s.z)};
  return t;
}

}  // namespace

const Rig& default_rig() { return human; }

Rig rig_from_model(std::span<const Node> nodes) {
  Rig rig = human;
  const RestModel model(nodes);
  const auto at = [&](std::size_t i) -> Point& { return rig.controls[i].offset; };
  // Lengths along a limb: the solver knows no others.
  const auto length = [&](std::size_t control, int from, int to) {
    if (const auto v = model.segment(from, to); v && (*v)[0] > 0) at(control) = {(*v)[0], 0, 0};
  };
  length(20, 1, 189);  // the neck's own id is not known, but the head is where the neck is
  length(7, 16, 17);
  length(8, 17, 18);
  length(14, 21, 22);
  length(15, 22, 23);
  length(28, 10, 11);
  length(29, 11, 190);
  length(34, 5, 6);
  length(35, 6, 191);
  const auto offset = [&](std::size_t control, int from, int to, const Point& before) {
    if (const auto v = model.segment(from, to)) at(control) = minus(*v, before);
  };
  const auto sum = [](const Point& a, const Point& b) {
    return Point{a[0] + b[0], a[1] + b[1], a[2] + b[2]};
  };
  offset(5, 14, 16, sum(at(3), at(4)));
  offset(12, 14, 21, sum(at(3), at(11)));
  offset(25, 1, 9, at(20));
  offset(31, 1, 4, at(20));
  offset(26, 9, 10, {});
  offset(32, 4, 5, {});
  offset(10, 18, 19, {});
  offset(17, 23, 24, {});
  return rig;
}

int family_size(int family) {
  constexpr std::array<int, 21> sizes{37, 37, 37, 37, 37, 37, 37, 37, 37, 35, 37,
                                      35, 37, 37, 35, 35, 41, 42, 43, 35, 43};
  return family >= 0 && family < 21 ? sizes[static_cast<std::size_t>(family)] : 0;
}

std::optional<int> to_human(int family, int id) {
  const int size = family_size(family);
  if (id < 0 || id >= size) return {};
  if (size == 37) return id;
  if (size != 35) return {};
  // Without toes, 10 and 17 of the human rig.
  return id < 10 ? id : id < 16 ? id + 1 : id + 2;
}

std::optional<int> bone_of_node(std::uint32_t node_id) {
  const std::uint32_t state = node_id >> 8 & 0xFF;
  if (state != 0 && state != 0xFF) return {};
  return static_cast<int>(node_id & 0xFF);
}

std::optional<int> family_of_root(std::uint32_t node_id) {
  const std::uint32_t type = node_id & 0xFFFF;
  if (type < 0x7001 || type > 0x7015) return {};
  return static_cast<int>(type - 0x7001);
}

std::string_view bone_name(int bone) {
  switch (bone) {
    case 0:
      return "root";
    case 1:
      return "spine";
    case 4:
      return "shoulder_R";
    case 5:
      return "upperarm_R";
    case 6:
      return "forearm_R";
    case 7:
      return "wrist_R";
    case 8:
      return "hand_fingers_R";
    case 9:
      return "shoulder_L";
    case 10:
      return "upperarm_L";
    case 11:
      return "forearm_L";
    case 12:
      return "wrist_L";
    case 13:
      return "hand_fingers_L";
    case 14:
      return "waist";
    case 16:
      return "thigh_R";
    case 17:
      return "shin_R";
    case 18:
      return "foot_R";
    case 19:
      return "toes_R";
    case 21:
      return "thigh_L";
    case 22:
      return "shin_L";
    case 23:
      return "foot_L";
    case 24:
      return "toes_L";
    case 25:
      return "thumb_R";
    case 28:
      return "index_upper_R";
    case 29:
      return "index_lower_R";
    case 31:
      return "fingers_upper_R";
    case 32:
      return "fingers_lower_R";
    case 40:
      return "thumb_L";
    case 43:
      return "index_upper_L";
    case 44:
      return "index_lower_L";
    case 46:
      return "fingers_upper_L";
    case 47:
      return "fingers_lower_L";
    case 188:
      return "jaw";
    case 189:
      return "head";
    case 190:
      return "hand_L";
    case 191:
      return "hand_R";
    default:
      return {};
  }
}

std::span<const NodeLink> node_links() { return links; }

std::optional<int> bone_of_control(int control) {
  for (const NodeLink& l : links) {
    if (l.control == control) return l.bone;
  }
  return {};
}

std::span<const int, joint_count> joint_controls() { return controls_of_joints; }

std::vector<Node> reduced_skeleton(const Rig& rig) {
  std::array<Transform, control_count> world;
  std::array<Transform, joint_count> local;
  solve(rig, rest_pose(rig), {}, world);
  reduce(world, local);
  std::vector<Node> nodes(joint_count);
  for (std::size_t i = 0; i < joint_count; ++i) {
    const int id = controls_of_joints[i];
    const Control& c = rig.controls[static_cast<std::size_t>(id)];
    nodes[i].name = c.name;
    nodes[i].parent = parents_of_joints[i];
    nodes[i].rest = local[i];
    nodes[i].properties = {{"shm_control", std::int64_t{id}}, {"shm_type", std::int64_t{c.type}}};
    if (const auto bone = bone_of_control(id))
      nodes[i].properties.push_back({"shm_mt5_bone", std::int64_t{*bone}});
  }
  return nodes;
}

void reduce(ConstWorld world, std::span<Transform, joint_count> local) {
  for (std::size_t i = 0; i < joint_count; ++i) {
    const Transform& own = world[static_cast<std::size_t>(controls_of_joints[i])];
    const int parent = parents_of_joints[i];
    local[i] = parent < 0 ? own
                          : inverse(world[static_cast<std::size_t>(
                                controls_of_joints[static_cast<std::size_t>(parent)])]) *
                                own;
  }
}

MirrorRule mirror_rule(std::size_t control, Motion motion) {
  MirrorRule rule;
  const int id = static_cast<int>(control);
  const auto pair = [&](int first, int last, int distance) {
    if (id >= first && id <= last) return id + distance;
    if (id >= first + distance && id <= last + distance) return id - distance;
    return 0;
  };
  const int leg = pair(4, 10, 7), arm = pair(25, 30, 6);
  rule.swap = leg != 0 ? leg : arm != 0 ? arm : id;
  switch (id) {
    case 0:
    case 9:
    case 16:
      rule.turn_sign = {1, -1, -1};
      break;
    case 1:
    case 18:
      rule.turn_sign = {-1, -1, -1};
      rule.turn_offset = {0, 0.5, 0};
      break;
    case 21:
      // Dense motions store the head's frame here: its y axis points to the side, not its x axis.
      rule.turn_sign = motion == Motion::dense ? Point{-1, -1, 1} : Point{1, -1, 1};
      rule.turn_offset = motion == Motion::dense ? Point{0.5, 0, 0} : Point{0, 0.5, 0};
      break;
    case 5:
    case 12:
    case 25:
    case 26:
    case 30:
    case 31:
    case 32:
    case 36:
      rule.turn_sign = {-1, -1, 1};
      break;
    default:
      break;
  }
  return rule;
}

ControlPose mirror(const ControlPose& pose, Motion motion) {
  ControlPose out;
  for (std::size_t i = 0; i < control_count; ++i) {
    const MirrorRule rule = mirror_rule(i, motion);
    const auto from = static_cast<std::size_t>(rule.swap);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out.turns[i][axis] = rule.turn_sign[axis] * pose.turns[from][axis] + rule.turn_offset[axis];
      out.positions[i][axis] = rule.position_sign[axis] * pose.positions[from][axis];
    }
    out.has_turn[i] = pose.has_turn[from];
    out.has_position[i] = pose.has_position[from];
  }
  return out;
}

NodeMap map_nodes(std::span<const Node> nodes, const NodeOptions& options) {
  NodeMap map;
  map.controls.assign(nodes.size(), -1);
  map.order = topological_order(nodes);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto* id = integer_property(nodes[i], "mt5_id");
    if (id == nullptr) continue;
    const auto node_id = static_cast<std::uint32_t>(*id);
    const auto bone = family_of_root(node_id) ? std::optional{0} : bone_of_node(node_id);
    for (const NodeLink& l : links) {
      const bool is_foot = l.control == 9 || l.control == 16;
      const bool is_root = l.control == 0;  // many nodes of a stage have bone 0
      const bool moves = l.follows == Follows::copied || (is_foot && options.move_feet) ||
                         (is_root && nodes[i].parent < 0);
      if (bone == l.bone && moves) map.controls[i] = l.control;
    }
  }
  return map;
}

void to_mt5_nodes(std::span<const Node> nodes, const NodeMap& map, ConstWorld world,
                  std::span<Transform> object, std::span<Transform> local) {
  for (const std::size_t i : map.order) {
    const int p = nodes[i].parent;
    const bool has_parent = p >= 0 && static_cast<std::size_t>(p) < nodes.size();
    const Transform parent = has_parent ? object[static_cast<std::size_t>(p)] : Transform{};
    if (map.controls[i] < 0) {
      object[i] = has_parent ? parent * nodes[i].rest : nodes[i].rest;
      local[i] = nodes[i].rest;
    } else {
      object[i] = world[static_cast<std::size_t>(map.controls[i])];
      local[i] = has_parent ? relative(parent, object[i]) : object[i];
    }
  }
}

}  // namespace dopesheet::shenmue
