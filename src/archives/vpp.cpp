// Red Faction .VPP, version 1. Game: Red Faction.
//
// A block of 2048 bytes with four words in it, the directory (a name of 60 bytes and a size each), and the
// files in its order, all from multiples of 2048. No offset is stored. Filler need not be zero.
#include <fmt/format.h>

#include <algorithm>

#include "archives/archive.hpp"
#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

constexpr std::uint32_t magic = 0x51890ACE;
constexpr std::uint64_t sector = 0x800;
constexpr std::size_t most_files = 65536, name_size = 60;

struct Header {
  std::uint32_t magic = 0, version = 0;
  std::int32_t files = 0, archive_size = 0;

  static constexpr std::size_t wire_size = 16;
  static constexpr void fields(auto& ar, auto& v) {
    ar("magic", v.magic);
    ar("version", v.version);
    ar("files", v.files);
    ar("archive_size", v.archive_size);
  }
};
static_assert(io::complete<Header>);

struct File {
  std::array<char, name_size> name{};
  std::int32_t size = 0;

  static constexpr std::size_t wire_size = 64;
  static constexpr void fields(auto& ar, auto& v) {
    ar("name", v.name);
    ar("size", v.size);
  }
};
static_assert(io::complete<File>);

constexpr auto order = std::endian::little;

bool probe(const Source& in) {
  const auto word = load<U32>(in, order, 0, in.size(), "");
  return word && word->value == magic;
}

std::uint64_t data_at(std::size_t files) {
  return sector + round_up(files * File::wire_size, sector);
}

Result<Directory> list(const Source& in) {
  const auto h = load<Header>(in, order, 0, in.size(), "header");
  if (!h) return tl::unexpected(h.error());
  if (h->magic != magic) return fail(Code::bad_magic, 0, "header", "is no VPP archive");
  if (h->version != 1) {
    return fail(Code::bad_version, 4, "header.version",
                fmt::format("{}: only version 1 is known", h->version));
  }
  if (h->files < 0 || static_cast<std::size_t>(h->files) > most_files ||
      static_cast<std::uint64_t>(h->files) * File::wire_size > in.size()) {
    return fail(Code::bad_value, 8, "header.files", fmt::format("{} files", h->files));
  }
  const auto files = static_cast<std::size_t>(h->files);
  if (in.size() < sector) return tl::unexpected(outside(in.size(), sector, in.size()));
  Directory d;
  d.kind = &vpp_kind();
  d.facts = {{"version", "1"}, {"size as stored", std::to_string(h->archive_size)}};
  std::uint64_t at = data_at(files);
  for (std::size_t i = 0; i < files; ++i) {
    const std::string path = fmt::format("files[{}]", i);
    const std::uint64_t said_at = sector + i * File::wire_size;
    const auto f = load<File>(in, order, said_at, in.size(), path.c_str());
    if (!f) return tl::unexpected(f.error());
    const auto size = static_cast<std::uint64_t>(f->size);
    if (f->size < 0 || at > in.size() || size > in.size() - at) {
      return fail(Code::bad_value, said_at + name_size, path + ".size",
                  fmt::format("{} bytes, {} left", f->size, in.size() - std::min(at, in.size())));
    }
    Entry e;
    e.name = io::until_zero({f->name.data(), f->name.size()});
    e.offset = at;
    e.stored = e.size = size;
    d.entries.push_back(std::move(e));
    at = round_up(at + size, sector);
  }
  if (files == 0 && at > in.size()) at = in.size();
  d.parts = {{0, in.size(), std::min(at, in.size()), 0, files}};
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
  if (!whole) return tl::unexpected(whole.error());
  if (edits.empty()) return Rewritten{*whole, {}};
  auto header = *load<Header>(in, order, 0, in.size(), "header");
  const ByteView old = *whole;
  const auto part = [&](std::uint64_t from, std::uint64_t to) {
    to = std::min<std::uint64_t>(to, old.size());
    from = std::min(from, to);
    return old.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(to - from));
  };
  Bytes directory, files;
  std::size_t count = 0;
  const auto add = [&](const File& f, ByteView content, ByteView filler) {
    directory.resize(++count * File::wire_size);
    store(directory, (count - 1) * File::wire_size, order, f);
    append(files, content);
    append(files, filler);
    if (filler.empty()) files.resize(round_up(files.size(), sector));
  };
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    if (p->removed[i]) continue;
    const Entry& e = d.entries[i];
    auto f = *load<File>(in, order, sector + i * File::wire_size, in.size(), "files");
    const ByteView content =
        p->replaced[i] != nullptr ? ByteView(*p->replaced[i]) : part(e.offset, e.offset + e.stored);
    if (content.size() > INT32_MAX)
      return fail(Code::cannot_represent, 0, fmt::format("files[{}]", i), "is too large");
    f.size = static_cast<std::int32_t>(content.size());
    const bool kept = content.size() == e.stored;
    const std::uint64_t end = e.offset + e.stored;
    add(f, content, kept ? part(end, round_up(end, sector)) : ByteView{});
    files.resize(round_up(files.size(), sector));
  }
  for (const Edit* e : p->added) {
    File f;
    if (e->name.empty() || e->name.size() > name_size) {
      return fail(
          Code::cannot_represent, 0, "added",
          fmt::format("'{}' does not fit into {} bytes", io::escape_bytes(e->name), name_size));
    }
    if (!select(d, nullptr, io::escape_bytes(e->name)).empty()) {
      return fail(Code::cannot_represent, 0, "added",
                  fmt::format("there is a '{}' already, which the game would find first",
                              io::escape_bytes(e->name)));
    }
    if (e->bytes.size() > INT32_MAX)
      return fail(Code::cannot_represent, 0, "added", "is too large");
    std::copy(e->name.begin(), e->name.end(), f.name.begin());
    f.size = static_cast<std::int32_t>(e->bytes.size());
    add(f, e->bytes, {});
  }
  if (count > most_files) return fail(Code::cannot_represent, 0, "files", "are too many");
  const std::uint64_t begin = data_at(count);
  const std::uint64_t size = begin + files.size();
  if (size > INT32_MAX)
    return fail(Code::cannot_represent, 0, "header.archive_size", "is too large");
  if (static_cast<std::uint64_t>(header.archive_size) == in.size() || count != d.entries.size())
    header.archive_size = static_cast<std::int32_t>(size);
  header.files = static_cast<std::int32_t>(count);
  Bytes out(old.begin(), old.begin() + sector);
  store(out, 0, order, header);
  append(out, directory);
  // Filler after the directory keeps its bytes where it stays filler.
  const std::uint64_t filler = sector + std::max(count, d.entries.size()) * File::wire_size;
  out.resize(static_cast<std::size_t>(filler));
  append(out, part(filler, std::min(begin, data_at(d.entries.size()))));
  out.resize(static_cast<std::size_t>(begin));
  append(out, files);
  // What followed the last file.
  append(out, part(d.parts[0].used, in.size()));
  return Rewritten{std::move(out), {}};
}

constexpr Kind kind{
    .id = "vpp",
    .title = "VPP archive, version 1",
    .games = "Red Faction",
    .extensions = ".vpp",
    .names = {},
    .part = {},
    .hash = {},
    .verified = "1 real file",
    .probe = probe,
    .list = list,
    .read = read,
    .rewrite = rewrite,
};

}  // namespace

const Kind& vpp_kind() { return kind; }

}  // namespace dopesheet::archives
