// A motion's stored controls -> the pose that they mean. Sources of every rule: docs/formats/mt5.md.
#include <algorithm>
#include <cmath>

#include "clip/levers.hpp"
#include "dopesheet/motn.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet::motn {
namespace {

using Axes = std::array<Curve<float>, 3>;

// Half a turn about Y.
Vec3 turned_about(Vec3 v) { return {-v.x, v.y, -v.z}; }
Transform turned_about(const Transform& t) {
  return {turned_about(t.translation),
          {-t.rotation.x, t.rotation.y, -t.rotation.z, t.rotation.w},
          t.scale};
}

// The skeleton of 21 joints, each moved by the control behind it.
class Reduced21 {
 public:
  Reduced21(const shenmue::Rig& rig, bool face_forward)
      : nodes_(shenmue::reduced_skeleton(rig)), face_forward_(face_forward) {
    if (!face_forward_) return;
    for (Node& n : nodes_) n.rest = turned_about(n.rest);
  }
  const std::vector<Node>& nodes() const { return nodes_; }
  bool is_moved(std::size_t) const { return true; }
  void place(shenmue::ConstWorld world, std::span<Transform> out) {
    std::array<Transform, shenmue::joint_count> local;
    shenmue::reduce(world, local);
    for (std::size_t j = 0; j < local.size(); ++j)
      out[j] = face_forward_ ? turned_about(local[j]) : local[j];
  }

 private:
  std::vector<Node> nodes_;
  bool face_forward_;
};

// The nodes of a model that the game moves.
class ModelNodes {
 public:
  explicit ModelNodes(std::span<const Node> nodes)
      : nodes_(nodes.begin(), nodes.end()),
        map_(shenmue::map_nodes(nodes_)),
        object_(nodes.size()) {}
  const std::vector<Node>& nodes() const { return nodes_; }
  bool is_moved(std::size_t j) const { return map_.controls[j] >= 0; }
  void place(shenmue::ConstWorld world, std::span<Transform> out) {
    shenmue::to_mt5_nodes(nodes_, map_, world, object_, out);
  }

 private:
  std::vector<Node> nodes_;
  shenmue::NodeMap map_;
  std::vector<Transform> object_;
};

class Solving {
 public:
  Solving(const Bank& bank, std::size_t motion, const SolveOptions& options,
          const shenmue::Rig& rig)
      : options_(options),
        stored_(to_clip(bank, motion)),
        player_(bank, motion, options, rig, Outside::clamp),
        mirrored_(options.mirror && link_of(extra_of(bank, motion)).mirrored),
        kind_(sequence_of(bank, motion).encoding() == Encoding::dense ? shenmue::Motion::dense
                                                                      : shenmue::Motion::curves) {}

  // Poses at the rate asked for, and where that is asked for too, as many between them as it takes for
  // straight lines to be near.
  Clip poses(auto skeleton) {
    Clip out = stored_;
    out.nodes = skeleton.nodes();
    out.tracks.clear();
    const std::size_t joints = out.nodes.size();
    Cursor cursor = player_.cursor();
    std::array<Transform, shenmue::control_count> world;
    const auto pose_at = [&](double t) {
      Pose pose{t, std::vector<Transform>(joints)};
      player_.world(t, cursor, world);
      skeleton.place(world, pose.local);
      return pose;
    };
    const auto lever = levers(out.nodes);
    std::vector<Pose> list;
    for (const double t : times()) {
      Pose next = pose_at(t);
      if (options_.between && !list.empty() && t - list.back().time > shortest) {
        const Pose before = list.back();  // the list grows meanwhile
        refine(list, before, next, pose_at, lever, deepest);
      }
      list.push_back(std::move(next));
    }
    for (std::size_t j = 0; j < joints; ++j) {
      if (!skeleton.is_moved(j)) continue;
      Curve<Quat> rotation;
      Curve<Vec3> translation;
      for (const Pose& pose : list) {
        const Quat q = pose.local[j].rotation;
        const bool flip = !rotation.values.empty() && dot(rotation.values.back(), q) < 0;
        rotation.times.push_back(pose.time);
        rotation.values.push_back(flip ? Quat{-q.x, -q.y, -q.z, -q.w} : q);
        translation.values.push_back(pose.local[j].translation);
      }
      translation.times = rotation.times;
      out.tracks.push_back({j, Channel::rotation, {}, std::move(rotation), {}});
      // Joints keep their distance, but for the root, and hands and feet that are out of reach.
      const Vec3 rest = out.nodes[j].rest.translation;
      const auto& values = translation.values;
      if (std::any_of(values.begin(), values.end(),
                      [&](Vec3 v) { return length(v - rest) > 2e-5F; }))
        out.tracks.push_back({j, Channel::translation, {}, std::move(translation), {}});
    }
    return out;
  }

  // The IK targets beside the skeleton, in its space, with their own curves.
  void add_targets(Clip& clip) const {
    for (std::size_t i = 0; i < stored_.nodes.size(); ++i) {
      if (stored_.nodes[i].role == Role::joint) continue;
      const shenmue::MirrorRule rule =
          mirrored_ ? shenmue::mirror_rule(i, kind_)
                    : shenmue::MirrorRule{static_cast<int>(i), {}, {}, {1, 1, 1}};
      Node node = stored_.nodes[i];
      if (options_.face_forward) node.rest.translation = turned_about(node.rest.translation);
      clip.nodes.push_back(std::move(node));
      for (const Track& t : stored_.tracks) {
        if (t.target != static_cast<std::size_t>(rule.swap) || t.channel != Channel::translation)
          continue;
        Track moved = t;
        moved.target = clip.nodes.size() - 1;
        auto& axes = std::get<Axes>(moved.curve);
        for (std::size_t a = 0; a < 3; ++a) {
          const bool turns = options_.face_forward && a != 1;
          if ((rule.position_sign[a] < 0) != turns) negate(axes[a]);
        }
        clip.tracks.push_back(std::move(moved));
      }
    }
  }

 private:
  struct Pose {
    double time;
    std::vector<Transform> local;
  };
  // Knees and elbows that straighten move as fast as a square root starts: a few poses close together.
  static constexpr int deepest = 8;
  static constexpr double shortest = 1e-5;  // seconds

  // Whether the pose in the middle is near the straight line between its neighbours.
  bool is_straight(const Pose& a, const Pose& m, const Pose& b,
                   const std::vector<double>& lever) const {
    constexpr double radians = 0.017453292519943295;
    for (std::size_t j = 0; j < m.local.size(); ++j) {
      const Transform &p = a.local[j], &q = b.local[j], &at = m.local[j];
      const double degrees = angle_between(slerp(p.rotation, q.rotation, 0.5), at.rotation);
      const double metres = length(0.5F * (p.translation + q.translation) - at.translation);
      if (degrees > options_.max_degrees ||
          degrees * radians * lever[j] + metres > options_.max_mm / 1000) {
        return false;
      }
    }
    return true;
  }
  // Appends the poses between two. The one in the middle is always kept: what is left is a quarter of
  // what was tolerated, where the movement is smooth.
  void refine(std::vector<Pose>& list, const Pose& before, const Pose& after, const auto& pose_at,
              const std::vector<double>& lever, int depth) const {
    Pose middle = pose_at(before.time + (after.time - before.time) / 2);
    const bool split = depth > 0 && !is_straight(before, middle, after, lever);
    if (split) refine(list, before, middle, pose_at, lever, depth - 1);
    list.push_back(middle);
    if (split) refine(list, middle, after, pose_at, lever, depth - 1);
  }

  // Evenly, the end, and both sides of every jump: a cut must not become a slide.
  std::vector<double> times() const {
    const double start = stored_.start, end = stored_.end;
    std::vector<double> out{end};
    const auto steps = static_cast<std::size_t>(std::ceil((end - start) * options_.rate - 1e-9));
    for (std::size_t i = 0; i < steps; ++i)
      out.push_back(start + static_cast<double>(i) / options_.rate);
    for (const Track& t : stored_.tracks) {
      for (const Curve<float>& c : std::get<Axes>(t.curve)) {
        for (std::size_t i = 1; i < c.times.size(); ++i) {
          const double at = c.times[i];
          if (at != c.times[i - 1] || c.values[i] == c.values[i - 1] || at <= start) continue;
          out.insert(out.end(), {std::nextafter(at, start), at});
        }
      }
    }
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  static void negate(Curve<float>& c) {
    for (auto* list : {&c.values, &c.in, &c.out}) {
      for (float& v : *list) v = -v;
    }
  }

  const SolveOptions& options_;
  Clip stored_;
  Player player_;
  bool mirrored_;
  shenmue::Motion kind_;
};

Result<void> can_solve(const Bank& bank, std::size_t motion) {
  const Sequence& sequence = sequence_of(bank, motion);
  if (sequence.encoding() != Encoding::object && shenmue::to_human(sequence.rig_id(), 0)) return {};
  return tl::unexpected(Error{
      Code::cannot_represent, 0, bank.names[motion].text,
      "no rig is known for this motion; it can be converted as it is stored, without a model"});
}

ReduceOptions reduce_options(const SolveOptions& options) {
  ReduceOptions out;
  out.max_mm = options.max_mm;
  out.max_degrees = options.max_degrees;
  return out;
}

}  // namespace

Player::Player(const Bank& bank, std::size_t motion, const SolveOptions& options,
               const shenmue::Rig& rig, std::optional<Outside> outside)
    : rig_(rig),
      options_(options),
      mirrored_(options.mirror && link_of(extra_of(bank, motion)).mirrored),
      kind_(sequence_of(bank, motion).encoding() == Encoding::dense ? shenmue::Motion::dense
                                                                    : shenmue::Motion::curves),
      rest_(shenmue::rest_pose(rig)),
      sampler_(Clip{}) {
  const Clip stored = to_clip(bank, motion);
  // The controls' own numbers as a clip: three scalar curves are a translation, whatever they mean.
  Clip numbers;
  numbers.start = stored.start;
  numbers.end = stored.end;
  numbers.outside = stored.outside;
  for (const Track& t : stored.tracks) {
    if (t.channel == Channel::scale || t.target >= shenmue::control_count) continue;
    slots_.push_back({t.target, t.channel});
    numbers.tracks.push_back({numbers.nodes.size(), Channel::translation, {}, t.curve, {}});
    numbers.nodes.emplace_back();
  }
  sampler_ = Sampler(numbers, outside.value_or(numbers.outside));
}

Result<Player> Player::make(const Bank& bank, std::size_t motion, const SolveOptions& options,
                            const shenmue::Rig& rig) {
  return can_solve(bank, motion).map([&] { return Player(bank, motion, options, rig, {}); });
}

void Player::world(double time, Cursor& cursor, shenmue::World out) const {
  std::array<Transform, most_slots> values;
  sampler_.sample(time, cursor, values);
  shenmue::ControlPose pose = rest_;
  for (std::size_t i = 0; i < slots_.size() && i < values.size(); ++i) {
    const auto [x, y, z] = values[i].translation;
    const shenmue::Point p{x, y, z};
    if (slots_[i].channel == Channel::translation) {
      pose.set_position(slots_[i].control, p);
    } else {
      for (std::size_t axis = 0; axis < 3; ++axis) pose.set_turn(slots_[i].control, axis, p[axis]);
    }
  }
  if (mirrored_) pose = shenmue::mirror(pose, kind_);
  if (kind_ == shenmue::Motion::dense) {
    shenmue::solve_dense(rig_, pose, options_.solver, out);
  } else {
    shenmue::solve(rig_, pose, options_.solver, out);
  }
}

void Player::sample(double time, Cursor& cursor, std::span<Transform> out) const {
  std::array<Transform, shenmue::control_count> controls;
  std::array<Transform, shenmue::joint_count> local;
  world(time, cursor, controls);
  shenmue::reduce(controls, local);
  for (std::size_t j = 0; j < std::min(local.size(), out.size()); ++j)
    out[j] = options_.face_forward ? turned_about(local[j]) : local[j];
}

Result<Reduced> solve(const Bank& bank, std::size_t motion, const SolveOptions& options,
                      const shenmue::Rig& rig) {
  return can_solve(bank, motion).map([&] {
    Solving solving(bank, motion, options, rig);
    Reduced out =
        reduce(solving.poses(Reduced21(rig, options.face_forward)), reduce_options(options));
    if (options.targets) solving.add_targets(out.clip);
    return out;
  });
}

Result<Reduced> solve_model(const Bank& bank, std::size_t motion, std::span<const Node> model,
                            const SolveOptions& options) {
  return can_solve(bank, motion).map([&] {
    SolveOptions own_axes = options;
    own_axes.face_forward = false;
    const shenmue::Rig rig = shenmue::rig_from_model(model);
    Solving solving(bank, motion, own_axes, rig);
    Reduced out = reduce(solving.poses(ModelNodes(model)), reduce_options(options));
    if (options.targets) solving.add_targets(out.clip);
    return out;
  });
}

}  // namespace dopesheet::motn
