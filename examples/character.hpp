// A character of our own: a robot of 16 bones, 1.7 m tall, that walks, waves and talks. Everything is
// in the game's space: left-handed, +X right, +Y up, +Z forward, metres; the feet stand on y = 0.
#pragma once
#include <dopesheet/dopesheet.hpp>

namespace example {

using namespace dopesheet;

// In the order of their names, as in the game's files: most parents come after their children.
enum Bone : std::uint8_t {
  chest,
  foot_l,
  foot_r,
  forearm_l,
  forearm_r,
  hand_l,
  hand_r,
  head,
  hips,
  shin_l,
  shin_r,
  spine,
  thigh_l,
  thigh_r,
  upperarm_l,
  upperarm_r,
  num_bones,
};

// The same bone on one side of the body: -1 is left, +1 is right.
inline Bone on_side(int side, Bone left, Bone right) { return side < 0 ? left : right; }

// Names, parents and rest pose: legs straight, arms held away from the body, all other bones aligned
// with the model.
std::vector<Node> skeleton();

// What a face does; all zero is a slight smile.
struct Expression {
  double open = 0;   // of the mouth, 0 to 1
  double wide = 0;   // of the mouth, -1 pursed to 1 broad
  double blink = 0;  // 0 to 1
  double brows = 0;  // -1 lowered to 1 raised
};

// Where the vertices of the face are, in metres. They are the first vertices of the mesh, in this
// order, and lie on a grid of 1 mm: a morph box of 255 mm holds them without loss.
std::vector<Vec3> face(const Expression& expression);
inline constexpr std::array<float, 3> face_box_min{-0.127F, 1.44F, 0},
    face_box_max{0.128F, 1.695F, 0.255F};

v3c::File mesh(std::span<const Node> skeleton);

struct Animation {
  std::string name;
  rfa::File file;
};
Result<Animation> walk(std::span<const Node> skeleton);
Result<Animation> wave(std::span<const Node> skeleton);
Result<Animation> talk(std::span<const Node> skeleton);

// So that no compiler or maths library decides on a last bit.
double rounded(double value, double step);

}  // namespace example
