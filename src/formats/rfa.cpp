// Entry of the table: Red Faction clips.
#include "dopesheet/rfa.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

template <class F>
auto with_rfa(ByteView in, const ReadOptions& options, F f) {
  return with<rfa::File, rfa::read>(in, options, f);
}
std::span<const Node> skeleton(const ReadOptions& options) {
  return options.model != nullptr ? std::span<const Node>(options.model->nodes)
                                  : std::span<const Node>{};
}

std::string ticks(std::int64_t t) {
  return fmt::format("{} ticks ({:.4g} s, {:.4g} frames)", t,
                     static_cast<double>(t) / rfa::ticks_per_second, static_cast<double>(t) / 160);
}

Info rfa_info(const rfa::File& f, const ReadOptions& options) {
  Info info;
  info.format = "rfa";
  std::size_t rotation = 0, position = 0, eased = 0;
  info.columns = {"bone", "name", "weight", "rotation keys", "position keys", "eased"};
  const auto names = skeleton(options);
  for (std::size_t i = 0; i < f.bones.size(); ++i) {
    const auto& b = f.bones[i];
    const auto eases =
        std::count_if(b.rotation_keys.begin(), b.rotation_keys.end(),
                      [](const auto& k) { return k.ease_in != 0 || k.ease_out != 0; });
    rotation += b.rotation_keys.size();
    position += b.position_keys.size();
    eased += static_cast<std::size_t>(eases);
    info.rows.push_back(
        {{std::to_string(i), i < names.size() ? io::escape_bytes(names[i].name) : "",
          io::float_text(b.weight), std::to_string(b.rotation_keys.size()),
          std::to_string(b.position_keys.size()), std::to_string(eases)}});
  }
  rfa::File canonical = f;
  rfa::layout(canonical);
  const auto a = rfa::write(f), b = rfa::write(canonical);
  info.facts = {{"version", std::to_string(f.version)},
                {"duration", ticks(std::int64_t{f.end_time} - f.start_time)},
                {"start", ticks(f.start_time)},
                {"end", ticks(f.end_time)},
                {"ramp in", ticks(f.ramp_in)},
                {"ramp out", ticks(f.ramp_out)},
                {"bones", std::to_string(f.bones.size())},
                {"rotation keys", fmt::format("{}, {} with eases", rotation, eased)},
                {"position keys", std::to_string(position)},
                {"morph", fmt::format("{} vertices, {} keyframes", f.morph_vertices.size(),
                                      f.num_morph_keyframes)},
                {"canonical order", a && b && *a == *b ? "yes" : "no"}};
  return info;
}

Frame exact_frame(const rfa::File& f, double time, const ReadOptions& options) {
  Frame frame;
  for (const Node& n : skeleton(options)) frame.nodes.push_back(n.rest);
  frame.nodes.resize(std::max(frame.nodes.size(), f.bones.size()));
  const double start = f.start_time, end = f.end_time;
  const double tick =
      std::clamp(std::round(time * rfa::ticks_per_second), start, std::max(start, end));
  frame.time = tick / rfa::ticks_per_second;
  rfa::sample_exact(f, static_cast<std::int32_t>(tick), frame.nodes);
  return frame;
}

constexpr Format entry{
    .id = "rfa",
    .title = "RFA character animation, versions 7 and 8",
    .games = "Red Faction (2001)",
    .extensions = ".rfa",
    .holds = "clip",
    .evaluation = "smooth, and exact to the game's integers",
    .verified = "3 real files (version 7); version 8 and morphs on synthetic ones",
    .probe = [](ByteView in) { return starts_with(in, "VMVF"); },
    .info =
        [](ByteView in, const ReadOptions& o) {
          return with_rfa(in, o, [&](const rfa::File& f) { return rfa_info(f, o); });
        },
    .dump = [](ByteView in, const ReadOptions& o) { return with_rfa(in, o, rfa::dump); },
    .to_json = [](ByteView in, const ReadOptions& o) { return with_rfa(in, o, rfa::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return rfa::from_json(json, o.limits).and_then([&](rfa::File f) {
        if (o.layout) rfa::layout(f);
        return rfa::write(f);
      });
    },
    .check =
        [](ByteView in, const ReadOptions& o) {
          return with_rfa(in, o,
                          [&](const rfa::File& f) { return rfa::check(f, o.model, o.name); });
        },
    .clips =
        [](ByteView in, const ReadOptions& o) {
          return with_rfa(in, o, [&](const rfa::File& f) {
            return Clips::of({rfa::to_clip(f, skeleton(o), stem(o.name))});
          });
        },
    .exact =
        [](ByteView in, const ReadOptions& o, std::span<const double> times) {
          return with_rfa(in, o, [&](const rfa::File& f) {
            std::vector<Frame> frames;
            for (const double t : times) frames.push_back(exact_frame(f, t, o));
            return frames;
          });
        },
    .model = nullptr,
    .list = nullptr,
    .edit = nullptr,
    .settings = {},
};

}  // namespace

const Format& rfa_format() { return entry; }

}  // namespace dopesheet
