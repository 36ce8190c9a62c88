// dopesheet build: the JSON of `dump --json` to bytes.
#include <fmt/format.h>

#include "cli.hpp"

namespace cli {

int build(const BuildOptions& build_options) {
  const Common& options = build_options.common;
  const auto paths = expand_inputs(options);
  if (!paths) return report_error(paths.error(), options);
  if (options.output.empty())
    return report_error(usage_error("build needs -o with a file, a folder or -"), options);
  const auto outputs = Outputs::plan(options, *paths, "");  // the documents name their formats
  if (!outputs) return report_error(outputs.error(), options);
  std::size_t i = 0;
  return run_inputs(options, nullptr, Identify::no,
                    [&](const Input& in, Json& report) -> Result<void> {
                      const std::string_view json(reinterpret_cast<const char*>(in.bytes.data()),
                                                  in.bytes.size());
                      const auto format = identify_json(json, options.limits);
                      if (!format) return tl::unexpected(format.error());
                      while ((*paths)[i] != in.path) ++i;
                      const std::string_view extensions = (*format)->extensions;
                      std::string output = outputs->of(i);
                      if (outputs->folder()) output += extensions.substr(0, extensions.find(' '));
                      ReadOptions read_options = in.options;
                      read_options.layout = build_options.layout;
                      const auto bytes = (*format)->from_json(json, read_options);
                      if (!bytes) return tl::unexpected(bytes.error());
                      report["format"] = (*format)->id;
                      report["output"] = shown(output);
                      report["bytes"] = bytes->size();
                      if (options.output == "-") report.clear();
                      return write_output(output, *bytes);
                    });
}

}  // namespace cli
