// Blending, adding, matrices, root motion and events; against Eigen and numbers worked out by hand.
#include "dopesheet/playback.hpp"

#include <gmock/gmock.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "../allocations.hpp"
#include "dopesheet/blend.hpp"

namespace dopesheet {
namespace {

constexpr double degree = 0.017453292519943295;

Quat about(Vec3 axis, double degrees) {
  const auto s = static_cast<float>(std::sin(degrees * degree / 2));
  return {s * axis.x, s * axis.y, s * axis.z, static_cast<float>(std::cos(degrees * degree / 2))};
}
constexpr Vec3 x_axis{1, 0, 0}, y_axis{0, 1, 0}, z_axis{0, 0, 1};

Transform at(float x, Quat q = {}) { return {{x, 0, 0}, q, {1, 1, 1}}; }

Transform any(std::mt19937& random) {
  std::normal_distribution<float> n;
  return {{n(random), n(random), n(random)},
          normalize({n(random), n(random), n(random), n(random)}),
          {1 + 0.1F * n(random), 1 + 0.1F * n(random), 1 + 0.1F * n(random)}};
}
Eigen::Matrix4f eigen(const Transform& t) {
  Eigen::Affine3f m = Eigen::Affine3f::Identity();
  m.translate(Eigen::Vector3f(t.translation.x, t.translation.y, t.translation.z));
  m.rotate(Eigen::Quaternionf(t.rotation.w, t.rotation.x, t.rotation.y, t.rotation.z));
  m.scale(Eigen::Vector3f(t.scale.x, t.scale.y, t.scale.z));
  return m.matrix();
}
Eigen::Matrix4f eigen(const Matrix& m) {
  return Eigen::Map<const Eigen::Matrix4f>(m.values.data());
}

TEST(Blend, IsTheWeightedMeanPerJoint) {
  const std::vector<Transform> a{at(0), at(0), at(0)};
  const std::vector<Transform> b{at(4, about(x_axis, 90)), at(4, about(x_axis, 90)), at(4)};
  const std::vector<Transform> rest{at(7), at(8), at(9)};
  const std::vector<float> wa{1, 3, 0}, wb{1, 1, -1};
  const std::array layers{Layer{a, 0.5F, wa}, Layer{b, 0.5F, wb}};
  std::vector<Transform> out(3);
  blend(layers, rest, out);
  EXPECT_FLOAT_EQ(out[0].translation.x, 2);
  EXPECT_NEAR(angle_between(out[0].rotation, about(x_axis, 45)), 0, 1e-4);
  EXPECT_FLOAT_EQ(out[1].translation.x, 1);
  EXPECT_EQ(out[2], rest[2]);
  // q and -q are one rotation.
  std::vector<Transform> turned = b;
  turned[0].rotation = {-b[0].rotation.x, 0, 0, -b[0].rotation.w};
  const std::array again{Layer{a, 1, {}}, Layer{turned, 1, {}}};
  blend(again, rest, out);
  EXPECT_NEAR(angle_between(out[0].rotation, about(x_axis, 45)), 0, 1e-4);
}

TEST(Blend, RedFactionsActionsTakeOverFromStates) {
  const std::vector<Transform> state{at(0), at(0), at(0)};
  const std::vector<Transform> other{at(2, about(z_axis, 60)), at(2), at(2)};
  const std::vector<Transform> action{at(8, about(z_axis, 90)), at(8), at(8)};
  const std::vector<Transform> rest{at(5), at(5), at(5)};
  const std::vector<float> five{5, 5, 0}, ten{10, 0, 0};
  std::vector<Transform> out(3);
  const std::array states{Layer{state, 1, five}, Layer{other, 1, five}};
  blend_red_faction(states, {}, rest, out);  // the mean of the states
  EXPECT_FLOAT_EQ(out[0].translation.x, 1);
  EXPECT_NEAR(angle_between(out[0].rotation, about(z_axis, 30)), 0, 1e-4);
  EXPECT_EQ(out[2], rest[2]);
  const std::array own{Layer{action, 1, ten}};
  blend_red_faction(states, own, rest, out);  // 10 owns the bone, 0 leaves it
  EXPECT_FLOAT_EQ(out[0].translation.x, 8);
  EXPECT_NEAR(angle_between(out[0].rotation, about(z_axis, 90)), 0, 1e-4);
  EXPECT_FLOAT_EQ(out[1].translation.x, 1);
  // At 5 the states count 2.5 each: (0 * 2.5 + 2 * 2.5 + 8 * 5) / 10, and slerps by 1/2 and 5/10.
  const std::array half{Layer{action, 0.5F, ten}};
  blend_red_faction(states, half, rest, out);
  EXPECT_FLOAT_EQ(out[0].translation.x, 4.5F);
  EXPECT_NEAR(angle_between(out[0].rotation, about(z_axis, 60)), 0, 1e-4);
}

TEST(Additive, TheOrderOfTurnsCounts) {
  const Transform base{{1, 2, 3}, about(x_axis, 90), {1, 1, 1}};
  const Transform pose{{1, 2, 5}, about(x_axis, 90) * about(y_axis, 40), {2, 1, 1}};
  const Transform delta = difference(pose, base);
  EXPECT_NEAR(angle_between(delta.rotation, about(y_axis, 40)), 0, 1e-4);
  const Transform back = add(base, delta);
  EXPECT_NEAR(angle_between(back.rotation, pose.rotation), 0, 1e-4);
  EXPECT_LT(length(back.translation - pose.translation), 1e-6F);
  EXPECT_FLOAT_EQ(back.scale.x, 2);
  // On another base: base first in the product, and not the other way round.
  const Transform other{{0, 0, 0}, about(z_axis, 70), {1, 1, 1}};
  const Quat want = about(z_axis, 70) * about(y_axis, 40),
             wrong = about(y_axis, 40) * about(z_axis, 70);
  EXPECT_NEAR(angle_between(add(other, delta).rotation, want), 0, 1e-4);
  EXPECT_GT(angle_between(add(other, delta).rotation, wrong), 10);
  EXPECT_NEAR(angle_between(add(base, delta, 0.5F).rotation, about(x_axis, 90) * about(y_axis, 20)),
              0, 1e-4);
  EXPECT_EQ(add(base, delta, 0).translation, base.translation);
  // Two differences: the last one added turns first.
  const Transform second{{}, about(x_axis, 25), {1, 1, 1}};
  EXPECT_NEAR(angle_between(add(add(other, delta), second).rotation, want * about(x_axis, 25)), 0,
              1e-4);
}

TEST(Additive, ClipsGiveTheDifferencesOfTheirPoses) {
  std::mt19937 random(3);
  Clip clip;
  clip.end = 2;
  clip.nodes.resize(2);
  clip.nodes[1].rest = any(random);
  Curve<Quat> q;
  Curve<Vec3> v, s;
  v.interp = Interp::bezier;
  s.interp = Interp::hermite;
  for (int k = 0; k < 3; ++k) {
    q.times.push_back(k);
    v.times.push_back(k);
    s.times.push_back(k);
    q.values.push_back(any(random).rotation);
    for (auto* list : {&v.values, &v.in, &v.out}) list->push_back(any(random).translation);
    for (auto* list : {&s.values, &s.in, &s.out}) list->push_back(any(random).scale);
  }
  clip.tracks = {{0, Channel::rotation, {}, q, {}},
                 {0, Channel::translation, {}, v, {}},
                 {0, Channel::scale, {}, s, {}}};
  const std::vector<Transform> reference{any(random), any(random)};
  const auto additive = make_additive(clip, reference);
  ASSERT_TRUE(additive);
  const Sampler plain(clip), differences(*additive);
  Cursor a = plain.cursor(), b = differences.cursor();
  std::vector<Transform> pose(2), delta(2);
  for (const double t : {0.0, 0.3, 1.0, 1.9}) {
    plain.sample(t, a, pose);
    differences.sample(t, b, delta);
    for (std::size_t i = 0; i < 2; ++i) {
      const Transform back = add(reference[i], delta[i]);
      EXPECT_LT(length(back.translation - pose[i].translation), 1e-5F) << i << " at " << t;
      EXPECT_LT(length(back.scale - pose[i].scale), 1e-5F) << i << " at " << t;
      EXPECT_LT(angle_between(back.rotation, pose[i].rotation), 2e-4) << i << " at " << t;
    }
  }
  EXPECT_FALSE(make_additive(clip, std::span(reference).first(1)));
  std::array<Curve<float>, 3> axes;
  for (auto& c : axes) c = {Interp::linear, {0}, {0}, {}, {}, {}};
  clip.tracks.push_back({1, Channel::rotation, {}, axes, {}});
  EXPECT_FALSE(make_additive(clip, reference));
}

TEST(Matrices, AreEigens) {
  std::mt19937 random(8);
  std::vector<Node> nodes(5);
  std::vector<Transform> local, inverse_bind;
  for (std::size_t i = 0; i < 5; ++i) {
    nodes[i].parent = i == 0 ? 4 : static_cast<int>(i) - 1;  // parents after their children too
    local.push_back(any(random));
    inverse_bind.push_back(any(random));
  }
  nodes[4].parent = -1;
  std::vector<Matrix> model(5), palette(5);
  const auto order = topological_order(nodes);
  const auto before = support::allocations();
  to_model_space(nodes, order, local, model);
  skinning_palette(model, inverse_bind, palette);
  EXPECT_EQ(support::allocations(), before);
  Eigen::Matrix4f want = eigen(local[4]);
  for (std::size_t i = 0; i < 4; ++i) {
    want = want * eigen(local[i]);
    EXPECT_LT((eigen(model[i]) - want).norm(), 1e-4F);
    EXPECT_LT((eigen(palette[i]) - want * eigen(inverse_bind[i])).norm(), 1e-4F);
  }
}

// Two metres along x in two seconds, turning by 90 degrees about y.
Clip walk(Outside outside) {
  Clip clip;
  clip.start = 1;
  clip.end = 3;
  clip.outside = outside;
  clip.nodes.resize(2);
  Curve<Vec3> v;
  v.times = {1, 3};
  v.values = {{5, 1, 0}, {7, 1, 0}};
  Curve<Quat> q;
  q.times = {1, 3};
  q.values = {about(y_axis, 10), about(y_axis, 100)};
  clip.tracks = {{1, Channel::translation, {}, v, {}}, {1, Channel::rotation, {}, q, {}}};
  return clip;
}

TEST(RootMotion, Recomposes) {
  const Sampler sampler(walk(Outside::wrap));
  Cursor cursor = sampler.cursor();
  std::vector<Transform> scratch(2), pose(2);
  const auto motion = [&](double t0, double t1) {
    return root_motion(sampler, cursor, 1, t0, t1, scratch);
  };
  const auto expect_same = [](const Transform& a, const Transform& b) {
    EXPECT_LT(length(a.translation - b.translation), 1e-5F);
    EXPECT_LT(angle_between(a.rotation, b.rotation), 1e-3);
  };
  sampler.sample(1.25, cursor, pose);
  const Transform from = pose[1];
  sampler.sample(2.75, cursor, pose);
  expect_same(from * motion(1.25, 2.75), pose[1]);
  // Through loops: many small steps are one large one, either way.
  Transform sum;
  for (int i = 0; i < 100; ++i) sum = sum * motion(1.25 + 0.07 * i, 1.25 + 0.07 * (i + 1));
  expect_same(sum, motion(1.25, 8.25));
  expect_same(motion(8.25, 1.25), inverse(motion(1.25, 8.25)));
  EXPECT_NEAR(angle_between(motion(1, 5).rotation, {}), 180, 1e-2);  // two loops
  EXPECT_NEAR(angle_between(motion(1, 3).rotation, {}), 90, 1e-3);   // and not none
  const Sampler clamped(walk(Outside::clamp));
  Cursor c = clamped.cursor();
  expect_same(root_motion(clamped, c, 1, 0, 99, scratch), motion(1, 3));
  EXPECT_EQ(root_motion(sampler, cursor, 9, 0, 1, scratch), Transform{});
}

std::vector<std::size_t> fired(const Clip& clip, double t0, double t1) {
  std::vector<std::size_t> out;
  events_between(clip, t0, t1, out);
  return out;
}

TEST(Events, FireOnceInTheirWindow) {
  Clip clip;
  clip.start = 1;
  clip.end = 3;
  for (const double t : {2.0, 1.0, 3.0, 2.5, 2.0}) clip.events.push_back({t, "step", {}});
  using testing::ElementsAre;
  using testing::IsEmpty;
  EXPECT_THAT(fired(clip, 1, 2), ElementsAre(1));        // the end of a window is the next one's
  EXPECT_THAT(fired(clip, 2, 2.5), ElementsAre(0, 4));   // its start is its own
  EXPECT_THAT(fired(clip, 2.25, 3), ElementsAre(3, 2));  // on reaching the end all that remain
  EXPECT_THAT(fired(clip, 3, 4), IsEmpty());
  EXPECT_THAT(fired(clip, 0, 9), ElementsAre(1, 0, 4, 3, 2));
  EXPECT_THAT(fired(clip, 2, 2), IsEmpty());
  EXPECT_THAT(fired(clip, 2, 1), IsEmpty());
  clip.outside = Outside::wrap;
  EXPECT_THAT(fired(clip, 2.5, 3.5), ElementsAre(3, 2, 1));  // [2.5 .. 3], then [1 .. 1.5)
  EXPECT_THAT(fired(clip, 2.5, 3), ElementsAre(3, 2));       // [2.5 .. 3], then [1 .. 1)
  EXPECT_THAT(fired(clip, 3, 3.5), ElementsAre(1));
  EXPECT_THAT(fired(clip, 2.5, 6.5), ElementsAre(3, 2, 1, 0, 4, 3, 2, 1, 0, 4));
  // Windows that meet fire each event once a loop.
  for (const double step : {0.05, 0.3, 0.7, 1.9, 5.0}) {
    std::vector<std::size_t> out;
    const int n = static_cast<int>(std::lround(200 / step));
    for (int i = 0; i < n; ++i) events_between(clip, 1 + i * step, 1 + (i + 1) * step, out);
    EXPECT_EQ(out.size(), fired(clip, 1, 1 + n * step).size()) << step;
  }
}

}  // namespace
}  // namespace dopesheet
