// Clip -> document: only what changed is encoded anew. Rules: docs/formats/rfa.md, "Writing".
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "changes.hpp"
#include "dopesheet/bake.hpp"
#include "dopesheet/sample.hpp"
#include "rfa_math.hpp"

namespace dopesheet::rfa {
namespace {

constexpr std::size_t max_keys = 32767;  // stored as int16

const Track* find_track(const Clip& clip, std::size_t target, Channel channel) {
  for (const Track& t : clip.tracks) {
    if (t.target == target && t.channel == channel) return &t;
  }
  return nullptr;
}

std::int64_t to_ticks(double seconds) { return std::llround(seconds * ticks_per_second); }

// The integer quaternion nearest in direction that is not longer than a unit one: two keys that were
// longer would make the engine snap instead of interpolating.
std::array<std::int16_t, 4> quantise(Quat active) {
  active = normalize(active);
  const std::array<double, 4> exact{
      -double{active.x} * rotation_scale, -double{active.y} * rotation_scale,
      -double{active.z} * rotation_scale, double{active.w} * rotation_scale};
  std::array<std::int16_t, 4> best{};
  double best_cosine = -2;
  for (unsigned up = 0; up < 16; ++up) {
    std::array<std::int16_t, 4> q{};
    double along = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      q[i] = static_cast<std::int16_t>(std::floor(exact[i]) + ((up >> i) & 1U));
      along += q[i] * exact[i];
    }
    const std::int64_t square = raw_dot(q, q);
    if (square == 0 || square > std::int64_t{rotation_scale} * rotation_scale) continue;
    const double cosine = along / std::sqrt(static_cast<double>(square));
    if (cosine > best_cosine) {
      best_cosine = cosine;
      best = q;
    }
  }
  return best;
}

std::array<float, 3> raw(Vec3 v) { return {v.x, v.y, v.z}; }

// The keys of one track on the tick clock, before they are stored.
template <class Key>
struct Keys {
  std::map<std::int64_t, Key> at;
  std::size_t merged = 0;

  // Of two keys on one tick the earlier moves one tick ahead: a jump stays a jump.
  void add(double seconds, Key key) {
    const std::int64_t tick = to_ticks(seconds);
    const auto same = at.find(tick);
    if (same != at.end() && !at.emplace(tick - 1, same->second).second) ++merged;
    at.insert_or_assign(tick, std::move(key));
  }
};

class ClipWriter {
 public:
  ClipWriter(const Clip& clip, const File& base, const WriteOptions& options)
      : clip_(in_game_space(clip)),
        before_(to_clip(base, clip_.nodes)),
        file_(base),
        options_(options) {}

  Result<std::vector<Loss>> run() {
    const std::size_t bones = clip_.nodes.size();
    if (bones > file_.bones.size() && bones > static_cast<std::size_t>(max_bones)) {
      return fail("nodes", fmt::format("{} bones; the game's tables hold {}", bones, max_bones));
    }
    header();
    add_bones();
    list_losses();
    if (!write_changed_tracks()) return tl::unexpected(*error_);
    for (const Track& t : before_.tracks) {
      const bool moves = t.channel == Channel::rotation || t.channel == Channel::translation;
      if (moves && t.target < bones && find_track(clip_, t.target, t.channel) == nullptr)
        rest(t.target, t.channel);
    }
    if (error_) return tl::unexpected(*error_);
    // A record that several bones share is one no longer.
    std::vector<std::int32_t> offsets = file_.bone_offsets;
    std::sort(offsets.begin(), offsets.end());
    const bool shared = std::adjacent_find(offsets.begin(), offsets.end()) != offsets.end();
    if (resized_ || (touched_ && shared)) {
      for (Loss& l : layout(file_)) losses_.push_back(std::move(l));
    }
    return std::move(losses_);
  }
  File take() { return std::move(file_); }

 private:
  bool write_changed_tracks() {
    Clip changed = clip_;
    std::erase_if(changed.tracks, [&](const Track& t) { return !is_changed(t); });
    if (changed.tracks.empty()) return true;
    BakeOptions bake_options;
    bake_options.keep_rotations = {Interp::step, Interp::linear, Interp::slerp_ease};
    bake_options.max_mm = options_.max_mm;
    bake_options.max_degrees = options_.max_degrees;
    const auto baked = bake(changed, bake_options);
    if (!baked) {
      error_ = baked.error();
      return false;
    }
    if (baked->tracks > 0) {
      lose("tracks",
           fmt::format("{} tracks of interpolations that RFA lacks were baked, {} keys to {}, "
                       "error {:.3g} mm, {:.3g} degrees",
                       baked->tracks, baked->keys_before, baked->keys_after, baked->error.max_mm,
                       baked->error.max_degrees));
    }
    if (!baked->reached) lose("tracks", "the tolerance was not reached: bones are too far out");
    for (const Track& t : baked->clip.tracks) write_track(t);
    return true;
  }
  static Clip in_game_space(Clip clip) {
    if (clip.space == Space::left_handed) return clip;
    clip.space = Space::left_handed;  // the mirror is its own inverse
    clip = to_right_handed(std::move(clip));
    clip.space = Space::left_handed;
    return clip;
  }
  bool is_changed(const Track& t) const {
    if (t.channel != Channel::rotation && t.channel != Channel::translation) return false;
    const Track* old = find_track(before_, t.target, t.channel);
    return old == nullptr || !same_curve(t, *old);
  }
  void lose(std::string path, std::string text) {
    losses_.push_back({std::move(path), std::move(text)});
  }
  tl::unexpected<Error> fail(std::string path, std::string text) {
    return tl::unexpected(Error{Code::cannot_represent, 0, std::move(path), std::move(text)});
  }
  void refuse(std::string path, std::string text) {
    if (!error_) error_ = Error{Code::cannot_represent, 0, std::move(path), std::move(text)};
  }

  void tick_field(const char* name, double seconds, std::int32_t& field) {
    const std::int64_t t = to_ticks(seconds);
    if (t < INT32_MIN || t > INT32_MAX)
      return refuse(name, "the time does not fit the 32 bit tick count");
    field = static_cast<std::int32_t>(t);
  }
  template <class T>
  const T* changed_property(const char* key) {
    const PropertyValue* now = find_property(clip_.properties, key);
    const PropertyValue* old = find_property(before_.properties, key);
    if (now == nullptr || (old != nullptr && *now == *old)) return nullptr;
    const T* value = std::get_if<T>(now);
    if (value == nullptr) lose(key, "has another type of value than the file; it is not written");
    return value;
  }
  bool same_weights() const {
    const auto count = [](const Clip& c) {
      return std::count_if(c.tracks.begin(), c.tracks.end(),
                           [](const Track& t) { return t.channel == Channel::weight; });
    };
    if (count(clip_) != count(before_)) return false;
    return std::all_of(clip_.tracks.begin(), clip_.tracks.end(), [&](const Track& t) {
      const Track* old = &t;
      if (t.channel == Channel::weight) old = find_track(before_, t.target, t.channel);
      return old != nullptr && same_curve(t, *old);
    });
  }
  void header() {
    if (clip_.start != before_.start) tick_field("start", clip_.start, file_.start_time);
    if (clip_.end != before_.end) tick_field("end", clip_.end, file_.end_time);
    const std::int64_t span = std::int64_t{file_.end_time} - file_.start_time;
    for (const auto& [key, field] : {std::pair{"rf_ramp_in_time", &file_.ramp_in},
                                     std::pair{"rf_ramp_out_time", &file_.ramp_out}}) {
      if (const auto* v = changed_property<std::int64_t>(key)) {
        if (*v < 0 || *v > INT32_MAX) {
          refuse(key, "is not a tick count from 0 to 2147483647");
          continue;
        }
        *field = static_cast<std::int32_t>(*v);
        if (*v > span) lose(key, fmt::format("{} ticks are longer than the clip's {}", *v, span));
      }
    }
    if (const auto* v = changed_property<float>("rf_pos_reduction")) file_.pos_reduction = *v;
    if (const auto* v = changed_property<float>("rf_rot_reduction")) file_.rot_reduction = *v;
    const auto copy = [&](const char* key, auto& field) {
      const auto* v = changed_property<std::vector<float>>(key);
      if (v == nullptr) return;
      if (v->size() != field.size()) {
        return lose(key, fmt::format("has {} numbers, the file {}", v->size(), field.size()));
      }
      std::copy(v->begin(), v->end(), field.begin());
    };
    copy("rf_total_rotation", file_.total_rotation);
    copy("rf_total_translation", file_.total_translation);
  }
  void add_bones() {
    while (file_.bones.size() < clip_.nodes.size()) {
      const std::size_t i = file_.bones.size();
      file_.bones.emplace_back();
      resized_ = true;
      for (const Channel c : {Channel::rotation, Channel::translation}) {
        if (find_track(clip_, i, c) == nullptr) rest(i, c);
      }
    }
    std::vector<float> weights;  // as they were: of two tracks of a bone, the changed one counts
    weights.reserve(file_.bones.size());
    for (const Bone& b : file_.bones) weights.push_back(b.weight);
    for (std::size_t i = 0; i < clip_.nodes.size(); ++i) {
      for (const Channel c : {Channel::rotation, Channel::translation}) {
        const Track* now = find_track(clip_, i, c);
        const auto* v = now != nullptr ? find_property(now->properties, "rf_weight") : nullptr;
        const auto* w = v != nullptr ? std::get_if<float>(v) : nullptr;
        if (w == nullptr || (i < weights.size() && same_bits(*w, weights[i]))) continue;
        file_.bones[i].weight = *w;
        touched_ = true;
        if (!(*w >= 0 && *w <= 10)) {
          lose(fmt::format("bones[{}].weight", i), fmt::format("{} is outside 0 to 10", *w));
        }
      }
    }
  }
  void list_losses() {
    if (!same_bits(clip_.morph, before_.morph) || !same_weights())
      lose("morph", "changed morph targets are not written");
    const bool moved = clip_.start != before_.start || clip_.end != before_.end;
    if (moved && file_.version == 7 && !before_.morph.positions.empty()) {
      lose("morph", "version 7 spreads morph keyframes over the clip: its new range retimes them");
    }
    if (clip_.outside != before_.outside)
      lose("outside", "RFA does not say what happens at the ends");
    if (clip_.frames_per_second != before_.frames_per_second) {
      lose("frames_per_second", "RFA holds no frame rate");
    }
    if (clip_.nodes.size() < before_.nodes.size()) {
      lose("nodes", fmt::format("{} bones that the clip lacks are kept as they were",
                                before_.nodes.size() - clip_.nodes.size()));
    }
    for (const char* key : {"rf_version", "rf_start_time", "rf_end_time"}) {
      const PropertyValue* now = find_property(clip_.properties, key);
      const PropertyValue* old = find_property(before_.properties, key);
      if (now != nullptr && !(*now == *old)) {
        lose(key,
             "is not taken from the property; times come from the clip, the version from the file");
      }
    }
    if (!clip_.events.empty()) lose("events", "RFA holds no events");
    for (std::size_t i = 0; i < clip_.nodes.size(); ++i) {
      if (!(clip_.nodes[i].rest.scale == Vec3{1, 1, 1})) {
        lose(fmt::format("nodes[{}].rest.scale", i), "RFA holds no scale");
      }
    }
    for (std::size_t i = 0; i < clip_.tracks.size(); ++i) {
      const Track& t = clip_.tracks[i];
      const bool known = t.channel == Channel::rotation || t.channel == Channel::translation ||
                         t.channel == Channel::weight;
      if (!known)
        lose(fmt::format("tracks[{}]", i), fmt::format("RFA holds no {} track", name(t.channel)));
    }
  }

  // A track that is gone shows the rest pose, which the file must spell out.
  void rest(std::size_t bone, Channel channel) {
    const Transform& r = clip_.nodes[bone].rest;
    if (channel == Channel::rotation) {
      Curve<Quat> c;
      c.times = {clip_.start};
      c.values = {r.rotation};
      write_track({bone, channel, {}, std::move(c), {}});
    } else {
      Curve<Vec3> c;
      c.times = {clip_.start};
      c.values = {r.translation};
      write_track({bone, channel, {}, std::move(c), {}});
    }
  }
  void write_track(const Track& t) {
    Bone& bone = file_.bones[t.target];
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
      replace(t.target, "rotation_keys", bone.rotation_keys, rotation_keys(*q));
    } else if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      replace(t.target, "position_keys", bone.position_keys, position_keys(*v));
    }
  }
  template <class Stored, class Key>
  void replace(std::size_t bone, const char* what, std::vector<Stored>& stored, Keys<Key> keys) {
    const std::string path = fmt::format("bones[{}].{}", bone, what);
    if (keys.merged > 0) {
      lose(path, fmt::format("{} keys within one tick of another were merged", keys.merged));
    }
    // Hold the first and last key out to the ends of the clip: two keys at least, as in the game's files.
    auto& at = keys.at;
    if (at.begin()->first > file_.start_time) {
      at.begin()->second = hold_before(at.begin()->second);
      at.emplace(file_.start_time, held(at.begin()->second));
    }
    if (at.rbegin()->first < file_.end_time || at.size() == 1) {
      const std::int64_t last = at.rbegin()->first;
      at.rbegin()->second = hold_after(at.rbegin()->second);
      at.emplace(std::max(last + 1, std::int64_t{file_.end_time}), held(at.rbegin()->second));
    }
    if (at.size() > max_keys) {
      return refuse(path, fmt::format("{} keys; the file can count {}", at.size(), max_keys));
    }
    const std::int64_t first = at.begin()->first, last = at.rbegin()->first;
    if (first < INT32_MIN || last > INT32_MAX) {
      return refuse(path, "a key's time does not fit the 32 bit tick count");
    }
    touched_ = true;
    resized_ = resized_ || stored.size() != at.size();
    stored = store(at, stored);
  }

  struct Rotation {
    Quat value;
    Params eases{};
  };
  struct Position {
    Vec3 value, in, out;
  };
  static Rotation held(const Rotation& k) { return {k.value, {}}; }
  static Position held(const Position& k) { return {k.value, k.value, k.value}; }
  // The handle on the side that faces the held key.
  static Rotation hold_before(const Rotation& k) { return k; }
  static Rotation hold_after(const Rotation& k) { return k; }
  static Position hold_before(const Position& k) { return {k.value, k.value, k.out}; }
  static Position hold_after(const Position& k) { return {k.value, k.in, k.value}; }

  // A step becomes a hold that ends one tick before the next key.
  static bool holds(Interp interp, const std::vector<double>& times, std::size_t i) {
    return interp == Interp::step && i + 1 < times.size() &&
           to_ticks(times[i + 1]) - to_ticks(times[i]) > 1;
  }
  static Keys<Rotation> rotation_keys(const Curve<Quat>& c) {
    Keys<Rotation> keys;
    for (std::size_t i = 0; i < c.times.size(); ++i) {
      keys.add(c.times[i], {c.values[i], c.params.empty() ? Params{} : c.params[i]});
      if (holds(c.interp, c.times, i))
        keys.add(c.times[i + 1] - 1.0 / ticks_per_second, {c.values[i], {}});
    }
    return keys;
  }
  static Keys<Position> position_keys(const Curve<Vec3>& c) {
    Keys<Position> keys;
    for (std::size_t i = 0; i < c.times.size(); ++i) {
      const Vec3 v = c.values[i];
      Position k{v, v, v};
      if (c.interp == Interp::bezier) {
        k = {v, c.in[i], c.out[i]};
      } else if (c.interp == Interp::hermite) {
        const double before = i > 0 ? c.times[i] - c.times[i - 1] : 0;
        const double after = i + 1 < c.times.size() ? c.times[i + 1] - c.times[i] : 0;
        k = {v, v - static_cast<float>(before / 3) * c.in[i],
             v + static_cast<float>(after / 3) * c.out[i]};
      }
      keys.add(c.times[i], k);
      if (holds(c.interp, c.times, i)) keys.add(c.times[i + 1] - 1.0 / ticks_per_second, {v, v, v});
    }
    if (c.interp == Interp::linear || c.interp == Interp::step) thirds(keys);
    return keys;
  }
  // Handles a third of the way to the neighbours: constant speed.
  static void thirds(Keys<Position>& keys) {
    for (auto a = keys.at.begin(); a != keys.at.end(); ++a) {
      const auto b = std::next(a);
      if (b == keys.at.end()) break;
      const Vec3 third = (1.0F / 3) * (b->second.value - a->second.value);
      a->second.out = a->second.value + third;
      b->second.in = b->second.value - third;
    }
  }

  static std::vector<RotationKey> store(const std::map<std::int64_t, Rotation>& keys,
                                        const std::vector<RotationKey>& old) {
    std::vector<RotationKey> out;
    for (const auto& [tick, key] : keys) {
      RotationKey k;
      k.time = static_cast<std::int32_t>(tick);
      const auto same_time =
          std::find_if(old.begin(), old.end(), [&](const auto& o) { return o.time == k.time; });
      if (same_time != old.end()) k = *same_time;
      if (same_time == old.end() || !shows(same_time->rotation, key.value)) {
        k.rotation = quantise(key.value);
      }
      k.ease_in = ease_byte(key.eases[0], k.ease_in);
      k.ease_out = ease_byte(key.eases[1], k.ease_out);
      if (!out.empty() && raw_dot(out.back().rotation, k.rotation) < 0) {
        for (auto& c : k.rotation) c = static_cast<std::int16_t>(-c);
      }
      out.push_back(k);
    }
    return out;
  }
  // True when stored integers are what a clip's value came from.
  static bool shows(const std::array<std::int16_t, 4>& stored, Quat value) {
    const Quat q = normalize({-static_cast<float>(stored[0]), -static_cast<float>(stored[1]),
                              -static_cast<float>(stored[2]), static_cast<float>(stored[3])});
    return q == value || Quat{-q.x, -q.y, -q.z, -q.w} == value;
  }
  static std::int8_t ease_byte(float fraction, std::int8_t old) {
    if (static_cast<float>(old) / 127 == fraction) return old;
    return static_cast<std::int8_t>(std::clamp(std::lround(fraction * 127), 0L, 127L));
  }
  static std::vector<PositionKey> store(const std::map<std::int64_t, Position>& keys,
                                        const std::vector<PositionKey>&) {
    std::vector<PositionKey> out;
    out.reserve(keys.size());
    for (const auto& [tick, key] : keys) {
      out.push_back({static_cast<std::int32_t>(tick), raw(key.value), raw(key.in), raw(key.out)});
    }
    return out;
  }

  Clip clip_, before_;
  File file_;
  const WriteOptions& options_;
  std::vector<Loss> losses_;
  std::optional<Error> error_;
  bool touched_ = false, resized_ = false;
};

}  // namespace

Result<std::vector<Loss>> from_clip(const Clip& clip, File& base, const WriteOptions& options) {
  ClipWriter writer(clip, base, options);
  auto losses = writer.run();
  if (losses) base = writer.take();
  return losses;
}

}  // namespace dopesheet::rfa
