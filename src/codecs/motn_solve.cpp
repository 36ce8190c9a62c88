// A motion's stored controls -> the pose that they mean. Sources of every rule: docs/formats/mt5.md.
#include <algorithm>
#include <cmath>

#include "dopesheet/motn.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet::motn {
namespace {

using Axes = std::array<Curve<float>, 3>;

// The stored clip's value of each control at a time.
class Poser {
 public:
  Poser(const Clip& clip, const shenmue::Rig& rig) : clip_(clip), pose_(shenmue::rest_pose(rig)) {
    hints_.resize(clip.tracks.size());
  }
  const shenmue::ControlPose& at(double time) {
    for (std::size_t i = 0; i < clip_.tracks.size(); ++i) {
      const Track& t = clip_.tracks[i];
      const auto& axes = std::get<Axes>(t.curve);
      for (std::size_t a = 0; a < 3; ++a) {
        const double v = evaluate(axes[a], time, hints_[i][a]);
        if (t.channel == Channel::rotation) pose_.set_turn(t.target, a, v);
        if (t.channel == Channel::translation) pose_.positions[t.target][a] = v;
      }
      if (t.channel == Channel::translation) pose_.has_position.set(t.target);
    }
    return pose_;
  }

 private:
  const Clip& clip_;
  shenmue::ControlPose pose_;
  std::vector<std::array<std::uint32_t, 3>> hints_;
};

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
        rig_(rig),
        stored_(to_clip(bank, motion)),
        mirrored_(options.mirror && link_of(extra_of(bank, motion)).mirrored),
        kind_(sequence_of(bank, motion).encoding() == Encoding::dense ? shenmue::Motion::dense
                                                                      : shenmue::Motion::curves) {}

  // Poses at the rate asked for, and at the end.
  Clip poses(auto skeleton) {
    Clip out = stored_;
    out.nodes = skeleton.nodes();
    out.tracks.clear();
    const std::size_t joints = out.nodes.size();
    std::vector<Curve<Quat>> rotations(joints);
    std::vector<Curve<Vec3>> translations(joints);
    Poser poser(stored_, rig_);
    std::array<Transform, shenmue::control_count> world;
    std::vector<Transform> local(joints);
    const auto steps =
        static_cast<std::size_t>(std::ceil((stored_.end - stored_.start) * options_.rate - 1e-9));
    for (std::size_t i = 0; i <= steps; ++i) {
      const double t =
          i == steps ? stored_.end : stored_.start + static_cast<double>(i) / options_.rate;
      const auto& pose = poser.at(t);
      const auto used = mirrored_ ? shenmue::mirror(pose, kind_) : pose;
      if (kind_ == shenmue::Motion::dense) {
        shenmue::solve_dense(rig_, used, options_.solver, world);
      } else {
        shenmue::solve(rig_, used, options_.solver, world);
      }
      skeleton.place(world, local);
      for (std::size_t j = 0; j < joints; ++j) {
        const Quat q = local[j].rotation;
        auto& values = rotations[j].values;
        const bool flip = !values.empty() && dot(values.back(), q) < 0;
        rotations[j].times.push_back(t);
        values.push_back(flip ? Quat{-q.x, -q.y, -q.z, -q.w} : q);
        translations[j].times.push_back(t);
        translations[j].values.push_back(local[j].translation);
      }
    }
    for (std::size_t j = 0; j < joints; ++j) {
      if (!skeleton.is_moved(j)) continue;
      out.tracks.push_back({j, Channel::rotation, {}, std::move(rotations[j]), {}});
      // Joints keep their distance, but for the root, and hands and feet that are out of reach.
      const Vec3 rest = out.nodes[j].rest.translation;
      const auto& list = translations[j].values;
      if (std::any_of(list.begin(), list.end(), [&](Vec3 v) { return length(v - rest) > 2e-5F; }))
        out.tracks.push_back({j, Channel::translation, {}, std::move(translations[j]), {}});
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
  static void negate(Curve<float>& c) {
    for (auto* list : {&c.values, &c.in, &c.out}) {
      for (float& v : *list) v = -v;
    }
  }

  const SolveOptions& options_;
  const shenmue::Rig& rig_;
  Clip stored_;
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
