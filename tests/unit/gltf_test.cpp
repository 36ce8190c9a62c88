// to_gltf, sampled frames and their text forms. The file is read back with another JSON library and
// played with the formulas of the glTF specification.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "dopesheet/export.hpp"

namespace dopesheet {
namespace {

using nlohmann::json;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

std::string text_of(ByteView b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

struct File {
  json root;
  Bytes buffer;

  const json& accessor(std::size_t i) const { return root.at("accessors").at(i); }
  std::size_t components(std::size_t i) const {
    const std::string type = accessor(i).at("type");
    return type == "SCALAR" ? 1 : type == "MAT4" ? 16 : static_cast<std::size_t>(type.back() - '0');
  }
  template <class T>
  std::vector<T> values(std::size_t i) const {
    const json& a = accessor(i);
    const std::size_t n = a.at("count").get<std::size_t>() * components(i);
    std::vector<T> out(n);
    if (!a.contains("bufferView")) return out;
    const json& v = root.at("bufferViews").at(a.at("bufferView").get<std::size_t>());
    const std::size_t in_view = a.value("byteOffset", std::size_t{0});
    const std::size_t at = v.value("byteOffset", std::size_t{0}) + in_view;
    EXPECT_LE(in_view + n * sizeof(T), v.at("byteLength").get<std::size_t>());
    EXPECT_LE(at + n * sizeof(T), buffer.size());
    if (at + n * sizeof(T) <= buffer.size())
      std::memcpy(out.data(), buffer.data() + at, n * sizeof(T));
    return out;
  }
  std::vector<float> floats(std::size_t i) const {
    EXPECT_EQ(accessor(i).at("componentType"), 5126);
    return values<float>(i);
  }

  const json& animation(std::size_t i = 0) const { return root.at("animations").at(i); }
  // Null where there is none.
  json channel(std::size_t node, const std::string& path, std::size_t clip = 0) const {
    for (const json& c : animation(clip).at("channels")) {
      if (c.at("target").at("node") == node && c.at("target").at("path") == path) return c;
    }
    return {};
  }
  const json& sampler(std::size_t node, const std::string& path, std::size_t clip = 0) const {
    return animation(clip)
        .at("samplers")
        .at(channel(node, path, clip).at("sampler").get<std::size_t>());
  }
  std::string kind(std::size_t node, const std::string& path, std::size_t clip = 0) const {
    return sampler(node, path, clip).at("interpolation");
  }
  std::vector<float> times(std::size_t node, const std::string& path, std::size_t clip = 0) const {
    return floats(sampler(node, path, clip).at("input"));
  }
  std::vector<float> output(std::size_t node, const std::string& path, std::size_t clip = 0) const {
    return floats(sampler(node, path, clip).at("output"));
  }

  // Appendix C of the glTF specification.
  std::vector<double> play(std::size_t node, const std::string& path, double time,
                           std::size_t clip = 0) const {
    const auto t = times(node, path, clip);
    const auto v = output(node, path, clip);
    const std::string how = kind(node, path, clip);
    const std::size_t parts = how == "CUBICSPLINE" ? 3 : 1, n = v.size() / t.size() / parts;
    const auto at = [&](std::size_t key, std::size_t part, std::size_t i) {
      return double{v[(key * parts + part) * n + i]};
    };
    const std::size_t value = parts / 2;
    std::vector<double> out(n);
    const auto next =
        std::upper_bound(t.begin(), t.end(), time, [](double a, float b) { return a < b; });
    const auto b = static_cast<std::size_t>(next - t.begin()), a = b - 1;
    if (b == 0 || b == t.size() || how == "STEP") {
      for (std::size_t i = 0; i < n; ++i) out[i] = at(b == 0 ? 0 : a, value, i);
      return out;
    }
    const double dt = double{t[b]} - t[a], u = (time - t[a]) / dt, u2 = u * u, u3 = u2 * u;
    double d = 0;
    for (std::size_t i = 0; i < n; ++i) d += at(a, value, i) * at(b, value, i);
    if (path == "rotation") {
      EXPECT_GE(d, 0) << "neighbours must be in one hemisphere";
    }
    const double angle = std::acos(std::min(std::abs(d), 1.0));
    for (std::size_t i = 0; i < n; ++i) {
      const double p = at(a, value, i), q = at(b, value, i);
      if (parts == 3) {
        out[i] = (2 * u3 - 3 * u2 + 1) * p + dt * (u3 - 2 * u2 + u) * at(a, 2, i) +
                 (3 * u2 - 2 * u3) * q + dt * (u3 - u2) * at(b, 0, i);
      } else if (path == "rotation" && angle > 1e-4) {
        out[i] = (std::sin((1 - u) * angle) * p + std::sin(u * angle) * (d < 0 ? -q : q)) /
                 std::sin(angle);
      } else {
        out[i] = p + u * (q - p);
      }
    }
    return out;
  }
};

File parse_glb(ByteView glb) {
  File f;
  const auto word = [&](std::size_t at) {
    std::uint32_t v = 0;
    if (at + 4 <= glb.size()) std::memcpy(&v, glb.data() + at, 4);
    return v;
  };
  EXPECT_EQ(text_of(glb.first(4)), "glTF");
  EXPECT_EQ(word(4), 2U);
  EXPECT_EQ(word(8), glb.size());
  const std::size_t length = word(12);
  EXPECT_EQ(length % 4, 0U);
  EXPECT_EQ(text_of(glb.subspan(16, 4)), "JSON");
  const std::string text = text_of(glb.subspan(20, length));
  f.root = json::parse(text);
  EXPECT_LT(text.size() - (text.find_last_not_of(' ') + 1), 4U);
  const std::size_t bin = 20 + length;
  if (bin == glb.size()) return f;
  EXPECT_EQ(word(bin) % 4, 0U);
  EXPECT_EQ(text_of(glb.subspan(bin + 4, 4)), std::string("BIN\0", 4));
  EXPECT_EQ(bin + 8 + word(bin), glb.size());
  f.buffer.assign(glb.begin() + static_cast<std::ptrdiff_t>(bin + 8), glb.end());
  return f;
}

// What holds for every file.
void check(const File& f) {
  for (const auto& [key, value] : f.root.items()) EXPECT_FALSE(value.empty()) << key;
  for (const json& a : f.root.value("animations", json::array())) {
    EXPECT_FALSE(a.at("channels").empty());
    for (const json& c : a.at("channels")) {
      const json& s = a.at("samplers").at(c.at("sampler").get<std::size_t>());
      const std::string path = c.at("target").at("path");
      const auto t = f.floats(s.at("input")), v = f.floats(s.at("output"));
      EXPECT_GE(t.at(0), 0);
      for (std::size_t i = 1; i < t.size(); ++i) EXPECT_LT(t[i - 1], t[i]);
      EXPECT_EQ(f.accessor(s.at("input")).at("min")[0].get<float>(), t.front());
      EXPECT_EQ(f.accessor(s.at("input")).at("max")[0].get<float>(), t.back());
      for (const float x : v) EXPECT_TRUE(std::isfinite(x));
      if (path != "rotation") continue;
      EXPECT_NE(s.at("interpolation"), "CUBICSPLINE");
      for (std::size_t i = 0; i + 3 < v.size(); i += 4) {
        const double norm = std::sqrt(double{v[i]} * v[i] + double{v[i + 1]} * v[i + 1] +
                                      double{v[i + 2]} * v[i + 2] + double{v[i + 3]} * v[i + 3]);
        EXPECT_NEAR(norm, 1, 1e-6);
        if (i < 4) continue;
        EXPECT_GE(double{v[i]} * v[i - 4] + double{v[i + 1]} * v[i - 3] +
                      double{v[i + 2]} * v[i - 2] + double{v[i + 3]} * v[i - 1],
                  0);
      }
    }
  }
  for (const json& n : f.root.value("nodes", json::array())) EXPECT_FALSE(n.contains("matrix"));
  for (const json& v : f.root.value("bufferViews", json::array())) {
    EXPECT_EQ(v.value("byteOffset", 0) % 4, 0);
  }
}

struct Exported : File {
  std::vector<GltfReport> reports;

  // Whether something was said about this path, in these words.
  testing::AssertionResult says(std::string_view path, std::string_view words = {},
                                std::size_t clip = 0) const {
    auto out = testing::AssertionFailure()
               << "no loss \"" << path << "\" with \"" << words << "\":";
    for (const Loss& l : reports.at(clip).losses) {
      if (l.path == path && l.text.find(words) != std::string::npos)
        return testing::AssertionSuccess();
      out << "\n  " << l.path << ": " << l.text;
    }
    return out;
  }
};

Exported exported(std::span<const Clip> clips, const Model* model = nullptr,
                  const GltfOptions& options = {}) {
  auto r = to_gltf(clips, model, options);
  Exported out;
  EXPECT_TRUE(r.has_value()) << to_string(r.error());
  if (!r) return out;
  static_cast<File&>(out) = parse_glb(r->file);
  out.reports = std::move(r->clips);
  check(out);
  return out;
}
Exported exported(const Clip& clip, const Model* model = nullptr, const GltfOptions& options = {}) {
  return exported(std::span(&clip, 1), model, options);
}

Node node(std::string name, int parent = -1, Transform rest = {}) {
  Node n;
  n.name = std::move(name);
  n.parent = parent;
  n.rest = rest;
  return n;
}

Clip clip_of(double start, double end, std::size_t nodes = 1) {
  Clip c;
  c.name = "clip";
  c.start = start;
  c.end = end;
  for (std::size_t i = 0; i < nodes; ++i) c.nodes.push_back(node("n" + std::to_string(i)));
  return c;
}

template <class T>
Curve<T> curve(Interp interp, std::vector<double> times, std::vector<T> values) {
  Curve<T> c;
  c.interp = interp;
  c.times = std::move(times);
  c.values = std::move(values);
  return c;
}
Curve<Vec3> cubic(Interp interp, std::vector<double> times, std::vector<Vec3> values,
                  std::vector<Vec3> in, std::vector<Vec3> out) {
  auto c = curve(interp, std::move(times), std::move(values));
  c.in = std::move(in);
  c.out = std::move(out);
  return c;
}
Track track(Channel channel, auto c, std::size_t target = 0) {
  Track t;
  t.target = target;
  t.channel = channel;
  t.curve = std::move(c);
  return t;
}
Quat about_z(double degrees) {
  const double half = degrees * 3.14159265358979 / 360;
  return {0, 0, static_cast<float>(std::sin(half)), static_cast<float>(std::cos(half))};
}
double z_degrees(const std::vector<double>& q) {
  return 2 * std::atan2(q[2], q[3]) * 57.29577951308232;
}

Clip with(Clip c, Track t) {
  c.tracks.push_back(std::move(t));
  return c;
}

void expect_list(const std::vector<float>& got, const std::vector<float>& want, float within = 0) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], within) << "at " << i;
}

// The uneven curve of several tests.
Curve<Vec3> uneven() {
  return cubic(Interp::bezier, {0, 0.1, 1}, {{0, 0, 0}, {1, 2, 0}, {4, -1, 3}},
               {{9, 9, 9}, {0.9F, 1.5F, 0}, {3, 0, 2}},
               {{0.2F, 0, 0}, {1.3F, 2.6F, 0.1F}, {8, 8, 8}});
}

// As the game shows it, at many times between start and end.
void expect_plays(const Exported& f, const Clip& clip, double within, std::size_t node = 0) {
  ASSERT_EQ(clip.tracks.size(), 1U);
  std::uint32_t hint = 0;
  for (int i = 0; i <= 500; ++i) {
    const double time = clip.start + (clip.end - clip.start) * i / 500;
    const auto at = [&](const auto& c) { return evaluate(c, time, hint); };
    if (const auto* v = std::get_if<Curve<Vec3>>(&clip.tracks[0].curve)) {
      const auto got = f.play(node, name(clip.tracks[0].channel), time - clip.start);
      const Vec3 want = at(*v);
      EXPECT_NEAR(got[0], want.x, within) << time;
      EXPECT_NEAR(got[1], want.y, within) << time;
      EXPECT_NEAR(got[2], want.z, within) << time;
    } else {
      const auto got = f.play(node, "rotation", time - clip.start);
      const Quat want = at(std::get<Curve<Quat>>(clip.tracks[0].curve));
      const double d = got[0] * want.x + got[1] * want.y + got[2] * want.z + got[3] * want.w;
      EXPECT_NEAR(std::abs(d), 1, within) << time;
    }
  }
}

// ---------------------------------------------------------------- curves

TEST(GltfCurve, BezierBecomesCubicWithDerivativesPerSecond) {
  const Clip c = with(clip_of(0, 1), track(Channel::translation, uneven()));
  const auto f = exported(c);
  EXPECT_EQ(f.kind(0, "translation"), "CUBICSPLINE");
  expect_list(f.times(0, "translation"), {0, 0.1F, 1});
  expect_list(f.output(0, "translation"),
              {0,          0,           0,          /**/ 0, 0,  0, /**/ 6, 0, 0,           //
               3,          15,          0,          /**/ 1, 2,  0, /**/ 1, 2, 0.3333333F,  //
               3.3333333F, -3.3333333F, 3.3333333F, /**/ 4, -1, 3, /**/ 0, 0, 0},
              1e-5F);
  expect_plays(f, c, 2e-6);
  EXPECT_EQ(f.reports[0].baked.tracks, 0U);
  EXPECT_TRUE(f.reports[0].losses.empty());
}

TEST(GltfCurve, HermiteKeepsItsDerivatives) {
  const Clip c =
      with(clip_of(2, 3),
           track(Channel::translation,
                 cubic(Interp::hermite, {2, 2.25, 3}, {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}},
                       {{7, 7, 7}, {4, 1, 0}, {-2, 0, 1}}, {{1, 2, 3}, {-4, 0, 5}, {7, 7, 7}})));
  const auto f = exported(c);
  expect_list(f.times(0, "translation"), {0, 0.25F, 1});
  expect_list(f.output(0, "translation"),
              {0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 1, 0, 1, 0, 0, -4, 0, 5, -2, 0, 1, 0, 1, 0, 0, 0, 0});
  expect_plays(f, c, 2e-6);
}

TEST(GltfCurve, ConstantBezierHasNoTangents) {
  const std::vector<Vec3> same(3, Vec3{5, -6, 7});
  const auto f = exported(with(
      clip_of(0, 2), track(Channel::scale, cubic(Interp::bezier, {0, 0.3, 2}, same, same, same))));
  const auto v = f.output(0, "scale");
  for (std::size_t i = 0; i < v.size(); i += 9) {
    for (const std::size_t tangent : {i, i + 6}) {
      EXPECT_EQ(v[tangent], 0);
      EXPECT_EQ(v[tangent + 1], 0);
      EXPECT_EQ(v[tangent + 2], 0);
    }
  }
}

// A key far out leads the curve beyond the range; the motion inside must stay.
TEST(GltfCurve, CutsBezierAtStartAndEnd) {
  const Clip c = with(clip_of(0.04, 0.7), track(Channel::translation, uneven()));
  const auto f = exported(c);
  const auto t = f.times(0, "translation");
  expect_list(t, {0, static_cast<float>(0.1 - 0.04), static_cast<float>(0.7 - 0.04)});
  const auto v = f.output(0, "translation");
  std::uint32_t hint = 0;
  const Vec3 first = evaluate(uneven(), 0.04, hint), last = evaluate(uneven(), 0.7, hint);
  expect_list({v.begin() + 3, v.begin() + 6}, {first.x, first.y, first.z});
  expect_list({v.end() - 6, v.end() - 3}, {last.x, last.y, last.z});
  expect_plays(f, c, 3e-6);
}

TEST(GltfCurve, CutsInsideOneSegment) {
  for (const Interp interp : {Interp::bezier, Interp::hermite, Interp::linear, Interp::step}) {
    auto k = uneven();
    k.interp = interp;
    if (interp == Interp::linear || interp == Interp::step) k.in = k.out = {};
    const Clip c = with(clip_of(0.3, 0.5), track(Channel::translation, k));
    const auto f = exported(c);
    expect_list(f.times(0, "translation"), {0, static_cast<float>(0.5 - 0.3)});
    expect_plays(f, c, 2e-6);
  }
}

TEST(GltfCurve, CutsRotations) {
  const Clip c = with(
      clip_of(-0.5, 1.7),
      track(Channel::rotation,
            curve<Quat>(Interp::linear, {-1, 0, 2}, {about_z(0), about_z(120), about_z(280)})));
  const auto f = exported(c);
  expect_list(f.times(0, "rotation"), {0, 0.5F, 2.2F});
  EXPECT_NEAR(z_degrees(f.play(0, "rotation", 0)), 60, 1e-4);
  expect_plays(f, c, 1e-7);
}

TEST(GltfCurve, HoldsWhenAllKeysAreOutside) {
  const auto late = track(Channel::translation, cubic(Interp::bezier, {5, 6},
                                                      {{1, 2, 3}, {4, 5, 6}}, {{}, {}}, {{}, {}}));
  auto early = late;
  early.target = 1;
  std::get<Curve<Vec3>>(early.curve).times = {-6, -5};
  Clip c = clip_of(0, 1, 3);
  c.tracks = {late, early,
              track(Channel::translation, curve<Vec3>(Interp::linear, {0, 1}, {{}, {1, 0, 0}}), 2)};
  const auto f = exported(c);
  EXPECT_EQ(f.kind(0, "translation"), "LINEAR");
  expect_list(f.output(0, "translation"), {1, 2, 3});
  expect_list(f.output(1, "translation"), {4, 5, 6});
}

TEST(GltfCurve, StepStaysStep) {
  Clip c = clip_of(0, 1);
  c.tracks = {
      track(Channel::translation,
            curve<Vec3>(Interp::step, {0, 0.5, 1}, {{1, 0, 0}, {2, 0, 0}, {3, 0, 0}})),
      track(Channel::rotation, curve<Quat>(Interp::step, {0, 0.5}, {about_z(0), about_z(90)}))};
  const auto f = exported(c);
  EXPECT_EQ(f.kind(0, "translation"), "STEP");
  EXPECT_EQ(f.kind(0, "rotation"), "STEP");
  expect_list(f.times(0, "translation"), {0, 0.5F, 1});
}

TEST(GltfCurve, JumpKeepsBothKeys) {
  const auto k = curve<Vec3>(Interp::linear, {0, 0.5, 0.5, 0.5, 1},
                             {{0, 0, 0}, {1, 0, 0}, {9, 9, 9}, {5, 0, 0}, {6, 0, 0}});
  const auto f = exported(with(clip_of(0, 1), track(Channel::translation, k)));
  expect_list(f.times(0, "translation"), {0, std::nextafter(0.5F, 0.F), 0.5F, 1});
  expect_list(f.output(0, "translation"), {0, 0, 0, 1, 0, 0, 5, 0, 0, 6, 0, 0});
}

TEST(GltfCurve, JumpAtTheEndStaysInside) {
  const auto k = curve<Vec3>(Interp::linear, {0, 1, 1}, {{0, 0, 0}, {1, 0, 0}, {5, 0, 0}});
  const auto f = exported(with(clip_of(0, 1), track(Channel::translation, k)));
  expect_list(f.times(0, "translation"), {0, std::nextafter(1.F, 0.F), 1});
  expect_list(f.output(0, "translation"), {0, 0, 0, 1, 0, 0, 5, 0, 0});
}

TEST(GltfCurve, CrowdBeforeTheEndStaysInside) {
  const float a = std::nextafter(1.F, 0.F), b = std::nextafter(a, 0.F);
  const auto k = curve<Vec3>(Interp::linear, {0, a, 1, 1}, {{}, {1, 0, 0}, {2, 0, 0}, {5, 0, 0}});
  const auto f = exported(with(clip_of(0, 1), track(Channel::translation, k)));
  expect_list(f.times(0, "translation"), {0, b, a, 1});
  expect_list(f.output(0, "translation"), {0, 0, 0, 1, 0, 0, 2, 0, 0, 5, 0, 0});
}

TEST(GltfCurve, JumpAtTheStartIsOver) {
  const auto k =
      curve<Vec3>(Interp::linear, {-1, 0, 0, 1}, {{0, 0, 0}, {1, 0, 0}, {5, 0, 0}, {6, 0, 0}});
  const auto f = exported(with(clip_of(0, 1), track(Channel::translation, k)));
  expect_list(f.times(0, "translation"), {0, 1});
  expect_list(f.output(0, "translation"), {5, 0, 0, 6, 0, 0});
}

TEST(GltfCurve, JumpOfACubicHasTangentsOnBothSidesOnly) {
  const auto k =
      cubic(Interp::hermite, {0, 1, 1, 2}, {{0, 0, 0}, {1, 0, 0}, {5, 0, 0}, {6, 0, 0}},
            {{}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, {{4, 4, 4}, {5, 5, 5}, {6, 6, 6}, {}});
  const auto f = exported(with(clip_of(0, 2), track(Channel::translation, k)));
  expect_list(f.output(0, "translation"), {0, 0, 0, 0, 0, 0, 4, 4, 4,  //
                                           1, 1, 1, 1, 0, 0, 0, 0, 0,  //
                                           0, 0, 0, 5, 0, 0, 6, 6, 6,  //
                                           3, 3, 3, 6, 0, 0, 0, 0, 0},
              1e-6F);
}

// 1000 s in, keys 10 us apart are one time as floats.
TEST(GltfCurve, KeysThatRoundTogether) {
  const auto k = curve<Vec3>(Interp::linear, {0, 1000, 1000.00001, 1001},
                             {{0, 0, 0}, {1, 0, 0}, {1, 1e-7F, 0}, {2, 0, 0}});
  const auto f = exported(with(clip_of(0, 1001), track(Channel::translation, k)));
  expect_list(f.times(0, "translation"), {0, 1000, 1001});
  expect_list(f.output(0, "translation"), {0, 0, 0, 1, 1e-7F, 0, 2, 0, 0});
}

// The time between two keys as floats is not what it was: the tangents make up for it.
TEST(GltfCurve, TangentsFitTheRoundedTimes) {
  const double t = 1000.00003, dt = 0.0001;
  const auto k = cubic(Interp::bezier, {0, t, t + dt}, {{0, 0, 0}, {0, 0, 0}, {1, 0, 0}},
                       {{}, {}, {0.5F, 0, 0}}, {{}, {0.25F, 0, 0}, {}});
  const auto f = exported(with(clip_of(0, t + dt), track(Channel::translation, k)));
  const auto times = f.times(0, "translation"), v = f.output(0, "translation");
  const float written = times[2] - times[1];
  EXPECT_GT(std::abs(written - dt), 1e-6);
  EXPECT_NEAR(v[9 + 6] * written, 3 * 0.25, 1e-6);
  EXPECT_NEAR(v[18] * written, 3 * 0.5, 1e-6);
}

TEST(GltfCurve, HemispheresAreContinuous) {
  std::vector<double> times;
  std::vector<Quat> values;
  for (int i = 0; i <= 36; ++i) {  // three and a half turns, every other key negated
    times.push_back(i / 10.0);
    Quat q = about_z(35.0 * i);
    if (i % 2 == 1) q = {-q.x, -q.y, -q.z, -q.w};
    values.push_back(q);
  }
  const Clip c =
      with(clip_of(0, 3.6), track(Channel::rotation, curve(Interp::linear, times, values)));
  const auto f = exported(c);  // check() looks at the signs
  EXPECT_EQ(f.times(0, "rotation").size(), 37U);
  double total = 0;
  for (int i = 1; i <= 360; ++i) {
    double d = z_degrees(f.play(0, "rotation", i / 100.0)) -
               z_degrees(f.play(0, "rotation", (i - 1) / 100.0));
    while (d > 180) d -= 360;
    while (d < -180) d += 360;
    total += d;
  }
  EXPECT_NEAR(total, 36 * 35, 0.01);
}

TEST(GltfCurve, RotationsAreOfUnitLength) {
  for (const float s : {0.9997F, 1 - 5e-6F}) {
    Clip c = clip_of(0, 1);
    c.nodes[0].rest.rotation = {0, 0, 3, 4};
    c.tracks = {track(Channel::rotation, curve<Quat>(Interp::linear, {0, 1},
                                                     {{0, 0, 0, s}, {0, 0, s * 0.6F, s * 0.8F}}))};
    const auto f = exported(c);
    expect_list(f.output(0, "rotation"), {0, 0, 0, 1, 0, 0, 0.6F, 0.8F}, 1e-7F);
    EXPECT_EQ(f.root["nodes"][0]["rotation"], json({0, 0, 0.6, 0.8}));
  }
}

TEST(GltfCurve, EasesAreBakedAndReported) {
  auto k = curve<Quat>(Interp::slerp_ease, {0, 1}, {about_z(0), about_z(90)});
  k.params = {{0, 1}, {0, 0}};
  const Clip c = with(clip_of(0, 1), track(Channel::rotation, k));
  const auto f = exported(c);
  EXPECT_EQ(f.kind(0, "rotation"), "LINEAR");
  EXPECT_EQ(f.reports[0].baked.tracks, 1U);
  EXPECT_EQ(f.reports[0].baked.keys_before, 2U);
  EXPECT_EQ(f.reports[0].baked.keys_after, f.times(0, "rotation").size());
  EXPECT_GT(f.reports[0].baked.error.max_degrees, 0);
  EXPECT_LE(f.reports[0].baked.error.max_degrees, 0.05);
  EXPECT_NEAR(z_degrees(f.play(0, "rotation", 0.5)), 90 * 0.25, 0.06);  // not the 45 of a slerp
  EXPECT_TRUE(f.reports[0].baked.clip.tracks.empty());
}

TEST(GltfCurve, BakesWhatTheCallerDoesNotKeep) {
  GltfOptions o;
  o.bake.rate = 10;
  o.bake.keep_vectors = {};
  o.bake.keep_rotations = {Interp::nlerp};  // which glTF cannot hold, asked for or not
  Clip c = with(clip_of(0, 1), track(Channel::translation, uneven()));
  c.tracks.push_back(
      track(Channel::rotation, curve<Quat>(Interp::nlerp, {0, 1}, {about_z(0), about_z(90)})));
  const auto f = exported(c, nullptr, o);
  EXPECT_EQ(f.kind(0, "translation"), "LINEAR");
  EXPECT_EQ(f.times(0, "translation").size(), 11U);
  EXPECT_EQ(f.times(0, "rotation").size(), 11U);
}

TEST(GltfCurve, MirrorsLeftHandedClips) {
  Clip c = clip_of(0, 1);
  c.space = Space::left_handed;
  c.nodes[0].rest = {{1, 2, 3}, {0.5F, 0.5F, 0.5F, 0.5F}, {1, 1, 1}};
  c.tracks = {
      track(Channel::translation, cubic(Interp::bezier, {0, 1}, {{1, 2, 3}, {2, 3, 4}},
                                        {{}, {2, 2, 2}}, {{1, 1, 1}, {}})),
      track(Channel::rotation, curve<Quat>(Interp::linear, {0}, {{0.5F, 0.5F, 0.5F, 0.5F}}))};
  const auto f = exported(c);
  EXPECT_EQ(f.root["nodes"][0]["translation"], json({-1, 2, 3}));
  EXPECT_EQ(f.root["nodes"][0]["rotation"], json({0.5, -0.5, -0.5, 0.5}));
  expect_list(f.output(0, "rotation"), {0.5F, -0.5F, -0.5F, 0.5F});
  expect_list(f.output(0, "translation"),
              {0, 0, 0, -1, 2, 3, 0, -3, -6, 0, 3, 6, -2, 3, 4, 0, 0, 0}, 1e-6F);
}

TEST(GltfCurve, OneKey) {
  Clip c = clip_of(1, 3, 2);
  c.tracks = {track(Channel::translation, cubic(Interp::bezier, {2}, {{1, 2, 3}}, {{}}, {{}})),
              track(Channel::rotation, curve<Quat>(Interp::step, {1}, {about_z(30)}), 1),
              track(Channel::translation, curve<Vec3>(Interp::linear, {1, 3}, {{}, {1, 1, 1}}), 1)};
  const auto f = exported(c);
  EXPECT_EQ(f.kind(0, "translation"), "LINEAR");
  expect_list(f.times(0, "translation"), {1});
  expect_list(f.output(0, "translation"), {1, 2, 3});
  EXPECT_EQ(f.kind(1, "rotation"), "LINEAR");
  expect_list(f.times(1, "rotation"), {0});
}

TEST(GltfCurve, LastsAsLongAsTheClip) {
  Clip c = clip_of(1, 3, 2);
  c.tracks = {track(Channel::translation, curve<Vec3>(Interp::linear, {1}, {{1, 2, 3}})),
              track(Channel::translation,
                    cubic(Interp::hermite, {1, 2}, {{0, 0, 0}, {1, 0, 0}}, {{5, 5, 5}, {1, 1, 1}},
                          {{2, 2, 2}, {6, 6, 6}}),
                    1)};
  const auto f = exported(c);
  expect_list(f.times(0, "translation"), {0});
  expect_list(f.times(1, "translation"), {0, 1, 2});
  expect_list(f.output(1, "translation"),
              {0, 0, 0, 0, 0, 0, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0});
}

TEST(GltfCurve, ZeroDuration) {
  for (const Interp interp : {Interp::bezier, Interp::linear, Interp::step}) {
    auto k = uneven();
    k.interp = interp;
    if (interp != Interp::bezier) k.in = k.out = {};
    const Clip c = with(clip_of(0.55, 0.55), track(Channel::translation, k));
    const auto f = exported(c);
    std::uint32_t hint = 0;
    const Vec3 v = evaluate(k, 0.55, hint);
    EXPECT_EQ(f.kind(0, "translation"), "LINEAR");
    expect_list(f.times(0, "translation"), {0});
    expect_list(f.output(0, "translation"), {v.x, v.y, v.z});
  }
}

TEST(GltfCurve, TimesAreExactFrames) {
  std::vector<double> times;
  std::vector<Vec3> values;
  for (int i = 0; i <= 10000; ++i) {
    times.push_back((160 + 160.0 * i) / 4800);
    values.push_back({static_cast<float>(i % 7), 0, 0});
  }
  const auto f = exported(with(clip_of(160 / 4800.0, times.back()),
                               track(Channel::translation, curve(Interp::linear, times, values))));
  const auto t = f.times(0, "translation");
  ASSERT_EQ(t.size(), 10001U);
  for (std::size_t i = 0; i < t.size(); ++i)
    EXPECT_EQ(t[i], static_cast<float>(static_cast<double>(i) / 30)) << i;
}

// ---------------------------------------------------------------- what cannot be

TEST(GltfRepair, DropsKeysThatAreNotFinite) {
  Clip c = clip_of(0, 1, 3);
  c.tracks = {track(Channel::translation,
                    curve<Vec3>(Interp::linear, {0, 0.5, 1}, {{0, 0, 0}, {nan, 0, 0}, {1, 0, 0}})),
              track(Channel::rotation,
                    curve<Quat>(Interp::linear, {0, 1}, {{0, 0, 0, 0}, {0, nan, 0, 1}}), 1),
              track(Channel::translation,
                    cubic(Interp::bezier, {0, 1}, {{1, 1, 1}, {2, 2, 2}}, {{}, {0, infinity, 0}},
                          {{1, 1, 1}, {}}),
                    2)};
  const auto f = exported(c);
  expect_list(f.output(0, "translation"), {0, 0, 0, 1, 0, 0});
  EXPECT_TRUE(f.says("tracks[0].curve.values[1]", "not finite"));
  EXPECT_TRUE(f.channel(1, "rotation").is_null());
  EXPECT_TRUE(f.says("tracks[1].curve", "rest pose"));
  EXPECT_EQ(f.output(2, "translation")[9], 0);  // a flat handle
  EXPECT_TRUE(f.says("tracks[2].curve.in[1]"));
}

TEST(GltfRepair, NothingIsLeft) {
  const auto f = exported(
      with(clip_of(0, 1),
           track(Channel::translation, curve<Vec3>(Interp::linear, {0, nan}, {{nan, 0, 0}, {}}))));
  EXPECT_FALSE(f.root.contains("animations"));
  EXPECT_FALSE(f.root.contains("buffers"));
  EXPECT_TRUE(f.says("tracks[0].curve.values[0]", "this key and 1 more"));
  EXPECT_TRUE(f.says("tracks", "no animation without channels"));
}

TEST(GltfRepair, BrokenParametersOfEases) {
  auto k = curve<Quat>(Interp::slerp_ease, {0, 1}, {about_z(0), about_z(90)});
  k.params = {{0, nan}, {infinity, 0}};
  const auto f = exported(with(clip_of(0, 1), track(Channel::rotation, k)));
  EXPECT_NEAR(z_degrees(f.play(0, "rotation", 0.25)), 22.5, 0.06);
}

// The stored angle belongs to a segment that is no more.
TEST(GltfRepair, StoredSlerpAfterADroppedKey) {
  auto k = curve<Quat>(Interp::slerp_stored, {0, 1, 2}, {about_z(0), {nan, 0, 0, 0}, about_z(90)});
  const float omega = 0.1F;
  k.params = {{omega, 1 / std::sin(omega)}, {omega, 1 / std::sin(omega)}, {0, 0}};
  const auto f = exported(with(clip_of(0, 2), track(Channel::rotation, k)));
  EXPECT_NEAR(z_degrees(f.play(0, "rotation", 0.5)), 22.5, 0.06);
}

TEST(GltfRepair, BrokenTracks) {
  Clip c = clip_of(0, 1, 2);
  const auto good = curve<Vec3>(Interp::linear, {0, 1}, {{}, {1, 1, 1}});
  auto short_values = good;
  short_values.values.pop_back();
  auto backwards =
      curve<Vec3>(Interp::linear, {0, 0.6, 0.4, 1}, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {3, 0, 0}});
  Track custom = track(Channel::custom, curve<float>(Interp::linear, {0}, {1}));
  custom.name = "field \xff view";
  c.tracks = {track(Channel::translation, short_values),
              track(Channel::translation, good, 7),
              track(Channel::rotation, good),
              custom,
              track(Channel::scale, backwards),
              track(Channel::translation, curve<Vec3>(Interp::linear, {0}, {{5, 5, 5}}), 1),
              track(Channel::translation, good, 1),
              track(Channel::weight, curve<float>(Interp::linear, {0}, {1})),
              track(Channel::scale, curve<Vec3>(Interp::linear, {}, {}), 1)};
  const auto f = exported(c);
  EXPECT_EQ(f.animation()["channels"].size(), 2U);
  EXPECT_TRUE(f.says("tracks[0].curve", "differ in length"));
  EXPECT_TRUE(f.says("tracks[1].target", "node 7"));
  EXPECT_TRUE(f.says("tracks[2].curve", "does not fit"));
  EXPECT_FALSE(f.says("tracks[3]"));
  EXPECT_EQ(f.animation()["extras"]["dopesheet_tracks"][0]["name"], "field \\xff view");
  EXPECT_TRUE(f.says("tracks[4].curve.values[2]", "out of order"));
  expect_list(f.output(0, "scale"), {0, 0, 0, 1, 0, 0, 3, 0, 0});
  EXPECT_TRUE(f.says("tracks[5]", "second translation track"));
  expect_list(f.output(1, "translation"), {0, 0, 0, 1, 1, 1});
  EXPECT_TRUE(f.says("tracks[7].target", "morph target 0"));
  EXPECT_TRUE(f.says("tracks[8].curve"));
}

TEST(GltfRepair, BrokenRanges) {
  const auto k = curve<Vec3>(Interp::linear, {0, 1}, {{}, {1, 1, 1}});
  const double inf = std::numeric_limits<double>::infinity();
  for (const auto& [start, end] :
       {std::pair{1.0, 0.0}, {inf, 1.0}, {0.0, inf}, {-1e300, 1e300}, {double{nan}, double{nan}}}) {
    const auto f = exported(with(clip_of(start, end), track(Channel::translation, k)));
    EXPECT_EQ(f.times(0, "translation").size(), 1U);
    EXPECT_TRUE(f.says("end"));
  }
}

TEST(GltfRepair, RestPosesAndProperties) {
  Clip c = with(clip_of(0, 1), track(Channel::translation, curve<Vec3>(Interp::linear, {0}, {{}})));
  c.nodes[0].rest = {{nan, 0, 0}, {0, 0, infinity, 0}, {1, nan, 1}};
  c.nodes[0].properties = {{"a", nan},
                           {"b", std::vector<float>{1, infinity}},
                           {"a", std::int64_t{2}},
                           {"dopesheet_node", std::int64_t{77}},
                           {"k\xff", std::string("v\xfe")}};
  const auto f = exported(c);
  const json& n = f.root["nodes"][0];
  for (const char* key : {"translation", "rotation", "scale"}) EXPECT_FALSE(n.contains(key));
  EXPECT_TRUE(f.says("nodes[0].rest.translation"));
  EXPECT_TRUE(f.says("nodes[0].rest.rotation"));
  EXPECT_TRUE(f.says("nodes[0].rest.scale"));
  EXPECT_EQ(n["extras"]["a"], "f32:7fc00000");
  EXPECT_EQ(n["extras"]["b"], json({1, "f32:7f800000"}));
  EXPECT_EQ(n["extras"]["dopesheet_node"], 0);
  EXPECT_EQ(n["extras"]["k\\xff"], "v\\xfe");
  EXPECT_TRUE(f.says("nodes[0].properties.a", "taken"));
  EXPECT_TRUE(f.says("nodes[0].properties.dopesheet_node", "taken"));
}

TEST(GltfRepair, ParentsThatCannotBe) {
  Clip c =
      with(clip_of(0, 1, 5), track(Channel::translation, curve<Vec3>(Interp::linear, {0}, {{}})));
  const int parents[] = {1, 0, 2, 99, -7};
  for (std::size_t i = 0; i < 5; ++i) c.nodes[i].parent = parents[i];
  const auto f = exported(c);
  std::vector<int> seen(5);
  for (const json& r : f.root["scenes"][0]["nodes"]) ++seen[r.get<std::size_t>()];
  for (const json& n : f.root["nodes"]) {
    for (const json& child : n.value("children", json::array())) ++seen[child.get<std::size_t>()];
  }
  EXPECT_EQ(seen, std::vector<int>(5, 1));  // a forest
  EXPECT_EQ(f.root["scenes"][0]["nodes"].size(), 4U);
  EXPECT_TRUE(f.says("nodes[3].parent", "99"));
  EXPECT_TRUE(f.says("nodes[4].parent", "-7"));
}

TEST(GltfRepair, LimitsAreErrors) {
  const Clip big = with(clip_of(0, 1, 3),
                        track(Channel::translation, curve<Vec3>(Interp::linear, {0, 1}, {{}, {}})));
  const std::vector<Clip> clips{clip_of(0, 1, 2), big};
  Model model;
  model.nodes = clips[0].nodes;
  auto r = to_gltf(clips, &model);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().code, Code::cannot_represent);
  EXPECT_EQ(r.error().path, "clips[1].nodes");
  GltfOptions o;
  o.bake.limits.bytes = 20;
  r = to_gltf(std::span(&big, 1), nullptr, o);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().code, Code::limit);
}

// ---------------------------------------------------------------- nodes and animations

TEST(GltfFile, WithoutAnything) {
  const auto f = exported(std::span<const Clip>());
  EXPECT_EQ(f.root, json::parse(R"({"asset":{"version":"2.0","generator":"dopesheet"}})"));
  EXPECT_TRUE(f.buffer.empty());
  const auto g = exported(clip_of(0, 1, 0));
  EXPECT_EQ(g.root, f.root);
  EXPECT_TRUE(g.says("tracks"));
}

TEST(GltfFile, NodesWithoutAModel) {
  Clip c = clip_of(0, 1, 0);
  c.nodes = {node("child\xff", 1, {{1, 2, 3}, {0, 0, 0.6F, 0.8F}, {1, 1, 1}}),
             node("Bip01 L Thigh"), node("", 1)};
  c.nodes[1].properties = {{"rf_type", std::string("bone")}, {"rf_bone_index", std::int64_t{1}}};
  c.nodes[1].rest.scale = {2, 2, 2};
  const auto f = exported(c);
  const json& n = f.root["nodes"];
  EXPECT_EQ(n[0], json({{"name", "child\\xff"},
                        {"translation", {1, 2, 3}},
                        {"rotation", {0, 0, 0.6, 0.8}},
                        {"extras", {{"dopesheet_node", 0}}}}));
  EXPECT_EQ(n[1],
            json({{"name", "Bip01 L Thigh"},
                  {"scale", {2, 2, 2}},
                  {"children", {0, 2}},
                  {"extras", {{"rf_type", "bone"}, {"rf_bone_index", 1}, {"dopesheet_node", 1}}}}));
  EXPECT_EQ(n[2], json({{"extras", {{"dopesheet_node", 2}}}}));
  EXPECT_EQ(f.root["scenes"], json::parse(R"([{"nodes":[1]}])"));
  EXPECT_EQ(unescape_name(n[0]["name"].get<std::string>()), "child\xff");
}

TEST(GltfFile, AnimationsKeepOrderAndExtras) {
  Clip a = clip_of(0.5, 1.5, 2), b = clip_of(0, 0.25, 1);
  a.name = "walk\xff";
  a.frames_per_second = 24;
  a.properties = {
      {"rf_start_time", std::int64_t{2400}}, {"rf_pos_reduction", 0.1F}, {"dopesheet_end", 1.F}};
  a.events = {{0.75, "step", "left\n"}};
  const auto v = curve<Vec3>(Interp::linear, {0.5, 1.5}, {{}, {1, 1, 1}});
  const auto q = curve<Quat>(Interp::linear, {0.5, 1.5}, {{}, about_z(10)});
  a.tracks = {track(Channel::scale, v, 1), track(Channel::rotation, q, 1),
              track(Channel::translation, v, 1), track(Channel::scale, v)};
  a.tracks[1].properties = {{"rf_weight", 10.F}};
  b.tracks = {track(Channel::rotation, curve<Quat>(Interp::linear, {0, 0.25}, {{}, about_z(10)}))};
  const auto f = exported(std::vector{a, clip_of(0, 1, 1), b});
  ASSERT_EQ(f.root["animations"].size(), 2U);
  EXPECT_EQ(f.animation(0)["name"], "walk\\xff");
  EXPECT_EQ(f.animation(1)["name"], "clip");
  std::vector<std::string> order;
  for (const json& c : f.animation(0)["channels"]) {
    order.push_back(c["target"]["node"].dump() + c["target"]["path"].get<std::string>());
  }
  EXPECT_EQ(order, (std::vector<std::string>{"0scale", "1translation", "1rotation", "1scale"}));
  EXPECT_EQ(f.channel(1, "rotation")["extras"], json({{"rf_weight", 10}}));
  EXPECT_FALSE(f.channel(0, "scale").contains("extras"));
  EXPECT_EQ(
      f.animation(0)["extras"],
      json::parse(
          R"({"rf_start_time":2400,"rf_pos_reduction":0.1,"dopesheet_start":0.5,"dopesheet_end":1.5,
                            "dopesheet_fps":24,
                            "dopesheet_events":[{"time":0.75,"kind":"step","payload":"left\\x0a"}]})"));
  EXPECT_TRUE(f.says("tracks", "no animation without channels", 1));
  EXPECT_TRUE(f.says("clip.properties.dopesheet_end", "taken"));
}

TEST(GltfFile, EqualTimesShareAnAccessor) {
  Clip c = clip_of(0, 1, 3);
  const auto v = curve<Vec3>(Interp::linear, {0, 0.5, 1}, {{}, {1, 1, 1}, {}});
  c.tracks = {track(Channel::translation, v), track(Channel::scale, v, 1),
              track(Channel::translation, curve<Vec3>(Interp::linear, {0, 1}, {{}, {}}), 2)};
  const auto f = exported(std::vector{c, c});
  const auto input = [&](std::size_t n, const char* path, std::size_t clip) {
    return f.sampler(n, path, clip)["input"];
  };
  EXPECT_EQ(input(0, "translation", 0), input(1, "scale", 0));
  EXPECT_EQ(input(0, "translation", 0), input(0, "translation", 1));
  EXPECT_NE(input(0, "translation", 0), input(2, "translation", 0));
  EXPECT_EQ(f.root["bufferViews"].size(), 1U);
  EXPECT_FALSE(f.root["bufferViews"][0].contains("target"));
}

TEST(GltfFile, VisibilityIsScale) {
  Clip c = clip_of(0, 1, 3);
  c.nodes[0].rest.scale = {2, 3, 4};
  c.tracks = {
      track(Channel::visibility, curve<float>(Interp::step, {0, 0.5}, {0, 1})),
      track(Channel::visibility, curve<float>(Interp::linear, {0, 0.25, 0.5, 1}, {0, 0, 0.5, 1}),
            1),
      track(Channel::visibility, curve<float>(Interp::step, {0}, {0}), 2),
      track(Channel::scale, curve<Vec3>(Interp::linear, {0, 1}, {{1, 1, 1}, {2, 2, 2}}), 2)};
  const auto f = exported(c);
  EXPECT_EQ(f.kind(0, "scale"), "STEP");
  expect_list(f.output(0, "scale"), {0, 0, 0, 2, 3, 4});
  expect_list(f.output(1, "scale"), {0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_TRUE(f.says("nodes[1].visibility", "fades"));
  EXPECT_TRUE(f.says("nodes[2].visibility", "scale is animated"));
  expect_list(f.output(2, "scale"), {1, 1, 1, 2, 2, 2});
}

TEST(GltfFile, VisibilityIsAnExtensionWhereAsked) {
  Clip c = clip_of(0, 1, 3);
  c.nodes[0].rest.scale = {2, 3, 4};
  c.tracks = {
      track(Channel::visibility, curve<float>(Interp::step, {0, 0.25, 0.5}, {0, 1, 0}), 1),
      track(Channel::translation, curve<Vec3>(Interp::linear, {0, 1}, {{}, {1, 0, 0}})),
      track(Channel::scale, curve<Vec3>(Interp::linear, {0, 1}, {{1, 1, 1}, {2, 2, 2}}), 1)};
  GltfOptions options;
  options.visibility = GltfVisibility::extension;
  const auto gltf = to_gltf(std::span(&c, 1), nullptr, options);
  ASSERT_TRUE(gltf);
  EXPECT_TRUE(gltf->clips[0].losses.empty());
  const File f = parse_glb(gltf->file);
  EXPECT_EQ(f.root["extensionsUsed"],
            json::parse(R"(["KHR_animation_pointer", "KHR_node_visibility"])"));
  EXPECT_EQ(f.root["nodes"][1]["extensions"]["KHR_node_visibility"]["visible"], true);
  EXPECT_FALSE(f.root["nodes"][0].contains("extensions"));
  const json& animation = f.root["animations"][0];
  ASSERT_EQ(animation["channels"].size(), 3U);
  const json& channel = animation["channels"][2];
  EXPECT_EQ(channel["target"],
            json::parse(R"({"path": "pointer", "extensions": {"KHR_animation_pointer": {"pointer":
                        "/nodes/1/extensions/KHR_node_visibility/visible"}}})"));
  const json& sampler = animation["samplers"][channel["sampler"].get<std::size_t>()];
  EXPECT_EQ(sampler["interpolation"], "STEP");
  const auto flags = sampler["output"].get<std::size_t>();
  EXPECT_EQ(f.accessor(flags)["componentType"], 5121);
  EXPECT_EQ(f.values<std::uint8_t>(flags), (std::vector<std::uint8_t>{0, 1, 0}));
}

TEST(GltfFile, CustomTracksTravelInExtras) {
  Clip c = with(clip_of(2, 3), track(Channel::translation, uneven()));
  auto bent = curve<float>(Interp::hermite, {2, 3}, {1, 2});
  bent.in = {0, -1};
  bent.out = {0.5, nan};
  Track scalar = track(Channel::custom, bent, 7);
  scalar.name = "track1";
  scalar.properties = {{"tt_id", std::int64_t{5}}};
  Track vector = track(Channel::custom, curve<Vec3>(Interp::step, {2}, {{1, 2, 3}}));
  vector.name = "track6";
  c.tracks.insert(c.tracks.begin(), {scalar, vector});
  const auto f = exported(c);
  EXPECT_EQ(f.animation()["extras"]["dopesheet_tracks"], json::parse(R"([
    {"name": "track1", "target": 7, "interpolation": "hermite", "times": [2, 3], "values": [1, 2],
     "in": [0, -1], "out": [0.5, "f32:7fc00000"], "extras": {"tt_id": 5}},
    {"name": "track6", "target": 0, "interpolation": "step", "times": [2], "values": [1, 2, 3]}])"));
  EXPECT_EQ(f.animation()["channels"].size(), 1U);
  EXPECT_TRUE(f.reports[0].losses.empty());
  EXPECT_EQ(f.reports[0].baked.tracks, 0U);
}

TEST(GltfFile, SameInputSameBytes) {
  Clip c = with(clip_of(0, 1), track(Channel::translation, uneven()));
  c.properties = {{"x", 0.1F}, {"y", std::string("z")}};
  const auto a = to_gltf(std::span(&c, 1), nullptr), b = to_gltf(std::span(&c, 1), nullptr);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->file, b->file);
  EXPECT_TRUE(a->buffer.empty());
}

TEST(GltfFile, SeparateBuffer) {
  const Clip c = with(clip_of(0, 1), track(Channel::translation, uneven()));
  GltfOptions o;
  o.separate_buffer = true;
  EXPECT_EQ(to_gltf(std::span(&c, 1), nullptr, o).error().code, Code::usage);
  o.buffer_name = "a b%\xc3\xa9.bin";
  const auto r = to_gltf(std::span(&c, 1), nullptr, o);
  ASSERT_TRUE(r.has_value());
  const json root = json::parse(text_of(r->file));
  EXPECT_EQ(root["buffers"][0]["uri"], "a%20b%25%C3%A9.bin");
  EXPECT_EQ(root["buffers"][0]["byteLength"], r->buffer.size());
  EXPECT_EQ(exported(c).buffer, r->buffer);
}

// ---------------------------------------------------------------- models

Model model_of(std::size_t nodes) {
  Model m;
  for (std::size_t i = 0; i < nodes; ++i) {
    m.nodes.push_back(node("bone" + std::to_string(i), static_cast<int>(i) - 1));
    m.inverse_bind.push_back({});
  }
  return m;
}

Primitive triangle() {
  Primitive p;
  p.positions = {{0, 0, 0}, {1, 0, 0}, {0, 2, -1}};
  p.normals = {{0, 0, 1}, {0, 0, 2}, {nan, 0, 0}};
  p.uvs = {{0, 0}, {1, 0}, {0, nan}};
  p.triangles = {{0, 1, 2}};
  return p;
}

Mesh mesh_of(Primitive p, std::string name = "body", int lod = 0) {
  Mesh m;
  m.name = std::move(name);
  m.lod = lod;
  m.primitives = {std::move(p)};
  return m;
}

const std::span<const Clip> no_clips;

TEST(GltfModel, Primitive) {
  Model m = model_of(0);
  m.space = Space::left_handed;
  m.materials.resize(2);
  Primitive p = triangle();
  p.material = 1;
  p.triangles.push_back({0, 1, 3});
  m.meshes = {mesh_of(p)};
  m.meshes[0].translation = {5, 6, 7};
  const auto f = exported(no_clips, &m);
  const json& prim = f.root["meshes"][0]["primitives"][0];
  const json& a = prim["attributes"];
  expect_list(f.floats(a["POSITION"]), {0, 0, 0, -1, 0, 0, 0, 2, -1});
  EXPECT_EQ(f.accessor(a["POSITION"])["min"], json({-1, 0, -1}));
  EXPECT_EQ(f.accessor(a["POSITION"])["max"], json({0, 2, 0}));
  expect_list(f.floats(a["NORMAL"]), {0, 0, 1, 0, 0, 1, 0, 1, 0});
  expect_list(f.floats(a["TEXCOORD_0"]), {0, 0, 1, 0, 0, 0});
  EXPECT_FALSE(a.contains("JOINTS_0"));
  EXPECT_EQ(f.values<std::uint16_t>(prim["indices"]), (std::vector<std::uint16_t>{0, 2, 1}));
  EXPECT_EQ(prim["material"], 1);
  EXPECT_EQ(f.root["nodes"][0], json({{"name", "body"}, {"mesh", 0}, {"translation", {-5, 6, 7}}}));
  EXPECT_EQ(f.root["bufferViews"][0]["target"], 34962);
  EXPECT_EQ(f.root["bufferViews"][3]["target"], 34963);
  EXPECT_TRUE(f.says("model.meshes[0].primitives[0].triangles"));
  EXPECT_TRUE(f.says("model.meshes[0].primitives[0].uvs"));
}

TEST(GltfModel, WideIndicesOnlyWhereNeeded) {
  for (const auto& [vertices, type] : {std::pair{65535, 5123}, {65536, 5125}}) {
    Model m = model_of(0);
    Primitive p;
    p.positions.resize(static_cast<std::size_t>(vertices));
    p.triangles = {{0, 1, static_cast<std::uint32_t>(vertices - 1)}};
    m.meshes = {mesh_of(p)};
    const auto f = exported(no_clips, &m);
    EXPECT_EQ(f.accessor(f.root["meshes"][0]["primitives"][0]["indices"])["componentType"], type);
  }
}

TEST(GltfModel, Skin) {
  Model m = model_of(3);
  m.nodes[0].rest = {{1, 2, 3}, about_z(40), {1, 1, 1}};
  m.nodes[1].rest = {{0, 1, 0}, {0.5F, 0.5F, 0.5F, 0.5F}, {1, 1, 1}};
  m.nodes[1].properties = {{"rf_bone_index", std::int64_t{1}}};
  const auto order = topological_order(m.nodes);
  std::vector<Transform> local, world(3);
  for (const Node& n : m.nodes) local.push_back(n.rest);
  to_object_space(m.nodes, order, local, world);
  for (std::size_t i = 0; i < 3; ++i) m.inverse_bind[i] = inverse(world[i]);
  Primitive p = triangle();
  p.influences = {{{0, 1, 1, 9}, {0.5F, 0.25F, 0.25F, 0}},
                  {{2, 77, 0, 0}, {3, 1, 0, 0}},
                  {{1, 0, 0, 0}, {nan, 0, 0, 0}}};
  m.meshes = {mesh_of(p)};
  m.meshes[0].translation = {10, 0, 0};
  const auto f = exported(no_clips, &m);

  const json& skin = f.root["skins"][0];
  EXPECT_EQ(skin["joints"], json({0, 1, 2}));
  EXPECT_EQ(skin["skeleton"], 0);
  const auto matrices = f.floats(skin["inverseBindMatrices"]);
  ASSERT_EQ(matrices.size(), 48U);
  for (std::size_t j = 0; j < 3; ++j) {
    const float* c = &matrices[16 * j];
    EXPECT_EQ((std::vector<float>{c[3], c[7], c[11], c[15]}), (std::vector<float>{0, 0, 0, 1}));
    for (const Vec3 v : {Vec3{0, 0, 0}, Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
      const Vec3 in_joint{c[0] * v.x + c[4] * v.y + c[8] * v.z + c[12],
                          c[1] * v.x + c[5] * v.y + c[9] * v.z + c[13],
                          c[2] * v.x + c[6] * v.y + c[10] * v.z + c[14]};
      EXPECT_LT(length(world[j].translation + rotate(world[j].rotation, in_joint) - v), 1e-6F);
    }
  }
  const json& n = f.root["nodes"];
  EXPECT_EQ(n[0]["name"], "bone0");
  EXPECT_EQ(n[1]["name"], "bone1__rfbi1");
  EXPECT_EQ(n[3], json({{"name", "body"}, {"mesh", 0}, {"skin", 0}}));
  EXPECT_EQ(f.root["scenes"][0]["nodes"], json({0, 3}));

  const json& a = f.root["meshes"][0]["primitives"][0]["attributes"];
  EXPECT_EQ(f.values<std::uint8_t>(a["JOINTS_0"]),
            (std::vector<std::uint8_t>{0, 1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}));
  expect_list(f.floats(a["WEIGHTS_0"]), {0.5F, 0.5F, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
  expect_list(f.floats(a["POSITION"]), {10, 0, 0, 11, 0, 0, 10, 2, -1});  // the node moves no skin
  EXPECT_TRUE(f.says("model.meshes[0].primitives[0].influences", "2 vertices"));
}

TEST(GltfModel, JointsOfASkinHaveOneRoot) {
  Model m = model_of(2);
  m.name = "man";
  m.nodes[1].parent = -1;
  Primitive p = triangle();
  p.influences.resize(3);
  m.meshes = {mesh_of(p)};
  const auto f = exported(no_clips, &m);
  EXPECT_FALSE(f.root["skins"][0].contains("skeleton"));
  EXPECT_EQ(f.root["nodes"][2], json::parse(R"({"name":"man","children":[0,1]})"));
  EXPECT_EQ(f.root["scenes"][0]["nodes"], json({2, 3}));
  expect_list(f.floats(f.root["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"]),
              {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0});
}

TEST(GltfModel, MaterialsAndAttachments) {
  Model m = model_of(1);
  Material glass;
  glass.name = "glass\xff.tga";
  glass.emissive = {0.5F, 2, nan};
  glass.double_sided = true;
  glass.alpha = Material::Alpha::blend;
  glass.properties = {{"rf_flags", std::int64_t{8}}};
  m.materials = {Material{}, glass};
  Attachment prop, sphere, plain;
  prop.name = sphere.name = plain.name = "eye";
  prop.joint = 0;
  prop.transform.translation = {1, 2, 3};
  prop.properties = {{"rf_type", std::string("prop_point")}};
  sphere.properties = {{"rf_type", std::string("collision_sphere")}};
  plain.joint = 5;
  m.attachments = {prop, sphere, plain};
  const auto f = exported(no_clips, &m);
  EXPECT_EQ(f.root["materials"][0],
            json::parse(R"({"pbrMetallicRoughness":{"metallicFactor":0}})"));
  EXPECT_EQ(f.root["materials"][1],
            json::parse(R"({"name":"glass\\xff.tga","pbrMetallicRoughness":{"metallicFactor":0},
      "emissiveFactor":[0.5,1,0],"alphaMode":"BLEND","doubleSided":true,"extras":{"rf_flags":8}})"));
  const json& n = f.root["nodes"];
  EXPECT_EQ(n[0]["children"], json::array({1}));
  EXPECT_EQ(n[1], json({{"name", "rf_prop::eye"},
                        {"translation", {1, 2, 3}},
                        {"extras", {{"rf_type", "prop_point"}}}}));
  EXPECT_EQ(n[2]["name"], "rf_csphere::eye");
  EXPECT_EQ(n[3]["name"], "eye");
  EXPECT_EQ(f.root["scenes"][0]["nodes"], json({0, 2, 3}));
  EXPECT_TRUE(f.says("model.attachments[2].joint", "5"));
}

TEST(GltfModel, LowerLevelsOfDetailAreOutsideTheScene) {
  Model m = model_of(0);
  m.meshes = {mesh_of(triangle(), "head"), mesh_of(triangle(), "head", 1),
              mesh_of(triangle(), "hat"), mesh_of(triangle(), "hat_LOD2", 2)};
  m.meshes[1].lod_distance = 7;
  const auto f = exported(no_clips, &m);
  EXPECT_EQ(f.root["scenes"][0]["nodes"], json({0, 2}));
  EXPECT_EQ(f.root["extensionsUsed"], json({"MSFT_lod"}));
  EXPECT_EQ(f.root["nodes"][0]["extensions"]["MSFT_lod"]["ids"], json({1}));
  EXPECT_EQ(f.root["nodes"][2]["extensions"]["MSFT_lod"]["ids"], json({3}));
  EXPECT_EQ(f.root["nodes"][1]["name"], "head_LOD1");
  EXPECT_EQ(f.root["nodes"][1]["extras"]["LOD_distance"], 7);
  EXPECT_EQ(f.root["nodes"][3]["name"], "hat_LOD2");
  GltfOptions o;
  o.lods = false;
  const auto g = exported(no_clips, &m, o);
  EXPECT_EQ(g.root["meshes"].size(), 2U);
  EXPECT_FALSE(g.root.contains("extensionsUsed"));
}

TEST(GltfModel, MeshWithoutTrianglesKeepsItsNode) {
  Model m = model_of(0);
  m.meshes = {mesh_of({}, "empty")};
  m.meshes[0].properties = {{"a", std::int64_t{1}}};
  const auto f = exported(no_clips, &m);
  EXPECT_EQ(f.root["nodes"], json::parse(R"([{"name":"empty","extras":{"a":1}}])"));
  EXPECT_FALSE(f.root.contains("meshes"));
}

TEST(GltfModel, ClipThatRestsElsewhere) {
  const Model m = model_of(2);
  Clip c = with(clip_of(0, 1, 2),
                track(Channel::translation, curve<Vec3>(Interp::linear, {0, 1}, {{}, {1, 0, 0}})));
  c.nodes[0].rest.translation = {1, 0, 0};
  c.nodes[1].rest.translation = {1, 0, 0};
  const auto f = exported(c, &m);
  EXPECT_EQ(f.reports[0].losses.size(), 1U);
  EXPECT_TRUE(f.says("nodes[1].rest"));
  EXPECT_FALSE(f.root["nodes"][1].contains("translation"));
}

// ---------------------------------------------------------------- morph targets

// Two primitives of four vertices. The first has no map; that of the second sends original 10 to
// vertex 2, which vertex 3 copies.
Model morphing_model() {
  Model m = model_of(0);
  Primitive p = triangle();
  p.positions.push_back(p.positions[2]);
  p.normals = {};
  p.uvs = {};
  p.triangles.push_back({0, 1, 3});
  Primitive q = p;
  p.morph_map.assign(11, -1);
  p.morph_map[10] = 2;
  p.copy_of = {0, 1, 2, 2};
  m.meshes = {mesh_of(p), mesh_of(p, "far", 1)};
  m.meshes[0].primitives.push_back(q);
  m.meshes[0].translation = {100, 0, 0};
  return m;
}
Clip morphing_clip(std::size_t targets) {
  Clip c = clip_of(1, 3, 0);
  c.morph.vertices = {10, 3};
  for (std::size_t k = 0; k < targets; ++k) {
    const auto f = static_cast<float>(k + 1);
    c.morph.positions.push_back({{f, 2, -1}, {0, 2, -1 + f}});
    std::vector<double> times;
    std::vector<float> values;
    for (std::size_t i = 0; i < targets; ++i) {
      times.push_back(1 + 2.0 * static_cast<double>(i) / static_cast<double>(targets));
      values.push_back(i == k ? 1.F : 0.F);
    }
    c.tracks.push_back(track(Channel::weight, curve(Interp::linear, times, values), k));
  }
  return c;
}

TEST(GltfMorph, TargetsAndWeights) {
  const Model m = morphing_model();
  const Clip c = morphing_clip(3);
  const auto f = exported(c, &m);
  ASSERT_EQ(f.root["meshes"].size(), 2U);
  const json& mesh = f.root["meshes"][0];
  EXPECT_EQ(mesh["weights"], json({0, 0, 0}));
  EXPECT_FALSE(f.root["meshes"][1].contains("weights"));
  EXPECT_FALSE(f.root["meshes"][1]["primitives"][0].contains("targets"));
  ASSERT_EQ(mesh["primitives"][0]["targets"].size(), 3U);
  ASSERT_EQ(mesh["primitives"][1]["targets"].size(), 3U);
  const std::size_t first = mesh["primitives"][0]["targets"][1]["POSITION"];
  expect_list(f.floats(first), {0, 0, 0, 0, 0, 0, 2, 0, 0, 2, 0, 0});
  EXPECT_EQ(f.accessor(first)["max"], json({2, 0, 0}));
  expect_list(f.floats(mesh["primitives"][1]["targets"][1]["POSITION"]),
              {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2});

  EXPECT_EQ(f.kind(0, "weights"), "LINEAR");
  expect_list(f.times(0, "weights"), {0, 2 / 3.F, 4 / 3.F, 2}, 1e-6F);  // held until the end
  expect_list(f.output(0, "weights"), {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1});
  EXPECT_EQ(f.accessor(f.sampler(0, "weights")["output"])["type"], "SCALAR");
  EXPECT_TRUE(f.reports[0].losses.empty());
}

TEST(GltfMorph, KeyTimesAreUnited) {
  const Model m = morphing_model();
  Clip c = morphing_clip(2);
  c.tracks = {track(Channel::weight, curve<float>(Interp::linear, {0, 2}, {0, 1}), 0),
              track(Channel::weight, curve<float>(Interp::step, {1, 2.5}, {0.25F, 0.75F}), 1)};
  const auto f = exported(c, &m);
  const float before = std::nextafter(1.5F, 0.F);
  expect_list(f.times(0, "weights"), {0, 1, before, 1.5F, 2});
  expect_list(f.output(0, "weights"), {0.5F, 0.25F, 1, 0.25F, 1, 0.25F, 1, 0.75F, 1, 0.75F});
  c.tracks.erase(c.tracks.begin());
  const auto g = exported(c, &m);
  EXPECT_EQ(g.kind(0, "weights"), "STEP");
  expect_list(g.times(0, "weights"), {0, 1.5F, 2});
  expect_list(g.output(0, "weights"), {0, 0.25F, 0, 0.75F, 0, 0.75F});
}

TEST(GltfMorph, SeveralClips) {
  const Model m = morphing_model();
  const auto still = with(clip_of(0, 1, 0), Track{});
  const auto f = exported(std::vector{morphing_clip(2), still, morphing_clip(1)}, &m);
  EXPECT_EQ(f.root["meshes"][0]["primitives"][0]["targets"].size(), 3U);
  EXPECT_EQ(f.root["meshes"][0]["weights"], json({0, 0, 0}));
  expect_list(f.output(0, "weights", 0), {1, 0, 0, 0, 1, 0, 0, 1, 0});
  expect_list(f.times(0, "weights", 1), {0, 1});
  expect_list(f.output(0, "weights", 1), {0, 0, 0, 0, 0, 0});
  expect_list(f.output(0, "weights", 2), {0, 0, 1, 0, 0, 1});
}

TEST(GltfMorph, Losses) {
  const auto without = exported(morphing_clip(2));
  EXPECT_TRUE(without.says("morph", "morph needs the character mesh"));
  Model other = model_of(0);
  other.meshes = {mesh_of(triangle())};
  EXPECT_TRUE(exported(morphing_clip(2), &other).says("morph", "no mesh"));
  const Model m = morphing_model();
  EXPECT_FALSE(exported(morphing_clip(8), &m).says("morph", "8"));
  EXPECT_TRUE(
      exported(morphing_clip(9), &m).says("morph", "9 morph targets; some viewers show only 8"));
  Clip bad = morphing_clip(2);
  bad.morph.positions[1][0] = {nan, 0, 0};
  const auto f = exported(bad, &m);
  EXPECT_TRUE(f.says("morph.positions[1][0]"));
  for (const float v : f.floats(f.root["meshes"][0]["primitives"][0]["targets"][1]["POSITION"]))
    EXPECT_EQ(v, 0);
  bad.morph.positions[1].pop_back();
  EXPECT_TRUE(exported(bad, &m).says("morph.positions[1]", "left out"));
}

TEST(GltfMorph, ManyTargetsAreALimit) {
  const Model m = morphing_model();
  const Clip c = morphing_clip(200);
  GltfOptions o;
  o.bake.limits.bytes = 50000;
  const auto r = to_gltf(std::span(&c, 1), &m, o);
  ASSERT_FALSE(r.has_value());
  EXPECT_EQ(r.error().code, Code::limit);
}

// ---------------------------------------------------------------- sampled frames

TEST(SampleTimes, CountedNotSummed) {
  Clip c = clip_of(1 / 30.0, 1 + 1 / 30.0);
  const auto t = sample_times(c, {});
  ASSERT_EQ(t.size(), 31U);
  for (std::size_t i = 0; i < 30; ++i) EXPECT_EQ(t[i], c.start + static_cast<double>(i) / 30) << i;
  EXPECT_EQ(t[30], c.end);
  SampleOptions o;
  o.rate = 20;
  c = clip_of(0, 0.12);
  EXPECT_EQ(sample_times(c, o), (std::vector<double>{0, 0.05, 0.1, 0.12}));
  o.times = {3, 1, 2};
  EXPECT_EQ(sample_times(c, o), o.times);
}

// 29 frames of 160 ticks: 160 / 4800 + 29 / 30 is not quite 1.
TEST(SampleTimes, NoSampleJustBeforeTheEnd) {
  for (int frames = 1; frames < 2000; ++frames) {
    const Clip c = clip_of(160 / 4800.0, (160.0 + 160 * frames) / 4800);
    ASSERT_EQ(sample_times(c, {}).size(), static_cast<std::size_t>(frames) + 1) << frames;
  }
}

TEST(SampleTimes, OddClips) {
  EXPECT_EQ(sample_times(clip_of(2, 2), {}), std::vector<double>{2});
  EXPECT_EQ(sample_times(clip_of(2, 1), {}), std::vector<double>{2});
  EXPECT_TRUE(sample_times(clip_of(double{nan}, 1), {}).empty());
  Clip c = clip_of(0, 1);
  c.frames_per_second = 0;
  EXPECT_EQ(sample_times(c, {}), (std::vector<double>{0, 1}));
}

Clip moving() {
  Clip c = with(
      clip_of(1, 2, 2),
      track(Channel::translation, curve<Vec3>(Interp::linear, {1, 2}, {{0, 0, 0}, {1, 2, 4}}), 1));
  c.nodes[1].parent = 0;
  return c;
}

TEST(SampleFrames, ThroughTheSampler) {
  Clip c = moving();
  const std::vector<double> times{1, 1.5, 2, 2.25};
  auto frames = sample_frames(c, times);
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames[1].time, 1.5);
  EXPECT_EQ(frames[1].nodes[1].translation, (Vec3{0.5F, 1, 2}));
  EXPECT_EQ(frames[3].nodes[1].translation, (Vec3{1, 2, 4}));
  c.outside = Outside::wrap;
  frames = sample_frames(c, times);
  EXPECT_EQ(frames[2].nodes[1].translation, (Vec3{1, 2, 4}));  // the end, not the start again
  EXPECT_EQ(frames[3].nodes[1].translation, (Vec3{0.25F, 0.5F, 1}));
}

TEST(SampleFrames, AsJson) {
  Clip c = moving();
  c.name = "a\"\xff";
  c.morph.positions.resize(1);
  c.tracks.push_back(track(Channel::weight, curve<float>(Interp::linear, {1, 2}, {0, 0.5F})));
  const auto frames = sample_frames(c, std::vector<double>{1, 2});
  const std::string text = frames_to_json(c, frames);
  EXPECT_EQ(
      json::parse(text),
      json::parse(
          R"({"schema":"dopesheet.sample/1","clip":"a\"\\xff","space":"gltf","start":1,"end":2,
    "nodes":[{"name":"n0","parent":-1},{"name":"n1","parent":0}],"frames":[
    {"time":1,"nodes":[[0,0,0,0,0,0,1,1,1,1],[0,0,0,0,0,0,1,1,1,1]],"weights":[0]},
    {"time":2,"nodes":[[0,0,0,0,0,0,1,1,1,1],[1,2,4,0,0,0,1,1,1,1]],"weights":[0.5]}]})"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);  // a line per frame
  c.space = Space::left_handed;
  EXPECT_EQ(json::parse(frames_to_json(c, frames))["space"], "game");
  EXPECT_EQ(json::parse(frames_to_json(c, {}))["frames"], json::array());
  EXPECT_FALSE(json::parse(frames_to_json(
      moving(), sample_frames(moving(), std::vector<double>{1})))["frames"][0]
                   .contains("weights"));
}

TEST(SampleFrames, AsCsv) {
  Clip c = moving();
  c.nodes[0].name = "a,\"b\"";
  c.nodes[1].name = "\xff";
  auto frames = sample_frames(c, std::vector<double>{1.5});
  EXPECT_EQ(frames_to_csv(c, frames),
            "time,frame,node,name,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz\n"
            "1.5,0,0,\"a,\"\"b\"\"\",0,0,0,0,0,0,1,1,1,1\n"
            "1.5,0,1,\\xff,0.5,1,2,0,0,0,1,1,1,1\n");
  frames[0].weights = {0.25F, 1};
  EXPECT_EQ(frames_to_csv(c, frames),
            "time,frame,node,name,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz,w0,w1\n"
            "1.5,0,0,\"a,\"\"b\"\"\",0,0,0,0,0,0,1,1,1,1,0.25,1\n"
            "1.5,0,1,\\xff,0.5,1,2,0,0,0,1,1,1,1,,\n");
  frames[0].nodes.clear();
  EXPECT_EQ(frames_to_csv(c, frames),
            "time,frame,node,name,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz,w0,w1\n1.5,0,,,,,,,,,,,,,0.25,1\n");
}

TEST(SampleFrames, TextHoldsNothingThatIsNotFinite) {
  const Clip c = clip_of(0, 1);
  Frame f{0, {Transform{{nan, infinity, 1}, {}, {1, 1, 1}}}, {}};
  const auto j = json::parse(frames_to_json(c, std::span(&f, 1)));
  EXPECT_TRUE(j["frames"][0]["nodes"][0][0].is_null());
  EXPECT_EQ(frames_to_csv(c, std::span(&f, 1)).substr(51), "0,0,0,n0,,,1,0,0,0,1,1,1,1\n");
}

TEST(Names, BothWays) {
  const std::string all = [] {
    std::string s;
    for (int i = 0; i < 256; ++i) s += static_cast<char>(i);
    return s + "\xc3\xa9\\x41";
  }();
  EXPECT_EQ(unescape_name(escape_name(all)), all);
  EXPECT_EQ(escape_name("h\xc3\xa9llo w\xf6rld"), "h\xc3\xa9llo w\\xf6rld");
  EXPECT_EQ(unescape_name("a\\b"), "a\\b");  // made elsewhere
}

Clip named(const std::string& name, const std::vector<std::string>& joints, float x) {
  Clip c = clip_of(0, 1, joints.size());
  c.name = name;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    c.nodes[i].name = joints[i];
    c.nodes[i].parent = static_cast<int>(i) - 1;
  }
  Curve<Vec3> v;
  v.times = {0, 1};
  v.values = {{x, 0, 0}, {0, x, 0}};
  return with(std::move(c), {0, Channel::translation, {}, v, {}});
}

TEST(GltfFile, SkeletonsThatDifferStandSideBySide) {
  const std::vector<Clip> clips{named("walk", {"hips", "leg"}, 1), named("prop", {"box"}, 2),
                                named("run", {"hips", "leg", "foot"}, 3)};
  const auto gltf = to_gltf(clips, nullptr);
  ASSERT_TRUE(gltf) << to_string(gltf.error());
  const File f = parse_glb(gltf->file);
  ASSERT_EQ(f.root.at("nodes").size(), 4U) << "the run has the walk's nodes, and one more";
  EXPECT_EQ(f.root.at("nodes").at(3).at("name"), "box");
  EXPECT_EQ(f.output(0, "translation", 0)[0], 1);
  EXPECT_EQ(f.output(3, "translation", 1)[0], 2);
  EXPECT_EQ(f.output(0, "translation", 2)[0], 3);
  EXPECT_TRUE(f.channel(0, "translation", 1).is_null()) << "the prop moves nobody's hips";
}

}  // namespace
}  // namespace dopesheet
