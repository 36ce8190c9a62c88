// What Zouna animations mean, compared with plain Python.
#include <algorithm>
#include <cmath>
#include <set>

#include "../support.hpp"
#include "dopesheet/bake.hpp"
#include "dopesheet/names.hpp"
#include "dopesheet/zouna.hpp"

namespace dopesheet {
namespace {

using zouna::Options;
using zouna::TangentSign;

zouna::File load(const std::string& name) {
  return *zouna::read(support::read_bytes(support::fixture(name)));
}
zouna::File rich() { return load("zn_rich_le_bff_list.Animation_Z"); }

const Track* find(const Clip& clip, std::size_t target, Channel channel,
                  const std::string& name = {}) {
  for (const Track& t : clip.tracks) {
    if (t.target == target && t.channel == channel && t.name == name) return &t;
  }
  return nullptr;
}
std::vector<double> numbers(const Transform& t, Channel c) {
  const auto list = [](Vec3 v) { return std::vector<double>{v.x, v.y, v.z}; };
  if (c == Channel::translation) return list(t.translation);
  if (c == Channel::scale) return list(t.scale);
  return {t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w};
}
double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double plus = 0, minus = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    plus = std::max(plus, std::abs(a[i] - b[i]));
    minus = std::max(minus, std::abs(a[i] + b[i]));
  }
  return a.size() == 4 ? std::min(plus, minus) : plus;
}

TEST(ZounaClip, EvaluatesAsPlainPython) {
  std::size_t n = 0;
  for (const auto& file : support::read_json(support::fixture("zouna_reference.json"))) {
    const zouna::File f = load(file.at("file"));
    for (const auto& row : file.at("rows")) {
      Options options;
      if (row.contains("sign")) {
        options.tangent_sign = row.at("sign") > 0 ? TangentSign::plus : TangentSign::minus;
      }
      if (row.value("how", "") == "slerp") options.rotation = zouna::RotationRule::slerp;
      Channel channel = Channel::rotation;
      if (row.at("channel") == "translation") channel = Channel::translation;
      if (row.at("channel") == "scale") channel = Channel::scale;
      Clip clip = zouna::to_clip(f, options);
      ASSERT_TRUE(validate(clip).empty()) << validate(clip)[0].path << validate(clip)[0].text;
      clip.start = -10;  // keys are compared outside the clip's range too
      clip.end = 10;
      const Sampler sampler(clip);
      Cursor cursor = sampler.cursor();
      std::vector<Transform> pose(sampler.nodes()), exact(f.body.nodes.size());
      zouna::EngineCursor engine;
      const std::size_t node = row.at("node");
      for (const auto& v : row.at("values")) {
        const double t = v.at(0);
        const auto want = v.at(1).get<std::vector<double>>();
        sampler.sample(t, cursor, pose);
        EXPECT_LT(distance(numbers(pose[node], channel), want), 2e-6)
            << file.at("file") << " " << node << " " << row.at("channel") << " " << t;
        ++n;
        if (t < 0.5) continue;  // before the first key the game shows the last one
        zouna::sample_exact(f, options, static_cast<float>(t), engine, exact);
        // Quaternions are mixed as they are stored, not quite of unit length.
        EXPECT_LT(distance(numbers(exact[node], channel), want), want.size() == 4 ? 1e-4 : 1e-6)
            << file.at("file") << " exact " << node << " " << row.at("channel") << " " << t;
      }
    }
  }
  EXPECT_GT(n, 200U);
}

TEST(ZounaClip, TheGamesSearchShowsTheLastKeyBeforeTheFirstAndAfterGoingBack) {
  const zouna::File f = load("zn_squares_le_bare.Animation_Z");
  std::vector<Transform> pose(1);
  zouna::EngineCursor cursor;
  zouna::sample_exact(f, {}, 0.25F, cursor, pose);  // rotation starts at 0.5
  EXPECT_EQ(pose[0].rotation, (Quat{1, 0, 0, 0}));
  EXPECT_EQ(pose[0].translation, (Vec3{0, 0, 0}));
  zouna::sample_exact(f, {}, 0.75F, cursor, pose);
  EXPECT_EQ(pose[0].translation, (Vec3{1, 0, 0}));
  zouna::sample_exact(f, {}, 0.25F, cursor, pose);  // not rewound
  EXPECT_EQ(pose[0].translation, (Vec3{0, 1, 0}));
  cursor = {};
  zouna::sample_exact(f, {}, 0.25F, cursor, pose);
  EXPECT_EQ(pose[0].translation, (Vec3{0, 0, 0}));
}

TEST(ZounaClip, TheSignComesFromTheKeys) {
  const zouna::File negative = load("zn_negative_be_bare.Animation_Z");
  EXPECT_EQ(zouna::tangent_sign(negative.body).sign, -1);
  EXPECT_EQ(zouna::tangent_sign(negative.body, {.tangent_sign = TangentSign::plus}), 1);
  EXPECT_EQ(zouna::tangent_sign(zouna::Body{}).sign, 1);
  EXPECT_EQ(zouna::tangent_sign(zouna::Body{}).evidence, 0);
  // Without interior tangents, the way to the key decides.
  zouna::File two = negative;
  two.body.nodes[0].translation.count = 2;
  EXPECT_EQ(zouna::tangent_sign(two.body).sign, -1);
  two.body.translation.keys[1].tangent_in = {4096, 0, 0};
  EXPECT_EQ(zouna::tangent_sign(two.body).sign, 1);
  // With it the motion is even.
  const Clip clip = zouna::to_clip(negative);
  const Sampler sampler(clip);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(1);
  for (const double t : {0.1, 0.3, 0.6, 0.9}) {
    sampler.sample(t, cursor, pose);
    EXPECT_NEAR(pose[0].translation.x, 2 * t, 1e-6);
  }
}

TEST(ZounaClip, TangentsAreDerivativesPerSecond) {
  const Clip clip = zouna::to_clip(rich(), {.tangent_sign = TangentSign::plus});
  const auto& c = std::get<Curve<Vec3>>(find(clip, 0, Channel::translation)->curve);
  ASSERT_EQ(c.times, (std::vector<double>{0, 0.5, 0.5, 1.5}));
  EXPECT_EQ(c.out[0], (Vec3{1, -0.5F, 0.25F}));  // 2048 / 4096 over half a second
  EXPECT_EQ(c.in[1], (Vec3{0.5F, 0.25F, 0.125F}));
  EXPECT_EQ(c.out[1], Vec3{});  // no length
  EXPECT_EQ(c.in[2], Vec3{});
  EXPECT_EQ(c.in[0], Vec3{});
  EXPECT_EQ(c.out[3], Vec3{});
}

TEST(ZounaClip, NodesComeByTheHashOfTheirName) {
  Names names;
  names.add("Tete");
  names.add("STEP_SOUND");
  const Clip clip = zouna::to_clip(rich(), {.names = &names}, {}, "walk");
  EXPECT_EQ(clip.name, "walk");
  EXPECT_EQ(clip.end, 1.5);
  EXPECT_EQ(clip.nodes[2].name, "Tete");
  EXPECT_EQ(clip.nodes[0].name, hash_text(hash_name(NameHash::zouna, "HIPS")));
  ASSERT_EQ(clip.events.size(), 3U);
  EXPECT_EQ(clip.events[0].kind, "play_sound");
  EXPECT_NE(clip.events[0].payload.find("param=STEP_SOUND"), std::string::npos);
  EXPECT_EQ(clip.events[2].kind, "message_105");

  std::vector<Node> skeleton(2);
  skeleton[0].name = "spine";
  skeleton[1].name = "hips";
  skeleton[1].rest.scale = {2, 2, 2};
  const Clip on = zouna::to_clip(rich(), {}, skeleton);
  EXPECT_NE(find(on, 0, Channel::scale), nullptr);
  EXPECT_NE(find(on, 1, Channel::translation), nullptr);
  EXPECT_EQ(find(on, 1, Channel::scale), nullptr);
  EXPECT_EQ(on.nodes[1], skeleton[1]);
  EXPECT_EQ(on.nodes.size(), 7U);  // three more bones, two mesh objects
}

TEST(ZounaClip, SharedAndOverlappingRangesGiveEachNodeItsKeys) {
  const Clip clip = zouna::to_clip(rich());
  EXPECT_EQ(find(clip, 0, Channel::rotation)->curve, find(clip, 2, Channel::rotation)->curve);
  EXPECT_EQ(std::get<Curve<Vec3>>(find(clip, 3, Channel::translation)->curve).times.size(), 3U);
  EXPECT_EQ(find(clip, 4, Channel::translation), nullptr);
  EXPECT_EQ(std::get<Curve<Quat>>(find(clip, 1, Channel::rotation)->curve).times.size(), 1U);
}

TEST(ZounaClip, VisibilityMorphsAndMaterials) {
  Names names;
  for (const char* n : {"SKIN", "SMILE", "HAT"}) names.add(n);
  const Clip clip = zouna::to_clip(rich(), {.names = &names});
  const auto hat = std::find_if(clip.nodes.begin(), clip.nodes.end(),
                                [](const Node& n) { return n.name == "HAT"; });
  ASSERT_NE(hat, clip.nodes.end());
  const auto* v =
      find(clip, static_cast<std::size_t>(hat - clip.nodes.begin()), Channel::visibility);
  const auto& shown = std::get<Curve<float>>(v->curve);
  EXPECT_EQ(shown.interp, Interp::step);
  EXPECT_EQ(shown.values, (std::vector<float>{1, 0, 1}));
  EXPECT_NE(find(clip, 0, Channel::custom, "morph/SMILE"), nullptr);
  const auto keys = [](const Track* t) { return std::get<Curve<Vec3>>(t->curve).times.size(); };
  EXPECT_EQ(keys(find(clip, 0, Channel::custom, "material/SKIN/diffuse")), 3U);
  EXPECT_EQ(keys(find(clip, 0, Channel::custom, "material/SKIN/emissive")), 2U);
  EXPECT_EQ(std::get<Curve<float>>(find(clip, 0, Channel::custom, "material/SKIN/v")->curve).interp,
            Interp::step);
}

TEST(ZounaClip, ASegmentHidesOnlyWhereItIsZeroAllAlong) {
  zouna::File f = rich();
  f.body.visibility.flag = 1;
  const auto shown = [&] {
    const Clip clip = zouna::to_clip(f);
    return std::get<Curve<float>>(find(clip, 5, Channel::visibility)->curve).values;
  };
  EXPECT_EQ(shown(), (std::vector<float>{1, 1, 1}));
  f.body.visibility.keys[2].value = 0;
  EXPECT_EQ(shown(), (std::vector<float>{1, 0, 0}));
  f.body.visibility.keys[1].tangent_out = 1;
  EXPECT_EQ(shown(), (std::vector<float>{1, 1, 0}));
}

TEST(ZounaClip, BezierRotationsMeanWhatTheUserSays) {
  const Clip raw = zouna::to_clip(rich());
  EXPECT_NE(find(raw, 3, Channel::custom, "bezier_rotation"), nullptr);
  EXPECT_EQ(find(raw, 3, Channel::rotation), nullptr);
  for (const auto meaning : {zouna::BezierMeaning::euler, zouna::BezierMeaning::vector}) {
    const Clip clip = zouna::to_clip(rich(), {.bezier_rotation = meaning});
    EXPECT_TRUE(validate(clip).empty());
    EXPECT_EQ(find(clip, 3, Channel::custom, "bezier_rotation"), nullptr);
    EXPECT_NE(find(clip, 2, Channel::custom, "bezier_rotation"), nullptr) << "rotation keys win";
    const Sampler sampler(clip);
    Cursor cursor = sampler.cursor();
    std::vector<Transform> pose(sampler.nodes());
    sampler.sample(0, cursor, pose);
    const Quat x{std::sin(0.05F), 0, 0, std::cos(0.05F)}, y{0, std::sin(-0.1F), 0, std::cos(0.1F)};
    const Quat z{0, 0, std::sin(0.15F), std::cos(0.15F)};
    const double angle = std::sqrt(0.01 + 0.04 + 0.09), s = std::sin(angle / 2) / angle;
    const Quat want =
        meaning == zouna::BezierMeaning::euler
            ? z * y * x
            : Quat{static_cast<float>(s * 0.1), static_cast<float>(s * -0.2),
                   static_cast<float>(s * 0.3), static_cast<float>(std::cos(angle / 2))};
    EXPECT_LT(angle_between(pose[3].rotation, want), 1e-4);
  }
}

// ---- writing

TEST(ZounaWrite, AnUntouchedClipChangesNothing) {
  for (const auto& entry : support::read_json(support::fixture("zouna.json"))) {
    const std::string name = entry.at("file");
    zouna::File f = load(name);
    const Bytes bytes = *zouna::write(f);
    for (const auto meaning : {zouna::BezierMeaning::raw, zouna::BezierMeaning::vector}) {
      const Options options{.bezier_rotation = meaning};
      const auto losses = zouna::from_clip(zouna::to_clip(f, options), f, options);
      ASSERT_TRUE(losses && losses->empty()) << name;
      EXPECT_EQ(*zouna::write(f), bytes) << name;
    }
  }
}

Track* find(Clip& clip, std::size_t target, Channel channel) {
  return const_cast<Track*>(find(static_cast<const Clip&>(clip), target, channel));
}

TEST(ZounaWrite, SharedKeysAreSplitOnlyForTheEditedNode) {
  zouna::File f = rich();
  const zouna::File before = f;
  Clip clip = zouna::to_clip(f);
  auto& c = std::get<Curve<Vec3>>(find(clip, 3, Channel::translation)->curve);
  c.values[1].x = 2;
  const auto losses = zouna::from_clip(clip, f);
  ASSERT_TRUE(losses && losses->empty());
  EXPECT_EQ(f.body.nodes[0], before.body.nodes[0]);
  EXPECT_EQ(f.body.nodes[3].translation, (zouna::Range<std::uint16_t>{5, 3}));
  EXPECT_EQ(f.body.translation.keys[6].value[0], 8192);
  EXPECT_EQ(f.body.translation.keys[5], before.body.translation.keys[1]);
  EXPECT_TRUE(std::equal(before.body.translation.keys.begin(), before.body.translation.keys.end(),
                         f.body.translation.keys.begin()));
  const Clip again = zouna::to_clip(*zouna::read(*zouna::write(f)));
  EXPECT_EQ(find(again, 3, Channel::translation)->curve,
            find(clip, 3, Channel::translation)->curve);
  EXPECT_EQ(find(again, 0, Channel::translation)->curve,
            find(clip, 0, Channel::translation)->curve);
}

TEST(ZounaWrite, KeysOfOneNodeAreReplacedInPlace) {
  zouna::File f = load("zn_negative_be_resource_list.Animation_Z");
  Clip clip = zouna::to_clip(f);
  auto& c = std::get<Curve<Vec3>>(find(clip, 0, Channel::translation)->curve);
  c.interp = Interp::linear;  // the same motion: the file's tangents are even
  c.in.clear();
  c.out.clear();
  const Bytes bytes = *zouna::write(f);
  ASSERT_TRUE(zouna::from_clip(clip, f));
  EXPECT_EQ(*zouna::write(f), bytes);
}

TEST(ZounaWrite, EveryKindShowsWhatItShowed) {
  zouna::File f = rich();
  Clip clip = zouna::to_clip(f);
  clip.end = 1.5;
  auto& t = std::get<Curve<Vec3>>(find(clip, 0, Channel::translation)->curve);
  t = {Interp::step, {0, 0.5, 1.5}, {{0, 0, 0}, {1, 2, 3}, {-1, 0, 0}}, {}, {}, {}};
  auto& s = std::get<Curve<Vec3>>(find(clip, 1, Channel::scale)->curve);
  s = {Interp::bezier,
       {0, 1},
       {{1, 1, 1}, {2, 1, 1}},
       {{1, 1, 1}, {2, 2, 1}},
       {{1.5F, 1, 1}, {2, 1, 1}},
       {}};
  auto& q = std::get<Curve<Quat>>(find(clip, 0, Channel::rotation)->curve);
  q = {Interp::linear, {0, 1.5}, {{0, 0, 0, 1}, {0, 1, 0, 0}}, {}, {}, {}};
  const auto losses = zouna::from_clip(clip, f);
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->size(), 1U);  // keys that slerp needs
  const Clip again = zouna::to_clip(f);
  const Sampler a(clip), b(again);
  Cursor ca = a.cursor(), cb = b.cursor();
  std::vector<Transform> pa(a.nodes()), pb(b.nodes());
  for (double time = 0; time <= 1.5; time += 0.0371) {
    a.sample(time, ca, pa);
    b.sample(time, cb, pb);
    EXPECT_LT(length(pa[0].translation - pb[0].translation), 1e-3) << time;
    EXPECT_LT(length(pa[1].scale - pb[1].scale), 1e-3) << time;
    EXPECT_LT(angle_between(pa[0].rotation, pb[0].rotation), 0.11) << time;
  }
}

TEST(ZounaWrite, WhatDoesNotFitIsRefusedOrReported) {
  zouna::File f = rich();
  const zouna::File before = f;
  Clip clip = zouna::to_clip(f);
  std::get<Curve<Vec3>>(find(clip, 0, Channel::translation)->curve).values[0].x = 9;
  const auto refused = zouna::from_clip(clip, f);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::cannot_represent);
  EXPECT_EQ(f, before);
  zouna::WriteOptions cut;
  cut.clamp = true;
  const auto losses = zouna::from_clip(clip, f, {}, cut);
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->size(), 1U);
  EXPECT_EQ(f.body.translation.keys[f.body.nodes[0].translation.start].value[0], 32767);

  f = before;
  clip = zouna::to_clip(f);
  clip.events.clear();
  std::erase_if(clip.tracks, [](const Track& t) {
    return t.channel == Channel::custom || (t.channel == Channel::rotation && t.target == 0);
  });
  const auto kept = zouna::from_clip(clip, f);
  ASSERT_TRUE(kept);
  EXPECT_GE(kept->size(), 8U);
  EXPECT_EQ(f.body.nodes[0].rotation.count, 0);
  EXPECT_EQ(f.body.nodes[2].rotation.count, 4);
  EXPECT_EQ(f.body.messages, before.body.messages);
}

TEST(ZounaWrite, NewNodesAndVisibility) {
  zouna::File f = rich();
  Clip clip = zouna::to_clip(f);
  Node added;
  added.name = "LeftHand";
  clip.nodes.push_back(added);
  const std::size_t at = clip.nodes.size() - 1;
  clip.tracks.push_back(
      {at, Channel::scale, {}, Curve<Vec3>{Interp::linear, {0}, {{1, 1, 1}}, {}, {}, {}}, {}});
  const Curve<float> blink{Interp::step, {0, 0.5, 0.75}, {1, 0, 1}, {}, {}, {}};
  clip.tracks.push_back({at, Channel::visibility, {}, blink, {}});
  f.body.visibility.flag = 1;
  ASSERT_TRUE(zouna::from_clip(clip, f));
  EXPECT_EQ(f.body.nodes.back().name, hash_name(NameHash::zouna, "LeftHand"));
  EXPECT_EQ(f.body.meshes.back().name, f.body.nodes.back().name);
  const Clip again = zouna::to_clip(*zouna::read(*zouna::write(f)), {}, clip.nodes);
  std::uint32_t hint = 0;
  const auto& v = std::get<Curve<float>>(find(again, at, Channel::visibility)->curve);
  for (const auto& [time, want] : {std::pair{0.25, 1.F}, std::pair{0.6, 0.F}, std::pair{1.0, 1.F}})
    EXPECT_EQ(evaluate(v, time, hint), want) << time;
}

TEST(ZounaClip, KeysThatAreSharedTooOftenTakeNoMemory) {
  zouna::File f;
  f.body.rotation.resize(5000, {0, {0, 0, 0, 2000}});
  f.body.nodes.resize(2000);
  for (auto& n : f.body.nodes) n.rotation = {0, 5000};
  const Clip clip = zouna::to_clip(f);
  EXPECT_LT(key_count(clip), 400000U);
  const auto findings = zouna::check(f);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(),
                          [](const Finding& x) { return x.code == "zn-shared-too-often"; }));
}

std::set<std::string> codes(const std::string& file, const Options& options = {}) {
  std::set<std::string> out;
  for (const Finding& f : zouna::check(load(file), options)) out.insert(f.code);
  return out;
}

TEST(ZounaCheck, TheOtherMaterialOrderIsNamedWhereOnlyItFits) {
  const std::string name = "zn_pool_order_le_bare.Animation_Z";
  const auto f = load(name);
  EXPECT_FALSE(zouna::fits(f.body, zouna::MaterialOrder::engine));
  EXPECT_TRUE(zouna::fits(f.body, zouna::MaterialOrder::pool));
  EXPECT_TRUE(codes(name).contains("zn-material-order"));
  const Options pool{.material_order = zouna::MaterialOrder::pool};
  EXPECT_TRUE(codes(name, pool).empty());
  EXPECT_TRUE(codes("zn_rich_le_bff_list.Animation_Z").contains("zn-unused-keys") == false);
}

TEST(ZounaCheck, EveryCodeHasAFault) {
  std::set<std::string> all = codes("zn_faulty_be_bff_list.Animation_Z");
  for (const char* name : {"zn_odd_envelope.Animation_Z", "zn_rich_le_bare.Animation_Z",
                           "zn_squares_le_bare.Animation_Z", "zn_pool_order_le_bare.Animation_Z"}) {
    for (const auto& c : codes(name)) all.insert(c);
  }
  zouna::File f = rich();
  f.envelope.header.body_size += 1;
  f.body.max_time = -1;
  Names names;
  Model model;
  model.nodes.resize(1);
  for (const Finding& x : zouna::check(f, {.names = &names}, &model)) all.insert(x.code);
  const std::set<std::string> want{
      "zn-body-size",   "zn-data-size",        "zn-platform",          "zn-link-rest",
      "zn-trailing",    "zn-link-missing",     "zn-not-finite",        "zn-duration",
      "zn-node-flag",   "zn-quaternion-range", "zn-quaternion-length", "zn-flag-bits",
      "zn-pad",         "zn-saturated",        "zn-material-order",    "zn-range",
      "zn-key-order",   "zn-key-late",         "zn-first-key",         "zn-two-rotations",
      "zn-unused-keys", "zn-duplicate-node",   "zn-unmatched-node",    "zn-unknown-name"};
  EXPECT_EQ(all, want);
}

TEST(ZounaCheck, AGoodFileHasNoFindings) {
  EXPECT_TRUE(codes("zn_negative_le_resource_list.Animation_Z").empty());
}

}  // namespace
}  // namespace dopesheet
