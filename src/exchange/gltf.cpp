// Clips and a model as one glTF file.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dopesheet/sample.hpp"
#include "gltf_build.hpp"
#include "gltf_unite.hpp"

namespace dopesheet {
namespace gltf {
namespace {

constexpr std::string_view node_key = "dopesheet_node";

// A node that still lacks its children.
struct Draft {
  Object object;
  std::vector<std::size_t> children;
};

const PropertyValue* find(const Properties& list, std::string_view key) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const Property& p) { return p.key == key; });
  return at == list.end() ? nullptr : &at->value;
}

void add_transform(Object& o, const Transform& t) {
  const Transform identity;
  if (t.translation != identity.translation) {
    o.numbers("translation", std::array{t.translation.x, t.translation.y, t.translation.z});
  }
  if (t.rotation != identity.rotation) {
    o.numbers("rotation", std::array{t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w});
  }
  if (t.scale != identity.scale) o.numbers("scale", std::array{t.scale.x, t.scale.y, t.scale.z});
}

class Exporter {
 public:
  Exporter(const GltfOptions& options, std::vector<Clip> clips, std::vector<std::string> custom,
           std::vector<GltfReport> reports)
      : options_(options),
        builder_(options.bake.limits.bytes),
        clips_(std::move(clips)),
        custom_(std::move(custom)),
        reports_(std::move(reports)) {}

  Result<Gltf> run(const Model* model) {
    if (model != nullptr) {
      model_ = to_right_handed(*model);
      nodes_ = std::move(model_.nodes);
    } else if (!clips_.empty()) {
      nodes_ = clips_[0].nodes;  // repaired already
    }
    if (auto e = check_nodes()) return tl::unexpected(std::move(*e));
    add_joints(model != nullptr);
    for (std::size_t i = 0; i < model_.materials.size(); ++i) {
      builder_.add(Section::materials,
                   material(model_.materials[i], fmt::format("model.materials[{}]", i), losses_));
    }
    for (std::size_t i = 0; i < model_.attachments.size(); ++i) add_attachment(i);
    for (const Clip& c : clips_) targets_ += c.morph.positions.size();
    for (std::size_t i = 0; i < model_.meshes.size(); ++i) {
      if (model_.meshes[i].lod == 0 || options_.lods) add_mesh(i);
      if (builder_.is_full()) return tl::unexpected(too_large());
    }
    finish_nodes();
    std::size_t first_target = 0;
    for (std::size_t i = 0; i < clips_.size(); ++i) {
      if (!add_animation(i, first_target)) return tl::unexpected(too_large());
      first_target += clips_[i].morph.positions.size();
    }
    auto file = builder_.finish(roots_, options_);
    if (!file) return file;
    file->clips = std::move(reports_);
    // Losses of the model belong to no clip; they stand with the first one.
    if (file->clips.empty() && !losses_.empty()) file->clips.emplace_back();
    if (!file->clips.empty()) {
      auto& list = file->clips[0].losses;
      list.insert(list.end(), losses_.begin(), losses_.end());
    }
    return file;
  }

 private:
  static Error too_large() { return {Code::limit, 0, {}, "the file would be too large"}; }

  std::optional<Error> check_nodes() const {
    for (std::size_t i = 0; i < clips_.size(); ++i) {
      if (clips_[i].nodes.size() <= nodes_.size()) continue;
      return Error{Code::cannot_represent, 0, fmt::format("clips[{}].nodes", i),
                   fmt::format("the clip has {} nodes, what it is to move has {}",
                               clips_[i].nodes.size(), nodes_.size())};
    }
    return {};
  }

  // Node i of the file is node i of the skeleton.
  void add_joints(bool has_model) {
    drafts_.resize(nodes_.size());
    std::vector<bool> placed(nodes_.size());
    for (const std::size_t i : topological_order(nodes_)) {
      const int p = nodes_[i].parent;
      const bool has_parent =
          p >= 0 && std::cmp_less(p, nodes_.size()) && placed[static_cast<std::size_t>(p)];
      if (!has_parent && p != -1) {
        say(fmt::format("nodes[{}].parent", i),
            fmt::format("{} is no parent for it; it becomes a root", p));
      }
      if (!has_parent) nodes_[i].parent = -1;
      placed[i] = true;
    }
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      Node& n = nodes_[i];
      const std::string path = fmt::format("{}nodes[{}]", has_model ? "model." : "", i);
      if (has_model) n.rest = repaired(n.rest, path + ".rest", losses_);
      place(i, n.parent);
      Object& o = drafts_[i].object;
      if (has_model && find(n.properties, "rf_bone_index") != nullptr) {
        o.text("name", fmt::format("{}__rfbi{}", escape_name(n.name), i));
      } else {
        o.name(n.name);
      }
      add_transform(o, n.rest);
      Object extras;
      extras.properties(n.properties, {node_key}, path, losses_).number(node_key, i);
      o.extras(extras);
      if (is_shown_and_hidden(i)) {
        builder_.use_extension("KHR_node_visibility");
        builder_.use_extension("KHR_animation_pointer");
        o.raw("extensions", R"({"KHR_node_visibility":{"visible":true}})");
      }
    }
  }

  bool is_shown_and_hidden(std::size_t node) const {
    const auto hides = [&](const Track& t) {
      return t.channel == Channel::visibility && t.target == node;
    };
    return options_.visibility == GltfVisibility::extension &&
           std::any_of(clips_.begin(), clips_.end(), [&](const Clip& c) {
             return std::any_of(c.tracks.begin(), c.tracks.end(), hides);
           });
  }

  void place(std::size_t node, int parent) {
    if (parent >= 0) {
      drafts_[static_cast<std::size_t>(parent)].children.push_back(node);
    } else {
      roots_.push_back(node);
    }
  }

  void add_attachment(std::size_t index) {
    const Attachment& a = model_.attachments[index];
    const std::string path = fmt::format("attachments[{}]", index);
    const auto* value = find(a.properties, "rf_type");
    const auto* type = value != nullptr ? std::get_if<std::string>(value) : nullptr;
    std::string prefix;
    if (type != nullptr && *type == "prop_point") prefix = "rf_prop::";
    if (type != nullptr && *type == "collision_sphere") prefix = "rf_csphere::";
    int parent = a.joint;
    if (parent < -1 || std::cmp_greater_equal(parent, nodes_.size())) {
      say(path + ".joint", fmt::format("{} does not exist; it becomes a root", parent));
      parent = -1;
    }
    Draft d;
    d.object.name(prefix + a.name);
    add_transform(d.object, repaired(a.transform, "model." + path + ".transform", losses_));
    d.object.extras(Object().properties(a.properties, {}, "model." + path, losses_));
    drafts_.push_back(std::move(d));
    place(drafts_.size() - 1, parent);
  }

  // A mesh and the node that shows it. Lower levels of detail hang on the finest one before them.
  void add_mesh(std::size_t index) {
    Mesh& m = model_.meshes[index];
    const std::string path = fmt::format("model.meshes[{}]", index);
    if (!is_finite(m.translation)) {
      say(fmt::format("meshes[{}].translation", index), "is not finite; 0 is written");
      m.translation = {};
    }
    const bool is_skinned =
        !nodes_.empty() && std::any_of(m.primitives.begin(), m.primitives.end(),
                                       [](auto& p) { return !p.influences.empty(); });
    std::string mesh_name = m.name;
    const std::string suffix = fmt::format("_LOD{}", m.lod);
    if (m.lod != 0 && !std::string_view(mesh_name).ends_with(suffix)) mesh_name += suffix;

    const bool morphs = m.lod == 0 && moves(m, clips_);
    const MeshContext to{builder_, losses_, clips_, nodes_.size(), model_.materials.size()};
    const Vec3 offset = is_skinned ? m.translation : Vec3{};
    std::vector<std::string> primitives;
    for (std::size_t i = 0; i < m.primitives.size(); ++i) {
      auto json = primitive(std::move(m.primitives[i]), offset, is_skinned, morphs ? targets_ : 0,
                            to, fmt::format("{}.primitives[{}]", path, i));
      if (json) primitives.push_back(std::move(*json));
    }
    Draft d;
    d.object.name(mesh_name);
    if (!primitives.empty()) {
      Object o;
      o.name(mesh_name);
      o.raw("primitives", array(primitives));
      if (morphs) o.numbers("weights", std::vector<float>(targets_));
      d.object.number("mesh", builder_.add(Section::meshes, o.str()));
      if (is_skinned) d.object.number("skin", skin());
    }
    // The node of a skinned mesh does not move it: there the vertices carry the translation.
    if (!is_skinned) add_transform(d.object, {m.translation, {}, {1, 1, 1}});
    Object extras;
    extras.properties(m.properties, {"LOD_distance"}, path, losses_);
    if (m.lod != 0 && std::isfinite(m.lod_distance)) extras.number("LOD_distance", m.lod_distance);
    d.object.extras(extras);
    drafts_.push_back(std::move(d));
    const std::size_t node = drafts_.size() - 1;
    if (morphs && !primitives.empty()) morph_nodes_.push_back(node);
    if (m.lod != 0 && !lods_.empty()) {
      lods_.back().lower.push_back(node);
      return;
    }
    place(node, -1);
    if (m.lod == 0) lods_.push_back({node, {}});
  }

  std::size_t skin() {
    if (skin_) return *skin_;
    std::vector<float> inverse_bind;
    std::vector<std::size_t> joints, roots;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const Transform t = i < model_.inverse_bind.size() ? model_.inverse_bind[i] : Transform{};
      const auto m = matrix(repaired(t, fmt::format("model.inverse_bind[{}]", i), losses_));
      inverse_bind.insert(inverse_bind.end(), m.begin(), m.end());
      joints.push_back(i);
      if (nodes_[i].parent == -1) roots.push_back(i);
    }
    Object o;
    o.number("inverseBindMatrices", builder_.matrices(inverse_bind));
    if (roots.size() == 1) o.number("skeleton", roots[0]);
    if (roots.size() > 1) unite(roots);
    o.numbers("joints", joints);
    skin_ = builder_.add(Section::skins, o.str());
    return *skin_;
  }

  // The joints of a skin need a common root: a node that moves nothing.
  void unite(const std::vector<std::size_t>& joints) {
    Draft d;
    d.object.name(model_.name);
    d.children = joints;
    drafts_.push_back(std::move(d));
    std::erase_if(roots_, [&](std::size_t i) { return i < nodes_.size(); });
    roots_.insert(roots_.begin(), drafts_.size() - 1);
  }

  void finish_nodes() {
    for (const auto& [finest, lower] : lods_) {
      if (lower.empty()) continue;
      builder_.use_extension("MSFT_lod");
      const std::string ids = Object().numbers("ids", lower).str();
      drafts_[finest].object.raw("extensions", "{\"MSFT_lod\":" + ids + "}");
    }
    for (Draft& d : drafts_) {
      if (!d.children.empty()) d.object.numbers("children", d.children);
      builder_.add(Section::nodes, d.object.str());
    }
  }

  bool add_animation(std::size_t index, std::size_t first_target) {
    const Clip& clip = clips_[index];
    auto& losses = reports_[index].losses;
    report_rest(clip, losses);
    std::vector<Movement> list = movements(clip, nodes_, options_.visibility, losses);
    if (!morph_nodes_.empty()) {
      auto s = weight_samples(clip, first_target, targets_, options_.bake.limits.bytes / 4);
      if (!s) return false;
      for (const std::size_t node : morph_nodes_) list.push_back({node, Path::weights, *s, {}});
    }
    report_morph(clip, losses);
    if (list.empty()) {
      losses.push_back({"tracks", "none moves a node; glTF has no animation without channels"});
      return true;
    }
    const auto last = [](const Movement& m) { return m.samples.times.back(); };
    const auto longest = std::max_element(
        list.begin(), list.end(), [&](const auto& a, const auto& b) { return last(a) < last(b); });
    hold_until_end(clip, longest->samples);

    Object o;
    o.name(clip.name);
    std::vector<std::string> channels, samplers;
    for (const Movement& m : list) {
      const std::string path = fmt::format("nodes[{}].{}", m.node, name(m.path));
      const std::string target = target_of(m);
      // Of weights there is one set for all the meshes, at the end of the list.
      const bool is_again = m.path == Path::weights && m.node != morph_nodes_[0];
      if (!is_again) {
        const std::size_t floats = m.samples.times.size() + m.samples.values.size();
        if (builder_.is_full(std::uint64_t{4} * floats)) return false;
        samplers.push_back(sampler(m));
      }
      Object channel;
      channel.number("sampler", samplers.size() - 1).raw("target", target);
      channel.extras(Object().properties(m.properties, {}, path, losses));
      channels.push_back(channel.str());
    }
    o.raw("channels", array(channels)).raw("samplers", array(samplers));
    o.extras(clip_extras(clip, custom_[index], losses));
    builder_.add(Section::animations, o.str());
    return true;
  }

  static std::string target_of(const Movement& m) {
    if (m.path != Path::visibility)
      return Object().number("node", m.node).text("path", name(m.path)).str();
    const std::string pointer =
        fmt::format("/nodes/{}/extensions/KHR_node_visibility/visible", m.node);
    const std::string extension = Object().text("pointer", pointer).str();
    return Object()
        .text("path", "pointer")
        .raw("extensions", Object().raw("KHR_animation_pointer", extension).str())
        .str();
  }

  std::string sampler(const Movement& m) {
    const bool is_weights = m.path == Path::weights;
    Object o;
    o.number("input", builder_.input(m.samples.times));
    o.text("interpolation", name(m.samples.kind));
    if (m.path == Path::visibility)
      return o.number("output", builder_.flags(m.samples.values)).str();
    o.number("output", builder_.output(m.samples.values, is_weights ? 1 : m.samples.components));
    return o.str();
  }

  Object clip_extras(const Clip& clip, const std::string& custom, std::vector<Loss>& losses) {
    Object extras;
    extras.properties(clip.properties,
                      {"dopesheet_start", "dopesheet_end", "dopesheet_fps", "dopesheet_events",
                       "dopesheet_tracks"},
                      "clip", losses);
    extras.number("dopesheet_start", clip.start).number("dopesheet_end", clip.end);
    const double rate = clip.frames_per_second;
    if (std::isfinite(rate)) extras.number("dopesheet_fps", rate);
    std::vector<std::string> events;
    for (const Event& e : clip.events) {
      Object o;
      o.number("time", e.time).text("kind", escape_name(e.kind));
      o.text("payload", escape_name(e.payload));
      events.push_back(o.str());
    }
    if (!events.empty()) extras.raw("dopesheet_events", array(events));
    if (!custom.empty()) extras.raw("dopesheet_tracks", custom);
    return extras;
  }

  // A node that a clip does not move shows the rest pose of the file, which may be another one.
  void report_rest(const Clip& clip, std::vector<Loss>& losses) {
    std::vector<std::array<bool, 3>> moved(clip.nodes.size());
    for (const Track& t : clip.tracks) {
      if (t.channel == Channel::translation) moved[t.target][0] = true;
      if (t.channel == Channel::rotation) moved[t.target][1] = true;
      if (t.channel == Channel::scale) moved[t.target][2] = true;
      const bool is_scale = options_.visibility == GltfVisibility::scale;
      if (t.channel == Channel::visibility && is_scale) moved[t.target][2] = true;
    }
    for (std::size_t i = 0; i < clip.nodes.size(); ++i) {
      const Transform &a = clip.nodes[i].rest, &b = nodes_[i].rest;
      const bool is_equal = (moved[i][0] || a.translation == b.translation) &&
                            (moved[i][1] || a.rotation == b.rotation) &&
                            (moved[i][2] || a.scale == b.scale);
      if (is_equal) continue;
      losses.push_back({fmt::format("nodes[{}].rest", i),
                        "differs from the skeleton that is written, and no track moves it"});
    }
  }

  void report_morph(const Clip& clip, std::vector<Loss>& losses) {
    const std::size_t n = clip.morph.positions.size();
    if (n == 0) return;
    if (morph_nodes_.empty()) {
      losses.push_back({"morph", model_.meshes.empty() ? "morph needs the character mesh"
                                                       : "no mesh has the vertices that it moves"});
    } else if (targets_ > 8) {
      losses.push_back(
          {"morph", fmt::format("{} morph targets; some viewers show only 8", targets_)});
    }
    for (std::size_t k = 0; k < n; ++k) {
      const auto& p = clip.morph.positions[k];
      const auto bad = std::find_if(p.begin(), p.end(), [](Vec3 v) { return !is_finite(v); });
      if (bad == p.end()) continue;
      losses.push_back({fmt::format("morph.positions[{}][{}]", k, bad - p.begin()),
                        "is not finite; such vertices stay where they are"});
    }
    for (const Track& t : clip.tracks) {
      if (t.channel != Channel::weight || t.properties.empty()) continue;
      losses.push_back({fmt::format("weight of morph target {}", t.target),
                        "its properties have no place in the one channel of all weights"});
    }
  }

  void say(std::string path, std::string text) {
    losses_.push_back({"model." + std::move(path), std::move(text)});
  }

  const GltfOptions& options_;
  Builder builder_;
  std::vector<Clip> clips_;
  std::vector<std::string> custom_;  // tracks of each clip, JSON
  std::vector<GltfReport> reports_;
  std::vector<Loss> losses_;  // of the model
  Model model_;
  std::vector<Node> nodes_;
  std::vector<Draft> drafts_;
  std::vector<std::size_t> roots_, morph_nodes_;
  struct Levels {
    std::size_t finest;
    std::vector<std::size_t> lower;
  };
  std::vector<Levels> lods_;  // nodes
  std::size_t targets_ = 0;
  std::optional<std::size_t> skin_;
};

// What the caller wants kept, as far as glTF has it.
BakeOptions bake_options(BakeOptions o) {
  const auto restrict_to = [](std::vector<Interp>& list, std::initializer_list<Interp> known) {
    std::erase_if(
        list, [&](Interp i) { return std::find(known.begin(), known.end(), i) == known.end(); });
  };
  restrict_to(o.keep_rotations, {Interp::step, Interp::linear});
  restrict_to(o.keep_vectors, {Interp::step, Interp::linear, Interp::hermite, Interp::bezier});
  restrict_to(o.keep_scalars, {Interp::step, Interp::linear});
  return o;
}

}  // namespace
}  // namespace gltf

Result<Gltf> to_gltf(std::span<const Clip> clips, const Model* model, const GltfOptions& options) {
  std::vector<Clip> ready;
  std::vector<std::string> custom;
  std::vector<GltfReport> reports;
  const BakeOptions bake_as = gltf::bake_options(options.bake);
  std::vector<Clip> united;
  if (model == nullptr && clips.size() > 1) {
    united.assign(clips.begin(), clips.end());
    gltf::unite_skeletons(united);
    clips = united;
  }
  for (const Clip& clip : clips) {
    GltfReport report;
    report.clip = clip.name;
    custom.push_back(gltf::custom_tracks(clip, report.losses));
    auto baked =
        bake(to_right_handed(gltf::repaired(clip, options.visibility, report.losses)), bake_as);
    if (!baked) {
      Error e = baked.error();
      e.path = fmt::format("clips[{}].{}", ready.size(), e.path);
      return tl::unexpected(std::move(e));
    }
    if (!baked->reached) {
      report.losses.push_back(
          {"tracks",
           fmt::format("baking reached {:.3g} mm and {:.3g} degrees, not the {:.3g} mm and "
                       "{:.3g} degrees asked for: joints are too far from the origin",
                       baked->error.max_mm, baked->error.max_degrees, bake_as.max_mm,
                       bake_as.max_degrees)});
    }
    ready.push_back(std::move(baked->clip));
    report.baked = std::move(*baked);
    report.baked.clip = {};
    reports.push_back(std::move(report));
  }
  return gltf::Exporter(options, std::move(ready), std::move(custom), std::move(reports))
      .run(model);
}

}  // namespace dopesheet
