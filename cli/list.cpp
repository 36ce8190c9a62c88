// dopesheet list: what an archive or a bank holds.
#include <fmt/format.h>

#include "cli.hpp"

namespace cli {

int list(Common options) {
  options.whole_archives = true;
  Printed printed(options, "list");
  const int code = run_inputs(
      options, nullptr, Identify::or_archive, [&](const Input& in, Json& report) -> Result<void> {
        if (!in.archive && in.format->list == nullptr) {
          return tl::unexpected(Error{Code::cannot_represent,
                                      0,
                                      {},
                                      fmt::format("a {} is no archive or bank", in.format->title)});
        }
        const auto info = in.archive ? list_archive(in) : in.format->list(in.bytes, in.options);
        if (!info) return tl::unexpected(info.error());
        report["columns"] = info->columns;
        report["rows"] = Json::array();
        std::vector<std::vector<std::string>> rows;
        for (const auto& row : info->rows) {
          rows.push_back(row.cells);
          report["rows"].push_back(row.cells);
        }
        if (!options.json) print(table(info->columns, rows));
        return {};
      });
  return printed.finish(code);
}

}  // namespace cli
