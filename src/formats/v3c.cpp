// Entry of the table: Red Faction meshes.
#include "dopesheet/v3c.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

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

constexpr Format entry{
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
    .edit = nullptr,
    .settings = {},
};

}  // namespace

const Format& v3c_format() { return entry; }

}  // namespace dopesheet
