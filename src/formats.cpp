// The table of formats. Games: Red Faction, Shenmue.
#include "dopesheet/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "dopesheet/motn.hpp"
#include "dopesheet/rfa.hpp"
#include "dopesheet/v3c.hpp"
#include "io/json.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

std::string stem(const std::string& name) {
  const auto slash = name.find_last_of("/\\");
  const std::string base = slash == name.npos ? name : name.substr(slash + 1);
  const auto dot = base.rfind('.');
  return dot == base.npos || dot == 0 ? base : base.substr(0, dot);
}

bool starts_with(ByteView in, std::string_view magic) {
  return in.size() >= magic.size() && std::memcmp(in.data(), magic.data(), magic.size()) == 0;
}

// What every entry does alike: read the document, then hand it on.
template <class Doc, auto Read, class F>
auto with(ByteView in, const ReadOptions& options, F f)
    -> Result<decltype(f(std::declval<const Doc&>()))> {
  const auto doc = Read(in, options.limits);
  if (!doc) return tl::unexpected(doc.error());
  return f(*doc);
}

// ---- Red Faction clips

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

constexpr Format rfa_format{
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
            return std::vector<Clip>{rfa::to_clip(f, skeleton(o), stem(o.name))};
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
};

// ---- Red Faction meshes

template <class F>
auto with_v3c(ByteView in, const ReadOptions& options, F f) {
  return with<v3c::File, v3c::read>(in, options, f);
}

template <std::size_t N>
std::string text_of(const std::array<char, N>& name) {
  return io::escape_bytes(io::until_zero({name.data(), N}));
}

Info v3c_info(const v3c::File& f) {
  Info info;
  info.format = "v3c";
  info.columns = {"part", "name", "detail"};
  std::size_t bones = 0, spheres = 0, submeshes = 0;
  for (const auto& chunk : f.chunks) {
    if (const auto* s = std::get_if<v3c::Submesh>(&chunk.body)) {
      ++submeshes;
      for (std::size_t l = 0; l < s->lods.size(); ++l) {
        std::size_t vertices = 0, triangles = 0;
        for (const auto& b : s->lods[l].batch_infos) {
          vertices += b.num_vertices;
          triangles += b.num_triangles;
        }
        info.rows.push_back(
            {{fmt::format("LOD {}", l), text_of(s->name),
              fmt::format("{} batches, {} vertices, {} triangles, {} prop points, from {} m",
                          s->lods[l].batch_infos.size(), vertices, triangles,
                          s->lods[l].prop_points.size(), io::float_text(s->lod_distances[l]))}});
      }
      for (const auto& m : s->materials)
        info.rows.push_back({{"material", text_of(m.diffuse), ""}});
    } else if (const auto* c = std::get_if<v3c::Sphere>(&chunk.body)) {
      ++spheres;
      info.rows.push_back(
          {{"sphere", text_of(c->name),
            fmt::format("bone {}, radius {} m", c->bone, io::float_text(c->radius))}});
    } else if (const auto* b = std::get_if<v3c::Bones>(&chunk.body)) {
      bones += b->bones.size();
      for (std::size_t i = 0; i < b->bones.size(); ++i) {
        info.rows.push_back({{fmt::format("bone {}", i), text_of(b->bones[i].name),
                              fmt::format("parent {}", b->bones[i].parent)}});
      }
    }
  }
  info.facts = {{"kind", f.is_character() ? "character (V3C)" : "static mesh (V3M)"},
                {"submeshes", std::to_string(submeshes)},
                {"bones", std::to_string(bones)},
                {"collision spheres", std::to_string(spheres)}};
  return info;
}

constexpr Format v3c_format{
    .id = "v3c",
    .title = "V3C and V3M meshes",
    .games = "Red Faction (2001)",
    .extensions = ".v3c .v3m",
    .holds = "model",
    .evaluation = "-",
    .verified = "1 real file here; the layout on 130",
    .probe = [](ByteView in) { return starts_with(in, "MCFR") || starts_with(in, "D3FR"); },
    .info = [](ByteView in, const ReadOptions& o) { return with_v3c(in, o, v3c_info); },
    .dump = [](ByteView in, const ReadOptions& o) { return with_v3c(in, o, v3c::dump); },
    .to_json = [](ByteView in, const ReadOptions& o) { return with_v3c(in, o, v3c::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return v3c::from_json(json, o.limits).and_then([&](v3c::File f) {
        if (o.layout) v3c::layout(f);
        return v3c::write(f);
      });
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_v3c(in, o, v3c::check); },
    .clips = nullptr,
    .exact = nullptr,
    .model = [](ByteView in, const ReadOptions& o) -> Result<Model> {
      return v3c::read(in, o.limits).and_then([&](const v3c::File& f) {
        return v3c::to_model(f, stem(o.name));
      });
    },
    .list = nullptr,
};

// ---- Shenmue motion banks

template <class F>
auto with_motn(ByteView in, const ReadOptions& options, F f) {
  return with<motn::Bank, motn::read>(in, options, f);
}

// * and ? match within a name; a number is an id, from 1.
bool is_selected(std::string_view pattern, const std::string& name, std::size_t motion) {
  if (pattern.empty() || pattern == std::to_string(motion + 1)) return true;
  return io::matches(pattern, name);
}
std::vector<std::size_t> selected(const motn::Bank& bank, const std::string& pattern) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < bank.names.size(); ++i) {
    if (is_selected(pattern, bank.names[i].text, i)) out.push_back(i);
  }
  return out;
}

std::string counts(const std::array<std::size_t, 4>& n) {
  return fmt::format("{} {} {} {}", n[0], n[1], n[2], n[3]);
}

Info motn_info(const motn::Bank& bank) {
  Info info;
  info.format = "motn";
  const auto s = motn::statistics(bank);
  info.facts = {
      {"motions", std::to_string(bank.table.size())},
      {"sequences", fmt::format("{}: {} curves, {} dense, {} object", bank.sequences.size(),
                                s.curve_sequences, s.dense_sequences, s.object_sequences)},
      {"extra blocks", std::to_string(bank.extras.size())},
      {"tracks", std::to_string(s.curves)},
      {"keys", std::to_string(s.keys)},
      {"first key codes", counts(s.first_codes)},
      {"middle key codes", counts(s.middle_codes)},
      {"last key codes", counts(s.last_codes)},
      {"longest", fmt::format("{} frames", s.longest)}};
  return info;
}

Info motn_list(const motn::Bank& bank, const ReadOptions& options) {
  Info info;
  info.format = "motn";
  info.columns = {"id",      "name",  "encoding", "rig",      "frames",
                  "seconds", "bones", "next",     "mirrored", "events"};
  for (const std::size_t i : selected(bank, options.select)) {
    const auto& s = motn::sequence_of(bank, i);
    const auto& extra = motn::extra_of(bank, i);
    const auto link = motn::link_of(extra);
    std::size_t bones = s.curves.channels.size(), events = 0;
    if (s.encoding() == motn::Encoding::object) bones = s.object.nodes.size();
    if (s.encoding() == motn::Encoding::dense) {
      bones = 1;
      for (unsigned b = 0; b < 64; ++b) bones += s.dense.has(b) ? 1 : 0;
    }
    for (const auto& e : extra.events) events += e.type != 0 ? 1 : 0;
    info.rows.push_back(
        {{std::to_string(i + 1), io::escape_bytes(bank.names[i].text), name(s.encoding()),
          s.rig_id() < 0 ? "-" : std::to_string(s.rig_id()), std::to_string(s.frames()),
          fmt::format("{:.3f}", std::max(s.frames() - 1, 0) / 30.0), std::to_string(bones),
          link.loops  ? "itself"
          : link.next ? std::to_string(*link.next)
                      : "-",
          link.mirrored ? "yes" : "-", std::to_string(events)}});
  }
  return info;
}

Result<std::vector<Clip>> motn_clips(const motn::Bank& bank, const ReadOptions& options) {
  std::vector<Clip> clips;
  for (const std::size_t i : selected(bank, options.select)) {
    if (!options.stored) {
      auto solved = motn::solve(bank, i);
      if (solved) {
        auto& c = solved->clip;
        c.properties.push_back({"dopesheet_error_mm", static_cast<float>(solved->error.max_mm)});
        c.properties.push_back(
            {"dopesheet_error_degrees", static_cast<float>(solved->error.max_degrees)});
        clips.push_back(std::move(c));
        continue;
      }
    }
    clips.push_back(motn::to_clip(bank, i));
  }
  if (clips.empty()) {
    return tl::unexpected(
        Error{Code::usage, 0, {}, fmt::format("no motion matches '{}'", options.select)});
  }
  return clips;
}

constexpr Format motn_format{
    .id = "motn",
    .title = "MOTN motion banks",
    .games = "Shenmue (1999)",
    .extensions = ".bin .motn .mot",
    .holds = "clips",
    .evaluation = "smooth, human rigs solved to a skeleton",
    .verified = "1 real bank, 1559 motions; packages on synthetic ones",
    .probe = motn::probe,
    .info = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn_info); },
    .dump = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::dump); },
    .to_json = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      if (o.layout) {
        return tl::unexpected(
            Error{Code::cannot_represent, 0, {}, "banks cannot be laid out from JSON yet"});
      }
      return motn::from_json(json, o.limits).and_then(motn::write);
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::check); },
    .clips = [](ByteView in, const ReadOptions& o) -> Result<std::vector<Clip>> {
      return motn::read(in, o.limits).and_then([&](const motn::Bank& b) {
        return motn_clips(b, o);
      });
    },
    .exact = nullptr,
    .model = nullptr,
    .list =
        [](ByteView in, const ReadOptions& o) {
          return with_motn(in, o, [&](const motn::Bank& b) { return motn_list(b, o); });
        },
};

constexpr std::array table{rfa_format, v3c_format, motn_format};

std::string known() {
  std::string out;
  for (const Format& f : table) out += (out.empty() ? "" : ", ") + std::string(f.title);
  return out;
}

}  // namespace

std::span<const Format> formats() { return table; }

const Format* find_format(std::string_view id) {
  const auto* f =
      std::find_if(table.begin(), table.end(), [&](const Format& x) { return x.id == id; });
  return f != table.end() ? f : nullptr;
}

Result<const Format*> identify(ByteView in) {
  for (const Format& f : table) {
    if (f.probe(in)) return &f;
  }
  return tl::unexpected(Error{Code::bad_magic, 0, {}, "none of the known formats: " + known()});
}

Result<const Format*> identify_json(std::string_view json, const Limits& limits) {
  return io::json_format(json, limits).and_then([](const std::string& id) -> Result<const Format*> {
    if (const Format* f = find_format(id)) return f;
    return tl::unexpected(Error{Code::bad_value, 0, "format",
                                "'" + io::escape_bytes(id) + "' is not a known format"});
  });
}

std::string formats_markdown() {
  std::string out =
      "| Format | Games | Files | Read | Write | Evaluate | Check | Export | Verified on |\n";
  out += "|---|---|---|---|---|---|---|---|---|\n";
  for (const Format& f : table) {
    out += fmt::format("| {} | {} | {} | yes | byte for byte | {} | yes | {} | {} |\n", f.title,
                       f.games, f.extensions, f.evaluation,
                       f.clips != nullptr ? "glTF, JSON, CSV" : "glTF", f.verified);
  }
  return out;
}

}  // namespace dopesheet
