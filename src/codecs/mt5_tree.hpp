// What MT5 and MT7 share: a tree of nodes that point at their first child and next sibling.
#pragma once
#include <fmt/format.h>

#include <unordered_set>

#include "dopesheet/mt5.hpp"

namespace dopesheet::mt5 {

inline tl::unexpected<Error> refuse(Code code, std::size_t offset, std::string path,
                                    std::string text) {
  return tl::unexpected(Error{code, offset, std::move(path), std::move(text)});
}

// In both formats.
inline constexpr std::size_t first_node_field = 8, node_size = 64, child_field = 0x2C,
                             sibling_field = 0x30;

// Follows the offsets of at most `most` nodes: a node, its children, its siblings.
// `node(offset, index)` returns the node, or null where it cannot be there.
template <class Lookup>
Result<Places> walk(std::uint32_t first, std::size_t most, Lookup node) {
  struct Step {
    std::uint32_t offset;
    int parent;
    int from;       // node that holds the offset, -1: the header
    bool is_child;  // else the sibling
  };
  Places places;
  std::unordered_set<std::uint32_t> seen;
  std::vector<Step> open{{first, -1, -1, false}};
  while (!open.empty()) {
    const Step s = open.back();
    open.pop_back();
    const auto fail = [&](std::string text) {
      if (s.from < 0)
        return refuse(Code::bad_value, first_node_field, "first_node", std::move(text));
      return refuse(Code::bad_value,
                    places.nodes[static_cast<std::size_t>(s.from)] +
                        (s.is_child ? child_field : sibling_field),
                    fmt::format("nodes[{}].{}", s.from, s.is_child ? "child" : "sibling"),
                    std::move(text));
    };
    const std::size_t index = places.nodes.size();
    if (index >= most)
      return fail(fmt::format("there is room for {} nodes, this is one more", most));
    if (!seen.insert(s.offset).second) {
      return fail(fmt::format("the node at {} is in the tree already", s.offset));
    }
    const auto* n = node(s.offset, index);
    if (n == nullptr) {
      return fail(fmt::format("no node fits at the stored offset {}", s.offset));
    }
    places.nodes.push_back(s.offset);
    places.parents.push_back(s.parent);
    const int here = static_cast<int>(index);
    if (n->sibling != 0) open.push_back({n->sibling, s.parent, here, false});
    if (n->child != 0) open.push_back({n->child, here, here, true});
  }
  return places;
}

template <class Node>
Result<Places> walk_bytes(ByteView in, std::uint32_t first) {
  Node node;
  return walk(first, in.size() / node_size, [&](std::uint32_t offset, std::size_t) -> const Node* {
    if (offset == 0 || offset > in.size() || in.size() - offset < node_size) return nullptr;
    io::Reader r(in.subspan(offset, node_size));
    Node::fields(r, node);
    return &node;
  });
}
// The same for a document. Its nodes are in the order of the walk.
template <class Node>
Result<Places> walk_nodes(const std::vector<Node>& nodes, std::uint32_t first) {
  auto places =
      walk(first, nodes.size(), [&](std::uint32_t offset, std::size_t index) -> const Node* {
        return offset != 0 && index < nodes.size() ? &nodes[index] : nullptr;
      });
  if (!places) {
    Error& e = places.error();
    return refuse(Code::bad_document, 0, std::move(e.path), std::move(e.text));
  }
  if (places->nodes.size() != nodes.size()) {
    return refuse(
        Code::bad_document, 0, "nodes",
        fmt::format("holds {} nodes, their offsets reach {}", nodes.size(), places->nodes.size()));
  }
  return places;
}

inline std::int16_t bams(std::uint32_t word) { return static_cast<std::int16_t>(word & 0xFFFF); }

}  // namespace dopesheet::mt5
