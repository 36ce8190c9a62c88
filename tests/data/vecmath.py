"""Vectors and quaternions for the fixture builders.

Quaternions are active rotations (v' = q v conj(q)), components x y z w. Left-handed space of the
game: the formulas do not depend on the handedness. reference.py deliberately has its own copy of
everything it needs.
"""

import math
import struct


def f32(value):
    """The nearest value a file can hold, so that a builder can compute on with what the reader will
    see."""
    return struct.unpack("<f", struct.pack("<f", value))[0]


def add(a, b):
    return tuple(x + y for x, y in zip(a, b))


def sub(a, b):
    return tuple(x - y for x, y in zip(a, b))


def scale(a, s):
    return tuple(x * s for x in a)


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def unit(a):
    return scale(a, 1.0 / math.sqrt(dot(a, a)))


def mix(a, b, u):
    return tuple(x + (y - x) * u for x, y in zip(a, b))


def axis_angle(axis, degrees):
    half = math.radians(degrees) / 2
    return (*scale(unit(axis), math.sin(half)), math.cos(half))


def conj(q):
    return (-q[0], -q[1], -q[2], q[3])


def qmul(a, b):
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotate(q, v):
    t = scale(cross(q[:3], v), 2.0)
    return add(add(v, scale(t, q[3])), cross(q[:3], t))
