// Building sequences and rebuilding banks.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "dopesheet/motn.hpp"

namespace dopesheet::motn {
namespace {

tl::unexpected<Error> refuse(std::string path, std::string text) {
  return tl::unexpected(Error{Code::cannot_represent, 0, std::move(path), std::move(text)});
}

unsigned channel_bit(const DecodedCurve& c) {
  const int group = c.channel == Channel::translation ? 6 : c.channel == Channel::rotation ? 3 : 0;
  return 1U << static_cast<unsigned>(group + 2 - c.axis);
}

// Code and words of a key: as stored, or the shortest that say the same.
std::pair<int, std::array<std::uint16_t, 3>> words_of(const Key& k) {
  if (k.code >= 0) return {k.code, k.words};
  const std::uint16_t in = to_half(k.slope_in), out = to_half(k.slope_out),
                      value = to_half(k.value);
  if (in != out) return {3, {in, out, value}};
  if (in != 0) return {2, {in, value, 0}};
  if (value != 0) return {1, {value, 0, 0}};
  return {0, {}};
}

// Blocks one after another, with the gaps before them; false where an offset has no room.
bool place_blocks(Sequence& s) {
  Curves& c = s.curves;
  std::size_t at = 12 + 2 * (c.channels.size() + 1);
  bool fits = true;
  const auto place = [&](std::size_t block, const Bytes& gap, std::size_t size) {
    at += gap.size();
    c.blocks[block] = static_cast<std::uint16_t>(at);
    fits = fits && at <= 0xFFFF;
    at += size;
  };
  place(0, c.gap_counts, c.counts.size() * s.count_bytes());
  place(1, c.gap_frames, c.frames.size() * s.frame_bytes());
  place(2, c.gap_codes, c.codes.size());
  place(3, c.gap_values, c.values.size() * 2);
  return fits;
}

}  // namespace

Result<Sequence> encode(std::span<const DecodedCurve> given, int frames, int rig) {
  if (frames < 1 || frames > 0x7FFF)
    return refuse("frames", fmt::format("{} frames; 1 to 32767 fit", frames));
  if (rig < 0 || rig > 0x7FFE)
    return refuse("rig", fmt::format("rig {} does not fit 15 bits", rig));
  std::vector<const DecodedCurve*> curves;
  for (const DecodedCurve& c : given) curves.push_back(&c);
  std::sort(curves.begin(), curves.end(), [](const auto* a, const auto* b) {
    return std::pair{a->bone, ~channel_bit(*a)} < std::pair{b->bone, ~channel_bit(*b)};
  });
  Sequence s;
  s.length = static_cast<std::uint16_t>(frames);
  s.rig = static_cast<std::uint16_t>(rig);
  Curves& out = s.curves;
  for (std::size_t i = 0; i < curves.size(); ++i) {
    const DecodedCurve& c = *curves[i];
    const std::string path = fmt::format("bone {}, {} {}", c.bone, name(c.channel), "xyz"[c.axis]);
    if (c.bone < 0 || c.bone > 127) return refuse(path, "bone ids go from 0 to 127");
    const auto bit = static_cast<std::uint16_t>(channel_bit(c));
    const auto word = static_cast<std::uint16_t>(static_cast<unsigned>(c.bone) << 9U | bit);
    if (!out.channels.empty() && out.channels.back() >> 9U == c.bone) {
      if ((out.channels.back() & bit) != 0) return refuse(path, "two curves for one channel");
      out.channels.back() = static_cast<std::uint16_t>(out.channels.back() | word);
    } else {
      out.channels.push_back(word);
    }
    if (c.keys.size() < 2 || c.keys.front().frame != 0 ||
        (frames > 1 && c.keys.back().frame != frames - 1)) {
      return refuse(path, fmt::format("needs keys at frame 0 and {}", frames - 1));
    }
    if (c.keys.size() - 2 > 0xFF) {
      return refuse(path, fmt::format("{} keys between the first and the last; 255 can be counted",
                                      c.keys.size() - 2));
    }
    out.counts.push_back(static_cast<std::uint16_t>(c.keys.size() - 2));
    std::uint8_t packed = 0;
    for (std::size_t k = 0; k < c.keys.size(); ++k) {
      const Key& key = c.keys[k];
      if (k > 0 && key.frame < c.keys[k - 1].frame) return refuse(path, "frames run backwards");
      if (k > 0 && k + 1 < c.keys.size())
        out.frames.push_back(static_cast<std::uint16_t>(key.frame));
      const auto [code, words] = words_of(key);
      packed = static_cast<std::uint8_t>(packed | code << (6 - 2 * (k % 4)));
      if (k % 4 == 3 || k + 1 == c.keys.size()) {
        out.codes.push_back(packed);
        packed = 0;
      }
      for (int w = 0; w < code; ++w) out.values.push_back(words[static_cast<std::size_t>(w)]);
    }
  }
  // The tools of the game align the frames where they are wide, and the values always.
  const bool odd_start = (out.counts.size() & 1U) != 0;  // what stands before has an even length
  if (s.frame_bytes() == 2 && odd_start) out.gap_frames.assign(1, std::byte{0});
  const std::size_t before = out.counts.size() * s.count_bytes() + out.gap_frames.size() +
                             out.frames.size() * s.frame_bytes() + out.codes.size();
  if (before % 2 != 0) out.gap_values.assign(1, std::byte{0});
  if (!place_blocks(s))
    return refuse("", "the sequence is too long: its blocks must start within 65535 bytes");
  return s;
}

namespace {

// A bank taken apart: motions by index into what they share, in file order.
struct Parts {
  struct Item {
    std::string name;
    std::size_t sequence, extra;
    std::size_t id;  // of the old bank, from 1; 0: new
  };
  struct Data {
    Sequence sequence;
    Bytes after;  // orphans and padding that followed it
  };
  std::vector<Item> items;
  std::vector<Data> data;
  std::vector<Extra> extras;
  Bytes trailer;
};

template <class T>
Bytes bytes_of(const T& record) {
  io::Writer w;
  T::fields(w, record);
  auto out = w.take();
  return out ? std::move(*out) : Bytes{};
}

std::size_t index_of(const std::vector<std::uint32_t>& list, std::uint32_t offset) {
  return static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), offset) -
                                  list.begin());
}

Parts take_apart(const Bank& bank) {
  Parts p;
  for (std::size_t i = 0; i < bank.table.size(); ++i) {
    p.items.push_back({bank.names[i].text,
                       index_of(bank.sequence_offsets, bank.data_offset + bank.table[i].data),
                       index_of(bank.extra_offsets, bank.table[i].extra), i + 1});
  }
  for (const Sequence& s : bank.sequences) p.data.push_back({s, {}});
  p.extras = bank.extras;
  for (const io::Gap& g : bank.gaps) {
    if (g.offset < bank.data_offset || p.data.empty())
      continue;  // padding of the tables is made anew
    const bool last = static_cast<std::size_t>(g.offset) + g.bytes.size() >= bank.file_size;
    if (last && g.bytes.size() >= 32) {
      p.trailer = Bytes(g.bytes.end() - 32, g.bytes.end());
    }
    const std::size_t keep = g.bytes.size() - (last ? p.trailer.size() : 0);
    const auto before =
        std::upper_bound(bank.sequence_offsets.begin(), bank.sequence_offsets.end(), g.offset);
    if (before == bank.sequence_offsets.begin()) continue;
    auto& after =
        p.data[static_cast<std::size_t>(before - bank.sequence_offsets.begin()) - 1].after;
    after.insert(after.end(), g.bytes.begin(), g.bytes.begin() + static_cast<std::ptrdiff_t>(keep));
  }
  return p;
}

// Drops what no motion uses any more, and gives links their new ids.
std::vector<Loss> tidy(Parts& p) {
  std::vector<Loss> losses;
  std::map<unsigned, unsigned> ids;
  for (std::size_t i = 0; i < p.items.size(); ++i) {
    if (p.items[i].id != 0)
      ids[static_cast<unsigned>(p.items[i].id)] = static_cast<unsigned>(i) + 1;
  }
  const auto compact = [&](auto& list, auto member) {
    std::vector<std::size_t> place(list.size(), SIZE_MAX);
    for (const auto& item : p.items) place[item.*member] = 0;
    std::size_t n = 0;
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (place[i] == SIZE_MAX) continue;
      if (n != i) list[n] = std::move(list[i]);
      place[i] = n++;
    }
    list.resize(n);
    for (auto& item : p.items) item.*member = place[item.*member];
  };
  compact(p.data, &Parts::Item::sequence);
  compact(p.extras, &Parts::Item::extra);
  for (std::size_t i = 0; i < p.extras.size(); ++i) {
    for (Op& op : p.extras[i].ops) {
      if (op.op != 1 || op.payload.size() < 3) continue;
      const unsigned raw =
          static_cast<unsigned>(op.payload[1]) | static_cast<unsigned>(op.payload[2]) << 8U;
      const unsigned id = raw & 0x7FFFU;
      if (raw == 0xFFFF || id == 0) continue;
      const auto now = ids.find(id);
      if (now == ids.end()) {
        losses.push_back(
            {fmt::format("extras[{}]", i), fmt::format("the motion {} that follows is gone", id)});
      }
      const unsigned fresh = now == ids.end() ? 0 : (raw & 0x8000U) | now->second;
      op.payload[1] = static_cast<std::byte>(fresh);
      op.payload[2] = static_cast<std::byte>(fresh >> 8U);
    }
  }
  return losses;
}

Result<void> put_together(const Parts& p, Bank& bank) {
  const std::size_t n = p.items.size();
  if (n == 0) return refuse("table", "a bank needs a motion");
  if (n > 0x4000) return refuse("table", fmt::format("{} motions; 16384 fit", n));
  const std::size_t before = bank.table.size();
  bank.count += static_cast<std::uint32_t>(n - before);
  bank.table.assign(n, {});
  bank.name_offsets.assign(n, 0);
  bank.names.assign(n, {});
  bank.extras = p.extras;
  bank.sequences.clear();
  bank.extra_offsets.clear();
  bank.sequence_offsets.clear();
  bank.gaps.clear();
  std::size_t at = 0x20 + 8 * n;
  const auto align = [&](std::size_t to) {
    const std::size_t pad = (to - at % to) % to;
    if (pad > 0) bank.gaps.push_back({static_cast<std::int64_t>(at), Bytes(pad)});
    at += pad;
  };
  bank.table_offset = 0x20;
  for (const Extra& x : p.extras) {
    align(4);
    bank.extra_offsets.push_back(static_cast<std::uint32_t>(at));
    at += bytes_of(x).size();
  }
  align(4);
  const bool relative = bank.name_origin != 0;
  bank.names_offset = static_cast<std::uint32_t>(at);
  bank.name_origin = relative ? bank.names_offset : 0;
  at += 4 * n;
  for (std::size_t i = 0; i < n; ++i) {
    bank.name_offsets[i] = static_cast<std::uint32_t>(at) - bank.name_origin;
    bank.names[i].text = p.items[i].name;
    at += p.items[i].name.size() + 1;
  }
  align(4);
  bank.data_offset = static_cast<std::uint32_t>(at);
  for (const auto& d : p.data) {
    align(d.sequence.encoding() == Encoding::object ? 4 : 2);
    bank.sequence_offsets.push_back(static_cast<std::uint32_t>(at));
    bank.sequences.push_back(d.sequence);
    at += bytes_of(d.sequence).size();
    if (!d.after.empty()) bank.gaps.push_back({static_cast<std::int64_t>(at), d.after});
    at += d.after.size();
  }
  align(4);
  if (!p.trailer.empty()) bank.gaps.push_back({static_cast<std::int64_t>(at), p.trailer});
  at += p.trailer.size();
  if (at > UINT32_MAX) return refuse("file_size", "the bank would be longer than 4 GiB");
  bank.file_size = static_cast<std::uint32_t>(at);
  for (std::size_t i = 0; i < n; ++i) {
    bank.table[i].data = bank.sequence_offsets[p.items[i].sequence] - bank.data_offset;
    bank.table[i].extra = bank.extra_offsets[p.items[i].extra];
  }
  return {};
}

Result<void> check_name(const Parts& p, std::string_view name, std::size_t except) {
  if (name.empty() || name.find('\0') != name.npos)
    return refuse("names", "a name must not be empty or hold zeros");
  for (std::size_t i = 0; i < p.items.size(); ++i) {
    if (i != except && p.items[i].name == name) {
      return refuse(fmt::format("names[{}]", i), fmt::format("'{}' is taken", name));
    }
  }
  return {};
}

// Uses what is there where it is the same, else adds it.
template <class List, class T, class Get>
std::size_t share(List& list, std::size_t now, const T& record, Get get) {
  const Bytes want = bytes_of(record);
  if (now < list.size() && bytes_of(get(list[now])) == want) return now;
  list.emplace_back();
  get(list.back()) = record;
  return list.size() - 1;
}
void set(Parts& p, Parts::Item& item, const Motion& m) {
  item.name = m.name;
  item.sequence =
      share(p.data, item.sequence, m.sequence, [](auto& d) -> auto& { return d.sequence; });
  item.extra = share(p.extras, item.extra, m.extra, [](auto& x) -> auto& { return x; });
}

Result<void> finish(Parts& p, Bank& bank) {
  tidy(p);
  Bank out = bank;
  if (auto r = put_together(p, out); !r) return r;
  bank = std::move(out);
  return {};
}

}  // namespace

Result<void> layout(Bank& bank) {
  Parts p = take_apart(bank);
  for (std::size_t i = 0; i < p.data.size(); ++i) {
    Sequence& s = p.data[i].sequence;
    if (s.encoding() == Encoding::curves && !place_blocks(s)) {
      return refuse(fmt::format("sequences[{}].curves.blocks", i),
                    "the sequence is too long: its blocks must start within 65535 bytes");
    }
  }
  return put_together(p, bank);
}

Motion motion_of(const Bank& bank, std::size_t motion) {
  return {bank.names[motion].text, sequence_of(bank, motion), extra_of(bank, motion)};
}

std::optional<std::size_t> find_motion(const Bank& bank, std::string_view name) {
  for (std::size_t i = 0; i < bank.names.size(); ++i) {
    if (bank.names[i].text == name) return i;
  }
  return {};
}

Result<void> replace(Bank& bank, std::size_t motion, const Motion& with) {
  Parts p = take_apart(bank);
  if (motion >= p.items.size())
    return refuse("table", fmt::format("there is no motion {}", motion + 1));
  if (auto r = check_name(p, with.name, motion); !r) return r;
  set(p, p.items[motion], with);
  return finish(p, bank);
}

Result<void> insert(Bank& bank, std::size_t before, const Motion& motion) {
  Parts p = take_apart(bank);
  if (auto r = check_name(p, motion.name, SIZE_MAX); !r) return r;
  Parts::Item item{motion.name, SIZE_MAX, SIZE_MAX, 0};
  set(p, item, motion);
  p.items.insert(p.items.begin() + static_cast<std::ptrdiff_t>(std::min(before, p.items.size())),
                 item);
  return finish(p, bank);
}

Result<void> rename(Bank& bank, std::size_t motion, std::string_view name) {
  if (motion >= bank.table.size())
    return refuse("table", fmt::format("there is no motion {}", motion + 1));
  Motion m = motion_of(bank, motion);
  m.name = name;
  return replace(bank, motion, m);
}

Result<std::vector<Loss>> reorder(Bank& bank, std::span<const std::size_t> order) {
  Parts p = take_apart(bank);
  std::vector<Parts::Item> items;
  std::vector<bool> used(p.items.size());
  for (const std::size_t i : order) {
    if (i >= p.items.size() || used[i])
      return refuse("table", fmt::format("motion {} is not there, or named twice", i + 1));
    used[i] = true;
    items.push_back(p.items[i]);
  }
  p.items = std::move(items);
  auto losses = tidy(p);
  Bank out = bank;
  if (auto r = put_together(p, out); !r) return tl::unexpected(r.error());
  bank = std::move(out);
  return losses;
}

Result<std::vector<Loss>> merge(Bank& bank, const Bank& other) {
  std::vector<Loss> losses;
  Parts a = take_apart(bank);
  Parts b = take_apart(other);
  // First inside the other bank: leave out what is known, then follow its links.
  std::vector<Parts::Item> fresh;
  for (const auto& item : b.items) {
    if (check_name(a, item.name, SIZE_MAX)) {
      fresh.push_back(item);
    } else {
      losses.push_back({item.name, "the name is taken; the motion is left out"});
    }
  }
  const std::size_t first = a.items.size();
  b.items = std::move(fresh);
  for (Loss& l : tidy(b)) losses.push_back(std::move(l));
  for (Extra& x : b.extras) {  // ids of the other bank, now behind ours
    for (Op& op : x.ops) {
      if (op.op != 1 || op.payload.size() < 3) continue;
      const unsigned raw =
          static_cast<unsigned>(op.payload[1]) | static_cast<unsigned>(op.payload[2]) << 8U;
      if (raw == 0xFFFF || (raw & 0x7FFFU) == 0) continue;
      const auto id = static_cast<unsigned>(raw + first);
      op.payload[1] = static_cast<std::byte>(id);
      op.payload[2] = static_cast<std::byte>(id >> 8U);
    }
  }
  tidy(a);
  for (auto item : b.items) {
    item.sequence += a.data.size();
    item.extra += a.extras.size();
    a.items.push_back(std::move(item));
  }
  for (auto& d : b.data) a.data.push_back(std::move(d));
  for (auto& x : b.extras) a.extras.push_back(std::move(x));
  Bank out = bank;
  if (auto r = put_together(a, out); !r) return tl::unexpected(r.error());
  bank = std::move(out);
  return losses;
}

}  // namespace dopesheet::motn
