// Entry of the table: Shenmue motion banks.
#include "dopesheet/motn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/format.hpp"
#include "io/text.hpp"

namespace dopesheet {
namespace {

template <class F>
auto with_motn(ByteView in, const ReadOptions& options, F f) {
  return with<motn::Bank, motn::read>(in, options, f);
}

// * and ? match within a name; a number is an id, from 1.
bool is_selected(std::string_view pattern, const std::string& name, std::size_t motion) {
  if (pattern.empty() || pattern == std::to_string(motion + 1)) return true;
  return io::matches(pattern, name);
}
std::vector<std::size_t> selected(const motn::Bank& bank, const std::string& pattern) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < bank.names.size(); ++i) {
    if (is_selected(pattern, bank.names[i].text, i)) out.push_back(i);
  }
  return out;
}

std::string counts(const std::array<std::size_t, 4>& n) {
  return fmt::format("{} {} {} {}", n[0], n[1], n[2], n[3]);
}

Info motn_info(const motn::Bank& bank) {
  Info info;
  info.format = "motn";
  const auto s = motn::statistics(bank);
  info.facts = {
      {"motions", std::to_string(bank.table.size())},
      {"sequences", fmt::format("{}: {} curves, {} dense, {} object", bank.sequences.size(),
                                s.curve_sequences, s.dense_sequences, s.object_sequences)},
      {"extra blocks", std::to_string(bank.extras.size())},
      {"tracks", std::to_string(s.curves)},
      {"keys", std::to_string(s.keys)},
      {"first key codes", counts(s.first_codes)},
      {"middle key codes", counts(s.middle_codes)},
      {"last key codes", counts(s.last_codes)},
      {"longest", fmt::format("{} frames", s.longest)}};
  return info;
}

Info motn_list(const motn::Bank& bank, const ReadOptions& options) {
  Info info;
  info.format = "motn";
  info.columns = {"id",      "name",  "encoding", "rig",      "frames",
                  "seconds", "bones", "next",     "mirrored", "events"};
  for (const std::size_t i : selected(bank, options.select)) {
    const auto& s = motn::sequence_of(bank, i);
    const auto& extra = motn::extra_of(bank, i);
    const auto link = motn::link_of(extra);
    std::size_t bones = s.curves.channels.size(), events = 0;
    if (s.encoding() == motn::Encoding::object) bones = s.object.nodes.size();
    if (s.encoding() == motn::Encoding::dense) {
      bones = 1;
      for (unsigned b = 0; b < 64; ++b) bones += s.dense.has(b) ? 1 : 0;
    }
    for (const auto& e : extra.events) events += e.type != 0 ? 1 : 0;
    info.rows.push_back(
        {{std::to_string(i + 1), io::escape_bytes(bank.names[i].text), name(s.encoding()),
          s.rig_id() < 0 ? "-" : std::to_string(s.rig_id()), std::to_string(s.frames()),
          fmt::format("{:.3f}", std::max(s.frames() - 1, 0) / 30.0), std::to_string(bones),
          link.loops  ? "itself"
          : link.next ? std::to_string(*link.next)
                      : "-",
          link.mirrored ? "yes" : "-", std::to_string(events)}});
  }
  return info;
}

enum class Ik : std::uint8_t { solve, targets };

Result<std::vector<Clip>> motn_clips(const motn::Bank& bank, const ReadOptions& options) {
  Settings settings(options);
  const Ik ik = settings.choice("ik", Ik::solve, {{"solve", Ik::solve}, {"targets", Ik::targets}});
  if (settings.error()) return tl::unexpected(*settings.error());
  std::vector<Clip> clips;
  for (const std::size_t i : selected(bank, options.select)) {
    if (ik == Ik::solve) {
      auto solved = motn::solve(bank, i);
      if (solved) {
        auto& c = solved->clip;
        c.properties.push_back({"dopesheet_error_mm", static_cast<float>(solved->error.max_mm)});
        c.properties.push_back(
            {"dopesheet_error_degrees", static_cast<float>(solved->error.max_degrees)});
        clips.push_back(std::move(c));
        continue;
      }
    }
    clips.push_back(motn::to_clip(bank, i));
  }
  if (clips.empty()) {
    return tl::unexpected(
        Error{Code::usage, 0, {}, fmt::format("no motion matches '{}'", options.select)});
  }
  return clips;
}

constexpr std::array settings{
    Setting{"ik", "solve, targets", "solve",
            "a skeleton that just plays, or the controls and IK targets as they are stored"},
};

constexpr Format entry{
    .id = "motn",
    .title = "MOTN motion banks",
    .games = "Shenmue (1999)",
    .extensions = ".bin .motn .mot",
    .holds = "clips",
    .evaluation = "smooth, human rigs solved to a skeleton",
    .verified = "1 real bank, 1559 motions; packages on synthetic ones",
    .probe = motn::probe,
    .info = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn_info); },
    .dump = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::dump); },
    .to_json = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::to_json); },
    .from_json = [](std::string_view json, const ReadOptions& o) -> Result<Bytes> {
      if (o.layout) {
        return tl::unexpected(
            Error{Code::cannot_represent, 0, {}, "banks cannot be laid out from JSON yet"});
      }
      return motn::from_json(json, o.limits).and_then(motn::write);
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::check); },
    .clips = [](ByteView in, const ReadOptions& o) -> Result<std::vector<Clip>> {
      return motn::read(in, o.limits).and_then([&](const motn::Bank& b) {
        return motn_clips(b, o);
      });
    },
    .exact = nullptr,
    .model = nullptr,
    .list =
        [](ByteView in, const ReadOptions& o) {
          return with_motn(in, o, [&](const motn::Bank& b) { return motn_list(b, o); });
        },
    .settings = settings,
};

}  // namespace

const Format& motn_format() { return entry; }

}  // namespace dopesheet
