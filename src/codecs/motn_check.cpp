// What is odd in a bank that reads. The codes are listed in docs/formats/motn.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dopesheet/motn.hpp"
#include "findings.hpp"

namespace dopesheet::motn {
namespace {

constexpr int known_rigs = 21;

bool all_zero(const Bytes& b) {
  return std::all_of(b.begin(), b.end(), [](std::byte x) { return x == std::byte{0}; });
}

class Checker {
 public:
  explicit Checker(const Bank& bank) : bank_(bank) {}

  std::vector<Finding> run() {
    header();
    names();
    for (std::size_t i = 0; i < bank_.sequences.size(); ++i) sequence(i);
    for (std::size_t i = 0; i < bank_.table.size(); ++i) motion(i);
    for (std::size_t i = 0; i < bank_.extras.size(); ++i) extra(i);
    gaps();
    return findings_.take();
  }

 private:
  void say(const char* code, Level level, const auto& path, const auto& text) {
    findings_.say(code, level, path, text);
  }

  void header() {
    if (bank_.count != bank_.table.size() + 1) {
      say("motn-count", Level::note, "count",
          fmt::format(
              "says {}, the name table holds {} motions (one less); scene packages keep flags here",
              bank_.count, bank_.table.size()));
    }
    if (bank_.name_origin != 0) {
      say("motn-relative-names", Level::note, "name_offsets",
          "name pointers count from the name table, as in some scene packages");
    }
  }

  void names() {
    std::set<std::string> seen;
    for (std::size_t i = 0; i < bank_.names.size(); ++i) {
      const std::string& n = bank_.names[i].text;
      const bool usual = std::all_of(n.begin(), n.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      });
      if (!usual || n.empty()) {
        say("motn-name", Level::note, fmt::format("names[{}]", i),
            "has characters other than A-Z, 0-9 and _");
      }
      if (!seen.insert(n).second) {
        say("motn-name-twice", Level::warning, fmt::format("names[{}]", i),
            fmt::format("'{}' stands twice", n));
      }
    }
  }

  void sequence(std::size_t i) {
    const Sequence& s = bank_.sequences[i];
    const std::string path = fmt::format("sequences[{}]", i);
    if (s.encoding() != Encoding::object && s.rig_id() >= known_rigs) {
      say("motn-rig", Level::warning, path + ".rig",
          fmt::format("rig {} is not one of the {} known", s.rig_id(), known_rigs));
    }
    if (s.frames() < 2 || (s.length & 0x8000U) != 0) {
      say("motn-length", Level::warning, path + ".length",
          fmt::format("{} frames{}; no known sequence has this", s.frames(),
                      (s.length & 0x8000U) != 0 ? " and two-byte counts" : ""));
    }
    if (s.encoding() == Encoding::curves) curves(s, path);
    if (s.encoding() == Encoding::dense) dense(s, path);
    if (s.encoding() == Encoding::object) object(s, path);
  }

  void curves(const Sequence& s, const std::string& path) {
    const Curves& c = s.curves;
    const auto hole = [&](const char* name, const Bytes& b, bool aligns) {
      if (b.empty() || (aligns && b.size() == 1 && all_zero(b))) return;
      say("motn-hole", Level::note, fmt::format("{}.{}", path, name),
          fmt::format("{} bytes between two blocks; kept, the game steps over them", b.size()));
    };
    hole("gap_counts", c.gap_counts, false);
    hole("gap_frames", c.gap_frames, s.frame_bytes() == 2);
    hole("gap_codes", c.gap_codes, false);
    hole("gap_values", c.gap_values, true);
    for (std::size_t k = 0; k < c.channels.size(); ++k) {
      if (k > 0 && c.channels[k] >> 9 <= c.channels[k - 1] >> 9) {
        say("motn-bone-order", Level::warning, fmt::format("{}.channels[{}]", path, k),
            "bones do not ascend");
      }
      if ((c.channels[k] & scale_bits) != 0) {
        say("motn-scale", Level::warning, fmt::format("{}.channels[{}]", path, k),
            "has scale channels; no known sequence does");
      }
    }
    std::size_t frame = 0, code = 0;
    for (std::size_t k = 0; k < c.counts.size(); ++k) {
      int before = 0;
      for (int n = 0; n < c.counts[k]; ++n, ++frame) {
        const int f = c.frames[frame];
        if (f < before) {
          say("motn-frame-order", Level::error, fmt::format("{}.frames[{}]", path, frame),
              fmt::format("{} is before {}", f, before));
        }
        if (f >= s.frames()) {
          say("motn-frame-outside", Level::error, fmt::format("{}.frames[{}]", path, frame),
              fmt::format("{} in a motion of {} frames", f, s.frames()));
        }
        before = f;
      }
      const unsigned keys = c.counts[k] + 2U, used = keys % 4;
      code += (keys + 3) / 4;
      if (used != 0 && (c.codes[code - 1] & (0xFFU >> (2 * used))) != 0) {
        say("motn-code-bits", Level::note, fmt::format("{}.codes[{}]", path, code - 1),
            "unused bits are set");
      }
    }
    for (std::size_t k = 0; k < c.values.size(); ++k)
      half(fmt::format("{}.values[{}]", path, k), c.values[k]);
  }

  void half(const std::string& path, std::uint16_t h) {
    const unsigned exponent = h >> 10U & 31U;
    if (exponent == 31)
      say("motn-half", Level::error, path, fmt::format("{:#06x} is 65536 or more", h));
    if (exponent == 0 && (h & 0x7FFFU) != 0) {
      say("motn-half-small", Level::note, path,
          fmt::format("{:#06x} is smaller than the format's tools write", h));
    }
  }

  void dense(const Sequence& s, const std::string& path) {
    unsigned want = 12;
    for (unsigned bone = 0; bone < 64; ++bone) {
      if (s.dense.has(bone)) want += Dense::is_hinge(bone) ? 2 : 6;
    }
    if (s.dense.stride != want) {
      say("motn-dense-stride", Level::error, path + ".dense.stride",
          fmt::format("{} bytes a frame, the bones need {}", s.dense.stride, want));
    }
  }

  void object(const Sequence& s, const std::string& path) {
    const Object& o = s.object;
    if (o.zero != 0 || o.zero2 != 0 || o.unknown != 0x3C00) {
      say("motn-object-header", Level::note, path + ".object",
          "has other header words than the known ones");
    }
    // Tracks lie behind the nodes, in the order of the nodes' fields.
    unsigned at = 12 + 32 * static_cast<unsigned>(o.nodes.size());
    const auto words = static_cast<unsigned>(s.frames() + 1);
    std::vector<std::pair<unsigned, unsigned>> tracks;
    for (const ObjectNode& n : o.nodes) {
      if (n.scale_track != 0) tracks.emplace_back(n.scale_track, 6 * words);
      for (const ObjectChannel* c : {&n.rotation_x, &n.rotation_y, &n.rotation_z, &n.position_x,
                                     &n.position_y, &n.position_z}) {
        if (c->track != 0) tracks.emplace_back(c->track, 2 * words);
      }
    }
    std::sort(tracks.begin(), tracks.end());
    for (const auto& [offset, size] : tracks) {
      if (offset != at) {
        return say("motn-object-tracks", Level::error, path + ".object.nodes",
                   fmt::format("a track starts at {}, expected at {}", offset, at));
      }
      at += size;
    }
  }

  void motion(std::size_t i) {
    const Link link = link_of(extra_of(bank_, i));
    const std::string path = fmt::format("table[{}]", i);
    if (link.next &&
        (*link.next < 1 || static_cast<std::size_t>(*link.next) > bank_.table.size())) {
      say("motn-link", Level::warning, path,
          fmt::format("'{}' is followed by motion {} of {}", bank_.names[i].text, *link.next,
                      bank_.table.size()));
    }
    const int frames = sequence_of(bank_, i).frames();
    for (const EventRecord& e : extra_of(bank_, i).events) {
      if (e.type != 0 && e.frame > frames) {
        say("motn-event-frame", Level::warning, path,
            fmt::format("'{}' has an event at frame {} of {}", bank_.names[i].text, e.frame,
                        frames));
      }
    }
    if (link.loops) seam(i, path);
  }

  void seam(std::size_t i, const std::string& path) {
    double metres = 0, turns = 0;
    for (const DecodedCurve& c : decode(sequence_of(bank_, i))) {
      const double d = double{c.keys.back().value} - c.keys.front().value;
      if (c.channel == Channel::rotation) turns = std::max(turns, std::abs(d - std::round(d)));
      const bool travels =
          c.bone == 0 && c.axis != 1;  // walking away is no seam, and the targets go along
      if (c.channel == Channel::translation && !travels && c.axis == 1)
        metres = std::max(metres, std::abs(d));
    }
    if (metres > 0.001 || turns > 1.0 / 360) {
      say("motn-loop-seam", Level::note, path,
          fmt::format("'{}' loops, but its last frame is {:.1f} mm (height) and {:.2f} degrees "
                      "from its first",
                      bank_.names[i].text, metres * 1000, turns * 360));
    }
  }

  void extra(std::size_t i) {
    const Extra& x = bank_.extras[i];
    if (!x.ops.empty() && op_size(x.ops.back().op) == 0) {
      say("motn-extra-unknown", Level::warning,
          fmt::format("extras[{}].ops[{}]", i, x.ops.size() - 1),
          fmt::format("operation {} is not known; what follows is kept unread", x.ops.back().op));
    }
    if (!x.events.empty() && event_size(x.events.back().type) == 0) {
      say("motn-extra-unknown", Level::warning,
          fmt::format("extras[{}].events[{}]", i, x.events.size() - 1),
          fmt::format("event type {} is not known; what follows is kept unread",
                      x.events.back().type));
    }
  }

  void gaps() {
    for (std::size_t i = 0; i < bank_.gaps.size(); ++i) {
      const io::Gap& g = bank_.gaps[i];
      const auto end = static_cast<std::size_t>(g.offset) + g.bytes.size();
      const bool padding = all_zero(g.bytes) && g.bytes.size() < 32;
      const bool trailer = end == bank_.file_size && g.bytes.size() == 32;
      if (padding || trailer) continue;
      const bool data =
          g.offset >= bank_.data_offset && static_cast<std::size_t>(g.offset) < bank_.file_size;
      say(data ? "motn-orphan" : "motn-unknown-bytes", Level::note, fmt::format("gaps[{}]", i),
          fmt::format("{} bytes at {} that no motion uses{}; they are kept", g.bytes.size(),
                      g.offset,
                      data ? fmt::format(", {} whole sequences", sequences_in(g.bytes)) : ""));
    }
  }
  // How many sequences stand back to back in bytes that nothing points to.
  static std::size_t sequences_in(const Bytes& bytes) {
    std::size_t n = 0;
    for (ByteView rest = bytes; rest.size() >= 12;) {
      io::Reader r(rest);
      Sequence s;
      Sequence::fields(r, s);
      if (!r.ok() || s.frames() == 0 || r.offset() < 16) break;
      ++n;
      rest = rest.subspan(r.offset());
    }
    return n;
  }

  const Bank& bank_;
  Findings findings_;
};

}  // namespace

Statistics statistics(const Bank& bank) {
  Statistics s;
  for (const Sequence& q : bank.sequences) {
    (q.encoding() == Encoding::curves  ? s.curve_sequences
     : q.encoding() == Encoding::dense ? s.dense_sequences
                                       : s.object_sequences)++;
    s.longest = std::max(s.longest, static_cast<std::size_t>(q.frames()));
    for (const DecodedCurve& c : decode(q)) {
      ++s.curves;
      s.keys += c.keys.size();
      for (std::size_t k = 0; k < c.keys.size(); ++k) {
        auto& codes = k == 0                   ? s.first_codes
                      : k + 1 == c.keys.size() ? s.last_codes
                                               : s.middle_codes;
        ++codes[static_cast<std::size_t>(c.keys[k].code)];
      }
    }
  }
  return s;
}

std::vector<Finding> check(const Bank& bank) { return Checker(bank).run(); }

}  // namespace dopesheet::motn
