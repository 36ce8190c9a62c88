// The human rig of Shenmue: the 37 controls that motions address, the solver that turns their
// curves into a pose, and the ways out of it: a skeleton of 21 joints, mirroring, the nodes of MT5
// models.
// Where every number comes from, and how sure it is, stands in docs/formats/mt5.md.
// Axes: right-handed, +Y up, the character faces -Z, its right is +X.
#pragma once
#include <bitset>
#include <optional>
#include <string_view>

#include "dopesheet/model.hpp"

namespace dopesheet::shenmue {

inline constexpr std::size_t control_count = 37;
inline constexpr std::size_t joint_count = 21;
inline constexpr double bams_per_turn = 65536;

// Knees and elbows that are almost straight need more digits than a float has.
using Point = std::array<double, 3>;

// Where a control is: unit axes, right-handed.
struct Frame {
  Point x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  Point origin{};  // metres
};

// ---- the rig

// What a control is for. The numbers are the game's own solver class.
enum class Solver : std::uint8_t {
  plain = 0,   // turns, unless the limb it carries says otherwise
  free = 1,    // foot, toes, hand
  aim = 2,     // aim (variant 1): turns towards the target two controls on
               // pole (variant 2): its z axis is the hinge of the limb that the next three form
  solved = 3,  // follows from aim or pole; the variant says how a limb bends: 1 knee, 0 elbow
  target = 4,  // its position is given
  root = 6,
};

struct Control {
  std::string_view name;
  int parent = -1;
  Point offset{};                      // metres, relative to the parent
  std::array<std::int16_t, 3> rest{};  // BAMS about x, y, z: R = Rz Ry Rx
  int type = 0;                        // what the game matches controls of other families by
  Solver solver = Solver::plain;
  int variant = 0;
};

// Parents stand before their children.
struct Rig {
  std::array<Control, control_count> controls;
};

// The rig of families 0 and 13: Ryo, and almost all motions.
const Rig& default_rig();

// The default rig with the segment lengths of a model. Takes hips, limbs, shoulders, neck and toes
// from nodes that carry "mt5_id" (see mt5::to_model); what the model lacks stays as it is. The
// height of the root at rest is not in a model.
Rig rig_from_model(std::span<const Node> nodes);

// ---- families. A motion's rig id is the family it was made for.

// How many controls the family has; 0 for a family that does not exist.
int family_size(int family);
// The control of the human rig that a motion of this family means by `id`. None for animals, whose
// rig is not known here, and for ids outside the family.
std::optional<int> to_human(int family, int id);

// ---- nodes of MT5 models

// The low byte of the id is the bone, where the byte above says so; see docs/formats/mt5.md.
std::optional<int> bone_of_node(std::uint32_t node_id);
// The family of a character's root node: 0 to 20, none where the id is no such root.
std::optional<int> family_of_root(std::uint32_t node_id);
// "thigh_R"; empty for a bone nobody has named.
std::string_view bone_name(int bone);

// How surely a node follows a control.
enum class Follows : std::uint8_t {
  copied,   // the game copies the control's world transform to the node
  guessed,  // the node means the same bone, but the game was not seen to move it
};
struct NodeLink {
  int control = 0, bone = 0;
  Follows follows = Follows::copied;
};
std::span<const NodeLink> node_links();
// The bone whose node a control moves, or would move. None for helpers of the solver and the neck.
std::optional<int> bone_of_control(int control);

// ---- poses

// What a motion gives at one time. Values without a flag are not used: the rig's rest counts there.
struct ControlPose {
  std::array<Point, control_count> turns{};      // 1 is 360 degrees; about x, y, z: R = Rz Ry Rx
  std::array<Point, control_count> positions{};  // metres, in the space of the root
  std::array<std::bitset<3>, control_count> has_turn{};  // per axis
  std::bitset<control_count> has_position{};

  void set_turn(std::size_t control, std::size_t axis, double turn) {
    turns[control][axis] = turn;
    has_turn[control].set(axis);
  }
  void set_position(std::size_t control, const Point& p) {
    positions[control] = p;
    has_position.set(control);
  }
};

// Rest values everywhere, and no flag: a clip that animates one axis of a position finds the others
// here.
ControlPose rest_pose(const Rig& rig);

enum class FootSpace : std::uint8_t {
  sequence,  // turns of controls 9 and 16 are in the space of the root position
  parent,    // they are relative to the shin
};
enum class HandSpace : std::uint8_t {
  forearm,  // turns of controls 30 and 36 are relative to the forearm
  world,    // they are in the space of the root position
};
enum class Reach : std::uint8_t {
  stretch,  // hand or foot reach their target, the lower segment is longer than it should be
  clamp,    // segments keep their length, hand or foot stop short of the target
};

// Every choice that no source settles for good. The defaults are those of docs/formats/mt5.md.
struct SolveOptions {
  FootSpace foot_space = FootSpace::sequence;
  HandSpace hand_space = HandSpace::forearm;
  Reach out_of_reach = Reach::stretch;
  bool ground_ankles = false;   // lifts ankle targets to ankle_height, as the game does in walking
  double ankle_height = 0.117;  // metres
  bool truncate_turns = false;  // to whole BAMS, toward zero, as the game does
  bool keep_odd_rest = true;    // false: rest turns of the table are rounded to quarters of a turn
};

// The frame at `control` whose x axis points at `target` and whose z axis is as near as can be to
// the control's. Where the target is in its origin, x is the control's y axis, the rest direction.
Frame aim(const Frame& control, const Point& target);

enum class Bend : std::uint8_t { knee, elbow };

struct Limb {
  Frame upper, lower, end;  // `end` has the axes of `lower`
  double missing = 0;       // metres by which the target is too far or too near; 0 within reach
};
// Two segments from the origin of `pole` to `target`, bent about the pole's z axis. A target in the
// origin, or on the z axis, gives finite frames.
Limb two_bone(const Frame& pole, const Point& target, double upper, double lower, Bend bend,
              Reach reach = Reach::stretch);

using World = std::span<Transform, control_count>;
using ConstWorld = std::span<const Transform, control_count>;

// World transforms of all controls, in the space of the root position. Computes in double,
// allocates nothing. A target without a position is an ordinary control: its limb follows its
// turns.
void solve(const Rig& rig, const ControlPose& pose, const SolveOptions& options, World world);
// The same for dense motions, which store joint angles: positions of targets are not used, and the
// turns of a pole or aim include the rest turn of the control after it. Control frames mean the
// same as those of solve().
void solve_dense(const Rig& rig, const ControlPose& pose, const SolveOptions& options, World world);

// ---- the skeleton without the solver's helpers

// The control behind each of its joints.
std::span<const int, joint_count> joint_controls();
// Parents stand before their children. Properties: shm_control, shm_type, shm_mt5_bone where known.
std::vector<Node> reduced_skeleton(const Rig& rig = default_rig());
// Local transforms of its joints. Where a target is out of reach, hands and feet have another
// translation than at rest.
void reduce(ConstWorld world, std::span<Transform, joint_count> local);

// ---- mirroring

// Joint angles of dense motions mean something else at the neck.
enum class Motion : std::uint8_t { curves, dense };

// new value = sign * old value + offset, per axis, after exchanging the curves of both controls.
// Slopes take the sign only.
struct MirrorRule {
  int swap = 0;  // the control that takes this one's place; itself in the middle of the body
  Point turn_sign{1, 1, 1}, turn_offset{};
  Point position_sign{-1, 1, 1};
};
// How control `control` looks after the exchange. `control` from 0 to 36.
MirrorRule mirror_rule(std::size_t control, Motion motion = Motion::curves);
ControlPose mirror(const ControlPose& pose, Motion motion = Motion::curves);

// ---- models

struct NodeOptions {
  bool move_feet = false;  // the game was only seen to carry them along with the lower leg
};
// Which control moves which node.
struct NodeMap {
  std::vector<int> controls;       // per node; -1: keeps its rest transform, follows its parent
  std::vector<std::size_t> order;  // parents before children
};
NodeMap map_nodes(std::span<const Node> nodes, const NodeOptions& options = {});
// The nodes as the game moves them: copies of control transforms where `map` says so. All spans are
// as long as `nodes`. Allocates nothing.
void to_mt5_nodes(std::span<const Node> nodes, const NodeMap& map, ConstWorld world,
                  std::span<Transform> object, std::span<Transform> local);

}  // namespace dopesheet::shenmue
