// Curves and clips at a time, against formulas written out here and against Eigen.
#include "dopesheet/sample.hpp"

#include <gmock/gmock.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "../allocations.hpp"
#include "../support.hpp"

namespace dopesheet {
namespace {

Eigen::Quaterniond eigen(Quat q) { return {q.w, q.x, q.y, q.z}; }

Quat random_rotation(std::mt19937& random) {
  std::normal_distribution<float> n;
  return normalize({n(random), n(random), n(random), n(random)});
}

float at(const Curve<float>& c, double t) {
  std::uint32_t hint = 0;
  return evaluate(c, t, hint);
}

Curve<float> scalar(Interp interp) {
  Curve<float> c;
  c.interp = interp;
  c.times = {1, 2, 4};
  c.values = {10, 20, 0};
  if (interp == Interp::hermite || interp == Interp::bezier) {
    c.in = {0, 16, 4};
    c.out = {14, 18, 0};
  }
  return c;
}

TEST(Curve, HoldsItsEnds) {
  for (const auto interp : {Interp::step, Interp::linear, Interp::hermite, Interp::bezier}) {
    const auto c = scalar(interp);
    EXPECT_EQ(at(c, -100), 10);
    EXPECT_EQ(at(c, 1), 10);
    EXPECT_EQ(at(c, 2), 20);
    EXPECT_EQ(at(c, 4), 0);
    EXPECT_EQ(at(c, 1e9), 0);
  }
}

TEST(Curve, InterpolatesByItsFormula) {
  EXPECT_EQ(at(scalar(Interp::step), 1.999), 10);
  EXPECT_FLOAT_EQ(at(scalar(Interp::linear), 1.25), 12.5F);
  EXPECT_FLOAT_EQ(at(scalar(Interp::linear), 3), 10);
  // Bezier at u = 1/2: (a + 3 out + 3 in + b) / 8.
  EXPECT_FLOAT_EQ(at(scalar(Interp::bezier), 1.5), (10 + 3 * 14 + 3 * 16 + 20) / 8.F);
  // Hermite at u = 1/2: (a + b) / 2 + dt (out - in) / 8; the second segment is two seconds long (case C1).
  EXPECT_FLOAT_EQ(at(scalar(Interp::hermite), 1.5), 15 + (14 - 16) / 8.F);
  EXPECT_FLOAT_EQ(at(scalar(Interp::hermite), 3), 10 + 2 * (18 - 4) / 8.F);
}

TEST(Curve, OfKeysWithOneTimeTheLastCounts) {
  Curve<float> c;
  c.times = {0, 1, 1, 1, 2};
  c.values = {0, 1, 5, 7, 8};
  EXPECT_EQ(at(c, 1), 7);
  EXPECT_FLOAT_EQ(at(c, 0.5), 0.5F);
  EXPECT_FLOAT_EQ(at(c, 1.5), 7.5F);
}

TEST(Curve, TheHintChangesNothing) {
  std::mt19937 random(5);
  Curve<float> c;
  for (int i = 0; i < 500; ++i) {
    c.times.push_back(i * 0.1 + 0.05 * (i % 3));
    c.values.push_back(static_cast<float>(random() % 100));
  }
  std::uint32_t kept = 0;
  std::uniform_real_distribution<double> when(-1, 51);
  for (int i = 0; i < 5000; ++i) {
    const double t = when(random);
    EXPECT_EQ(evaluate(c, t, kept), at(c, t));
  }
  kept = 4000000000U;  // a hint of another curve does no harm
  EXPECT_EQ(evaluate(c, 7.3, kept), at(c, 7.3));
}

TEST(Curve, SlerpIsEigens) {
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    const Quat a = random_rotation(random), b = random_rotation(random);
    for (const double u : {0.0, 0.1, 0.5, 0.77, 1.0}) {
      const Quat mine = slerp(a, b, u);
      const Eigen::Quaterniond theirs = eigen(a).slerp(u, eigen(b));
      EXPECT_LT(eigen(mine).angularDistance(theirs), 1e-5);
      EXPECT_NEAR(dot(mine, mine), 1, 1e-6);
    }
  }
}

TEST(Curve, RotationsTakeTheShortWay) {  // case A3
  const float s = std::sin(0.5F * 21 * 0.01745329F), w = std::cos(0.5F * 21 * 0.01745329F);
  for (const auto interp : {Interp::linear, Interp::nlerp, Interp::slerp_ease}) {
    Curve<Quat> c;
    c.interp = interp;
    c.times = {0, 1};
    c.values = {{}, {-s, 0, 0, -w}};
    if (interp == Interp::slerp_ease) c.params = {{0, 0}, {0, 0}};
    std::uint32_t hint = 0;
    EXPECT_NEAR(angle_between(evaluate(c, 0.5, hint), {}), 10.5, 1e-3) << name(interp);
  }
}

TEST(Curve, NearbyRotationsDoNotLosePrecision) {
  const Quat a{}, b = normalize({1e-6F, 0, 0, 1});
  EXPECT_NEAR(slerp(a, b, 0.5).x, 0.5e-6F, 1e-12F);
  EXPECT_NEAR(angle_between(a, b), 2e-6 * 57.29578, 1e-9);
  EXPECT_NEAR(angle_between(a, {-1, 0, 0, 0}), 180, 1e-9);
}

TEST(Curve, CubicRotationsAreNormalised) {  // case A9
  Curve<Quat> c;
  c.interp = Interp::hermite;
  c.times = {0, 1};
  c.values = {{}, {1, 0, 0, 0}};
  c.in = c.out = {Quat{0, 0, 0, 0}, Quat{0, 0, 0, 0}};
  std::uint32_t hint = 0;
  const Quat q = evaluate(c, 0.5, hint);
  EXPECT_NEAR(dot(q, q), 1, 1e-6);
  EXPECT_NEAR(angle_between(q, {}), 90, 1e-3);
}

TEST(Curve, StoredSlerpWithAndWithoutTheSecondKeyTurnedOver) {
  const Quat a{}, b{std::sin(0.4F), 0, 0, std::cos(0.4F)};
  Curve<Quat> c;
  c.interp = Interp::slerp_stored;
  c.times = {0, 1};
  c.values = {a, b};
  const float omega = 0.4F;
  c.params = {{omega, 1 / std::sin(omega)}, {0, 0}};
  std::uint32_t hint = 0;
  EXPECT_NEAR(evaluate(c, 0.25, hint).x, std::sin(0.1F), 1e-6);
  EXPECT_EQ(evaluate(c, 0, hint), a);
  EXPECT_EQ(evaluate(c, 1, hint), b);
  c.values[1] = {-b.x, -b.y, -b.z, -b.w};
  c.params[0][0] = omega + 6.2831855F;
  EXPECT_NEAR(evaluate(c, 0.25, hint).x, std::sin(0.1F), 1e-6);
  c.params[0] = {0, 0};  // no angle: the first key all along
  EXPECT_EQ(evaluate(c, 0.9, hint), a);
  c.params[0] = {NAN, 3};  // cannot be right: plain slerp
  EXPECT_NEAR(evaluate(c, 0.25, hint).x, std::sin(0.1F), 1e-6);
}

TEST(Curve, ANegativeEaseCountsAsNone) {
  Curve<Quat> c;
  c.interp = Interp::slerp_ease;
  c.times = {0, 1};
  c.values = {{}, normalize({0.5F, 0, 0, 1})};
  c.params = {{0, -1}, {0, 0}};
  std::uint32_t hint = 0;
  EXPECT_EQ(evaluate(c, 0.3, hint), slerp(c.values[0], c.values[1], 0.3));
}

TEST(Ease, IsTheCurveOfTheGame) {
  EXPECT_EQ(ease(0.3, 0, 0), 0.3);
  EXPECT_EQ(ease(0, 0.5, 0.5), 0);
  EXPECT_EQ(ease(1, 0.5, 0.5), 1);
  EXPECT_DOUBLE_EQ(ease(0.5, 0.5, 0.5), 0.5);
  EXPECT_DOUBLE_EQ(ease(0.25, 0.5, 0.5), 0.125);  // k = 1, k u u / a
  EXPECT_DOUBLE_EQ(ease(0.25, 1, 1), 0.125);      // scaled to 0.5 and 0.5
  EXPECT_DOUBLE_EQ(ease(0.5, 1, 0), 0.25);        // k = 1: u u
  EXPECT_DOUBLE_EQ(ease(0.5, 0, 1), 0.75);
  EXPECT_NE(ease(0.3, -1, 0), 0.3);  // as the game does with a negative ease
  for (const double a : {0.0, 0.2, 0.9}) {
    for (const double b : {0.0, 0.3, 1.0}) {
      double before = 0;
      for (double u = 0; u <= 1; u += 0.001) {
        const double e = ease(u, a, b);
        EXPECT_GE(e, before - 1e-12);
        EXPECT_LT(e - before, 0.01) << "continuous";
        before = e;
      }
    }
  }
}

Clip two_joints() {
  Clip clip;
  clip.start = 1;
  clip.end = 3;
  clip.nodes.resize(2);
  clip.nodes[1].parent = 0;
  clip.nodes[1].rest = {{0, 1, 0}, normalize({0, 0.5F, 0, 1}), {1, 2, 1}};
  Curve<Vec3> v;
  v.times = {1, 3};
  v.values = {{0, 0, 0}, {2, 0, 0}};
  clip.tracks.push_back({0, Channel::translation, {}, v, {}});
  Curve<Vec3> s;
  s.interp = Interp::step;
  s.times = {1, 2};
  s.values = {{1, 1, 1}, {0, 0, 0}};
  clip.tracks.push_back({0, Channel::scale, {}, s, {}});
  clip.morph.positions.resize(2);
  Curve<float> w;
  w.times = {1, 2, 3};
  w.values = {0, 1, 0};
  clip.tracks.push_back({1, Channel::weight, {}, w, {}});
  return clip;
}

TEST(Sampler, NodesWithoutATrackKeepTheirRestPose) {  // case E1
  const Clip clip = two_joints();
  const Sampler sampler(clip);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(2);
  sampler.sample(2, cursor, pose);
  EXPECT_EQ(pose[1], clip.nodes[1].rest);
  EXPECT_EQ(pose[0].translation, (Vec3{1, 0, 0}));
  EXPECT_EQ(pose[0].scale, (Vec3{0, 0, 0}));
  std::vector<float> weights(2);
  sampler.sample_weights(1.5, cursor, weights);
  EXPECT_THAT(weights, testing::ElementsAre(0, 0.5F));
}

TEST(Sampler, ClampsAndWraps) {
  const Clip clip = two_joints();
  const Sampler clamp(clip, Outside::clamp), wrap(clip, Outside::wrap);
  EXPECT_EQ(clamp.inside(0), 1);
  EXPECT_EQ(clamp.inside(9), 3);
  EXPECT_EQ(wrap.inside(3.5), 1.5);
  EXPECT_EQ(wrap.inside(0.5), 2.5);
  EXPECT_EQ(wrap.inside(3), 1);
  EXPECT_EQ(wrap.inside(-7.5), 2.5);
  EXPECT_EQ(clamp.inside(NAN), 1);
  EXPECT_EQ(wrap.inside(INFINITY), 1);
  Clip empty = clip;
  empty.end = empty.start;  // cases D10, D11
  EXPECT_EQ(Sampler(empty, Outside::wrap).inside(17), 1);
}

TEST(Sampler, AllocatesNothing) {
  const Clip clip = two_joints();
  const Sampler sampler(clip);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(2), object(2);
  std::vector<float> weights(2);
  const auto order = topological_order(clip.nodes);
  const auto before = support::allocations();
  for (int i = 0; i < 1000; ++i) {
    sampler.sample(1 + 0.002 * i, cursor, pose);
    sampler.sample_weights(1 + 0.002 * i, cursor, weights);
    to_object_space(clip.nodes, order, pose, object);
  }
  EXPECT_EQ(support::allocations(), before);
}

TEST(Sampler, BrokenClipsDoNoHarm) {  // cases D12, C15
  EXPECT_EQ(Sampler(Clip{}).nodes(), 0U);
  Clip clip = two_joints();
  std::get<Curve<Vec3>>(clip.tracks[0].curve).values.pop_back();
  clip.tracks[1].target = 99;
  clip.tracks.push_back({0, Channel::rotation, {}, Curve<Quat>{}, {}});
  clip.tracks.push_back({0, Channel::rotation, {}, Curve<float>{}, {}});
  const Sampler sampler(clip);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(2);
  sampler.sample(2, cursor, pose);
  EXPECT_EQ(pose[0], Transform{});
  std::vector<Transform> small(1), large(5);
  sampler.sample(2, cursor, small);
  sampler.sample(2, cursor, large);
  EXPECT_EQ(large[4], Transform{});
}

TEST(Sampler, TurnsAboutThreeAxesSpinPastOne) {
  // R = Rz Ry Rx (case B4), and two full turns are not shortened to none.
  const Quat q = rotation_of_turns({0.1F, 0.2F, 0.3F});
  const auto turn = [](double t, const Eigen::Vector3d& axis) {
    return Eigen::AngleAxisd(t * 2 * 3.141592653589793, axis);
  };
  const Eigen::Quaterniond want(turn(0.3, Eigen::Vector3d::UnitZ()) *
                                turn(0.2, Eigen::Vector3d::UnitY()) *
                                turn(0.1, Eigen::Vector3d::UnitX()));
  EXPECT_LT(eigen(q).angularDistance(want), 1e-6);

  Clip clip;
  clip.end = 1;
  clip.nodes.resize(1);
  std::array<Curve<float>, 3> turns;
  for (auto& c : turns) {
    c.times = {0, 1};
    c.values = {0, 0};
  }
  turns[0].values = {0, 2};
  clip.tracks.push_back({0, Channel::rotation, {}, turns, {}});
  const Sampler sampler(clip);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(1);
  sampler.sample(0.125, cursor, pose);  // a quarter turn
  EXPECT_NEAR(angle_between(pose[0].rotation, {}), 90, 1e-3);
}

TEST(Transforms, ComposeAsEigenDoes) {
  std::mt19937 random(2);
  std::normal_distribution<float> n;
  const auto matrix = [](const Transform& t) {
    Eigen::Affine3d m = Eigen::Affine3d::Identity();
    m.translate(Eigen::Vector3d(t.translation.x, t.translation.y, t.translation.z));
    m.rotate(eigen(t.rotation));
    m.scale(Eigen::Vector3d(t.scale.x, t.scale.y, t.scale.z));
    return m.matrix();
  };
  for (int i = 0; i < 200; ++i) {
    const auto any = [&](float scale) {
      return Transform{
          {n(random), n(random), n(random)}, random_rotation(random), {scale, scale, scale}};
    };
    const Transform a = any(2), b = any(0.5F), c = any(1);
    EXPECT_LT((matrix(a) * matrix(b) - matrix(a * b)).norm(), 1e-5);
    EXPECT_LT((matrix(c) * matrix(inverse(c)) - Eigen::Matrix4d::Identity()).norm(), 1e-5);
    const Vec3 v = rotate(a.rotation, b.translation);
    const Eigen::Vector3d w =
        eigen(a.rotation) * Eigen::Vector3d(b.translation.x, b.translation.y, b.translation.z);
    EXPECT_LT((w - Eigen::Vector3d(v.x, v.y, v.z)).norm(), 1e-5);
  }
}

}  // namespace
}  // namespace dopesheet
