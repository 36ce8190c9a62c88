// bytes <-> document. Games: Shenmue (1999); the layout of others is not verified.
#include "dopesheet/motn.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "io/dump.hpp"
#include "io/json.hpp"

namespace dopesheet::motn {

const char* name(Encoding encoding) {
  switch (encoding) {
    case Encoding::curves:
      return "curves";
    case Encoding::dense:
      return "dense";
    case Encoding::object:
      return "object";
  }
  return "unknown";
}

std::int64_t Curves::curves() const {
  std::int64_t n = 0;
  for (const auto c : channels) {
    for (unsigned bits = c & 0x1FFU; bits != 0; bits &= bits - 1) ++n;
  }
  return n;
}
std::int64_t Curves::keys_between() const {
  std::int64_t n = 0;
  for (const auto c : counts) n += c;
  return n;
}
std::int64_t Curves::code_bytes() const {
  std::int64_t n = 0;
  for (const auto c : counts) n += (c + 2 + 3) / 4;
  return n;
}
std::int64_t Curves::words() const {
  std::int64_t n = 0;  // a code is the number of its words
  for (const std::uint8_t b : codes) n += (b & 3U) + (b >> 2U & 3U) + (b >> 4U & 3U) + (b >> 6U);
  return n;
}

std::int64_t Object::sample_words(std::int64_t frames) const {
  std::int64_t tracks = 0;
  for (const ObjectNode& n : nodes) {
    tracks += n.scale_track != 0 ? 3 : 0;
    for (const ObjectChannel* c : {&n.rotation_x, &n.rotation_y, &n.rotation_z, &n.position_x,
                                   &n.position_y, &n.position_z}) {
      tracks += c->track != 0 ? 1 : 0;
    }
  }
  return tracks * (frames + 1);
}

std::size_t op_size(std::uint8_t op) {
  constexpr std::array<std::uint8_t, 29> sizes{4, 4, 8, 16, 20, 12, 8, 4, 4, 16, 8, 12, 4, 4, 16,
                                               8, 2, 8, 4,  4,  4,  4, 4, 4, 4,  4, 8,  8, 4};
  return op < sizes.size() ? sizes[op] : 0;
}
std::size_t event_size(std::uint8_t type) {
  constexpr std::array<std::uint8_t, 50> sizes{
      4,  4,  4,  16, 8, 8, 8, 8, 4, 4, 16, 8, 8,  4, 8,  4, 4, 4, 8, 8, 8, 4, 8, 8, 8,
      16, 12, 28, 4,  8, 8, 4, 8, 8, 8, 8,  8, 12, 8, 12, 8, 8, 4, 8, 8, 4, 4, 4, 4, 16};
  return type < sizes.size() ? sizes[type] : 0;
}

namespace {

// The distinct offsets of the table, which say where the records are.
void index(Bank& bank) {
  bank.sequence_offsets.clear();
  bank.extra_offsets.clear();
  for (const Entry& e : bank.table) {
    bank.sequence_offsets.push_back(bank.data_offset + e.data);
    bank.extra_offsets.push_back(e.extra);
  }
  for (auto* offsets : {&bank.sequence_offsets, &bank.extra_offsets}) {
    std::sort(offsets->begin(), offsets->end());
    offsets->erase(std::unique(offsets->begin(), offsets->end()), offsets->end());
  }
}

std::uint32_t word(ByteView in, std::size_t at) {
  return io::detail::load<std::uint32_t, std::endian::native == std::endian::big>(in.data() + at);
}

tl::unexpected<Error> refuse(Code code, std::size_t offset, const char* path, std::string text) {
  return tl::unexpected(Error{code, offset, path, std::move(text)});
}

}  // namespace

bool probe(ByteView in) {
  if (in.size() < 0x20) return false;
  const std::uint32_t table = word(in, 0), names = word(in, 4), data = word(in, 8);
  return table == 0x20 && table < names && names < data && data <= in.size();
}

Result<Bank> read(ByteView in, const Limits& limits) {
  if (in.size() > limits.bytes)
    return refuse(Code::limit, 0, "", "the input is larger than the limit");
  if (in.size() < 0x20) {
    return refuse(Code::truncated, in.size(), "",
                  fmt::format("a bank has 32 bytes at least, {} are here", in.size()));
  }
  if (!probe(in))
    return refuse(Code::bad_magic, 0, "table_offset", "this does not begin like a motion bank");
  Result<Bank> bank{Bank{}};
  const std::uint32_t table = word(in, 0), names = word(in, 4), size = word(in, 0x10);
  if (size > in.size()) {
    return refuse(Code::truncated, 0x10, "file_size",
                  fmt::format("says {} bytes, {} are here", size, in.size()));
  }
  // The first name stands right behind its table of pointers; in some packages those count from the
  // table itself. The count field is not to be trusted there.
  if (in.size() - names < 4)
    return refuse(Code::truncated, names, "names_offset", "no room for a name");
  const std::uint32_t first = word(in, names);
  const bool absolute = first >= names && first < in.size();
  bank->name_origin = absolute ? 0 : names;
  const std::uint64_t n = (absolute ? first - names : first) / 4;
  if (n == 0 || n > 0x4000 || table + 8 * n > names || names + 4 * n > in.size()) {
    return refuse(Code::bad_value, names, "name_offsets[0]",
                  fmt::format("points {} names away; the tables have no room for that many", n));
  }
  bank->table.resize(n);
  bank->name_offsets.resize(n);
  bank->names.resize(n);
  bank->data_offset = word(in, 8);
  for (std::size_t i = 0; i < n; ++i) {
    bank->table[i] = {word(in, table + 8 * i), word(in, table + 8 * i + 4)};
    if (bank->table[i].data > in.size() - bank->data_offset || bank->table[i].extra > in.size()) {
      return refuse(Code::bad_value, table + 8 * i, "table",
                    fmt::format("motion {} lies outside the file", i + 1));
    }
  }
  index(*bank);
  bank->sequences.resize(bank->sequence_offsets.size());
  bank->extras.resize(bank->extra_offsets.size());
  io::Reader r(in);
  Bank::fields(r, *bank);
  if (!r.ok()) return tl::unexpected(r.error());
  return bank;
}

Result<Bytes> write(const Bank& bank) { return io::write(bank); }
std::string dump(const Bank& bank) { return io::dump(bank); }
std::string to_json(const Bank& bank) { return io::to_json(bank, "motn"); }
Result<Bank> from_json(std::string_view json, const Limits& limits) {
  auto bank = io::from_json<Bank>(json, "motn", limits);
  if (!bank) return bank;
  index(*bank);
  const bool relative = !bank->name_offsets.empty() && bank->name_offsets[0] < bank->names_offset;
  bank->name_origin = relative ? bank->names_offset : 0;
  return bank;
}

const Sequence& sequence_of(const Bank& bank, std::size_t motion) {
  const auto& list = bank.sequence_offsets;
  const auto at =
      std::lower_bound(list.begin(), list.end(), bank.data_offset + bank.table[motion].data);
  return bank.sequences[static_cast<std::size_t>(at - list.begin())];
}
const Extra& extra_of(const Bank& bank, std::size_t motion) {
  const auto& list = bank.extra_offsets;
  const auto at = std::lower_bound(list.begin(), list.end(), bank.table[motion].extra);
  return bank.extras[static_cast<std::size_t>(at - list.begin())];
}

Link link_of(const Extra& extra) {
  Link link;
  for (const Op& op : extra.ops) {
    if (op.op == 0x13) link.mirrored = true;
    if (op.op != 1 || op.payload.size() < 3) continue;
    const unsigned id = static_cast<unsigned>(op.payload[1]) | static_cast<unsigned>(op.payload[2])
                                                                   << 8U;
    if (id == 0xFFFF) {
      link.loops = true;
    } else {
      link.next = static_cast<int>(
          id & 0x7FFFU);  // two motions of the known bank set bit 15, for no known reason
    }
  }
  return link;
}

float from_half(std::uint16_t half) {
  const std::uint32_t magnitude = half & 0x7FFFU;
  if (magnitude == 0) return 0;
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  return std::bit_cast<float>(sign | ((magnitude << 13U) + 0x38000000U));
}

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16U & 0x8000U, magnitude = bits & 0x7FFFFFFFU;
  if (magnitude < 0x38800000U) return 0;  // 2^-14, the smallest that the format's own tools write
  if (magnitude >= 0x48000000U) return static_cast<std::uint16_t>(sign | 0x7FFFU);
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U) >> 13U));
}

std::vector<DecodedCurve> decode(const Sequence& s) {
  std::vector<DecodedCurve> out;
  if (s.encoding() != Encoding::curves) return out;
  const Curves& c = s.curves;
  std::size_t curve = 0, frame = 0, code_byte = 0, value = 0;
  for (const std::uint16_t v : c.channels) {
    for (int bit = 8; bit >= 0; --bit) {
      if (((v >> bit) & 1) == 0 || curve >= c.counts.size()) continue;
      DecodedCurve& d = out.emplace_back();
      d.bone = v >> 9;
      d.axis = 2 - bit % 3;
      d.channel = bit >= 6 ? Channel::translation : bit >= 3 ? Channel::rotation : Channel::scale;
      const std::size_t n = c.counts[curve++] + std::size_t{2};
      for (std::size_t k = 0; k < n; ++k) {
        Key& key = d.keys.emplace_back();
        key.frame = k == 0 ? 0 : k + 1 == n ? std::max(s.frames() - 1, 0) : int{c.frames[frame++]};
        key.code = c.codes[code_byte + k / 4] >> (6 - 2 * (k % 4)) & 3;
        for (int w = 0; w < key.code && value < c.values.size(); ++w) {
          key.words[static_cast<std::size_t>(w)] = c.values[value++];
        }
        if (key.code >= 1) key.value = from_half(key.words[static_cast<std::size_t>(key.code) - 1]);
        if (key.code >= 2) key.slope_in = from_half(key.words[0]);
        if (key.code >= 2)
          key.slope_out = from_half(key.words[static_cast<std::size_t>(key.code) - 2]);
      }
      code_byte += (n + 3) / 4;
    }
  }
  return out;
}

}  // namespace dopesheet::motn
