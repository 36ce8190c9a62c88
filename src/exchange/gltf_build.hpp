// The parts of a glTF file in the making: JSON, buffer, accessors, and clips as samplers.
#pragma once
#include <concepts>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "dopesheet/export.hpp"

namespace dopesheet::gltf {

bool is_finite(float v);
bool is_finite(Vec3 v);
bool is_finite(Quat q);

// `t` with what is not finite replaced by the identity's, and the rotation of unit length.
Transform repaired(const Transform& t, const std::string& path, std::vector<Loss>& losses);

// A JSON object in the making; its keys stand in the order of the calls.
class Object {
 public:
  Object& raw(std::string_view key, std::string_view json);
  Object& text(std::string_view key, std::string_view utf8);
  Object& number(std::string_view key, std::integral auto v) { return raw(key, std::to_string(v)); }
  Object& number(std::string_view key, std::floating_point auto v) { return raw(key, json(v)); }
  Object& numbers(std::string_view key, std::span<const float> v);
  Object& numbers(std::string_view key, std::span<const std::size_t> v);
  // Each under its own key, names and texts escaped; a key that is taken, here or by `reserved`, is
  // a loss. Numbers that are not finite become text.
  Object& properties(const Properties& list, std::initializer_list<std::string_view> reserved,
                     const std::string& path, std::vector<Loss>& losses);
  Object& name(std::string_view bytes);  // escaped; nothing where there is none
  Object& extras(const Object& extras);  // nothing where it is empty
  bool empty() const { return text_.empty(); }
  std::string str() const { return '{' + text_ + '}'; }
  // A number; as text where it is not finite.
  static std::string json(float v);
  static std::string json(double v);

 private:
  std::string text_;
};
std::string array(std::span<const std::string> items);  // of JSON values

enum class Section : std::uint8_t { nodes, meshes, skins, materials, animations, accessors, views };

// Collects the objects of a file and its buffer. Every function returns the index of what it added.
class Builder {
 public:
  explicit Builder(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  std::size_t add(Section section, std::string json);
  void use_extension(std::string name) { extensions_.insert(std::move(name)); }

  // Mesh data, each array in a view of its own.
  std::size_t attribute(std::span<const float> values, std::size_t components, bool with_bounds);
  std::size_t attribute(std::span<const std::array<std::uint8_t, 4>> joints);
  std::size_t indices(std::span<const std::uint32_t> values, std::size_t vertices);
  std::size_t zeros(std::size_t vectors);  // Vec3, without any data
  std::size_t matrices(std::span<const float> values);
  // Animation data, in one view for the whole file. Equal times share one accessor.
  std::size_t input(std::span<const float> times);
  std::size_t output(std::span<const float> values, std::size_t components);
  std::size_t flags(std::span<const float> values);  // not 0 or 0, as bytes 1 and 0

  // Whether that many bytes more would be too many.
  bool is_full(std::uint64_t more = 0) const;
  void fail() { max_bytes_ = 0; }  // it is
  Result<Gltf> finish(std::span<const std::size_t> roots, const GltfOptions& options);

 private:
  std::size_t view(std::size_t offset, std::size_t length, int target);
  std::vector<std::string>& list(Section s) { return lists_[static_cast<std::size_t>(s)]; }

  std::size_t max_bytes_;
  std::array<std::vector<std::string>, 7> lists_;
  std::set<std::string> extensions_;
  Bytes buffer_, animation_;
  std::optional<std::size_t> animation_view_;
  std::map<std::size_t, std::size_t> zeros_;
  std::map<std::string, std::size_t, std::less<>> inputs_;
};

// The file that meshes go into. Morph targets of all clips stand one after the other.
struct MeshContext {
  Builder& builder;
  std::vector<Loss>& losses;
  std::span<const Clip> clips;
  std::size_t joints, materials;
};
// A primitive as JSON, `offset` added to its vertices; nothing where it has no triangles. Without
// targets where `morph_targets` is 0.
std::optional<std::string> primitive(Primitive p, Vec3 offset, bool is_skinned,
                                     std::size_t morph_targets, const MeshContext& to,
                                     const std::string& path);
// Whether the morph of any clip reaches the mesh.
bool moves(const Mesh& m, std::span<const Clip> clips);
std::string material(const Material& m, const std::string& path, std::vector<Loss>& losses);
std::array<float, 16> matrix(const Transform& t);  // column by column

// The clip as bake() accepts it and glTF can hold it: without broken keys and tracks, visibility as
// scale only where nothing else scales the node. Whatever goes is reported; custom channels are not, they
// have a place in extras.
Clip repaired(Clip clip, GltfVisibility visibility, std::vector<Loss>& losses);

// The custom channels of a clip as they are, a JSON array; empty where there are none.
std::string custom_tracks(const Clip& clip, std::vector<Loss>& losses);

enum class Path : std::uint8_t { translation, rotation, scale, visibility, weights };
const char* name(Path path);

enum class Kind : std::uint8_t { step, linear, cubic };
const char* name(Kind kind);

// A sampler's data. Times are strictly increasing, from 0; values are finite, `components` floats a
// value, and in cubic ones each value stands between its two tangents.
struct Samples {
  Kind kind = Kind::linear;
  std::size_t components = 3;
  std::vector<float> times, values;
};
struct Movement {
  std::size_t node = 0;
  Path path = Path::translation;
  Samples samples;
  Properties properties;
};

// The node tracks of a clip that is repaired and baked, by node, then path. `rest` gives the size
// of nodes that visibility hides.
std::vector<Movement> movements(const Clip& clip, std::span<const Node> rest,
                                GltfVisibility visibility, std::vector<Loss>& losses);

// The weight tracks as one sampler of `targets` floats a key, the clip's own starting at `first`.
// Nothing where that would take more than `max_floats`.
std::optional<Samples> weight_samples(const Clip& clip, std::size_t first, std::size_t targets,
                                      std::size_t max_floats);

// Makes the samples last until the end of the clip.
void hold_until_end(const Clip& clip, Samples& samples);

}  // namespace dopesheet::gltf
