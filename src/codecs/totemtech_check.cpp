// What is odd in an animation that reads, and what it says about the open questions. The codes are listed
// in docs/formats/totemtech.md.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "findings.hpp"
#include "totemtech_math.hpp"

namespace dopesheet::totemtech {
namespace {

std::string list(const std::map<std::uint32_t, std::size_t>& counts) {
  std::string out;
  for (const auto& [value, n] : counts) {
    out += fmt::format("{}{} ({} times)", out.empty() ? "" : ", ", value, n);
  }
  return out;
}

class Checker {
 public:
  Checker(const File& file, const Options& options, const Model* model, const Names* names)
      : file_(file),
        model_(model),
        names_(names),
        meaning_(totemtech::meaning(file, options)),
        options_(options),
        evidence_(totemtech::evidence(file)) {}

  std::vector<Finding> run() {
    header();
    for (std::size_t i = 0; i < file_.meshes.size(); ++i) mesh(i);
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) node(i);
    for (std::size_t i = 0; i < file_.materials.size(); ++i) material(i);
    names("meshes", file_.meshes);
    names("nodes", file_.nodes);
    names("materials", file_.materials);
    skeleton();
    settled();
    return findings_.take();
  }

 private:
  void say(const char* code, Level level, const auto& path, const auto& text) {
    findings_.say(code, level, path, text);
  }

  void header() {
    if (!std::isfinite(file_.length) || file_.length < 0 || file_.length >= 3600) {
      say("tt-length", Level::error, "length",
          fmt::format("{} s is no length from 0 to an hour", file_.length));
    }
    if (file_.flag >= 0x100) flag("flag", file_.flag);
    if (file_.has_header != 0 && file_.header.name == 0) {
      say("tt-header-name", Level::note, "header.name", "is 0: nothing can refer to the animation");
    }
    if (file_.meshes.empty() && file_.nodes.empty() && file_.materials.empty())
      say("tt-empty", Level::note, "", "nothing is animated");
  }
  void flag(const std::string& path, unsigned value) {
    say("tt-flag", Level::warning, path,
        fmt::format("{:#x} is larger than any expected flag", value));
  }

  // What all keyframers have in common.
  template <class Key>
  void keyframer(const Keyframer<Key>& k, const std::string& path) {
    if (k.interp >= 0x20) {
      say("tt-interp", Level::warning, path + ".interp",
          fmt::format("{:#x} has bits that are not known", k.interp));
    }
    for (std::size_t i = 1; i < k.keys.size(); ++i) {
      const auto at = [&] { return fmt::format("{}.keys[{}].frame", path, i); };
      if (k.keys[i].frame < k.keys[i - 1].frame) {
        say("tt-frame-order", Level::error, at, [&] {
          return fmt::format("{} is before {}; the game does not get to it", k.keys[i].frame,
                             k.keys[i - 1].frame);
        });
      } else if (k.keys[i].frame == k.keys[i - 1].frame) {
        say("tt-frame-twice", Level::note, at,
            "the key before stands on the same frame: the value jumps there");
      }
    }
    std::size_t beyond = 0;
    for (const Key& key : k.keys) beyond += key.frame > file_.length * 120 + 2 ? 1 : 0;
    if (beyond > 0) {
      say("tt-frame-outside", Level::warning, path + ".keys",
          fmt::format("{} keys are past the end, at any known tick rate", beyond));
    }
  }

  void vectors(const Keyframer<KeyVec3>& k, const std::string& path) {
    keyframer(k, path);
    bool is_bent = false;
    for (std::size_t i = 1; i < k.keys.size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const int way = k.keys[i].value[c] - k.keys[i - 1].value[c];
        is_bent = is_bent || k.keys[i - 1].tangent_out[c] != way ||
                  meaning_.tangent_sign * k.keys[i].tangent_in[c] != way;
      }
    }
    linear(k.interp, is_bent, path);
  }
  // Where the two readings of the flags differ.
  void linear(std::uint16_t interp, bool is_bent, const std::string& path) {
    if (kind_of(interp, Flags::recommended) != Interp::linear || !is_bent) return;
    say("tt-linear-tangents", Level::note, path,
        "is marked linear and has other tangents than a straight line: whether the game follows "
        "them is not known");
  }

  void floats(const Keyframer<KeyFloat>& k, const std::string& path) {
    keyframer(k, path);
    bool is_bent = false;
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      const KeyFloat& key = k.keys[i];
      const auto at = [&] { return fmt::format("{}.keys[{}]", path, i); };
      const bool finite = std::isfinite(key.value) && std::isfinite(key.tangent_in) &&
                          std::isfinite(key.tangent_out);
      if (!finite) {
        say("tt-not-finite", Level::error, at, "a number is infinite or none at all");
      } else if (std::max({std::abs(key.value), std::abs(key.tangent_in),
                           std::abs(key.tangent_out)}) >= 1e6F) {
        say("tt-large", Level::warning, at, "a number is a million or more");
      }
      if (i == 0) continue;
      const double way = double{key.value} - k.keys[i - 1].value;
      const auto is = [&](double tangent) {
        return std::abs(tangent - way) <= 1e-5 * std::abs(way);
      };
      is_bent = is_bent || !is(k.keys[i - 1].tangent_out) ||
                !is(double{key.tangent_in} * meaning_.tangent_sign);
    }
    linear(k.interp, is_bent, path);
  }

  void rotations(const Keyframer<KeyRot>& k, const std::string& path) {
    keyframer(k, path);
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      const KeyRot& key = k.keys[i];
      const auto at = [&] { return fmt::format("{}.keys[{}]", path, i); };
      const auto turn = [&] { return at() + ".rotation"; };
      const double n = length(key.rotation);
      if (std::any_of(key.rotation.begin(), key.rotation.end(),
                      [](int c) { return std::abs(c) > 2047; })) {
        say("tt-quaternion-range", Level::warning, turn,
            "a component is beyond 2047: the game is said to keep 12 bits, this is not one of its "
            "numbers");
      }
      if (!(std::abs(n - quat_unit) <= 0.01 * quat_unit)) {
        say("tt-quaternion-length", n < 1000 ? Level::error : Level::warning, turn,
            [&] { return fmt::format("length {:.1f} is more than 1 % off 2000", n); });
      }
      if (i + 1 == k.keys.size()) {
        if (key.omega != 0 || key.sinom != 0) {
          say("tt-omega-last", Level::note, at,
              "the last key has an angle, though no segment follows; it is kept");
        }
      } else if ((k.interp & hold_bit) == 0) {
        angle(key, k.keys[i + 1], at);
      }
    }
  }
  void angle(const KeyRot& a, const KeyRot& b, const auto& at) {
    if (!std::isfinite(a.omega) || !std::isfinite(a.sinom)) {
      return say("tt-omega-finite", Level::error, at,
                 "omega or sinom is no number; plain slerp is used");
    }
    const double n = length(a.rotation) * length(b.rotation), d = dot(a.rotation, b.rotation);
    const double want = n > 0 ? std::acos(std::min(1.0, std::abs(d) / n)) : 0;
    if (a.omega == 0) {
      if (want > 0.03) {
        say("tt-omega-zero", Level::warning, at, [&] {
          return fmt::format("omega is 0: the game holds the key, then jumps {:.1f} degrees",
                             want * 2 * 180 / std::numbers::pi);
        });
      }
      return;
    }
    const double omega = plain_angle(a.omega), product = a.sinom * std::sin(omega);
    if (!(std::abs(product - 1) < 0.05)) {
      return say("tt-sinom", Level::warning, at, [&] {
        return fmt::format(
            "sinom times the sine of omega is {:.3g} instead of 1; plain slerp is used", product);
      });
    }
    // Marked as the signs of the keys ask for it is the short way; else the long one.
    const bool is_long = (a.omega > turn_flag) != (d < 0) && want > 0.03;
    const double expected = is_long ? std::numbers::pi - want : want;
    if (!(std::abs(omega - expected) <= 0.03)) {
      say("tt-omega-angle", Level::warning, at, [&] {
        return fmt::format("omega is {:.3f}, the keys are {:.3f} apart: the turn is uneven", omega,
                           expected);
      });
    } else if (is_long) {
      say("tt-omega-sign", Level::note, at, [&] {
        return fmt::format("turns the long way round, {:.0f} degrees",
                           omega * 2 * 180 / std::numbers::pi);
      });
    }
  }

  void messages(const Keyframer<KeyMessage>& k, const std::string& path) {
    keyframer(k, path);
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      for (std::size_t m = 0; m < k.keys[i].messages.size(); ++m) {
        const Message& message = k.keys[i].messages[m];
        const auto at = [&] { return fmt::format("{}.keys[{}].messages[{}]", path, i, m); };
        if (message.text.size() > max_text) {
          say("tt-text-long", Level::error, at, [&] {
            return fmt::format("{} bytes of text; the game has room for {} and writes past it",
                               message.text.size(), max_text);
          });
        }
        if (message_hint(message.id).empty()) {
          say("tt-message-id", Level::note, at,
              [&] { return fmt::format("{} is not one of the engine's own ids", message.id); });
        }
      }
    }
  }

  void mesh(std::size_t i) {
    const MeshTracks& t = file_.meshes[i];
    const std::string path = fmt::format("meshes[{}]", i);
    if (t.flag >= 0x100) flag(path + ".flag", t.flag);
    floats(t.visibility, path + ".visibility");
    if (!t.visibility.keys.empty() && (t.visibility.interp & hold_bit) == 0) {
      say("tt-visibility", Level::note, path + ".visibility",
          "is not held: any value but 0 shows the mesh");
    }
  }
  void node(std::size_t i) {
    const NodeTracks& t = file_.nodes[i];
    const std::string path = fmt::format("nodes[{}]", i);
    if (t.flag >= 0x100) flag(path + ".flag", t.flag);
    vectors(t.t1, path + ".t1");
    rotations(t.rotation, path + ".rotation");
    vectors(t.t3, path + ".t3");
    messages(t.messages, path + ".messages");
  }
  void material(std::size_t i) {
    const MaterialTracks& t = file_.materials[i];
    const std::string path = fmt::format("materials[{}]", i);
    if (t.flag >= 0x100) flag(path + ".flag", t.flag);
    for (std::size_t n = 0; n < 8; ++n) {
      for_track(t, n, [&](const auto& k) {
        const std::string track = fmt::format("{}.track{}", path, n + 1);
        if constexpr (requires { k.keys[0].junk; }) {
          floats(k, track);
        } else {
          vectors(k, track);
        }
      });
    }
  }

  void names(const char* what, const auto& records) {
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < records.size(); ++i) {
      const auto at = [&] { return fmt::format("{}[{}].name", what, i); };
      if (!seen.insert(records[i].name).second) {
        say("tt-name-twice", Level::warning, at,
            [&] { return hash_text(records[i].name) + " stands twice"; });
      }
      if (names_ != nullptr && !names_->find(NameHash::totemtech, records[i].name)) {
        say("tt-name-unknown", Level::note, at,
            [&] { return hash_text(records[i].name) + " is none of the names that were given"; });
      }
    }
  }
  void skeleton() {
    if (model_ == nullptr) return;
    std::set<std::uint32_t> known;
    for (const Node& n : model_->nodes) known.insert(id_of(n));
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
      if (known.contains(file_.nodes[i].name)) continue;
      say("tt-no-bone", Level::warning, fmt::format("nodes[{}].name", i),
          hash_text(file_.nodes[i].name) + " is no bone of the character");
    }
  }

  // The open questions: what this file says, for the day when a real one is checked.
  void settled() {
    const Evidence& e = evidence_;
    if (e.last_frame > 0) {
      say("tt-frame-rate", Level::note, "", [&] {
        return fmt::format("{:g} ticks a second ({}); the last key is at frame {}, {:.3f} a second",
                           meaning_.frames_per_second, meaning_.rate_reason, e.last_frame,
                           e.frames_per_length);
      });
    }
    if (e.tangent_keys + e.tangent_segments > 0) {
      say("tt-tangent-sign", Level::note, "", [&] {
        return fmt::format(
            "tangents in count {} ({}); mean cosine {:.3f} over {} keys, {} segments sum up to "
            "{:.4g}",
            meaning_.tangent_sign > 0 ? "plus" : "minus", meaning_.sign_reason, e.mean_cosine,
            e.tangent_keys, e.tangent_segments, e.along);
      });
    }
    if (e.unit_keys > 0) {
      say("tt-tangent-unit", Level::note, "", [&] {
        return fmt::format(
            "tangents out are {:.2f} times half the way between the neighbours, the "
            "median of {}: about 1 is expected, 0.33 would be handles of a curve",
            e.unit_ratio, e.unit_keys);
      });
    }
    if (e.t1_values + e.t3_values > 0) {
      say("tt-track-order", Level::note, "", [&] {
        return fmt::format("{} is the scale ({}); the medians of t1 and t3 are {} and {}",
                           meaning_.scale_first ? "t1" : "t3", meaning_.order_reason, e.t1_median,
                           e.t3_median);
      });
      unit();
    }
    if (!e.interps.empty())
      say("tt-interp-values", Level::note, "", "interp is " + list(e.interps));
    if (e.linear_keys > 0) {
      say("tt-linear-keys", Level::note, "",
          fmt::format("{} keys are linear, {} of them without tangents", e.linear_keys,
                      e.linear_flat));
    }
    if (e.segments > 0) {
      say("tt-omega", Level::note, "", [&] {
        return fmt::format(
            "{} segments: {} keys turned over, {} marked so, {} agree, {} without an "
            "angle; angles are off by up to {:.3f}, sinom by {:.3f}; {} last keys "
            "have one",
            e.segments, e.turned, e.flagged, e.agreeing, e.still, e.worst_angle, e.worst_product,
            e.last_with_angle);
      });
    }
    if (e.rotation_keys > 0) {
      say("tt-quaternion-values", Level::note, "",
          fmt::format("the largest component of {} keys is {}", e.rotation_keys,
                      e.largest_component));
    }
    for (const auto& [what, flags] : {std::pair{"meshes", &e.mesh_flags},
                                      {"nodes", &e.node_flags},
                                      {"materials", &e.material_flags}}) {
      if (flags->size() > 1 || (flags->size() == 1 && !flags->contains(0)))
        say("tt-flag-values", Level::note, "", fmt::format("flag of {} is {}", what, list(*flags)));
    }
    if (file_.flag != 0) {
      say("tt-header-flag", Level::note, "flag",
          fmt::format("{:#x}; 2 is said to turn smoothing off", file_.flag));
    }
    for (std::size_t i = 0; i < e.materials.size(); ++i) {
      const auto& t = e.materials[i];
      if (t.values == 0) continue;
      say("tt-material-values", Level::note, "",
          fmt::format("track{} of materials: {} numbers from {:.4g} to {:.4g}", i + 1, t.values,
                      t.least, t.most));
    }
    if (!e.message_ids.empty())
      say("tt-message-values", Level::note, "", "messages are " + list(e.message_ids));
    if (e.texts > 0) {
      say("tt-text-end", Level::note, "",
          fmt::format("{} of {} texts end with a zero byte", e.terminated_texts, e.texts));
    }
  }
  void unit() {
    const double scale = meaning_.scale_first ? evidence_.t1_median : evidence_.t3_median;
    const std::size_t n = meaning_.scale_first ? evidence_.t1_values : evidence_.t3_values;
    if (n == 0) return;
    const char* says = std::abs(scale - 1000) <= 100   ? "1000 is 1, as expected"
                       : std::abs(scale - 4096) <= 410 ? "4096 is 1, as in later games"
                                                       : "that tells nothing";
    say("tt-vector-unit", Level::note, "",
        fmt::format("the median of scales is {} raw: {}; {:g} is used", scale, says,
                    options_.vector_scale));
  }

  const File& file_;
  const Model* model_;
  const Names* names_;
  Meaning meaning_;
  const Options& options_;
  Evidence evidence_;
  Findings findings_;
};

}  // namespace

std::vector<Finding> check(const File& file, const Options& options, const Model* model,
                           const Names* names) {
  return Checker(file, options, model, names).run();
}

}  // namespace dopesheet::totemtech
