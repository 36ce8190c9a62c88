#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "cli.hpp"
#include "io/file.hpp"
#include "io/text.hpp"

namespace cli {
namespace {
bool print_failed = false;
std::optional<std::string> print_into;
}  // namespace

int exit_code(Code code) {
  switch (code) {
    case Code::usage:
      return Exit::usage;
    case Code::cannot_read:
      return Exit::cannot_read;
    case Code::truncated:
    case Code::bad_magic:
    case Code::bad_version:
    case Code::bad_value:
    case Code::bad_document:
    case Code::limit:
      return Exit::malformed;
    case Code::cannot_represent:
      return Exit::cannot_represent;
    case Code::cannot_write:
      return Exit::cannot_write;
  }
  return Exit::malformed;
}

Error usage_error(std::string text) { return {Code::usage, 0, {}, std::move(text)}; }

int report_error(const Error& error) {
  const bool on = colours(STDERR_FILENO);
  const std::string text = fmt::format("{} {}\n", paint("dopesheet:", "31", on), to_string(error));
  std::fwrite(text.data(), 1, text.size(), stderr);  // a closed one leaves the exit code
  return exit_code(error.code);
}
int report_error(const Error& error, const Common& common) {
  if (common.json) print_json({{"error", to_report(error)}});
  return report_error(error);
}
Json to_report(const Error& error) {
  return {{"code", name(error.code)},
          {"offset", error.offset},
          {"path", error.path},
          {"text", error.text}};
}
std::string shown(const std::string& path) { return path == "-" ? path : io::escape_bytes(path); }
void print_json(const Json& json) {
  print(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

bool colours(int fd) {
  const char* no = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return isatty(fd) != 0 && (no == nullptr || *no == 0) && term != nullptr &&
         std::string_view(term) != "dumb";
}
std::string paint(std::string_view text, const char* colour, bool on) {
  return on ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

void print(std::string_view text) {
  if (print_into) {
    *print_into += text;
    return;
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) print_failed = true;
}
bool printed_well() { return std::fflush(stdout) == 0 && !print_failed; }

Printed::Printed(const Common& common, const std::string& name) {
  if (common.output.empty() || common.output == "-") return;
  const bool folder = common.output.ends_with('/') || io::is_folder(common.output);
  path_ = folder ? io::join_path(common.output, name + (common.json ? ".json" : ".txt"))
                 : common.output;
  print_into.emplace();
}
int Printed::finish(int code) {
  if (path_.empty()) return code;
  const std::string text = std::move(*print_into);
  print_into.reset();
  const std::string folder = io::folder_of(path_);
  const auto done = (folder.empty() ? Result<void>{} : io::make_folder(folder)).and_then([&] {
    return write_output(path_, text);
  });
  return done ? code : report_error(done.error());
}

Progress::Progress(std::size_t total, bool wanted)
    : total_(total),
      wanted_(wanted && total > 1 && isatty(STDERR_FILENO) != 0),
      start_(std::chrono::steady_clock::now()) {}
void Progress::clear() {
  if (shown_) std::fputs("\r\x1b[K", stderr);
  shown_ = false;
}
void Progress::at(std::size_t done) {
  if (!wanted_ || done == 0 || done == total_) return;
  const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - start_;
  const double left =
      so_far.count() / static_cast<double>(done) * static_cast<double>(total_ - done);
  const std::string text = fmt::format("{} of {}, {:.0f} s left", done, total_, left);
  std::fflush(stdout);
  std::fwrite(text.data(), 1, text.size(), stderr);
  shown_ = true;
}

std::string table(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows) {
  // Width in characters, not bytes, so that names in other scripts line up.
  const auto width = [](const std::string& s) {
    return static_cast<std::size_t>(std::count_if(s.begin(), s.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80;
    }));
  };
  std::vector<std::size_t> widths;
  widths.reserve(columns.size());
  for (const auto& c : columns) widths.push_back(width(c));
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size() && i < widths.size(); ++i)
      widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size() && i < widths.size(); ++i) {
      out += "  " + cells[i];
      if (i + 1 < cells.size()) out.append(widths[i] - width(cells[i]), ' ');
    }
    out += '\n';
  };
  line(columns);
  for (const auto& row : rows) line(row);
  return out;
}

Json number(double v) {
  const std::string s = io::float_text(v);
  return s.find(':') == s.npos ? Json::parse(s) : Json(s);
}
Json number(float v) {
  const std::string s = io::float_text(v);
  return s.find(':') == s.npos ? Json::parse(s) : Json(s);
}

// "bank.bin#WALK_*" is the motions of a bank; a file of the whole name wins.
std::pair<std::string, std::string> split_input(const std::string& path) {
  const auto first = path.find('#');
  if (first == path.npos || first == 0 || io::exists(path)) return {path, {}};
  auto hash = first;
  while (hash != path.npos &&
         (!io::exists(path.substr(0, hash)) || io::is_folder(path.substr(0, hash)))) {
    hash = path.find('#', hash + 1);
  }
  if (hash == path.npos) hash = first;
  return {path.substr(0, hash), path.substr(hash + 1)};
}

Result<std::vector<std::string>> expand_inputs(const Common& common) {
  std::vector<std::string> out;
  for (const std::string& pattern : common.inputs) {
    const auto [base, select] = split_input(pattern);
    auto paths = io::expand_glob(base);
    if (paths.empty())
      return tl::unexpected(Error{Code::cannot_read, 0, {}, "matches no file", pattern});
    for (const std::string& path : paths) {
      if (select.empty()) {
        out.push_back(path);
        continue;
      }
      auto entries = expand_entries(path, select, common);
      if (!entries) return tl::unexpected(entries.error());
      out.insert(out.end(), entries->begin(), entries->end());
    }
  }
  if (std::count(out.begin(), out.end(), "-") > 1) {
    return tl::unexpected(usage_error("standard input can be read once only"));
  }
  return out;
}

Result<Input> read_input(const std::string& path, const Common& common, const Model* model,
                         Identify identify) {
  const auto [file, select] = split_input(path);
  Input in;
  in.path = path;
  in.options.limits = common.limits;
  in.options.name = path == "-" ? "stdin" : io::file_name(file);
  in.options.select = select;
  in.options.settings = common.settings;
  in.options.names = common.names.get();
  in.options.model = model;
  if (identify == Identify::no) {
    auto bytes = io::read_file(file, common.limits);
    if (!bytes) return tl::unexpected(bytes.error());
    in.bytes = std::move(*bytes);
    return in;
  }
  auto archive = open_archive(file, common);
  if (archive && !*archive) {
    auto bytes = io::read_file(file, common.limits);
    if (!bytes) return tl::unexpected(bytes.error());
    in.bytes = std::move(*bytes);
    archive = open_archive(in.bytes, common);
  }
  if (!archive) return tl::unexpected(archive.error());
  if (*archive) {
    if (const auto done = read_entry(in, *archive, select, common, identify); !done)
      return tl::unexpected(done.error());
  } else {
    const auto format = dopesheet::identify(in.bytes);
    if (!format) return tl::unexpected(format.error());
    in.format = *format;
  }
  return in;
}

Result<void> prepare(Common& common) {
  for (const std::string& given : common.set) {
    const auto equals = given.find('=');
    const std::string setting = given.substr(0, equals);
    if (equals == given.npos)
      return tl::unexpected(usage_error(fmt::format("--set {} has no =", shown(given))));
    if (!is_setting(setting)) {
      return tl::unexpected(usage_error(fmt::format(
          "no format has a setting '{}'; formats --settings lists them", shown(setting))));
    }
    common.settings[setting] = given.substr(equals + 1);
  }
  auto names = std::make_shared<Names>();
  for (const std::string& path : common.name_files) {
    const auto done = io::read_file(path, common.limits).and_then([&](const Bytes& text) {
      return names->read(text, common.limits);
    });
    if (!done) {
      Error e = done.error();
      if (e.file.empty()) e.file = path;
      return tl::unexpected(std::move(e));
    }
  }
  if (!common.name_files.empty()) common.names = std::move(names);
  return {};
}

Result<std::optional<Model>> read_skeleton(const Common& common) {
  if (common.skeleton.empty()) return std::optional<Model>{};
  const auto fail = [&](Error e) {
    if (e.file.empty()) e.file = common.skeleton;
    return tl::unexpected(std::move(e));
  };
  const auto in = read_input(common.skeleton, common, nullptr, Identify::yes);
  if (!in) return fail(in.error());
  if (in->format->model == nullptr) {
    return fail(
        {Code::usage, 0, {}, fmt::format("holds no skeleton: it is a {}", in->format->title)});
  }
  auto model = in->format->model(in->bytes, in->options);
  if (!model) return fail(model.error());
  return std::optional<Model>(std::move(*model));
}

int run_inputs(const Common& common, const Model* model, Identify identify,
               const std::function<Result<void>(const Input&, Json& report)>& work) {
  const auto paths = expand_inputs(common);
  if (!paths) return report_error(paths.error(), common);
  Json reports = Json::array();
  std::set<int> codes;
  for (const std::string& path : *paths) {
    Json report;
    report["file"] = shown(path);
    const auto done = read_input(path, common, model, identify).and_then([&](const Input& in) {
      if (in.format != nullptr) report["format"] = in.format->id;
      if (in.archive) report["format"] = in.archive->directory.kind->id;
      return work(in, report);
    });
    if (done) {
      codes.insert(Exit::ok);
    } else {
      Error e = done.error();
      if (e.file.empty()) e.file = path == "-" ? "standard input" : path;
      codes.insert(report_error(e));
      report["error"] = to_report(e);
    }
    reports.push_back(std::move(report));
  }
  if (common.json) print_json(reports.size() == 1 ? reports[0] : reports);
  if (codes.size() == 1) return *codes.begin();
  return codes.count(Exit::ok) != 0 ? Exit::some_failed : *codes.rbegin();
}

Result<Outputs> Outputs::plan(const Common& common, const std::vector<std::string>& inputs,
                              const std::string& extension) {
  Outputs out;
  const bool folder =
      common.output.ends_with('/') || io::is_folder(common.output) || inputs.size() > 1;
  const bool is_file = !common.output.ends_with('/') && !io::is_folder(common.output) &&
                       !io::file_extension(common.output).empty();
  if (folder && (common.output == "-" || common.output.empty() || is_file)) {
    return tl::unexpected(usage_error("several inputs need -o with a folder"));
  }
  out.folder_ = folder;
  std::set<std::string> seen;
  archives::FileNames names;
  for (const std::string& input : inputs) {
    const auto [file, select] = split_input(input);
    std::string stem = input == "-" ? "stdin" : io::file_stem(file);
    if (!select.empty())
      stem = names.add(fmt::format("{}#{}", stem, select));  // whatever an archive says
    out.paths_.push_back(folder ? io::join_path(common.output, stem + extension) : common.output);
    if (!seen.insert(out.paths_.back()).second) {
      return tl::unexpected(
          usage_error(fmt::format("two inputs would be written to {}", out.paths_.back())));
    }
  }
  if (folder) {
    if (auto made = io::make_folder(common.output); !made) return tl::unexpected(made.error());
  }
  return out;
}

Result<void> write_output(const std::string& path, ByteView bytes) {
  return io::write_file(path.empty() ? "-" : path, bytes);
}
Result<void> write_output(const std::string& path, std::string_view text) {
  return write_output(path, ByteView(reinterpret_cast<const std::byte*>(text.data()), text.size()));
}

}  // namespace cli
