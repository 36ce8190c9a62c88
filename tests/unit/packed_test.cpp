// The packed sampler: against the plain evaluation in double, its paths against each other bit for
// bit, and its bits against those of every other build.
#include "clip/packed.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <random>
#include <thread>

#include "../allocations.hpp"
#include "../support.hpp"
#include "dopesheet/formats.hpp"

namespace dopesheet {
namespace {

constexpr std::array all_interps{Interp::step,   Interp::linear,     Interp::hermite,
                                 Interp::bezier, Interp::slerp_ease, Interp::slerp_stored,
                                 Interp::nlerp};

// Clips with every kind of curve, in sheets where key times are common.
class Maker {
 public:
  explicit Maker(unsigned seed, std::size_t keys, double seconds)
      : random_(seed), keys_(keys), seconds_(seconds) {
    common_ = times();
  }
  Clip clip(std::size_t nodes, bool own_times) {
    Clip c;
    c.start = -0.1;
    c.end = seconds_ + 0.1;
    c.nodes.resize(nodes);
    for (std::size_t i = 0; i < nodes; ++i) {
      const Interp rotation = all_interps[i / 9 % 7], vector = all_interps[i / 9 % 4];
      const auto t = [&] { return own_times ? times() : common_; };
      if (i % 5 == 0) {
        c.tracks.push_back({i, Channel::rotation, {}, axes(t(), t(), own_times, 0.25F), {}});
        c.tracks.push_back({i, Channel::translation, {}, axes(t(), t(), own_times, 1), {}});
      } else {
        c.tracks.push_back({i, Channel::rotation, {}, rotations(rotation, t()), {}});
        c.tracks.push_back({i, Channel::translation, {}, vectors(vector, t()), {}});
      }
      if (i % 3 == 0) c.tracks.push_back({i, Channel::scale, {}, vectors(vector, t()), {}});
    }
    return c;
  }
  double any_time() { return std::uniform_real_distribution(-0.2, seconds_ + 0.2)(random_); }

 private:
  float number() { return std::normal_distribution<float>()(random_); }
  // Tangents per second that stay near the values over a segment.
  float slope(Interp interp) const {
    if (interp != Interp::hermite) return 1;
    return std::min(1.F, static_cast<float>(static_cast<double>(keys_) / seconds_) / 3);
  }
  Quat rotation() { return normalize({number(), number(), number(), number()}); }
  std::vector<double> times() {
    std::uniform_real_distribution<double> when(0, seconds_);
    std::vector<double> t(keys_);
    for (double& x : t) x = when(random_);
    std::sort(t.begin(), t.end());
    if (keys_ > 5) t[3] = t[4];  // a jump
    return t;
  }
  Curve<float> scalars(Interp interp, std::vector<double> t, float range) {
    Curve<float> c;
    c.interp = interp;
    c.times = std::move(t);
    const bool tangents = interp == Interp::hermite || interp == Interp::bezier;
    for (std::size_t k = 0; k < c.times.size(); ++k) {
      c.values.push_back(range * number());
      if (tangents) c.in.push_back(range * slope(interp) * number());
      if (tangents) c.out.push_back(range * slope(interp) * number());
    }
    return c;
  }
  std::array<Curve<float>, 3> axes(const std::vector<double>& a, const std::vector<double>& b,
                                   bool own_times, float range) {
    return {scalars(Interp::hermite, a, range), scalars(Interp::linear, b, range),
            scalars(Interp::step, own_times ? times() : a, range)};
  }
  Curve<Vec3> vectors(Interp interp, std::vector<double> t) {
    Curve<Vec3> c;
    c.interp = interp;
    c.times = std::move(t);
    const bool tangents = interp == Interp::hermite || interp == Interp::bezier;
    const auto v = [&] { return Vec3{number(), number(), number()}; };
    for (std::size_t k = 0; k < c.times.size(); ++k) {
      c.values.push_back(v());
      if (tangents) c.in.push_back(slope(interp) * v());
      if (tangents) c.out.push_back(slope(interp) * v());
    }
    return c;
  }
  Curve<Quat> rotations(Interp interp, std::vector<double> t) {
    Curve<Quat> c;
    c.interp = interp;
    c.times = std::move(t);
    std::uniform_real_distribution<float> fraction(0, 1);
    for (std::size_t k = 0; k < c.times.size(); ++k) {
      // Now and then next to the last one, or the same.
      Quat q = rotation();
      if (k % 4 == 1) {
        q = c.values.back();
        q.x += 1e-4F * number();
        q = normalize(q);
      }
      if (k % 7 == 2) q = c.values.back();
      c.values.push_back(q);
      if (interp == Interp::hermite || interp == Interp::bezier) {
        const auto near = [&](float by) {
          return Quat{by * number(), by * number(), by * number(), by * number()};
        };
        Quat in = near(0.1F * slope(interp)), out = near(0.1F * slope(interp));
        if (interp == Interp::bezier) {
          const auto sum = [](Quat a, Quat b) {
            return Quat{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w};
          };
          in = sum(in, q);
          out = sum(out, q);
        }
        c.in.push_back(in);
        c.out.push_back(out);
      }
      if (interp == Interp::slerp_ease) {
        c.params.push_back({fraction(random_), fraction(random_)});
        if (k % 3 == 0) c.params.back() = {};
        if (k % 5 == 0) c.params.back() = {1, 1};
      }
      if (interp == Interp::slerp_stored) c.params.push_back({});
    }
    for (std::size_t k = 0; interp == Interp::slerp_stored && k + 1 < c.values.size(); ++k) {
      const Quat a = c.values[k], b = c.values[k + 1];
      const double d =
          double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z + double{a.w} * b.w;
      const double angle = std::acos(std::clamp(d, -1.0, 1.0));
      if (angle < 1e-3) continue;
      c.params[k] = {static_cast<float>(angle), static_cast<float>(1 / std::sin(angle))};
      if (d < 0) {
        const double other = 3.141592653589793 - angle;
        c.params[k] = {static_cast<float>(other + 6.283185307179586),
                       static_cast<float>(1 / std::sin(other))};
      }
    }
    return c;
  }

  std::mt19937 random_;
  std::size_t keys_;
  double seconds_;
  std::vector<double> common_;
};

// What the sampler should give, curve by curve.
std::vector<Transform> plain(const Clip& clip, double time) {
  std::vector<Transform> out;
  for (const Node& n : clip.nodes) out.push_back(n.rest);
  for (const Track& t : clip.tracks) {
    std::uint32_t hint = 0;
    Transform& node = out[t.target];
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve))
      node.rotation = evaluate(*q, time, hint);
    Vec3 v;
    if (const auto* c = std::get_if<Curve<Vec3>>(&t.curve)) v = evaluate(*c, time, hint);
    if (const auto* a = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
      v = {evaluate((*a)[0], time, hint), evaluate((*a)[1], time, hint),
           evaluate((*a)[2], time, hint)};
      if (t.channel == Channel::rotation) node.rotation = rotation_of_turns(v);
    }
    if (t.channel == Channel::translation) node.translation = v;
    if (t.channel == Channel::scale) node.scale = v;
  }
  return out;
}

void expect_plain(const Clip& clip, const std::vector<Transform>& pose, double time) {
  const auto want = plain(clip, time);
  for (std::size_t i = 0; i < pose.size(); ++i) {
    EXPECT_LT(length(pose[i].translation - want[i].translation), 2e-6F) << i << " at " << time;
    EXPECT_LT(length(pose[i].scale - want[i].scale), 2e-6F) << i << " at " << time;
    // evaluate() rounds turns to floats, 4e-5 degrees apart from one turn on.
    const double tolerance = i % 5 == 0 ? 2e-4 : 1e-4;
    EXPECT_LT(angle_between(pose[i].rotation, want[i].rotation), tolerance) << i << " at " << time;
    EXPECT_NEAR(dot(pose[i].rotation, pose[i].rotation), 1, 1e-6) << i << " at " << time;
  }
}

TEST(Packed, EqualsThePlainEvaluation) {
  for (const bool own_times : {false, true}) {
    for (const std::size_t keys : {2U, 3U, 40U}) {
      Maker maker(static_cast<unsigned>(keys), keys, 3);
      const Clip clip = maker.clip(70, own_times);
      const Sampler sampler(clip, Outside::clamp);
      Cursor cursor = sampler.cursor();
      std::vector<Transform> pose(clip.nodes.size());
      for (int i = 0; i < 300; ++i) {
        const double t = sampler.inside(maker.any_time());
        sampler.sample(t, cursor, pose);
        expect_plain(clip, pose, t);
      }
      for (const Track& track : clip.tracks) {  // at keys, and right beside them
        const auto* q = std::get_if<Curve<Quat>>(&track.curve);
        if (q == nullptr) continue;
        for (const double t : {q->times[1], std::nextafter(q->times[1], 9), q->times.back()}) {
          sampler.sample(t, cursor, pose);
          expect_plain(clip, pose, t);
        }
      }
    }
  }
}

TEST(Packed, KeysComeOutAsTheyAre) {
  Maker maker(8, 30, 3);
  int keys = 0, same = 0;
  for (const bool own_times : {false, true}) {
    const Clip clip = maker.clip(70, own_times);
    const Sampler sampler(clip, Outside::clamp);
    Cursor cursor = sampler.cursor();
    std::vector<Transform> pose(clip.nodes.size());
    for (const Track& track : clip.tracks) {
      const auto* q = std::get_if<Curve<Quat>>(&track.curve);
      if (q == nullptr || (q->interp != Interp::linear && q->interp != Interp::slerp_ease))
        continue;
      for (std::size_t k = 4; k < q->times.size(); ++k) {
        sampler.sample(q->times[k], cursor, pose);
        const Quat want = normalize(q->values[k]), got = pose[track.target].rotation;
        EXPECT_LT(length(Vec3{got.x - want.x, got.y - want.y, got.z - want.z}), 2e-7F);
        ++keys;
        same += got == want ? 1 : 0;
      }
    }
  }
  EXPECT_GT(same, keys * 0.99) << keys;  // of the others, no float angle and sine multiply to 1
}

TEST(Packed, HourLongClipsLoseNothing) {
  Maker maker(3, 2000, 36000);
  for (const bool own_times : {false, true}) {
    const Clip clip = maker.clip(24, own_times);
    const Sampler sampler(clip, Outside::clamp);
    Cursor cursor = sampler.cursor();
    std::vector<Transform> pose(clip.nodes.size());
    for (int i = 0; i < 200; ++i) {
      const double t = sampler.inside(maker.any_time());
      sampler.sample(t, cursor, pose);
      expect_plain(clip, pose, t);
    }
  }
}

std::uint64_t hash_of(std::span<const Transform> pose, std::uint64_t hash) {
  for (const Transform& t : pose) {
    std::array<float, 10> values;
    std::memcpy(values.data(), &t, sizeof t);
    for (float v : values) {
      std::uint32_t bits;
      if (std::isnan(v)) v = 0.125F;  // which NaN is nobody's business
      std::memcpy(&bits, &v, sizeof bits);
      hash = (hash ^ bits) * 0x100000001B3U;
    }
  }
  return hash;
}

// Poses of a clip along one path: forward, backward, then jumping about.
std::uint64_t hash_of(const packed::Clip& clip) {
  std::uint64_t hash = 0xCBF29CE484222325U;
  std::vector<std::uint32_t> hints;
  std::vector<Lanes> block;
  std::vector<double> windows;
  const packed::Place place{hints, block, windows};
  packed::prepare(clip, place);
  std::vector<Transform> pose(clip.rest.size());
  const double length = clip.end - clip.start;
  const auto at = [&](double part) {
    packed::play(clip, clip.start + part * length, place, pose);
    hash = hash_of(pose, hash);
  };
  for (int i = 0; i <= 64; ++i) at(i / 64.0);
  for (int i = 63; i >= 0; --i) at((i + 0.3) / 64.0);
  for (unsigned i = 0; i < 64; ++i) at((i * 37 % 64) / 63.0);
  return hash;
}

constexpr std::array paths{packed::Path::scalar, packed::Path::vector4, packed::Path::vector8};

std::uint64_t hash_of_all_paths(const Clip& clip, const std::string& what) {
  packed::Clip packed = packed::pack(clip, Outside::clamp);
  packed.kernels = packed::kernels(packed::Path::scalar);
  const std::uint64_t want = hash_of(packed);
  for (const auto path : paths) {
    packed.kernels = packed::kernels(path);
    if (packed.kernels == nullptr) continue;  // not on this machine
    EXPECT_EQ(hash_of(packed), want) << what << ", path " << static_cast<int>(path);
  }
  return want;
}

TEST(Packed, AllPathsGiveTheSameBits) {
  for (const bool own_times : {false, true}) {
    Maker maker(21, 30, 2);
    hash_of_all_paths(maker.clip(100, own_times), own_times ? "own times" : "common times");
  }
}

// Every fixture's poses have the bits that tests/golden/poses.json lists, from whatever compiler. After
// new fixtures or an intended change run with DOPESHEET_UPDATE_GOLDEN=1.
TEST(Packed, EveryBuildGivesTheSameBits) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(support::fixture_dir())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  support::Json got = support::Json::object();
  for (const auto& name : names) {
    if (std::filesystem::is_directory(support::fixture(name))) continue;
    const Bytes bytes = support::read_bytes(support::fixture(name));
    const auto format = identify(bytes);
    if (!format || (*format)->clips == nullptr) continue;
    ReadOptions options;
    options.stored = true;
    const auto clips = (*format)->clips(bytes, options);
    if (!clips) continue;
    std::uint64_t hash = 0;
    for (const Clip& clip : *clips) hash = hash * 31 + hash_of_all_paths(clip, name);
    std::array<char, 17> text;
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
    got[name] = text.data();
  }
  EXPECT_GT(got.size(), 40U);
  const std::string path = support::environment("DOPESHEET_SOURCE") + "/tests/golden/poses.json";
  if (!support::environment("DOPESHEET_UPDATE_GOLDEN").empty()) {
    std::ofstream(path, std::ios::binary) << got.dump(1) << '\n';
  }
  const auto want = support::read_json(path);
  for (const auto& [name, hash] : got.items()) {
    EXPECT_EQ(want.value(name, std::string("not listed")), hash.get<std::string>()) << name;
  }
}

TEST(Packed, TheCursorChangesNothing) {
  for (const bool own_times : {false, true}) {
    Maker maker(5, 50, 4);
    const Clip clip = maker.clip(40, own_times);
    const Sampler sampler(clip);
    Cursor kept = sampler.cursor();
    std::vector<Transform> a(40), b(40);
    for (int i = 0; i < 500; ++i) {
      const double t = i < 100 ? i * 0.04 : maker.any_time();
      Cursor fresh = sampler.cursor();
      sampler.sample(t, kept, a);
      sampler.sample(t, fresh, b);
      EXPECT_EQ(a, b) << t;
    }
  }
}

TEST(Packed, FewerNodesThanTheClipHas) {
  for (const bool own_times : {false, true}) {
    Maker maker(6, 20, 2);
    const Sampler sampler(maker.clip(40, own_times));
    Cursor cursor = sampler.cursor();
    std::vector<Transform> all(40);
    for (const std::size_t n : {0U, 1U, 7U, 8U, 33U, 39U}) {
      std::vector<Transform> some(n + 1, Transform{{9, 9, 9}, {}, {}});
      sampler.sample(1.1, cursor, std::span(some).first(n));
      sampler.sample(1.1, cursor, all);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(some[i], all[i]) << i << " of " << n;
      EXPECT_EQ(some[n].translation.x, 9);
    }
  }
}

std::size_t key_bytes(const Clip& clip) {
  const auto bytes = [](const auto& c) {
    using T = std::decay_t<decltype(c.values[0])>;
    return c.times.size() * sizeof(double) + c.params.size() * sizeof(Params) +
           (c.values.size() + c.in.size() + c.out.size()) * sizeof(T);
  };
  std::size_t sum = 0;
  for (const Track& t : clip.tracks) {
    std::visit(
        [&](const auto& c) {
          if constexpr (requires { c.times; }) {
            sum += bytes(c);
          } else {
            for (const auto& axis : c) sum += bytes(axis);
          }
        },
        t.curve);
  }
  return sum;
}

TEST(Packed, TakesAtMostOneAndAHalfTimesTheKeys) {
  for (const bool own_times : {false, true}) {
    Maker maker(7, 400, 15);
    const Clip clip = maker.clip(67, own_times);
    const std::size_t raw = key_bytes(clip), before = support::live_bytes();
    support::reset_peak();
    const Sampler sampler(clip);
    const auto peak = static_cast<double>(support::peak_bytes() - before);
    RecordProperty(own_times ? "own" : "common", std::to_string(peak / static_cast<double>(raw)));
    EXPECT_LT(peak, 1.5 * static_cast<double>(raw)) << own_times;
    const std::size_t with = support::live_bytes();
    const Cursor cursor = sampler.cursor();
    EXPECT_LT(support::live_bytes() - with, 67U * 2000) << "a cursor does not grow with the keys";
  }
}

TEST(Packed, AllocatesNothing) {
  Maker maker(9, 30, 3);
  for (const bool own_times : {false, true}) {
    const Sampler sampler(maker.clip(70, own_times));
    Cursor cursor = sampler.cursor();
    std::vector<Transform> pose(70);
    const auto before = support::allocations();
    for (int i = 0; i < 500; ++i) sampler.sample(maker.any_time(), cursor, pose);
    EXPECT_EQ(support::allocations(), before);
  }
}

TEST(Packed, ThreadsShareOneSampler) {
  Maker maker(10, 60, 3);
  for (const bool own_times : {false, true}) {
    const Sampler sampler(maker.clip(40, own_times));
    const auto play = [&](std::uint64_t& hash) {
      Cursor cursor = sampler.cursor();
      std::vector<Transform> pose(40);
      for (int i = 0; i < 400; ++i) {
        sampler.sample(i % 2 == 0 ? i * 0.0075 : 3 - i * 0.0075, cursor, pose);
        hash = hash_of(pose, hash);
      }
    };
    std::array<std::uint64_t, 4> hashes{};
    std::vector<std::thread> threads;
    for (auto& h : hashes) threads.emplace_back([&] { play(h); });
    for (auto& t : threads) t.join();
    EXPECT_THAT(hashes, testing::Each(hashes[0]));
  }
}

TEST(Packed, HostileClipsDoNoHarm) {
  Maker maker(11, 12, 2);
  Clip clip = maker.clip(80, false);
  std::mt19937 random(4);
  constexpr std::array bad{NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 1e-40F, 0.F, 5e7F};
  const auto spoil = [&](float& v) {
    if (random() % 5 == 0) v = bad[random() % bad.size()];
  };
  for (Track& t : clip.tracks) {
    const auto each = [&](auto& c) {
      for (auto* list : {&c.values, &c.in, &c.out}) {
        for (auto& v : *list) {
          std::array<float, sizeof v / sizeof(float)> f;
          std::memcpy(f.data(), &v, sizeof v);
          for (float& x : f) spoil(x);
          std::memcpy(static_cast<void*>(&v), f.data(), sizeof v);
        }
      }
      for (Params& p : c.params) spoil(p[0]), spoil(p[1]);
    };
    std::visit(
        [&](auto& c) {
          if constexpr (requires { c.times; }) {
            each(c);
          } else {
            for (auto& axis : c) each(axis);
          }
        },
        t.curve);
  }
  constexpr std::array last{double{INFINITY}, 1e300, 1e29};
  std::size_t n = 0;
  for (Track& t : clip.tracks) {
    auto* q = std::get_if<Curve<Quat>>(&t.curve);
    if (q != nullptr && n < last.size()) q->times.back() = last[n++];
  }
  clip.end = 1e300;
  const Sampler sampler(clip, Outside::clamp);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(80);
  for (const double t : {-1.0, 0.0, 0.5, 1.0, 1.7, 2.0, 1e20, 1e300}) {
    sampler.sample(t, cursor, pose);
    for (std::size_t i = 0; i < pose.size(); ++i) {
      EXPECT_NEAR(dot(pose[i].rotation, pose[i].rotation), 1, 1e-3) << i << " at " << t;
    }
  }
  hash_of_all_paths(clip, "hostile");
}

}  // namespace
}  // namespace dopesheet
