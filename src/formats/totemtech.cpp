// Entry of the table: TotemTech animations.
#include "dopesheet/totemtech.hpp"

#include <fmt/format.h>

#include <array>

#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

using totemtech::File;

constexpr std::array settings{
    Setting{"endian", "auto, little, big", "auto",
            "byte order: little on PS2 and PC, big on GameCube; auto takes the one that fits"},
    Setting{"message-junk", "auto, yes, no", "auto",
            "whether keys of messages have two bytes of junk; auto takes what fits"},
    Setting{"frame-rate", "auto, or ticks a second", "auto",
            "auto: 60, 50, 30 or 25 where the last key then stands at the end, else 60"},
    Setting{"tangent-sign", "auto, plus, minus", "auto",
            "how tangents into a key count; auto asks whether they point like those out of it"},
    Setting{"track-order", "auto, translation-first, scale-first", "auto",
            "which of a node's two vector tracks comes first; auto takes the one near 1 for scale"},
    Setting{"vector-scale", "a number", "0.001", "what one step of a stored vector is worth"},
    Setting{"tangent-scale", "a number", "1",
            "a factor on tangents; 3 would take them for handles of a Bezier curve"},
    Setting{"interpolation", "recommended, engine", "recommended",
            "whether the linear flag makes vectors linear, or only the hold flag counts"},
    Setting{"before-first", "first, last", "first",
            "which key shows before the first one; a related engine shows the last"},
    Setting{"rotations", "stored, conjugate", "stored", "whether rotations are the inverse ones"},
};

Result<totemtech::ReadChoices> read_choices(const ReadOptions& o) {
  Settings s(o);
  using Order = std::optional<std::endian>;
  using Flag = std::optional<bool>;
  totemtech::ReadChoices c;
  c.order =
      s.choice("endian", Order(),
               {{"auto", Order()}, {"little", std::endian::little}, {"big", std::endian::big}});
  c.message_junk =
      s.choice("message-junk", Flag(), {{"auto", Flag()}, {"yes", true}, {"no", false}});
  if (s.error()) return tl::unexpected(*s.error());
  return c;
}

Result<totemtech::Options> meaning_options(const ReadOptions& o) {
  Settings s(o);
  using totemtech::BeforeFirst;
  using totemtech::Flags;
  using totemtech::TangentSign;
  using totemtech::TrackOrder;
  totemtech::Options t;
  if (s.text("frame-rate").value_or("auto") != "auto")
    t.frames_per_second = s.number("frame-rate", 0, 0.01, 100000);
  t.tangent_sign = s.choice("tangent-sign", t.tangent_sign,
                            {{"auto", TangentSign::automatic},
                             {"plus", TangentSign::plus},
                             {"minus", TangentSign::minus}});
  t.track_order = s.choice("track-order", t.track_order,
                           {{"auto", TrackOrder::automatic},
                            {"translation-first", TrackOrder::translation_first},
                            {"scale-first", TrackOrder::scale_first}});
  t.vector_scale = s.number("vector-scale", t.vector_scale, 1e-9, 1000);
  t.tangent_scale = s.number("tangent-scale", t.tangent_scale, 1e-3, 1000);
  t.flags = s.choice("interpolation", t.flags,
                     {{"recommended", Flags::recommended}, {"engine", Flags::engine}});
  t.before_first = s.choice("before-first", t.before_first,
                            {{"first", BeforeFirst::first}, {"last", BeforeFirst::last}});
  t.conjugate = s.choice("rotations", false, {{"stored", false}, {"conjugate", true}});
  if (s.error()) return tl::unexpected(*s.error());
  return t;
}

Result<File> read(ByteView in, const ReadOptions& o) {
  return read_choices(o).and_then(
      [&](const totemtech::ReadChoices& c) { return totemtech::read(in, o.limits, c); });
}
template <class F>
auto with_totemtech(ByteView in, const ReadOptions& o, F f)
    -> Result<decltype(f(std::declval<const File&>()))> {
  const auto file = read(in, o);
  if (!file) return tl::unexpected(file.error());
  return f(*file);
}
// The same for what also needs to know what the numbers mean.
template <class F>
auto with_meaning(ByteView in, const ReadOptions& o, F f)
    -> Result<decltype(f(std::declval<const File&>(), std::declval<const totemtech::Options&>()))> {
  const auto options = meaning_options(o);
  if (!options) return tl::unexpected(options.error());
  return with_totemtech(in, o, [&](const File& file) { return f(file, *options); });
}

std::span<const Node> skeleton(const ReadOptions& o) {
  return o.model != nullptr ? std::span<const Node>(o.model->nodes) : std::span<const Node>{};
}

std::string keys(const auto& k) {
  if (k.keys.empty()) return "-";
  return fmt::format("{} ({})", k.keys.size(), k.interp);
}

void add_facts(Info& info, const File& f, const totemtech::Detection& d,
               const totemtech::ReadChoices& choices, const totemtech::Options& options) {
  const auto m = totemtech::meaning(f, options);
  const bool big = f.big_endian != 0;
  std::size_t messages = 0;
  for (const auto& n : f.nodes) {
    for (const auto& k : n.messages.keys) messages += k.messages.size();
  }
  const char* order_reason = choices.order     ? "as asked for"
                             : d.has_header    ? "by the header"
                             : d.order_is_open ? "both fit: by the length"
                                               : "the other does not fit";
  const char* junk_reason = choices.message_junk ? "as asked for"
                            : d.junk_is_open     ? "both fit"
                                                 : "the other does not fit";
  info.facts = {
      {"byte order", fmt::format("{}-endian ({})", big ? "big" : "little", order_reason)},
      {"resource header", f.has_header != 0 ? "yes" : "no"},
      {"message junk", fmt::format("{} ({})", f.message_junk != 0 ? "yes" : "no", junk_reason)},
      {"length", fmt::format("{} s", io::float_text(f.length))},
      {"flag", std::to_string(f.flag)},
      {"ticks a second", fmt::format("{:g} ({})", m.frames_per_second, m.rate_reason)},
      {"tangent sign",
       fmt::format("{} ({})", m.tangent_sign > 0 ? "plus" : "minus", m.sign_reason)},
      {"track order",
       fmt::format("{} first ({})", m.scale_first ? "scale" : "translation", m.order_reason)},
      {"meshes", std::to_string(f.meshes.size())},
      {"nodes", std::to_string(f.nodes.size())},
      {"materials", std::to_string(f.materials.size())},
      {"messages", std::to_string(messages)}};
}

Result<Info> totemtech_info(ByteView in, const ReadOptions& o) {
  const auto choices = read_choices(o);
  if (!choices) return tl::unexpected(choices.error());
  const auto detection = totemtech::detect(in, *choices);
  if (!detection) return tl::unexpected(detection.error());
  return with_meaning(in, o, [&](const File& f, const totemtech::Options& options) {
    Info info;
    info.format = "totemtech";
    add_facts(info, f, *detection, *choices, options);
    info.columns = {"kind", "name", "flag", "tracks: keys (interp)"};
    const auto row = [&](const char* kind, const auto& t, std::string tracks) {
      const std::string name =
          o.names != nullptr ? o.names->of(NameHash::totemtech, t.name) : hash_text(t.name);
      info.rows.push_back(
          {{kind, io::escape_bytes(name), std::to_string(t.flag), std::move(tracks)}});
    };
    for (const auto& t : f.meshes) row("mesh", t, keys(t.visibility));
    for (const auto& t : f.nodes) {
      row("node", t,
          fmt::format("t1 {}, rotation {}, t3 {}, messages {}", keys(t.t1), keys(t.rotation),
                      keys(t.t3), keys(t.messages)));
    }
    for (const auto& t : f.materials) {
      row("material", t,
          fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", keys(t.track1), keys(t.track2),
                      keys(t.track3), keys(t.track4), keys(t.track5), keys(t.track6),
                      keys(t.track7), keys(t.track8)));
    }
    return info;
  });
}

constexpr Format entry{
    .id = "totemtech",
    .title = "TotemTech ANIMATION, version 1.73",
    .games = "SpongeBob: Revenge of the Flying Dutchman (2002), Jimmy Neutron: Boy Genius (2002)",
    .extensions = ".animation .tanim",
    .holds = "clip",
    .evaluation = "smooth; open questions are settings",
    .verified = "synthetic files only",
    .probe = totemtech::probe,
    .info = totemtech_info,
    .dump = [](ByteView in,
               const ReadOptions& o) { return with_totemtech(in, o, totemtech::dump); },
    .to_json = [](ByteView in,
                  const ReadOptions& o) { return with_totemtech(in, o, totemtech::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      return totemtech::from_json(json, o.limits).and_then([&](File f) {
        if (o.layout) totemtech::layout(f);
        return totemtech::write(f);
      });
    },
    .check =
        [](ByteView in, const ReadOptions& o) {
          return with_meaning(in, o, [&](const File& f, const totemtech::Options& options) {
            return totemtech::check(f, options, o.model, o.names);
          });
        },
    .clips =
        [](ByteView in, const ReadOptions& o) {
          return with_meaning(in, o, [&](const File& f, const totemtech::Options& options) {
            return Clips::of({totemtech::to_clip(f, options, skeleton(o), o.names, stem(o.name))});
          });
        },
    .exact = nullptr,
    .model = nullptr,
    .list = nullptr,
    .edit = nullptr,
    .settings = settings,
};

}  // namespace

const Format& totemtech_format() { return entry; }

}  // namespace dopesheet
