// How far out, along the bones, each node moves things when it turns: metres, at rest.
#pragma once
#include <algorithm>
#include <utility>

#include "dopesheet/compare.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {

inline std::vector<double> levers(std::span<const Node> nodes) {
  std::vector<double> out(nodes.size(), CompareOptions{}.probe_distance);
  auto order = topological_order(nodes);
  std::reverse(order.begin(), order.end());
  for (const std::size_t i : order) {
    const int p = nodes[i].parent;
    if (p < 0 || std::cmp_greater_equal(p, out.size())) continue;
    auto& parent = out[static_cast<std::size_t>(p)];
    parent = std::max(parent, out[i] + length(nodes[i].rest.translation));
  }
  return out;
}

}  // namespace dopesheet
