#include "gltf_unite.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace dopesheet::gltf {
namespace {

// Whether the shorter list is how the longer one begins.
bool is_same(const std::vector<Node>& a, const std::vector<Node>& b) {
  const std::size_t n = std::min(a.size(), b.size());
  return std::equal(
      a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin(),
      [](const Node& p, const Node& q) { return p.name == q.name && p.parent == q.parent; });
}

}  // namespace

void unite_skeletons(std::vector<Clip>& clips) {
  std::vector<std::vector<Node>> skeletons;
  std::vector<std::size_t> skeleton_of;
  for (const Clip& c : clips) {
    const auto same = std::find_if(skeletons.begin(), skeletons.end(),
                                   [&](const auto& s) { return is_same(s, c.nodes); });
    skeleton_of.push_back(static_cast<std::size_t>(same - skeletons.begin()));
    if (same == skeletons.end()) {
      skeletons.push_back(c.nodes);
    } else if (c.nodes.size() > same->size()) {
      *same = c.nodes;
    }
  }
  std::vector<Node> all;
  std::vector<std::size_t> first;
  for (const auto& skeleton : skeletons) {
    first.push_back(all.size());
    for (Node n : skeleton) {
      // A parent that is not there must not become another skeleton's joint.
      const bool is_there = std::cmp_less(n.parent, skeleton.size());
      if (n.parent >= 0) n.parent = is_there ? n.parent + static_cast<int>(first.back()) : INT_MAX;
      all.push_back(std::move(n));
    }
  }
  for (std::size_t i = 0; i < clips.size(); ++i) {
    clips[i].nodes = all;
    for (Track& t : clips[i].tracks) {
      if (t.channel != Channel::weight) t.target += first[skeleton_of[i]];
    }
  }
}

}  // namespace dopesheet::gltf
