// dopesheet extract and pack: entries of archives as files, and back.
#include <fmt/format.h>

#include <algorithm>

#include "cli.hpp"
#include "io/file.hpp"
#include "io/text.hpp"

namespace cli {
namespace {

constexpr const char* manifest_name = "manifest.json";

std::vector<archives::Found> all_of(const std::shared_ptr<const archives::Opened>& archive) {
  std::vector<archives::Found> out;
  out.reserve(archive->directory.entries.size());
  for (std::size_t i = 0; i < archive->directory.entries.size(); ++i)
    out.push_back({archive, i, {}});
  return out;
}

// The archive of an input, and the entries that are meant.
struct Target {
  std::shared_ptr<const archives::Opened> archive;
  std::vector<archives::Found> entries;
};
Result<Target> target_of(const std::string& path, const Common& common) {
  auto in = read_input(path, common, nullptr, Identify::or_archive);
  if (in && in->archive && in->entries.empty()) return Target{in->archive, all_of(in->archive)};
  const auto [file, select] = split_input(path);
  const auto opened = open_archive(file, common);
  if (!opened) return tl::unexpected(opened.error());
  if (!*opened || select.empty()) {
    return tl::unexpected(in ? Error{Code::cannot_represent, 0, {}, "is no archive"} : in.error());
  }
  auto found = archives::resolve(*opened, select, common.limits);
  if (!found) return tl::unexpected(found.error());
  for (const auto& f : *found) {
    if (f.archive != found->front().archive)
      return tl::unexpected(usage_error("means entries of several archives"));
    if (!f.rest.empty()) {
      return tl::unexpected(
          usage_error(fmt::format("no archive holds '{}'", io::escape_bytes(f.rest))));
    }
  }
  return Target{found->front().archive, std::move(*found)};
}

Json describe(const archives::Found& f, const std::string& file) {
  const auto& d = f.archive->directory;
  const auto& e = d.entries[f.entry];
  const Names* names = f.archive->names.get();
  Json out;
  out["file"] = file;
  out["entry"] = f.entry;
  out["name"] = archives::entry_name(d, e, names);
  if (d.kind->hash) {
    out["class"] = archives::type_name(d, e, names);
    out["class_id"] = hash_text(e.type);
    out["id"] = hash_text(e.id);
    out["link"] = hash_text(e.link);
  }
  out["size"] = e.size;
  out["offset"] = e.offset;
  return out;
}

Result<void> extract_into(const std::string& folder, const std::string& path, const Common& common,
                          Json& report) {
  const auto target = target_of(path, common);
  if (!target) return tl::unexpected(target.error());
  if (auto made = io::make_folder(folder); !made) return tl::unexpected(made.error());
  const auto& d = target->archive->directory;
  Json manifest;
  manifest["archive"] = shown(path);
  manifest["kind"] = d.kind->id;
  manifest["byte_order"] = d.order == std::endian::big ? "big" : "little";
  manifest["entries"] = Json::array();
  archives::FileNames names;
  const auto write = [&](const std::string& name, ByteView bytes) -> Result<void> {
    const std::string file = io::join_path(folder, name);
    if (io::is_link(file)) {  // it would lead out of the folder
      return tl::unexpected(Error{Code::cannot_write, 0, {}, "is a link", file});
    }
    return write_output(file, bytes);
  };
  for (const auto& f : target->entries) {
    const auto bytes = f.bytes(common.limits);
    if (!bytes) return tl::unexpected(bytes.error());
    const std::string name =
        names.add(archives::entry_name(d, d.entries[f.entry], target->archive->names.get()));
    if (auto done = write(name, *bytes); !done) return done;
    manifest["entries"].push_back(describe(f, name));
  }
  const std::string text = manifest.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  if (auto done =
          write(manifest_name, {reinterpret_cast<const std::byte*>(text.data()), text.size()});
      !done) {
    return done;
  }
  report["folder"] = shown(folder);
  report["entries"] = target->entries.size();
  if (!common.json) print(fmt::format("{}: {} files\n", shown(folder), target->entries.size()));
  return {};
}

Error in_manifest(std::string text) { return {Code::bad_value, 0, manifest_name, std::move(text)}; }

class Packer {
 public:
  Packer(const PackOptions& options, std::shared_ptr<const archives::Opened> archive)
      : options_(options), archive_(std::move(archive)) {}

  Result<void> run(Json& report) {
    if (!options_.from.empty()) {
      if (auto done = take_folder(); !done) return done;
    }
    for (const std::string& s : options_.replace) {
      const auto at = s.rfind('=');
      if (at == s.npos)
        return tl::unexpected(usage_error(fmt::format("--replace {} has no =", shown(s))));
      const auto entry = one(s.substr(0, at));
      if (!entry) return tl::unexpected(entry.error());
      auto bytes = io::read_file(s.substr(at + 1), options_.common.limits);
      if (!bytes) return tl::unexpected(bytes.error());
      edits_.push_back({archives::Edit::What::replace, *entry, {}, std::move(*bytes)});
    }
    for (const std::string& s : options_.remove) {
      for (const std::size_t entry : some(s))
        edits_.push_back({archives::Edit::What::remove, entry, {}, {}});
      if (some(s).empty()) return tl::unexpected(nothing(s));
    }
    for (const std::string& s : options_.add) {
      const auto at = s.rfind('=');
      const std::string file = at == s.npos ? s : s.substr(at + 1);
      auto bytes = io::read_file(file, options_.common.limits);
      if (!bytes) return tl::unexpected(bytes.error());
      edits_.push_back({archives::Edit::What::add, 0,
                        at == s.npos ? io::file_name(file) : s.substr(0, at), std::move(*bytes)});
    }
    const auto out = archives::rewrite(*archive_, edits_, options_.common.limits);
    if (!out) return tl::unexpected(out.error());
    if (auto done = write_output(options_.common.output, out->bytes); !done) return done;
    report["output"] = shown(options_.common.output);
    report["bytes"] = out->bytes.size();
    report["edits"] = edits_.size();
    report["notes"] = out->notes;
    if (options_.common.output != "-" && !options_.common.json) {
      print(fmt::format("{}: {} bytes, {} edits\n", shown(options_.common.output),
                        out->bytes.size(), edits_.size()));
      for (const std::string& note : out->notes) print(fmt::format("  {}\n", note));
    }
    return {};
  }

 private:
  const archives::Directory& directory() const { return archive_->directory; }
  std::vector<std::size_t> some(const std::string& selector) const {
    return archives::select(directory(), archive_->names.get(), selector);
  }
  static Error nothing(const std::string& selector) {
    return usage_error(fmt::format("no entry matches '{}'", shown(selector)));
  }
  Result<std::size_t> one(const std::string& selector) const {
    const auto entries = some(selector);
    if (entries.empty()) return tl::unexpected(nothing(selector));
    if (entries.size() > 1) {
      return tl::unexpected(
          usage_error(fmt::format("'{}' means {} entries", shown(selector), entries.size())));
    }
    return entries[0];
  }

  // The files of extract: those that are no longer the entries' bytes.
  Result<void> take_folder() {
    const std::string path = io::join_path(options_.from, manifest_name);
    const auto text = io::read_file(path, options_.common.limits);
    if (!text) return tl::unexpected(text.error());
    const auto* p = reinterpret_cast<const char*>(text->data());
    const Json manifest = Json::parse(p, p + text->size(), nullptr, false);
    const auto* list =
        manifest.is_object() && manifest.contains("entries") ? &manifest.at("entries") : nullptr;
    if (list == nullptr || !list->is_array())
      return tl::unexpected(in_manifest("is not what extract writes"));
    for (const Json& e : *list) {
      const auto done = take_file(e);
      if (!done) {
        Error error = done.error();
        if (error.file.empty()) error.file = path;
        return tl::unexpected(std::move(error));
      }
    }
    return {};
  }
  Result<void> take_file(const Json& e) {
    const auto text = [&](const char* key) {
      return e.is_object() && e.contains(key) && e.at(key).is_string()
                 ? e.at(key).get<std::string>()
                 : std::string();
    };
    const std::string file = text("file");
    if (!e.is_object() || !e.contains("entry") || !e.at("entry").is_number_unsigned() ||
        file.empty()) {
      return tl::unexpected(in_manifest("an entry has no number or no file"));
    }
    if (file != io::file_name(file) || file == "." || file == ".." ||
        file.find('\\') != file.npos) {
      return tl::unexpected(in_manifest(fmt::format("'{}' is no file of the folder", shown(file))));
    }
    const auto i = e.at("entry").get<std::size_t>();
    const auto& d = directory();
    if (i >= d.entries.size() ||
        (d.kind->hash ? hash_text(d.entries[i].id) != text("id")
                      : archives::entry_name(d, d.entries[i], nullptr) != text("name"))) {
      return tl::unexpected(
          in_manifest(fmt::format("entry {} is not '{}' in this archive", i, shown(text("name")))));
    }
    auto bytes = io::read_file(io::join_path(options_.from, file), options_.common.limits);
    if (!bytes) return tl::unexpected(bytes.error());
    const auto was = d.kind->read(*archive_->source, d, i, options_.common.limits);
    if (was && *was == *bytes) return {};
    edits_.push_back({archives::Edit::What::replace, i, {}, std::move(*bytes)});
    return {};
  }

  const PackOptions& options_;
  std::shared_ptr<const archives::Opened> archive_;
  std::vector<archives::Edit> edits_;
};

// What each input's work reports; the exit code sums up.
template <class Work>
int each_input(const Common& common, const std::vector<std::string>& paths, Work work) {
  Json reports = Json::array();
  std::vector<int> codes;
  for (const std::string& path : paths) {
    Json report;
    report["file"] = shown(path);
    const auto done = work(path, report);
    codes.push_back(Exit::ok);
    if (!done) {
      Error e = done.error();
      if (e.file.empty()) e.file = path == "-" ? "standard input" : path;
      codes.back() = report_error(e);
      report["error"] = to_report(e);
    }
    reports.push_back(std::move(report));
  }
  if (common.json && common.output != "-") print_json(reports.size() == 1 ? reports[0] : reports);
  const auto [least, most] = std::minmax_element(codes.begin(), codes.end());
  return *least == *most ? *least : *least == Exit::ok ? Exit::some_failed : *most;
}

}  // namespace

int extract(Common options) {
  options.whole_archives = true;
  const auto paths = expand_inputs(options);
  if (!paths) return report_error(paths.error(), options);
  if (options.output == "-") return report_error(usage_error("extract needs a folder"), options);
  archives::FileNames folders;  // one for each archive, where there are several
  return each_input(options, *paths, [&](const std::string& path, Json& report) {
    const std::string name =
        folders.add(path == "-" ? "stdin" : io::file_name(split_input(path).first));
    return extract_into(paths->size() == 1 ? options.output : io::join_path(options.output, name),
                        path, options, report);
  });
}

int pack(PackOptions options) {
  options.common.whole_archives = true;
  const auto paths = expand_inputs(options.common);
  if (!paths) return report_error(paths.error(), options.common);
  if (paths->size() != 1)
    return report_error(usage_error("pack takes one archive"), options.common);
  return each_input(
      options.common, *paths, [&](const std::string& path, Json& report) -> Result<void> {
        const auto in = read_input(path, options.common, nullptr, Identify::or_archive);
        if (!in) return tl::unexpected(in.error());
        if (!in->archive || !in->entries.empty())
          return tl::unexpected(Error{Code::cannot_represent, 0, {}, "is no archive"});
        return Packer(options, in->archive).run(report);
      });
}

}  // namespace cli
