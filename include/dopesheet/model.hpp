// A character or a static mesh: joints, skin, primitives, materials. Free of any file format.
#pragma once
#include "dopesheet/clip.hpp"

namespace dopesheet {

struct Material {
  std::string name;  // of the texture, as stored; may repeat
  Vec3 emissive;     // 0 to 1
  bool double_sided = false;
  enum class Alpha : std::uint8_t { opaque, mask, blend } alpha = Alpha::opaque;
  Properties properties;
  friend bool operator==(const Material&, const Material&) = default;
};

struct Influence {
  std::array<std::uint8_t, 4> joints{};  // indices into Model::nodes; 0 where the weight is 0
  std::array<float, 4> weights{};        // sum 1
  friend bool operator==(const Influence&, const Influence&) = default;
};

// Vertices with one material. Counter-clockwise front faces in a right-handed space, clockwise in a
// left-handed one.
struct Primitive {
  std::vector<Vec3> positions;  // metres, in the space of the mesh
  std::vector<Vec3> normals;    // unit length
  std::vector<std::array<float, 2>> uvs;
  std::vector<Influence> influences;                    // empty for a mesh without skin
  std::vector<std::array<std::uint32_t, 3>> triangles;  // no degenerate ones
  std::size_t material = 0;
  // Morph::vertices[i] = o moves vertex morph_map[o] of this primitive, if that is not -1; with an
  // empty map, vertex o itself. Afterwards every vertex v takes the position of copy_of[v].
  std::vector<std::int32_t> morph_map;
  std::vector<std::uint32_t> copy_of;
};

struct Mesh {
  std::string name;
  int lod = 0;             // 0 is the finest
  float lod_distance = 0;  // metres from the camera at which it replaces the finer one
  Vec3 translation;        // of the whole mesh
  std::vector<Primitive> primitives;
  Properties properties;
};

// A named place on a joint or in the model: a muzzle, an eye, a collision sphere.
struct Attachment {
  std::string name;
  int joint = -1;  // -1: relative to the model
  Transform transform;
  Properties properties;
};

struct Model {
  std::string name;
  Space space = Space::right_handed;
  std::vector<Node> nodes;              // the skeleton; node i is joint i of the skin
  std::vector<Transform> inverse_bind;  // one per node, model space to joint space
  std::vector<Mesh> meshes;
  std::vector<Material> materials;
  std::vector<Attachment> attachments;
};

// The model in right-handed space: X mirrored, triangles turned over.
Model to_right_handed(Model model);

}  // namespace dopesheet
