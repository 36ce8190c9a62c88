// dopesheet formats: what this build can do.
#include "cli.hpp"

namespace cli {

namespace {

std::string settings_table() {
  std::vector<std::vector<std::string>> rows;
  for (const Format& f : dopesheet::formats()) {
    for (const Setting& s : f.settings) {
      rows.push_back({std::string(f.id), std::string(s.name), std::string(s.values),
                      std::string(s.standard), std::string(s.meaning)});
    }
  }
  return table({"format", "setting", "values", "default", "meaning"}, rows);
}

}  // namespace

int formats(const FormatsOptions& options) {
  Common common;
  common.output = options.output;
  common.json = options.json;
  Printed printed(common, "formats");
  if (options.markdown) {
    print(formats_markdown());
    return printed.finish(Exit::ok);
  }
  if (options.settings && !options.json) {
    print(settings_table());
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
    Json& settings = all.back()["settings"] = Json::array();
    for (const Setting& s : f.settings) {
      settings.push_back({{"name", s.name},
                          {"values", s.values},
                          {"default", s.standard},
                          {"meaning", s.meaning}});
    }
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
