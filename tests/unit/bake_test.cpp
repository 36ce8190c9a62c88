// Baking keeps the error it was asked to keep, measured at times it did not choose.
#include "dopesheet/bake.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "../support.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

// A chain of long bones, so that small turns near the root move the end far.
Clip eased_chain() {
  Clip clip;
  clip.start = 0.5;
  clip.end = 2.5;
  clip.nodes.resize(4);
  for (std::size_t i = 1; i < 4; ++i) {
    clip.nodes[i].name = "bone" + std::to_string(i);
    clip.nodes[i].parent = static_cast<int>(i) - 1;
    clip.nodes[i].rest.translation = {0, 0.7F, 0};
  }
  for (std::size_t i = 0; i < 3; ++i) {
    Curve<Quat> q;
    q.interp = Interp::slerp_ease;
    q.times = {0.5, 1.1, 2.5};
    q.values = {{},
                normalize({0.3F, 0.1F * static_cast<float>(i), -0.2F, 1}),
                normalize({-0.5F, 0.2F, 0.4F, 1})};
    q.params = {{0, 0.4F}, {0.9F, 0.3F}, {0.2F, 0}};
    clip.tracks.push_back({i, Channel::rotation, {}, q, {}});
  }
  return clip;
}

TEST(Bake, KeepsTheToleranceInObjectSpace) {
  const Clip clip = eased_chain();
  std::size_t keys_before = 0;
  for (const double tolerance : {5.0, 0.5, 0.05}) {
    BakeOptions options;
    options.max_mm = options.max_degrees = tolerance;
    const auto baked = bake(clip, options);
    ASSERT_TRUE(baked) << to_string(baked.error());
    EXPECT_LE(baked->error.max_mm, tolerance);
    EXPECT_LE(baked->error.max_degrees, tolerance);
    EXPECT_GT(baked->error.max_mm, tolerance / 20) << "no denser than it must be";
    EXPECT_EQ(baked->tracks, 3U);
    EXPECT_EQ(baked->keys_before, 9U);
    CompareOptions fine;
    fine.rate = 2777;  // not the baker's own grid
    const auto again = compare(clip, baked->clip, fine);
    EXPECT_LE(again.max_mm, tolerance * 1.02);
    EXPECT_LE(again.max_degrees, tolerance * 1.02);
    EXPECT_GT(baked->keys_after, keys_before);
    keys_before = baked->keys_after;
    EXPECT_TRUE(validate(baked->clip).empty());
    for (const auto& t : baked->clip.tracks)
      EXPECT_EQ(std::get<Curve<Quat>>(t.curve).interp, Interp::linear);
  }
}

TEST(Bake, AHeldKeyJumpsInOneStep) {  // TotemTech: a stored angle of 0
  Clip clip = eased_chain();
  for (auto& t : clip.tracks) {
    auto& q = std::get<Curve<Quat>>(t.curve);
    q.interp = Interp::slerp_stored;
    q.params = {{0, 0}, {0, 0}, {0, 0}};
  }
  const auto baked = bake(clip);
  ASSERT_TRUE(baked);
  EXPECT_TRUE(baked->reached);
  EXPECT_LT(baked->error.max_degrees, 1e-4);
  EXPECT_EQ(baked->keys_after, 15U);
  const auto& q = std::get<Curve<Quat>>(baked->clip.tracks[0].curve);
  EXPECT_EQ(q.times, (std::vector<double>{0.5, 1.1, 1.1, 2.5, 2.5}));
  EXPECT_LT(angle_between(q.values[1], q.values[0]), 1e-5);
}

TEST(Bake, LeavesWhatTheTargetTakes) {  // case E22
  Clip clip = eased_chain();
  for (auto& t : clip.tracks) {
    auto& q = std::get<Curve<Quat>>(t.curve);
    q.interp = Interp::linear;
    q.params.clear();
  }
  const auto baked = bake(clip);
  ASSERT_TRUE(baked);
  EXPECT_TRUE(baked->clip == clip);
  EXPECT_EQ(baked->tracks, 0U);
}

TEST(Bake, AtARateTheTimesAreComputedNotSummed) {  // cases D5, D6, D7, D23
  Clip clip = eased_chain();
  clip.start = 0;
  clip.end = 10000 / 30.0;
  BakeOptions options;
  options.rate = 30;
  const auto baked = bake(clip, options);
  ASSERT_TRUE(baked);
  const auto& times = std::get<Curve<Quat>>(baked->clip.tracks[0].curve).times;
  ASSERT_EQ(times.size(), 10001U);
  for (std::size_t i = 0; i < times.size(); ++i)
    EXPECT_NEAR(times[i], static_cast<double>(i) / 30, 1e-12) << i;
  EXPECT_EQ(times.back(), clip.end);
  // Baking again at the same rate changes nothing.
  options.keep_rotations.clear();
  const auto twice = bake(baked->clip, options);
  ASSERT_TRUE(twice);
  EXPECT_EQ(std::get<Curve<Quat>>(twice->clip.tracks[0].curve).times, times);
  EXPECT_LT(twice->error.max_degrees, 1e-3);
}

TEST(Bake, NeighboursShareAHemisphere) {  // cases A1, A5
  Clip clip = eased_chain();
  auto& q = std::get<Curve<Quat>>(clip.tracks[0].curve);
  q.values[1] = {-q.values[1].x, -q.values[1].y, -q.values[1].z, -q.values[1].w};
  const auto baked = bake(clip);
  ASSERT_TRUE(baked);
  const auto& values = std::get<Curve<Quat>>(baked->clip.tracks[0].curve).values;
  for (std::size_t i = 1; i < values.size(); ++i) EXPECT_GE(dot(values[i - 1], values[i]), 0);
  EXPECT_LE(compare(clip, baked->clip).max_degrees, 0.05);
}

TEST(Bake, AxesBecomeOneTrackThatSpins) {  // cases A7, B15
  Clip clip;
  clip.end = 1;
  clip.nodes.resize(1);
  std::array<Curve<float>, 3> turns;
  for (std::size_t i = 0; i < 3; ++i) {
    turns[i].times = {0, 0.2 + 0.3 * static_cast<double>(i), 1};
    turns[i].values = {0, 0.1F, 0};
  }
  turns[1].values = {0, 1.5F, 3};  // three full turns in one second
  clip.tracks.push_back({0, Channel::rotation, {}, turns, {}});
  const auto baked = bake(clip);
  ASSERT_TRUE(baked) << to_string(baked.error());
  EXPECT_LE(baked->error.max_degrees, 0.05);
  const auto& values = std::get<Curve<Quat>>(baked->clip.tracks[0].curve).values;
  double total = 0;
  for (std::size_t i = 1; i < values.size(); ++i) total += angle_between(values[i - 1], values[i]);
  EXPECT_GT(total, 3 * 360 - 1);
}

TEST(Bake, FailsWithinItsLimits) {
  const Clip clip = eased_chain();
  BakeOptions options;
  options.limits.keys = 50;
  options.max_mm = options.max_degrees = 1e-4;
  const auto baked = bake(clip, options);
  ASSERT_FALSE(baked);
  EXPECT_EQ(baked.error().code, Code::limit);
  options.rate = 1e9;
  EXPECT_FALSE(bake(clip, options));
}

TEST(Bake, JumpsStayJumps) {
  Clip clip = eased_chain();
  Curve<Quat> q;
  q.interp = Interp::slerp_ease;
  q.times = {0.5, 1, 1, 2.5};
  q.values = {{}, normalize({0.2F, 0, 0, 1}), normalize({-0.4F, 0, 0, 1}), {}};
  q.params = {{0, 0.4F}, {0.9F, 0.3F}, {0.2F, 0.5F}, {0, 0}};
  clip.tracks[0].curve = q;
  const auto baked = bake(clip);
  ASSERT_TRUE(baked) << to_string(baked.error());
  EXPECT_TRUE(baked->reached);
  EXPECT_LE(baked->error.max_degrees, 0.05);
}

TEST(Bake, SaysWhenFloatsAreTooCoarse) {
  Clip clip = eased_chain();
  clip.nodes[3].rest.translation = {1e6F, 0, 0};
  const auto baked = bake(clip);
  ASSERT_TRUE(baked);
  EXPECT_FALSE(baked->reached);
  EXPECT_GT(baked->error.max_mm, 0.05);
  EXPECT_LT(baked->error.max_degrees, 0.05);
}

TEST(Bake, RefusesABrokenClip) {
  Clip clip = eased_chain();
  std::get<Curve<Quat>>(clip.tracks[1].curve).values[0].x = NAN;
  const auto baked = bake(clip);
  ASSERT_FALSE(baked);
  EXPECT_EQ(baked.error().path, "tracks[1].curve.values[0]");
}

Curve<float> axis(Interp interp, std::vector<double> times, std::vector<float> values,
                  std::vector<float> in = {}, std::vector<float> out = {}) {
  Curve<float> c;
  c.interp = interp;
  c.times = std::move(times);
  c.values = std::move(values);
  c.in = std::move(in);
  c.out = std::move(out);
  return c;
}

// Keys at other times on each axis, a jump, one key only, control points.
Clip per_axis() {
  Clip clip;
  clip.end = 2;
  clip.nodes.resize(3);
  clip.tracks.push_back({0,
                         Channel::translation,
                         {},
                         std::array{axis(Interp::hermite, {0, 0.3, 0.3, 1.1, 2}, {0, 1, 4, -2, 1},
                                         {0, 3, 9, -1, 5}, {2, -7, 1, 0.5F, 0}),
                                    axis(Interp::linear, {0.5, 0.7, 1.9}, {3, -1, 2}),
                                    axis(Interp::hermite, {0}, {7}, {1}, {1})},
                         {}});
  clip.tracks.push_back(
      {1,
       Channel::scale,
       {},
       std::array{axis(Interp::bezier, {0, 2}, {1, 2}, {0, 5}, {-3, 0}),
                  axis(Interp::linear, {0, 2}, {1, 3}), axis(Interp::step, {0}, {1})},
       {}});
  return clip;
}

TEST(Bake, CubicAxesBecomeOneCubicCurveExactly) {
  const Clip clip = per_axis();
  const auto baked = bake(clip);
  ASSERT_TRUE(baked) << to_string(baked.error());
  EXPECT_EQ(baked->tracks, 0U);
  for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
    const auto& axes = std::get<std::array<Curve<float>, 3>>(clip.tracks[i].curve);
    const auto& one = std::get<Curve<Vec3>>(baked->clip.tracks[i].curve);
    EXPECT_EQ(one.interp, Interp::hermite);
    std::array<std::uint32_t, 3> hints{};
    std::uint32_t hint = 0;
    for (int k = -100; k <= 2100; ++k) {
      const double t = k / 1000.0;
      const Vec3 v = evaluate(one, t, hint);
      EXPECT_NEAR(v.x, evaluate(axes[0], t, hints[0]), 2e-6) << i << ' ' << t;
      EXPECT_NEAR(v.y, evaluate(axes[1], t, hints[1]), 2e-6) << i << ' ' << t;
      EXPECT_NEAR(v.z, evaluate(axes[2], t, hints[2]), 2e-6) << i << ' ' << t;
    }
  }
  EXPECT_EQ(std::get<Curve<Vec3>>(baked->clip.tracks[0].curve).times,
            (std::vector<double>{0, 0.3, 0.3, 0.5, 0.7, 1.1, 1.9, 2}));
}

TEST(Bake, AxesWithStepsAreBaked) {
  Clip clip = per_axis();
  std::get<std::array<Curve<float>, 3>>(clip.tracks[0].curve)[1].interp = Interp::step;
  const auto baked = bake(clip);
  ASSERT_TRUE(baked) << to_string(baked.error());
  EXPECT_EQ(baked->tracks, 1U);
  EXPECT_EQ(std::get<Curve<Vec3>>(baked->clip.tracks[0].curve).interp, Interp::linear);
  EXPECT_EQ(std::get<Curve<Vec3>>(baked->clip.tracks[1].curve).interp, Interp::hermite);
}

}  // namespace
}  // namespace dopesheet
