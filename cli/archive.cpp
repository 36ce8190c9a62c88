// Inputs that lie in archives, and what `list` and `info` show of an archive.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "cli.hpp"
#include "io/file.hpp"
#include "io/text.hpp"

namespace cli {
namespace {

struct Last {
  std::string file;
  std::shared_ptr<const archives::Opened> archive;
};
Last last;  // entries of one archive are asked for one by one

// The names that the user gave, then the table beside the archive. Without a table, hashes stay hashes.
std::shared_ptr<const Names> names_for(const std::string& file, const archives::Kind& kind,
                                       const Common& common) {
  if (file == "-" || kind.names.empty()) return common.names;
  const std::string table = io::sibling(file, std::string(kind.names));
  const auto text = table.empty() ? Result<Bytes>(Bytes{}) : io::read_file(table, common.limits);
  if (!text || text->empty()) return common.names;
  auto names = common.names ? std::make_shared<Names>(*common.names) : std::make_shared<Names>();
  if (!names->read(*text, common.limits)) return common.names;
  return names;
}

std::string part_of(const archives::Directory& d, const archives::Entry& e) {
  return d.kind->part.empty() ? std::string() : std::to_string(e.part);
}

// "DB:>ACTORS>SPONGE>WALK.TANIM" is shown as a clip of the name WALK.
std::string last_part(const std::string& name) { return name.substr(name.rfind('>') + 1); }

}  // namespace

Result<std::shared_ptr<const archives::Opened>> open_archive(const std::string& file,
                                                             const Common& common) {
  if (last.archive && last.file == file) return last.archive;
  // What is no regular file is read whole, and asked for again below.
  if (file == "-") return std::shared_ptr<const archives::Opened>{};
  const auto source = io::open_file(file);
  if (!source) return std::shared_ptr<const archives::Opened>{};
  const archives::Kind* kind = archives::identify(**source);
  if (kind == nullptr) return std::shared_ptr<const archives::Opened>{};
  auto archive = archives::open(*source, names_for(file, *kind, common));
  if (!archive) return tl::unexpected(archive.error());
  last = {file, *archive};
  return archive;
}

Result<std::shared_ptr<const archives::Opened>> open_archive(const Bytes& bytes,
                                                             const Common& common) {
  if (archives::identify(MemorySource{ByteView(bytes)}) == nullptr)
    return std::shared_ptr<const archives::Opened>{};
  return archives::open(std::make_shared<MemorySource>(bytes), common.names);
}

Result<std::vector<std::string>> expand_entries(const std::string& file, const std::string& select,
                                                const Common& common) {
  std::vector<std::string> as_it_is{file + "#" + select};
  if (common.whole_archives) return as_it_is;
  const auto archive = open_archive(file, common);
  if (!archive || !*archive) return as_it_is;  // a bank, or an error that reading meets again
  const auto found = archives::resolve(*archive, select, common.limits);
  if (!found) {
    Error e = found.error();
    e.file = file;
    return tl::unexpected(std::move(e));
  }
  if (found->size() == 1) return as_it_is;
  std::vector<std::string> out;
  for (const auto& f : *found)
    out.push_back(file + f.path() + (f.rest.empty() ? "" : "#" + f.rest));
  return out;
}

Result<void> read_entry(Input& in, const std::shared_ptr<const archives::Opened>& archive,
                        const std::string& select, const Common& common, Identify identify) {
  const bool whole = identify == Identify::or_archive;
  in.options.select.clear();
  if (select.empty()) {
    if (whole) {
      in.archive = archive;
      return {};
    }
    return tl::unexpected(usage_error(fmt::format("is a {}; name an entry after #, or * for all",
                                                  archive->directory.kind->title)));
  }
  auto found = archives::resolve(archive, select, common.limits);
  if (!found) return tl::unexpected(found.error());
  const auto several = [&]() -> Result<void> {
    if (whole && common.whole_archives) {
      in.archive = archive;
      in.entries = select;
      return {};
    }
    return tl::unexpected(
        usage_error(fmt::format("means {} entries, where one is needed", found->size())));
  };
  if (found->size() != 1) return several();
  const archives::Found& one = found->front();
  const auto& d = one.archive->directory;
  const auto& entry = d.entries[one.entry];
  auto bytes = one.bytes(common.limits);
  if (!bytes) return whole && common.whole_archives ? several() : tl::unexpected(bytes.error());
  in.names = one.archive->names;
  in.options.names = in.names.get();
  in.options.name = last_part(archives::entry_name(d, entry, in.names.get()));
  in.options.select = one.rest;
  // A record without any track does not tell its byte order; its archive does.
  if (d.kind->hash)
    in.options.settings.try_emplace("endian", d.order == std::endian::big ? "big" : "little");
  in.bytes = std::move(*bytes);
  if (one.rest.empty() && whole) {
    const auto inner = archives::open(one, common.limits);
    if (!inner) return tl::unexpected(inner.error());
    if (*inner) {
      in.archive = *inner;
      return {};
    }
  }
  const auto format = dopesheet::identify(in.bytes);
  // `list` shows an entry that is no bank as what the archive says of it.
  if (common.whole_archives && (!format || (*format)->list == nullptr)) return several();
  if (!format) return tl::unexpected(format.error());
  in.format = *format;
  return {};
}

Result<Info> list_archive(const Input& in) {
  Info info;
  const auto& whole = in.archive->directory;
  info.format = whole.kind->id;
  std::vector<archives::Found> found;
  if (in.entries.empty()) {
    for (std::size_t i = 0; i < whole.entries.size(); ++i) found.push_back({in.archive, i, {}});
  } else {
    auto some = archives::resolve(in.archive, in.entries, in.options.limits);
    if (!some) return tl::unexpected(some.error());
    found = std::move(*some);
  }
  const auto& first = found.empty() ? whole : found.front().archive->directory;
  const bool hashed = first.kind->hash.has_value();
  info.columns = {"name"};
  if (hashed) info.columns.insert(info.columns.end(), {"class", "id", "link"});
  info.columns.insert(info.columns.end(), {"size", "stored", "offset"});
  if (!first.kind->part.empty()) info.columns.emplace_back(first.kind->part);
  for (const auto& f : found) {
    const auto& d = f.archive->directory;
    const auto& e = d.entries[f.entry];
    const Names* names = f.archive->names.get();
    Info::Row row{{archives::entry_name(d, e, names)}};
    if (hashed) {
      row.cells.insert(row.cells.end(), {archives::type_name(d, e, names), hash_text(e.id),
                                         e.link == 0 ? "-" : hash_text(e.link)});
    }
    row.cells.insert(row.cells.end(),
                     {std::to_string(e.size), std::to_string(e.stored), std::to_string(e.offset)});
    if (!first.kind->part.empty()) row.cells.push_back(part_of(d, e));
    info.rows.push_back(std::move(row));
  }
  return info;
}

Info archive_info(const Input& in) {
  Info info;
  const auto& d = in.archive->directory;
  info.format = d.kind->id;
  for (const auto& [key, value] : d.facts) info.facts.push_back({key, value});
  info.facts.push_back({"entries", std::to_string(d.entries.size())});
  if (!d.kind->hash) return info;
  struct Sum {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };
  std::map<std::string, Sum> classes;
  std::size_t named = 0;
  for (const auto& e : d.entries) {
    const Names* names = in.archive->names.get();
    auto& sum = classes[archives::type_name(d, e, names)];
    ++sum.entries;
    sum.bytes += e.stored;
    named += archives::entry_name(d, e, names).starts_with('#') ? 0 : 1;
  }
  info.facts.push_back({"names known", fmt::format("{} of {}", named, d.entries.size())});
  info.columns = {"class", "entries", "stored bytes"};
  for (const auto& [name, sum] : classes)
    info.rows.push_back({{name, std::to_string(sum.entries), std::to_string(sum.bytes)}});
  return info;
}

}  // namespace cli
