// What the game would trip over in an animation that reads. The codes are listed in docs/formats/zouna.md.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "findings.hpp"
#include "zouna_ranges.hpp"

namespace dopesheet::zouna {
namespace {

class Checker {
 public:
  Checker(const File& file, const Options& options, const Model* model)
      : file_(file), b_(file.body), options_(options), model_(model) {}

  std::vector<Finding> run() {
    envelope();
    header();
    pools();
    materials();
    ranges();
    names();
    return findings_.take();
  }

 private:
  void say(const char* code, Level level, const auto& path, const auto& text) {
    findings_.say(code, level, path, text);
  }

  void envelope() {
    const Envelope& e = file_.envelope;
    if (e.has(Flavour::bare)) return links();
    io::Layout l;
    Body body = b_;
    Body::fields(l, body);
    const Header& h = e.header;
    if (h.body_size != l.size()) {
      say("zn-body-size", Level::error, "header.body_size",
          fmt::format("says {} bytes, the body has {}", h.body_size, l.size()));
    }
    if (h.data_size != std::uint64_t{h.link_size} + h.body_size) {
      say("zn-data-size", Level::error, "header.data_size",
          fmt::format("says {}, link header and body have {}", h.data_size,
                      std::uint64_t{h.link_size} + h.body_size));
    }
    if (e.has(Flavour::bff) && e.bff.platform_order() != e.order()) {
      say("zn-platform", Level::warning, "bff.platform",
          fmt::format("platform {} has the other byte order", e.bff.platform));
    }
    if (!e.link_rest.empty()) {
      say("zn-link-rest", Level::note, "link_rest",
          fmt::format("{} bytes of the link header are not understood", e.link_rest.size()));
    }
    if (!file_.trailing.empty()) {
      say("zn-trailing", Level::note, "trailing",
          fmt::format("{} bytes follow the body", file_.trailing.size()));
    }
    links();
  }
  void links() {
    const Envelope& e = file_.envelope;
    const std::set<std::uint32_t> listed(e.linked.begin(), e.linked.end());
    for (std::size_t k = 0; k < b_.messages.size(); ++k) {
      for (std::size_t i = 0; i < b_.messages[k].messages.size(); ++i) {
        const Message& m = b_.messages[k].messages[i];
        const auto path = [&] { return fmt::format("messages[{}].messages[{}]", k, i); };
        if (e.has(Links::list) && m.links() && !listed.contains(m.param)) {
          say(
              "zn-link-missing", Level::error, [&] { return path() + ".param"; },
              [&] { return hash_text(m.param) + " is not in the link header; the game stops"; });
        }
        if (!std::isfinite(m.value)) {
          say("zn-not-finite", Level::error, [&] { return path() + ".value"; }, "is not a number");
        }
      }
    }
  }

  void header() {
    if (!std::isfinite(b_.max_time) || b_.max_time < 0) {
      say("zn-duration", Level::error, "max_time", fmt::format("{} s is no duration", b_.max_time));
    }
    if (!std::isfinite(b_.smooth_ratio)) {
      say("zn-not-finite", Level::error, "smooth_ratio", "is not a number");
    }
    if (b_.node_flag != 0 && b_.node_flag != 0xCDCD) {
      say("zn-node-flag", Level::note, "node_flag",
          fmt::format("{:#x} is neither 0 nor 0xcdcd", b_.node_flag));
    }
  }

  void pools() {
    for (std::size_t i = 0; i < b_.rotation.size(); ++i) rotation(i);
    for (std::size_t i = 0; i < b_.bezier_rotation.size(); ++i) {
      const KeyBezierRot& k = b_.bezier_rotation[i];
      for (const auto* v : {&k.value, &k.tangent_in, &k.tangent_out}) {
        if (std::all_of(v->begin(), v->end(), [](float c) { return std::isfinite(c); })) continue;
        say(
            "zn-not-finite", Level::error, [&] { return fmt::format("bezier_rotation[{}]", i); },
            "is not a number");
      }
    }
    keyframer("scale", b_.scale);
    keyframer("translation", b_.translation);
    keyframer("u", b_.u);
    keyframer("v", b_.v);
    keyframer("diffuse", b_.diffuse);
    keyframer("emissive", b_.emissive);
    keyframer("material_rotation", b_.material_rotation);
    keyframer("visibility", b_.visibility);
    keyframer("morph", b_.morph);
  }
  void rotation(std::size_t i) {
    double square = 0;
    bool wide = false;
    for (const int c : b_.rotation[i].rotation) {
      square += static_cast<double>(c) * c;
      wide = wide || std::abs(c) > rotation_scale;
    }
    const auto path = [&] { return fmt::format("rotation[{}].rotation", i); };
    if (wide) say("zn-quaternion-range", Level::warning, path, "a component is beyond 2000");
    const double length = std::sqrt(square) / rotation_scale;
    if (std::abs(length - 1) > 0.01) {
      say("zn-quaternion-length", Level::warning, path,
          [&] { return fmt::format("has a length of {:.4g}, not 1", length); });
    }
  }
  static bool saturated(std::int16_t v) { return v >= 32767 || v <= -32767; }
  static bool saturated(const std::array<std::int16_t, 3>& v) {
    return std::any_of(v.begin(), v.end(), [](std::int16_t c) { return saturated(c); });
  }
  template <class Key>
  void keyframer(const char* name, const Keyframer<Key>& k) {
    if ((k.flag & ~known_bits) != 0) {
      say("zn-flag-bits", Level::note, std::string(name) + ".flag",
          fmt::format("{:#x} has bits that no known file has", k.flag));
    }
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      const auto path = [&] { return fmt::format("{}.keys[{}]", name, i); };
      if (k.keys[i].pad != 0xFFFF) {
        say("zn-pad", Level::note, path,
            [&] { return fmt::format("its pad is {:#x}", k.keys[i].pad); });
      }
      if (saturated(k.keys[i].value) || saturated(k.keys[i].tangent_in) ||
          saturated(k.keys[i].tangent_out)) {
        say("zn-saturated", Level::warning, path,
            "a number at the end of its range: it was probably larger");
      }
    }
  }

  void materials() {
    if (fits(b_, options_.material_order)) return;
    const auto other = options_.material_order == MaterialOrder::engine ? MaterialOrder::pool
                                                                        : MaterialOrder::engine;
    if (fits(b_, other)) {
      say("zn-material-order", Level::warning, "materials",
          fmt::format("ranges fit their pools in {} order only; material-order={} reads them so",
                      other == MaterialOrder::pool ? "pool" : "engine",
                      other == MaterialOrder::pool ? "pool" : "engine"));
    }
  }

  // A range, and the times of its keys.
  template <class Key, class Int>
  void range(const std::string& path, const char* channel, const std::vector<Key>& pool,
             Range<Int> r, std::vector<bool>& used) {
    if (r.count == 0) return;
    const auto where = [&] { return path + "." + channel; };
    if (!inside(r.start, r.count, pool.size())) {
      say("zn-range", Level::error, where, [&] {
        return fmt::format("keys {} to {}, the pool has {}", int{r.start},
                           int{r.start} + int{r.count} - 1, pool.size());
      });
      return;
    }
    total_ += static_cast<std::size_t>(r.count);
    if (total_ > most_keys(b_)) return;
    const float limit = b_.max_time * 1.0001F + 1e-3F;
    for (std::size_t i = 0; i < static_cast<std::size_t>(r.count); ++i) {
      const std::size_t at = static_cast<std::size_t>(r.start) + i;
      used[at] = true;
      const float t = pool[at].time;
      const auto key = [&] { return fmt::format("{}, key {}", where(), at); };
      if (!std::isfinite(t)) {
        say("zn-not-finite", Level::error, key, "its time is not a number");
      } else if (i > 0 && t < pool[at - 1].time) {
        say("zn-key-order", Level::error, key, [&] {
          return fmt::format("{} s is before the {} s of the key in front", t, pool[at - 1].time);
        });
      } else if (t > limit) {
        say("zn-key-late", Level::warning, key,
            [&] { return fmt::format("{} s is after the end, {} s", t, b_.max_time); });
      } else if (i == 0 && t > 0 && !std::same_as<Key, KeyMessage>) {
        say("zn-first-key", Level::note, key, [&] {
          return fmt::format("starts at {} s; before it the game shows the last key", t);
        });
      }
    }
  }
  void ranges() {
    const auto flags = [](const auto& pool) { return std::vector<bool>(pool.size()); };
    auto translation = flags(b_.translation.keys), rotation = flags(b_.rotation),
         bezier = flags(b_.bezier_rotation), scale = flags(b_.scale.keys),
         messages = flags(b_.messages), u = flags(b_.u.keys), v = flags(b_.v.keys),
         diffuse = flags(b_.diffuse.keys), emissive = flags(b_.emissive.keys),
         turn = flags(b_.material_rotation.keys), shown = flags(b_.visibility.keys),
         morph = flags(b_.morph.keys);
    for (std::size_t i = 0; i < b_.nodes.size(); ++i) {
      const Node& n = b_.nodes[i];
      const std::string path = fmt::format("nodes[{}]", i);
      range(path, "translation", b_.translation.keys, n.translation, translation);
      range(path, "rotation", b_.rotation, n.rotation, rotation);
      range(path, "bezier_rotation", b_.bezier_rotation, n.bezier_rotation, bezier);
      range(path, "scale", b_.scale.keys, n.scale, scale);
      range(path, "messages", b_.messages, n.messages, messages);
      if (n.rotation.count > 0 && n.bezier_rotation.count > 0) {
        say("zn-two-rotations", Level::note, path,
            "has rotation and Bezier keys; the game takes the first");
      }
    }
    for (std::size_t i = 0; i < b_.materials.size(); ++i) {
      const MaterialParts p = parts(b_.materials[i], options_.material_order);
      const std::string path = fmt::format("materials[{}]", i);
      range(path, "u", b_.u.keys, p.u, u);
      range(path, "v", b_.v.keys, p.v, v);
      range(path, "diffuse", b_.diffuse.keys, p.diffuse, diffuse);
      range(path, "emissive", b_.emissive.keys, p.emissive, emissive);
      range(path, "rotation", b_.material_rotation.keys, p.rotation, turn);
    }
    for (std::size_t i = 0; i < b_.meshes.size(); ++i) {
      range(fmt::format("meshes[{}]", i), "range", b_.visibility.keys, b_.meshes[i].range, shown);
    }
    for (std::size_t i = 0; i < b_.morphs.size(); ++i) {
      range(fmt::format("morphs[{}]", i), "range", b_.morph.keys, b_.morphs[i].range, morph);
    }
    if (total_ > most_keys(b_)) {
      say("zn-shared-too-often", Level::error, "nodes",
          fmt::format("the ranges have {} keys, over 64 times those in the pools", total_));
      return;
    }
    for (const auto& [name, used] :
         {std::pair{"translation", &translation}, std::pair{"rotation", &rotation},
          std::pair{"bezier_rotation", &bezier}, std::pair{"scale", &scale},
          std::pair{"messages", &messages}, std::pair{"u", &u}, std::pair{"v", &v},
          std::pair{"diffuse", &diffuse}, std::pair{"emissive", &emissive},
          std::pair{"material_rotation", &turn}, std::pair{"visibility", &shown},
          std::pair{"morph", &morph}}) {
      const auto n = std::count(used->begin(), used->end(), false);
      if (n > 0)
        say("zn-unused-keys", Level::note, name, fmt::format("{} keys are in no range", n));
    }
  }

  void names() {
    std::set<std::uint32_t> seen, bones;
    if (model_ != nullptr) {
      for (const auto& n : model_->nodes) bones.insert(node_hash(n));
    }
    for (std::size_t i = 0; i < b_.nodes.size(); ++i) {
      const std::uint32_t hash = b_.nodes[i].name;
      const auto path = [&] { return fmt::format("nodes[{}].name", i); };
      const auto text = [&] { return hash_text(hash); };
      if (!seen.insert(hash).second) {
        say("zn-duplicate-node", Level::warning, path,
            [&] { return text() + " has tracks twice"; });
      }
      if (model_ != nullptr && !bones.contains(hash)) {
        say("zn-unmatched-node", Level::warning, path,
            [&] { return text() + " is no bone of the skeleton"; });
      }
      if (options_.names != nullptr && !options_.names->find(NameHash::zouna, hash)) {
        say("zn-unknown-name", Level::note, path,
            [&] { return text() + " is in no list of names"; });
      }
    }
  }

  const File& file_;
  const Body& b_;
  const Options& options_;
  const Model* model_;
  std::size_t total_ = 0;  // keys of all ranges
  Findings findings_;
};

}  // namespace

std::vector<Finding> check(const File& file, const Options& options, const Model* model) {
  return Checker(file, options, model).run();
}

}  // namespace dopesheet::zouna
