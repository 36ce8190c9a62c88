// dopesheet info: what a file holds.
#include <fmt/format.h>

#include "cli.hpp"

namespace cli {

int info(const Common& options) {
  const auto model = read_skeleton(options);
  if (!model) return report_error(model.error());
  bool first = true;
  Printed printed(options, "info");
  const int code = run_inputs(
      options, *model ? &**model : nullptr, Identify::or_archive,
      [&](const Input& in, Json& report) -> Result<void> {
        const Result<Info> info =
            in.archive ? archive_info(in) : in.format->info(in.bytes, in.options);
        if (!info) return tl::unexpected(info.error());
        const std::uint64_t size = in.archive ? in.archive->source->size() : in.bytes.size();
        report["bytes"] = size;
        for (const Fact& f : info->facts) report["facts"][f.key] = f.value;
        report["columns"] = info->columns;
        report["rows"] = Json::array();
        for (const auto& row : info->rows) report["rows"].push_back(row.cells);
        if (options.json) return {};
        std::string text = first ? "" : "\n";
        first = false;
        text +=
            fmt::format("{}: {}, {} bytes\n", in.path == "-" ? in.options.name : in.path,
                        in.archive ? in.archive->directory.kind->title : in.format->title, size);
        for (const Fact& f : info->facts) text += fmt::format("  {:<18} {}\n", f.key, f.value);
        std::vector<std::vector<std::string>> rows;
        for (const auto& row : info->rows) rows.push_back(row.cells);
        if (!rows.empty()) text += "\n" + table(info->columns, rows);
        print(text);
        return {};
      });
  return printed.finish(code);
}

}  // namespace cli
