// dopesheet check: what the game would trip over.
#include <fmt/format.h>
#include <unistd.h>

#include "cli.hpp"

namespace cli {

int check(const CheckOptions& options) {
  const auto model = read_skeleton(options.common);
  if (!model) return report_error(model.error());
  std::array<std::size_t, 3> counts{};
  std::size_t files = 0, bad = 0;
  Printed printed(options.common, "check");
  const bool on = colours(STDOUT_FILENO) && options.common.output.empty();
  const int code = run_inputs(
      options.common, *model ? &**model : nullptr, Identify::yes,
      [&](const Input& in, Json& report) -> Result<void> {
        const auto findings = in.format->check(in.bytes, in.options);
        if (!findings) return tl::unexpected(findings.error());
        const auto info = in.format->info(in.bytes, in.options);
        if (info) {
          for (const Fact& f : info->facts) report["facts"][f.key] = f.value;
        }
        report["findings"] = Json::array();
        ++files;
        bool failed = false;
        for (const Finding& f : *findings) {
          ++counts[static_cast<std::size_t>(f.level)];
          failed =
              failed || f.level == Level::error || (options.strict && f.level == Level::warning);
          if (f.level < options.level) continue;
          report["findings"].push_back(
              {{"code", f.code}, {"level", name(f.level)}, {"path", f.path}, {"text", f.text}});
          if (options.common.json) continue;
          const char* colour = f.level == Level::error     ? "31"
                               : f.level == Level::warning ? "33"
                                                           : "36";
          print(fmt::format("{}: {} {}: {}{}{}\n", in.path == "-" ? in.options.name : in.path,
                            paint(name(f.level), colour, on), f.code, f.path,
                            f.path.empty() ? "" : ": ", f.text));
        }
        bad += failed;
        return {};
      });
  if (!options.common.json) {
    print(fmt::format("{} checked: {} errors, {} warnings, {} notes\n",
                      files == 1 ? "1 file" : fmt::format("{} files", files), counts[2], counts[1],
                      counts[0]));
  }
  return printed.finish(code == Exit::ok && bad > 0 ? Exit::malformed : code);
}

}  // namespace cli
