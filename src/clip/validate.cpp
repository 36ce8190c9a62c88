// The invariants of the clip model.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "dopesheet/check.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {

const char* name(Level level) {
  switch (level) {
    case Level::note:
      return "note";
    case Level::warning:
      return "warning";
    case Level::error:
      return "error";
  }
  return "unknown";
}

namespace {

bool finite(float v) { return std::isfinite(v); }
bool finite(Vec3 v) { return finite(v.x) && finite(v.y) && finite(v.z); }
bool finite(Quat q) { return finite(q.x) && finite(q.y) && finite(q.z) && finite(q.w); }

class Validator {
 public:
  std::vector<Loss> out;

  void nodes(std::span<const Node> nodes) {
    std::vector<bool> placed(nodes.size());
    for (const std::size_t i : topological_order(nodes)) {
      const int p = nodes[i].parent;
      if (p < -1 || p >= static_cast<int>(nodes.size())) {
        say(fmt::format("nodes[{}].parent", i), fmt::format("{} is not a node", p));
      } else if (p >= 0 && !placed[static_cast<std::size_t>(p)]) {
        say(fmt::format("nodes[{}].parent", i), "its parents form a cycle");
      }
      placed[i] = true;
      if (!finite(nodes[i].rest.translation) || !finite(nodes[i].rest.rotation)) {
        say(fmt::format("nodes[{}].rest", i), "is not finite");
      }
    }
  }

  void track(std::size_t index, const Track& t, std::size_t targets) {
    const std::string path = fmt::format("tracks[{}]", index);
    if (t.channel != Channel::custom && t.target >= targets) {
      say(path + ".target", fmt::format("{} does not exist", t.target));
    }
    if (!seen_.insert({t.target, t.channel, t.name}).second) {
      say(path, "a second track of the same target and channel");
    }
    const bool vector = t.channel == Channel::translation || t.channel == Channel::scale;
    const bool scalar = t.channel == Channel::visibility || t.channel == Channel::weight;
    const auto kind = t.curve.index();  // float, Vec3, Quat, three floats
    const bool fits = t.channel == Channel::custom || (vector && (kind == 1 || kind == 3)) ||
                      (scalar && kind == 0) ||
                      (t.channel == Channel::rotation && (kind == 2 || kind == 3));
    if (!fits) say(path + ".curve", fmt::format("does not fit a {} channel", name(t.channel)));
    std::visit([&](const auto& c) { curve(path + ".curve", c); }, t.curve);
  }

 private:
  void curve(const std::string& path, const std::array<Curve<float>, 3>& axes) {
    for (std::size_t i = 0; i < 3; ++i) curve(fmt::format("{}[{}]", path, i), axes[i]);
  }
  template <class T>
  void curve(const std::string& path, const Curve<T>& c) {
    const std::size_t n = c.times.size();
    const bool tangents = c.interp == Interp::hermite || c.interp == Interp::bezier;
    const bool params = c.interp == Interp::slerp_ease || c.interp == Interp::slerp_stored;
    if (n == 0) say(path, "has no keys");
    if (c.values.size() != n) say(path + ".values", "differs in length from the times");
    if (c.in.size() != (tangents ? n : 0) || c.out.size() != (tangents ? n : 0)) {
      say(path, "has a wrong number of tangents for its interpolation");
    }
    if (c.params.size() != (params ? n : 0)) {
      say(path + ".params", "has a wrong length for its interpolation");
    }
    for (std::size_t i = 0; i < n; ++i) {
      if (!std::isfinite(c.times[i])) say(fmt::format("{}.times[{}]", path, i), "is not finite");
      if (i > 0 && c.times[i] < c.times[i - 1]) {
        say(fmt::format("{}.times[{}]", path, i), "is before the one in front of it");
      }
    }
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      if (!finite(c.values[i])) {
        say(fmt::format("{}.values[{}]", path, i), "is not finite");
      } else if constexpr (std::same_as<T, Quat>) {
        if (std::abs(dot(c.values[i], c.values[i]) - 1) > 1e-4F) {
          say(fmt::format("{}.values[{}]", path, i), "is not of unit length");
        }
      }
    }
    for (const auto* list : {&c.in, &c.out}) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        if (!finite((*list)[i])) {
          say(fmt::format("{}.{}[{}]", path, list == &c.in ? "in" : "out", i), "is not finite");
        }
      }
    }
  }
  void say(std::string path, std::string text) {
    out.push_back({std::move(path), std::move(text)});
  }

  std::set<std::tuple<std::size_t, Channel, std::string>> seen_;
};

}  // namespace

std::vector<Loss> validate(const Clip& clip) {
  Validator v;
  if (!(clip.end >= clip.start)) v.out.push_back({"end", "is before start"});
  v.nodes(clip.nodes);
  for (std::size_t i = 0; i < clip.morph.positions.size(); ++i) {
    if (clip.morph.positions[i].size() != clip.morph.vertices.size()) {
      v.out.push_back(
          {fmt::format("morph.positions[{}]", i), "differs in length from morph.vertices"});
    }
  }
  for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
    const bool morph = clip.tracks[i].channel == Channel::weight;
    v.track(i, clip.tracks[i], morph ? clip.morph.positions.size() : clip.nodes.size());
  }
  return std::move(v.out);
}

}  // namespace dopesheet
