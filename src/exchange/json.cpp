// Sampled poses, and as JSON; names as text.
#include <algorithm>
#include <cmath>
#include <limits>

#include "dopesheet/export.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

// JSON has no number for what is not finite.
template <class T>
std::string number(T v) {
  return std::isfinite(v) ? io::float_text(v) : "null";
}

std::string pose(const Transform& t) {
  std::string out = "[";
  for (const float v :
       {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y, t.rotation.z,
        t.rotation.w, t.scale.x, t.scale.y, t.scale.z}) {
    if (out.size() > 1) out += ',';
    out += number(v);
  }
  return out + ']';
}

template <class Range>
void append_list(std::string& out, const char* open, const Range& items, auto&& text) {
  out += open;
  bool first = true;
  for (const auto& item : items) {
    if (!first) out += ',';
    first = false;
    out += text(item);
  }
  out += ']';
}

}  // namespace

std::vector<double> sample_times(const Clip& clip, const SampleOptions& options) {
  std::vector<double> out;
  if (!options.times.empty()) {
    std::copy_if(options.times.begin(), options.times.end(), std::back_inserter(out),
                 [](double t) { return std::isfinite(t); });
    return out;
  }
  if (!std::isfinite(clip.start)) return out;
  if (!std::isfinite(clip.end) || clip.end <= clip.start) return {clip.start};
  const double rate = options.rate > 0 ? options.rate : clip.frames_per_second;
  if (!(rate > 0) || !std::isfinite(rate)) return {clip.start, clip.end};
  // A sample that only rounding keeps apart from the end is the end.
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  const double slack =
      std::max(1e-6 / rate, 4 * epsilon * std::max(std::abs(clip.start), std::abs(clip.end)));
  for (std::size_t i = 0; i + 1 < Limits{}.keys; ++i) {
    const double t = clip.start + static_cast<double>(i) / rate;
    if (!(t < clip.end - slack)) break;
    out.push_back(t);
  }
  out.push_back(clip.end);
  return out;
}

std::vector<Frame> sample_frames(const Clip& clip, std::span<const double> times) {
  const Sampler sampler(clip, Outside::clamp);
  // The clip's own rule holds outside its range only: the end of a wrapping clip is not its start.
  Clip range;
  range.start = clip.start;
  range.end = clip.end;
  const Sampler rule(range, clip.outside);
  Cursor cursor = sampler.cursor();
  std::vector<Frame> out;
  out.reserve(times.size());
  for (const double time : times) {
    Frame f{time, std::vector<Transform>(sampler.nodes()), std::vector<float>(sampler.weights())};
    const double t = time >= clip.start && time <= clip.end ? time : rule.inside(time);
    sampler.sample(t, cursor, f.nodes);
    sampler.sample_weights(t, cursor, f.weights);
    out.push_back(std::move(f));
  }
  return out;
}

std::string frames_to_json(const Clip& clip, std::span<const Frame> frames) {
  std::string out = R"({"schema":"dopesheet.sample/1","clip":)";
  out += io::json_string(escape_name(clip.name));
  out += clip.space == Space::right_handed ? R"(,"space":"gltf")" : R"(,"space":"game")";
  out += ",\"start\":" + number(clip.start) + ",\"end\":" + number(clip.end);
  append_list(out, ",\"nodes\":[", clip.nodes, [](const Node& n) {
    return "{\"name\":" + io::json_string(escape_name(n.name)) +
           ",\"parent\":" + std::to_string(n.parent) + '}';
  });
  append_list(out, ",\"frames\":[", frames, [](const Frame& f) {
    std::string line = "\n{\"time\":" + number(f.time);
    append_list(line, ",\"nodes\":[", f.nodes, pose);
    if (!f.weights.empty()) append_list(line, ",\"weights\":[", f.weights, number<float>);
    return line + '}';
  });
  return out + "}\n";
}

std::string escape_name(std::string_view bytes) { return io::escape_bytes(bytes); }

std::string unescape_name(std::string_view text) {
  // A name that did not come from escape_name is what it is.
  return io::unescape_bytes(text).value_or(std::string(text));
}

}  // namespace dopesheet
