// Three scalar curves as one of vectors.
#pragma once
#include <optional>

#include "dopesheet/clip.hpp"

namespace dopesheet {

// The same movement as cubic curves with the keys of all three axes: cubics can be cut anywhere without
// a change, but for the rounding of the values at the cuts. Nothing where an axis has steps, which one
// interpolation for all three cannot hold beside slopes, or where the keys would be more than `most`.
std::optional<Curve<Vec3>> merged(const std::array<Curve<float>, 3>& axes, std::size_t most);

}  // namespace dopesheet
