// Turns and targets -> world transforms. In double: an almost straight knee moves by 0.2 mm when
// its target moves by the rounding of a float.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "dopesheet/sample.hpp"
#include "dopesheet/shenmue_rig.hpp"

namespace dopesheet::shenmue {
namespace {

using Frames = std::array<Frame, control_count>;

Point operator+(const Point& a, const Point& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Point operator-(const Point& a, const Point& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Point operator-(const Point& a) { return {-a[0], -a[1], -a[2]}; }
Point operator*(double s, const Point& a) { return {s * a[0], s * a[1], s * a[2]}; }
double dot(const Point& a, const Point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Point& a) { return std::sqrt(dot(a, a)); }
Point cross(const Point& a, const Point& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
constexpr double tiny = 1e-9;  // metres, or the sine of an angle

// Unit length; `otherwise` where there is no direction, or none that is a number.
Point direction(const Point& v, const Point& otherwise) {
  const double n = length(v);
  return n > tiny && std::isfinite(n) ? (1 / n) * v : otherwise;
}

// A point, or direction, in the space of a frame.
Point turn(const Frame& f, const Point& v) { return v[0] * f.x + v[1] * f.y + v[2] * f.z; }
Point place(const Frame& f, const Point& v) { return turn(f, v) + f.origin; }
Frame below(const Frame& parent, const Frame& local) {
  return {turn(parent, local.x), turn(parent, local.y), turn(parent, local.z),
          place(parent, local.origin)};
}
// The same axes somewhere else.
Frame at(Frame axes, const Point& origin) {
  axes.origin = origin;
  return axes;
}

// Rz Ry Rx
Frame axes_of(const Point& turns) {
  constexpr double radians = 2 * std::numbers::pi;
  const double a = turns[0] * radians, b = turns[1] * radians, c = turns[2] * radians;
  const double sx = std::sin(a), cx = std::cos(a), sy = std::sin(b), cy = std::cos(b);
  const double sz = std::sin(c), cz = std::cos(c);
  return {{cz * cy, sz * cy, -sy},
          {cz * sy * sx - sz * cx, sz * sy * sx + cz * cx, cy * sx},
          {cz * sy * cx + sz * sx, sz * sy * cx - cz * sx, cy * cx},
          {}};
}

Quat quat(const Frame& f) {
  const double trace = f.x[0] + f.y[1] + f.z[2];
  double x = 0, y = 0, z = 0, w = 1;
  if (trace > 0) {
    w = 1 + trace, x = f.y[2] - f.z[1], y = f.z[0] - f.x[2], z = f.x[1] - f.y[0];
  } else if (f.x[0] >= f.y[1] && f.x[0] >= f.z[2]) {
    x = 1 + f.x[0] - f.y[1] - f.z[2], y = f.y[0] + f.x[1], z = f.z[0] + f.x[2], w = f.y[2] - f.z[1];
  } else if (f.y[1] >= f.z[2]) {
    y = 1 + f.y[1] - f.x[0] - f.z[2], x = f.y[0] + f.x[1], z = f.z[1] + f.y[2], w = f.z[0] - f.x[2];
  } else {
    z = 1 + f.z[2] - f.x[0] - f.y[1], x = f.z[0] + f.x[2], y = f.z[1] + f.y[2], w = f.x[1] - f.y[0];
  }
  const double n = std::sqrt(x * x + y * y + z * z + w * w);
  if (!(n > 0) || !std::isfinite(n)) return {};
  return {static_cast<float>(x / n), static_cast<float>(y / n), static_cast<float>(z / n),
          static_cast<float>(w / n)};
}

// `z` made perpendicular to `d`. Where both are parallel, what it tends to when d comes from
// `rest`.
Point hinge(const Point& z, const Point& d, const Point& rest) {
  const double along = dot(z, d);
  const auto perpendicular = [&](const Point& v) { return v - dot(v, d) * d; };
  const Point other = perpendicular(along > 0 ? -rest : rest);
  const Point last = perpendicular(std::abs(d[0]) < 0.5 ? Point{1, 0, 0} : Point{0, 1, 0});
  return direction(z - along * d, direction(other, direction(last, {0, 0, 1})));
}

bool is_foot(std::size_t i) { return i == 9 || i == 16; }
bool is_hand(std::size_t i) { return i == 30 || i == 36; }

class Solve {
 public:
  Solve(const Rig& rig, const ControlPose& pose, const SolveOptions& options, Motion motion)
      : rig_(rig), pose_(pose), options_(options), motion_(motion) {}

  const Frames& run() {
    for (std::size_t i = 0; i < control_count; ++i) {
      if (solved_.test(i)) continue;
      frames_[i] = plain(i);
      if (motion_ == Motion::dense || rig_.controls[i].solver != Solver::aim) continue;
      if (rig_.controls[i].variant == 2) {
        limb(i);
      } else {
        look(i);
      }
    }
    if (motion_ == Motion::dense) restore_aims();
    return frames_;
  }

 private:
  double rest(std::size_t i, std::size_t axis) const {
    if (includes_aim(i)) return 0;
    // In another space than the documented one, the rest pose must stay the rest pose.
    constexpr Point foot{0.125, -0.25, 0.125}, hand{-0.25, 0, -0.25};
    if (is_foot(i) && options_.foot_space == FootSpace::parent) return foot[axis];
    if (is_hand(i) && options_.hand_space == HandSpace::world) return hand[axis];
    return table_rest(i, axis);
  }
  double table_rest(std::size_t i, std::size_t axis) const {
    const double turn = rig_.controls[i].rest[axis] / bams_per_turn;
    return options_.keep_odd_rest ? turn : std::round(turn * 4) / 4;
  }
  // A dense motion turns torso, head and upper limbs together with the aim or pole before them.
  bool includes_aim(std::size_t i) const {
    return motion_ == Motion::dense && i > 2 && rig_.controls[i - 1].solver == Solver::aim &&
           pose_.has_turn[i - 1].any();
  }
  // Aims and poles get back the axes that they have in other motions.
  void restore_aims() {
    for (std::size_t i = 3; i < control_count; ++i) {
      if (!includes_aim(i)) continue;
      const Frame r = axes_of({table_rest(i, 0), table_rest(i, 1), table_rest(i, 2)});
      const Frame back{
          {r.x[0], r.y[0], r.z[0]}, {r.x[1], r.y[1], r.z[1]}, {r.x[2], r.y[2], r.z[2]}, {}};
      frames_[i - 1] = at(below(frames_[i], back), frames_[i - 1].origin);
    }
  }
  Point turns(std::size_t i) const {
    Point out;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      double t = pose_.has_turn[i].test(axis) ? pose_.turns[i][axis] : rest(i, axis);
      if (options_.truncate_turns) t = std::trunc(t * bams_per_turn) / bams_per_turn;
      out[axis] = t;
    }
    return out;
  }

  Frame plain(std::size_t i) const {
    const Control& c = rig_.controls[i];
    const Frame axes = axes_of(turns(i));
    const bool is_placed = c.parent < 0 && pose_.has_position.test(i);
    if (c.parent < 0) return at(axes, is_placed ? pose_.positions[i] : c.offset);
    const Frame& parent = frames_[static_cast<std::size_t>(c.parent)];
    const bool in_sequence = (is_foot(i) && options_.foot_space == FootSpace::sequence) ||
                             (is_hand(i) && options_.hand_space == HandSpace::world);
    if (in_sequence) return at(axes, place(parent, c.offset));
    return below(parent, at(axes, c.offset));
  }

  void look(std::size_t i) {
    if (!pose_.has_position.test(i + 2)) return;
    const Frame f = aim(frames_[i], pose_.positions[i + 2]);
    frames_[i + 1] = f;
    frames_[i + 2] = at(f, f.origin + rig_.controls[i + 2].offset[0] * f.x);
    solved_.set(i + 1).set(i + 2);
  }

  void limb(std::size_t i) {
    if (!pose_.has_position.test(i + 3)) return;
    const Bend bend = rig_.controls[i + 2].variant == 1 ? Bend::knee : Bend::elbow;
    Point target = pose_.positions[i + 3];
    if (options_.ground_ankles && bend == Bend::knee)
      target[1] = std::max(target[1], options_.ankle_height);
    const Limb l = two_bone(frames_[i], target, rig_.controls[i + 2].offset[0],
                            rig_.controls[i + 3].offset[0], bend, options_.out_of_reach);
    frames_[i + 1] = l.upper;
    frames_[i + 2] = l.lower;
    frames_[i + 3] = l.end;
    solved_.set(i + 1).set(i + 2).set(i + 3);
  }

  const Rig& rig_;
  const ControlPose& pose_;
  SolveOptions options_;
  Motion motion_;
  Frames frames_;
  std::bitset<control_count> solved_;
};

void store(const Frames& frames, World world) {
  for (std::size_t i = 0; i < control_count; ++i) {
    const Point& p = frames[i].origin;
    world[i] = {{static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2])},
                quat(frames[i]),
                {1, 1, 1}};
  }
}

}  // namespace

Frame aim(const Frame& control, const Point& target) {
  const Point d = direction(target - control.origin, control.y);
  const Point n = hinge(control.z, d, control.y);
  return {d, cross(n, d), n, control.origin};
}

Limb two_bone(const Frame& pole, const Point& target, double upper, double lower, Bend bend,
              Reach reach) {
  upper = std::abs(upper);
  lower = std::abs(lower);
  const Point rest = -pole.y;
  const Point to_target = target - pole.origin;
  const double distance = length(to_target);
  const Point d = direction(to_target, rest);
  const Point n = hinge(pole.z, d, rest);
  // Along d and across it, from the law of cosines.
  const double s =
      distance > tiny
          ? std::clamp((upper * upper + distance * distance - lower * lower) / (2 * distance),
                       -upper, upper)
          : 0;
  const double h = std::sqrt(std::max(0.0, upper * upper - s * s));
  const Point across = bend == Bend::knee ? cross(n, d) : cross(d, n);
  const Point to_joint = s * d + h * across;
  const Point joint = pole.origin + to_joint;

  Limb limb;
  const auto frame = [&](const Point& x, const Point& origin) {
    return Frame{x, cross(n, x), n, origin};
  };
  limb.upper = frame(direction(to_joint, d), pole.origin);
  limb.lower = frame(direction(target - joint, limb.upper.x), joint);
  limb.end = at(limb.lower, reach == Reach::clamp ? joint + lower * limb.lower.x : target);
  limb.missing = std::max({distance - upper - lower, std::abs(upper - lower) - distance, 0.0});
  return limb;
}

ControlPose rest_pose(const Rig& rig) {
  ControlPose pose;
  for (std::size_t i = 0; i < control_count; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      pose.turns[i][axis] = rig.controls[i].rest[axis] / bams_per_turn;
    }
  }
  Solve solve(rig, pose, SolveOptions{}, Motion::curves);
  const Frames& frames = solve.run();
  for (std::size_t i = 0; i < control_count; ++i) pose.positions[i] = frames[i].origin;
  return pose;
}

void solve(const Rig& rig, const ControlPose& pose, const SolveOptions& options, World world) {
  store(Solve(rig, pose, options, Motion::curves).run(), world);
}

void solve_dense(const Rig& rig, const ControlPose& pose, const SolveOptions& options,
                 World world) {
  store(Solve(rig, pose, options, Motion::dense).run(), world);
}

}  // namespace dopesheet::shenmue
