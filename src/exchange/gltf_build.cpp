// JSON, buffer and accessors of a glTF file, and the file itself.
#include "gltf_build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <set>

#include "io/text.hpp"

namespace dopesheet::gltf {
namespace {

constexpr int float_type = 5126, u8_type = 5121, u16_type = 5123, u32_type = 5125;
constexpr int vertex_target = 34962, index_target = 34963;

template <std::unsigned_integral T>
void append(Bytes& out, T v) {
  for (std::size_t i = 0; i < sizeof v; ++i) out.push_back(static_cast<std::byte>(v >> (8 * i)));
}
void append(Bytes& out, std::span<const float> values) {
  const std::size_t at = out.size();
  out.resize(at + values.size_bytes());
  if constexpr (std::endian::native == std::endian::little) {
    if (!values.empty()) std::memcpy(out.data() + at, values.data(), values.size_bytes());
  } else {
    out.resize(at);
    for (const float v : values) append(out, std::bit_cast<std::uint32_t>(v));
  }
}
void append(Bytes& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}
void align(Bytes& out, char pad) {
  while (out.size() % 4 != 0) out.push_back(static_cast<std::byte>(pad));
}

const char* type_name(std::size_t components) {
  return components == 1 ? "SCALAR" : components == 2 ? "VEC2" : components == 3 ? "VEC3" : "VEC4";
}

Object accessor(int component_type, std::size_t count, const char* type) {
  Object o;
  o.number("componentType", component_type).number("count", count).text("type", type);
  return o;
}

// The smallest and largest of each component.
void add_bounds(Object& o, std::span<const float> values, std::size_t components) {
  std::vector<float> low(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(components));
  std::vector<float> high = low;
  for (std::size_t i = 0; i < values.size(); ++i) {
    low[i % components] = std::min(low[i % components], values[i]);
    high[i % components] = std::max(high[i % components], values[i]);
  }
  o.numbers("min", low).numbers("max", high);
}

template <class Range>
std::string joined(const Range& items, auto&& text) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ',';
    out += text(item);
  }
  return out + ']';
}

// A file name as a relative URI.
std::string uri(std::string_view name) {
  std::string out;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '~' || c == '/';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Bytes to_glb(std::string_view json, const Bytes& buffer) {
  Bytes out;
  append(out, std::string_view("glTF"));
  append(out, std::uint32_t{2});
  append(out, std::uint32_t{0});  // the length, below
  append(out, static_cast<std::uint32_t>((json.size() + 3) / 4 * 4));
  append(out, std::string_view("JSON"));
  append(out, json);
  align(out, ' ');
  if (!buffer.empty()) {
    append(out, static_cast<std::uint32_t>((buffer.size() + 3) / 4 * 4));
    append(out, std::string_view("BIN\0", 4));
    out.insert(out.end(), buffer.begin(), buffer.end());
    align(out, '\0');
  }
  for (std::size_t i = 0; i < 4; ++i) out[8 + i] = static_cast<std::byte>(out.size() >> (8 * i));
  return out;
}

}  // namespace

Object& Object::raw(std::string_view key, std::string_view json) {
  if (!text_.empty()) text_ += ',';
  text_ += io::json_string(key);
  text_ += ':';
  text_ += json;
  return *this;
}
Object& Object::text(std::string_view key, std::string_view utf8) {
  return raw(key, io::json_string(utf8));
}
Object& Object::numbers(std::string_view key, std::span<const float> v) {
  return raw(key, joined(v, [](float f) { return json(f); }));
}
Object& Object::numbers(std::string_view key, std::span<const std::size_t> v) {
  return raw(key, joined(v, [](std::size_t n) { return std::to_string(n); }));
}
Object& Object::name(std::string_view bytes) {
  return bytes.empty() ? *this : text("name", escape_name(bytes));
}
Object& Object::extras(const Object& extras) {
  return extras.empty() ? *this : raw("extras", extras.str());
}
std::string Object::json(float v) {
  return std::isfinite(v) ? io::float_text(v) : io::json_string(io::float_text(v));
}
std::string Object::json(double v) {
  return std::isfinite(v) ? io::float_text(v) : io::json_string(io::float_text(v));
}

Object& Object::properties(const Properties& list, std::initializer_list<std::string_view> reserved,
                           const std::string& path, std::vector<Loss>& losses) {
  std::set<std::string, std::less<>> taken(reserved.begin(), reserved.end());
  for (const Property& p : list) {
    const std::string key = escape_name(p.key);
    const auto say = [&](const char* text) {
      losses.push_back({fmt::format("{}.properties.{}", path, key), text});
    };
    if (!taken.insert(key).second) {
      say("the key is taken; the value is left out");
    } else if (const auto* n = std::get_if<std::int64_t>(&p.value)) {
      number(key, *n);
    } else if (const auto* s = std::get_if<std::string>(&p.value)) {
      text(key, escape_name(*s));
    } else if (const auto* f = std::get_if<float>(&p.value)) {
      if (!std::isfinite(*f)) say("is not finite; written as text");
      number(key, *f);
    } else if (const auto* v = std::get_if<std::vector<float>>(&p.value)) {
      if (!std::all_of(v->begin(), v->end(), [](float x) { return std::isfinite(x); })) {
        say("is not finite; written as text");
      }
      numbers(key, *v);
    }
  }
  return *this;
}

std::string array(std::span<const std::string> items) {
  return joined(items, [](const std::string& s) { return s; });
}

std::size_t Builder::add(Section section, std::string json) {
  list(section).push_back(std::move(json));
  return list(section).size() - 1;
}

std::size_t Builder::view(std::size_t offset, std::size_t length, int target) {
  Object o;
  o.number("buffer", 0);
  if (offset > 0) o.number("byteOffset", offset);
  o.number("byteLength", length);
  if (target != 0) o.number("target", target);
  return add(Section::views, o.str());
}

std::size_t Builder::attribute(std::span<const float> values, std::size_t components,
                               bool with_bounds) {
  Object o;
  o.number("bufferView", view(buffer_.size(), values.size_bytes(), vertex_target));
  append(buffer_, values);
  o.number("componentType", float_type).number("count", values.size() / components);
  o.text("type", type_name(components));
  if (with_bounds) add_bounds(o, values, components);
  return add(Section::accessors, o.str());
}

std::size_t Builder::attribute(std::span<const std::array<std::uint8_t, 4>> joints) {
  Object o;
  o.number("bufferView", view(buffer_.size(), joints.size_bytes(), vertex_target));
  for (const auto& j : joints) {
    for (const std::uint8_t b : j) buffer_.push_back(std::byte{b});
  }
  o.number("componentType", u8_type).number("count", joints.size()).text("type", "VEC4");
  return add(Section::accessors, o.str());
}

std::size_t Builder::indices(std::span<const std::uint32_t> values, std::size_t vertices) {
  const bool wide = vertices > 0xFFFF;  // index 0xFFFF itself would restart the primitive
  const std::size_t at = buffer_.size();
  for (const std::uint32_t v : values) {
    if (wide) {
      append(buffer_, v);
    } else {
      append(buffer_, static_cast<std::uint16_t>(v));
    }
  }
  Object o;
  o.number("bufferView", view(at, buffer_.size() - at, index_target));
  align(buffer_, '\0');
  o.number("componentType", wide ? u32_type : u16_type).number("count", values.size());
  o.text("type", "SCALAR");
  return add(Section::accessors, o.str());
}

std::size_t Builder::zeros(std::size_t vectors) {
  const auto [at, is_new] = zeros_.try_emplace(vectors, list(Section::accessors).size());
  if (is_new) {
    Object o = accessor(float_type, vectors, "VEC3");
    o.raw("min", "[0,0,0]").raw("max", "[0,0,0]");
    add(Section::accessors, o.str());
  }
  return at->second;
}

std::size_t Builder::matrices(std::span<const float> values) {
  Object o;
  o.number("bufferView", view(buffer_.size(), values.size_bytes(), 0));
  append(buffer_, values);
  o.number("componentType", float_type).number("count", values.size() / 16).text("type", "MAT4");
  return add(Section::accessors, o.str());
}

std::size_t Builder::input(std::span<const float> times) {
  std::string key(reinterpret_cast<const char*>(times.data()), times.size_bytes());
  if (const auto known = inputs_.find(key); known != inputs_.end()) return known->second;
  const std::size_t index = output(times, 1);
  inputs_.emplace(std::move(key), index);
  return index;
}

std::size_t Builder::output(std::span<const float> values, std::size_t components) {
  if (!animation_view_) animation_view_ = add(Section::views, {});
  Object o;
  o.number("bufferView", *animation_view_);
  if (!animation_.empty()) o.number("byteOffset", animation_.size());
  append(animation_, values);
  o.number("componentType", float_type).number("count", values.size() / components);
  o.text("type", type_name(components));
  if (components == 1) add_bounds(o, values, 1);
  return add(Section::accessors, o.str());
}

std::size_t Builder::flags(std::span<const float> values) {
  if (!animation_view_) animation_view_ = add(Section::views, {});
  Object o;
  o.number("bufferView", *animation_view_);
  if (!animation_.empty()) o.number("byteOffset", animation_.size());
  for (const float v : values) animation_.push_back(std::byte{v != 0});
  align(animation_, '\0');
  o.number("componentType", u8_type).number("count", values.size()).text("type", "SCALAR");
  return add(Section::accessors, o.str());
}

bool Builder::is_full(std::uint64_t more) const {
  return more > max_bytes_ || buffer_.size() + animation_.size() > max_bytes_ - more;
}

Result<Gltf> Builder::finish(std::span<const std::size_t> roots, const GltfOptions& options) {
  if (animation_view_) {
    view(buffer_.size(), animation_.size(), 0);
    list(Section::views)[*animation_view_] = std::move(list(Section::views).back());
    list(Section::views).pop_back();
    buffer_.insert(buffer_.end(), animation_.begin(), animation_.end());
  }
  if (options.separate_buffer && options.buffer_name.empty() && !buffer_.empty()) {
    return tl::unexpected(Error{Code::usage, 0, "buffer_name", "a separate buffer needs a name"});
  }
  Object file;
  file.raw("asset", R"({"version":"2.0","generator":"dopesheet"})");
  if (!extensions_.empty()) {
    file.raw("extensionsUsed",
             joined(extensions_, [](const std::string& name) { return io::json_string(name); }));
  }
  if (!roots.empty()) {
    const std::string scene = Object().numbers("nodes", roots).str();
    file.number("scene", 0).raw("scenes", "[" + scene + "]");
  }
  constexpr std::array keys{"nodes",      "meshes",    "skins",      "materials",
                            "animations", "accessors", "bufferViews"};
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!lists_[i].empty()) file.raw(keys[i], array(lists_[i]));
  }
  if (!buffer_.empty()) {
    Object o;
    o.number("byteLength", buffer_.size());
    if (options.separate_buffer) o.text("uri", uri(options.buffer_name));
    file.raw("buffers", "[" + o.str() + "]");
  }
  std::string json = file.str();
  if (is_full(json.size()) || json.size() + buffer_.size() > 0xFFFFFF00U) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the file would be too large"});
  }
  Gltf out;
  if (options.separate_buffer) {
    append(out.file, json + '\n');
    out.buffer = std::move(buffer_);
  } else {
    out.file = to_glb(json, buffer_);
  }
  return out;
}

}  // namespace dopesheet::gltf
