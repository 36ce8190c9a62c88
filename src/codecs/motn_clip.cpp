// document -> Clip, as stored. Sources of every rule: docs/formats/motn.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "dopesheet/motn.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet::motn {
namespace {

using Axes = std::array<Curve<float>, 3>;

double seconds(double frames) { return frames / frames_per_second; }

// What a motion stores for one control.
struct Channels {
  std::array<const DecodedCurve*, 3> position{}, rotation{}, scale{};
};

Curve<float> constant(double value) {
  Curve<float> c;
  c.interp = Interp::hermite;
  c.times = {0};
  c.values = {static_cast<float>(value)};
  c.in = c.out = {0};
  return c;
}
Curve<float> curve_of(const DecodedCurve& d) {
  Curve<float> c;
  c.interp = Interp::hermite;
  for (const Key& k : d.keys) {
    c.times.push_back(seconds(k.frame));
    c.values.push_back(k.value);
    c.in.push_back(k.slope_in);
    c.out.push_back(k.slope_out);
  }
  return c;
}

// Angles of 65536 a turn, each taken to the nearest turn of the one before it.
Curve<float> unwrapped(std::span<const std::uint16_t> angles) {
  Curve<float> c;
  c.interp = Interp::linear;
  double turns = 0;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const double now = static_cast<std::int16_t>(angles[i]) / 65536.0;
    turns = i == 0 ? now : now + std::round(turns - now);
    c.times.push_back(seconds(static_cast<double>(i)));
    c.values.push_back(static_cast<float>(turns));
  }
  return c;
}
Curve<float> halves(std::span<const std::uint16_t> words) {
  Curve<float> c;
  c.interp = Interp::linear;
  for (std::size_t i = 0; i < words.size(); ++i) {
    c.times.push_back(seconds(static_cast<double>(i)));
    c.values.push_back(from_half(words[i]));
  }
  return c;
}

bool is_target(std::size_t control) {
  return control == 8 || control == 15 || control == 20 || control == 23 || control == 29 ||
         control == 35;
}
bool is_foot(std::size_t control) { return control == 9 || control == 16; }

class Builder {
 public:
  Builder(const Bank& bank, std::size_t motion)
      : sequence_(sequence_of(bank, motion)),
        extra_(extra_of(bank, motion)),
        link_(link_of(extra_)) {
    clip_.name = bank.names[motion].text;
    clip_.ticks_per_second = clip_.frames_per_second = frames_per_second;
    const int last =
        sequence_.encoding() == Encoding::object ? sequence_.frames() : sequence_.frames() - 1;
    clip_.end = seconds(std::max(last, 0));
    clip_.outside = link_.loops ? Outside::wrap : Outside::clamp;
    clip_.properties = {{"shm_motion_id", static_cast<std::int64_t>(motion) + 1},
                        {"shm_rig", std::int64_t{sequence_.rig_id()}},
                        {"shm_encoding", std::string(name(sequence_.encoding()))},
                        {"shm_mirrored", std::int64_t{link_.mirrored ? 1 : 0}},
                        {"shm_loops", std::int64_t{link_.loops ? 1 : 0}}};
    if (link_.next) clip_.properties.push_back({"shm_next", std::int64_t{*link_.next}});
    for (const EventRecord& e : extra_.events) {
      if (e.type == 0) continue;
      std::string payload;
      for (const std::byte b : e.payload)
        payload += fmt::format("{:02x}", static_cast<unsigned>(b));
      clip_.events.push_back(
          {seconds(e.frame), fmt::format("shm_{}.{}", e.type, e.sub), std::move(payload)});
    }
  }

  Clip run() {
    switch (sequence_.encoding()) {
      case Encoding::curves:
        curves();
        break;
      case Encoding::dense:
        dense();
        break;
      case Encoding::object:
        object();
        break;
    }
    return std::move(clip_);
  }

 private:
  bool is_human() const { return shenmue::to_human(sequence_.rig_id(), 0).has_value(); }

  // All controls of the human rig, with their rest transforms.
  void human_nodes() {
    const shenmue::Rig& rig = shenmue::default_rig();
    std::array<Transform, shenmue::control_count> world;
    shenmue::solve(rig, shenmue::rest_pose(rig), {}, world);
    for (std::size_t i = 0; i < shenmue::control_count; ++i) {
      const auto& c = rig.controls[i];
      Node n;
      n.name = c.name;
      n.parent = is_target(i) ? -1 : c.parent;
      n.rest.translation = {static_cast<float>(c.offset[0]), static_cast<float>(c.offset[1]),
                            static_cast<float>(c.offset[2])};
      n.rest.rotation = rotation_of_turns({static_cast<float>(c.rest[0] / shenmue::bams_per_turn),
                                           static_cast<float>(c.rest[1] / shenmue::bams_per_turn),
                                           static_cast<float>(c.rest[2] / shenmue::bams_per_turn)});
      if (is_target(i)) {
        n.rest = {world[i].translation, {}, {1, 1, 1}};
        n.role = i == 23 ? Role::look_at : Role::ik_target;
      }
      n.properties = {{"shm_control", static_cast<std::int64_t>(i)}};
      clip_.nodes.push_back(std::move(n));
    }
  }

  // The node of a control, made when it is first asked for in rigs that are not known.
  std::size_t node_of(int control) {
    if (is_human()) {
      return static_cast<std::size_t>(shenmue::to_human(sequence_.rig_id(), control).value_or(0));
    }
    const auto [at, fresh] = numbered_.try_emplace(control, clip_.nodes.size());
    if (fresh) {
      Node n;
      n.name = fmt::format("control_{}", control);
      n.properties = {{"shm_control", std::int64_t{control}}};
      clip_.nodes.push_back(std::move(n));
    }
    return at->second;
  }

  void add(std::size_t node, Channel channel, Axes axes) {
    clip_.tracks.push_back({node, channel, {}, std::move(axes), {}});
  }

  void curves() {
    if (is_human()) human_nodes();
    const auto decoded = decode(sequence_);
    std::map<std::size_t, Channels> controls;
    for (const DecodedCurve& d : decoded) {
      if (is_human() && !shenmue::to_human(sequence_.rig_id(), d.bone)) continue;
      Channels& c = controls[node_of(d.bone)];
      auto& list = d.channel == Channel::translation ? c.position
                   : d.channel == Channel::rotation  ? c.rotation
                                                     : c.scale;
      list[static_cast<std::size_t>(d.axis)] = &d;
    }
    for (const auto& [node, c] : controls) {
      const Vec3 t = clip_.nodes[node].rest.translation;
      std::array<double, 3> turns{};
      if (is_human() && !is_target(node) && !is_foot(node)) {
        const auto& rest = shenmue::default_rig().controls[node].rest;
        for (std::size_t i = 0; i < 3; ++i) turns[i] = rest[i] / shenmue::bams_per_turn;
      }
      track(node, Channel::translation, c.position, {t.x, t.y, t.z});
      track(node, Channel::rotation, c.rotation, turns);
      track(node, Channel::scale, c.scale, {1, 1, 1});
    }
  }
  void track(std::size_t node, Channel channel, const std::array<const DecodedCurve*, 3>& curves,
             const std::array<double, 3>& rest) {
    if (curves == std::array<const DecodedCurve*, 3>{}) return;
    Axes axes;
    for (std::size_t i = 0; i < 3; ++i)
      axes[i] = curves[i] != nullptr ? curve_of(*curves[i]) : constant(rest[i]);
    add(node, channel, std::move(axes));
  }

  void dense() {
    if (is_human()) human_nodes();
    const Dense& d = sequence_.dense;
    const auto frames = static_cast<std::size_t>(sequence_.frames());
    const std::size_t stride = d.stride / 2;
    const auto column = [&](std::size_t at) {
      std::vector<std::uint16_t> words;
      for (std::size_t f = 0; f < frames && at < stride; ++f)
        words.push_back(d.words[f * stride + at]);
      return words;
    };
    if (frames == 0 || stride < 6) return;
    const std::size_t root = node_of(0);
    add(root, Channel::translation, {halves(column(0)), halves(column(1)), halves(column(2))});
    add(root, Channel::rotation,
        {unwrapped(column(3)), unwrapped(column(4)), unwrapped(column(5))});
    std::size_t at = 6;
    for (unsigned bone = 0; bone < 64; ++bone) {
      if (!d.has(bone)) continue;
      const std::size_t words = Dense::is_hinge(bone) ? 1 : 3;
      if (at + words > stride) break;
      if (!is_human() || shenmue::to_human(sequence_.rig_id(), static_cast<int>(bone))) {
        Axes axes{constant(0), constant(0), unwrapped(column(at))};
        if (words == 3)
          axes = {unwrapped(column(at)), unwrapped(column(at + 1)), unwrapped(column(at + 2))};
        const std::size_t node = node_of(static_cast<int>(bone));
        if (std::none_of(clip_.tracks.begin(), clip_.tracks.end(), [&](const Track& t) {
              return t.target == node && t.channel == Channel::rotation;
            })) {
          add(node, Channel::rotation, std::move(axes));
        }
      }
      at += words;
    }
  }

  void object() {
    const Object& o = sequence_.object;
    const auto samples = static_cast<std::size_t>(sequence_.frames()) + 1;
    const std::size_t base = 12 + 32 * o.nodes.size();
    const auto words = [&](std::uint16_t offset, std::size_t step, std::size_t first) {
      std::vector<std::uint16_t> out;
      const std::size_t at = (offset - base) / 2;
      for (std::size_t i = 0;
           i < samples && offset >= base && at + i * step + first < o.samples.size(); ++i) {
        out.push_back(o.samples[at + i * step + first]);
      }
      if (out.empty()) out.push_back(0);
      return out;
    };
    for (std::size_t i = 0; i < o.nodes.size(); ++i) {
      const ObjectNode& n = o.nodes[i];
      Node node;
      node.name = fmt::format("node_{}", i);
      clip_.nodes.push_back(std::move(node));
      const auto rotation = [&](const ObjectChannel& c) {
        return c.track != 0 ? unwrapped(words(c.track, 1, 0)) : unwrapped(std::array{c.value});
      };
      const auto position = [&](const ObjectChannel& c) {
        return c.track != 0 ? halves(words(c.track, 1, 0)) : halves(std::array{c.value});
      };
      add(i, Channel::translation,
          {position(n.position_x), position(n.position_y), position(n.position_z)});
      add(i, Channel::rotation,
          {rotation(n.rotation_x), rotation(n.rotation_y), rotation(n.rotation_z)});
      Axes scale;
      for (std::size_t a = 0; a < 3; ++a) {
        scale[a] = n.scale_track != 0 ? halves(words(n.scale_track, 3, a))
                                      : halves(std::array{n.scale[a]});
      }
      add(i, Channel::scale, std::move(scale));
    }
  }

  const Sequence& sequence_;
  const Extra& extra_;
  Link link_;
  Clip clip_;
  std::map<int, std::size_t> numbered_;
};

}  // namespace

Clip to_clip(const Bank& bank, std::size_t motion) { return Builder(bank, motion).run(); }

}  // namespace dopesheet::motn
