// Bytes that need not be in memory.
#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "dopesheet/error.hpp"

namespace dopesheet {

// Somewhere to read from, by offset. Reading does not change it, and may happen on several threads.
class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;  // bytes
  // Fills `out`. Code::truncated where [offset, offset + out.size()) is not inside the source,
  // Code::cannot_read where the file system says no.
  virtual Result<void> read(std::uint64_t offset, std::span<std::byte> out) const = 0;

 protected:
  Source() = default;
  Source(const Source&) = default;
  Source& operator=(const Source&) = default;
};

// Memory: either its own, or the caller's, which must then outlive it.
class MemorySource final : public Source {
 public:
  explicit MemorySource(Bytes bytes) : own_(std::move(bytes)), view_(own_) {}
  explicit MemorySource(ByteView view) : view_(view) {}
  MemorySource(const MemorySource&) = delete;
  MemorySource& operator=(const MemorySource&) = delete;

  std::uint64_t size() const override { return view_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override;

 private:
  Bytes own_;
  ByteView view_;
};

// `size` bytes from `offset`. They must lie inside the source, and be no more than limits.bytes.
Result<Bytes> read_bytes(const Source& in, std::uint64_t offset, std::uint64_t size,
                         const Limits& limits = {});

// What says that [offset, offset + size) is not inside a source of `available` bytes.
Error outside(std::uint64_t offset, std::uint64_t size, std::uint64_t available);

}  // namespace dopesheet
