// Zouna archives again: blocks whose records changed are rebuilt, the rest is copied.
#include <fmt/format.h>

#include <algorithm>

#include "archives/lzrs.hpp"
#include "archives/zouna.hpp"

namespace dopesheet::archives::zouna {
namespace {

// Asobo's CRC run left-shifting, over a block's data. One source folds letters, as its hash of names
// does; whichever gives the stored sum is the archive's.
std::uint32_t checksum(ByteView data, bool fold) {
  static const auto table = [] {
    std::array<std::uint32_t, 256> t{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      std::uint32_t c = i << 24U;
      for (int k = 0; k < 8; ++k) c = (c & 0x80000000U) != 0 ? (c << 1U) ^ 0x04C11DB7U : c << 1U;
      t[i] = c;
    }
    return t;
  }();
  std::uint32_t h = 0;
  for (const std::byte b : data) {
    auto c = static_cast<std::uint32_t>(b);
    if (fold && c >= 'A' && c <= 'Z') c += 'a' - 'A';
    h = (h << 8U) ^ table[(h >> 24U) ^ c];
  }
  return h;
}

class Rewriter {
 public:
  Rewriter(const Source& in, const Directory& d, const Plan& p, const Limits& limits)
      : in_(in), d_(d), plan_(p), limits_(limits) {}

  Result<Rewritten> run() {
    auto old = read_bytes(in_, 0, in_.size(), limits_);
    if (!old) return tl::unexpected(old.error());
    old_ = std::move(*old);
    const auto header = load<Header>(in_, d_.order, header_at, in_.size(), "header");
    if (!header) return tl::unexpected(header.error());
    if (!plan_.added.empty() && d_.parts.empty())
      return fail(Code::cannot_represent, 0, {}, "an archive without blocks has no place for more");
    out_.assign(old_.begin(), old_.begin() + static_cast<std::ptrdiff_t>(sector));
    tail_ = d_.parts.empty() ? sector : d_.parts.back().offset + d_.parts.back().size;
    tail_bytes_.assign(old_.begin() + static_cast<std::ptrdiff_t>(tail_), old_.end());
    for (std::size_t b = 0; b < d_.parts.size(); ++b) {
      if (const auto done = block(b); !done) return tl::unexpected(done.error());
    }
    if (const auto done = finish(*header); !done) return tl::unexpected(done.error());
    append(out_, tail_bytes_);
    return Rewritten{std::move(out_), std::move(notes_)};
  }

 private:
  struct Given {
    Record header;
    ByteView link, body;
  };

  ByteView old(std::uint64_t at, std::uint64_t size) const {
    return ByteView(old_).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
  }

  Result<Given> take(ByteView bytes, const std::string& path) const {
    const MemorySource in(bytes);
    const auto r = load<Record>(in, d_.order, 0, bytes.size(), path.c_str());
    if (!r) return tl::unexpected(r.error());
    if (!r->sound() || r->data_size != bytes.size() - Record::wire_size || r->packed != 0) {
      return fail(
          Code::bad_value, 0, path,
          "needs its header of 24 bytes, in the byte order of the archive, with the sizes of "
          "what follows and nothing packed");
    }
    return Given{*r, bytes.subspan(Record::wire_size, r->link_size),
                 bytes.subspan(Record::wire_size + r->link_size)};
  }

  Bytes stored(Given g, bool pack) const {
    Bytes packed;
    if (pack) packed = lzrs_pack(g.body);
    if (!packed.empty() && packed.size() < g.body.size()) {
      g.body = packed;
      g.header.packed = static_cast<std::uint32_t>(packed.size());
    }
    g.header.data_size = static_cast<std::uint32_t>(g.link.size() + g.body.size());
    Bytes out(Record::wire_size);
    store(out, 0, d_.order, g.header);
    append(out, g.link);
    append(out, g.body);
    return out;
  }

  // The record for an entry that is replaced; its body's record in the pool is patched in place.
  Result<Bytes> replaced(std::size_t i, bool& packed) {
    const Entry& e = d_.entries[i];
    const Bytes& bytes = *plan_.replaced[i];
    const std::string path = fmt::format("entries[{}]", i);
    const auto was = load<Record>(in_, d_.order, e.offset, in_.size(), path.c_str());
    if (!was) return tl::unexpected(was.error());
    if (const auto same = read(in_, d_, i, limits_); same && *same == bytes) {
      const ByteView kept = old(e.offset, e.stored);
      return Bytes(kept.begin(), kept.end());
    }
    auto given = take(bytes, path);
    if (!given) return tl::unexpected(given.error());
    if (e.body == 0) {
      Bytes out = stored(*given, was->packed != 0);
      const MemorySource made{ByteView(out)};
      packed = load<Record>(made, d_.order, 0, out.size(), "")->packed != 0;
      return out;
    }
    if (given->header.type != e.type || given->header.id != e.id) {
      return fail(Code::cannot_represent, e.offset, path,
                  "its body is in the pool, which keeps its name and class");
    }
    const auto apart = load<Record>(in_, d_.order, e.body, in_.size(), path.c_str());
    if (!apart) return tl::unexpected(apart.error());
    Given body = *given;
    body.header.link_size = 0;
    body.link = {};
    const Bytes pooled = stored(body, apart->packed != 0);
    const std::uint64_t had = round_up(Record::wire_size + std::uint64_t{apart->data_size}, sector);
    if (round_up(pooled.size(), sector) != had) {
      return fail(
          Code::cannot_represent, e.body, path,
          fmt::format("its body in the pool takes {} bytes and would need {}; the pool cannot be "
                      "laid out anew",
                      had, round_up(pooled.size(), sector)));
    }
    const auto at = tail_bytes_.begin() + static_cast<std::ptrdiff_t>(e.body - tail_);
    std::copy(pooled.begin(), pooled.end(), at);
    const auto room = std::min<std::uint64_t>(had, in_.size() - e.body);
    std::fill(at + static_cast<std::ptrdiff_t>(pooled.size()),
              at + static_cast<std::ptrdiff_t>(room), std::byte{0xFF});
    Given rest = *given;
    rest.header.unpacked = 0;
    rest.body = {};
    return stored(rest, false);
  }

  Result<void> block(std::size_t b) {
    const Part& part = d_.parts[b];
    const std::uint64_t said_at = blocks_at + b * Block::wire_size;
    auto desc = load<Block>(in_, d_.order, said_at, in_.size(), "blocks");
    if (!desc) return tl::unexpected(desc.error());
    const bool last = b + 1 == d_.parts.size();
    const std::size_t begin = out_.size();
    std::uint32_t records = 0, first_name = 0;
    std::uint64_t working = desc->working_offset;
    const auto add = [&](ByteView record, std::uint32_t id) {
      if (records++ == 0) first_name = id;
      append(out_, record);
    };
    for (std::size_t i = part.first; i < part.first + part.count; ++i) {
      const Entry& e = d_.entries[i];
      if (plan_.removed[i]) {
        if (e.body != 0)
          return fail(Code::cannot_represent, e.offset, fmt::format("entries[{}]", i),
                      "its body is in the pool, which cannot be laid out anew");
        continue;
      }
      if (plan_.replaced[i] == nullptr) {
        add(old(e.offset, e.stored), e.id);
        continue;
      }
      bool packed = false;
      const auto record = replaced(i, packed);
      if (!record) return tl::unexpected(record.error());
      if (packed) working = std::max(working, round_up(plan_.replaced[i]->size(), sector));
      add(*record,
          load<Record>(MemorySource{ByteView(*record)}, d_.order, 0, record->size(), "")->id);
    }
    if (last) {
      for (const Edit* e : plan_.added) {
        const auto given = take(e->bytes, "added");
        if (!given) return tl::unexpected(given.error());
        add(e->bytes, given->header.id);
      }
    }
    const std::size_t used = out_.size() - begin;
    const ByteView was = old(part.offset, part.used);
    const bool same =
        used == was.size() &&
        std::equal(was.begin(), was.end(), out_.begin() + static_cast<std::ptrdiff_t>(begin));
    if (same) {
      append(out_, old(part.offset + part.used, part.size - part.used));
      blocks_.push_back({part.size, desc->working_offset, used});
      return {};
    }
    const std::uint64_t padded = round_up(used, sector);
    if (padded > UINT32_MAX)
      return fail(Code::cannot_represent, 0, fmt::format("blocks[{}]", b), "becomes too large");
    const std::byte filler = part.used < part.size ? old_[part.offset + part.used] : std::byte{0};
    out_.resize(begin + padded, filler);
    if (desc->checksum != 0) {
      const bool plain = checksum(was, false) == desc->checksum;
      if (!plain && checksum(was, true) != desc->checksum) {
        return fail(Code::cannot_represent, said_at + 20, fmt::format("blocks[{}].checksum", b),
                    "does not fit the data by the known rule, so no new one can be worked out");
      }
      desc->checksum = checksum(ByteView(out_).subspan(begin, used), !plain);
    }
    if (desc->data_size == part.used) desc->data_size = static_cast<std::uint32_t>(used);
    if (padded != part.size) {
      notes_.push_back(fmt::format("block {} goes from {} to {} bytes", b, part.size, padded));
    }
    desc->records = records;
    desc->first_name = first_name;
    desc->padded_size = static_cast<std::uint32_t>(padded);
    desc->working_offset = static_cast<std::uint32_t>(working);
    store(out_, said_at, d_.order, *desc);
    blocks_.push_back({padded, working, used});
    return {};
  }

  struct Sizes {
    std::uint64_t padded, working, used;
  };

  // The header's own sizes, where blocks changed theirs.
  Result<void> finish(Header header) {
    std::uint64_t before = 0, after = 0, filler_before = 0, filler_after = 0;
    std::array<std::uint64_t, 2> capacity{header.capacity[0], header.capacity[1]};
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      before += d_.parts[b].size;
      after += blocks_[b].padded;
      filler_before += d_.parts[b].size - d_.parts[b].used;
      filler_after += blocks_[b].padded - blocks_[b].used;
      auto& c = capacity[b % 2];
      const std::uint64_t needs = blocks_[b].padded + blocks_[b].working;
      const bool changed =
          !std::equal(out_.begin() + static_cast<std::ptrdiff_t>(blocks_at + b * 24),
                      out_.begin() + static_cast<std::ptrdiff_t>(blocks_at + b * 24 + 24),
                      old_.begin() + static_cast<std::ptrdiff_t>(blocks_at + b * 24));
      if (!changed || needs <= c) continue;
      notes_.push_back(fmt::format("the game's buffer for {} blocks grows from {} to {} bytes",
                                   b % 2 == 0 ? "even" : "odd", c, needs));
      c = needs;
    }
    if (after > UINT32_MAX || capacity[0] > UINT32_MAX || capacity[1] > UINT32_MAX)
      return fail(Code::cannot_represent, 0, {}, "becomes too large");
    if (header.padded_size == before) header.padded_size = static_cast<std::uint32_t>(after);
    header.capacity = {static_cast<std::uint32_t>(capacity[0]),
                       static_cast<std::uint32_t>(capacity[1])};
    store(out_, header_at, d_.order, header);
    const bool pooled = std::any_of(d_.facts.begin(), d_.facts.end(),
                                    [](const auto& f) { return f.first == "pool"; });
    if (!pooled || before == after) return {};
    auto pool = load<Pool>(in_, d_.order, pool_at, in_.size(), "pool");
    if (!pool) return tl::unexpected(pool.error());
    const std::uint64_t size = in_.size() - before + after;
    if (before % sector != 0 || size > UINT32_MAX)
      return fail(Code::cannot_represent, pool_at, "pool", "cannot move");
    pool->offset = static_cast<std::uint32_t>((pool->offset * sector - before + after) / sector);
    if (pool->file_size == in_.size()) pool->file_size = static_cast<std::uint32_t>(size);
    if (pool->padding[0] == filler_before)
      pool->padding[0] = static_cast<std::uint32_t>(filler_after);
    store(out_, pool_at, d_.order, *pool);
    return {};
  }

  const Source& in_;
  const Directory& d_;
  const Plan& plan_;
  const Limits& limits_;
  Bytes old_, out_;
  std::uint64_t tail_ = 0;  // where what follows the blocks began: the pool, or nothing
  Bytes tail_bytes_;
  std::vector<Sizes> blocks_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<Rewritten> rewrite(const Source& in, const Directory& d, std::span<const Edit> edits,
                          const Limits& limits) {
  const auto p = plan(d, edits);
  if (!p) return tl::unexpected(p.error());
  return Rewriter(in, d, *p, limits).run();
}

}  // namespace dopesheet::archives::zouna
