// Entry of the table: Shenmue motion banks.
#include "dopesheet/motn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

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

Error nothing_selected(const ReadOptions& options) {
  return {
      Code::usage, 0, {}, fmt::format("no motion matches '{}'", io::escape_bytes(options.select))};
}

Result<Info> motn_list(const motn::Bank& bank, const ReadOptions& options) {
  Info info;
  info.format = "motn";
  info.columns = {"id",      "name",  "encoding", "rig",      "frames",
                  "seconds", "bones", "next",     "mirrored", "events"};
  const auto motions = selected(bank, options.select);
  if (motions.empty()) return tl::unexpected(nothing_selected(options));
  for (const std::size_t i : motions) {
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

enum class Ik : std::uint8_t { solve, targets, both };

struct Choices {
  Ik ik = Ik::solve;
  motn::SolveOptions solve;
};

Result<Choices> choices(const ReadOptions& options) {
  Settings settings(options);
  Choices c;
  c.ik = settings.choice("ik", c.ik,
                         {{"solve", Ik::solve}, {"targets", Ik::targets}, {"both", Ik::both}});
  c.solve.targets = c.ik == Ik::both;
  c.solve.mirror = settings.flag("mirror", c.solve.mirror);
  c.solve.face_forward = settings.flag("face-forward", c.solve.face_forward);
  c.solve.rate = settings.number("solve-rate", c.solve.rate, 1, 1000);
  c.solve.between = settings.flag("solve-between", c.solve.between);
  c.solve.max_mm = settings.number("solve-mm", c.solve.max_mm, 1e-3, 1000);
  c.solve.max_degrees = settings.number("solve-degrees", c.solve.max_degrees, 1e-3, 180);
  auto& s = c.solve.solver;
  using namespace shenmue;
  s.foot_space =
      settings.choice("foot-space", s.foot_space,
                      {{"sequence", FootSpace::sequence}, {"parent", FootSpace::parent}});
  s.hand_space = settings.choice("hand-space", s.hand_space,
                                 {{"forearm", HandSpace::forearm}, {"world", HandSpace::world}});
  s.out_of_reach = settings.choice("out-of-reach", s.out_of_reach,
                                   {{"stretch", Reach::stretch}, {"clamp", Reach::clamp}});
  s.ground_ankles = settings.flag("ground-ankles", s.ground_ankles);
  s.ankle_height = settings.number("ankle-height", s.ankle_height, -10, 10);
  s.truncate_turns = settings.flag("truncate-turns", s.truncate_turns);
  s.keep_odd_rest = settings.flag("odd-rest", s.keep_odd_rest);
  if (settings.error()) return tl::unexpected(*settings.error());
  return c;
}

bool is_rig(const Model* model) {
  return std::any_of(model->nodes.begin(), model->nodes.end(), [](const Node& n) {
    return std::any_of(n.properties.begin(), n.properties.end(),
                       [](const Property& p) { return p.key == "mt5_id"; });
  });
}

// Solved where a rig is known, else as it is stored.
Result<Reduced> make(const motn::Bank& bank, std::size_t motion, const Choices& choices,
                     std::span<const Node> rig) {
  if (choices.ik != Ik::targets) {
    auto solved = rig.empty() ? motn::solve(bank, motion, choices.solve)
                              : motn::solve_model(bank, motion, rig, choices.solve);
    if (solved) {
      auto& error = solved->error;
      solved->clip.properties.push_back({"dopesheet_error_mm", static_cast<float>(error.max_mm)});
      solved->clip.properties.push_back(
          {"dopesheet_error_degrees", static_cast<float>(error.max_degrees)});
    }
    if (solved || !rig.empty()) return solved;
  }
  Reduced out;
  out.clip = motn::to_clip(bank, motion);
  out.keys_before = out.keys_after = key_count(out.clip);
  return out;
}

// A model that a motion is to move.
Result<std::span<const Node>> rig_of(const Model* model, Ik ik) {
  if (model == nullptr) return std::span<const Node>{};
  if (ik != Ik::solve) {
    return tl::unexpected(
        Error{Code::usage, 0, "ik",
              "IK targets are no part of a model; leave the model out, or say solve"});
  }
  if (!is_rig(model)) {
    return tl::unexpected(
        Error{Code::usage, 0, {}, "the skeleton is no Shenmue model (MT5 or MT7)"});
  }
  return std::span<const Node>(model->nodes);
}

Result<Clips> motn_clips(motn::Bank bank, const ReadOptions& options) {
  const auto chosen = choices(options);
  if (!chosen) return tl::unexpected(chosen.error());
  const auto rig = rig_of(options.model, chosen->ik);
  if (!rig) return tl::unexpected(rig.error());
  struct Source {
    motn::Bank bank;
    Choices choices;
    std::vector<std::size_t> motions;
    std::vector<Node> rig;
  };
  auto source = std::make_shared<Source>();
  source->choices = *chosen;
  source->motions = selected(bank, options.select);
  source->bank = std::move(bank);
  source->rig.assign(rig->begin(), rig->end());
  if (source->motions.empty()) return tl::unexpected(nothing_selected(options));
  Clips out;
  out.names.reserve(source->motions.size());
  for (const std::size_t m : source->motions) out.names.push_back(source->bank.names[m].text);
  out.make = [source](std::size_t i) -> Result<Reduced> {
    return make(source->bank, source->motions[i], source->choices, source->rig);
  };
  return out;
}

// The motions of a bank while it is edited, by their first ids.
class Editing {
 public:
  Editing(motn::Bank bank, const Limits& limits) : bank_(std::move(bank)), limits_(limits) {
    for (std::size_t i = 0; i < bank_.names.size(); ++i) ids_.push_back(i + 1);
  }

  Result<void> apply(const Edit& edit) {
    switch (edit.kind) {
      case Edit::Kind::replace:
        return one(edit.motion).and_then([&](std::size_t at) {
          return other(edit).and_then([&](motn::Motion m) {
            m.name = bank_.names[at].text;
            return motn::replace(bank_, at, m);
          });
        });
      case Edit::Kind::add:
        return other(edit).and_then([&](motn::Motion m) {
          if (!edit.name.empty()) m.name = edit.name;
          ids_.push_back(0);
          return motn::insert(bank_, bank_.names.size(), m);
        });
      case Edit::Kind::remove:
        return remove(edit.motion);
      case Edit::Kind::rename:
        return one(edit.motion).and_then([&](std::size_t at) {
          return motn::rename(bank_, at, edit.name);
        });
      case Edit::Kind::move:
        return move(edit);
      case Edit::Kind::merge:
        return motn::read(edit.with, limits_).and_then([&](const motn::Bank& b) {
          return merge(b);
        });
    }
    return {};
  }
  Result<Edited> done() {
    return motn::write(bank_).map(
        [&](Bytes bytes) { return Edited{std::move(bytes), std::move(losses_)}; });
  }

 private:
  std::vector<std::size_t> matching(const std::string& pattern) const {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < bank_.names.size(); ++i) {
      const bool by_id = ids_[i] != 0 && pattern == std::to_string(ids_[i]);
      if (by_id || io::matches(pattern, bank_.names[i].text)) out.push_back(i);
    }
    return out;
  }
  Result<std::size_t> one(const std::string& motion) const {
    const auto found = matching(motion);
    if (found.size() == 1) return found[0];
    return tl::unexpected(Error{
        Code::usage,
        0,
        {},
        fmt::format("{} motions are '{}'; one is needed", found.size(), io::escape_bytes(motion))});
  }
  Result<motn::Motion> other(const Edit& edit) const {
    return motn::read(edit.with, limits_)
        .and_then([&](const motn::Bank& bank) -> Result<motn::Motion> {
          const auto found = selected(bank, edit.with_motion);
          if (found.size() == 1) return motn::motion_of(bank, found[0]);
          return tl::unexpected(Error{Code::usage,
                                      0,
                                      {},
                                      fmt::format("{} motions of the other bank are '{}'",
                                                  found.size(), edit.with_motion)});
        });
  }
  Result<void> put(const std::vector<std::size_t>& order) {
    return motn::reorder(bank_, order).map([&](std::vector<Loss> losses) {
      losses_.insert(losses_.end(), losses.begin(), losses.end());
      std::vector<std::size_t> ids;
      ids.reserve(order.size());
      for (const std::size_t i : order) ids.push_back(ids_[i]);
      ids_ = std::move(ids);
    });
  }
  Result<void> remove(const std::string& pattern) {
    const auto gone = matching(pattern);
    if (gone.empty()) {
      return tl::unexpected(
          Error{Code::usage, 0, {}, fmt::format("no motion is '{}'", io::escape_bytes(pattern))});
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < bank_.names.size(); ++i) {
      if (!std::binary_search(gone.begin(), gone.end(), i)) order.push_back(i);
    }
    return put(order);
  }
  Result<void> move(const Edit& edit) {
    return one(edit.motion).and_then([&](std::size_t at) -> Result<void> {
      const std::size_t n = bank_.names.size();
      std::size_t to = 0;
      const char* end = edit.name.data() + edit.name.size();
      if (std::from_chars(edit.name.data(), end, to).ptr != end || to < 1 || to > n) {
        return tl::unexpected(
            Error{Code::usage,
                  0,
                  {},
                  fmt::format("'{}' is no place from 1 to {}", io::escape_bytes(edit.name), n)});
      }
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < n; ++i) {
        if (i != at) order.push_back(i);
      }
      order.insert(order.begin() + static_cast<std::ptrdiff_t>(to - 1), at);
      return put(order);
    });
  }
  Result<void> merge(const motn::Bank& other) {
    return motn::merge(bank_, other).map([&](std::vector<Loss> losses) {
      losses_.insert(losses_.end(), losses.begin(), losses.end());
      ids_.resize(bank_.names.size());
    });
  }

  motn::Bank bank_;
  Limits limits_;
  std::vector<std::size_t> ids_;  // before the changes; 0: new
  std::vector<Loss> losses_;
};

Result<Edited> motn_edit(motn::Bank bank, const ReadOptions& options, std::span<const Edit> edits) {
  Editing editing(std::move(bank), options.limits);
  for (const Edit& e : edits) {
    if (auto r = editing.apply(e); !r) return tl::unexpected(r.error());
  }
  return editing.done();
}

constexpr std::array settings{
    Setting{"ik", "solve, targets, both", "solve",
            "a skeleton that just plays; the controls and IK targets as stored; both"},
    Setting{"mirror", "yes, no", "yes", "mirror the motions that the game plays mirrored"},
    Setting{"face-forward", "yes, no", "yes", "turn solved characters to +Z, as glTF expects"},
    Setting{"solve-rate", "1 to 1000", "120", "poses a second that are solved; the game shows 30"},
    Setting{"solve-between", "yes, no", "no", "further poses where joints snap between two"},
    Setting{"solve-mm", "0.001 to 1000", "0.1", "error that leaving out keys may add"},
    Setting{"solve-degrees", "0.001 to 180", "0.05", "error that leaving out keys may add"},
    Setting{"foot-space", "sequence, parent", "sequence", "what the turns of feet are relative to"},
    Setting{"hand-space", "forearm, world", "forearm", "what the turns of hands are relative to"},
    Setting{"out-of-reach", "stretch, clamp", "stretch",
            "the lower segment stretches, or the hand or foot stops short"},
    Setting{"ground-ankles", "yes, no", "no", "lift ankle targets, as the game does in walking"},
    Setting{"ankle-height", "-10 to 10", "0.117", "metres above the ground for ground-ankles"},
    Setting{"truncate-turns", "yes, no", "no", "to 1/65536 of a turn, as the game does"},
    Setting{"odd-rest", "yes, no", "yes",
            "rest turns as in the table, or rounded to quarter turns"},
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
      return motn::from_json(json, o.limits).and_then([&](motn::Bank b) -> Result<Bytes> {
        if (o.layout) {
          if (auto r = motn::layout(b); !r) return tl::unexpected(r.error());
        }
        return motn::write(b);
      });
    },
    .check = [](ByteView in, const ReadOptions& o) { return with_motn(in, o, motn::check); },
    .clips = [](ByteView in, const ReadOptions& o) -> Result<Clips> {
      return motn::read(in, o.limits).and_then([&](motn::Bank b) {
        return motn_clips(std::move(b), o);
      });
    },
    .exact = nullptr,
    .model = nullptr,
    .list =
        [](ByteView in, const ReadOptions& o) {
          return motn::read(in, o.limits).and_then([&](const motn::Bank& b) {
            return motn_list(b, o);
          });
        },
    .edit = [](ByteView in, const ReadOptions& o, std::span<const Edit> edits) -> Result<Edited> {
      return motn::read(in, o.limits).and_then([&](motn::Bank b) {
        return motn_edit(std::move(b), o, edits);
      });
    },
    .settings = settings,
};

}  // namespace

const Format& motn_format() { return entry; }

}  // namespace dopesheet
