// The only door to the file system.
#pragma once
#include <string>
#include <vector>

#include "dopesheet/error.hpp"
#include "dopesheet/source.hpp"

namespace dopesheet::io {

// The whole of a file, or of standard input for "-". Paths are UTF-8 on every system.
Result<Bytes> read_file(const std::string& path, const Limits& limits = {});

// A file that is read as far as it is asked for, whatever its size; it must be a regular one.
Result<std::shared_ptr<const Source>> open_file(const std::string& path);

// Writes to a temporary file in the same folder and renames it, so that no half-written file is ever
// seen and a file may be written over its own input. "-" writes to standard output. An existing
// file's permissions are kept.
Result<void> write_file(const std::string& path, ByteView bytes);

// The paths that a pattern matches, sorted: * and ? within a name, ** over folders. A pattern without
// wildcards, or that names an existing file, is returned as it is.
std::vector<std::string> expand_glob(const std::string& pattern);

bool exists(const std::string& path);
bool is_folder(const std::string& path);
bool is_link(const std::string& path);                // also one that leads nowhere
Result<void> make_folder(const std::string& path);    // and its parents
std::string file_name(const std::string& path);       // "a/b.rfa" -> "b.rfa"
std::string file_stem(const std::string& path);       // "a/b.rfa" -> "b"
std::string file_extension(const std::string& path);  // "a/b.RFA" -> ".rfa"
std::string folder_of(const std::string& path);       // "a/b.rfa" -> "a"; "b.rfa" -> ""
// A file beside `path` with its stem and one of the extensions (".ngc .nps"), in any letter case; empty
// where there is none.
std::string sibling(const std::string& path, const std::string& extensions);
std::string join_path(const std::string& folder, const std::string& name);
bool same_file(const std::string& a, const std::string& b);

}  // namespace dopesheet::io
