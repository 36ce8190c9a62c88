// IPAC packages, alone or inside .PKS and .PKF. Game: Shenmue.
//
// A header of 16 bytes, the files, and a dictionary of their names, types, offsets and sizes; offsets count
// from the IPAC. Facts: ShenmueDK, the translation pack; none was run on here.
#include <fmt/format.h>

#include "archives/splice.hpp"
#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

constexpr auto order = std::endian::little;
constexpr std::uint32_t ipac = 0x43415049, paks = 0x534B4150, pakf = 0x464B4150;
constexpr std::uint64_t unit = 32;

struct Header {
  std::uint32_t magic = 0, dictionary = 0, files = 0;
  std::uint32_t content_size = 0;  // sources do not agree on what it counts

  static constexpr std::size_t wire_size = 16;
  static constexpr void fields(auto& ar, auto& v) {
    ar("magic", v.magic);
    ar("dictionary", v.dictionary);
    ar("files", v.files);
    ar("content_size", v.content_size);
  }
};
static_assert(io::complete<Header>);

struct File {
  std::array<char, 8> name{};
  std::array<char, 4> type{};
  std::uint32_t offset = 0, size = 0;

  static constexpr std::size_t wire_size = 20;
  static constexpr void fields(auto& ar, auto& v) {
    ar("name", v.name);
    ar("type", v.type);
    ar("offset", v.offset);
    ar("size", v.size);
  }
};
static_assert(io::complete<File>);

std::uint32_t word(const Source& in, std::uint64_t at) {
  const auto w = load<U32>(in, order, at, in.size(), "");
  return w ? w->value : 0;
}
bool probe(const Source& in) {
  const std::uint32_t magic = word(in, 0);
  return magic == ipac || magic == paks || magic == pakf;
}
// Where the IPAC begins; nothing where there is none.
std::optional<std::uint64_t> base_of(const Source& in) {
  const std::uint32_t magic = word(in, 0);
  if (magic == ipac) return 0;
  // Both keep it in the second word; of PKS one source reads it right after the header.
  for (const std::uint64_t at : {std::uint64_t{word(in, 4)}, std::uint64_t{16}}) {
    if (at >= 16 && word(in, at) == ipac) return at;
    if (magic == pakf) break;
  }
  return std::nullopt;
}

Result<Directory> list(const Source& in) {
  if (!probe(in)) return fail(Code::bad_magic, 0, {}, "is no IPAC package");
  Directory d;
  d.kind = &ipac_kind();
  const std::uint32_t magic = word(in, 0);
  d.facts = {{"package", magic == paks ? "PKS" : magic == pakf ? "PKF" : "IPAC"}};
  d.parts = {{0, in.size(), in.size(), 0, 0}};
  const auto base = base_of(in);
  if (!base) {
    if (magic == pakf) return d;  // textures alone, in chunks
    return fail(Code::bad_value, 4, "ipac", "there is no IPAC where the package says");
  }
  const auto h = load<Header>(in, order, *base, in.size(), "ipac");
  if (!h) return tl::unexpected(h.error());
  const std::uint64_t at = *base + h->dictionary;
  if (at > in.size() || h->files > (in.size() - at) / File::wire_size || h->files > max_entries) {
    return fail(Code::bad_value, *base + 4, "ipac.files",
                fmt::format("{} files listed at {} are not in the package", h->files, at));
  }
  for (std::uint32_t i = 0; i < h->files; ++i) {
    const std::uint64_t said_at = at + std::uint64_t{i} * File::wire_size;
    const auto f = load<File>(in, order, said_at, in.size(), "ipac");
    if (!f) return tl::unexpected(f.error());
    const std::uint64_t begin = *base + f->offset;
    if (begin > in.size() || f->size > in.size() - begin) {
      return fail(Code::bad_value, said_at + 12, fmt::format("ipac.files[{}]", i),
                  fmt::format("{} bytes at {} are not in the package", f->size, begin));
    }
    const auto text = [](std::string_view s) { return std::string(io::until_zero(s)); };
    Entry e;
    e.name = text({f->name.data(), 8});
    if (const auto type = text({f->type.data(), 4}); !type.empty()) e.name += "." + type;
    e.offset = begin;
    e.stored = e.size = f->size;
    d.entries.push_back(std::move(e));
  }
  d.parts[0].count = d.entries.size();
  return d;
}

Result<Bytes> read(const Source& in, const Directory& d, std::size_t entry, const Limits& limits) {
  return read_bytes(in, d.entries[entry].offset, d.entries[entry].stored, limits);
}

// "NAME.TYPE", at most 8 and 4 bytes.
Result<File> file_of(const std::string& name) {
  File f;
  const auto dot = name.rfind('.');
  const std::string stem = name.substr(0, dot);
  const std::string type = dot == name.npos ? std::string() : name.substr(dot + 1);
  if (stem.size() > f.name.size() || type.size() > f.type.size()) {
    return fail(Code::cannot_represent, 0, "added",
                fmt::format("'{}' is no name of 8 bytes with a type of 4", io::escape_bytes(name)));
  }
  std::copy(stem.begin(), stem.end(), f.name.begin());
  std::copy(type.begin(), type.end(), f.type.begin());
  return f;
}

Result<Rewritten> rewrite(const Source& in, const Directory& d, std::span<const Edit> edits,
                          const Limits& limits) {
  const auto p = plan(d, edits);
  if (!p) return tl::unexpected(p.error());
  const auto whole = read_bytes(in, 0, in.size(), limits);
  if (!whole || edits.empty()) return whole.map([](const Bytes& b) { return Rewritten{b, {}}; });
  const auto base = base_of(in);
  if (!base) return fail(Code::cannot_represent, 0, {}, "a package without IPAC has no files");
  Header h = *load<Header>(in, order, *base, in.size(), "ipac");
  const std::uint64_t at = *base + h.dictionary, old_size = h.files * File::wire_size;
  if (h.dictionary < Header::wire_size)
    return fail(Code::cannot_represent, *base + 4, "ipac", "the dictionary is inside the header");
  std::uint64_t data_end = *base + Header::wire_size;
  for (const Entry& e : d.entries) data_end = std::max(data_end, e.offset + e.stored);
  if (const auto free = is_free(d, at, old_size); !free) return tl::unexpected(free.error());
  Splices splices;
  if (auto done = splice_entries(splices, *whole, d, *p, {at, *base, in.size()},
                                 *base + Header::wire_size, unit, false);
      !done)
    return tl::unexpected(done.error());

  // What is added goes before the dictionary, where that is last.
  const std::uint64_t add_at = at >= data_end ? at : in.size();
  const auto removed = std::count(p->removed.begin(), p->removed.end(), true);
  const std::uint64_t new_size =
      old_size + (p->added.size() - static_cast<std::size_t>(removed)) * File::wire_size;
  const std::uint64_t added_at = splices.inserted(add_at) + (at < add_at ? new_size - old_size : 0);
  Bytes added;
  if (!p->added.empty()) added.resize(round_up(added_at - *base, unit) - (added_at - *base));
  std::vector<File> files;
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    if (p->removed[i]) continue;
    File f = *load<File>(in, order, at + i * File::wire_size, in.size(), "ipac");
    if (p->replaced[i] != nullptr) f.size = static_cast<std::uint32_t>(p->replaced[i]->size());
    files.push_back(f);
  }
  const std::size_t kept = files.size();
  for (const Edit* e : p->added) {
    auto f = file_of(e->name);
    if (!f) return tl::unexpected(f.error());
    f->offset = static_cast<std::uint32_t>(added_at + added.size() - *base);
    f->size = static_cast<std::uint32_t>(e->bytes.size());
    append(added, e->bytes);
    added.resize(round_up(added.size(), unit));
    files.push_back(*f);
  }
  if (!added.empty()) splices.add(add_at, 0, added);
  splices.add(at, old_size, Bytes(files.size() * File::wire_size));
  for (std::size_t i = 0; i < kept; ++i) {
    files[i].offset = static_cast<std::uint32_t>(splices.moved(*base + files[i].offset) - *base);
  }
  // An empty dictionary has no start that could move with it.
  const std::uint64_t new_at =
      splices.moved(at) - (old_size == 0 ? files.size() * File::wire_size : 0);
  auto applied = splices.apply(*whole);
  if (!applied) return tl::unexpected(applied.error());
  Bytes& out = *applied;
  if (out.size() > UINT32_MAX) return fail(Code::cannot_represent, 0, {}, "becomes too large");
  for (std::size_t i = 0; i < files.size(); ++i)
    store(out, static_cast<std::size_t>(new_at) + i * File::wire_size, order, files[i]);
  const bool counts_all = h.content_size == h.dictionary + old_size;
  const auto before = h.dictionary;
  h.dictionary = static_cast<std::uint32_t>(new_at - *base);
  h.files = static_cast<std::uint32_t>(files.size());
  h.content_size = counts_all
                       ? static_cast<std::uint32_t>(h.dictionary + files.size() * File::wire_size)
                       : h.content_size + (h.dictionary - before);
  store(out, static_cast<std::size_t>(*base), order, h);
  return Rewritten{std::move(out), {}};
}

constexpr Kind kind{
    .id = "ipac",
    .title = "IPAC package",
    .games = "Shenmue",
    .extensions = ".pks .pkf .ipac",
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

const Kind& ipac_kind() { return kind; }

}  // namespace dopesheet::archives
