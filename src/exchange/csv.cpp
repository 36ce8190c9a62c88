// Sampled poses as CSV (RFC 4180, but with plain line feeds).
#include <algorithm>
#include <cmath>

#include "dopesheet/export.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

std::string quoted(const std::string& field) {
  if (field.find_first_of(",\"\r\n") == std::string::npos) return field;
  std::string out = "\"";
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

// Empty for what is not finite.
template <class T>
void add(std::string& row, T v) {
  row += ',';
  if (std::isfinite(v)) row += io::float_text(v);
}

}  // namespace

std::string frames_to_csv(const Clip& clip, std::span<const Frame> frames) {
  std::size_t weights = 0;
  for (const Frame& f : frames) weights = std::max(weights, f.weights.size());
  std::string out = "time,frame,node,name,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz";
  for (std::size_t k = 0; k < weights; ++k) out += ",w" + std::to_string(k);
  out += '\n';
  std::vector<std::string> names;
  names.reserve(clip.nodes.size());
  for (const Node& n : clip.nodes) names.push_back(quoted(escape_name(n.name)));

  for (std::size_t i = 0; i < frames.size(); ++i) {
    const Frame& f = frames[i];
    const std::string start =
        (std::isfinite(f.time) ? io::float_text(f.time) : "") + ',' + std::to_string(i);
    const auto end_row = [&](bool is_first) {
      for (std::size_t k = 0; k < weights; ++k) {
        if (is_first && k < f.weights.size()) {
          add(out, f.weights[k]);
        } else {
          out += ',';
        }
      }
      out += '\n';
    };
    for (std::size_t n = 0; n < f.nodes.size(); ++n) {
      const Transform& t = f.nodes[n];
      out += start + ',' + std::to_string(n) + ',' + (n < names.size() ? names[n] : "");
      for (const float v :
           {t.translation.x, t.translation.y, t.translation.z, t.rotation.x, t.rotation.y,
            t.rotation.z, t.rotation.w, t.scale.x, t.scale.y, t.scale.z}) {
        add(out, v);
      }
      end_row(n == 0);
    }
    if (f.nodes.empty() && !f.weights.empty()) {
      out += start + std::string(12, ',');
      end_row(true);
    }
  }
  return out;
}

}  // namespace dopesheet
