// dopesheet formats: what this build can do.
#include "cli.hpp"

namespace cli {

int formats(const FormatsOptions& options) {
  Common common;
  common.output = options.output;
  common.json = options.json;
  Printed printed(common, "formats");
  if (options.markdown) {
    print(formats_markdown());
    return printed.finish(Exit::ok);
  }
  Json all = Json::array();
  std::vector<std::vector<std::string>> rows;
  for (const Format& f : dopesheet::formats()) {
    const std::string out = f.clips != nullptr ? "glTF, JSON, CSV" : "glTF";
    all.push_back({{"id", f.id},
                   {"title", f.title},
                   {"games", f.games},
                   {"extensions", f.extensions},
                   {"holds", f.holds},
                   {"evaluation", f.evaluation},
                   {"export", out},
                   {"verified", f.verified}});
    rows.push_back({std::string(f.id), std::string(f.title), std::string(f.games),
                    std::string(f.extensions), std::string(f.evaluation), out});
  }
  if (options.json) {
    print(all.dump(2) + "\n");
  } else {
    print(table({"id", "format", "games", "files", "evaluation", "export"}, rows));
  }
  return printed.finish(Exit::ok);
}

}  // namespace cli
