// Entries of the table: Shenmue models, MT5 and MT7.
#include "dopesheet/mt5.hpp"

#include <fmt/format.h>

#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

template <class F>
auto with_mt5(ByteView in, const ReadOptions& options, F f) {
  return with<mt5::File, mt5::read>(in, options, f);
}
template <class F>
auto with_mt7(ByteView in, const ReadOptions& options, F f) {
  return with<mt7::File, mt7::read>(in, options, f);
}

std::string text_of(const PropertyValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number != nullptr ? std::to_string(*number) : "";
}

Info info_of(const Model& model, std::string_view format) {
  Info info;
  info.format = format;
  std::size_t vertices = 0, triangles = 0;
  for (const Mesh& m : model.meshes) {
    for (const Primitive& p : m.primitives) {
      vertices += p.positions.size();
      triangles += p.triangles.size();
    }
  }
  info.facts = {{"nodes", std::to_string(model.nodes.size())},
                {"meshes", fmt::format("{}, {} vertices, {} triangles", model.meshes.size(),
                                       vertices, triangles)}};
  info.columns = {"node", "name", "parent", "bone"};
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const Node& n = model.nodes[i];
    std::string bone;
    for (const Property& p : n.properties) {
      if (p.key == "mt5_bone") bone = text_of(p.value);
    }
    info.rows.push_back(
        {{std::to_string(i), io::escape_bytes(n.name), std::to_string(n.parent), bone}});
  }
  return info;
}

constexpr Format mt5_entry{
    .id = "mt5",
    .title = "MT5 models",
    .games = "Shenmue (1999), Shenmue II (2001)",
    .extensions = ".mt5",
    .holds = "model",
    .evaluation = "-",
    .verified = "synthetic files",
    .probe = mt5::probe,
    .info =
        [](ByteView in, const ReadOptions& o) {
          return with_mt5(in, o,
                          [](const mt5::File& f) { return info_of(mt5::to_model(f), "mt5"); });
        },
    .dump = [](ByteView in, const ReadOptions& o) { return with_mt5(in, o, mt5::dump); },
    .to_json = [](ByteView in, const ReadOptions& o) { return with_mt5(in, o, mt5::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return mt5::from_json(json, o.limits).and_then(mt5::write);
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_mt5(in, o, mt5::check); },
    .clips = nullptr,
    .exact = nullptr,
    .model = [](ByteView in, const ReadOptions& o) -> Result<Model> {
      return mt5::read(in, o.limits).map([&](const mt5::File& f) {
        return mt5::to_model(f, stem(o.name));
      });
    },
    .list = nullptr,
    .edit = nullptr,
    .settings = {},
};

constexpr Format mt7_entry{
    .id = "mt7",
    .title = "MT7 models: the node tree",
    .games = "Shenmue II (2001)",
    .extensions = ".mt7",
    .holds = "model",
    .evaluation = "-",
    .verified = "synthetic files",
    .probe = mt7::probe,
    .info =
        [](ByteView in, const ReadOptions& o) {
          return with_mt7(in, o,
                          [](const mt7::File& f) { return info_of(mt7::to_model(f), "mt7"); });
        },
    .dump = [](ByteView in, const ReadOptions& o) { return with_mt7(in, o, mt7::dump); },
    .to_json = [](ByteView in, const ReadOptions& o) { return with_mt7(in, o, mt7::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return mt7::from_json(json, o.limits).and_then(mt7::write);
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_mt7(in, o, mt7::check); },
    .clips = nullptr,
    .exact = nullptr,
    .model = [](ByteView in, const ReadOptions& o) -> Result<Model> {
      return mt7::read(in, o.limits).map([&](const mt7::File& f) {
        return mt7::to_model(f, stem(o.name));
      });
    },
    .list = nullptr,
    .edit = nullptr,
    .settings = {},
};

}  // namespace

const Format& mt5_format() { return mt5_entry; }
const Format& mt7_format() { return mt7_entry; }

}  // namespace dopesheet
