// The table of formats: what dopesheet knows, and what it can do with each.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "dopesheet/check.hpp"
#include "dopesheet/names.hpp"
#include "dopesheet/reduce.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {

struct Fact {
  std::string key, value;
};

// What `info` shows of one file.
struct Info {
  std::string format;  // id of the format
  std::vector<Fact> facts;
  struct Row {
    std::vector<std::string> cells;
  };
  std::vector<std::string> columns;  // of the table of bones, meshes, ...
  std::vector<Row> rows;
};

struct ReadOptions {
  Limits limits;
  std::string name;              // of the input, for clip names and checks
  std::string select;            // of a bank: motions by name, with * and ?, or by id; empty: all
  bool layout = false;           // from_json: recompute lengths and offsets first
  const Model* model = nullptr;  // the character a clip is for, where known
  const Names* names = nullptr;  // for formats that keep hashes of names
  std::map<std::string, std::string> settings;  // by Setting::name; others are ignored
};

// A choice that a format leaves open: what is not known for sure, or what several users want
// differently.
struct Setting {
  std::string_view name;      // "tangent-sign"
  std::string_view values;    // "auto, plus, minus"
  std::string_view standard;  // what holds when nothing is said
  std::string_view meaning;
};

// The clips of a file, each made when it is asked for.
struct Clips {
  std::vector<std::string> names;  // the format's own bytes
  // The clip, and what leaving out keys has cost, where that was part of making it: keys_before and
  // keys_after differ then. Threads may share it. It stays good after the input's bytes are gone.
  std::function<Result<Reduced>(std::size_t)> make;

  std::size_t size() const { return names.size(); }
  static Clips of(std::vector<Clip> clips);
};
Result<std::vector<Clip>> all(const Clips& clips);

// One change to a bank. Motions are named by name or id; ids are those before any change.
struct Edit {
  enum class Kind : std::uint8_t {
    replace,  // `motion` becomes what `with` holds, and keeps its name
    add,      // what `with` holds, at the end; under `name`, or its own where that is empty
    remove,   // `motion`, which may have * and ?
    rename,   // `motion` to `name`
    move,     // `motion` to the place that `name` says, a number from 1
    merge,    // all motions of `with` whose names are new
  };
  Kind kind = Kind::replace;
  std::string motion, name;
  ByteView with;            // another bank
  std::string with_motion;  // the motion in it
};
struct Edited {
  Bytes bytes;
  std::vector<Loss> losses;
};

struct Format {
  std::string_view id;     // "rfa"
  std::string_view title;  // "Red Faction animation"
  std::string_view games;
  std::string_view extensions;  // ".rfa", space separated
  std::string_view holds;       // "clip" or "model"
  std::string_view evaluation;  // "exact and smooth"; "-" for models
  std::string_view verified;    // on what

  bool (*probe)(ByteView in);  // by content; cheap
  Result<Info> (*info)(ByteView in, const ReadOptions& options);
  Result<std::string> (*dump)(ByteView in, const ReadOptions& options);
  Result<std::string> (*to_json)(ByteView in, const ReadOptions& options);
  Result<Bytes> (*from_json)(std::string_view json, const ReadOptions& options);
  Result<std::vector<Finding>> (*check)(ByteView in, const ReadOptions& options);
  Result<Clips> (*clips)(ByteView in, const ReadOptions& options);  // null: holds none
  // The first clip's poses by the game's own integer code; null: only smooth evaluation exists. Times
  // are rounded to the game's clock.
  Result<std::vector<Frame>> (*exact)(ByteView in, const ReadOptions& options,
                                      std::span<const double> times);
  Result<Model> (*model)(ByteView in, const ReadOptions& options);  // null: holds none
  // What a bank holds, a row a motion, as far as `select` asks for it; null: the format is no bank.
  Result<Info> (*list)(ByteView in, const ReadOptions& options);
  // Changes to a bank, one after another; null: the format is no bank.
  Result<Edited> (*edit)(ByteView in, const ReadOptions& options, std::span<const Edit> edits);
  std::span<const Setting> settings;  // that its functions look at
};

std::span<const Format> formats();
const Format* find_format(std::string_view id);  // null when there is none
// The format of these bytes, by content; Code::bad_magic when no format claims them.
Result<const Format*> identify(ByteView in);
// The format that a JSON document of `dump --json` names; Code::bad_value when it names none.
Result<const Format*> identify_json(std::string_view json, const Limits& limits = {});
// Whether any format has a setting of this name.
bool is_setting(std::string_view name);
// The support table of the README.
std::string formats_markdown();

}  // namespace dopesheet
