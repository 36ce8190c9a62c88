"""The fixture character: six bones and what they look like at rest, shared by the clip and the mesh
fixtures.

Four of the five bones with a parent come before it, and no rest rotation is symmetric, so that a
wrong order, a missing conjugate or a swapped multiplication shows.
"""

from vecmath import add, axis_angle, conj, f32, qmul, rotate, scale, sub, unit

# name, parent, local rotation, local position in metres
BONES = [
    ("head", 2, axis_angle((1, 0.4, -0.2), 12), (0.01, 0.55, 0.02)),
    ("arm-l", 2, axis_angle((0.1, 0.3, 1), 28), (-0.20, 0.46, 0.01)),
    ("spine", 5, axis_angle((-1, 0.5, 0.3), 9), (0.00, 0.10, -0.01)),
    ("arm-r", 2, axis_angle((0.3, -0.2, -1), 33), (0.21, 0.47, 0.00)),
    ("leg", 5, axis_angle((1, 0.1, 0.1), -7), (0.01, -0.08, 0.02)),
    ("root", -1, axis_angle((0.2, 1, 0.1), 17), (0.05, 0.92, -0.03)),
]
NAMES = [b[0] for b in BONES]
PARENTS = [b[1] for b in BONES]


def _world(i):
    _, parent, q, t = BONES[i]
    if parent < 0:
        return q, t
    pq, pt = _world(parent)
    return qmul(pq, q), add(pt, rotate(pq, t))


def _stored(i):
    q, t = _world(i)
    return tuple(f32(c) for c in q), tuple(f32(c) for c in rotate(conj(q), scale(t, -1.0)))


# What the BONE chunk holds: rotation x y z w and translation of the inverse bind, the rotation
# conjugated.
STORED = [_stored(i) for i in range(len(BONES))]


def _rest_world(i):
    q, t = STORED[i]
    q = unit(q)
    return q, rotate(q, scale(t, -1.0))


# Active rotation and position, from the rounded numbers.
REST_WORLD = [_rest_world(i) for i in range(len(BONES))]


def _rest_local(i):
    if PARENTS[i] < 0:
        return REST_WORLD[i]
    (pq, pt), (q, t) = REST_WORLD[PARENTS[i]], REST_WORLD[i]
    return qmul(conj(pq), q), rotate(conj(pq), sub(t, pt))


REST_LOCAL = [_rest_local(i) for i in range(len(BONES))]

# Box of each bone in its own space: centre and half size.
BOXES = [
    ((0.00, 0.14, 0.02), (0.11, 0.14, 0.12)),
    ((-0.24, 0.00, 0.00), (0.24, 0.06, 0.07)),
    ((0.00, 0.25, 0.00), (0.18, 0.27, 0.11)),
    ((0.24, 0.00, 0.00), (0.24, 0.06, 0.07)),
    ((0.00, -0.40, 0.00), (0.13, 0.40, 0.12)),
    ((0.00, 0.00, 0.00), (0.20, 0.09, 0.13)),
]


def model_point(bone, p):
    q, t = REST_WORLD[bone]
    return tuple(f32(c) for c in add(t, rotate(q, p)))


def corner_signs(corner):
    return tuple(1 if corner >> axis & 1 else -1 for axis in range(3))


def box_corner(bone, corner):
    centre, half = BOXES[bone]
    signs = corner_signs(corner)
    return model_point(bone, tuple(c + s * h for c, h, s in zip(centre, half, signs)))


# Original vertices, as the artist numbered them: eight corners per bone, a fin on the back, a nose.
# Number 56 was deleted by the artist and is in no batch.
FIN = range(48, 51)
NOSE = range(51, 56)
NUM_ORIGINALS = 57
_FIN_POINTS = [(0.0, 0.40, -0.11), (0.0, 0.20, -0.11), (0.0, 0.32, -0.26)]  # in spine space
_NOSE_POINTS = [  # in head space
    (0.03, 0.12, 0.14),
    (0.03, 0.18, 0.14),
    (-0.03, 0.18, 0.14),
    (-0.03, 0.12, 0.14),
    (0.0, 0.14, 0.22),
]

ORIGINALS = [box_corner(b, c) for b in range(len(BONES)) for c in range(8)]
ORIGINALS += [model_point(2, p) for p in _FIN_POINTS]
ORIGINALS += [model_point(0, p) for p in _NOSE_POINTS]
