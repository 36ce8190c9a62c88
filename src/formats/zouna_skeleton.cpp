// Entry of the table: Zouna skeletons.
#include <fmt/format.h>

#include "dopesheet/zouna.hpp"
#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

Result<zouna::Skeleton> read(ByteView in, const Limits& limits) {
  return zouna::read_skeleton(in, limits);
}
template <class F>
auto with_skeleton(ByteView in, const ReadOptions& options, F f) {
  return with<zouna::Skeleton, read>(in, options, f);
}

Info skeleton_info(const zouna::Skeleton& s, const ReadOptions& o) {
  Info info;
  info.format = "zouna-skeleton";
  const auto& e = s.envelope;
  info.facts = {{"byte order", e.big_endian != 0 ? "big" : "little"},
                {"flavour", zouna::name(static_cast<zouna::Flavour>(e.flavour))},
                {"layout", s.has_rotation != 0 ? "with a rotation" : "without a rotation"},
                {"bones", std::to_string(s.bones.size())},
                {"bytes not understood", std::to_string(s.rest.size())}};
  info.columns = {"bone", "name", "parent"};
  const Model model = zouna::to_model(s, o.names);
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    info.rows.push_back({{std::to_string(i), io::escape_bytes(model.nodes[i].name),
                          std::to_string(model.nodes[i].parent)}});
  }
  return info;
}

std::vector<Finding> check(const zouna::Skeleton& s) {
  std::vector<Finding> out;
  const auto n = static_cast<std::int64_t>(s.bones.size());
  for (std::size_t i = 0; i < s.bones.size(); ++i) {
    if (s.bones[i].parent < -1 || s.bones[i].parent >= n) {
      out.push_back({"zn-bone-parent", Level::error, fmt::format("bones[{}].parent", i),
                     fmt::format("{} is no bone", s.bones[i].parent)});
    }
  }
  return out;
}

constexpr Format entry{
    .id = "zouna-skeleton",
    .title = "Zouna Skel_Z",
    .games = "Ratatouille, WALL-E, FUEL (Asobo)",
    .extensions = ".skel_z",
    .holds = "model",
    .evaluation = "-",
    .verified = "synthetic files only",
    .probe = zouna::probe_skeleton,
    .info =
        [](ByteView in, const ReadOptions& o) {
          return with_skeleton(in, o,
                               [&](const zouna::Skeleton& s) { return skeleton_info(s, o); });
        },
    .dump =
        [](ByteView in, const ReadOptions& o) {
          return with_skeleton(in, o, [](const zouna::Skeleton& s) { return zouna::dump(s); });
        },
    .to_json =
        [](ByteView in, const ReadOptions& o) {
          return with_skeleton(in, o, [](const zouna::Skeleton& s) { return zouna::to_json(s); });
        },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return zouna::skeleton_from_json(json, o.limits).and_then([](const zouna::Skeleton& s) {
        return zouna::write(s);
      });
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_skeleton(in, o, check); },
    .clips = nullptr,
    .exact = nullptr,
    .model =
        [](ByteView in, const ReadOptions& o) {
          return with_skeleton(in, o, [&](const zouna::Skeleton& s) {
            return zouna::to_model(s, o.names, stem(o.name));
          });
        },
    .list = nullptr,
    .edit = nullptr,
    .settings = {},
};

}  // namespace

const Format& zouna_skeleton_format() { return entry; }

}  // namespace dopesheet
