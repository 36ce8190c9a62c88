// The table of archives, their entries' names, and what selectors mean.
#include "archives/archive.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Class names of the games' engines.
const Names& classes() {
  static const Names table = [] {
    Names n;
    for (const char* word : {"ANIMATION",     "AnimFrame_Z",
                             "Animation_Z",   "BITMAP",
                             "Bitmap_Z",      "CAMERA",
                             "Camera_Z",      "GAMEOBJ",
                             "GameObj_Z",     "HFOG",
                             "HfogData_Z",    "LIGHT",
                             "Light_Z",       "LOD",
                             "LODDATA",       "Lod_Z",
                             "LodData_Z",     "MATERIAL",
                             "MATERIALANIM",  "MATERIALOBJ",
                             "Material_Z",    "MaterialAnim_Z",
                             "MaterialObj_Z", "MESH",
                             "MESHDATA",      "Mesh_Z",
                             "MeshData_Z",    "NODE",
                             "Node_Z",        "OCCLUDER",
                             "OMNI",          "Omni_Z",
                             "PARTICLES",     "PARTICLESDATA",
                             "Particles_Z",   "ParticlesData_Z",
                             "ROTSHAPE",      "ROTSHAPEDATA",
                             "RotShape_Z",    "RotShapeData_Z",
                             "RTC",           "Rtc_Z",
                             "SKEL",          "SKIN",
                             "Skel_Z",        "Skin_Z",
                             "SOUND",         "Sound_Z",
                             "SPLINE",        "Spline_Z",
                             "SURFACE",       "SURFACEDATAS",
                             "Surface_Z",     "SurfaceDatas_Z",
                             "TXT",           "USERDEFINE",
                             "UserDefine_Z",  "WARP",
                             "Warp_Z",        "WORLD",
                             "WORLDREF",      "World_Z",
                             "WorldRef_Z",    "CollisionVol_Z",
                             "GenWorld_Z"}) {
      n.add(word);
    }
    return n;
  }();
  return table;
}

// "NAME/3": the name, and 3.
std::optional<std::pair<std::string_view, std::size_t>> indexed(std::string_view selector) {
  const auto slash = selector.rfind('/');
  if (slash == selector.npos || slash + 1 == selector.size()) return std::nullopt;
  std::size_t n = 0;
  const char* end = selector.data() + selector.size();
  const auto [stop, bad] = std::from_chars(selector.data() + slash + 1, end, n);
  if (bad != std::errc{} || stop != end) return std::nullopt;
  return std::pair(selector.substr(0, slash), n);
}

std::optional<std::uint32_t> as_hash(std::string_view selector) {
  if (selector.size() == 10 && (selector.starts_with("0x") || selector.starts_with("0X")))
    return parse_hash_text("#" + std::string(selector.substr(2)));
  return parse_hash_text(selector);
}

// The entries of exactly this name.
std::vector<std::size_t> named(const Directory& d, const Names* names, std::string_view name) {
  std::vector<std::size_t> out;
  if (d.kind->hash) {
    const auto unescaped = io::unescape_bytes(name);
    const auto hash = as_hash(name).value_or(
        hash_name(*d.kind->hash, unescaped ? *unescaped : std::string(name)));
    for (std::size_t i = 0; i < d.entries.size(); ++i) {
      if (d.entries[i].id == hash) out.push_back(i);
    }
    if (!out.empty() || names == nullptr) return out;
  }
  const std::string wanted =
      lower(name);  // a table may give an id another name than it is the hash of
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    if (lower(entry_name(d, d.entries[i], names)) == wanted) out.push_back(i);
  }
  if (!out.empty() || d.kind->hash) return out;
  for (std::size_t i = 0; i < d.entries.size(); ++i) {  // without the extension
    const std::string whole = lower(entry_name(d, d.entries[i], names));
    if (const auto dot = whole.rfind('.'); dot != whole.npos && whole.substr(0, dot) == wanted)
      out.push_back(i);
  }
  return out;
}

}  // namespace

std::span<const Kind> kinds() {
  static const std::array table{totemtech_kind(), zouna_kind(), vpp_kind(), afs_kind(),
                                ipac_kind()};
  return table;
}

const Kind* identify(const Source& in) {
  for (const Kind& k : kinds()) {
    if (k.probe(in)) return &k;
  }
  return nullptr;
}

std::string entry_name(const Directory& directory, const Entry& entry, const Names* names) {
  if (!directory.kind->hash) return io::escape_bytes(entry.name);
  const auto known = names != nullptr ? names->find(*directory.kind->hash, entry.id) : std::nullopt;
  if (!known || known->empty()) return hash_text(entry.id);
  return io::escape_bytes(*known);
}

std::string type_name(const Directory& directory, const Entry& entry, const Names* names) {
  if (!directory.kind->hash) return {};
  const auto hash = *directory.kind->hash;
  if (const auto known = classes().find(hash, entry.type); known && !known->empty())
    return std::string(*known);
  return names != nullptr ? io::escape_bytes(names->of(hash, entry.type)) : hash_text(entry.type);
}

bool is_pattern(std::string_view selector) { return selector.find_first_of("*?") != selector.npos; }

std::vector<std::size_t> select(const Directory& d, const Names* names, std::string_view selector) {
  if (!selector.empty()) {
    auto exact = named(d, names, selector);
    if (!exact.empty()) return exact;
    if (const auto at = indexed(selector)) {
      const auto some = select(d, names, at->first);
      if (at->second >= some.size()) return {};
      return {some[at->second]};
    }
    if (const auto at = selector.rfind('@'); at != selector.npos) {
      auto some = select(d, names, selector.substr(0, at));
      const std::string wanted = lower(selector.substr(at + 1));
      const auto hash = as_hash(selector.substr(at + 1));
      std::erase_if(some, [&](std::size_t i) {
        if (hash && d.entries[i].type == *hash) return false;
        return !io::matches(wanted, lower(type_name(d, d.entries[i], names)));
      });
      return some;
    }
    if (!is_pattern(selector)) return {};
  }
  std::vector<std::size_t> out;
  const std::string wanted = lower(selector);
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    if (selector.empty() || io::matches(wanted, lower(entry_name(d, d.entries[i], names))))
      out.push_back(i);
  }
  return out;
}

bool Plan::touches(const Part& part) const {
  for (std::size_t i = part.first; i < part.first + part.count; ++i) {
    if (replaced[i] != nullptr || removed[i]) return true;
  }
  return false;
}

Result<Plan> plan(const Directory& directory, std::span<const Edit> edits) {
  Plan p;
  p.replaced.resize(directory.entries.size());
  p.removed.resize(directory.entries.size());
  for (const Edit& e : edits) {
    if (e.what == Edit::What::add) {
      p.added.push_back(&e);
      continue;
    }
    if (e.entry >= directory.entries.size())
      return fail(Code::usage, 0, fmt::format("entries[{}]", e.entry), "does not exist");
    if (p.replaced[e.entry] != nullptr || p.removed[e.entry])
      return fail(Code::usage, 0, fmt::format("entries[{}]", e.entry), "is edited twice");
    if (e.what == Edit::What::replace) {
      p.replaced[e.entry] = &e.bytes;
    } else {
      p.removed[e.entry] = true;
    }
  }
  return p;
}

}  // namespace dopesheet::archives
