// dopesheet dump: every field, as text with offsets or as the JSON that `build` reads.
#include "cli.hpp"

namespace cli {

int dump(const Common& options) {
  const auto paths = expand_inputs(options);
  if (!paths) return report_error(paths.error());
  std::optional<Outputs> outputs;
  if (!options.output.empty() && options.output != "-") {
    auto plan = Outputs::plan(options, *paths, options.json ? ".json" : ".txt");
    if (!plan) return report_error(plan.error());
    outputs = std::move(*plan);
  } else if (options.json && paths->size() > 1) {
    return report_error(usage_error("several documents need -o with a folder"));
  }
  Common quiet = options;
  quiet.json = false;  // the document itself is the JSON
  std::size_t i = 0;
  return run_inputs(quiet, nullptr, Identify::yes, [&](const Input& in, Json&) -> Result<void> {
    while (outputs && (*paths)[i] != in.path) ++i;  // inputs that failed to read were passed over
    auto text = options.json ? in.format->to_json(in.bytes, in.options)
                             : in.format->dump(in.bytes, in.options);
    if (!text) return tl::unexpected(text.error());
    if (!text->ends_with('\n')) *text += '\n';
    if (outputs) return write_output(outputs->of(i), *text);
    print(*text);
    return {};
  });
}

}  // namespace cli
