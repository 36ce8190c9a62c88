// dopesheet build: the JSON of `dump --json` to bytes.
#include <fmt/format.h>

#include "cli.hpp"

namespace cli {

int build(const BuildOptions& build_options) {
  const Common& options = build_options.common;
  const auto paths = expand_inputs(options);
  if (!paths) return report_error(paths.error());
  if (options.output.empty())
    return report_error(usage_error("build needs -o with a file, a folder or -"));
  std::size_t i = 0;
  std::optional<Outputs> outputs;
  return run_inputs(
      options, nullptr, Identify::no, [&](const Input& in, Json& report) -> Result<void> {
        const std::string_view json(reinterpret_cast<const char*>(in.bytes.data()),
                                    in.bytes.size());
        const auto format = identify_json(json, options.limits);
        if (!format) return tl::unexpected(format.error());
        if (!outputs) {
          const std::string_view extensions = (*format)->extensions;
          auto plan = Outputs::plan(options, *paths,
                                    std::string(extensions.substr(0, extensions.find(' '))));
          if (!plan) return tl::unexpected(plan.error());
          outputs = std::move(*plan);
        }
        while ((*paths)[i] != in.path) ++i;
        ReadOptions read_options = in.options;
        read_options.layout = build_options.layout;
        const auto bytes = (*format)->from_json(json, read_options);
        if (!bytes) return tl::unexpected(bytes.error());
        report["format"] = (*format)->id;
        report["output"] = outputs->of(i);
        report["bytes"] = bytes->size();
        if (options.output == "-") report.clear();
        return write_output(outputs->of(i), *bytes);
      });
}

}  // namespace cli
