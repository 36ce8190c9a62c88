// dopesheet edit: replace, add, remove, rename, move and merge the motions of a bank.
#include <fmt/format.h>

#include "cli.hpp"
#include "io/text.hpp"

namespace cli {
namespace {

// "LEFT=RIGHT"; the right side may be missing where `needs_both` is not asked for.
Result<std::pair<std::string, std::string>> sides(const std::string& given, bool needs_both) {
  const auto equals = given.find('=');
  if (equals == given.npos && needs_both)
    return tl::unexpected(usage_error(fmt::format("'{}' has no =", shown(given))));
  if (equals == given.npos) return std::pair(given, std::string());
  return std::pair(given.substr(0, equals), given.substr(equals + 1));
}

// The edits as the library takes them, and the bytes of the banks that they name.
struct Edits {
  std::vector<Edit> list;
  std::vector<std::unique_ptr<Input>> banks;

  Result<void> with(Edit edit, const std::string& path, const Common& common) {
    auto in = read_input(path, common, nullptr, Identify::yes);
    if (!in) {
      Error e = in.error();
      if (e.file.empty()) e.file = path;
      return tl::unexpected(std::move(e));
    }
    if (in->format->edit == nullptr) {
      return tl::unexpected(
          Error{Code::usage, 0, {}, fmt::format("is no bank but a {}", in->format->title), path});
    }
    banks.push_back(std::make_unique<Input>(std::move(*in)));
    edit.with = banks.back()->bytes;
    edit.with_motion = banks.back()->options.select;
    list.push_back(std::move(edit));
    return {};
  }
};

Result<Edits> edits_of(const EditOptions& o) {
  using Kind = Edit::Kind;
  Edits out;
  for (const std::string& given : o.replace) {
    const auto s = sides(given, true);
    if (!s) return tl::unexpected(s.error());
    if (auto r = out.with({Kind::replace, s->first, {}, {}, {}}, s->second, o.common); !r)
      return tl::unexpected(r.error());
  }
  for (const auto& [kind, list] : {std::pair{Kind::rename, &o.rename}, {Kind::move, &o.move}}) {
    for (const std::string& given : *list) {
      const auto s = sides(given, true);
      if (!s) return tl::unexpected(s.error());
      out.list.push_back({kind, s->first, s->second, {}, {}});
    }
  }
  for (const std::string& given : o.remove) out.list.push_back({Kind::remove, given, {}, {}, {}});
  for (const std::string& given : o.add) {
    const auto s = sides(given, false);
    if (!s) return tl::unexpected(s.error());
    if (auto r = out.with({Kind::add, {}, s->second, {}, {}}, s->first, o.common); !r)
      return tl::unexpected(r.error());
  }
  for (const std::string& given : o.merge) {
    if (auto r = out.with({Kind::merge, {}, {}, {}, {}}, given, o.common); !r)
      return tl::unexpected(r.error());
  }
  return out;
}

}  // namespace

int edit(const EditOptions& options) {
  const Common& common = options.common;
  if (common.output.empty())
    return report_error(usage_error("edit needs -o with a file or -"), common);
  if (common.inputs.size() != 1) return report_error(usage_error("edit takes one bank"), common);
  const auto edits = edits_of(options);
  if (!edits) return report_error(edits.error(), common);
  Common quiet = common;
  if (common.output == "-") quiet.json = false;
  return run_inputs(
      quiet, nullptr, Identify::yes, [&](const Input& in, Json& report) -> Result<void> {
        if (in.format->edit == nullptr) {
          return tl::unexpected(
              Error{Code::usage, 0, {}, fmt::format("is no bank but a {}", in.format->title)});
        }
        const auto edited = in.format->edit(in.bytes, in.options, edits->list);
        if (!edited) return tl::unexpected(edited.error());
        if (auto r = write_output(common.output, edited->bytes); !r) return r;
        report["output"] = shown(common.output);
        report["bytes"] = edited->bytes.size();
        report["identical"] = edited->bytes == in.bytes;
        report["losses"] = Json::array();
        std::string text = fmt::format("{}: {} bytes{}\n", common.output, edited->bytes.size(),
                                       edited->bytes == in.bytes ? ", as before" : "");
        for (const Loss& l : edited->losses) {
          report["losses"].push_back({{"path", l.path}, {"text", l.text}});
          text += fmt::format("  {}: {}\n", io::escape_bytes(l.path), l.text);
        }
        if (!quiet.json && common.output != "-") print(text);
        return {};
      });
}

}  // namespace cli
