// What the game would trip over in a clip that reads. The codes are listed in docs/formats/rfa.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dopesheet/sample.hpp"
#include "findings.hpp"
#include "rfa_math.hpp"

namespace dopesheet::rfa {
namespace {

constexpr int max_name = 59;

using Vector = std::array<float, 3>;

bool finite(const Vector& v) {
  return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
}
double distance(const Vector& a, const Vector& b) {
  return length(Vec3{a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}
double mm(double metres) { return metres * 1000; }

class Checker {
 public:
  Checker(const File& file, const Model* model, std::string_view name)
      : file_(file), model_(model), name_(name) {}

  std::vector<Finding> run() {
    header();
    for (std::size_t i = 0; i < file_.bones.size(); ++i) bone(i);
    morph();
    if (model_ != nullptr) skeleton();
    loop_seam();
    layout();
    return findings_.take();
  }

 private:
  void say(const char* code, Level level, const auto& path, const auto& text) {
    findings_.say(code, level, path, text);
  }
  std::int64_t duration() const { return std::int64_t{file_.end_time} - file_.start_time; }

  void header() {
    if (file_.end_time < file_.start_time) {
      say("rfa-end-before-start", Level::error, "end_time",
          fmt::format("end {} is before start {}; the game shows nothing of the clip",
                      file_.end_time, file_.start_time));
    }
    if (file_.bones.size() > static_cast<std::size_t>(max_bones)) {
      say("rfa-bone-limit", Level::error, "bones",
          fmt::format("{} bones; the game's tables hold {} and it writes past them",
                      file_.bones.size(), max_bones));
    }
    for (const auto& [name, ticks] :
         {std::pair{"ramp_in", file_.ramp_in}, std::pair{"ramp_out", file_.ramp_out}}) {
      if (ticks < 0) {
        say("rfa-ramp-negative", Level::warning, name,
            fmt::format("{} ticks; the game takes it for no ramp", ticks));
      } else if (ticks > std::max<std::int64_t>(duration(), 0)) {
        say("rfa-ramp-longer-than-clip", Level::warning, name,
            fmt::format(
                "{} ticks in a clip of {}; as an action the clip never reaches its full weight",
                ticks, duration()));
      }
    }
    std::string_view base = name_;
    base = base.substr(0, base.find('.'));  // the game cuts at the first dot
    if (base.size() > max_name) {
      say("rfa-name-length", Level::warning, "",
          fmt::format("the name has {} characters; the game keeps {}", base.size(), max_name));
    }
    if (std::count(name_.begin(), name_.end(), '.') > 1) {
      say("rfa-name-dot", Level::warning, "",
          "the name has more than one dot; the game cuts it at the first and looks for another "
          "file");
    }
  }

  void bone(std::size_t i) {
    const Bone& b = file_.bones[i];
    const std::string path = fmt::format("bones[{}]", i);
    if (!(b.weight >= 0 && b.weight <= 10)) {
      say("rfa-weight-range", Level::warning, path + ".weight",
          fmt::format("{} is outside 0 to 10; an action of weight 10 already owns the bone, a "
                      "weight below 0 "
                      "or not a number switches it off",
                      b.weight));
    }
    rotations(b.rotation_keys, path + ".rotation_keys");
    positions(b.position_keys, path + ".position_keys");
  }

  template <class Key>
  void times(const std::vector<Key>& keys, const std::string& path) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      if (k > 0 && keys[k].time <= keys[k - 1].time) {
        say("rfa-key-order", Level::error, fmt::format("{}[{}].time", path, k),
            fmt::format("{} is not after {}; the game searches keys in order and skips this one",
                        keys[k].time, keys[k - 1].time));
      }
      if (keys[k].time < file_.start_time || keys[k].time > file_.end_time) {
        say("rfa-key-outside", Level::warning, fmt::format("{}[{}].time", path, k),
            fmt::format("{} is outside {} to {}; the game never reaches it", keys[k].time,
                        file_.start_time, file_.end_time));
      }
    }
  }

  void rotations(const std::vector<RotationKey>& keys, const std::string& path) {
    if (keys.empty()) {
      say("rfa-no-rotation-keys", Level::warning, path,
          "no rotation keys; the game turns the bone to its parent's axes, not to the rest pose");
    } else if (keys.size() == 1) {
      say("rfa-single-rotation-key", Level::warning, path,
          "a single rotation key; for times before it the game reads past the bone");
    }
    times(keys, path);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const double n = raw_length(keys[k].rotation);
      const std::string at = fmt::format("{}[{}].rotation", path, k);
      if (raw_dot(keys[k].rotation, keys[k].rotation) >
          std::int64_t{rotation_scale} * rotation_scale) {
        say("rfa-quaternion-long", Level::warning, at,
            fmt::format(
                "length {:.2f} is above 16383; slow turns between such keys snap in the game", n));
      } else if (n < 16300) {
        say("rfa-quaternion-short", n < 8192 ? Level::error : Level::warning, at,
            fmt::format(
                "length {:.2f} is far from 16383; the game does not normalise and shrinks the bone",
                n));
      }
      for (const auto& [name, ease] :
           {std::pair{"ease_in", keys[k].ease_in}, std::pair{"ease_out", keys[k].ease_out}}) {
        if (ease < 0) {
          say("rfa-ease-range", Level::warning, fmt::format("{}[{}].{}", path, k, name),
              fmt::format("{} is below 0; the game jumps here", ease));
        }
      }
      if (k > 0 && keys[k - 1].ease_out > 0 && keys[k].ease_in > 0 &&
          keys[k - 1].ease_out + keys[k].ease_in > 127) {
        say("rfa-ease-sum", Level::note, fmt::format("{}[{}].ease_in", path, k),
            fmt::format(
                "{} and the {} before it add up to more than 127; the game scales both down",
                keys[k].ease_in, keys[k - 1].ease_out));
      }
      if (k > 0 && snaps(keys[k - 1].rotation, keys[k].rotation) &&
          !same_rotation(keys[k - 1], keys[k])) {
        say("rfa-snap", Level::warning, at,
            fmt::format(
                "too close to the key before it: the game does not interpolate but jumps {:.2f} "
                "degrees at the start of the segment",
                angle(keys[k - 1], keys[k])));
      }
    }
  }
  static bool same_rotation(const RotationKey& a, const RotationKey& b) {
    auto r = b.rotation;
    if (raw_dot(a.rotation, r) < 0) {
      for (auto& c : r) c = static_cast<std::int16_t>(-c);
    }
    return a.rotation == r;
  }
  static double angle(const RotationKey& a, const RotationKey& b) {
    const auto q = [](const RotationKey& k) {
      return normalize({static_cast<float>(k.rotation[0]), static_cast<float>(k.rotation[1]),
                        static_cast<float>(k.rotation[2]), static_cast<float>(k.rotation[3])});
    };
    return angle_between(q(a), q(b));
  }

  void positions(const std::vector<PositionKey>& keys, const std::string& path) {
    if (keys.empty()) {
      say("rfa-no-position-keys", Level::warning, path,
          "no position keys; the game puts the bone onto its parent: the mesh collapses there");
    }
    times(keys, path);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const PositionKey& key = keys[k];
      const std::string at = fmt::format("{}[{}]", path, k);
      if (!finite(key.position) || !finite(key.in) || !finite(key.out)) {
        say("rfa-not-finite", Level::error, at, "a coordinate is not a number; the mesh vanishes");
        continue;
      }
      if (k == 0 || !finite(keys[k - 1].position) || !finite(keys[k - 1].out)) continue;
      const PositionKey& before = keys[k - 1];
      const double moved = distance(before.position, key.position);
      const Vector zero{};
      const bool zeros = before.out == zero && key.in == zero;
      if (zeros &&
          (distance(before.position, zero) > 0.001 || distance(key.position, zero) > 0.001)) {
        say("rfa-zero-handles", Level::warning, at,
            "both handles of the segment before it are (0, 0, 0); handles are absolute points, so "
            "the game pulls "
            "the bone to its parent between the keys");
      } else if (moved > 1e-4 && before.out == before.position && key.in == key.position) {
        say("rfa-flat-handles", Level::note, at,
            fmt::format("moves {:.1f} mm with handles on the keys: the bone stops at both; a third "
                        "of the way "
                        "would be even motion",
                        mm(moved)));
      }
    }
  }

  void morph() {
    if (file_.morph_vertices.empty() != (file_.num_morph_keyframes == 0)) {
      say("rfa-morph-incomplete", Level::note, "num_morph_keyframes",
          fmt::format("{} morph vertices and {} keyframes; the game shows no morph",
                      file_.morph_vertices.size(), file_.num_morph_keyframes));
    }
    for (std::size_t k = 1; k < file_.morph_times.size() && !file_.morph_vertices.empty(); ++k) {
      if (file_.morph_times[k] <= file_.morph_times[k - 1]) {
        say("rfa-morph-order", Level::warning, fmt::format("morph_times[{}]", k),
            fmt::format("{} is not after {}", file_.morph_times[k], file_.morph_times[k - 1]));
      }
    }
    if (model_ == nullptr || model_->meshes.empty()) return;
    std::size_t vertices = 0;
    for (const Primitive& p : model_->meshes[0].primitives) {
      vertices = std::max(vertices, p.morph_map.empty() ? p.positions.size() : p.morph_map.size());
    }
    for (std::size_t i = 0; i < file_.morph_vertices.size(); ++i) {
      if (file_.morph_vertices[i] >= vertices) {
        say("rfa-morph-vertex", Level::error, fmt::format("morph_vertices[{}]", i),
            fmt::format("vertex {} of a mesh of {}; the game reads and writes past the mesh",
                        file_.morph_vertices[i], vertices));
      }
    }
  }

  // Positions of keys stand for bone lengths: the right order of bones matches the rest offsets.
  void skeleton() {
    const std::size_t tracks = file_.bones.size(), bones = model_->nodes.size();
    if (tracks < bones) {
      say("rfa-bone-count", Level::error, "bones",
          fmt::format("{} tracks for a mesh of {} bones; the game reads past the table and crashes",
                      tracks, bones));
    } else if (tracks > bones) {
      say("rfa-bone-count", Level::warning, "bones",
          fmt::format("{} tracks for a mesh of {} bones; the game ignores the last ones", tracks,
                      bones));
    }
    const std::size_t n = std::min(tracks, bones);
    std::size_t wrong = 0, fits_elsewhere = 0;
    std::size_t first = n;
    for (std::size_t i = 0; i < n; ++i) {
      if (model_->nodes[i].parent < 0 || offset(i, i) <= 0.01) continue;
      ++wrong;
      first = std::min(first, i);
      for (std::size_t j = 0; j < n; ++j) {
        if (j != i && model_->nodes[j].parent >= 0 && offset(i, j) <= 0.002) {
          ++fits_elsewhere;
          break;
        }
      }
    }
    if (wrong >= 2 && 2 * fits_elsewhere >= wrong) {
      say("rfa-bone-order", Level::error, fmt::format("bones[{}]", first),
          fmt::format("{} of {} bones sit away from their rest offset and {} of these match "
                      "another bone: the "
                      "clip lists the bones in another order than the mesh, and the game will move "
                      "the wrong ones",
                      wrong, n, fits_elsewhere));
      return;
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (model_->nodes[i].parent < 0) continue;
      const double rest = length(model_->nodes[i].rest.translation);
      double most = 0;
      for (const PositionKey& k : file_.bones[i].position_keys) {
        if (finite(k.position)) most = std::max(most, std::abs(distance(k.position, {}) - rest));
      }
      if (most > 0.01) {
        say("rfa-bone-length", Level::note, fmt::format("bones[{}].position_keys", i),
            fmt::format("'{}' changes its distance to its parent by up to {:.1f} mm: the mesh "
                        "stretches there",
                        model_->nodes[i].name, mm(most)));
      }
    }
  }
  // The least distance of a track's keys from a bone's rest offset.
  double offset(std::size_t track, std::size_t bone) const {
    const Vec3 rest = model_->nodes[bone].rest.translation;
    double least = file_.bones[track].position_keys.empty() ? 0 : INFINITY;
    for (const PositionKey& k : file_.bones[track].position_keys) {
      if (finite(k.position))
        least = std::min(least, distance(k.position, {rest.x, rest.y, rest.z}));
    }
    return least;
  }

  void loop_seam() {
    const std::vector<Node> none;
    const Clip clip =
        to_clip(file_, model_ != nullptr ? std::span<const Node>(model_->nodes) : none);
    if (!validate(clip).empty() || !(clip.end > clip.start)) return;
    const Sampler sampler(clip, Outside::clamp);
    Cursor cursor = sampler.cursor();
    std::vector<Transform> a(clip.nodes.size()), b(a);
    sampler.sample(clip.start, cursor, a);
    sampler.sample(clip.end, cursor, b);
    double far = 0, turned = 0;
    std::string far_bone, turned_bone;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const double d = length(a[i].translation - b[i].translation);
      const double r = angle_between(a[i].rotation, b[i].rotation);
      if (d > far) far = d, far_bone = clip.nodes[i].name;
      if (r > turned) turned = r, turned_bone = clip.nodes[i].name;
    }
    if (far <= 1e-5 && turned <= 0.1) return;
    std::string text = fmt::format("first and last pose differ by {:.2f} mm", mm(far));
    if (far > 1e-5) text += fmt::format(" ('{}')", far_bone);
    text += fmt::format(" and {:.2f} degrees", turned);
    if (turned > 0.1) text += fmt::format(" ('{}')", turned_bone);
    say("rfa-loop-seam", Level::note, "",
        text + "; a looping state jumps here, an action does not");
  }

  void layout() {
    for (std::size_t i = 0; i < file_.gaps.size(); ++i) {
      const io::Gap& g = file_.gaps[i];
      const bool zero = std::all_of(g.bytes.begin(), g.bytes.end(),
                                    [](std::byte b) { return b == std::byte{0}; });
      if (zero && g.bytes.size() < 4) continue;
      say("rfa-unknown-bytes", Level::note, fmt::format("gaps[{}]", i),
          fmt::format("{} bytes at {} belong to no record; they are kept, the game ignores them",
                      g.bytes.size(), g.offset));
    }
    File canonical = file_;
    rfa::layout(canonical);
    if (canonical.bone_offsets != file_.bone_offsets ||
        canonical.morph_vertices_offset != file_.morph_vertices_offset ||
        canonical.morph_keyframes_offset != file_.morph_keyframes_offset) {
      say("rfa-not-canonical", Level::note, "bone_offsets",
          "records or offsets are not in the order of the original exporter; the game does not "
          "mind, some "
          "strict readers do");
    }
    for (std::size_t i = 0; i < file_.bones.size(); ++i) {
      const auto& keys = file_.bones[i].rotation_keys;
      for (std::size_t k = 0; k < keys.size(); ++k) {
        if (keys[k].pad != 0) {
          say("rfa-pad", Level::note, fmt::format("bones[{}].rotation_keys[{}].pad", i, k),
              fmt::format("{} instead of 0; the game ignores it", keys[k].pad));
        }
      }
    }
  }

  const File& file_;
  const Model* model_;
  std::string_view name_;
  Findings findings_;
};

}  // namespace

std::vector<Finding> check(const File& file, const Model* model, std::string_view name) {
  return Checker(file, model, name).run();
}

}  // namespace dopesheet::rfa
