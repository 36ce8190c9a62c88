#include "io/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "io/text.hpp"

namespace fs = std::filesystem;

namespace dopesheet::io {
namespace {

fs::path to_path(const std::string& utf8) {
  return fs::path(std::u8string(utf8.begin(), utf8.end()));
}
std::string to_utf8(const fs::path& path) {
  const auto s = path.u8string();
  return {s.begin(), s.end()};
}

tl::unexpected<Error> fail(Code code, const std::string& file, std::string text) {
  return tl::unexpected(Error{code, 0, {}, std::move(text), file});
}
std::string reason() { return std::system_category().message(errno); }

// Reads a stream to its end, but never more than the limit.
Result<Bytes> read_all(int fd, const std::string& path, const Limits& limits,
                       std::size_t expected) {
  Bytes out(expected);
  std::size_t have = 0;
  for (;;) {
    if (have == out.size()) out.resize(have + std::max<std::size_t>(have / 2, 65536));
    const ssize_t n = ::read(fd, out.data() + have, out.size() - have);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail(Code::cannot_read, path, reason());
    if (n == 0) break;
    have += static_cast<std::size_t>(n);
    if (have > limits.bytes) {
      return fail(Code::limit, path,
                  fmt::format("is larger than the limit of {} bytes", limits.bytes));
    }
  }
  out.resize(have);
  return out;
}

bool write_all(int fd, ByteView bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

// The file that a chain of links ends at, which need not exist. Empty where it does not end.
fs::path end_of_links(fs::path path) {
  std::error_code ec;
  for (int depth = 0; depth < 40; ++depth) {
    if (!fs::is_symlink(fs::symlink_status(path, ec))) return path;
    const fs::path next = fs::read_symlink(path, ec);
    if (ec) return {};
    path = path.parent_path() / next;  // an absolute one replaces the folder
  }
  return {};
}

// A new file beside `target`, opened for writing; -1 where that fails. O_EXCL keeps it from being anybody
// else's, so the name need only be unlikely; it is short, whatever the target is called.
int open_temporary(const fs::path& target, fs::path& name) {
  static std::atomic<std::uint64_t> counter{0};
  for (int attempt = 0; attempt < 100; ++attempt) {
    const auto now =
        static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    const std::uint64_t mixed =
        (now ^ (static_cast<std::uint64_t>(::getpid()) << 40) ^ counter++) * 0x9E3779B97F4A7C15U;
    name = target.parent_path() / fmt::format(".dopesheet-{:016x}", mixed);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

class FileSource final : public Source {
 public:
  FileSource(int fd, std::uint64_t size, std::string path)
      : fd_(fd), size_(size), path_(std::move(path)) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override {
    if (offset > size_ || out.size() > size_ - offset)
      return tl::unexpected(outside(offset, out.size(), size_));
    while (!out.empty()) {
      const ssize_t n = ::pread(fd_, out.data(), out.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail(Code::cannot_read, path_, reason());
      if (n == 0) return fail(Code::cannot_read, path_, "became shorter while it was read");
      out = out.subspan(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
    return {};
  }

 private:
  int fd_;
  std::uint64_t size_;
  std::string path_;
};

bool has_wildcard(std::string_view s) { return s.find_first_of("*?") != s.npos; }

void expand(const fs::path& base, const std::vector<std::string>& parts, std::size_t at,
            std::vector<std::string>& out) {
  std::error_code ec;
  if (at == parts.size()) {
    if (!fs::is_directory(base, ec)) out.push_back(to_utf8(base));
    return;
  }
  const std::string& part = parts[at];
  if (!has_wildcard(part)) {
    const fs::path next = base / to_path(part);
    if (fs::exists(next, ec)) expand(next, parts, at + 1, out);
    return;
  }
  const bool deep = part == "**";
  if (deep) expand(base, parts, at + 1, out);
  fs::directory_iterator entry(base.empty() ? fs::path(".") : base,
                               fs::directory_options::skip_permission_denied, ec);
  for (; !ec && entry != fs::directory_iterator(); entry.increment(ec)) {
    const std::string name = to_utf8(entry->path().filename());
    if (name.starts_with('.') && !part.starts_with('.')) continue;
    const bool folder = entry->is_directory(ec) && !entry->is_symlink(ec);
    if (deep) {
      if (folder) expand(base / entry->path().filename(), parts, at, out);
    } else if (matches(part, name)) {
      expand(base / entry->path().filename(), parts, at + 1, out);
    }
  }
}

}  // namespace

Result<Bytes> read_file(const std::string& path, const Limits& limits) {
  if (path == "-") return read_all(STDIN_FILENO, "standard input", limits, 0);
  std::error_code ec;
  if (fs::is_directory(to_path(path), ec)) return fail(Code::cannot_read, path, "is a folder");
  const int fd = ::open(to_path(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(Code::cannot_read, path, reason());
  const auto size = fs::is_regular_file(to_path(path), ec) ? fs::file_size(to_path(path), ec) : 0;
  if (!ec && size > limits.bytes) {
    ::close(fd);
    return fail(Code::limit, path,
                fmt::format("is larger than the limit of {} bytes", limits.bytes));
  }
  auto out = read_all(fd, path, limits, ec ? 0 : static_cast<std::size_t>(size) + 1);
  ::close(fd);
  return out;
}

Result<std::shared_ptr<const Source>> open_file(const std::string& path) {
  std::error_code ec;
  const auto status = fs::status(to_path(path), ec);
  if (fs::is_directory(status)) return fail(Code::cannot_read, path, "is a folder");
  const int fd = ::open(to_path(path).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail(Code::cannot_read, path, reason());
  struct stat now{};
  if (::fstat(fd, &now) != 0 || !S_ISREG(now.st_mode)) {
    ::close(fd);
    return fail(Code::cannot_read, path, "is no regular file");
  }
  return std::make_shared<const FileSource>(fd, static_cast<std::uint64_t>(now.st_size), path);
}

Result<void> write_file(const std::string& path, ByteView bytes) {
  if (path == "-") {
    if (!write_all(STDOUT_FILENO, bytes))
      return fail(Code::cannot_write, "standard output", reason());
    return {};
  }
  std::error_code ec;
  const fs::path target = end_of_links(to_path(path));
  if (target.empty()) {
    return fail(Code::cannot_write, path,
                path.empty() ? "no name to write to" : "its links do not end at a file");
  }
  const auto status = fs::status(target, ec);
  if (fs::is_directory(status)) return fail(Code::cannot_write, path, "is a folder");
  if (fs::exists(status) &&
      !fs::is_regular_file(status)) {  // a device or a pipe is written to, not replaced
    const int fd = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write_all(fd, bytes);
    std::string why = good ? std::string() : reason();
    if (fd >= 0 && ::close(fd) != 0 && good) {
      good = false;
      why = reason();
    }
    if (!good) return fail(Code::cannot_write, path, why);
    return {};
  }
  fs::path name;
  const int fd = open_temporary(target, name);
  if (fd < 0) return fail(Code::cannot_write, path, reason());
  bool good = write_all(fd, bytes);
  if (good && fs::exists(status))
    good = ::fchmod(fd, static_cast<mode_t>(status.permissions())) == 0;
  std::string why = good ? std::string() : reason();
  if (::close(fd) != 0 && good) {
    good = false;
    why = reason();
  }
  if (good && std::rename(name.c_str(), target.c_str()) != 0) {
    good = false;
    why = reason();
  }
  if (!good) {
    ::unlink(name.c_str());
    return fail(Code::cannot_write, path, why);
  }
  return {};
}

std::vector<std::string> expand_glob(const std::string& pattern) {
  std::error_code ec;
  if (!has_wildcard(pattern) || fs::exists(to_path(pattern), ec)) return {pattern};
  fs::path base;
  std::vector<std::string> parts;
  for (const fs::path& part : to_path(pattern)) {
    if (parts.empty() && !has_wildcard(to_utf8(part))) {
      base /= part;
    } else {
      parts.push_back(to_utf8(part));
    }
  }
  std::vector<std::string> out;
  expand(base, parts, 0, out);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

bool exists(const std::string& path) {
  std::error_code ec;
  return fs::exists(to_path(path), ec);
}
bool is_folder(const std::string& path) {
  std::error_code ec;
  return fs::is_directory(to_path(path), ec);
}
bool is_link(const std::string& path) {
  std::error_code ec;
  return fs::is_symlink(fs::symlink_status(to_path(path), ec));
}
Result<void> make_folder(const std::string& path) {
  std::error_code ec;
  fs::create_directories(to_path(path), ec);
  if (ec && !is_folder(path)) return fail(Code::cannot_write, path, ec.message());
  return {};
}
std::string file_name(const std::string& path) { return to_utf8(to_path(path).filename()); }
std::string file_stem(const std::string& path) { return to_utf8(to_path(path).stem()); }
std::string file_extension(const std::string& path) {
  std::string e = to_utf8(to_path(path).extension());
  for (char& c : e) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return e;
}
std::string folder_of(const std::string& path) { return to_utf8(to_path(path).parent_path()); }
std::string sibling(const std::string& path, const std::string& extensions) {
  const fs::path own = to_path(path);
  const auto lower = [](std::string s) {
    for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return s;
  };
  const std::string stem = lower(to_utf8(own.stem()));
  const fs::path folder = own.parent_path();
  std::string found;
  std::size_t best = std::string::npos;  // the first of the extensions wins, then the first name
  std::error_code ec;
  fs::directory_iterator entry(folder.empty() ? fs::path(".") : folder,
                               fs::directory_options::skip_permission_denied, ec);
  for (; !ec && entry != fs::directory_iterator(); entry.increment(ec)) {
    const fs::path name = entry->path().filename();
    if (lower(to_utf8(name.stem())) != stem || !entry->is_regular_file(ec)) continue;
    const std::string extension = lower(to_utf8(name.extension()));
    const auto rank = (extensions + " ").find(extension + " ");
    if (extension.empty() || rank == std::string::npos) continue;
    const std::string here = to_utf8(folder / name);
    if (rank < best || (rank == best && here < found)) found = here;
    best = std::min(best, rank);
  }
  return found;
}
std::string join_path(const std::string& folder, const std::string& name) {
  return to_utf8(to_path(folder) / to_path(name));
}
bool same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code ec;
  if (fs::equivalent(to_path(a), to_path(b), ec)) return true;
  const fs::path pa = fs::weakly_canonical(to_path(a), ec),
                 pb = fs::weakly_canonical(to_path(b), ec);
  return !pa.empty() && pa == pb;
}

}  // namespace dopesheet::io
