// The table of formats. Games: Red Faction, Shenmue, those of TotemTech.
#include "dopesheet/formats.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/format.hpp"
#include "io/json.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

std::string known() {
  std::string out;
  for (const Format& f : formats()) out += (out.empty() ? "" : ", ") + std::string(f.title);
  return out;
}

}  // namespace

std::span<const Format> formats() {
  // A TotemTech body has no magic: whoever else claims the bytes comes before it.
  static const std::array table{rfa_format(), v3c_format(), motn_format(),
                                mt5_format(), mt7_format(), totemtech_format()};
  return table;
}

const Format* find_format(std::string_view id) {
  const auto known = formats();
  const auto f =
      std::find_if(known.begin(), known.end(), [&](const Format& x) { return x.id == id; });
  return f != known.end() ? &*f : nullptr;
}

Result<const Format*> identify(ByteView in) {
  for (const Format& f : formats()) {
    if (f.probe(in)) return &f;
  }
  return tl::unexpected(Error{Code::bad_magic, 0, {}, "none of the known formats: " + known()});
}

Result<const Format*> identify_json(std::string_view json, const Limits& limits) {
  return io::json_format(json, limits).and_then([](const std::string& id) -> Result<const Format*> {
    if (const Format* f = find_format(id)) return f;
    return tl::unexpected(Error{Code::bad_value, 0, "format",
                                "'" + io::escape_bytes(id) + "' is not a known format"});
  });
}

Clips Clips::of(std::vector<Clip> clips) {
  Clips out;
  for (const Clip& c : clips) out.names.push_back(c.name);
  out.make = [kept = std::move(clips)](std::size_t i) -> Result<Reduced> {
    const std::size_t keys = key_count(kept[i]);
    return Reduced{kept[i], {}, keys, keys};
  };
  return out;
}

Result<std::vector<Clip>> all(const Clips& clips) {
  std::vector<Clip> out;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    auto made = clips.make(i);
    if (!made) return tl::unexpected(made.error());
    out.push_back(std::move(made->clip));
  }
  return out;
}

bool is_setting(std::string_view name) {
  const auto has = [&](const Format& f) {
    return std::any_of(f.settings.begin(), f.settings.end(),
                       [&](const Setting& s) { return s.name == name; });
  };
  return std::any_of(formats().begin(), formats().end(), has);
}

std::string formats_markdown() {
  std::string out =
      "| Format | Games | Files | Read | Write | Evaluate | Check | Export | Verified on |\n";
  out += "|---|---|---|---|---|---|---|---|---|\n";
  for (const Format& f : formats()) {
    out += fmt::format("| {} | {} | {} | yes | byte for byte | {} | yes | {} | {} |\n", f.title,
                       f.games, f.extensions, f.evaluation,
                       f.clips != nullptr ? "glTF, JSON, CSV" : "glTF", f.verified);
  }
  return out;
}

}  // namespace dopesheet