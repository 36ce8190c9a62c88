// What the verbs of the tool share.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dopesheet/dopesheet.hpp"

namespace cli {

using namespace dopesheet;  // the tool is made of the library
using Json = nlohmann::ordered_json;

enum Exit : int {
  ok = 0,
  usage = 1,
  cannot_read = 2,
  malformed = 3,
  cannot_represent = 4,
  cannot_write = 5,
  some_failed = 6,
};
int exit_code(Code code);

// Options that every verb has.
struct Common {
  std::vector<std::string> inputs;  // as typed; patterns are expanded by run_inputs
  std::string output;               // file, folder, "-" or empty
  std::string skeleton;             // the character's mesh, or empty
  bool json = false;
  std::vector<std::string> set;         // name=value, as typed
  std::vector<std::string> name_files;  // files of names
  bool whole_archives = false;  // "a.dgc#*" is one input with several entries, not several inputs
  Limits limits;
  // Made of these by prepare.
  std::map<std::string, std::string> settings;
  std::shared_ptr<const Names> names;
};

// Checks the settings and reads the name files.
Result<void> prepare(Common& common);

struct Input {
  std::string path;  // "-" for standard input
  Bytes bytes;
  const Format* format = nullptr;  // null where `identify` was not asked for, and for an archive
  ReadOptions options;
  std::shared_ptr<const Names> names;  // that the options point to
  // Of an archive, and what the path says about its entries; null for a file, or an entry of an archive.
  std::shared_ptr<const archives::Opened> archive;
  std::string entries;
};

// Reads the character's mesh. Empty where none was asked for.
Result<std::optional<Model>> read_skeleton(const Common& common);

enum class Identify : std::uint8_t { no, yes, or_archive };

// Expands the patterns, reads each input, and calls `work` on it. Errors go to standard error with the
// name of the file; the exit code sums them up. With --json, what the calls put into `report` is
// printed: an object for one input, an array for several.
int run_inputs(const Common& common, const Model* model, Identify identify,
               const std::function<Result<void>(const Input&, Json& report)>& work);

std::pair<std::string, std::string> split_input(const std::string& path);
// All inputs by their paths; an Error where a pattern matches nothing.
Result<std::vector<std::string>> expand_inputs(const Common& common);
Result<Input> read_input(const std::string& path, const Common& common, const Model* model,
                         Identify identify);

// ---- archives (archive.cpp)

// The archive that a file is; null when it is none. The last one stays open.
Result<std::shared_ptr<const archives::Opened>> open_archive(const std::string& file,
                                                             const Common& common);
Result<std::shared_ptr<const archives::Opened>> open_archive(const Bytes& bytes,
                                                             const Common& common);
// "a.dgc#*WALK*" as the paths of the entries, each for itself; other inputs as they are.
Result<std::vector<std::string>> expand_entries(const std::string& file, const std::string& select,
                                                const Common& common);
// Fills in an input that lies in an archive: the bytes of the one entry that `select` means, else the
// archive, where that may be.
Result<void> read_entry(Input& in, const std::shared_ptr<const archives::Opened>& archive,
                        const std::string& select, const Common& common, Identify identify);
// Its entries as rows, as far as the input means them; and as facts.
Result<Info> list_archive(const Input& in);
Info archive_info(const Input& in);

// Where the output for an input goes: -o itself, or inside -o where that is a folder (or ends in a
// slash, or there are several inputs). Refuses two inputs with one output before anything is written. An
// extension that only the input's content tells is left empty, and added by the caller in a folder.
class Outputs {
 public:
  static Result<Outputs> plan(const Common& common, const std::vector<std::string>& inputs,
                              const std::string& extension);
  const std::string& of(std::size_t input) const { return paths_[input]; }
  bool folder() const { return folder_; }

 private:
  bool folder_ = false;
  std::vector<std::string> paths_;
};

Result<void> write_output(const std::string& path, ByteView bytes);
Result<void> write_output(const std::string& path, std::string_view text);

Error usage_error(std::string text);
int report_error(const Error& error);  // prints it; the exit code
// The same before any input was read; with --json the document on standard output says it too.
int report_error(const Error& error, const Common& common);
Json to_report(const Error& error);
// A path or name from outside, as text that JSON can hold.
std::string shown(const std::string& path);
void print_json(const Json& json);

// Text for the terminal, coloured where that is wanted.
bool colours(int fd);
std::string paint(std::string_view text, const char* colour, bool on);
std::string table(const std::vector<std::string>& columns,
                  const std::vector<std::vector<std::string>>& rows);
void print(std::string_view text);  // to standard output, or into the file of a Printed
bool printed_well();

// While it lives, what is printed goes to -o where that names a file, or to `name` in a folder.
class Printed {
 public:
  Printed(const Common& common, const std::string& name);
  int finish(int code);  // writes it; the exit code

 private:
  std::string path_;
};

// A line on standard error that says how far a long job is; nothing where that is no terminal.
class Progress {
 public:
  Progress(std::size_t total, bool wanted);
  ~Progress() { clear(); }
  void at(std::size_t done);
  void clear();  // before anything else is printed

 private:
  std::size_t total_;
  bool wanted_, shown_ = false;
  std::chrono::steady_clock::time_point start_;
};

// A float as the JSON number that reads back to the same float; others as text.
Json number(double v);
Json number(float v);

// ---- the verbs

struct BuildOptions {
  Common common;
  bool layout = false;  // after an edit that changed lengths
};
struct CheckOptions {
  Common common;
  bool strict = false;
  Level level = Level::note;
};
struct ConvertOptions {
  Common common;
  std::string to;        // extension without a dot; empty: from -o
  double fps = 0;        // of JSON and CSV; 0: the clip's own
  double bake_rate = 0;  // 0: adaptive
  double max_mm = 0.05, max_degrees = 0.05;
  std::size_t jobs = 1;              // threads; what is written does not depend on it
  std::string visibility = "scale";  // or "extension", see GltfVisibility
};
struct SampleOptions {
  Common common;
  double fps = 0;
  std::vector<double> times;
  bool exact = false;
  bool gltf_space = false;
};
struct EditOptions {
  Common common;
  std::vector<std::string> replace, add, remove, rename, move, merge;  // as typed
};
struct FormatsOptions {
  std::string output;
  bool json = false, markdown = false, settings = false;
};

struct PackOptions {
  Common common;
  std::string from;  // a folder that extract wrote
  std::vector<std::string> replace, add, remove;
};

int info(const Common& options);
int extract(Common options);
int pack(PackOptions options);
int dump(const Common& options);
int build(const BuildOptions& options);
int check(const CheckOptions& options);
int convert(const ConvertOptions& options);
int edit(const EditOptions& options);
int sample(const SampleOptions& options);
int formats(const FormatsOptions& options);
int list(Common options);

}  // namespace cli
