// What an engine needs besides poses: matrices, the motion of the root, events.
#pragma once
#include "dopesheet/sample.hpp"

namespace dopesheet {

// 4 x 4, column after column, as GPUs take it: v' = M v; the last row is 0 0 0 1.
struct Matrix {
  std::array<float, 16> values{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
  friend bool operator==(const Matrix&, const Matrix&) = default;
};
Matrix to_matrix(const Transform& t);
Matrix operator*(const Matrix& a, const Matrix& b);  // first b, then a

// Local poses to matrices of model space; shear of non-uniform scales above rotations is exact here,
// unlike in to_object_space. `order` is topological_order(nodes); sizes must agree.
void to_model_space(std::span<const Node> nodes, std::span<const std::size_t> order,
                    std::span<const Transform> local, std::span<Matrix> model);

// palette[i] = model[i] * inverse_bind[i], for as many as all three hold (Model::inverse_bind).
void skinning_palette(std::span<const Matrix> model, std::span<const Transform> inverse_bind,
                      std::span<Matrix> palette);

// How `node` moves from time t0 to t1, of its own transform (scale left out): T(t0) * result = T(t1). With
// a wrapping sampler times count on through the loops, t1 - t0 may be several of them, either way, and
// each adds the motion of one; then the result does not lead to T(t1) but goes on from there. Loops
// beyond 1000 are not counted. `scratch` holds at least node + 1 transforms; nothing is allocated.
// Identity for a node that is not there.
Transform root_motion(const Sampler& sampler, Cursor& cursor, std::size_t node, double t0,
                      double t1, std::span<Transform> scratch);

// Appends the indices of the events that play from t0 to t1 passes, in the order of their times, of
// equal times in the list's own: those with t0 <= time < t1, and on reaching the end all that remain,
// the end itself included. A wrapping clip's times count on through its loops: [t0 .. end], whole
// loops (at most 1000), [start .. t1). So windows that meet fire every event once a loop. A clamped
// clip that already stood at its end, and t1 <= t0, fire nothing.
// As TotemTech's and Zouna's engines do it; the events need not be sorted.
void events_between(std::span<const Event> events, double start, double end, Outside outside,
                    double t0, double t1, std::vector<std::size_t>& out);
void events_between(const Clip& clip, double t0, double t1, std::vector<std::size_t>& out);

}  // namespace dopesheet
