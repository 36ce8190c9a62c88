// TotemTech animations as clips: the numbers of independent Python, every open question both ways, what
// is written back, and what the checks say.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <set>

#include "../support.hpp"
#include "dopesheet/dopesheet.hpp"

namespace dopesheet {
namespace {

using totemtech::File;
using totemtech::Options;
using totemtech::WriteOptions;

File fixture(const std::string& name) {
  auto file = totemtech::read(support::read_bytes(support::fixture("tt_" + name + ".animation")));
  EXPECT_TRUE(file) << name;
  return file ? *file : File{};
}

const Track* find(const Clip& c, std::uint32_t id, const std::string& channel) {
  for (const Track& t : c.tracks) {
    if (t.channel == Channel::custom) {
      if (t.name != channel) continue;
      for (const Property& p : t.properties) {
        if (p.key == "tt_id" && std::get<std::int64_t>(p.value) == id) return &t;
      }
    } else if (name(t.channel) == channel && c.nodes[t.target].name == hash_text(id)) {
      return &t;
    }
  }
  return nullptr;
}
std::vector<double> value_at(const Track& t, double time) {
  std::uint32_t hint = 0;
  if (const auto* f = std::get_if<Curve<float>>(&t.curve)) return {evaluate(*f, time, hint)};
  if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
    const Vec3 x = evaluate(*v, time, hint);
    return {x.x, x.y, x.z};
  }
  const Quat q = evaluate(std::get<Curve<Quat>>(t.curve), time, hint);
  return {q.x, q.y, q.z, q.w};
}

TEST(TotemtechClip, ShowsWhatIndependentPythonComputes) {
  std::size_t n = 0;
  double worst = 0;
  std::set<std::string> channels;
  for (const auto& c : support::read_json(support::fixture("totemtech_reference.json"))) {
    const std::string file = c.at("file"), channel = c.at("channel");
    Options o;
    o.frames_per_second = 60;
    o.tangent_sign =
        c.at("sign") == 1 ? totemtech::TangentSign::plus : totemtech::TangentSign::minus;
    o.flags = c.at("literal") ? totemtech::Flags::engine : totemtech::Flags::recommended;
    const Clip clip =
        totemtech::to_clip(*totemtech::read(support::read_bytes(support::fixture(file))), o);
    ASSERT_TRUE(validate(clip).empty()) << validate(clip)[0].path << validate(clip)[0].text;
    const Track* t = find(clip, c.at("target"), channel);
    ASSERT_TRUE(t) << file << ' ' << c.at("target") << ' ' << channel;
    for (std::size_t i = 0; i < c.at("ticks").size(); ++i) {
      const double tick = c["ticks"][i];
      const auto got = value_at(*t, tick / 60);
      auto want = c["values"][i].get<std::vector<double>>();
      // Python knows nothing of a clip's flags: shown or not is all there is.
      if (channel == "visibility") want[0] = want[0] != 0 ? 1 : 0;
      for (std::size_t k = 0; k < want.size(); ++k) {
        EXPECT_NEAR(got[k], want[k], 2e-6 * std::max(1.0, std::abs(want[k])))
            << file << ' ' << c.at("target") << ' ' << channel << " at " << tick << " sign "
            << c.at("sign") << " literal " << c.at("literal");
        worst = std::max(worst, std::abs(got[k] - want[k]));
      }
      ++n;
    }
    channels.insert(channel);
    if (HasFailure()) return;
  }
  EXPECT_GT(n, 3000U);
  EXPECT_EQ(channels.size(), 4U + 6U);
  std::printf("%zu evaluations, off by up to %.2g\n", n, worst);
}

// Random quaternions: int16 in 1/2000 decodes to unit length, twelve bits without a sign do not.
TEST(TotemtechClip, QuaternionsAreSigned) {
  std::mt19937 random(2000);
  std::normal_distribution<double> normal;
  constexpr int count = 50000;
  struct Sum {
    double sum = 0, least = 10, most = 0;
    int near = 0;
    void add(double n) {
      sum += n;
      least = std::min(least, n);
      most = std::max(most, n);
      near += std::abs(n - 1) <= 0.002 ? 1 : 0;
    }
  } plain, masked, extended;
  for (int i = 0; i < count; ++i) {
    std::array<double, 4> q{};
    double square = 0;
    for (double& c : q) c = normal(random), square += c * c;
    double a = 0, b = 0, c = 0;
    for (const double x : q) {
      const int raw = static_cast<int>(std::lround(2000 * x / std::sqrt(square)));
      const int mask = raw & 0xFFF, sign = mask >= 0x800 ? mask - 0x1000 : mask;
      a += 0.0005 * raw * 0.0005 * raw;
      b += 0.0005 * mask * 0.0005 * mask;
      c += 0.0005 * sign * 0.0005 * sign;
    }
    plain.add(std::sqrt(a));
    masked.add(std::sqrt(b));
    extended.add(std::sqrt(c));
  }
  EXPECT_NEAR(plain.sum / count, 1, 1e-4);
  EXPECT_GT(plain.least, 0.9995);
  EXPECT_LT(plain.most, 1.0005);
  EXPECT_EQ(plain.near, count);
  EXPECT_NEAR(masked.sum / count, 2.351, 0.02);
  EXPECT_NEAR(masked.most, 3.66, 0.05);
  EXPECT_NEAR(masked.near / double{count}, 1.0 / 16, 0.006);
  EXPECT_EQ(extended.sum, plain.sum) << "the same for all that is legal";

  // What the codec makes of raw ones, up to length.
  const Clip clip = totemtech::to_clip(fixture("quaternions"));
  const auto value = [&](std::uint32_t id) { return value_at(*find(clip, id, "rotation"), 0); };
  const auto expect = [&](std::uint32_t id, std::vector<double> want) {
    const auto got = value(id);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(got[i], want[i], 1e-6) << id;
  };
  expect(500, {-0.5, -0.5, -0.5, 0.5});
  expect(501, {0, 0, -1, 0});
  expect(502, {-0.0005, 0, 0, 1});
  expect(503, {std::sqrt(0.5), 0, 0, std::sqrt(0.5)});
  const auto says = totemtech::check(fixture("quaternions"));
  EXPECT_TRUE(std::any_of(says.begin(), says.end(), [](const Finding& f) {
    return f.code == "tt-quaternion-range" && f.path == "nodes[5].rotation.keys[0].rotation";
  }));
}

TEST(TotemtechClip, StoredSlerpMeetsItsKeysAndTurnsEvenly) {
  std::mt19937 random(54);
  std::normal_distribution<float> normal;
  std::size_t flagged = 0;
  double worst = 0;
  for (int i = 0; i < 20000; ++i) {
    const auto unit = [&] {
      return normalize({normal(random), normal(random), normal(random), normal(random)});
    };
    Curve<Quat> c;
    c.interp = Interp::slerp_stored;
    c.times = {0, 1};
    c.values = {unit(), unit()};
    c.params = {totemtech::segment_params(c.values[0], c.values[1]), Params{}};
    flagged += c.params[0][0] > 6.2831855F ? 1 : 0;
    std::uint32_t hint = 0;
    const double u = i % 11 / 10.0;
    const Quat got = evaluate(c, u, hint), want = slerp(c.values[0], c.values[1], u);
    worst = std::max(worst, 1 - std::abs(double{dot(got, want)}));
    if (u == 0 || u == 1) {
      EXPECT_NEAR(std::abs(dot(got, c.values[static_cast<std::size_t>(u)])), 1, 1e-6);
    }
  }
  EXPECT_LT(worst, 5e-7);
  EXPECT_NEAR(static_cast<double>(flagged), 10000, 500);
  const Quat q = normalize({1, 2, 3, 4});
  EXPECT_EQ(totemtech::segment_params(q, q), (Params{0, 0}));
  EXPECT_EQ(totemtech::segment_params(q, {-q.x, -q.y, -q.z, -q.w}), (Params{0, 0}));
  const Params p = totemtech::segment_params({0, 0, 0, 1}, {0, 0, -0.00015F, -1});
  EXPECT_GT(p[0], 6.2831855F) << "never two pi itself";
}

TEST(TotemtechClip, TheOpenQuestionsAreFoundOut) {
  auto m = totemtech::meaning(fixture("walk_le"));
  EXPECT_EQ(m.frames_per_second, 60);
  EXPECT_EQ(m.tangent_sign, 1);
  EXPECT_FALSE(m.scale_first);
  EXPECT_EQ(totemtech::meaning(fixture("minus")).tangent_sign, -1);
  EXPECT_EQ(totemtech::meaning(fixture("30fps")).frames_per_second, 30);
  EXPECT_TRUE(totemtech::meaning(fixture("scale_first")).scale_first);
  m = totemtech::meaning(fixture("empty_be"));
  EXPECT_EQ(m.frames_per_second, 60);
  EXPECT_EQ(m.tangent_sign, 1);
  EXPECT_FALSE(m.scale_first);

  // By segments, where no key has both tangents.
  File f;
  f.length = 1;
  f.nodes.resize(1);
  auto& keys = f.nodes[0].t1.keys;
  keys = {{0, {0, 0, 0}, {}, {}}, {60, {100, 0, 0}, {-50, 0, 0}, {}}};
  EXPECT_EQ(totemtech::meaning(f).tangent_sign, -1);
  keys[1].tangent_in[0] = 50;
  EXPECT_EQ(totemtech::meaning(f).tangent_sign, 1);
  f.nodes[0].t1.interp = totemtech::hold_bit;  // nothing reads tangents there
  keys[1].tangent_in[0] = -50;
  EXPECT_EQ(totemtech::meaning(f).tangent_sign, 1);
  for (const auto& [frame, rate] :
       {std::pair{50, 50.0}, {25, 25.0}, {30, 30.0}, {60, 60.0}, {45, 60.0}, {120, 60.0}}) {
    keys[1].frame = static_cast<std::uint16_t>(frame);
    EXPECT_EQ(totemtech::meaning(f).frames_per_second, rate) << frame;
  }

  Options o;
  o.frames_per_second = 24;
  o.tangent_sign = totemtech::TangentSign::minus;
  o.track_order = totemtech::TrackOrder::scale_first;
  m = totemtech::meaning(fixture("walk_le"), o);
  EXPECT_EQ(m.frames_per_second, 24);
  EXPECT_EQ(m.tangent_sign, -1);
  EXPECT_TRUE(m.scale_first);
  const Clip clip = totemtech::to_clip(fixture("walk_le"), o);
  EXPECT_EQ(clip.tracks[0].channel, Channel::scale);
  EXPECT_EQ(std::get<Curve<Vec3>>(clip.tracks[0].curve).times.back(), 60.0 / 24);
}

TEST(TotemtechClip, EvidenceCounts) {
  const auto e = totemtech::evidence(fixture("slerps"));
  EXPECT_EQ(e.segments, 30U);
  EXPECT_GT(e.turned, 5U);
  EXPECT_GT(e.flagged, 3U);
  EXPECT_GT(e.still, 5U);
  EXPECT_EQ(e.rotation_keys, 36U);
  const auto w = totemtech::evidence(fixture("walk_be_junk"));
  EXPECT_EQ(w.last_frame, 60);
  EXPECT_EQ(w.agreeing, w.segments);
  EXPECT_LT(w.worst_angle, 0.002);
  EXPECT_LT(w.worst_product, 1e-5);
  EXPECT_EQ(w.message_ids.at(17), 1U);
  EXPECT_EQ(w.texts, 2U);
  EXPECT_EQ(w.node_flags.at(4), 1U);
  EXPECT_EQ(w.materials[6].values, 12U);
  EXPECT_EQ(w.materials[6].most, 1100);
  EXPECT_EQ(w.t3_median, 1000);
}

TEST(TotemtechClip, OptionsChangeWhatTheySay) {
  const File f = fixture("edges");
  Options o;
  const Clip plain = totemtech::to_clip(f, o);
  EXPECT_NEAR(value_at(*find(plain, 401, "translation"), 0)[1], 1.0, 1e-6);
  o.before_first = totemtech::BeforeFirst::last;
  const Clip last = totemtech::to_clip(f, o);
  EXPECT_TRUE(validate(last).empty());
  for (const char* channel : {"translation", "rotation"}) {
    const Track &a = *find(last, 401, channel), &b = *find(plain, 401, channel);
    EXPECT_EQ(value_at(a, 0.1), value_at(b, 1));
    EXPECT_EQ(value_at(a, 0.33), value_at(b, 1));
    EXPECT_EQ(value_at(a, 20.0 / 60), value_at(b, 20.0 / 60));
    EXPECT_EQ(value_at(a, 0.5), value_at(b, 0.5));
  }
  o = {};
  o.vector_scale = 1.0 / 4096;
  const Clip small = totemtech::to_clip(f, o);
  EXPECT_NEAR(value_at(*find(small, 400, "translation"), 0)[0], 500 / 4096.0, 1e-6);
  o = {};
  o.conjugate = true;
  const auto q = value_at(*find(plain, 401, "rotation"), 0.6);
  const Clip inverse = totemtech::to_clip(f, o);
  const auto r = value_at(*find(inverse, 401, "rotation"), 0.6);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(r[i], i < 3 ? -q[i] : q[i]);
  o = {};
  o.tangent_scale = 3;
  const Clip steep = totemtech::to_clip(f, o);
  const auto& c = std::get<Curve<Vec3>>(find(steep, 401, "translation")->curve);
  const auto& p = std::get<Curve<Vec3>>(find(plain, 401, "translation")->curve);
  EXPECT_NEAR(c.out[0].x, 3 * p.out[0].x, 1e-5);
}

TEST(TotemtechClip, NamesSkeletonsEventsAndMaterials) {
  Names names;
  for (const char* n : {"bip01", "EYES_CLOSED", "M_Eye", "TALK"}) names.add(n);
  Model model;
  model.nodes.resize(2);
  model.nodes[0].name = "Root";
  model.nodes[1].name = "Bip01 Head";
  model.nodes[1].parent = 0;
  const File f = fixture("walk_be_hdr");
  const Clip c = totemtech::to_clip(f, {}, model.nodes, &names, "walk");
  EXPECT_TRUE(validate(c).empty());
  ASSERT_EQ(c.nodes.size(), 5U);
  EXPECT_EQ(c.nodes[1].name, "Bip01 Head");
  EXPECT_EQ(c.nodes[1].parent, 0);
  EXPECT_EQ(c.nodes[2].name, "bip01");
  EXPECT_EQ(c.nodes[3].name, hash_text(hash_name(NameHash::totemtech, "BIP01 L CALF")));
  EXPECT_EQ(c.nodes[4].name, "EYES_CLOSED");
  EXPECT_EQ(c.end, 1);
  ASSERT_EQ(c.events.size(), 3U);
  EXPECT_EQ(c.events[0].time, 0.25);
  EXPECT_EQ(c.events[0].kind, "message_14");
  EXPECT_EQ(
      c.events[1].payload,
      R"({"node":"bip01","id":17,"param":1,"hint":"playcdsound","text":"SB_LAUGH01","name":"TALK"})");
  std::set<std::string> custom;
  for (const Track& t : c.tracks) {
    if (t.channel != Channel::custom) continue;
    custom.insert(t.name);
    EXPECT_THAT(t.properties, testing::Contains(Property{"tt_material", std::string("M_Eye")}));
  }
  EXPECT_EQ(custom, (std::set<std::string>{"track1", "track4", "track7", "track8"}));
  const auto findings = totemtech::check(f, {}, &model, &names);
  const auto count = [&](std::string_view code) {
    return std::count_if(findings.begin(), findings.end(),
                         [&](const Finding& x) { return x.code == code; });
  };
  EXPECT_EQ(count("tt-no-bone"), 2);
  EXPECT_EQ(count("tt-name-unknown"), 2);
}

// ---- writing

TEST(TotemtechWrite, AnUntouchedClipChangesNothing) {
  for (const auto& entry : support::read_json(support::fixture("totemtech.json"))) {
    const std::string name = entry.at("file");
    const Bytes bytes = support::read_bytes(support::fixture(name));
    File f = *totemtech::read(bytes);
    const auto losses = totemtech::from_clip(totemtech::to_clip(f), f);
    ASSERT_TRUE(losses) << name << to_string(losses.error());
    EXPECT_TRUE(losses->empty()) << name << (*losses)[0].text;
    EXPECT_EQ(*totemtech::write(f), bytes) << name;
  }
}

// A key of every track is changed; what comes back shows it, and all the rest is as it was.
TEST(TotemtechWrite, OneChangedKeyLeavesTheOthersAlone) {
  for (const char* name : {"walk_be_hdr_junk", "minus", "interps", "slerps"}) {
    const File base = fixture(name);
    const Clip clip = totemtech::to_clip(base);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
      Clip edited = clip;
      Track& t = edited.tracks[i];
      if (auto* v = std::get_if<Curve<Vec3>>(&t.curve))
        v->values[1] = v->values[1] + Vec3{0.1F, 0, 0};
      if (auto* f = std::get_if<Curve<float>>(&t.curve)) f->values[1] = 1 - f->values[1];
      if (auto* q = std::get_if<Curve<Quat>>(&t.curve))
        q->values[1] = normalize(q->values[1] * Quat{0.1F, 0.2F, 0, 1});
      File f = base;
      WriteOptions o;
      const auto losses = totemtech::from_clip(edited, f, o);
      ASSERT_TRUE(losses) << to_string(losses.error());
      EXPECT_FALSE(f == base) << name << ' ' << i;
      const auto bytes = totemtech::write(f);
      ASSERT_TRUE(bytes);
      EXPECT_EQ(bytes->size(), totemtech::write(base)->size());
      std::size_t differs = 0;
      const Bytes before = *totemtech::write(base);
      for (std::size_t k = 0; k < before.size(); ++k) differs += before[k] != (*bytes)[k] ? 1 : 0;
      EXPECT_LE(differs, 40U) << name << ' ' << i << ": a key, and the angle before it";
      Options fixed;
      fixed.frames_per_second = clip.frames_per_second;
      fixed.tangent_sign = totemtech::meaning(base).tangent_sign > 0
                               ? totemtech::TangentSign::plus
                               : totemtech::TangentSign::minus;
      const Clip back = totemtech::to_clip(f, fixed);
      for (double time = -0.1; time < 1.2; time += 0.013) {
        const auto want = value_at(t, time), got = value_at(back.tracks[i], time);
        // Angles of the edited clip are stale: those are compared at the keys.
        if (std::holds_alternative<Curve<Quat>>(t.curve)) continue;
        for (std::size_t k = 0; k < want.size(); ++k) EXPECT_NEAR(got[k], want[k], 6e-4);
      }
      if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
        const auto& r = std::get<Curve<Quat>>(back.tracks[i].curve);
        EXPECT_LT(angle_between(q->values[1], r.values[1]), 0.06);
        if (q->interp == Interp::slerp_stored) {
          const Params p = totemtech::segment_params(q->values[0], q->values[1]);
          EXPECT_EQ(r.params[0], p);
          EXPECT_EQ(r.params[3], q->params[3]);
        }
      }
      ++changed;
    }
    EXPECT_GT(changed, 5U);
  }
}

TEST(TotemtechWrite, OtherInterpolationsAreWrittenAsWhatTheyShow) {
  File base = fixture("walk_le");
  Clip clip = totemtech::to_clip(base);
  Curve<Vec3> line;
  line.interp = Interp::linear;
  line.times = {0, 0.5, 1};
  line.values = {{}, {1, 2, 3}, {1, 0, 0}};
  Curve<Vec3> bend = line;
  bend.interp = Interp::bezier;
  bend.in = {{}, {0.5F, 1, 2}, {1.5F, 0, 0}};
  bend.out = {{0.5F, 0, 0}, {1, 2, 4}, {}};
  Curve<Quat> turn;
  turn.interp = Interp::slerp_ease;
  turn.times = {0, 1};
  turn.values = {{}, {std::sin(0.6F), 0, 0, std::cos(0.6F)}};
  turn.params = {{0, 0.5F}, {0.5F, 0}};
  Curve<float> shown;
  shown.interp = Interp::step;
  shown.times = {0, 0.25};
  shown.values = {1, 0};
  Node extra;
  extra.name = "NEW BONE";
  clip.nodes.push_back(extra);
  const std::size_t node = clip.nodes.size() - 1;
  clip.tracks.push_back({node, Channel::translation, {}, line, {}});
  clip.tracks.push_back({node, Channel::scale, {}, bend, {}});
  clip.tracks.push_back({node, Channel::rotation, {}, turn, {}});
  clip.tracks.push_back({node, Channel::visibility, {}, shown, {}});
  for (const auto flags : {totemtech::Flags::recommended, totemtech::Flags::engine}) {
    File f = base;
    WriteOptions o;
    o.meaning.flags = flags;
    o.meaning.tangent_sign = totemtech::TangentSign::minus;
    Clip same_reading = totemtech::to_clip(base, o.meaning);
    same_reading.nodes = clip.nodes;
    same_reading.tracks.insert(same_reading.tracks.end(), clip.tracks.end() - 4, clip.tracks.end());
    const auto losses = totemtech::from_clip(same_reading, f, o);
    ASSERT_TRUE(losses) << to_string(losses.error());
    ASSERT_EQ(losses->size(), 2U);  // baking, and rounding
    ASSERT_EQ(f.nodes.size(), 4U);
    EXPECT_EQ(f.nodes[3].name, hash_name(NameHash::totemtech, "NEW BONE"));
    EXPECT_EQ(f.nodes[3].t1.interp, flags == totemtech::Flags::engine ? 1 : 2);
    EXPECT_EQ(f.meshes[1].visibility.interp, totemtech::hold_bit);
    EXPECT_TRUE(std::equal(base.nodes.begin(), base.nodes.end(), f.nodes.begin()));
    const Clip back = totemtech::to_clip(f, o.meaning, clip.nodes);
    EXPECT_TRUE(validate(back).empty());
    const auto compare_with = [&](Channel channel, const Track& want, double tolerance) {
      const auto got = std::find_if(back.tracks.begin(), back.tracks.end(), [&](const Track& t) {
        return t.target == node && t.channel == channel;
      });
      ASSERT_NE(got, back.tracks.end());
      for (double t = 0; t <= 1; t += 0.01) {
        const auto a = value_at(want, t), b = value_at(*got, t);
        for (std::size_t k = 0; k < a.size(); ++k)
          EXPECT_NEAR(a[k], b[k], tolerance) << name(channel) << " at " << t;
      }
    };
    for (std::size_t i = clip.tracks.size() - 4; i < clip.tracks.size(); ++i) {
      const Track& t = clip.tracks[i];
      compare_with(t.channel, t, 1.1e-3);
    }
  }
}

TEST(TotemtechWrite, SaysWhatDoesNotFit) {
  const File base = fixture("walk_le");
  const Clip clip = totemtech::to_clip(base);
  const auto with = [&](auto change, WriteOptions o = {}) {
    Clip c = clip;
    change(c);
    File f = base;
    auto r = totemtech::from_clip(c, f, o);
    EXPECT_TRUE(r || f == base) << "a failure leaves the base alone";
    return r;
  };
  const auto translation = static_cast<std::size_t>(
      std::find_if(clip.tracks.begin(), clip.tracks.end(),
                   [](const Track& t) { return t.channel == Channel::translation; }) -
      clip.tracks.begin());
  const auto too_far = [&](Clip& c) {
    std::get<Curve<Vec3>>(c.tracks[translation].curve).values[1].x = 40;
  };
  auto r = with(too_far);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::cannot_represent);
  EXPECT_THAT(r.error().text, testing::HasSubstr("32.767"));
  WriteOptions clamp;
  clamp.clamp = true;
  r = with(too_far, clamp);
  ASSERT_TRUE(r);
  EXPECT_THAT((*r)[0].text, testing::HasSubstr("clamped"));

  r = with(
      [&](Clip& c) { std::get<Curve<Vec3>>(c.tracks[translation].curve).times.back() = 1100; });
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().text, testing::HasSubstr("65535"));
  r = with([&](Clip& c) { std::get<Curve<Vec3>>(c.tracks[translation].curve).times[0] = -1; });
  ASSERT_FALSE(r);

  const auto says = [](const Result<std::vector<Loss>>& losses, std::string_view path) {
    return losses && std::any_of(losses->begin(), losses->end(),
                                 [&](const Loss& l) { return l.path == path; });
  };
  EXPECT_TRUE(says(with([](Clip& c) { c.events.clear(); }), "events"));
  EXPECT_TRUE(says(with([](Clip& c) { c.outside = Outside::wrap; }), "outside"));
  EXPECT_TRUE(says(with([](Clip& c) { c.frames_per_second = 24; }), "frames_per_second"));
  EXPECT_TRUE(says(with([](Clip& c) { c.start = -0.1; }), "start"));
  EXPECT_TRUE(says(with([](Clip& c) {
                     Track t;
                     t.channel = Channel::custom;
                     t.name = "track9";
                     Curve<float> k;
                     k.times = {0};
                     k.values = {1};
                     t.curve = k;
                     c.tracks.push_back(t);
                   }),
                   "materials[0].track9"));
  EXPECT_TRUE(says(with([](Clip& c) {
                     c.tracks.clear();
                     c.nodes.clear();
                   }),
                   "nodes"));

  // A track that is gone has no keys; the length follows the clip's end.
  File f = base;
  Clip c = clip;
  c.tracks.erase(c.tracks.begin() + static_cast<std::ptrdiff_t>(translation));
  c.end = 2;
  ASSERT_TRUE(totemtech::from_clip(c, f));
  EXPECT_TRUE(f.nodes[0].t1.keys.empty());
  EXPECT_FALSE(f.nodes[0].rotation.keys.empty());
  EXPECT_EQ(f.length, 2);
}

// ---- checks

TEST(TotemtechCheck, FindsWhatIsWrong) {
  std::set<std::string> codes;
  for (const Finding& f : totemtech::check(fixture("faults"))) {
    codes.insert(f.code);
    EXPECT_FALSE(f.text.empty()) << f.code;
  }
  for (const char* code :
       {"tt-length", "tt-flag", "tt-interp", "tt-frame-order", "tt-not-finite", "tt-large",
        "tt-quaternion-range", "tt-quaternion-length", "tt-omega-finite", "tt-sinom",
        "tt-omega-last", "tt-text-long", "tt-message-id", "tt-visibility", "tt-linear-tangents",
        "tt-name-twice", "tt-header-flag"}) {
    EXPECT_TRUE(codes.contains(code)) << code;
  }
  codes.clear();
  for (const char* name : {"edges", "slerps", "empty_be", "walk_le", "interps"}) {
    for (const Finding& f : totemtech::check(fixture(name))) codes.insert(f.code);
  }
  for (const char* code :
       {"tt-frame-twice", "tt-frame-outside", "tt-omega-zero", "tt-omega-sign", "tt-omega-angle",
        "tt-empty", "tt-frame-rate", "tt-tangent-sign", "tt-tangent-unit", "tt-track-order",
        "tt-vector-unit", "tt-interp-values", "tt-linear-keys", "tt-omega", "tt-quaternion-values",
        "tt-flag-values", "tt-material-values", "tt-message-values", "tt-text-end"}) {
    EXPECT_TRUE(codes.contains(code)) << code;
  }
}

TEST(TotemtechCheck, HasNothingAgainstAGoodFile) {
  for (const char* name : {"walk_le", "walk_be_hdr_junk", "minus", "30fps", "scale_first"}) {
    for (const Finding& f : totemtech::check(fixture(name)))
      EXPECT_EQ(f.level, Level::note) << name << ": " << f.code << ' ' << f.path << ' ' << f.text;
  }
}

// ---- skeletons

TEST(TotemtechSkeleton, IdsAreSolvedFromTheData) {
  Names names;
  for (const char* n : {"ROOT", "HIP", "KNEE", "ARM", "HAND"}) names.add(n);
  for (const auto& [file, name_column, parent_column] :
       {std::tuple{"skel_01234.bin", 0, 1}, {"skel_34210.bin", 4, 3}}) {
    Bytes bytes = support::read_bytes(support::fixture(file));
    const std::size_t size = bytes.size();
    const auto s = totemtech::read_skeleton(bytes, std::endian::big, &names);
    ASSERT_TRUE(s) << file << to_string(s.error());
    EXPECT_EQ(s->name_column, name_column) << file;
    EXPECT_EQ(s->parent_column, parent_column) << file;
    EXPECT_LT(s->worst_mm, 0.001);
    EXPECT_EQ(s->bytes, size);
    ASSERT_EQ(s->model.nodes.size(), 5U);
    EXPECT_EQ(s->model.nodes[2].name, "KNEE");
    EXPECT_EQ(s->model.nodes[2].parent, 1);
    EXPECT_EQ(s->model.nodes[3].parent, 0);
    EXPECT_EQ(s->model.nodes[0].parent, -1);
    bytes.resize(size + 100);  // a block stands inside a longer resource
    EXPECT_EQ(totemtech::read_skeleton(bytes, std::endian::big)->bytes, size);
    for (std::size_t cut = 0; cut < size; ++cut)
      EXPECT_FALSE(totemtech::read_skeleton(ByteView(bytes).first(cut), std::endian::big));
  }
  Bytes one = support::read_bytes(support::fixture("skel_01234.bin"));
  one[32] ^= std::byte{0xFF};  // the root's name: its children have lost their parent
  EXPECT_FALSE(totemtech::read_skeleton(one, std::endian::big));
  const auto none = totemtech::read_skeleton(Bytes(32), std::endian::big);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().text, "there are none");
}

}  // namespace
}  // namespace dopesheet
