// Playing packed clips: which keys, and what their segments are, before the kernels compute.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "clip/packed.hpp"

namespace dopesheet {
namespace packed {
namespace {

static_assert(sizeof(Transform) == 10 * sizeof(float));
constexpr std::uint32_t nothing_yet = 0xFFFFFFFE;

// A segment that holds its key's value has no length: u is 0.
struct Segment {
  double start = 0;
  float per_second = 0;
};
Segment segment(const double* times, std::size_t count, std::int64_t key) {
  if (key < 0) return {};
  const auto k = static_cast<std::size_t>(key);
  if (k + 1 == count) return {times[k], 0};
  const auto rate = static_cast<float>(1 / (times[k + 1] - times[k]));
  return {times[k], rate < 1e30F ? rate : 0};
}

void prefetch([[maybe_unused]] const void* p) {
#if defined(__GNUC__) || defined(__clang__)
  __builtin_prefetch(p);
#endif
}

void set(Lanes* rows, std::size_t row, std::size_t lane, float v) { rows[row].values[lane] = v; }

// A cursor's windows are of each group the time for which nothing changes (from <= t < to), then the
// same of each of its curves. The lanes whose time has left its window get their segments. In three rounds, so that the memory of
// all of them is on its way before the first is needed.
class Refresh {
 public:
  Refresh(const Clip& clip, const LooseSet& set, std::size_t group, double time, Place place)
      : clip_(clip),
        set_(set),
        curves_(clip.loose.data() + set.curves + group * set.per_group()),
        hints_(place.hints.data() + clip.sheets.size() + set.curves + group * set.per_group()),
        windows_(place.windows.data() + set.window + 2 * group * (set.per_group() + 1)),
        rows_(place.block.data() + set.block + group * set.group_rows()),
        time_(time) {}

  void run() {
    const std::size_t n = set_.per_group();
    for (std::size_t i = 0; i < n; ++i) {
      const double* w = windows_ + 2 * (i + 1);
      left_[count_] = i;
      count_ += time_ >= w[0] && time_ < w[1] ? 0 : 1;
    }
    for (std::size_t j = 0; j < count_; ++j) find_key(j);
    for (std::size_t j = 0; j < count_; ++j) {
      unpack(curves_[left_[j]], keys_[j], rows_, left_[j] % lanes, left_[j] / lanes);
    }
    double from = -INFINITY, to = INFINITY;
    for (std::size_t i = 0; i < n; ++i) {
      from = std::max(from, windows_[2 * (i + 1)]);
      to = std::min(to, windows_[2 * (i + 1) + 1]);
    }
    windows_[0] = from;
    windows_[1] = to;
  }

 private:
  void find_key(std::size_t j) {
    const std::size_t i = left_[j];
    const LooseCurve& c = curves_[i];
    const Timeline& line = clip_.timelines[c.timeline];
    const double* times = clip_.times.data() + line.times;
    const std::int64_t k = find(clip_, line, time_, std::int64_t{hints_[i]} - 1);
    keys_[j] = k;
    hints_[i] = static_cast<std::uint32_t>(k + 1);
    windows_[2 * (i + 1)] = k < 0 ? -INFINITY : times[k];
    windows_[2 * (i + 1) + 1] = k + 1 == line.count ? INFINITY : times[k + 1];
    const std::size_t n = key_floats(set_.kind, set_.clock, c.form);
    prefetch(clip_.keys.data() + c.keys +
             static_cast<std::size_t>(std::max<std::int64_t>(k, 0)) * n);
  }

  // One curve's segment into one lane of a cursor's block. `axis` is that of an axis clock.
  void unpack(const LooseCurve& c, std::int64_t key, Lanes* rows, std::size_t lane,
              std::size_t axis) const {
    const Timeline& line = clip_.timelines[c.timeline];
    const Segment s = segment(clip_.times.data() + line.times, line.count, key);
    const auto high = static_cast<float>(s.start);
    set(rows, 3 * axis, lane, high);
    set(rows, 3 * axis + 1, lane, static_cast<float>(s.start - high));
    set(rows, 3 * axis + 2, lane, c.step ? 0 : s.per_second);
    const auto k = static_cast<std::size_t>(std::max<std::int64_t>(key, 0));
    const std::size_t n = key_floats(set_.kind, set_.clock, c.form);
    const float* now = clip_.keys.data() + c.keys + k * n;
    const bool moves = key >= 0 && k + 1 < line.count && !c.step;
    const float* next = moves ? now + n : now;
    Lanes* values = rows + rows_of(set_.clock);
    if (set_.kind == Kind::cubic || set_.kind == Kind::turns) {
      components(c, now, next, values, lane, axis);
      return;
    }
    const std::size_t count = rows_of(set_.kind);
    for (std::size_t i = 0; i < count; ++i) set(values, i, lane, now[i]);
    for (std::size_t i = 0; i < next_rows_of(set_.kind); ++i) {
      set(values, count + i, lane, next[i]);
    }
  }

  // Cubics in the order of the kernels: c0 of x y z, c1 of x y z, ...
  void components(const LooseCurve& c, const float* now, const float* next, Lanes* values,
                  std::size_t lane, std::size_t axis) const {
    const std::size_t n = set_.clock == Clock::axis ? 1 : 3;
    for (std::size_t i = 0; i < n; ++i) {
      std::array<float, 4> k{};
      if (c.form == LooseCurve::Form::cubic) {
        for (std::size_t d = 0; d < 4; ++d) k[d] = now[d * n + i];
      } else {
        k[0] = set_.kind == Kind::turns ? static_cast<float>(within_two_turns(now[i])) : now[i];
        k[1] = next[i] - now[i];
      }
      for (std::size_t d = 0; d < 4; ++d) set(values, 3 * d + axis + i, lane, k[d]);
    }
  }

  const Clip& clip_;
  const LooseSet& set_;
  const LooseCurve* curves_;
  std::uint32_t* hints_;
  double* windows_;
  Lanes* rows_;
  double time_;
  std::size_t count_ = 0;
  std::array<std::size_t, 3 * lanes + 1> left_;
  std::array<std::int64_t, 3 * lanes + 1> keys_;
};

class Player {
 public:
  Player(const Clip& clip, double time, Place place, std::span<Transform> out)
      : clip_(clip),
        time_(std::clamp(time, -1e30, 1e30)),  // whose halves are finite floats
        place_(place),
        out_(reinterpret_cast<std::byte*>(out.data())),
        bytes_(out.size() * sizeof(Transform)),
        whole_(out.size() == clip.rest.size()) {}

  void sheets() {
    std::uint32_t timeline = 0xFFFFFFFF;
    std::int64_t key = -1;
    for (std::size_t i = 0; i < clip_.sheets.size(); ++i) {
      const Sheet& s = clip_.sheets[i];
      const Timeline& line = clip_.timelines[s.timeline];
      if (s.timeline != timeline) {
        timeline = s.timeline;
        std::uint32_t& hint = place_.hints[i];
        key = find(clip_, line, time_, std::int64_t{hint} - 1);
        hint = static_cast<std::uint32_t>(key + 1);
      }
      const double* times = clip_.times.data() + line.times;
      const auto k = static_cast<std::size_t>(std::max<std::int64_t>(key, 0));
      const bool moves = key >= 0 && k + 1 < line.count && !s.step;
      const std::size_t row = s.groups * rows_of(s.kind);
      Job job;
      job.now = clip_.rows[s.rows + k * row].values.data();
      job.next = moves ? job.now + row * lanes : job.now;
      job.stride = rows_of(s.kind) * lanes;
      if (moves) job.u = static_cast<float>((time_ - times[k]) / (times[k + 1] - times[k]));
      run(job, s.kind, Clock::shared, s.groups, s.to);
    }
  }

  void loose() {
    for (const LooseSet& s : clip_.sets) {
      const std::size_t step = 2 * (s.per_group() + 1);
      for (std::size_t g = 0; g < s.groups; ++g) {
        const double* all = place_.windows.data() + s.window + g * step;
        if (!(time_ >= all[0] && time_ < all[1])) Refresh(clip_, s, g, time_, place_).run();
      }
      Job job;
      job.clock = place_.block[s.block].values.data();
      job.now = job.clock + rows_of(s.clock) * lanes;
      job.next = job.now + rows_of(s.kind) * lanes;
      job.stride = s.group_rows() * lanes;
      job.time_high = static_cast<float>(time_);
      job.time_low = static_cast<float>(time_ - job.time_high);
      run(job, s.kind, s.clock, s.groups, s.to);
    }
  }

 private:
  void run(Job& job, Kind kind, Clock clock, std::size_t groups, std::size_t to) const {
    const Kernel kernel =
        (*clip_.kernels)[static_cast<std::size_t>(kind)][static_cast<std::size_t>(clock)];
    job.to = clip_.to.data() + to;
    job.groups = groups;
    job.out = out_;
    if (whole_) return kernel(job);
    some(job, kernel, kind);
  }

  // Into fewer nodes than there are: by way of a few of our own.
  void some(Job job, Kernel kernel, Kind kind) const {
    const std::size_t groups = job.groups;
    const bool vector = kind == Kind::line || kind == Kind::cubic;
    const std::size_t size = sizeof(float) * (vector ? 3 : 4);
    const std::uint32_t* to = job.to;
    std::array<std::byte, lanes * 4 * sizeof(float)> results;
    std::array<std::uint32_t, lanes> places;
    for (std::size_t i = 0; i < lanes; ++i) places[i] = static_cast<std::uint32_t>(i * size);
    job.groups = 1;
    job.out = results.data();
    job.to = places.data();
    for (std::size_t g = 0; g < groups; ++g, to += lanes) {
      kernel(job);
      for (std::size_t i = 0; i < lanes; ++i) {
        if (to[i] < bytes_) std::memcpy(out_ + to[i], results.data() + i * size, size);
      }
      job.now += job.stride;
      job.next += job.stride;
      if (job.clock != nullptr) job.clock += job.stride;
    }
  }

  const Clip& clip_;
  double time_;
  Place place_;
  std::byte* out_;
  std::size_t bytes_;
  bool whole_;
};

}  // namespace

std::uint32_t Timeline::bucket(double time) const {
  const double b = (time - origin) * scale;
  if (!(b >= 1)) return 0;
  return b < buckets ? static_cast<std::uint32_t>(b) : buckets - 1;
}

std::int64_t find(const Clip& clip, const Timeline& line, double time) {
  const double* times = clip.times.data() + line.times;
  const std::uint32_t* index = clip.index.data() + line.index;
  const std::uint32_t b = line.bucket(time);
  const double* from = times + index[b];
  const double* to = times + index[b + 1];
  // Without branches that random times would make a guess of. Keys before the bucket all count, and
  // those beyond it do not, so that the eight may start early and end late.
  constexpr std::uint32_t few = 8;
  if (to - from > few || line.count < few) return std::upper_bound(from, to, time) - times - 1;
  from = std::min(from, times + line.count - few);
  std::int64_t before = 0;
  for (std::uint32_t i = 0; i < few; ++i) before += from[i] <= time ? 1 : 0;
  return from + before - times - 1;
}

std::int64_t find(const Clip& clip, const Timeline& line, double time, std::int64_t guess) {
  const double* times = clip.times.data() + line.times;
  const std::int64_t n = line.count;
  const auto good = [&](std::int64_t i) {
    return i >= -1 && i < n && (i < 0 || times[i] <= time) && (i + 1 == n || time < times[i + 1]);
  };
  for (const std::int64_t i : {guess, guess + 1, guess - 1}) {
    if (good(i)) return i;
  }
  return find(clip, line, time);
}

void prepare(const Clip& clip, Place place) {
  place.hints.assign(clip.sheets.size() + clip.loose.size() + clip.weight_curves.size(),
                     nothing_yet);
  place.block.assign(clip.block, {});
  place.windows.resize(clip.windows);
  for (std::size_t i = 0; i < clip.windows; i += 2) {
    place.windows[i] = INFINITY;
    place.windows[i + 1] = -INFINITY;
  }
}

void play(const Clip& clip, double time, Place place, std::span<Transform> out) {
  out = out.first(std::min(out.size(), clip.rest.size()));
  std::copy_n(clip.rest.begin(), out.size(), out.begin());
  Player player(clip, time, place, out);
  player.sheets();
  player.loose();
}

}  // namespace packed

Sampler::Sampler(const Clip& clip) : Sampler(clip, clip.outside) {}
Sampler::Sampler(const Clip& clip, Outside outside)
    : clip_(std::make_shared<const packed::Clip>(packed::pack(clip, outside))) {}

std::size_t Sampler::nodes() const { return clip_->rest.size(); }
std::size_t Sampler::weights() const { return clip_->weights; }
double Sampler::start() const { return clip_->start; }
double Sampler::end() const { return clip_->end; }
Outside Sampler::outside() const { return clip_->outside; }

Cursor Sampler::cursor() const {
  Cursor c;
  packed::prepare(*clip_, {c.hints_, c.block_, c.windows_});
  return c;
}

double Sampler::inside(double time) const {
  const double length = clip_->end - clip_->start;
  if (!(length > 0) || !std::isfinite(time)) return clip_->start;
  if (clip_->outside == Outside::clamp) return std::clamp(time, clip_->start, clip_->end);
  const double t = std::fmod(time - clip_->start, length);
  return clip_->start + (t < 0 ? t + length : t);
}

void Sampler::sample(double time, Cursor& cursor, std::span<Transform> out) const {
  packed::play(*clip_, inside(time), {cursor.hints_, cursor.block_, cursor.windows_}, out);
}

void Sampler::sample_weights(double time, Cursor& cursor, std::span<float> out) const {
  time = inside(time);
  std::fill(out.begin(), out.end(), 0.F);
  std::size_t hint = clip_->sheets.size() + clip_->loose.size();
  for (const auto& w : clip_->weight_curves) {
    std::uint32_t& at = cursor.hints_[hint++];
    if (w.target < out.size()) out[w.target] = evaluate(w.curve, time, at);
  }
}

}  // namespace dopesheet
