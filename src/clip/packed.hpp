// A clip packed for play: what Sampler keeps, and what its kernels take.
//
// Curves that share their key times lie in sheets: one row per key, eight curves side by side, so that a
// pose at any time is two neighbouring rows, read in order. Other curves keep their keys to themselves;
// a cursor holds the segment of each that is playing in the same eight lanes, and takes the next one
// when the time leaves it. One kernel serves both. Constant curves are part of the rest pose.
#pragma once
#include <array>
#include <cstdint>

#include "dopesheet/sample.hpp"

namespace dopesheet::packed {

inline constexpr std::size_t lanes = Lanes::size;

// What a kernel computes from the rows of eight curves; the numbers are rows of the earlier key.
// Cubics are c0 + u (c1 + u (c2 + u c3)) per component, u from 0 to 1 over the segment.
enum class Kind : std::uint8_t {
  line,    // 3: the value, and that of the later key
  cubic,   // 12: c0 of x y z, c1 of x y z, ...
  turns,   // 12: turns about x, y, z as cubics; to a rotation
  slerp,   // 6: x y z w, angle of the arc (negative: the later key is negated), 1 / its sine
  eased,   // 8: as slerp, then ease out and the next key's ease in, which add up to at most 1
  stored,  // 6: as slerp, as given by the file and up to pi; angle 0: the first key. Normalised
  nlerp,   // 4, normalised
  hyper,   // 16: cubics of x y z w, normalised
};
inline constexpr std::size_t kinds = 8;
constexpr std::size_t rows_of(Kind k) {
  constexpr std::array<std::size_t, kinds> rows{3, 12, 12, 6, 8, 6, 4, 16};
  return rows[static_cast<std::size_t>(k)];
}
// How many rows the kernel reads of the later key.
constexpr std::size_t next_rows_of(Kind k) {
  constexpr std::array<std::size_t, kinds> rows{3, 0, 0, 4, 4, 4, 4, 0};
  return rows[static_cast<std::size_t>(k)];
}

// Where a kernel finds u.
enum class Clock : std::uint8_t {
  shared,  // one for all
  lane,    // three rows: start of the lane's segment as the sum of two floats, 1 / its length
  axis,    // nine rows: the same for each of x, y, z
};
constexpr std::size_t rows_of(Clock c) { return c == Clock::shared ? 0 : c == Clock::lane ? 3 : 9; }

struct Job {
  const float* now = nullptr;         // rows of the earlier keys
  const float* next = nullptr;        // and of the later ones
  const float* clock = nullptr;       // rows of the clock; null where it is shared
  std::size_t stride = 0;             // of the three, in floats from one group of eight to the next
  float u = 0;                        // of a shared clock
  float time_high = 0, time_low = 0;  // whose sum is the time, of the other clocks
  std::byte* out = nullptr;           // where results go:
  const std::uint32_t* to = nullptr;  // eight places for each group, in bytes from `out`
  std::size_t groups = 0;
};
using Kernel = void (*)(const Job&);
using Kernels = std::array<std::array<Kernel, 3>, kinds>;  // [kind][clock]

// The same bits from all of them. Null where the machine or the compiler has none.
enum class Path : std::uint8_t { scalar, vector4, vector8 };
const Kernels* kernels(Path path);
const Kernels& best_kernels();
const Kernels* vector8_kernels();  // in a source of its own, built for machines that have AVX2

// sin(x), |x| up to pi / 2, as all kernels have it.
float sine(float x);
Quat rotation_of_turns(Vec3 turns);

struct Timeline {
  std::size_t times = 0, index = 0;  // where they start in Clip::times and Clip::index
  std::uint32_t count = 0, buckets = 0;
  double origin = 0, scale = 0;  // bucket = (time - origin) * scale

  // Keys from `index[b]` on lie in bucket b or later.
  std::uint32_t bucket(double time) const;
};

struct Sheet {
  Kind kind;
  bool step;
  std::uint32_t timeline;
  std::size_t groups, rows, to;  // how many groups; where they start in Clip::rows and Clip::to
};

struct LooseCurve {
  enum class Form : std::uint8_t { value, cubic };  // of vectors and scalars
  std::uint32_t timeline;
  Form form;
  bool step;
  std::size_t keys;  // where they start in Clip::keys
};
// Groups of curves of one kind, each with key times of its own.
struct LooseSet {
  Kind kind;
  Clock clock;
  std::size_t groups, to;
  std::size_t curves;  // where they start in Clip::loose: eight per group, 24 of an axis clock
  std::size_t block, window;  // where they start in a Cursor

  std::size_t per_group() const { return clock == Clock::axis ? 3 * lanes : lanes; }
  std::size_t group_rows() const { return rows_of(clock) + rows_of(kind) + next_rows_of(kind); }
};

// Turns less a multiple of two, which leaves the quaternion as it is and precision to its fraction.
double within_two_turns(double turns);

// Floats of one key of a loose curve.
constexpr std::size_t key_floats(Kind kind, Clock clock, LooseCurve::Form form) {
  const std::size_t n = rows_of(kind);
  if (kind != Kind::cubic && kind != Kind::turns) return n;
  const std::size_t components = clock == Clock::axis ? 1 : 3;
  return form == LooseCurve::Form::cubic ? 4 * components : components;
}

struct Clip {
  double start = 0, end = 0;
  Outside outside = Outside::clamp;
  std::vector<Transform> rest;
  std::vector<double> times;
  std::vector<std::uint32_t> index, to;
  std::vector<Lanes> rows;
  std::vector<float> keys;
  std::vector<Timeline> timelines;
  std::vector<Sheet> sheets;
  std::vector<LooseCurve> loose;
  std::vector<LooseSet> sets;
  struct Weight {
    std::size_t target;
    Curve<float> curve;
  };
  std::size_t weights = 0;  // morph targets
  std::vector<Weight> weight_curves;
  std::size_t block = 0, windows = 0;  // sizes in a Cursor
  const Kernels* kernels = nullptr;
};

Clip pack(const dopesheet::Clip& clip, Outside outside);

// The local poses and morph weights at a time inside the clip. `hints`, `block` and `windows` are a
// cursor's, as sized by `prepare`.
struct Place {
  std::vector<std::uint32_t>& hints;
  std::vector<Lanes>& block;
  std::vector<double>& windows;
};
void prepare(const Clip& clip, Place place);
void play(const Clip& clip, double time, Place place, std::span<Transform> out);

// The last key at or before `time`, and -1 where all are later. Of keys with one time the last one
// counts. With a guess it is cheaper where that, or the key after it, is right.
std::int64_t find(const Clip& clip, const Timeline& timeline, double time);
std::int64_t find(const Clip& clip, const Timeline& timeline, double time, std::int64_t guess);

}  // namespace dopesheet::packed
