// LZRS, the compression of Zouna archives.
#pragma once
#include "dopesheet/error.hpp"

namespace dopesheet::archives {

// A blob with its header of 8 bytes. `size` is what the archive says of the result: the blob must say the
// same, and nothing is allocated that the blob cannot fill.
Result<Bytes> lzrs_unpack(ByteView blob, std::size_t size);
// Valid, not the game's own bytes: several encodings of one text exist.
Bytes lzrs_pack(ByteView bytes);

}  // namespace dopesheet::archives
