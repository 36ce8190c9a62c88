// Several poses into one: by normalised weights, by Red Faction's rule, and by adding differences. All
// on the caller's memory, without allocation; poses are local transforms.
#pragma once
#include "dopesheet/sample.hpp"

namespace dopesheet {

struct Layer {
  std::span<const Transform> pose;
  float weight = 1;
  std::span<const float> joint_weights;  // times `weight`; joints beyond its size count 1

  float weight_of(std::size_t joint) const {
    return joint < joint_weights.size() ? weight * joint_weights[joint] : weight;
  }
};

// The weighted mean of the layers, joint by joint; weights need not add up to 1, those not above 0 count
// as 0. Rotations: the normalised sum of quaternions, each turned to the side of the first that counts.
// A joint with no weight at all takes `rest`. Poses and `rest` hold at least as many joints as `out`;
// `out` may be one of them.
void blend(std::span<const Layer> layers, std::span<const Transform> rest,
           std::span<Transform> out);

// Red Faction: states loop below actions, and weights run from 0 to 10 per bone (a state's as the file
// has it, an action's by rfa::action_weight, which ramps it). The first action's weight a scales those
// of all states by (10 - a) / 10, so that 10 owns the bone. Layers of no weight are left out; translation
// is the weighted mean, rotation a running slerp, by w_i / (w_0 + ... + w_i), states first. Scale is that
// of `rest`, which joints without any weight keep whole. As one reverse engineering of the game has it.
void blend_red_faction(std::span<const Layer> states, std::span<const Layer> actions,
                       std::span<const Transform> rest, std::span<Transform> out);

// What must be added to `reference` to get `pose`: pose.rotation = reference.rotation * result.rotation
// (the difference comes first, in the joint's own frame), translations subtract, scales divide (1 where
// the reference is 0).
Transform difference(const Transform& pose, const Transform& reference);

// `base` with a difference at a weight of 0 (none of it) to 1 (all of it) or beyond: base.rotation *
// delta.rotation^weight, base.translation + weight delta.translation, scales multiplied. Adding
// several: the last one added is the first to turn the joint; the order counts.
Transform add(const Transform& base, const Transform& delta, float weight = 1);
// The same for all joints of `pose`, by Layer's weights; `layer.pose` holds differences.
void add(std::span<Transform> pose, const Layer& layer);

// A clip of differences from a reference pose, one transform per node. Curves keep their kinds and are
// exact, since each of them moves with its keys. Fails with Code::bad_value for rotations about three
// axes, which have no such form: bake those first; and when `reference` has not the clip's size.
Result<Clip> make_additive(const Clip& clip, std::span<const Transform> reference);

}  // namespace dopesheet
