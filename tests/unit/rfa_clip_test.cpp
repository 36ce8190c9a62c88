// Red Faction motion against numbers that a plain Python program worked out from the formulas
// (tests/data/reference.py), and the way back into the file.
#include <cmath>
#include <random>

#include "../support.hpp"
#include "dopesheet/compare.hpp"
#include "dopesheet/rfa.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

using support::Json;

rfa::File load(const std::string& name) {
  auto file = rfa::read(support::read_bytes(support::fixture(name)));
  EXPECT_TRUE(file) << name << ": " << (file ? "" : to_string(file.error()));
  return *file;
}

Vec3 vec(const Json& j) { return {j[0].get<float>(), j[1].get<float>(), j[2].get<float>()}; }
Quat quat(const Json& j) {
  return {j[0].get<float>(), j[1].get<float>(), j[2].get<float>(), j[3].get<float>()};
}

std::vector<std::string> with_numbers() {
  std::vector<std::string> out;
  for (const auto& name : support::fixtures("rfa")) {
    const auto json = support::fixture(name.substr(0, name.size() - 4) + ".expected.json");
    if (std::filesystem::exists(json)) out.push_back(name);
  }
  return out;
}

// The clip's own range is wider in these tests than in the game, which never leaves start to end, so
// that keys outside it are compared too.
Clip unbounded(const rfa::File& file) {
  Clip clip = rfa::to_clip(file);
  clip.start = -1e6;
  clip.end = 1e6;
  return clip;
}

TEST(RfaClip, SmoothPosesEqualPlainPython) {
  std::size_t compared = 0;
  for (const auto& name : with_numbers()) {
    const rfa::File file = load(name);
    const Json expected =
        support::read_json(support::fixture(name.substr(0, name.size() - 4) + ".expected.json"));
    const Sampler sampler(unbounded(file));
    Cursor cursor = sampler.cursor();
    std::vector<Transform> pose(sampler.nodes());
    for (const auto& at : expected.at("smooth")) {
      sampler.sample(at.at("tick").get<double>() / rfa::ticks_per_second, cursor, pose);
      ASSERT_EQ(at.at("bones").size(), pose.size()) << name;
      for (std::size_t i = 0; i < pose.size(); ++i) {
        const Json& b = at["bones"][i];
        const std::string where =
            name + " tick " + at["tick"].dump() + " bone " + std::to_string(i);
        EXPECT_LT(length(pose[i].translation - vec(b["t"])), 2e-6F) << where;
        EXPECT_LT(angle_between(pose[i].rotation, quat(b["q"])), 1e-4) << where;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 5000U);
}

TEST(RfaClip, ExactPosesEqualPlainPythonToTheLastInteger) {
  std::size_t compared = 0;
  for (const auto& name : with_numbers()) {
    const rfa::File file = load(name);
    const Json expected =
        support::read_json(support::fixture(name.substr(0, name.size() - 4) + ".expected.json"));
    std::vector<Transform> pose(file.bones.size());
    for (const auto& at : expected.at("exact")) {
      rfa::sample_exact(file, at.at("tick").get<std::int32_t>(), pose);
      for (std::size_t i = 0; i < pose.size(); ++i) {
        const Json& b = at["bones"][i];
        const std::string where =
            name + " tick " + at["tick"].dump() + " bone " + std::to_string(i);
        EXPECT_LT(length(pose[i].translation - vec(b["t"])), 2e-6F) << where;
        const Quat q = quat(b["q"]), got = pose[i].rotation;
        for (const auto m : {&Quat::x, &Quat::y, &Quat::z, &Quat::w}) {
          EXPECT_EQ(std::lround(got.*m * 16383), std::lround(q.*m * 16383)) << where;
        }
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 5000U);
}

TEST(RfaClip, MorphEqualsPlainPython) {
  std::size_t compared = 0;
  for (const auto& name : with_numbers()) {
    const rfa::File file = load(name);
    const Json expected =
        support::read_json(support::fixture(name.substr(0, name.size() - 4) + ".expected.json"));
    const Clip clip = unbounded(file);
    const Sampler sampler(clip);
    Cursor cursor = sampler.cursor();
    std::vector<float> weights(sampler.weights());
    for (const auto& at : expected.value("morph", Json::array())) {
      sampler.sample_weights(at.at("tick").get<double>() / rfa::ticks_per_second, cursor, weights);
      const auto& vertices = at.at("vertices");
      ASSERT_EQ(vertices.size(), weights.empty() ? 0 : clip.morph.vertices.size()) << name;
      for (std::size_t v = 0; v < vertices.size(); ++v) {
        Vec3 p{};
        for (std::size_t k = 0; k < weights.size(); ++k)
          p = p + weights[k] * clip.morph.positions[k][v];
        EXPECT_EQ(clip.morph.vertices[v], vertices[v]["index"].get<std::uint32_t>());
        EXPECT_LT(length(p - vec(vertices[v]["p"])), 2e-6F) << name << " tick " << at["tick"];
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 500U);
}

TEST(RfaClip, ActionWeightsEqualPlainPython) {
  std::size_t compared = 0;
  for (const auto& name : with_numbers()) {
    const rfa::File file = load(name);
    const Json expected =
        support::read_json(support::fixture(name.substr(0, name.size() - 4) + ".expected.json"));
    for (const auto& at : expected.at("weights")) {
      for (std::size_t i = 0; i < at.at("bones").size(); ++i) {
        if (at["bones"][i].is_null()) continue;
        EXPECT_NEAR(rfa::action_weight(file, i, at["tick"].get<std::int32_t>()),
                    at["bones"][i].get<double>(), 1e-5)
            << name << " tick " << at["tick"];
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 1000U);
}

TEST(RfaClip, EasesChangeTheMotion) {  // case C17
  rfa::File file = load("eases.rfa");
  const Sampler eased(rfa::to_clip(file));
  for (auto& b : file.bones) {
    for (auto& k : b.rotation_keys) k.ease_in = k.ease_out = 0;
  }
  const Sampler plain(rfa::to_clip(file));
  Cursor a = eased.cursor(), b = plain.cursor();
  std::vector<Transform> pa(eased.nodes()), pb(pa);
  double worst = 0;
  for (int i = 0; i <= 100; ++i) {
    const double t =
        (file.start_time + i * 0.01 * (file.end_time - file.start_time)) / rfa::ticks_per_second;
    eased.sample(t, a, pa);
    plain.sample(t, b, pb);
    for (std::size_t k = 0; k < pa.size(); ++k)
      worst = std::max(worst, angle_between(pa[k].rotation, pb[k].rotation));
  }
  EXPECT_GT(worst, 1.0);
}

TEST(RfaClip, BonesWithoutKeysAreWhatTheGameShows) {
  const rfa::File file = load("no_keys.rfa");
  std::vector<Node> skeleton(file.bones.size());
  for (auto& n : skeleton) n.rest = {{1, 2, 3}, normalize({0.5F, 0, 0, 1}), {1, 1, 1}};
  const Clip clip = rfa::to_clip(file, skeleton);
  const Sampler sampler(clip);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(sampler.nodes());
  sampler.sample(clip.start, cursor, pose);
  bool no_rotation = false, no_position = false;
  for (std::size_t i = 0; i < file.bones.size(); ++i) {
    if (file.bones[i].rotation_keys.empty()) {
      no_rotation = true;
      EXPECT_EQ(pose[i].rotation, Quat{});
    }
    if (file.bones[i].position_keys.empty()) {
      no_position = true;
      EXPECT_EQ(pose[i].translation, Vec3{});
    }
  }
  EXPECT_TRUE(no_rotation && no_position);
}

// ---- the way back

TEST(RfaWrite, AnUntouchedClipKeepsEveryByte) {
  for (const auto& name : support::fixtures("rfa")) {
    const Bytes bytes = support::read_bytes(support::fixture(name));
    rfa::File file = *rfa::read(bytes);
    const auto losses = rfa::from_clip(rfa::to_clip(file), file);
    ASSERT_TRUE(losses) << name << to_string(losses.error());
    EXPECT_TRUE(losses->empty()) << name << ": " << losses->front().path << ' '
                                 << losses->front().text;
    EXPECT_EQ(*rfa::write(file), bytes) << name;
  }
}

TEST(RfaWrite, OneChangedTrackChangesOneTrack) {
  const Bytes bytes = support::read_bytes(support::fixture("plain_v8.rfa"));
  rfa::File file = *rfa::read(bytes);
  const rfa::File before = file;
  Clip clip = rfa::to_clip(file);
  auto& curve = std::get<Curve<Quat>>(clip.tracks[2].curve);  // the rotation of bone 1
  ASSERT_EQ(clip.tracks[2].channel, Channel::rotation);
  const Quat edited = normalize(Quat{0.1F, 0.2F, 0.3F, 0.9F});
  curve.values[1] = edited;
  ASSERT_TRUE(rfa::from_clip(clip, file));
  for (std::size_t i = 0; i < file.bones.size(); ++i) {
    EXPECT_TRUE(file.bones[i].position_keys == before.bones[i].position_keys) << i;
    EXPECT_EQ(file.bones[i].rotation_keys == before.bones[i].rotation_keys, i != 1) << i;
  }
  const auto &now = file.bones[1].rotation_keys, &was = before.bones[1].rotation_keys;
  ASSERT_EQ(now.size(), was.size());
  EXPECT_EQ(now[0], was[0]);
  const Clip again = rfa::to_clip(file);
  EXPECT_LT(angle_between(std::get<Curve<Quat>>(again.tracks[2].curve).values[1], edited), 0.01);
}

TEST(RfaWrite, QuaternionsAreNeverLongAndNeverFarOff) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  Curve<Quat> c;
  for (int i = 0; i < 2000; ++i) {
    c.times.push_back(i / 30.0);
    c.values.push_back(normalize({normal(random), normal(random), normal(random), normal(random)}));
  }
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = c.times.back();
  clip.nodes.resize(1);
  clip.tracks.push_back({0, Channel::rotation, {}, c, {}});
  rfa::File file;
  ASSERT_TRUE(rfa::from_clip(clip, file));
  const auto& keys = file.bones[0].rotation_keys;
  ASSERT_EQ(keys.size(), c.times.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::int64_t square = 0, dot_before = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      square += std::int64_t{keys[i].rotation[k]} * keys[i].rotation[k];
      if (i > 0) dot_before += std::int64_t{keys[i].rotation[k]} * keys[i - 1].rotation[k];
    }
    EXPECT_LE(square, std::int64_t{16383} * 16383);
    EXPECT_GE(dot_before, 0);
    const auto& r = keys[i].rotation;
    const Quat q = normalize({-static_cast<float>(r[0]), -static_cast<float>(r[1]),
                              -static_cast<float>(r[2]), static_cast<float>(r[3])});
    EXPECT_LT(angle_between(q, c.values[i]), 0.012);
  }
}

TEST(RfaWrite, TimesAreRoundedNotTruncated) {
  Curve<Vec3> c;
  for (int i = 0; i <= 1000; ++i) {
    c.times.push_back(static_cast<double>(static_cast<float>(i) / 30.0F));
    c.values.push_back({static_cast<float>(i), 0, 0});
  }
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = c.times.back();
  clip.nodes.resize(1);
  clip.tracks.push_back({0, Channel::translation, {}, c, {}});
  rfa::File file;
  ASSERT_TRUE(rfa::from_clip(clip, file));
  ASSERT_EQ(file.bones[0].position_keys.size(), 1001U);
  for (int i = 0; i <= 1000; ++i)
    EXPECT_EQ(file.bones[0].position_keys[static_cast<std::size_t>(i)].time, i * 160);
}

TEST(RfaWrite, LinearMotionGetsHandlesOnTheThirds) {
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = 1;
  clip.nodes.resize(1);
  Curve<Vec3> c;
  c.times = {0, 1};
  c.values = {{0, 0, 0}, {3, 6, 9}};
  clip.tracks.push_back({0, Channel::translation, {}, c, {}});
  rfa::File file;
  ASSERT_TRUE(rfa::from_clip(clip, file));
  const auto& keys = file.bones[0].position_keys;
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].out, (std::array<float, 3>{1, 2, 3}));
  EXPECT_EQ(keys[1].in, (std::array<float, 3>{2, 4, 6}));
  const Sampler sampler(rfa::to_clip(file));
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(1);
  sampler.sample(0.25, cursor, pose);
  EXPECT_NEAR(pose[0].translation.x, 0.75F, 1e-6F);
}

TEST(RfaWrite, BezierHandlesAndHermiteTangentsAreOneCurve) {  // cases C1, C7, C16
  std::mt19937 random(7);
  std::uniform_real_distribution<float> r(-2, 2);
  const auto point = [&] { return Vec3{r(random), r(random), r(random)}; };
  Curve<Vec3> h;
  h.interp = Interp::hermite;
  double t = 0;
  for (int i = 0; i < 2000; ++i) {
    h.times.push_back(t);
    t += (1 + i % 7) / 60.0;  // unequal spacing
    h.values.push_back(point());
    h.in.push_back(point());
    h.out.push_back(point());
  }
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = h.times.back();
  clip.nodes.resize(1);
  clip.tracks.push_back({0, Channel::translation, {}, h, {}});
  rfa::File file;
  ASSERT_TRUE(rfa::from_clip(clip, file));
  const Clip back = rfa::to_clip(file);
  const Sampler a(clip), b(back);
  Cursor ca = a.cursor(), cb = b.cursor();
  std::vector<Transform> pa(1), pb(1);
  for (double at = 0; at < clip.end; at += 0.0137) {
    a.sample(at, ca, pa);
    b.sample(at, cb, pb);
    EXPECT_LT(length(pa[0].translation - pb[0].translation), 5e-6F) << at;
  }
}

TEST(RfaWrite, StepsStaySteps) {  // case C8
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = 2;
  clip.nodes.resize(1);
  Curve<Vec3> c;
  c.interp = Interp::step;
  c.times = {0, 1, 2};
  c.values = {{0, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  clip.tracks.push_back({0, Channel::translation, {}, c, {}});
  rfa::File file;
  ASSERT_TRUE(rfa::from_clip(clip, file));
  const Sampler sampler(rfa::to_clip(file));
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(1);
  sampler.sample(1 - 1.0 / 4800, cursor, pose);
  EXPECT_EQ(pose[0].translation.x, 0);
  sampler.sample(1, cursor, pose);
  EXPECT_EQ(pose[0].translation.x, 1);
}

TEST(RfaWrite, ATrackThatIsGoneBecomesTwoKeysOfTheRestPose) {
  rfa::File file = load("plain_v8.rfa");
  std::vector<Node> skeleton(file.bones.size());
  skeleton[1].rest.translation = {0.5F, 0.25F, -1};
  Clip clip = rfa::to_clip(file, skeleton);
  std::erase_if(clip.tracks, [](const Track& t) { return t.target == 1; });
  ASSERT_TRUE(rfa::from_clip(clip, file));
  ASSERT_EQ(file.bones[1].position_keys.size(), 2U);
  ASSERT_EQ(file.bones[1].rotation_keys.size(), 2U);
  for (const auto& k : file.bones[1].position_keys) {
    EXPECT_EQ(k.position, (std::array<float, 3>{0.5F, 0.25F, -1}));
    EXPECT_EQ(k.in, k.position);
    EXPECT_EQ(k.out, k.position);
  }
  EXPECT_EQ(file.bones[1].rotation_keys.front().time, file.start_time);
  EXPECT_EQ(file.bones[1].rotation_keys.back().time, file.end_time);
}

TEST(RfaWrite, LimitsAreNamedAndNothingIsHalfDone) {
  rfa::File file = load("plain_v8.rfa");
  const Bytes before = *rfa::write(file);
  Clip clip = rfa::to_clip(file);
  clip.nodes.resize(51);
  auto r = rfa::from_clip(clip, file);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::cannot_represent);
  EXPECT_NE(r.error().text.find("50"), std::string::npos);

  clip = rfa::to_clip(file);
  Curve<Vec3> c;
  for (int i = 0; i < 40000; ++i) {
    c.times.push_back(i / 4800.0);
    c.values.push_back({});
  }
  clip.tracks[1].curve = c;
  r = rfa::from_clip(clip, file);
  ASSERT_FALSE(r);
  EXPECT_NE(r.error().text.find("32767"), std::string::npos) << r.error().text;
  EXPECT_EQ(*rfa::write(file), before);
}

TEST(RfaWrite, WhatRfaCannotHoldIsSaid) {
  rfa::File file = load("plain_v8.rfa");
  Clip clip = rfa::to_clip(file);
  Curve<Vec3> scale;
  scale.times = {0};
  scale.values = {{2, 2, 2}};
  clip.tracks.push_back({0, Channel::scale, {}, scale, {}});
  clip.events.push_back({0.1, "footstep", {}});
  const auto losses = rfa::from_clip(clip, file);
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->size(), 2U);
}

TEST(RfaWrite, FallsBackToBakingForForeignInterpolations) {
  rfa::File file = load("plain_v8.rfa");
  Clip clip = rfa::to_clip(file);
  auto& curve = std::get<Curve<Quat>>(clip.tracks[0].curve);
  curve.interp = Interp::nlerp;
  for (auto& q : curve.values) q = normalize(q * Quat{0.3F, 0, 0.2F, 0.9F} * q);
  const auto losses = rfa::from_clip(clip, file);
  ASSERT_TRUE(losses);
  ASSERT_EQ(losses->size(), 1U);
  const auto error = compare(clip, rfa::to_clip(file));
  EXPECT_LT(error.max_degrees, 0.06);  // tolerance and quantisation
}

TEST(RfaWrite, RightHandedClipsAreMirroredBack) {
  rfa::File file = load("plain_v8.rfa");
  const rfa::File before = file;
  ASSERT_TRUE(rfa::from_clip(to_right_handed(rfa::to_clip(file)), file));
  EXPECT_EQ(*rfa::write(file), *rfa::write(before));
}

TEST(RfaWrite, ASharedRecordIsSplitWhenOneOfItsBonesChanges) {
  rfa::File file = load("shared_record.rfa");
  Clip clip = rfa::to_clip(file);
  for (auto& t : clip.tracks) {
    if (t.target == 1) t.properties = {{"rf_weight", 1.5F}};
  }
  ASSERT_TRUE(rfa::from_clip(clip, file));
  const auto bytes = rfa::write(file);
  ASSERT_TRUE(bytes) << to_string(bytes.error());
  EXPECT_EQ(rfa::read(*bytes)->bones[1].weight, 1.5F);
}

TEST(RfaWrite, TheWeightOfEitherTrackCounts) {
  for (const Channel channel : {Channel::rotation, Channel::translation}) {
    rfa::File file = load("plain_v8.rfa");
    Clip clip = rfa::to_clip(file);
    for (auto& t : clip.tracks) {
      if (t.target == 2 && t.channel == channel) t.properties = {{"rf_weight", 3.5F}};
    }
    ASSERT_TRUE(rfa::from_clip(clip, file));
    EXPECT_EQ(file.bones[2].weight, 3.5F) << name(channel);
  }
}

TEST(RfaWrite, NothingIsLostInSilence) {
  const auto losses_of = [](const char* fixture, auto edit) {
    rfa::File file = load(fixture);
    Clip clip = rfa::to_clip(file);
    edit(clip);
    const auto losses = rfa::from_clip(clip, file);
    return losses ? losses->size() : 99;
  };
  const auto set = [](Clip& c, const char* key, PropertyValue value) {
    for (auto& p : c.properties) {
      if (p.key == key) p.value = std::move(value);
    }
  };
  EXPECT_EQ(losses_of("morph_v8.rfa",
                      [](Clip& c) {
                        for (auto& t : c.tracks) {
                          if (t.channel == Channel::weight)
                            std::get<Curve<float>>(t.curve).times.back() += 0.1;
                        }
                      }),
            1U);
  EXPECT_EQ(losses_of("morph_v8.rfa",
                      [](Clip& c) {
                        std::erase_if(c.tracks,
                                      [](const Track& t) { return t.channel == Channel::weight; });
                      }),
            1U);
  EXPECT_EQ(losses_of("morph_v7.rfa", [](Clip& c) { c.end += 1; }), 1U);
  EXPECT_EQ(losses_of("plain_v8.rfa", [](Clip& c) { c.outside = Outside::wrap; }), 1U);
  EXPECT_EQ(losses_of("plain_v8.rfa", [](Clip& c) { c.frames_per_second = 24; }), 1U);
  EXPECT_EQ(losses_of("plain_v8.rfa",
                      [](Clip& c) {
                        std::erase_if(c.tracks, [&](const Track& t) {
                          return t.target + 1 == c.nodes.size();
                        });
                        c.nodes.pop_back();
                      }),
            1U);
  EXPECT_EQ(losses_of("plain_v8.rfa", [&](Clip& c) { set(c, "rf_version", std::int64_t{7}); }), 1U);
  EXPECT_EQ(losses_of("plain_v8.rfa", [&](Clip& c) { set(c, "rf_ramp_in_time", 1.5F); }), 1U);
  EXPECT_EQ(losses_of("plain_v8.rfa",
                      [&](Clip& c) { set(c, "rf_total_rotation", std::vector<float>{1, 2}); }),
            1U);
}

TEST(RfaWrite, JumpsStayJumps) {
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = 2;
  clip.nodes.resize(1);
  Curve<Vec3> c;
  c.times = {0, 1, 1, 2};
  c.values = {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  clip.tracks.push_back({0, Channel::translation, {}, c, {}});
  rfa::File file;
  const auto losses = rfa::from_clip(clip, file);
  ASSERT_TRUE(losses && losses->empty());
  const Sampler sampler(rfa::to_clip(file));
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(1);
  sampler.sample(0.99, cursor, pose);
  EXPECT_EQ(pose[0].translation.x, 0);
  sampler.sample(1, cursor, pose);
  EXPECT_EQ(pose[0].translation.x, 1);
}

TEST(RfaClip, HalfTurnsGoTheSameWayInBothEvaluations) {
  std::mt19937 random(4);
  std::normal_distribution<double> n;
  int half_turns = 0;
  for (int i = 0; i < 3000; ++i) {
    // Two keys about half a turn apart, in any direction.
    std::array<double, 4> a{n(random), n(random), n(random), n(random)},
        b{-a[1], a[0], -a[3], a[2]};
    const double length = std::sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + a[3] * a[3]);
    rfa::File file;
    file.end_time = 4800;
    auto& bone = file.bones.emplace_back();
    bone.rotation_keys.resize(2);
    bone.rotation_keys[1].time = 4800;
    std::int64_t dot = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      bone.rotation_keys[0].rotation[k] = static_cast<std::int16_t>(a[k] / length * 16380);
      bone.rotation_keys[1].rotation[k] = static_cast<std::int16_t>(b[k] / length * 16380);
      dot += bone.rotation_keys[0].rotation[k] * bone.rotation_keys[1].rotation[k];
    }
    half_turns += std::abs(dot) < 200;
    std::vector<Transform> exact(1), smooth(1);
    rfa::sample_exact(file, 2400, exact);
    const Sampler sampler(rfa::to_clip(file));
    Cursor cursor = sampler.cursor();
    sampler.sample(0.5, cursor, smooth);
    EXPECT_LT(angle_between(normalize(exact[0].rotation), smooth[0].rotation), 0.05) << i;
  }
  EXPECT_GT(half_turns, 100);
}

TEST(RfaWrite, PropertiesSetTheHeaderAndTheWeights) {
  rfa::File file = load("plain_v8.rfa");
  Clip clip = rfa::to_clip(file);
  for (auto& p : clip.properties) {
    if (p.key == "rf_ramp_in_time") p.value = std::int64_t{321};
  }
  for (auto& t : clip.tracks) {
    if (t.target == 2) t.properties = {{"rf_weight", 3.5F}};
  }
  ASSERT_TRUE(rfa::from_clip(clip, file));
  EXPECT_EQ(file.ramp_in, 321);
  EXPECT_EQ(file.bones[2].weight, 3.5F);
}

}  // namespace
}  // namespace dopesheet
