// Clip -> document: only what changed is encoded anew. Rules: docs/formats/zouna.md, "Writing".
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <unordered_map>

#include "dopesheet/bake.hpp"
#include "zouna_ranges.hpp"

namespace dopesheet::zouna {
namespace {

// The tracks of a clip by what they move.
class Index {
 public:
  explicit Index(const Clip& clip) {
    for (const Track& t : clip.tracks) tracks_.try_emplace({t.target, t.channel, t.name}, &t);
  }
  const Track* find(const Track& like) const {
    const auto at = tracks_.find({like.target, like.channel, like.name});
    return at == tracks_.end() ? nullptr : at->second;
  }

 private:
  std::map<std::tuple<std::size_t, Channel, std::string>, const Track*> tracks_;
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}
template <class T>
bool same_bits(const Curve<T>& a, const Curve<T>& b) {
  return a.interp == b.interp && same_bits(a.times, b.times) && same_bits(a.values, b.values) &&
         same_bits(a.in, b.in) && same_bits(a.out, b.out);
}
template <class T, std::size_t N>
bool same_bits(const std::array<Curve<T>, N>& a, const std::array<Curve<T>, N>& b) {
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
bool same_float(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

class ClipWriter {
 public:
  ClipWriter(const Clip& clip, const File& base, const Options& options, const WriteOptions& write)
      : clip_(clip),
        file_(base),
        options_(options),
        write_(write),
        before_(to_clip(base, options, clip.nodes)),
        then_(before_),
        sign_(tangent_sign(base.body, options)) {}

  Result<std::vector<Loss>> run() {
    if (clip_.space == Space::left_handed) clip_ = to_right_handed(std::move(clip_));
    now_.emplace(clip_);
    header();
    place_nodes();
    list_losses();
    tracks();
    if (error_) return tl::unexpected(*error_);
    if (touched_) layout(file_);
    return std::move(losses_);
  }
  File take() { return std::move(file_); }

 private:
  void lose(std::string path, std::string text) {
    losses_.push_back({std::move(path), std::move(text)});
  }
  void refuse(std::string path, std::string text) {
    if (!error_) error_ = Error{Code::cannot_represent, 0, std::move(path), std::move(text)};
  }

  void header() {
    Body& b = file_.body;
    if (clip_.end != before_.end) {
      b.max_time = static_cast<float>(clip_.end);
      touched_ = true;
    }
    if (clip_.start != before_.start) lose("start", "the format's clips start at 0");
    for (const Property& p : clip_.properties) {
      const auto* number = std::get_if<float>(&p.value);
      const auto* whole = std::get_if<std::int64_t>(&p.value);
      if (p.key == "zn_smooth_ratio" && number != nullptr) b.smooth_ratio = *number;
      if (p.key != "zn_flag" || whole == nullptr) continue;
      if (*whole < 0 || *whole > 0xFFFF) {
        refuse("zn_flag", "is not a number from 0 to 65535");
      } else {
        b.flag = static_cast<std::uint16_t>(*whole);
      }
    }
  }
  void list_losses() {
    if (clip_.events != before_.events) {
      lose("events", "changed messages are not written; those of the file stay");
    }
    if (clip_.outside != before_.outside) {
      lose("outside", "the format does not say what happens at the ends");
    }
    if (!clip_.morph.positions.empty()) lose("morph", "the format holds no vertices");
    for (const Track& t : before_.tracks) {
      if (now_->find(t) != nullptr) continue;
      const bool moves = t.channel == Channel::translation || t.channel == Channel::rotation ||
                         t.channel == Channel::scale;
      // Other programs keep no such tracks: their absence says nothing.
      if (!moves || t.target >= clip_.nodes.size())
        lose(path_of(t), "is not in the clip; the file's keys stay");
    }
  }
  static std::string path_of(const Track& t) {
    return t.channel == Channel::custom ? t.name
                                        : fmt::format("nodes[{}].{}", t.target, name(t.channel));
  }

  // Which node of the file each node of the clip is, by the rule of to_clip.
  void place_nodes() {
    node_of_.assign(clip_.nodes.size(), std::nullopt);
    mesh_of_.assign(clip_.nodes.size(), std::nullopt);
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> by_hash;
    for (std::size_t k = 0; k < clip_.nodes.size(); ++k)
      by_hash[node_hash(clip_.nodes[k])].push_back(k);
    std::unordered_map<std::uint32_t, std::size_t> claimed;
    const auto claim = [&](auto& places, std::uint32_t hash, std::size_t i) {
      const auto& known = by_hash[hash];
      const std::size_t next = claimed[hash]++;
      if (next < known.size()) places[known[next]] = i;
    };
    for (std::size_t i = 0; i < file_.body.nodes.size(); ++i)
      claim(node_of_, file_.body.nodes[i].name, i);
    claimed.clear();
    for (std::size_t i = 0; i < file_.body.meshes.size(); ++i) {
      const ObjectRange& o = file_.body.meshes[i];
      if (!slice(file_.body.visibility.keys, o.range).empty()) claim(mesh_of_, o.name, i);
    }
  }
  Node* node(std::size_t target) {
    if (target >= node_of_.size()) return nullptr;
    if (!node_of_[target]) {
      Node added;
      added.name = node_hash(clip_.nodes[target]);
      added.id = static_cast<std::int16_t>(std::min<std::size_t>(file_.body.nodes.size(), 32767));
      node_of_[target] = file_.body.nodes.size();
      file_.body.nodes.push_back(added);
    }
    return &file_.body.nodes[*node_of_[target]];
  }

  void tracks() {
    for (const Track& t : before_.tracks) {
      if (now_->find(t) == nullptr) remove(t);
    }
    Clip changed = clip_;
    std::erase_if(changed.tracks, [&](const Track& t) {
      const Track* old = then_.find(t);
      return old != nullptr && same_curve(t, *old);
    });
    if (changed.tracks.empty()) return;
    BakeOptions bake_options;
    bake_options.keep_rotations = {Interp::step, Interp::nlerp};
    // With slerp chosen, linear rotations are the format's own.
    if (options_.rotation == RotationRule::slerp)
      bake_options.keep_rotations.push_back(Interp::linear);
    bake_options.max_mm = write_.max_mm;
    bake_options.max_degrees = write_.max_degrees;
    // Baked rotations are slerps; between the format's dense keys nlerp is within tolerance only where
    // they turn little, so linear ones are split first.
    if (options_.rotation == RotationRule::nlerp) {
      for (Track& t : changed.tracks) {
        auto* q = std::get_if<Curve<Quat>>(&t.curve);
        if (q != nullptr && q->interp == Interp::linear) split(*q, path_of(t));
      }
    }
    const auto baked = bake(changed, bake_options);
    if (!baked) return refuse(baked.error().path, baked.error().text);
    if (baked->tracks > 0) {
      lose("tracks", fmt::format("{} tracks of interpolations that the format lacks were baked, {} "
                                 "keys to {}, error {:.3g} mm, {:.3g} degrees",
                                 baked->tracks, baked->keys_before, baked->keys_after,
                                 baked->error.max_mm, baked->error.max_degrees));
    }
    for (Track t : baked->clip.tracks) {
      auto* q = std::get_if<Curve<Quat>>(&t.curve);
      if (q != nullptr && q->interp == Interp::linear && options_.rotation == RotationRule::nlerp)
        split(*q, path_of(t));
      write_track(t);
    }
  }
  // More keys, until nlerp between them is what slerp is.
  void split(Curve<Quat>& c, const std::string& path) {
    Curve<Quat> out;
    out.interp = Interp::nlerp;
    std::size_t added = 0;
    for (std::size_t i = 0; i < c.times.size(); ++i) {
      out.times.push_back(c.times[i]);
      out.values.push_back(c.values[i]);
      if (i + 1 == c.times.size() || !(c.times[i + 1] > c.times[i])) continue;
      // Between quaternions h radians apart nlerp is off by 2 sqrt(3) h^3 / 108 at most, for small h.
      const double half = angle_between(c.values[i], c.values[i + 1]) / 360 * 3.14159265358979;
      int n = 1;
      while (n < 1024 && 0.033 * 57.3 * std::pow(half / n, 3) > write_.max_degrees) ++n;
      for (int k = 1; k < n; ++k) {
        const double u = static_cast<double>(k) / n;
        out.times.push_back(c.times[i] + u * (c.times[i + 1] - c.times[i]));
        out.values.push_back(slerp(c.values[i], c.values[i + 1], u));
        ++added;
      }
    }
    if (added > 0) lose(path, fmt::format("{} keys were added: the game does not slerp", added));
    c = std::move(out);
  }

  void remove(const Track& t) {
    if (t.target >= node_of_.size() || !node_of_[t.target]) return;
    Node& n = *node(t.target);
    const auto clear = [&](auto& range, unsigned bit) {
      range = {};
      n.flag = static_cast<std::uint16_t>(n.flag | bit);
      touched_ = true;
    };
    if (t.channel == Channel::translation) clear(n.translation, reset_translation);
    if (t.channel == Channel::scale) clear(n.scale, reset_scale);
    if (t.channel == Channel::rotation) {
      if (slice(file_.body.rotation, n.rotation).empty()) {
        clear(n.bezier_rotation, reset_rotation);
      } else {
        clear(n.rotation, reset_rotation);
      }
    }
  }

  void write_track(const Track& t) {
    const std::string path = path_of(t);
    Body& b = file_.body;
    if (t.channel == Channel::visibility) return visibility(t, path);
    if (t.channel == Channel::custom) {
      return lose(path, "changed custom tracks are not written; the file's keys stay");
    }
    if (t.channel == Channel::weight) return lose(path, "the format holds no such weights");
    if (t.target >= clip_.nodes.size()) return lose(path, "its node does not exist");
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
      const auto old = slice(b.rotation, node(t.target)->rotation);
      auto keys = rotations(*q, {old.begin(), old.end()});
      put(b.rotation, node(t.target)->rotation, &Node::rotation, std::move(keys), path);
    } else if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      auto& pool = t.channel == Channel::scale ? b.scale : b.translation;
      auto Node::* member = t.channel == Channel::scale ? &Node::scale : &Node::translation;
      if ((pool.flag & hold_bit) != 0 && v->interp != Interp::step) {
        return refuse(path, "all keys of this channel hold (flag 8); only steps can be written");
      }
      const auto old = slice(pool.keys, node(t.target)->*member);
      auto keys = vectors(*v, (pool.flag & hold_bit) != 0, {old.begin(), old.end()}, path);
      put(pool.keys, node(t.target)->*member, member, std::move(keys), path);
    }
  }

  // Puts keys where the range's were if nobody else uses those and the number is the same, else at the
  // end of the pool: what others share stays theirs.
  template <class Key, class Member>
  void put(std::vector<Key>& pool, Range<std::uint16_t>& range, Member member,
           std::vector<Key> keys, const std::string& path) {
    if (error_) return;
    touched_ = true;
    const bool alone =
        std::count_if(file_.body.nodes.begin(), file_.body.nodes.end(), [&](const Node& n) {
          const auto& r = n.*member;
          return r.count > 0 && r.start < range.start + range.count &&
                 range.start < r.start + r.count;
        }) <= 1;
    const std::size_t begin = alone && range.count == keys.size() ? range.start : pool.size();
    if (begin > 0xFFFF || keys.size() > 0xFFFF) {
      return refuse(
          path, fmt::format("{} keys from {} on; the format counts to 65535", keys.size(), begin));
    }
    const std::size_t count = keys.size();
    if (begin == pool.size()) {
      pool.insert(pool.end(), keys.begin(), keys.end());
    } else {
      std::copy(keys.begin(), keys.end(), pool.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    range = {static_cast<std::uint16_t>(begin), static_cast<std::uint16_t>(count)};
  }

  // A number in 1/4096; out of range it is an error, or cut where that is allowed.
  std::int16_t fixed(double v, const std::string& path) {
    const double raw = std::round(v * value_scale);
    if (raw >= -32768 && raw <= 32767) return static_cast<std::int16_t>(raw);
    if (!write_.clamp || !std::isfinite(raw)) {
      refuse(path, fmt::format("{:.6g} is outside -8 to 7.99976", v));
      return 0;
    }
    lose(path, fmt::format("{:.6g} was cut to the range -8 to 7.99976", v));
    return raw < 0 ? std::int16_t{-32768} : std::int16_t{32767};
  }
  std::array<std::int16_t, 3> fixed(Vec3 v, double k, const std::string& path) {
    return {fixed(k * v.x, path), fixed(k * v.y, path), fixed(k * v.z, path)};
  }

  std::vector<KeyVec3> vectors(const Curve<Vec3>& c, bool holds, const std::vector<KeyVec3>& old,
                               const std::string& path) {
    std::vector<KeyVec3> out;
    for (std::size_t i = 0; i < c.times.size() && !error_; ++i) {
      KeyVec3 k;
      k.time = static_cast<float>(c.times[i]);
      const double before = i > 0 ? c.times[i] - c.times[i - 1] : 0;
      const double after = i + 1 < c.times.size() ? c.times[i + 1] - c.times[i] : 0;
      if (c.interp == Interp::step && !holds && i > 0) {  // held up to here, by a second key
        KeyVec3 hold = out.back();
        hold.time = k.time;
        if (hold.time > out.back().time) out.push_back(hold);
      }
      k.value = fixed(c.values[i], 1, path);
      if (c.interp == Interp::hermite) {
        k.tangent_in = fixed(c.in[i], sign_ * before, path);
        k.tangent_out = fixed(c.out[i], after, path);
      } else if (c.interp == Interp::bezier) {
        if (before > 0) k.tangent_in = fixed(c.values[i] - c.in[i], 3.0 * sign_, path);
        if (after > 0) k.tangent_out = fixed(c.out[i] - c.values[i], 3, path);
      } else if (c.interp == Interp::linear) {
        if (before > 0) k.tangent_in = fixed(c.values[i] - c.values[i - 1], sign_, path);
        if (after > 0) k.tangent_out = fixed(c.values[i + 1] - c.values[i], 1, path);
      }
      keep(k, old);
      out.push_back(k);
    }
    return out;
  }
  // A key that was there keeps what the curve does not tell: its pad, and tangents outside segments.
  static void keep(KeyVec3& k, const std::vector<KeyVec3>& old) {
    for (const KeyVec3& o : old) {
      if (!same_float(o.time, k.time) || o.value != k.value) continue;
      k.pad = o.pad;
      if (k.tangent_in == std::array<std::int16_t, 3>{}) k.tangent_in = o.tangent_in;
      if (k.tangent_out == std::array<std::int16_t, 3>{}) k.tangent_out = o.tangent_out;
      return;
    }
  }

  static std::vector<KeyRot> rotations(const Curve<Quat>& c, const std::vector<KeyRot>& old) {
    std::vector<KeyRot> out;
    for (std::size_t i = 0; i < c.times.size(); ++i) {
      KeyRot k{static_cast<float>(c.times[i]), quantise(c.values[i])};
      if (c.interp == Interp::step && i > 0 && k.time > out.back().time)
        out.push_back({k.time, out.back().rotation});
      for (const KeyRot& o : old) {
        if (same_float(o.time, k.time) && shows(o, c.values[i])) k.rotation = o.rotation;
      }
      if (!out.empty() && dot(out.back(), k) < 0) {
        for (auto& x : k.rotation) x = static_cast<std::int16_t>(-x);
      }
      out.push_back(k);
    }
    return out;
  }
  static Quat quaternion(const KeyRot& k) {
    const auto at = [&](std::size_t i) { return static_cast<float>(k.rotation[i]); };
    return normalize({at(0), at(1), at(2), at(3)});
  }
  static bool shows(const KeyRot& k, Quat v) {
    const Quat q = quaternion(k);
    return q == v || Quat{-q.x, -q.y, -q.z, -q.w} == v;
  }
  static std::int64_t dot(const KeyRot& a, const KeyRot& b) {
    std::int64_t d = 0;
    for (std::size_t i = 0; i < 4; ++i) d += std::int64_t{a.rotation[i]} * b.rotation[i];
    return d;
  }
  static std::array<std::int16_t, 4> quantise(Quat q) {
    q = normalize(q);
    const auto at = [](float v) {
      return static_cast<std::int16_t>(
          std::clamp(std::lround(double{v} * rotation_scale), -2000L, 2000L));
    };
    return {at(q.x), at(q.y), at(q.z), at(q.w)};
  }

  // Steps, as keys that hold in a smooth pool too: a second key in front of each change.
  void visibility(const Track& t, const std::string& path) {
    const auto* c = std::get_if<Curve<float>>(&t.curve);
    if (c == nullptr || t.target >= clip_.nodes.size()) return lose(path, "is no visibility");
    Body& b = file_.body;
    std::vector<KeyFloat> keys;
    for (std::size_t i = 0; i < c->times.size(); ++i) {
      KeyFloat k;
      k.time = static_cast<float>(c->times[i]);
      k.value = c->values[i] != 0 ? std::int16_t{value_scale} : std::int16_t{0};
      if (!keys.empty() && keys.back().value != k.value) {
        KeyFloat hold = keys.back();
        hold.time = k.time;
        keys.push_back(hold);
      }
      keys.push_back(k);
    }
    auto& place = mesh_of_[t.target];
    if (!place) {
      place = b.meshes.size();
      b.meshes.push_back({node_hash(clip_.nodes[t.target]), 0, 0, {}});
    }
    const std::size_t begin = b.visibility.keys.size();
    if (begin + keys.size() > 32767) {
      return refuse(path, "the format counts 32767 keys of visibility");
    }
    touched_ = true;
    b.meshes[*place].range = {static_cast<std::int16_t>(begin),
                              static_cast<std::int16_t>(keys.size())};
    b.visibility.keys.insert(b.visibility.keys.end(), keys.begin(), keys.end());
  }

  Clip clip_;
  File file_;
  const Options& options_;
  const WriteOptions& write_;
  Clip before_;
  Index then_;
  std::optional<Index> now_;
  int sign_;
  std::vector<std::optional<std::size_t>> node_of_, mesh_of_;
  std::vector<Loss> losses_;
  std::optional<Error> error_;
  bool touched_ = false;
};

}  // namespace

Result<std::vector<Loss>> from_clip(const Clip& clip, File& base, const Options& options,
                                    const WriteOptions& write) {
  ClipWriter writer(clip, base, options, write);
  auto losses = writer.run();
  if (losses) base = writer.take();
  return losses;
}

}  // namespace dopesheet::zouna
