// Clips of several skeletons in one file.
#pragma once
#include "dopesheet/clip.hpp"

namespace dopesheet::gltf {

// Gives all clips one list of nodes: each skeleton that differs from those before it by a name or a
// parent gets nodes of its own. A clip that knows only the first nodes of another one shares them.
void unite_skeletons(std::vector<Clip>& clips);

}  // namespace dopesheet::gltf
