// TotemTech .DGC .DPS .DPC. Games: SpongeBob Revenge of the Flying Dutchman, Jimmy Neutron Boy Genius.
//
// A text of 256 bytes, the size of a chunk, and chunks to the end of the file. Records lie in a chunk
// byte by byte and never cross into the next one; nothing is compressed. Facts: the Chum World wiki and
// library, bff.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "archives/archive.hpp"
#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

constexpr std::string_view magic = "TotemTech Data v";
constexpr std::uint64_t sector = 0x800, size_at = 0x100;

struct RecordHeader {
  std::uint32_t size = 0;  // bytes, these 16 included
  std::uint32_t type = 0, id = 0, link = 0;

  static constexpr std::size_t wire_size = 16;
  static constexpr void fields(auto& ar, auto& v) {
    ar("size", v.size);
    ar("type", v.type);
    ar("id", v.id);
    ar("link", v.link);
  }
};
static_assert(io::complete<RecordHeader>);

bool probe(const Source& in) {
  std::array<std::byte, magic.size()> head{};
  return in.read(0, head) && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
}

Result<Directory> walk(const Source& in, std::endian order, std::uint64_t chunk_size) {
  Directory d;
  d.order = order;
  for (std::uint64_t at = sector; at < in.size(); at += chunk_size) {
    const std::uint64_t end = at + chunk_size;
    const std::string path = fmt::format("chunks[{}]", d.parts.size());
    const auto count = load<U32>(in, order, at, end, path.c_str());
    if (!count) return tl::unexpected(count.error());
    if (count->value > (chunk_size - 4) / RecordHeader::wire_size) {
      return fail(Code::bad_value, at, path,
                  fmt::format("{} records do not fit into {} bytes", count->value, chunk_size));
    }
    if (count->value > max_entries - d.entries.size())
      return fail(Code::limit, at, path, fmt::format("more than {} records", max_entries));
    Part part{at, chunk_size, 4, d.entries.size(), count->value};
    for (std::uint32_t i = 0; i < count->value; ++i) {
      const std::uint64_t begin = at + part.used;
      const auto h = load<RecordHeader>(in, order, begin, end, path.c_str());
      if (!h) return tl::unexpected(h.error());
      if (h->size < RecordHeader::wire_size || h->size > end - begin) {
        return fail(Code::bad_value, begin, fmt::format("{}.records[{}].size", path, i),
                    fmt::format("{} bytes, {} left in the chunk", h->size, end - begin));
      }
      d.entries.push_back({{},
                           h->type,
                           h->id,
                           h->link,
                           static_cast<std::uint32_t>(d.parts.size()),
                           begin,
                           h->size,
                           h->size});
      part.used += h->size;
    }
    d.parts.push_back(part);
  }
  return d;
}

Result<Directory> list(const Source& in) {
  std::array<std::byte, 256> text{};
  if (const auto done = in.read(0, text); !done) return tl::unexpected(done.error());
  if (std::memcmp(text.data(), magic.data(), magic.size()) != 0)
    return fail(Code::bad_magic, 0, {}, "is no TotemTech archive");
  std::optional<Error> first;
  for (const auto order : {std::endian::big, std::endian::little}) {
    const auto size = load<U32>(in, order, size_at, in.size(), "chunk_size");
    if (!size) return tl::unexpected(size.error());
    if (size->value == 0 || size->value % sector != 0 || in.size() < sector ||
        (in.size() - sector) % size->value != 0) {
      continue;
    }
    auto d = walk(in, order, size->value);
    if (!d) {
      if (!first) first = d.error();
      continue;
    }
    d->kind = &totemtech_kind();
    const std::string_view legal(reinterpret_cast<const char*>(text.data()), text.size());
    d->facts = {{"version", io::escape_bytes(io::until_zero(legal))},
                {"byte order", order == std::endian::big ? "big" : "little"},
                {"chunks", fmt::format("{} of {} bytes", d->parts.size(), size->value)}};
    return d;
  }
  if (first) return tl::unexpected(*first);
  return fail(Code::bad_value, size_at, "chunk_size",
              "no size of chunks that fills the file in either byte order");
}

Result<Bytes> read(const Source& in, const Directory& d, std::size_t entry, const Limits& limits) {
  return read_bytes(in, d.entries[entry].offset, d.entries[entry].stored, limits);
}

// A record from outside must say its own size.
Result<void> is_record(ByteView record, std::endian order, const std::string& path) {
  const MemorySource in(record);
  const auto h = load<RecordHeader>(in, order, 0, record.size(), path.c_str());
  if (!h) return tl::unexpected(h.error());
  if (h->size != record.size()) {
    return fail(Code::bad_value, 0, path,
                fmt::format("the record says {} bytes of itself and has {}; it needs its header of "
                            "16 bytes, in the byte order of the archive",
                            h->size, record.size()));
  }
  return {};
}

struct Chunk {
  std::vector<ByteView> records;
  std::size_t used = 4;
  ByteView was;  // its bytes so far; empty for a new one
  std::size_t was_used = 0;

  void add(ByteView record) {
    records.push_back(record);
    used += record.size();
  }
};

class Rewriter {
 public:
  Rewriter(const Directory& d, const Plan& p, Bytes old) : d_(d), plan_(p), old_(std::move(old)) {
    chunk_size_ = load<U32>(MemorySource{ByteView(old_)}, d.order, size_at, old_.size(), "")->value;
  }

  Result<Rewritten> run() {
    for (std::size_t i = 0; i < d_.entries.size(); ++i) {
      if (plan_.replaced[i] == nullptr) continue;
      const auto good = is_record(*plan_.replaced[i], d_.order, fmt::format("entries[{}]", i));
      if (!good) return tl::unexpected(good.error());
    }
    for (const Edit* e : plan_.added) {
      if (const auto good = is_record(e->bytes, d_.order, "added"); !good)
        return tl::unexpected(good.error());
    }
    grow_chunks();
    for (const Part& part : d_.parts) fill(part);
    for (const Edit* e : plan_.added) pending_.emplace_back(e->bytes);
    place_pending();
    if (chunk_size_ > UINT32_MAX)
      return fail(Code::cannot_represent, 0, "chunk_size", "a record is too large");
    return Rewritten{emit(), std::move(notes_)};
  }

 private:
  ByteView kept(const Entry& e) const {
    return ByteView(old_).subspan(static_cast<std::size_t>(e.offset),
                                  static_cast<std::size_t>(e.stored));
  }

  // A chunk has to hold the largest record; the game may have set memory aside for the old size.
  void grow_chunks() {
    std::size_t largest = 0;
    for (const Bytes* b : plan_.replaced) largest = std::max(largest, b != nullptr ? b->size() : 0);
    for (const Edit* e : plan_.added) largest = std::max(largest, e->bytes.size());
    const std::uint64_t needed = round_up(largest + 4, sector);
    if (needed <= chunk_size_) return;
    notes_.push_back(fmt::format(
        "every chunk grows from {} to {} bytes, to hold a record of {}; the game may have "
        "memory for the old size only",
        chunk_size_, needed, largest));
    chunk_size_ = needed;
  }

  void fill(const Part& part) {
    Chunk c;
    c.was = ByteView(old_).subspan(static_cast<std::size_t>(part.offset),
                                   static_cast<std::size_t>(part.size));
    c.was_used = static_cast<std::size_t>(part.used);
    std::vector<bool> moves(part.count);
    std::uint64_t used = 4;
    for (std::size_t k = 0; k < part.count; ++k) {
      const std::size_t i = part.first + k;
      if (plan_.removed[i]) continue;
      used += plan_.replaced[i] != nullptr ? plan_.replaced[i]->size() : d_.entries[i].stored;
    }
    // What is new goes elsewhere, the last first, until the rest fits: the old records did fit.
    for (std::size_t k = part.count; k-- > 0 && used > chunk_size_;) {
      const Bytes* b = plan_.replaced[part.first + k];
      if (b == nullptr) continue;
      moves[k] = true;
      used -= b->size();
    }
    for (std::size_t k = 0; k < part.count; ++k) {
      const std::size_t i = part.first + k;
      if (plan_.removed[i]) continue;
      const ByteView record =
          plan_.replaced[i] != nullptr ? ByteView(*plan_.replaced[i]) : kept(d_.entries[i]);
      if (moves[k]) {
        pending_.push_back(record);
        notes_.push_back(fmt::format("entries[{}] moves to another chunk", i));
      } else {
        c.add(record);
      }
    }
    chunks_.push_back(std::move(c));
  }

  void place_pending() {
    for (const ByteView record : pending_) {
      auto room = std::find_if(chunks_.begin(), chunks_.end(), [&](const Chunk& c) {
        return record.size() <= chunk_size_ - c.used;
      });
      if (room == chunks_.end()) {
        notes_.push_back(fmt::format("chunk {} is new", chunks_.size()));
        room = chunks_.insert(chunks_.end(), Chunk{});
      }
      room->add(record);
    }
  }

  Bytes emit() const {
    Bytes out(old_.begin(), old_.begin() + static_cast<std::ptrdiff_t>(sector));
    store(out, size_at, d_.order, U32{static_cast<std::uint32_t>(chunk_size_)});
    const std::byte filler = filler_of();
    out.reserve(sector + chunks_.size() * static_cast<std::size_t>(chunk_size_));
    for (const Chunk& c : chunks_) {
      const std::size_t begin = out.size();
      out.resize(begin + 4);
      store(out, begin, d_.order, U32{static_cast<std::uint32_t>(c.records.size())});
      for (const ByteView r : c.records) append(out, r);
      // Filler keeps its bytes where it stays filler.
      for (std::size_t k = c.used; k < chunk_size_; ++k)
        out.push_back(k >= c.was_used && k < c.was.size() ? c.was[k] : filler);
    }
    return out;
  }
  std::byte filler_of() const {
    for (const Part& p : d_.parts) {
      if (p.used < p.size) return old_[static_cast<std::size_t>(p.offset + p.used)];
    }
    return std::byte{0};
  }

  const Directory& d_;
  const Plan& plan_;
  const Bytes old_;
  std::uint64_t chunk_size_;
  std::vector<Chunk> chunks_;
  std::vector<ByteView> pending_;
  std::vector<std::string> notes_;
};

Result<Rewritten> rewrite(const Source& in, const Directory& d, std::span<const Edit> edits,
                          const Limits& limits) {
  const auto p = plan(d, edits);
  if (!p) return tl::unexpected(p.error());
  auto old = read_bytes(in, 0, in.size(), limits);
  if (!old) return tl::unexpected(old.error());
  return Rewriter(d, *p, std::move(*old)).run();
}

constexpr Kind kind{
    .id = "totemtech",
    .title = "TotemTech archive",
    .games = "SpongeBob SquarePants: Revenge of the Flying Dutchman, Jimmy Neutron: Boy Genius",
    .extensions = ".dgc .dps .dpc",
    .names = ".ngc .nps .npc",
    .part = "chunk",
    .hash = NameHash::totemtech,
    .verified = "synthetic files",
    .probe = probe,
    .list = list,
    .read = read,
    .rewrite = rewrite,
};

}  // namespace

const Kind& totemtech_kind() { return kind; }

}  // namespace dopesheet::archives
