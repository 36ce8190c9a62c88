// The bones of a SKEL block. Not verified on a real file.
#include <fmt/format.h>

#include <unordered_map>

#include "dopesheet/sample.hpp"
#include "totemtech_math.hpp"

namespace dopesheet::totemtech {
namespace {

constexpr std::uint32_t user_define = 0x8FFD95A7;  // CRC-32 of "USERDEFINE"
constexpr std::size_t columns = 5;

// What hangs on a bone and means nothing here.
struct Extra {
  std::array<std::uint32_t, 2> words{};
  std::string bytes;

  static constexpr void fields(auto& ar, auto& x) {
    ar("words", x.words);
    ar.template counted_text<std::uint32_t>("bytes", x.bytes);
  }
};

struct Bone {
  std::array<std::uint32_t, columns> ids{};  // its name, its parent and others, in an unknown order
  std::uint32_t extra_type = 0;
  Extra extra;
  std::array<float, 3> translation{};
  std::array<std::uint8_t, 4> junk{};
  std::array<float, 4> rotation{};  // x y z w
  std::array<float, 3> scale{};
  std::array<float, 9> rotation_world{}, rotation_inverse{};  // by analogy; unread
  std::array<float, 16> world{}, inverse{};  // rows; the last row of `world` is the translation

  static constexpr std::size_t min_wire_size = 268;
  static constexpr void fields(auto& ar, auto& b) {
    ar("ids", b.ids);
    ar("extra_type", b.extra_type);
    ar.require(b.extra_type == 0 || b.extra_type == user_define, "extra_type",
               "is neither 0 nor USERDEFINE");
    ar.when(b.extra_type != 0, [&](auto& in) { in("extra", b.extra); });
    ar("translation", b.translation);
    ar("junk", b.junk);
    ar("rotation", b.rotation);
    ar("scale", b.scale);
    ar("rotation_world", b.rotation_world);
    ar("rotation_inverse", b.rotation_inverse);
    ar("world", b.world);
    ar("inverse", b.inverse);
  }
};

struct Block {
  std::uint32_t path = 0, subtype = 0;
  std::array<float, 5> numbers{};
  std::vector<Bone> bones;

  static constexpr void fields(auto& ar, auto& b) {
    ar("path", b.path);
    ar("subtype", b.subtype);
    ar("numbers", b.numbers);
    ar.template count<std::uint32_t>("bones", b.bones);
    ar.each("bones", b.bones);
  }
};

// The parent of each bone, if the two columns can be names and parents: names differ and are not 0, one
// bone has no parent among them, and nothing hangs on itself.
std::optional<std::vector<int>> parents(const std::vector<Bone>& bones, std::size_t names,
                                        std::size_t parent) {
  std::unordered_map<std::uint32_t, int> index;
  for (std::size_t i = 0; i < bones.size(); ++i) {
    const std::uint32_t id = bones[i].ids[names];
    if (id == 0 || !index.emplace(id, static_cast<int>(i)).second) return std::nullopt;
  }
  std::vector<int> out(bones.size(), -1);
  std::size_t roots = 0;
  for (std::size_t i = 0; i < bones.size(); ++i) {
    const auto at = index.find(bones[i].ids[parent]);
    if (at != index.end()) out[i] = at->second;
    if (at == index.end() && ++roots > 1) return std::nullopt;
  }
  // Each walk up ends at a bone that an earlier one has passed, or at the root; at its own: a cycle.
  std::vector<std::size_t> passed(out.size(), SIZE_MAX);
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (auto b = static_cast<int>(i); b >= 0; b = out[static_cast<std::size_t>(b)]) {
      std::size_t& by = passed[static_cast<std::size_t>(b)];
      if (by == i) return std::nullopt;
      if (by != SIZE_MAX) break;
      by = i;
    }
  }
  return out;
}

std::vector<Node> nodes_of(const std::vector<Bone>& bones, const std::vector<int>& parents,
                           std::size_t names_column, const Names* names) {
  std::vector<Node> out(bones.size());
  for (std::size_t i = 0; i < bones.size(); ++i) {
    const Bone& b = bones[i];
    const std::uint32_t id = b.ids[names_column];
    Node& n = out[i];
    n.name = names != nullptr ? names->of(NameHash::totemtech, id) : hash_text(id);
    n.parent = parents[i];
    n.rest = {{b.translation[0], b.translation[1], b.translation[2]},
              normalize({b.rotation[0], b.rotation[1], b.rotation[2], b.rotation[3]}),
              {b.scale[0], b.scale[1], b.scale[2]}};
    n.properties = {{"tt_id", std::int64_t{id}}};
  }
  return out;
}

// How far the joints of a solution are from where the stored world matrices put them, relative to the
// root, whose own parent is not here.
double worst_mm(const std::vector<Bone>& bones, std::span<const Node> nodes) {
  std::vector<Transform> local, object(nodes.size());
  for (const Node& n : nodes) local.push_back(n.rest);
  std::size_t root = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].parent < 0) root = i;
  }
  const auto order = topological_order(nodes);
  to_object_space(nodes, order, local, object);
  const auto stored = [&](std::size_t i) {
    return Vec3{bones[i].world[12], bones[i].world[13], bones[i].world[14]};
  };
  const Vec3 offset = stored(root) - object[root].translation;
  double worst = 0;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double off = length(stored(i) - object[i].translation - offset);
    worst = std::isfinite(off) ? std::max(worst, 1000 * off) : INFINITY;
  }
  return worst;
}

}  // namespace

Result<Skeleton> read_skeleton(ByteView in, std::endian order, const Names* names,
                               const Limits& limits) {
  if (in.size() > limits.bytes) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the input is larger than the limit"});
  }
  io::Reader r(in, order);
  Block block;
  Block::fields(r, block);
  if (!r.ok()) return tl::unexpected(r.error());
  if (block.bones.size() > limits.nodes) {
    return tl::unexpected(
        Error{Code::limit, 28, "bones", fmt::format("more than {} bones", limits.nodes)});
  }
  if (block.bones.empty()) {
    return tl::unexpected(Error{Code::bad_value, 28, "bones", "there are none"});
  }
  Skeleton best;
  best.bytes = r.offset();
  for (std::size_t n = 0; n < columns; ++n) {
    for (std::size_t p = 0; p < columns; ++p) {
      const auto tree = p == n ? std::nullopt : parents(block.bones, n, p);
      if (!tree) continue;
      auto nodes = nodes_of(block.bones, *tree, n, names);
      const double off = worst_mm(block.bones, nodes);
      if (best.name_column >= 0 && !(off < best.worst_mm)) continue;
      best.name_column = static_cast<int>(n);
      best.parent_column = static_cast<int>(p);
      best.worst_mm = off;
      best.model.nodes = std::move(nodes);
    }
  }
  if (best.name_column < 0) {
    return tl::unexpected(
        Error{Code::bad_value, 32, "bones", "no two of the five ids can be names and parents"});
  }
  return best;
}

}  // namespace dopesheet::totemtech
