// Archives: files of files. An archive knows no animation format; the entries' bytes are handed on.
//
//   list      bytes -> directory          reads headers only: the entries' bytes are passed over
//   read      directory, entry -> bytes   as the entry's own format wants them
//   rewrite   directory, edits -> bytes   without edits the same bytes again; what an edit does not
//                                         touch is copied, whether it is understood or not
#pragma once
#include <bit>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "dopesheet/names.hpp"
#include "dopesheet/source.hpp"

namespace dopesheet::archives {

struct Kind;

struct Entry {
  std::string name;        // where the archive keeps names; else empty, and `id` is the name's hash
  std::uint32_t type = 0;  // class, a hash; 0 where the archive has no classes
  std::uint32_t id = 0;    // hash of the name; 0 where the archive has none
  std::uint32_t link = 0;  // hash of another name, which the archive keeps beside the entry
  std::uint32_t part = 0;  // index into Directory::parts
  std::uint64_t offset = 0;  // of what is stored, from the start of the archive
  std::uint64_t stored = 0;  // bytes of that, headers included
  std::uint64_t size = 0;    // bytes that read() gives
  std::uint64_t body = 0;    // of a second record with the rest of it, apart from this one; 0: none
};

// A stretch of the archive that holds entries: a chunk, a block, a pool, or the whole.
struct Part {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;            // bytes, filler included
  std::uint64_t used = 0;            // bytes up to the filler
  std::size_t first = 0, count = 0;  // its entries, which follow each other
};

struct Directory {
  const Kind* kind = nullptr;
  std::endian order = std::endian::little;
  std::vector<std::pair<std::string, std::string>> facts;  // for people
  std::vector<Entry> entries;                              // in the order of the file
  std::vector<Part> parts;
};

struct Edit {
  enum class What : std::uint8_t { replace, remove, add };
  What what = What::replace;
  std::size_t entry = 0;  // to replace or remove
  std::string name;       // of an added one, where the archive keeps names
  // As read() gives them: with the record's own header, where the archive has such.
  Bytes bytes;
};

struct Rewritten {
  Bytes bytes;
  std::vector<std::string> notes;  // what had to change beyond the edits, in plain words
};

struct Kind {
  std::string_view id;  // "totemtech"
  std::string_view title;
  std::string_view games;
  std::string_view extensions;   // ".dgc .dps", space separated
  std::string_view names;        // extensions of the name table beside it; empty: there is none
  std::string_view part;         // what a Part is called; empty: there is only one
  std::optional<NameHash> hash;  // how names became ids; nothing where the archive keeps names
  std::string_view verified;     // on what

  bool (*probe)(const Source& in);  // by content; reads little
  // Memory is taken for the directory alone. Everything that it says is inside the source.
  Result<Directory> (*list)(const Source& in);
  Result<Bytes> (*read)(const Source& in, const Directory& directory, std::size_t entry,
                        const Limits& limits);
  // Fails with Code::cannot_represent where the archive cannot hold the result, or where nobody has
  // documented how it would.
  Result<Rewritten> (*rewrite)(const Source& in, const Directory& directory,
                               std::span<const Edit> edits, const Limits& limits);
};

std::span<const Kind> kinds();
// By content; null when it is no archive that is known.
const Kind* identify(const Source& in);

// More entries than this are refused.
inline constexpr std::size_t max_entries = std::size_t{1} << 20;

// ---- names

// The entry's name as text: what is not printable UTF-8 is escaped; "#XXXXXXXX" for a hash that no name
// is known for. Names may repeat.
std::string entry_name(const Directory& directory, const Entry& entry, const Names* names);
// The class's name, or "#XXXXXXXX"; empty where the archive has no classes.
std::string type_name(const Directory& directory, const Entry& entry, const Names* names);

// Whether a selector can stand for several names.
bool is_pattern(std::string_view selector);

// The entries that a selector means, in the order of the file; ASCII letters match in either case:
//   NAME         the entries of that name, also where only its hash is known here; where names are kept,
//                also without the extension
//   #XXXXXXXX    the entries of that hash; 0xXXXXXXXX too
//   *WALK*       by pattern: * stands for any bytes, ? for one
//   X@CLASS      of those that X means, the ones whose class fits a pattern; X may be empty: all
//   X/N          of those that X means, the one at N, from 0; X may be empty: all
// A name that has one of these signs in it wins. Empty: all entries.
std::vector<std::size_t> select(const Directory& directory, const Names* names,
                                std::string_view selector);

// ---- paths into archives, and archives in archives

// An archive that is open.
struct Opened {
  std::shared_ptr<const Source> source;
  Directory directory;
  std::shared_ptr<const Names> names;  // may be null
  // The archive that this one is an entry of, where it is one.
  std::shared_ptr<const Opened> outer;
  std::size_t outer_entry = 0;
};

// Null when the bytes are no known archive.
Result<std::shared_ptr<const Opened>> open(std::shared_ptr<const Source> source,
                                           std::shared_ptr<const Names> names);

struct Found {
  std::shared_ptr<const Opened> archive;
  std::size_t entry = 0;
  std::string rest;  // what the path says beyond it, for the entry's own format

  Result<Bytes> bytes(const Limits& limits) const;
  // The selectors that lead to this entry alone: "#scene.pks#WALK".
  std::string path() const;
};

// The archive that an entry is; null when it is none.
Result<std::shared_ptr<const Opened>> open(const Found& found, const Limits& limits);

// What "a.vpp#b.rfa", without the file and its #, means inside an open archive: one or several entries.
// Archives inside archives are opened as far as the path goes. Code::usage where nothing matches.
Result<std::vector<Found>> resolve(const std::shared_ptr<const Opened>& archive,
                                   std::string_view selectors, const Limits& limits = {});

// Rewrites an archive, and the archives that it is inside, outermost last: the bytes of the whole.
Result<Rewritten> rewrite(const Opened& archive, std::span<const Edit> edits,
                          const Limits& limits = {});

// Names as one plain file name each, good on every system, and no two alike where case does not count:
// separators, reserved names and signs, everything but printable ASCII, dots and spaces at the ends, and
// excess length are replaced. None is "manifest.json", which is for the list that leads back.
class FileNames {
 public:
  FileNames();
  std::string add(std::string_view name);

 private:
  std::unordered_set<std::string> used_;       // in upper case
  std::unordered_map<std::string, int> next_;  // the number to try for the next of one name
};

}  // namespace dopesheet::archives
