// document -> Clip. Sources of every rule: docs/formats/totemtech.md.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "dopesheet/sample.hpp"
#include "io/text.hpp"
#include "totemtech_math.hpp"

namespace dopesheet::totemtech {
namespace {

// The keys that are not before the one in front of them: the game never gets to the others.
template <class Key>
std::vector<const Key*> in_order(const Keyframer<Key>& k) {
  std::vector<const Key*> out;
  out.reserve(k.keys.size());
  for (const Key& key : k.keys) {
    if (out.empty() || key.frame >= out.back()->frame) out.push_back(&key);
  }
  return out;
}

template <class T>
void hold_last_before_first(Curve<T>& c, const Units& u) {
  if (u.options.before_first != BeforeFirst::last || c.times.size() < 2 || !(c.times[0] > 0))
    return;
  const auto insert = [](auto& list, auto value) {
    if (!list.empty()) list.insert(list.begin(), 2, value);
  };
  const double first = c.times[0];
  c.times.insert(c.times.begin(), {0, first});
  insert(c.values, c.values.back());
  insert(c.in, T{});
  insert(c.out, T{});
  insert(c.params, Params{});
}

template <class Key>
auto curve_of(const Keyframer<Key>& k, const Units& u) {
  using T = decltype(value_of(k.keys[0], u));
  Curve<T> c;
  c.interp = kind_of(k.interp, u.options.flags);
  const auto keys = in_order(k);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    c.times.push_back(u.seconds(keys[i]->frame));
    c.values.push_back(value_of(*keys[i], u));
    if (c.interp != Interp::hermite) continue;
    // Tangents are those of the segment as a whole; where it has no length, nothing is between.
    const auto per_second = [&](std::size_t a, std::size_t b) {
      const int frames = keys[b]->frame - keys[a]->frame;
      return frames > 0 ? u.meaning.frames_per_second / frames : 0.0;
    };
    c.in.push_back(i > 0 ? in_of(*keys[i], per_second(i - 1, i), u) : T{});
    c.out.push_back(i + 1 < keys.size() ? out_of(*keys[i], per_second(i, i + 1), u) : T{});
  }
  hold_last_before_first(c, u);
  return c;
}

Curve<Quat> curve_of(const Keyframer<KeyRot>& k, const Units& u) {
  Curve<Quat> c;
  c.interp = (k.interp & hold_bit) != 0 ? Interp::step : Interp::slerp_stored;
  for (const KeyRot* key : in_order(k)) {
    c.times.push_back(u.seconds(key->frame));
    c.values.push_back(value_of(*key, u));
    if (c.interp == Interp::slerp_stored) c.params.push_back({key->omega, key->sinom});
  }
  hold_last_before_first(c, u);
  return c;
}

// 0 or 1 where the values jump; where they do not, as they are.
Curve<float> shown(Curve<float> c) {
  if (c.interp == Interp::step) {
    for (float& v : c.values) v = v != 0 ? 1.F : 0.F;
  }
  return c;
}

std::string payload(const Message& m, const std::string& node, const Names* names) {
  std::string out =
      fmt::format("{{\"node\":{},\"id\":{},\"param\":{}", io::json_string(node), m.id, m.param);
  const auto hint = message_hint(m.id);
  if (!hint.empty()) out += fmt::format(",\"hint\":\"{}\"", hint);
  if (m.has_text()) out += ",\"text\":" + io::json_string(io::escape_bytes(m.text));
  if (m.name != 0) {
    const std::string name =
        names != nullptr ? names->of(NameHash::totemtech, m.name) : hash_text(m.name);
    out += ",\"name\":" + io::json_string(io::escape_bytes(name));
  }
  return out + '}';
}

class Builder {
 public:
  Builder(const File& file, const Options& options, const Names* names)
      : file_(file), names_(names), units_{totemtech::meaning(file, options), options} {}

  Clip run(std::span<const Node> skeleton, std::string name) {
    clip_.name = std::move(name);
    clip_.ticks_per_second = clip_.frames_per_second = units_.meaning.frames_per_second;
    clip_.nodes.assign(skeleton.begin(), skeleton.end());
    header();
    const Targets targets = assign(file_, names_, clip_.nodes);
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) node(file_.nodes[i], targets.nodes[i]);
    for (std::size_t i = 0; i < file_.meshes.size(); ++i) {
      const auto& k = file_.meshes[i].visibility;
      if (k.keys.empty()) continue;
      add(targets.meshes[i], Channel::visibility, {}, shown(curve_of(k, units_)), k.interp);
    }
    for (std::size_t i = 0; i < file_.materials.size(); ++i) material(i);
    sort_events();
    return std::move(clip_);
  }

 private:
  void header() {
    const bool is_good = std::isfinite(file_.length) && file_.length >= 0;
    clip_.end = is_good ? double{file_.length} : units_.seconds(evidence(file_).last_frame);
    clip_.properties = {{"tt_length", file_.length},
                        {"tt_flag", std::int64_t{file_.flag}},
                        {"tt_frames_per_second", static_cast<float>(clip_.ticks_per_second)},
                        {"tt_tangent_sign", std::int64_t{units_.meaning.tangent_sign}},
                        {"tt_scale_first", std::int64_t{units_.meaning.scale_first ? 1 : 0}}};
    if (file_.has_header != 0) {
      clip_.properties.push_back({"tt_name", text(file_.header.name)});
      clip_.properties.push_back({"tt_link", text(file_.header.link)});
    }
  }
  std::string text(std::uint32_t id) const {
    return names_ != nullptr ? names_->of(NameHash::totemtech, id) : hash_text(id);
  }

  template <class T>
  Track& add(std::size_t target, Channel channel, std::string name, Curve<T> curve,
             std::uint16_t interp) {
    Track& t = clip_.tracks.emplace_back();
    t.target = target;
    t.channel = channel;
    t.name = std::move(name);
    t.curve = std::move(curve);
    t.properties = {{"tt_interp", std::int64_t{interp}}};
    return t;
  }

  void node(const NodeTracks& t, std::size_t target) {
    const bool first = units_.meaning.scale_first;
    const auto vectors = [&](const Keyframer<KeyVec3>& k, bool is_scale) {
      if (k.keys.empty()) return;
      add(target, is_scale ? Channel::scale : Channel::translation, {}, curve_of(k, units_),
          k.interp);
    };
    vectors(t.t1, first);
    if (!t.rotation.keys.empty())
      add(target, Channel::rotation, {}, curve_of(t.rotation, units_), t.rotation.interp);
    vectors(t.t3, !first);
    for (const KeyMessage& k : t.messages.keys) {
      for (const Message& m : k.messages) {
        clip_.events.push_back({units_.seconds(k.frame), fmt::format("message_{}", m.id),
                                payload(m, io::escape_bytes(clip_.nodes[target].name), names_)});
      }
    }
  }

  void material(std::size_t index) {
    const MaterialTracks& m = file_.materials[index];
    for (std::size_t i = 0; i < 8; ++i) {
      for_track(m, i, [&](const auto& k) {
        if (k.keys.empty()) return;
        Track& t = add(index, Channel::custom, fmt::format("track{}", i + 1), curve_of(k, units_),
                       k.interp);
        t.properties.push_back({"tt_material", text(m.name)});
        t.properties.push_back({"tt_id", std::int64_t{m.name}});
      });
    }
  }

  // By time; those of one time stay in the order of the file.
  void sort_events() {
    std::vector<std::pair<double, std::size_t>> order;
    order.reserve(clip_.events.size());
    for (const Event& e : clip_.events) order.emplace_back(e.time, order.size());
    std::sort(order.begin(), order.end());
    std::vector<Event> sorted;
    sorted.reserve(order.size());
    for (const auto& [time, i] : order) sorted.push_back(std::move(clip_.events[i]));
    clip_.events = std::move(sorted);
  }

  const File& file_;
  const Names* names_;
  Units units_;
  Clip clip_;
};

}  // namespace

std::uint32_t id_of(const Node& node) {
  for (const Property& p : node.properties) {
    const auto* id = p.key == "tt_id" ? std::get_if<std::int64_t>(&p.value) : nullptr;
    if (id != nullptr) return static_cast<std::uint32_t>(*id);
  }
  if (const auto id = parse_hash_text(node.name)) return *id;
  return hash_name(NameHash::totemtech, node.name);
}

Targets assign(const File& file, const Names* names, std::vector<Node>& nodes) {
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> known;
  for (std::size_t i = 0; i < nodes.size(); ++i) known[id_of(nodes[i])].push_back(i);
  const auto find = [&](const auto& records, const char* kind) {
    std::unordered_map<std::uint32_t, std::size_t> used;
    std::vector<std::size_t> out;
    for (const auto& r : records) {
      auto& list = known[r.name];
      const std::size_t nth = used[r.name]++;
      if (nth >= list.size()) {
        Node n;
        n.name = names != nullptr ? names->of(NameHash::totemtech, r.name) : hash_text(r.name);
        n.properties = {{"tt_kind", std::string(kind)},
                        {"tt_id", std::int64_t{r.name}},
                        {"tt_flag", std::int64_t{r.flag}}};
        list.push_back(nodes.size());
        nodes.push_back(std::move(n));
      }
      out.push_back(list[nth]);
    }
    return out;
  };
  Targets t;
  t.nodes = find(file.nodes, "bone");
  t.meshes = find(file.meshes, "mesh");
  return t;
}

std::string_view message_hint(std::uint32_t id) {
  constexpr std::array<std::string_view, 40> hints{"none",
                                                   "skel_collide",
                                                   "note_track_first",
                                                   "loop",
                                                   "nosmooth",
                                                   "node_collide",
                                                   "node_uncollide",
                                                   "node_getorient",
                                                   "projectile_sent",
                                                   "orient",
                                                   "noorient",
                                                   "action",
                                                   "loop_start",
                                                   "loop_end",
                                                   "playsound",
                                                   "stopsound",
                                                   "playsoundrnd",
                                                   "playcdsound",
                                                   "playcdsoundloop",
                                                   "stopcdsound",
                                                   "nodynamic",
                                                   "dynamic",
                                                   "material_color",
                                                   "seqanim",
                                                   "active",
                                                   "setemiter",
                                                   "skel_collide",
                                                   "particles",
                                                   "particles_pause",
                                                   "particles_reset",
                                                   "rtc_start",
                                                   "rtc_end",
                                                   "rtc_changecamera",
                                                   "rtc_picture",
                                                   "rtc_no_picture",
                                                   "rtc_mark",
                                                   "rtc_letterbox_start",
                                                   "rtc_letterbox_end",
                                                   "rtc_letterbox_color",
                                                   "note_track_end"};
  return id < hints.size() ? hints[id] : std::string_view{};
}

Clip to_clip(const File& file, const Options& options, std::span<const Node> skeleton,
             const Names* names, std::string name) {
  return Builder(file, options, names).run(skeleton, std::move(name));
}

}  // namespace dopesheet::totemtech
