// The command line. The only source that knows the parser.
#include <CLI/CLI.hpp>
#include <cmath>
#include <csignal>
#include <thread>

#include "cli.hpp"

namespace {

constexpr const char* exit_codes =
    "Exit codes: 0 ok, 1 usage, 2 cannot read, 3 malformed input or findings of level error,\n"
    "4 cannot represent, 5 cannot write, 6 some of several inputs failed.";

// CLI::PositiveNumber lets nan through.
const CLI::Validator finite_number(
    [](std::string& text) -> std::string {
      double v = 0;
      return CLI::detail::lexical_cast(text, v) && std::isfinite(v) ? "" : "needs a finite number";
    },
    "FINITE");
const CLI::Validator above_zero(
    [](std::string& text) -> std::string {
      double v = 0;
      return CLI::detail::lexical_cast(text, v) && std::isfinite(v) && v > 0
                 ? ""
                 : "needs a number above 0";
    },
    "POSITIVE");

void add_common(CLI::App& verb, cli::Common& c, bool skeleton) {
  verb.add_option("input", c.inputs, "Files, patterns with * ? **, or - for standard input")
      ->required();
  verb.add_flag("--json", c.json, "Print JSON");
  verb.add_option("--limit-bytes", c.limits.bytes, "Refuse larger inputs")->capture_default_str();
  verb.add_option("--set", c.set,
                  "NAME=VALUE: a choice that a format leaves open; formats --settings lists them");
  verb.add_option(
      "--names", c.name_files,
      "Files with names, for formats that keep only hashes: .NGC and its like, or one a line");
  const auto shortcut = [&](const char* option, const char* setting, const char* help) {
    verb.add_option_function<std::string>(
        option,
        [&c, setting](const std::string& value) {
          c.set.push_back(std::string(setting) + "=" + value);
        },
        help);
  };
  shortcut("--endian", "endian", "Byte order where the file does not say it: auto, little, big");
  if (skeleton) {
    shortcut("--ik", "ik", "Of Shenmue: solve (a skeleton that just plays), targets, or both");
    verb.add_option("-s,--skeleton", c.skeleton,
                    "The character's mesh: names, parents and rest pose of the bones");
  }
}
void add_output(CLI::App& verb, cli::Common& c) {
  verb.add_option("-o,--output", c.output, "File, folder, or - for standard output");
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is a write error like any other

  CLI::App app{"dopesheet: keyframe animation of old games, exactly"};
  app.set_version_flag("--version", std::string("dopesheet ") + DOPESHEET_VERSION);
  app.require_subcommand(1);
  app.footer(std::string("dopesheet VERB --help shows an example.\n") + exit_codes);

  cli::Common info, dump, list;
  cli::BuildOptions build;
  cli::CheckOptions check;
  cli::ConvertOptions convert;
  cli::SampleOptions sample;
  cli::EditOptions edit;
  cli::FormatsOptions formats;
  cli::Common extract;
  cli::PackOptions pack;

  auto* v_info = app.add_subcommand("info", "What a file holds");
  add_common(*v_info, info, true);
  add_output(*v_info, info);
  v_info->footer("Example: dopesheet info walk.rfa --skeleton miner.v3c");

  auto* v_list = app.add_subcommand("list", "What an archive or a bank holds");
  add_common(*v_list, list, false);
  add_output(*v_list, list);
  v_list->footer("Example: dopesheet list 'motion.bin#AKI_*'; dopesheet list 'sample.dgc#*WALK*'");

  auto* v_dump = app.add_subcommand(
      "dump", "Every field with its offset; with --json the document that build reads");
  add_common(*v_dump, dump, false);
  add_output(*v_dump, dump);
  v_dump->footer("Example: dopesheet dump --json walk.rfa -o walk.json");

  auto* v_build = app.add_subcommand("build", "The JSON of dump --json to bytes");
  add_common(*v_build, build.common, false);
  add_output(*v_build, build.common);
  v_build->add_flag("--layout", build.layout,
                    "Recompute lengths and offsets, in the original order");
  v_build->footer("Example: dopesheet build walk.json -o walk.rfa");

  auto* v_check = app.add_subcommand("check", "What the game would trip over");
  add_common(*v_check, check.common, true);
  add_output(*v_check, check.common);
  v_check->add_flag("--strict", check.strict, "Warnings count as errors");
  v_check->add_option("--level", check.level, "The least level that is shown: note, warning, error")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, dopesheet::Level>{{"note", dopesheet::Level::note},
                                                  {"warning", dopesheet::Level::warning},
                                                  {"error", dopesheet::Level::error}}));
  v_check->footer("Example: dopesheet check *.rfa --skeleton miner.v3c");

  auto* v_convert = app.add_subcommand("convert", "To glTF, or to poses as JSON or CSV");
  add_common(*v_convert, convert.common, true);
  add_output(*v_convert, convert.common);
  v_convert->add_option("--to", convert.to,
                        "glb, gltf, json, csv, or the input's own format; else from -o");
  v_convert->add_option("--fps", convert.fps, "Poses a second, for JSON and CSV")
      ->check(above_zero);
  v_convert
      ->add_option("--tolerance-mm", convert.max_mm, "Error that baking may add, in object space")
      ->check(above_zero)
      ->capture_default_str();
  v_convert
      ->add_option("--tolerance-deg", convert.max_degrees, "Error that baking may add, degrees")
      ->check(above_zero)
      ->capture_default_str();
  v_convert->add_option("--bake-rate", convert.bake_rate, "Bake at this many keys a second instead")
      ->check(above_zero);
  convert.jobs = std::max(1U, std::thread::hardware_concurrency());
  v_convert->add_option("-j,--jobs", convert.jobs, "Threads; the result is the same for any number")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  v_convert
      ->add_option("--visibility", convert.visibility,
                   "How glTF hides a node: by a scale of 0, or by KHR_node_visibility")
      ->check(CLI::IsMember({"scale", "extension"}))
      ->capture_default_str();
  v_convert->footer(
      "Example: dopesheet convert walk.rfa run.rfa --skeleton miner.v3c -o miner.glb\n"
      "Several inputs and a folder make one file each; several inputs and a .glb make one file.");

  auto* v_edit = app.add_subcommand("edit", "Change the motions of a bank");
  add_common(*v_edit, edit.common, false);
  add_output(*v_edit, edit.common);
  v_edit->add_option("--replace", edit.replace, "MOTION=BANK#MOTION: other movement, same name");
  v_edit->add_option("--rename", edit.rename, "MOTION=NAME");
  v_edit->add_option("--move", edit.move, "MOTION=PLACE, a number from 1; links follow");
  v_edit->add_option("--remove", edit.remove, "MOTION, with * and ?");
  v_edit->add_option("--add", edit.add, "BANK#MOTION or BANK#MOTION=NAME, at the end");
  v_edit->add_option("--merge", edit.merge, "BANK: all its motions whose names are new");
  v_edit->footer(
      "Motions by name or by id; ids are those of the input. Changes happen in the order above.\n"
      "Example: dopesheet edit motion.bin --replace 'WALK_L=mine.bin#STROLL' -o new.bin");

  auto* v_sample = app.add_subcommand("sample", "Poses at times");
  add_common(*v_sample, sample.common, true);
  add_output(*v_sample, sample.common);
  v_sample->add_option("--fps", sample.fps, "Poses a second; else the clip's own rate")
      ->check(above_zero);
  v_sample->add_option("--times", sample.times, "These times instead, in seconds")
      ->delimiter(',')
      ->check(finite_number);
  v_sample->add_flag("--exact", sample.exact, "As the game's integers compute it; else smooth");
  std::string space = "game";
  v_sample
      ->add_option("--space", space, "game: as stored; gltf: right-handed, as convert writes it")
      ->check(CLI::IsMember({"game", "gltf"}))
      ->capture_default_str();
  v_sample->footer("Example: dopesheet sample walk.rfa --skeleton miner.v3c --fps 30 -o walk.csv");

  auto* v_extract = app.add_subcommand("extract", "The entries of an archive, as files");
  add_common(*v_extract, extract, false);
  v_extract->add_option("-o,--output", extract.output, "Folder")->required();
  v_extract->footer(
      "Example: dopesheet extract 'sample.dgc#*@ANIMATION' -o clips\n"
      "Names are made safe; manifest.json in the folder says which entry each file is.");

  auto* v_pack =
      app.add_subcommand("pack", "An archive again, with entries replaced, added, removed");
  add_common(*v_pack, pack.common, false);
  v_pack->add_option("-o,--output", pack.common.output, "File, or - for standard output")
      ->required();
  v_pack->add_option("--from", pack.from,
                     "A folder that extract wrote: its files that differ are replaced");
  v_pack->add_option("--replace", pack.replace, "ENTRY=FILE")->allow_extra_args(false);
  v_pack->add_option("--add", pack.add, "FILE, or NAME=FILE where the archive keeps names")
      ->allow_extra_args(false);
  v_pack->add_option("--remove", pack.remove, "ENTRY")->allow_extra_args(false);
  v_pack->footer("Example: dopesheet pack sample.dgc --from clips -o new.dgc");

  auto* v_formats = app.add_subcommand("formats", "What this build supports");
  v_formats->add_option("-o,--output", formats.output, "File, or - for standard output");
  v_formats->add_flag("--json", formats.json, "Print JSON");
  v_formats->add_flag("--settings", formats.settings, "What --set can say, format by format");
  v_formats->add_flag("--markdown", formats.markdown, "Print the table of the README");
  v_formats->footer("Example: dopesheet formats --markdown");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? cli::Exit::ok : cli::Exit::usage;
  }
  sample.gltf_space = space == "gltf";
  for (cli::Common* c : {&info, &dump, &list, &build.common, &check.common, &convert.common,
                         &sample.common, &edit.common, &extract, &pack.common}) {
    if (const auto ready = cli::prepare(*c); !ready) return cli::report_error(ready.error(), *c);
  }

  int code = cli::Exit::ok;
  if (v_info->parsed()) code = cli::info(info);
  if (v_list->parsed()) code = cli::list(list);
  if (v_dump->parsed()) code = cli::dump(dump);
  if (v_build->parsed()) code = cli::build(build);
  if (v_check->parsed()) code = cli::check(check);
  if (v_convert->parsed()) code = cli::convert(convert);
  if (v_sample->parsed()) code = cli::sample(sample);
  if (v_extract->parsed()) code = cli::extract(extract);
  if (v_pack->parsed()) code = cli::pack(pack);
  if (v_edit->parsed()) code = cli::edit(edit);
  if (v_formats->parsed()) code = cli::formats(formats);
  if (!cli::printed_well()) {
    return cli::report_error(
        {dopesheet::Code::cannot_write, 0, {}, "standard output is closed or full"});
  }
  return code;
}
