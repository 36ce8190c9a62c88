// Clip -> document: only what changed is encoded anew. Rules: docs/formats/totemtech.md, "Writing".
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <tuple>

#include "dopesheet/bake.hpp"
#include "totemtech_math.hpp"

namespace dopesheet::totemtech {
namespace {

constexpr int last_frame = 65535;

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T>
bool same_bits(const Curve<T>& a, const Curve<T>& b) {
  return a.interp == b.interp && same_bits(a.times, b.times) && same_bits(a.values, b.values) &&
         same_bits(a.in, b.in) && same_bits(a.out, b.out) && same_bits(a.params, b.params);
}
template <std::size_t N>
bool same_bits(const std::array<Curve<float>, N>& a, const std::array<Curve<float>, N>& b) {
  return std::equal(a.begin(), a.end(), b.begin(),
                    [](const auto& x, const auto& y) { return same_bits(x, y); });
}
bool same_curve(const Track& a, const Track& b) {
  if (a.curve.index() != b.curve.index()) return false;
  return std::visit(
      [&](const auto& x) {
        return same_bits(x, std::get<std::remove_cvref_t<decltype(x)>>(b.curve));
      },
      a.curve);
}
const PropertyValue* find_property(const Properties& list, std::string_view key) {
  for (const Property& p : list) {
    if (p.key == key) return &p.value;
  }
  return nullptr;
}

void move_by(Clip& clip, double seconds) {
  const auto curve = [&](auto& c) {
    for (double& t : c.times) t += seconds;
  };
  for (Track& t : clip.tracks) {
    if (auto* axes = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
      for (auto& c : *axes) curve(c);
    }
    if (auto* f = std::get_if<Curve<float>>(&t.curve)) curve(*f);
    if (auto* v = std::get_if<Curve<Vec3>>(&t.curve)) curve(*v);
    if (auto* q = std::get_if<Curve<Quat>>(&t.curve)) curve(*q);
  }
  for (Event& e : clip.events) e.time += seconds;
  clip.start += seconds;
  clip.end += seconds;
}

// The same bits with those that say how to interpolate set anew, where they say something else.
std::uint16_t interp_bits(Interp kind, std::uint16_t old, Flags flags) {
  if (kind == Interp::bezier || (kind == Interp::linear && flags == Flags::engine))
    kind = Interp::hermite;
  if (kind_of(old, flags) == kind) return old;
  const unsigned rest = old & ~(smooth_bit | linear_bit | hold_bit);
  const unsigned bit = kind == Interp::step     ? hold_bit
                       : kind == Interp::linear ? linear_bit
                                                : smooth_bit;
  return static_cast<std::uint16_t>(rest | bit);
}
std::uint16_t rotation_bits(Interp kind, std::uint16_t old) {
  const bool holds = kind == Interp::step;
  if (((old & hold_bit) != 0) == holds) return old;
  return static_cast<std::uint16_t>(holds ? old | hold_bit : (old & ~hold_bit) | smooth_bit);
}

class ClipWriter {
 public:
  ClipWriter(const Clip& clip, const File& base, const WriteOptions& options)
      : clip_(to_right_handed(clip)), file_(base), options_(options), said_(options.meaning) {
    const Meaning m = totemtech::meaning(base, options.meaning);
    said_.frames_per_second = m.frames_per_second;
    said_.tangent_sign = m.tangent_sign > 0 ? TangentSign::plus : TangentSign::minus;
    said_.track_order = m.scale_first ? TrackOrder::scale_first : TrackOrder::translation_first;
    units_.meaning = m;
    if (clip_.start != 0) {
      lose("start",
           fmt::format("the animation begins at 0: everything is moved by {:.4g} s", -clip_.start));
      move_by(clip_, -clip_.start);
    }
    before_ = to_clip(base, said_, clip_.nodes);
    std::vector<Node> nodes = clip_.nodes;
    const Targets targets = assign(base, nullptr, nodes);
    for (std::size_t i = 0; i < targets.nodes.size(); ++i) node_of_[targets.nodes[i]] = i;
    for (std::size_t i = 0; i < targets.meshes.size(); ++i) mesh_of_[targets.meshes[i]] = i;
  }

  Result<std::vector<Loss>> run() {
    header();
    list_losses();
    std::map<Key, const Track*> old, now;
    for (const Track& t : before_.tracks) old.emplace(key_of(t), &t);
    for (const Track& t : clip_.tracks) now.emplace(key_of(t), &t);
    Clip changed = clip_;
    std::erase_if(changed.tracks, [&](const Track& t) {
      const auto was = old.find(key_of(t));
      return t.channel == Channel::weight || (was != old.end() && same_curve(t, *was->second));
    });
    if (!write(changed)) return tl::unexpected(*error_);
    for (const auto& [key, track] : old) {
      const bool is_here = track->channel == Channel::custom || track->target < clip_.nodes.size();
      if (is_here && !now.contains(key)) {
        with_keyframer(*track, [](auto& k) { k.keys.clear(); });
      }
    }
    if (error_) return tl::unexpected(*error_);
    if (written_ > 0 && (off_ > 1e-7 || degrees_ > 1e-4 || moved_ > 1e-9)) {
      lose("tracks", fmt::format("{} tracks were written anew: values are off by up to {:.2g}, "
                                 "rotations by {:.2g} degrees, times by {:.2g} ms",
                                 written_, off_, degrees_, moved_ * 1000));
    }
    if (file_.has_header != 0) layout(file_);
    return std::move(losses_);
  }
  File take() { return std::move(file_); }

 private:
  using Key = std::tuple<std::size_t, Channel, std::string>;
  static Key key_of(const Track& t) { return {t.target, t.channel, t.name}; }

  void lose(std::string path, std::string text) {
    losses_.push_back({std::move(path), std::move(text)});
  }
  void refuse(std::string path, std::string text) {
    if (!error_) error_ = Error{Code::cannot_represent, 0, std::move(path), std::move(text)};
  }

  void header() {
    if (clip_.end != before_.end) file_.length = static_cast<float>(clip_.end);
    const auto* now = find_property(clip_.properties, "tt_flag");
    const auto* flag = now != nullptr ? std::get_if<std::int64_t>(now) : nullptr;
    if (flag != nullptr && *flag != file_.flag) {
      if (*flag < 0 || *flag > 0xFFFF) return refuse("tt_flag", "is not from 0 to 65535");
      file_.flag = static_cast<std::uint16_t>(*flag);
    }
  }

  void list_losses() {
    if (clip_.events != before_.events) lose("events", "changed messages are not written");
    if (!clip_.morph.positions.empty()) lose("morph", "the format holds no morph targets");
    if (clip_.outside != before_.outside)
      lose("outside", "the format does not say what happens at the ends");
    if (clip_.frames_per_second != before_.frames_per_second)
      lose("frames_per_second", "the format holds no frame rate");
    if (clip_.nodes.size() < before_.nodes.size()) {
      lose("nodes", fmt::format("{} nodes that the clip lacks are kept as they were",
                                before_.nodes.size() - clip_.nodes.size()));
    }
    for (std::size_t i = 0; i < clip_.tracks.size(); ++i) {
      if (clip_.tracks[i].channel == Channel::weight)
        lose(fmt::format("tracks[{}]", i), "the format holds no morph weights");
    }
  }

  bool write(const Clip& changed) {
    if (changed.tracks.empty()) return !error_;
    BakeOptions o;
    o.keep_rotations = {Interp::step, Interp::linear, Interp::slerp_stored};
    o.max_mm = options_.max_mm;
    o.max_degrees = options_.max_degrees;
    const auto baked = bake(changed, o);
    if (!baked) {
      error_ = baked.error();
      return false;
    }
    if (baked->tracks > 0) {
      lose("tracks",
           fmt::format("{} tracks of interpolations that the format lacks were baked, {} keys to "
                       "{}, error {:.3g} mm, {:.3g} degrees",
                       baked->tracks, baked->keys_before, baked->keys_after, baked->error.max_mm,
                       baked->error.max_degrees));
    }
    if (!baked->reached) lose("tracks", "the tolerance was not reached: bones are too far out");
    for (std::size_t i = 0; i < baked->clip.tracks.size(); ++i) {
      Track t = baked->clip.tracks[i];
      put_on_frames(changed.tracks[i], t);
      if (!fits(t)) {
        lose(track_path(t), "the format holds no such track");
        continue;
      }
      with_keyframer(t, [&](auto& k) {
        encode(t, k);
        ++written_;
      });
    }
    return !error_;
  }

  // Baked keys may stand anywhere: on a frame they show what the curve had there.
  void put_on_frames(const Track& source, Track& baked) const {
    const auto* axes = std::get_if<std::array<Curve<float>, 3>>(&source.curve);
    if (auto* q = std::get_if<Curve<Quat>>(&baked.curve)) {
      const auto* from = std::get_if<Curve<Quat>>(&source.curve);
      if (from != nullptr && from->interp == q->interp) return;  // not baked
      snap(*q, [&](double t) {
        std::uint32_t hint = 0;
        return from != nullptr ? evaluate(*from, t, hint) : rotation_of_turns(axes_at(*axes, t));
      });
      for (std::size_t i = 1; i < q->values.size(); ++i) {
        Quat& v = q->values[i];
        if (dopesheet::dot(q->values[i - 1], v) < 0) v = {-v.x, -v.y, -v.z, -v.w};
      }
    } else if (auto* v = std::get_if<Curve<Vec3>>(&baked.curve); v != nullptr && axes != nullptr) {
      snap(*v, [&](double t) { return axes_at(*axes, t); });
    }
  }
  static Vec3 axes_at(const std::array<Curve<float>, 3>& axes, double time) {
    std::uint32_t x = 0, y = 0, z = 0;
    return {evaluate(axes[0], time, x), evaluate(axes[1], time, y), evaluate(axes[2], time, z)};
  }
  template <class T>
  void snap(Curve<T>& c, auto value) const {
    Curve<T> out;
    out.interp = c.interp;
    const double rate = units_.meaning.frames_per_second;
    for (std::size_t i = 0; i < c.times.size(); ++i) {
      const bool jumps = (i > 0 && c.times[i] == c.times[i - 1]) ||
                         (i + 1 < c.times.size() && c.times[i] == c.times[i + 1]);
      const double time = jumps ? c.times[i] : std::round(c.times[i] * rate) / rate;
      if (!jumps && !out.times.empty() && time <= out.times.back()) continue;
      out.times.push_back(time);
      out.values.push_back(jumps ? c.values[i] : value(time));
    }
    c = std::move(out);
  }

  static std::string track_path(const Track& t) {
    if (t.channel == Channel::custom) return fmt::format("materials[{}].{}", t.target, t.name);
    return fmt::format("nodes[{}].{}", t.target, name(t.channel));
  }
  static std::size_t track_number(const Track& t) {  // 0 to 7; 8: none
    if (t.name.size() != 6 || !t.name.starts_with("track")) return 8;
    return t.name[5] >= '1' && t.name[5] <= '8' ? static_cast<std::size_t>(t.name[5] - '1') : 8;
  }
  static bool fits(const Track& t) {
    const auto kind = t.curve.index();  // float, Vec3, Quat, three floats
    if (t.channel == Channel::rotation) return kind == 2;
    if (t.channel == Channel::visibility) return kind == 0;
    if (t.channel != Channel::custom) return kind == 1;
    const std::size_t i = track_number(t);
    return i < 8 && kind == (i == 5 || i == 6 ? 1U : 0U);
  }

  // Calls f with the keyframer that a track belongs in; a record is made where there is none.
  void with_keyframer(const Track& t, auto f) {
    if (t.channel == Channel::custom) {
      if (MaterialTracks* m = material(t)) for_track(*m, track_number(t), f);
      return;
    }
    const auto record = [&](auto& records, auto& known) -> decltype(&records[0]) {
      const auto at = known.find(t.target);
      if (at != known.end()) return &records[at->second];
      const std::uint32_t id = id_of(clip_.nodes[t.target]);
      if (id == 0) {
        lose(track_path(t), "the node has no name to be found by; its track is not written");
        return nullptr;
      }
      known[t.target] = records.size();
      records.emplace_back();
      records.back().name = id;
      return &records.back();
    };
    if (t.channel == Channel::visibility) {
      if (auto* mesh = record(file_.meshes, mesh_of_)) f(mesh->visibility);
      return;
    }
    auto* node = record(file_.nodes, node_of_);
    if (node == nullptr) return;
    if (t.channel == Channel::rotation) return f(node->rotation);
    f((t.channel == Channel::scale) == units_.meaning.scale_first ? node->t1 : node->t3);
  }
  MaterialTracks* material(const Track& t) {
    const auto* property = find_property(t.properties, "tt_id");
    const auto* id = property != nullptr ? std::get_if<std::int64_t>(property) : nullptr;
    if (t.target < file_.materials.size() &&
        (id == nullptr || file_.materials[t.target].name == *id)) {
      return &file_.materials[t.target];
    }
    if (id == nullptr) {
      lose(track_path(t), "no material is known for it; the track is not written");
      return nullptr;
    }
    for (MaterialTracks& m : file_.materials) {
      if (m.name == *id) return &m;
    }
    file_.materials.emplace_back();
    file_.materials.back().name = static_cast<std::uint32_t>(*id);
    return &file_.materials.back();
  }

  // The keys of a curve that are written, and where.
  struct Place {
    std::size_t key;
    std::uint16_t frame;
  };
  std::vector<Place> places(const std::vector<double>& times, const std::string& path) {
    std::vector<Place> out;
    std::size_t merged = 0;
    for (std::size_t i = 0; i < times.size(); ++i) {
      const double exact = times[i] * units_.meaning.frames_per_second;
      const double frame = std::round(exact);
      if (!(frame >= 0 && frame <= last_frame)) {
        refuse(path, fmt::format("a key at {:.6g} s is frame {:.0f}; the file counts from 0 to {}",
                                 times[i], frame, last_frame));
        return {};
      }
      moved_ = std::max(moved_, std::abs(exact - frame) / units_.meaning.frames_per_second);
      const auto f = static_cast<std::uint16_t>(frame);
      // Two keys may share a frame, which is a jump; of more, those between are never seen.
      const std::size_t n = out.size();
      if (n >= 2 && out[n - 1].frame == f && out[n - 2].frame == f) {
        out.pop_back();
        ++merged;
      }
      out.push_back({i, f});
    }
    if (merged > 0)
      lose(path, fmt::format("{} keys within one frame of others were merged", merged));
    return out;
  }

  // The key of the base that stands on a frame, one that shows `value` before others; null: none.
  template <class Stored, class T>
  const Stored* find_old(const std::vector<Stored>& old,
                         const std::multimap<std::uint16_t, std::size_t>& by_frame,
                         std::uint16_t frame, const T& value) const {
    const auto [first, last] = by_frame.equal_range(frame);
    for (auto i = first; i != last; ++i) {
      if (same_value(value_of(old[i->second], units_), value)) return &old[i->second];
    }
    return nullptr;
  }
  template <class T>
  static bool same_value(const T& a, const T& b) {
    return a == b;
  }
  template <class Stored>
  static std::multimap<std::uint16_t, std::size_t> by_frame(const std::vector<Stored>& keys) {
    std::multimap<std::uint16_t, std::size_t> out;
    for (std::size_t i = 0; i < keys.size(); ++i) out.emplace(keys[i].frame, i);
    return out;
  }

  std::int16_t raw(double v, const std::string& path) {
    const double r = std::round(v);
    constexpr double most = 32767;
    if (std::abs(r) <= most) return static_cast<std::int16_t>(r);
    if (!options_.clamp || std::isnan(r)) {
      refuse(path, fmt::format("{:.6g} does not fit; the file holds up to {:.6g}",
                               v * said_.vector_scale, most * said_.vector_scale));
      return 0;
    }
    if (!clamped_)
      lose(path, fmt::format("{:.6g} does not fit and was clamped, as may be others",
                             v * said_.vector_scale));
    clamped_ = true;
    return static_cast<std::int16_t>(r < 0 ? -most : most);
  }
  std::array<std::int16_t, 3> raw(Vec3 v, double factor, const std::string& path) {
    const double k = factor / said_.vector_scale;
    return {raw(v.x * k, path), raw(v.y * k, path), raw(v.z * k, path)};
  }

  // Tangents of whole segments: what the curve's own ones come to over `before` and `after` seconds.
  template <class T>
  struct Tangents {
    T in{}, out{};
  };
  template <class T>
  Tangents<T> tangents(const Curve<T>& c, std::span<const Place> keys, std::size_t k) const {
    const std::size_t i = keys[k].key;
    const auto over = [&](std::size_t a, std::size_t b) {
      return static_cast<float>((keys[b].frame - keys[a].frame) / units_.meaning.frames_per_second);
    };
    Tangents<T> t;
    if (k > 0) {
      if (c.interp == Interp::hermite) t.in = over(k - 1, k) * c.in[i];
      if (c.interp == Interp::bezier) t.in = 3.F * (c.values[i] - c.in[i]);
      if (c.interp == Interp::linear) t.in = c.values[i] - c.values[keys[k - 1].key];
    }
    if (k + 1 < keys.size()) {
      if (c.interp == Interp::hermite) t.out = over(k, k + 1) * c.out[i];
      if (c.interp == Interp::bezier) t.out = 3.F * (c.out[i] - c.values[i]);
      if (c.interp == Interp::linear) t.out = c.values[keys[k + 1].key] - c.values[i];
    }
    return t;
  }
  // Whether the base key's own tangent is what the curve has, between the same frames.
  template <class Stored, class T>
  bool keeps_in(const Stored& old, const Curve<T>& c, std::span<const Place> keys,
                std::size_t k) const {
    if (k == 0) return true;
    const int frames = keys[k].frame - keys[k - 1].frame;
    return c.interp == Interp::hermite && frames > 0 &&
           in_of(old, units_.meaning.frames_per_second / frames, units_) == c.in[keys[k].key];
  }
  template <class Stored, class T>
  bool keeps_out(const Stored& old, const Curve<T>& c, std::span<const Place> keys,
                 std::size_t k) const {
    if (k + 1 == keys.size()) return true;
    const int frames = keys[k + 1].frame - keys[k].frame;
    return c.interp == Interp::hermite && frames > 0 &&
           out_of(old, units_.meaning.frames_per_second / frames, units_) == c.out[keys[k].key];
  }

  double in_factor() const { return units_.meaning.tangent_sign / said_.tangent_scale; }
  double out_factor() const { return 1 / said_.tangent_scale; }

  void encode(const Track& t, Keyframer<KeyVec3>& k) {
    const auto& c = std::get<Curve<Vec3>>(t.curve);
    const std::string path = track_path(t);
    const auto keys = places(c.times, path);
    const auto frames = by_frame(k.keys);
    std::vector<KeyVec3> out;
    for (std::size_t i = 0; i < keys.size() && !error_; ++i) {
      const Vec3 v = c.values[keys[i].key];
      KeyVec3 key;
      const KeyVec3* old = find_old(k.keys, frames, keys[i].frame, v);
      if (old != nullptr) key = *old;
      key.frame = keys[i].frame;
      if (old == nullptr) key.value = raw(v, 1, path);
      const auto tangent = tangents(c, keys, i);
      if (old == nullptr || !keeps_in(*old, c, keys, i))
        key.tangent_in = raw(tangent.in, in_factor(), path);
      if (old == nullptr || !keeps_out(*old, c, keys, i))
        key.tangent_out = raw(tangent.out, out_factor(), path);
      off_ = std::max(off_, double{length(v - value_of(key, units_))});
      out.push_back(key);
    }
    k.interp = interp_bits(c.interp, k.interp, said_.flags);
    k.keys = std::move(out);
  }

  void encode(const Track& t, Keyframer<KeyFloat>& k) {
    const auto& c = std::get<Curve<float>>(t.curve);
    const auto keys = places(c.times, track_path(t));
    const auto frames = by_frame(k.keys);
    const bool is_flag = t.channel == Channel::visibility && c.interp == Interp::step;
    std::vector<KeyFloat> out;
    for (std::size_t i = 0; i < keys.size() && !error_; ++i) {
      const float v = c.values[keys[i].key];
      KeyFloat key;
      const KeyFloat* old = find_old(k.keys, frames, keys[i].frame, v);
      if (old == nullptr && is_flag && v != 0) old = find_shown(k.keys, frames, keys[i].frame);
      if (old != nullptr) key = *old;
      key.frame = keys[i].frame;
      if (old == nullptr) key.value = v;
      const auto tangent = tangents(c, keys, i);
      if (old == nullptr || !keeps_in(*old, c, keys, i))
        key.tangent_in = static_cast<float>(in_factor() * tangent.in);
      if (old == nullptr || !keeps_out(*old, c, keys, i))
        key.tangent_out = static_cast<float>(out_factor() * tangent.out);
      out.push_back(key);
    }
    k.interp = interp_bits(c.interp, k.interp, said_.flags);
    k.keys = std::move(out);
  }
  static const KeyFloat* find_shown(const std::vector<KeyFloat>& old,
                                    const std::multimap<std::uint16_t, std::size_t>& by_frame,
                                    std::uint16_t frame) {
    const auto [first, last] = by_frame.equal_range(frame);
    for (auto i = first; i != last; ++i) {
      if (old[i->second].value != 0) return &old[i->second];
    }
    return nullptr;
  }

  void encode(const Track& t, Keyframer<KeyRot>& k) {
    const auto& c = std::get<Curve<Quat>>(t.curve);
    const auto keys = places(c.times, track_path(t));
    const auto frames = by_frame(k.keys);
    std::vector<KeyRot> out;
    std::vector<const KeyRot*> olds;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Quat q = c.values[keys[i].key];
      const KeyRot* old = find_old(k.keys, frames, keys[i].frame, q);
      KeyRot key;
      if (old != nullptr) key = *old;
      key.frame = keys[i].frame;
      if (old == nullptr) key.rotation = quantised(q);
      degrees_ = std::max(degrees_, angle_between(normalize(q), value_of(key, units_)));
      out.push_back(key);
      olds.push_back(old);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool is_last = i + 1 == keys.size();
      // The stored angle stands where neither end of the segment has changed.
      const bool is_kept = c.interp == Interp::slerp_stored && olds[i] != nullptr &&
                           (is_last ? olds[i] == &k.keys.back() : olds[i + 1] == olds[i] + 1);
      const std::size_t a = keys[i].key;
      const Params p =
          is_kept ? c.params[a]
          : is_last || c.interp == Interp::step
              ? Params{}
              : segment_params(normalize(c.values[a]), normalize(c.values[keys[i + 1].key]));
      out[i].omega = p[0];
      out[i].sinom = p[1];
    }
    k.interp = rotation_bits(c.interp, k.interp);
    k.keys = std::move(out);
  }
  std::array<std::int16_t, 4> quantised(Quat q) const {
    q = normalize(said_.conjugate ? conjugate(q) : q);
    const auto at = [](float v) {
      return static_cast<std::int16_t>(std::clamp(std::lround(v * quat_unit), -2000L, 2000L));
    };
    return {at(q.x), at(q.y), at(q.z), at(q.w)};
  }

  Clip clip_, before_;
  File file_;
  const WriteOptions& options_;
  Options said_;  // with nothing automatic
  Units units_{{}, said_};
  std::map<std::size_t, std::size_t> node_of_,
      mesh_of_;  // records of the file, by node of the clip
  std::vector<Loss> losses_;
  std::optional<Error> error_;
  std::size_t written_ = 0;
  double off_ = 0, degrees_ = 0, moved_ = 0;  // units, degrees, seconds
  bool clamped_ = false;
};

}  // namespace

Params segment_params(Quat a, Quat b) {
  const std::array<double, 4> p{a.x, a.y, a.z, a.w}, q{b.x, b.y, b.z, b.w};
  double sum = 0, difference = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    sum += (p[i] + q[i]) * (p[i] + q[i]);
    difference += (p[i] - q[i]) * (p[i] - q[i]);
  }
  // The arc cosine of the dot product, but exact for small angles too.
  const bool is_turned = sum < difference;
  if (is_turned) std::swap(sum, difference);
  const double omega = 2 * std::atan2(std::sqrt(difference), std::sqrt(sum)), s = std::sin(omega);
  if (s < 1e-4) return {0, 0};
  return {static_cast<float>(omega + (is_turned ? 2 * std::numbers::pi : 0)),
          static_cast<float>(1 / s)};
}

Result<std::vector<Loss>> from_clip(const Clip& clip, File& base, const WriteOptions& options) {
  ClipWriter writer(clip, base, options);
  auto losses = writer.run();
  if (losses) base = writer.take();
  return losses;
}

}  // namespace dopesheet::totemtech
