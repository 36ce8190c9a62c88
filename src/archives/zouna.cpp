// Zouna .DPC .DGC and others. Games: Ratatouille, WALL-E, FUEL.
//
// A version text of 256 bytes, descriptions of up to 64 blocks, and from 0x800 the blocks: records back
// to back, padded to 2048 bytes. From version 1.381 a pool after the blocks holds the bodies of records
// that several levels share. Facts: bff, the templates of zouna-templates-docs.
#include "archives/zouna.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "archives/lzrs.hpp"
#include "io/text.hpp"

namespace dopesheet::archives::zouna {
namespace {

constexpr std::string_view maker = " - Asobo Studio";

// "1.06.63.02" of "v1.06.63.02 - Asobo Studio - Internal Cross Technology"; empty when it is not that.
std::string version_of(const Source& in) {
  std::array<std::byte, 256> text{};
  if (!in.read(0, text)) return {};
  const auto s = io::until_zero({reinterpret_cast<const char*>(text.data()), text.size()});
  const auto end = s.find(maker);
  if (end == s.npos || !s.starts_with('v') || end < 4) return {};
  const auto version = s.substr(1, end - 1);
  return version.find_first_not_of("0123456789.") == version.npos ? std::string(version)
                                                                  : std::string();
}

bool probe(const Source& in) { return !version_of(in).empty(); }

// Bodies in the pool, by name and class.
struct Body {
  std::uint32_t id, type;
  std::uint64_t offset;
  std::uint32_t unpacked;
};

class Lister {
 public:
  explicit Lister(const Source& in) : in_(in) {}

  Result<Directory> run() {
    const std::string version = version_of(in_);
    if (version.empty()) return fail(Code::bad_magic, 0, {}, "is no Zouna archive");
    const auto pooled = has_pool(version);
    if (!pooled) {
      return fail(Code::bad_version, 0, "version",
                  fmt::format("{}: the archives of this version are not known", version));
    }
    if (const auto done = header(); !done) return tl::unexpected(done.error());
    d_.kind = &zouna_kind();
    d_.facts = {{"version", version},
                {"byte order", d_.order == std::endian::big ? "big" : "little"},
                {"blocks", std::to_string(header_.blocks)}};
    std::uint64_t at = sector;
    for (std::uint32_t b = 0; b < header_.blocks; ++b) {
      const auto next = block(b, at);
      if (!next) return tl::unexpected(next.error());
      at = *next;
    }
    if (*pooled) {
      if (const auto done = pool(at); !done) return tl::unexpected(done.error());
    }
    return std::move(d_);
  }

 private:
  Result<void> header() {
    for (const auto order : {std::endian::little, std::endian::big}) {
      const auto h = load<Header>(in_, order, header_at, in_.size(), "header");
      if (!h) return tl::unexpected(h.error());
      if (h->type > 1 || h->blocks > max_blocks) continue;
      d_.order = order;
      header_ = *h;
      if (in_.size() < sector) return tl::unexpected(outside(in_.size(), sector, in_.size()));
      return {};
    }
    return fail(Code::bad_value, header_at, "header",
                "neither byte order gives a known type and at most 64 blocks");
  }

  // A record whose parts lie before `end`.
  Result<Record> record(std::uint64_t at, std::uint64_t end, const std::string& path) {
    const auto r = load<Record>(in_, d_.order, at, end, path.c_str());
    if (!r) return tl::unexpected(r.error());
    if (!r->sound()) {
      return fail(Code::bad_value, at, path,
                  fmt::format("sizes do not add up: {} + {} is not {}", r->link_size, r->body(),
                              r->data_size));
    }
    if (r->data_size > end - at - Record::wire_size) {
      return fail(Code::bad_value, at, path + ".data_size",
                  fmt::format("{} bytes, {} left", r->data_size, end - at - Record::wire_size));
    }
    return *r;
  }

  Result<std::uint64_t> block(std::uint32_t index, std::uint64_t at) {
    const std::string path = fmt::format("blocks[{}]", index);
    const std::uint64_t said_at = blocks_at + index * Block::wire_size;
    const auto b = load<Block>(in_, d_.order, said_at, in_.size(), path.c_str());
    if (!b) return tl::unexpected(b.error());
    if (b->padded_size > in_.size() - at) {
      return fail(Code::bad_value, said_at, path + ".padded_size",
                  fmt::format("{} bytes, {} left", b->padded_size, in_.size() - at));
    }
    if (b->records > b->padded_size / Record::wire_size) {
      return fail(Code::bad_value, said_at, path + ".records",
                  fmt::format("{} records do not fit into {} bytes", b->records, b->padded_size));
    }
    if (b->records > max_entries - d_.entries.size())
      return fail(Code::limit, said_at, path, fmt::format("more than {} records", max_entries));
    const std::uint64_t end = at + b->padded_size;
    Part part{at, b->padded_size, 0, d_.entries.size(), b->records};
    for (std::uint32_t i = 0; i < b->records; ++i) {
      const std::uint64_t begin = at + part.used;
      const std::string here = fmt::format("{}.records[{}]", path, i);
      const auto r = record(begin, end, here);
      if (!r) return tl::unexpected(r.error());
      Entry e;
      e.type = r->type;
      e.id = r->id;
      e.part = index;
      e.offset = begin;
      e.stored = Record::wire_size + r->data_size;
      e.size = std::uint64_t{Record::wire_size} + r->link_size + r->unpacked;
      if (r->link_size >= 4) {
        const auto link = load<U32>(in_, d_.order, begin + Record::wire_size, end, here.c_str());
        if (!link) return tl::unexpected(link.error());
        e.link = link->value;
      }
      if (r->unpacked == 0) bodiless_.push_back(d_.entries.size());
      part.used += e.stored;
      d_.entries.push_back(std::move(e));
    }
    d_.parts.push_back(part);
    return end;
  }

  Result<void> pool(std::uint64_t blocks_end) {
    const auto said = load<Pool>(in_, d_.order, pool_at, in_.size(), "pool");
    if (!said) return tl::unexpected(said.error());
    if (!said->present()) return {};
    std::uint64_t at = said->offset * sector;
    if (at < blocks_end || at > in_.size()) {
      return fail(Code::bad_value, pool_at + 4, "pool.offset",
                  fmt::format("{} is not between the blocks and the end", at));
    }
    at += 12;
    std::uint32_t bodies = 0;
    // Indices of the bodies; then names, reference counts, sizes, record indices; then 28 bytes a record.
    for (const int list : {0, 1, 2, 3, 4, 5}) {
      const auto n = load<U32>(in_, d_.order, at, in_.size(), "pool");
      if (!n) return tl::unexpected(n.error());
      if (list == 0) bodies = n->value;
      at += 4 + std::uint64_t{n->value} * (list == 5 ? 28 : 4);
    }
    at = round_up(at + 28, sector);
    std::vector<Body> found;
    for (std::uint32_t i = 0; i < bodies; ++i) {
      if (i >= max_entries) return fail(Code::limit, at, "pool", "too many bodies");
      const auto r = record(at, in_.size(), fmt::format("pool[{}]", i));
      if (!r) return tl::unexpected(r.error());
      found.push_back({r->id, r->type, at, r->unpacked});
      at += round_up(Record::wire_size + std::uint64_t{r->data_size}, sector);
    }
    d_.facts.emplace_back("pool", fmt::format("{} bodies", found.size()));
    std::sort(found.begin(), found.end(), [](const Body& a, const Body& b) {
      return std::tie(a.id, a.type, a.offset) < std::tie(b.id, b.type, b.offset);
    });
    for (const std::size_t i : bodiless_) {
      Entry& e = d_.entries[i];
      const auto b =
          std::lower_bound(found.begin(), found.end(), e, [](const Body& x, const Entry& y) {
            return std::tie(x.id, x.type) < std::tie(y.id, y.type);
          });
      if (b == found.end() || b->id != e.id || b->type != e.type) continue;
      e.body = b->offset;
      e.size += b->unpacked;
    }
    return {};
  }

  const Source& in_;
  Header header_;
  Directory d_;
  std::vector<std::size_t> bodiless_;  // entries whose body may be in the pool
};

Result<Directory> list(const Source& in) { return Lister(in).run(); }

constexpr Kind kind{
    .id = "zouna",
    .title = "Zouna archive",
    .games = "Ratatouille, WALL-E, FUEL",
    .extensions = ".dpc .dgc .dps .dpp .dxb .dmc .dnx .drv .d36 .dp3 .dbm",
    .names = ".npc .ngc .nps",
    .part = "block",
    .hash = NameHash::zouna,
    .verified = "synthetic files",
    .probe = probe,
    .list = list,
    .read = read,
    .rewrite = rewrite,
};

}  // namespace

std::optional<bool> has_pool(std::string_view version) {
  std::array<unsigned, 3> n{};
  const char* at = version.data();
  const char* end = at + version.size();
  for (unsigned& v : n) {
    const auto [stop, bad] = std::from_chars(at, end, v);
    if (bad != std::errc{}) return std::nullopt;
    at = stop != end ? stop + 1 : stop;
    if (stop == end) break;
  }
  if (n[0] != 1) return std::nullopt;
  if ((n[1] == 6 && n[2] >= 63) || (n[1] >= 200 && n[1] <= 380)) return false;
  if (n[1] >= 381 && n[1] <= 999) return true;
  return std::nullopt;
}

// The record with its body unpacked and joined: what a codec reads.
Result<Bytes> read(const Source& in, const Directory& d, std::size_t entry, const Limits& limits) {
  const Entry& e = d.entries[entry];
  const std::string path = fmt::format("entries[{}]", entry);
  if (e.size > limits.bytes)
    return fail(Code::limit, e.offset, path, fmt::format("is larger than {} bytes", limits.bytes));
  const auto own = load<Record>(in, d.order, e.offset, in.size(), path.c_str());
  if (!own) return tl::unexpected(own.error());
  std::uint64_t body_at = e.offset + Record::wire_size + own->link_size;
  Record body = *own;
  if (e.body != 0) {
    const auto apart = load<Record>(in, d.order, e.body, in.size(), path.c_str());
    if (!apart) return tl::unexpected(apart.error());
    body = *apart;
    body_at = e.body + Record::wire_size + body.link_size;
  }
  auto stored = read_bytes(in, body_at, body.body(), limits);
  if (!stored) return tl::unexpected(stored.error());
  if (body.packed != 0) {
    auto unpacked = lzrs_unpack(*stored, body.unpacked);
    if (!unpacked) {
      Error error = unpacked.error();
      error.offset += body_at;
      error.path = path + (error.path.empty() ? "" : "." + error.path);
      return tl::unexpected(std::move(error));
    }
    stored = std::move(unpacked);
  }
  auto out = read_bytes(in, e.offset, std::uint64_t{Record::wire_size} + own->link_size, limits);
  if (!out) return tl::unexpected(out.error());
  Record header = *own;
  header.unpacked = body.unpacked;
  header.packed = 0;
  header.data_size = header.link_size + header.unpacked;
  store(*out, 0, d.order, header);
  append(*out, *stored);
  return out;
}

}  // namespace dopesheet::archives::zouna

namespace dopesheet::archives {

const Kind& zouna_kind() { return zouna::kind; }

}  // namespace dopesheet::archives
