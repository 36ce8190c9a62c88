// Counts what a test allocates. A program that uses this links allocations.cpp, which replaces
// operator new.
#pragma once
#include <cstddef>

namespace support {

std::size_t allocations();  // since the program started
std::size_t live_bytes();   // allocated and not freed
std::size_t peak_bytes();   // the most that were live since reset_peak()
void reset_peak();

}  // namespace support
