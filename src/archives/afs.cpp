// CRI .AFS. Game: Shenmue.
//
// A count, offset and size of each file, the files from multiples of 0x800, and a list of their names that
// a pointer before the first file leads to. Facts: ShenmueDK, Shenmunity; none was run on here.
#include <fmt/format.h>

#include "archives/splice.hpp"
#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

constexpr auto order = std::endian::little;
constexpr std::uint64_t sector = 0x800, table_at = 8;

struct Place {
  std::uint32_t offset = 0, size = 0;

  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& v) {
    ar("offset", v.offset);
    ar("size", v.size);
  }
};
static_assert(io::complete<Place>);

struct Listed {
  std::array<char, 32> name{};
  std::array<std::uint16_t, 6> time{};  // year, month, day, hour, minute, second
  std::uint32_t size = 0;

  static constexpr std::size_t wire_size = 48;
  static constexpr void fields(auto& ar, auto& v) {
    ar("name", v.name);
    ar("time", v.time);
    ar("size", v.size);
  }
};
static_assert(io::complete<Listed>);

bool probe(const Source& in) {
  const auto word = load<U32>(in, order, 0, in.size(), "");
  return word && word->value == 0x00534641;  // "AFS" and a zero
}

// Where the list of names is, and what points to it.
struct Names48 {
  std::uint64_t pointer_at = 0, at = 0;
};
std::uint64_t first_data(const Directory& d, std::uint64_t end) {
  for (const Entry& e : d.entries) {
    if (e.stored != 0) end = std::min(end, e.offset);
  }
  return end;
}
std::optional<Names48> find_names(const Source& in, const Directory& d) {
  const std::uint64_t n = d.entries.size(), table_end = table_at + n * Place::wire_size;
  if (n == 0) return std::nullopt;
  const std::uint64_t data = first_data(d, in.size());
  for (const std::uint64_t at : {table_end, data - std::min<std::uint64_t>(data, 8),
                                 round_up(table_end + 8, sector) - 8, std::uint64_t{0x8000 - 8}}) {
    if (at < table_end || at + 8 > data) continue;
    const auto p = load<Place>(in, order, at, in.size(), "");
    if (p && p->size == n * Listed::wire_size && p->offset >= at + 8 && p->offset <= in.size() &&
        p->size <= in.size() - p->offset) {
      return Names48{at, p->offset};
    }
  }
  return std::nullopt;
}

Result<Directory> list(const Source& in) {
  if (!probe(in)) return fail(Code::bad_magic, 0, {}, "is no AFS archive");
  const auto count = load<U32>(in, order, 4, in.size(), "files");
  if (!count) return tl::unexpected(count.error());
  if (count->value > max_entries || count->value > (in.size() - table_at) / Place::wire_size)
    return fail(Code::bad_value, 4, "files", fmt::format("{} files", count->value));
  Directory d;
  d.kind = &afs_kind();
  for (std::uint32_t i = 0; i < count->value; ++i) {
    const std::uint64_t said_at = table_at + std::uint64_t{i} * Place::wire_size;
    const auto p = load<Place>(in, order, said_at, in.size(), "files");
    if (!p) return tl::unexpected(p.error());
    if (p->offset > in.size() || p->size > in.size() - p->offset) {
      return fail(Code::bad_value, said_at, fmt::format("files[{}]", i),
                  fmt::format("{} bytes at {} are not in the archive", p->size, p->offset));
    }
    Entry e;
    e.offset = p->offset;
    e.stored = e.size = p->size;
    d.entries.push_back(std::move(e));
  }
  const auto names = find_names(in, d);
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    if (!names) {
      d.entries[i].name = fmt::format("{:05}", i);
      continue;
    }
    const auto l = load<Listed>(in, order, names->at + i * Listed::wire_size, in.size(), "names");
    if (!l) return tl::unexpected(l.error());
    d.entries[i].name = io::until_zero({l->name.data(), l->name.size()});
  }
  d.facts = {{"names", names ? "yes" : "no"}};
  d.parts = {{0, in.size(), in.size(), 0, d.entries.size()}};
  return d;
}

Result<Bytes> read(const Source& in, const Directory& d, std::size_t entry, const Limits& limits) {
  return read_bytes(in, d.entries[entry].offset, d.entries[entry].stored, limits);
}

Result<Rewritten> rewrite(const Source& in, const Directory& d, std::span<const Edit> edits,
                          const Limits& limits) {
  const auto p = plan(d, edits);
  if (!p) return tl::unexpected(p.error());
  const auto whole = read_bytes(in, 0, in.size(), limits);
  if (!whole || edits.empty()) return whole.map([](const Bytes& b) { return Rewritten{b, {}}; });
  const auto names = find_names(in, d);
  const std::uint64_t old_table_end = table_at + d.entries.size() * Place::wire_size;
  std::uint64_t data_end = old_table_end;
  for (const Entry& e : d.entries) data_end = std::max(data_end, e.offset + e.stored);
  std::vector<std::uint64_t> marks{in.size()};
  if (names) marks.push_back(names->at);
  Splices splices;
  if (names) {
    const auto free = is_free(d, names->at, d.entries.size() * Listed::wire_size);
    if (!free) return tl::unexpected(free.error());
  }
  if (auto done = splice_entries(splices, *whole, d, *p, marks, old_table_end, sector, true); !done)
    return tl::unexpected(done.error());

  const std::uint64_t add_at = names && names->at >= data_end ? names->at : in.size();
  std::uint64_t at = splices.inserted(add_at);
  Bytes added(round_up(at, sector) - at);
  std::vector<Place> places;
  Bytes list;
  const auto name_one = [&](const Listed& l) {
    list.resize(list.size() + Listed::wire_size);
    store(list, list.size() - Listed::wire_size, order, l);
  };
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    if (p->removed[i]) continue;
    const Entry& e = d.entries[i];
    const std::size_t size = p->replaced[i] != nullptr ? p->replaced[i]->size() : e.stored;
    places.push_back({static_cast<std::uint32_t>(e.offset), static_cast<std::uint32_t>(size)});
    if (!names) continue;
    auto l = *load<Listed>(in, order, names->at + i * Listed::wire_size, in.size(), "names");
    if (l.size == e.stored) l.size = static_cast<std::uint32_t>(size);
    name_one(l);
  }
  const std::size_t kept = places.size();
  for (const Edit* e : p->added) {
    places.push_back({static_cast<std::uint32_t>(at + added.size()),
                      static_cast<std::uint32_t>(e->bytes.size())});
    append(added, e->bytes);
    added.resize(round_up(added.size(), sector));
    Listed l;
    if (e->name.size() > l.name.size()) {
      return fail(Code::cannot_represent, 0, "added",
                  fmt::format("'{}' is longer than 32 bytes", io::escape_bytes(e->name)));
    }
    std::copy(e->name.begin(), e->name.end(), l.name.begin());
    l.size = static_cast<std::uint32_t>(e->bytes.size());
    if (names) name_one(l);
  }
  // The file's own end may be no multiple of a sector; what is added starts at one.
  if (p->added.empty()) added.clear();
  if (!added.empty()) splices.add(add_at, 0, added);
  if (names) splices.add(names->at, d.entries.size() * Listed::wire_size, list);
  for (std::size_t i = 0; i < kept; ++i)
    places[i].offset = static_cast<std::uint32_t>(splices.moved(places[i].offset));
  auto applied = splices.apply(*whole);
  if (!applied) return tl::unexpected(applied.error());
  Bytes& out = *applied;
  if (out.size() > UINT32_MAX) return fail(Code::cannot_represent, 0, {}, "becomes too large");

  // The table grows into what is free before the first file.
  const std::uint64_t table_end = table_at + places.size() * Place::wire_size;
  const bool pointer_follows = names && names->pointer_at == old_table_end;
  const std::uint64_t pointer_at = pointer_follows ? table_end : names ? names->pointer_at : 0;
  const std::uint64_t room = names && !pointer_follows ? pointer_at : first_data(d, in.size());
  if (table_end + (pointer_follows ? 8 : 0) > room) {
    return fail(Code::cannot_represent, 4, "files",
                "there is no room for more in the table before the first file");
  }
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(std::min(table_end, old_table_end)),
            out.begin() + static_cast<std::ptrdiff_t>(std::max(table_end, old_table_end) +
                                                      (pointer_follows ? 8 : 0)),
            std::byte{0});
  store(out, 4, order, U32{static_cast<std::uint32_t>(places.size())});
  for (std::size_t i = 0; i < places.size(); ++i)
    store(out, table_at + i * Place::wire_size, order, places[i]);
  if (names) {
    store(out, static_cast<std::size_t>(pointer_at), order,
          Place{static_cast<std::uint32_t>(splices.moved(names->at)),
                static_cast<std::uint32_t>(list.size())});
  }
  return Rewritten{std::move(out), {}};
}

constexpr Kind kind{
    .id = "afs",
    .title = "AFS archive",
    .games = "Shenmue",
    .extensions = ".afs",
    .names = {},
    .part = {},
    .hash = {},
    .verified = "synthetic files",
    .probe = probe,
    .list = list,
    .read = read,
    .rewrite = rewrite,
};

}  // namespace

const Kind& afs_kind() { return kind; }

}  // namespace dopesheet::archives
