// Key reduction keeps the error it was asked to keep, measured at times it did not choose.
#include "dopesheet/reduce.hpp"

#include <cmath>

#include "../support.hpp"
#include "dopesheet/motn.hpp"
#include "dopesheet/rfa.hpp"
#include "dopesheet/sample.hpp"
#include "dopesheet/v3c.hpp"

namespace dopesheet {
namespace {

TEST(Reduce, KeepsTheToleranceAndTheTurns) {  // case A7
  Clip clip;
  clip.end = 2;
  clip.nodes.resize(2);
  clip.nodes[1].parent = 0;
  clip.nodes[1].rest.translation = {0, 1, 0};
  Curve<Quat> q;
  Curve<Vec3> v;
  for (int i = 0; i <= 480; ++i) {
    const double t = i / 240.0;
    q.times.push_back(t);
    q.values.push_back(rotation_of_turns({0, static_cast<float>(t), 0}));  // two turns
    v.times.push_back(t);
    v.values.push_back({static_cast<float>(0.01 * std::sin(3 * t)), 0, 0});
  }
  for (std::size_t i = 1; i < q.values.size(); ++i) {
    Quat& k = q.values[i];
    if (dot(q.values[i - 1], k) < 0) k = {-k.x, -k.y, -k.z, -k.w};
  }
  clip.tracks.push_back({0, Channel::rotation, {}, q, {}});
  clip.tracks.push_back({0, Channel::translation, {}, v, {}});
  const Reduced r = reduce(clip);
  EXPECT_LT(r.keys_after, r.keys_before / 4);
  EXPECT_LE(r.error.max_mm, 0.1);
  EXPECT_LE(compare(clip, r.clip).max_mm, 0.1001);
  double turned = 0;
  const auto& kept = std::get<Curve<Quat>>(r.clip.tracks[0].curve).values;
  for (std::size_t i = 1; i < kept.size(); ++i) turned += angle_between(kept[i - 1], kept[i]);
  EXPECT_NEAR(turned, 720, 0.5);
}

// Of all kinds: control points, eases, an axis each, a jump, a hold.
Clip mixed() {
  Clip clip;
  clip.end = 3;
  clip.nodes.resize(4);
  for (std::size_t i = 1; i < 4; ++i) {
    clip.nodes[i].parent = static_cast<int>(i) - 1;
    clip.nodes[i].rest.translation = {0, 0.5F, 0};
  }
  Curve<Vec3> v;
  v.interp = Interp::bezier;
  v.times = {0, 1.3, 1.3, 3};
  v.values = {{}, {1, 0, 0}, {1, 0.2F, 0}, {0, 1, 0}};
  v.in = {{}, {0.2F, 0.4F, 0}, {}, {0, 0.5F, 0.3F}};
  v.out = {{0.1F, 0, 0.3F}, {}, {1, 0.4F, 0}, {}};
  clip.tracks.push_back({0, Channel::translation, {}, v, {}});
  Curve<Quat> q;
  q.interp = Interp::slerp_ease;
  q.times = {0, 1, 2.5, 3};
  q.values = {{}, normalize({0.4F, 0, 0.1F, 1}), normalize({0, -0.5F, 0, 1}), {}};
  q.params = {{0, 0.3F}, {0.5F, 0.2F}, {0.6F, 0.1F}, {0, 0}};
  clip.tracks.push_back({1, Channel::rotation, {}, q, {}});
  Curve<float> turn;
  turn.interp = Interp::hermite;
  turn.times = {0, 3};
  turn.values = {0, 4};  // four turns
  turn.in = {0, 0.2F};
  turn.out = {0.1F, 0};
  Curve<float> still = turn;
  still.times = {0};
  still.values = {0.1F};
  still.in = still.out = {0};
  clip.tracks.push_back({2, Channel::rotation, {}, std::array{still, turn, still}, {}});
  q.interp = Interp::step;
  q.params.clear();
  clip.tracks.push_back({3, Channel::rotation, {}, q, {}});
  return clip;
}

double turned(const Clip& clip, std::size_t node) {
  double sum = 0;
  for (const Track& t : clip.tracks) {
    const auto* q = std::get_if<Curve<Quat>>(&t.curve);
    if (t.target != node || q == nullptr) continue;
    for (std::size_t i = 1; i < q->values.size(); ++i) {
      const double step = angle_between(q->values[i - 1], q->values[i]);
      EXPECT_LT(step, 180);
      sum += step;
    }
  }
  return sum;
}

TEST(Reduce, FitsCurvesOfEveryKind) {
  const Clip clip = mixed();
  std::size_t linear_keys = 0;
  for (const Fit fit : {Fit::linear, Fit::cubic}) {
    ReduceOptions options;
    options.fit = fit;
    const Reduced r = reduce(clip, options);
    EXPECT_TRUE(validate(r.clip).empty());
    EXPECT_GT(r.error.max_mm, 0);
    EXPECT_LE(r.error.max_mm, options.max_mm);
    EXPECT_LE(r.error.max_degrees, options.max_degrees);
    CompareOptions fine;
    fine.rate = 1777;
    const auto again = compare(clip, r.clip, fine);
    EXPECT_LE(again.max_mm, options.max_mm * 1.05);
    EXPECT_LE(again.max_degrees, options.max_degrees * 1.05);
    EXPECT_NEAR(turned(r.clip, 2), 4 * 360 * std::cos(0.2 * 3.14159265 / 2), 400)
        << "about four turns about an axis that leans";
    EXPECT_EQ(r.clip.tracks[3], clip.tracks[3]) << "holds stay";
    if (fit == Fit::linear) linear_keys = r.keys_after;
    EXPECT_TRUE(fit == Fit::linear || r.keys_after * 3 < linear_keys) << r.keys_after;
  }
}

TEST(Reduce, AnImpossibleToleranceChangesNothing) {
  ReduceOptions options;
  options.fit = Fit::linear;
  options.rate = 5;  // too few samples to choose from
  options.max_mm = options.max_degrees = 1e-3;
  const Clip clip = mixed();
  const Reduced r = reduce(clip, options);
  EXPECT_EQ(r.clip, clip);
  EXPECT_EQ(r.keys_after, r.keys_before);
}

// Every 1/240 s, over the real clips; prints how many keys stay.
TEST(Reduce, RealClipsKeepTheTolerance) {
  const auto dir = support::samples_dir();
  if (!dir) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  std::vector<std::pair<Clip, Fit>> clips;
  const auto mesh = v3c::read(support::read_bytes(*dir + "/rfa/boxt.v3c"));
  const Model model = *v3c::to_model(*mesh, "boxt");
  for (const char* name : {"BoxT_Fly", "BoxT_Hover", "BoxT_Flinch_Hover"}) {
    const auto file = rfa::read(support::read_bytes(*dir + "/rfa/" + name + ".rfa"));
    clips.emplace_back(rfa::to_clip(*file, model.nodes, name), Fit::cubic);
  }
  const auto bank = motn::read(support::read_bytes(*dir + "/motn/motion.bin"));
  for (std::size_t i = 0; i < 100; ++i) {
    motn::SolveOptions dense;
    dense.max_mm = dense.max_degrees = 1e-9;  // as solved
    const auto solved = motn::solve(*bank, i * bank->table.size() / 100, dense);
    if (solved) clips.emplace_back(solved->clip, i % 2 == 0 ? Fit::keep : Fit::cubic);
  }
  std::array<double, 3> kept{};
  std::array<std::size_t, 3> count{};
  for (const auto& [clip, fit] : clips) {
    ReduceOptions options;
    options.fit = fit;
    const Reduced r = reduce(clip, options);
    CompareOptions at_240;
    const auto error = compare(clip, r.clip, at_240);
    EXPECT_LE(error.max_mm, options.max_mm * 1.0001) << clip.name;
    EXPECT_LE(error.max_degrees, options.max_degrees * 1.0001) << clip.name;
    const auto kind = static_cast<std::size_t>(fit);
    kept[kind] += static_cast<double>(r.keys_after) / static_cast<double>(r.keys_before);
    ++count[kind];
  }
  for (const Fit fit : {Fit::keep, Fit::cubic}) {
    const auto kind = static_cast<std::size_t>(fit);
    ASSERT_GT(count[kind], 40U);
    std::printf("%s: %.1f %% of the keys stay, mean of %zu clips\n",
                fit == Fit::keep ? "linear" : "cubic",
                100 * kept[kind] / static_cast<double>(count[kind]), count[kind]);
  }
}

}  // namespace
}  // namespace dopesheet
