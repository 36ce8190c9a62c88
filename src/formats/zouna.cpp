// Entry of the table: Zouna animations.
#include "dopesheet/zouna.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

using zouna::BezierMeaning;
using zouna::Flavour;
using zouna::Links;
using zouna::MaterialOrder;
using zouna::RotationRule;
using zouna::TangentSign;

Result<zouna::Options> options_of(const ReadOptions& o) {
  Settings s(o);
  zouna::Options out;
  using Order = std::optional<std::endian>;
  out.choices.order = s.choice<Order>(
      "endian", {},
      {{"auto", Order{}}, {"little", std::endian::little}, {"big", std::endian::big}});
  using F = std::optional<Flavour>;
  out.choices.flavour = s.choice<F>("flavour", {},
                                    {{"auto", F{}},
                                     {"bare", Flavour::bare},
                                     {"resource", Flavour::resource},
                                     {"bff", Flavour::bff}});
  using L = std::optional<Links>;
  out.choices.links = s.choice<L>(
      "links", {},
      {{"auto", L{}}, {"none", Links::none}, {"name", Links::name}, {"list", Links::list}});
  out.tangent_sign = s.choice("tangent-sign", TangentSign::automatic,
                              {{"auto", TangentSign::automatic},
                               {"plus", TangentSign::plus},
                               {"minus", TangentSign::minus}});
  out.rotation = s.choice("rotation", RotationRule::nlerp,
                          {{"nlerp", RotationRule::nlerp}, {"slerp", RotationRule::slerp}});
  out.bezier_rotation = s.choice("bezier-rotation", BezierMeaning::raw,
                                 {{"raw", BezierMeaning::raw},
                                  {"euler", BezierMeaning::euler},
                                  {"vector", BezierMeaning::vector}});
  out.material_order = s.choice("material-order", MaterialOrder::engine,
                                {{"engine", MaterialOrder::engine}, {"pool", MaterialOrder::pool}});
  out.names = o.names;
  if (s.error()) return tl::unexpected(*s.error());
  return out;
}

// Reads the document as the settings say, then hands both on.
template <class F>
auto with_zouna(ByteView in, const ReadOptions& o, F f)
    -> Result<decltype(f(std::declval<const zouna::File&>(), std::declval<zouna::Options>()))> {
  const auto options = options_of(o);
  if (!options) return tl::unexpected(options.error());
  const auto file = zouna::read(in, o.limits, options->choices);
  if (!file) return tl::unexpected(file.error());
  return f(*file, *options);
}

std::string label(const ReadOptions& o, std::uint32_t hash) {
  return io::escape_bytes(o.names != nullptr ? o.names->of(NameHash::zouna, hash)
                                             : hash_text(hash));
}

Info zouna_info(ByteView in, const zouna::File& f, const zouna::Options& options,
                const ReadOptions& o) {
  Info info;
  info.format = "zouna";
  const auto& b = f.body;
  const auto d = zouna::detect(in, options.choices);
  const auto sign = zouna::tangent_sign(b);
  std::string version = "-";
  if (f.envelope.has(Flavour::bff)) {
    version.clear();
    for (const unsigned n : f.envelope.bff.version)
      version += (version.empty() ? "" : ".") + std::to_string(n);
    version += fmt::format(", platform {}", f.envelope.bff.platform);
  }
  info.facts = {
      {"byte order", f.envelope.big_endian != 0 ? "big" : "little"},
      {"flavour", zouna::name(static_cast<Flavour>(f.envelope.flavour))},
      {"link header", zouna::name(static_cast<Links>(f.envelope.links))},
      {"told by", d ? d->reason : ""},
      {"version", version},
      {"name", f.envelope.has(Flavour::bare) ? "-" : label(o, f.envelope.header.name)},
      {"duration", fmt::format("{} s", io::float_text(b.max_time))},
      {"smooth ratio", io::float_text(b.smooth_ratio)},
      {"flag", fmt::format("{:#x}", b.flag)},
      {"rotation keys", std::to_string(b.rotation.size())},
      {"bezier rotation keys", std::to_string(b.bezier_rotation.size())},
      {"translation keys",
       fmt::format("{}, flag {:#x}", b.translation.keys.size(), b.translation.flag)},
      {"scale keys", fmt::format("{}, flag {:#x}", b.scale.keys.size(), b.scale.flag)},
      {"messages", std::to_string(b.messages.size())},
      {"linked resources", std::to_string(f.envelope.linked.size())},
      {"tangent sign", fmt::format("{:+} ({})", zouna::tangent_sign(b, options),
                                   options.tangent_sign != TangentSign::automatic ? "as asked for"
                                   : sign.evidence != 0                           ? "by its keys"
                                                                                  : "undecided")},
      {"material ranges fit", fmt::format("engine order {}, pool order {}",
                                          zouna::fits(b, MaterialOrder::engine) ? "yes" : "no",
                                          zouna::fits(b, MaterialOrder::pool) ? "yes" : "no")}};
  info.columns = {"kind", "name", "keys"};
  for (const auto& n : b.nodes) {
    info.rows.push_back(
        {{"node", label(o, n.name),
          fmt::format("translation {}, rotation {}, bezier {}, scale {}, messages {}",
                      n.translation.count, n.rotation.count, n.bezier_rotation.count, n.scale.count,
                      n.messages.count)}});
  }
  for (const auto& m : b.materials) {
    const auto p = zouna::parts(m, options.material_order);
    info.rows.push_back(
        {{"material", label(o, m.name),
          fmt::format("u {}, v {}, diffuse {}, emissive {}, rotation {}", p.u.count, p.v.count,
                      p.diffuse.count, p.emissive.count, p.rotation.count)}});
  }
  for (const auto& m : b.meshes)
    info.rows.push_back({{"mesh", label(o, m.name), fmt::format("visibility {}", m.range.count)}});
  for (const auto& m : b.morphs)
    info.rows.push_back({{"morph", label(o, m.name), fmt::format("weight {}", m.range.count)}});
  return info;
}

std::span<const Node> skeleton(const ReadOptions& o) {
  return o.model != nullptr ? std::span<const Node>(o.model->nodes) : std::span<const Node>{};
}

// Frames of the clip's nodes: those that the file moves come from the game's rule. The clip ends are
// kept, and a time before the one in front rewinds, as players do.
std::vector<Frame> exact_frames(const zouna::File& f, const zouna::Options& options,
                                const ReadOptions& o, std::span<const double> times) {
  const Clip clip = zouna::to_clip(f, options, skeleton(o));
  std::vector<std::size_t> at;  // of each node of the file
  std::vector<bool> used(clip.nodes.size());
  for (std::size_t i = 0; i < f.body.nodes.size(); ++i) {
    std::size_t k = 0;
    const auto hash = f.body.nodes[i].name;
    while (k < clip.nodes.size() && (used[k] || zouna::node_hash(clip.nodes[k]) != hash)) ++k;
    if (k < used.size()) used[k] = true;
    at.push_back(k);
  }
  std::vector<Frame> frames;
  zouna::EngineCursor cursor;
  double last = 0;
  for (const double t : times) {
    if (t < last) cursor = {};
    last = t;
    Frame frame;
    frame.time = std::clamp(t, 0.0, clip.end);
    for (const Node& n : clip.nodes) frame.nodes.push_back(n.rest);
    std::vector<Transform> pose(at.size());
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] < frame.nodes.size()) pose[i] = frame.nodes[at[i]];
    }
    zouna::sample_exact(f, options, static_cast<float>(frame.time), cursor, pose);
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] < frame.nodes.size()) frame.nodes[at[i]] = pose[i];
    }
    frames.push_back(std::move(frame));
  }
  return frames;
}

constexpr std::array settings{
    Setting{"endian", "auto, little, big", "auto", "the byte order of the file"},
    Setting{"flavour", "auto, bare, resource, bff", "auto", "what stands in front of the body"},
    Setting{"links", "auto, none, name, list", "auto",
            "the link header: one name (1.381 and later) or a list too (1.06.63, 1.291)"},
    Setting{"tangent-sign", "auto, plus, minus", "auto",
            "the sign of tangents into keys; auto: what the file's own keys speak for"},
    Setting{"rotation", "nlerp, slerp", "nlerp", "how rotations go between keys"},
    Setting{"bezier-rotation", "raw, euler, vector", "raw",
            "what Bezier rotations are: a custom track, angles about x y z, or axis times angle"},
    Setting{"material-order", "engine, pool", "engine",
            "of material ranges: u emissive diffuse rotation v, or u v diffuse emissive rotation"},
};

constexpr Format entry{
    .id = "zouna",
    .title = "Zouna Animation_Z",
    .games = "Ratatouille, WALL-E, FUEL, Toy Story 3 (Asobo)",
    .extensions = ".animation_z",
    .holds = "clip",
    .evaluation = "smooth, and by the game's search",
    .verified = "synthetic files only",
    .probe = zouna::probe,
    .info =
        [](ByteView in, const ReadOptions& o) {
          return with_zouna(in, o, [&](const zouna::File& f, const zouna::Options& z) {
            return zouna_info(in, f, z, o);
          });
        },
    .dump =
        [](ByteView in, const ReadOptions& o) {
          return with_zouna(
              in, o, [](const zouna::File& f, const zouna::Options&) { return zouna::dump(f); });
        },
    .to_json =
        [](ByteView in, const ReadOptions& o) {
          return with_zouna(
              in, o, [](const zouna::File& f, const zouna::Options&) { return zouna::to_json(f); });
        },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return zouna::from_json(json, o.limits).and_then([&](zouna::File f) {
        if (o.layout) zouna::layout(f);
        return zouna::write(f);
      });
    },
    .check =
        [](ByteView in, const ReadOptions& o) {
          return with_zouna(in, o, [&](const zouna::File& f, const zouna::Options& z) {
            return zouna::check(f, z, o.model);
          });
        },
    .clips =
        [](ByteView in, const ReadOptions& o) {
          return with_zouna(in, o, [&](const zouna::File& f, const zouna::Options& z) {
            return Clips::of({zouna::to_clip(f, z, skeleton(o), stem(o.name))});
          });
        },
    .exact =
        [](ByteView in, const ReadOptions& o, std::span<const double> times) {
          return with_zouna(in, o, [&](const zouna::File& f, const zouna::Options& z) {
            return exact_frames(f, z, o, times);
          });
        },
    .model = nullptr,
    .list = nullptr,
    .edit = nullptr,
    .settings = settings,
};

}  // namespace

const Format& zouna_format() { return entry; }

}  // namespace dopesheet
