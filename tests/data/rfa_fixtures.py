"""Clips that exercise layout and evaluation. Clips made to be complained about are in
rfa_checks.py."""

import math

import rfa_build as rfa
from rfa_build import FRAME, Bits, Bone, Clip, Registry, bent, pack, pk, raw_rk, rk, still, thirds
from vecmath import axis_angle, mix, qmul, rotate

fixture = Registry("rfa")
END = 10 * FRAME
MIDDLE = 5 * FRAME


def turning(times, axis, degrees):
    return [rk(t, axis_angle(axis, d)) for t, d in zip(times, degrees)]


def plain_bones(start=FRAME, end=END):
    """Four bones with nothing special about them; the other fixtures change one thing in them."""
    a = start + (end - start) // 3
    b = start + (end - start) * 2 // 3
    return [
        Bone(
            turning((start, a, b, end), (0.2, 1, 0.1), (0, 35, -20, 0)),
            bent(
                (start, a, b, end),
                [(0, 0.9, 0), (0.1, 1.0, 0.2), (-0.1, 0.95, 0.4), (0, 0.9, 0)],
                (0.02, 0.01, -0.03),
            ),
        ),
        Bone(
            turning((start, b, end), (1, 0.3, -0.4), (10, 80, 10)),
            still((start, end), (0.2, 0.4, 0.01)),
            5.0,
        ),
        Bone(
            turning((start, a, end), (-0.3, 0.2, 1), (-15, 40, -15)),
            still((start, end), (-0.2, 0.4, 0.0)),
            8.0,
        ),
        Bone(
            turning((start, end), (1, 0, 0), (5, 65)),
            thirds((start, b, end), [(0, 0.5, 0), (0, 0.55, 0.05), (0.02, 0.5, 0)]),
        ),
    ]


def plain(version=8, **changes):
    changes = {"bones": plain_bones(), "ramp_in": 3 * FRAME, "ramp_out": 2 * FRAME, **changes}
    return Clip(version, **changes)


@fixture()
def plain_v7():
    """Version 7: four bones, curved positions whose two handles differ at every key."""
    return pack(plain(7, reduction=(0.001, 0.25), total_rotation=(-0.000723, 0.0, 0.0, 0.9999997)))


@fixture()
def plain_v8():
    """Version 8 of the same four bones."""
    return pack(plain(8, total_translation=(0.02, 0.0, 1.5)))


@fixture()
def eases():
    """Ease bytes: sum of both sides below and above 1, one side only, none, and the extremes, on 60
    degree segments."""
    pairs = [
        (40, 50),
        (100, 90),
        (70, 0),
        (0, 70),
        (0, 0),
        (127, 127),
        (127, 0),
        (0, 127),
        (1, 1),
        (64, 63),
    ]

    def bone(axis, pairs):
        times = [FRAME * (1 + 2 * i) for i in range(len(pairs) + 1)]
        keys = turning(times, axis, [60 * (i % 2) for i in range(len(times))])
        for (ease_out, ease_in), a, b in zip(pairs, keys, keys[1:]):
            a.ease_out, b.ease_in = ease_out, ease_in
        return Bone(keys, still((times[0], times[-1]), (0, 0.5, 0)))

    bones = [
        bone((1, 0.2, 0.3), pairs),
        bone((0, 1, -0.5), pairs[::-1]),
        bone((0.1, 0, 1), pairs[3:] + pairs[:3]),
    ]
    return pack(Clip(8, end=FRAME * (1 + 2 * len(pairs)), bones=bones))


@fixture()
def hemisphere():
    """Neighbour keys of opposite sign, for small arcs, arcs over 90 degrees, over 180, and the tie
    at exactly 180."""
    times = [FRAME * i for i in (1, 3, 5, 7, 9, 10)]

    def bone(axis, degrees, signs):
        keys = turning(times, axis, degrees)
        for k, sign in zip(keys, signs):
            k.stored = tuple(sign * c for c in k.stored)
        return Bone(keys, still((times[0], times[-1]), (0, 0.5, 0)))

    bones = [
        bone((0.3, 1, 0.2), (0, 20, 35, 20, 5, 0), (1, -1, 1, 1, -1, 1)),
        bone((1, -0.2, 0.5), (0, 120, 10, 150, 20, 0), (1, -1, -1, 1, -1, -1)),
        bone((0.1, 0.2, 1), (0, 200, -30, 170, -60, 0), (1, 1, 1, -1, 1, 1)),
    ]
    rest, x, y, quarter = (
        (0, 0, 0, 16383),
        (16383, 0, 0, 0),
        (0, -16383, 0, 0),
        (0, 11584, 0, 11584),
    )
    tie = [raw_rk(t, q) for t, q in zip(times, (rest, x, rest, y, quarter, rest))]
    bones.append(Bone(tie, still((times[0], times[-1]), (0, 0.5, 0))))
    return pack(Clip(8, bones=bones))


@fixture()
def snap():
    """Segments that the engine does not interpolate (raw length 16384; 203 below the limit of 268
    at 16383) and one just above the limit (344) that it does. The last bone has an ordinary
    segment on both sides of a snapping one."""
    one_degree = [(0, 0, 0, 16384), (143, 0, 0, 16383), (286, 0, 0, 16382)]
    at, near, over = (4003, 7003, 9013, 11050), (3995, 7020, 9007, 11047), (4002, 6997, 8996, 11068)
    times = (FRAME, MIDDLE, END)
    mixed = [
        raw_rk(FRAME, (2000, 0, 0, 16260)),
        raw_rk(4 * FRAME, one_degree[0]),
        raw_rk(7 * FRAME, one_degree[1]),
        raw_rk(END, (3000, 0, 0, 16105)),
    ]
    keys = [
        [raw_rk(t, q) for t, q in zip(times, one_degree)],
        [raw_rk(t, q) for t, q in zip(times, (at, near, at))],
        [raw_rk(t, q) for t, q in zip(times, (at, over, at))],
        mixed,
    ]
    return pack(Clip(8, bones=[Bone(k, still((FRAME, END), (0, 0.5, 0))) for k in keys]))


@fixture()
def slerp_w_zero():
    """Half-way between these keys w truncates to 0, which the engine replaces by 1."""
    keys = [
        raw_rk(FRAME, (16350, 0, 0, 1000)),
        raw_rk(5 * FRAME, (16350, 0, 0, -1000)),
        raw_rk(9 * FRAME, (0, 16000, 3300, 1001)),
        raw_rk(END, (0, 16000, 3300, -999)),
    ]
    return pack(Clip(8, bones=[Bone(keys, still((FRAME, END), (0, 0.5, 0)))]))


@fixture()
def single_key():
    """One rotation key, one position key, in every combination with two."""
    q, p = axis_angle((1, 2, 3), 50), (0.1, 0.5, -0.2)
    two_q = turning((FRAME, END), (1, 2, 3), (50, -10))
    two_p = thirds((FRAME, END), [p, (0.3, 0.5, 0.2)])
    bones = [
        Bone([rk(FRAME, q)], [pk(FRAME, p)]),
        Bone([rk(MIDDLE, q)], two_p),
        Bone(two_q, [pk(MIDDLE, p)]),
    ]
    return pack(Clip(8, bones=bones))


@fixture()
def no_keys():
    """No rotation keys (identity), no position keys (the bone collapses), neither."""
    two_q = turning((FRAME, END), (1, 2, 3), (50, -10))
    two_p = thirds((FRAME, END), [(0.1, 0.5, -0.2), (0.3, 0.5, 0.2)])
    return pack(Clip(7, bones=[Bone([], two_p), Bone(two_q, []), Bone([], [])]))


@fixture()
def start0():
    """The clip starts at tick 0."""
    end = 9 * FRAME
    return pack(Clip(8, 0, end, ramp_in=FRAME, ramp_out=FRAME, bones=plain_bones(0, end)))


@fixture()
def late_start():
    """Cut from a long scene: starts at 41.5 seconds, with an odd tick."""
    start = 41 * 4800 + 2401
    end = start + 1777
    return pack(Clip(7, start, end, ramp_in=500, ramp_out=501, bones=plain_bones(start, end)))


@fixture()
def negative_start():
    """The clip starts before tick 0."""
    return pack(Clip(8, -480, 961, ramp_in=320, ramp_out=321, bones=plain_bones(-480, 961)))


def face(vertices, frames):
    """Absolute positions of a small patch that bulges, one list per keyframe."""
    rest = [
        (0.02 * (i % 3) - 0.02, 1.5 + 0.03 * (i // 3), 0.1 + 0.004 * i) for i in range(vertices)
    ]
    return [
        [
            (x + 0.01 * math.sin(i + k), y - 0.012 * k * (i % 2), z + 0.005 * k)
            for i, (x, y, z) in enumerate(rest)
        ]
        for k in range(frames)
    ]


MORPH_TIMES = [FRAME, 3 * FRAME, 3 * FRAME + 77, 8 * FRAME, END]


def morph_clip(version, vertices, **changes):
    indices = [(7 * i + 3) % 50 for i in range(vertices)]
    frames = face(vertices, len(MORPH_TIMES))
    if version == 7:
        return plain(7, morph_indices=indices, morph_frames=frames, **changes)
    box, codes = rfa.morph_bytes(frames)
    return plain(
        8,
        morph_indices=indices,
        morph_times=MORPH_TIMES,
        morph_box=box,
        morph_frames=codes,
        **changes
    )


@fixture()
def morph_v7():
    """Version 7 morph: float positions, no times, even vertex count (no padding)."""
    return pack(morph_clip(7, 6))


@fixture()
def morph_v7_odd():
    """Version 7 morph with an odd vertex count: two padding bytes in front of the keyframes."""
    return pack(morph_clip(7, 7))


@fixture()
def morph_v8():
    """Version 8 morph: times, box, unsigned bytes up to 255, even vertex count."""
    return pack(morph_clip(8, 6))


@fixture()
def morph_v8_odd():
    """Version 8 morph with an odd vertex count. The byte positions also end off a multiple of 4."""
    return pack(morph_clip(8, 7))


@fixture(canonical=False)
def morph_v8_oddpad():
    """As morph_v8_odd, but the padding in front of the keyframes is not zero."""
    return pack(morph_clip(8, 7), morph_pad=0xA5)


@fixture()
def morph_times_only():
    """61 morph times, all zero, and no morph vertices: one clip of the game is like that."""
    return pack(plain(8, morph_times=[0] * 61))


@fixture()
def morph_indices_only():
    """Four morph vertices and no keyframe."""
    return pack(plain(8, morph_indices=[4, 2, 9, 65535]))


@fixture(canonical=False)
def morph_offsets_zero():
    """No morph data, both offsets 0, as modern tools write it."""
    return pack(plain(8), morph_offsets=(0, 0))


@fixture()
def morph_offsets_eof():
    """No morph data, both offsets equal to the file size, as the original tools write it."""
    image = pack(plain(7))
    return pack(plain(7), morph_offsets=(len(image), len(image)))


@fixture(canonical=False)
def morph_offsets_wild():
    """No morph data, offsets that point nowhere. Nothing may follow them."""
    return pack(plain(8), morph_offsets=(-5, 0x7FFFFFFF))


@fixture(canonical=False)
def out_of_order():
    """Bone records stored last bone first."""
    return pack(plain(8), order=[3, 2, 1, 0])


@fixture(canonical=False)
def morph_first():
    """Morph sections in front of the bone records."""
    return pack(morph_clip(8, 8), morph_first=True)


@fixture(canonical=False)
def gaps():
    """Bytes that belong to nothing in front of three of the four bone records; one gap is not a
    multiple of 4."""
    return pack(
        plain(8),
        gaps={0: b"\x01\x02\x03\x04", 1: bytes(range(0x10, 0x1C)), 3: b"\xff\xfe\xfd\xfc\xfb"},
    )


@fixture(canonical=False)
def trailing():
    """Bytes behind the end."""
    return pack(plain(7), trailing=b"left over by an editor")


@fixture(canonical=False)
def shared_record():
    """Bones 1 and 3 point at one record: an overlap."""
    image = bytearray(pack(plain(8)))
    image[0x50 + 12 : 0x50 + 16] = image[0x50 + 4 : 0x50 + 8]
    return bytes(image)


@fixture()
def padded_keys():
    """Different non-zero pad fields in all rotation keys."""
    bones = plain_bones()
    for n, key in enumerate(key for bone in bones for key in bone.rot):
        key.pad = (-1) ** n * (0x1234 + 257 * n)
    return pack(plain(8, bones=bones))


def crowd(count):
    times = (FRAME, MIDDLE, END)
    return [
        Bone(
            turning(times, (i % 3, 1, i % 5), (i, 50 - i, i)),
            still((FRAME, END), (0, 0.01 * i, 0.02)),
            i % 11,
        )
        for i in range(count)
    ]


@fixture()
def bones50():
    """As many bones as the tables of the engine hold."""
    return pack(Clip(8, bones=crowd(50)))


@fixture()
def bones51():
    """One bone more than the tables of the engine hold."""
    return pack(Clip(8, bones=crowd(51)))


@fixture()
def zero_bones():
    """Header and offset block only."""
    return pack(Clip(8))


@fixture()
def nan_floats():
    """Floats whose bits must survive: quiet and signalling NaNs of both signs, infinities, -0.0,
    denormals."""
    odd = [
        Bits(b)
        for b in (
            0x7FC00001,
            0xFFC12345,
            0x7F800001,
            0xFFBFFFFF,
            0x7F800000,
            0xFF800000,
            0x80000000,
            0x00000001,
            0x807FFFFF,
            0x7FFFFFFF,
            0x7FA5A5A5,
            0x00400000,
        )
    ]
    bones = plain_bones()
    keys = [key for bone in bones for key in bone.pos]
    for i, key in enumerate(keys):
        pick = [odd[(9 * i + j) % len(odd)] for j in range(9)]
        key.pos, key.handle_in, key.handle_out = pick[:3], pick[3:6], pick[6:]
    for i, bone in enumerate(bones):
        bone.weight = odd[3 * i]
    return pack(
        plain(
            8,
            bones=bones,
            reduction=(odd[0], odd[6]),
            total_rotation=odd[1:5],
            total_translation=odd[7:10],
        )
    )


def big():
    """About 3.6 MB of smooth motion for benches: 50 bones, 2000 rotation and 1000 position keys
    each."""
    import random

    rng = random.Random(2001)
    step, count = FRAME, 2000
    clip = Clip(8, start=FRAME, end=FRAME * count, ramp_in=800, ramp_out=2400)
    for _ in range(50):
        axis = [rng.uniform(-1, 1) for _ in range(3)]
        tilt = axis_angle([rng.uniform(-1, 1) for _ in range(3)], rng.uniform(10, 40))
        base = [rng.uniform(-0.5, 0.5) for _ in range(3)]
        rates = [rng.uniform(0.02, 0.09) for _ in range(4)]

        def swing(n):
            angle = 40 * math.sin(rates[0] * n) + 15 * math.sin(rates[1] * n + 1)
            return qmul(tilt, axis_angle(axis, angle))

        def place(n):
            away = (
                0.05 * math.sin(rates[2] * n),
                0.03 * math.sin(rates[3] * n + 2),
                0.04 * math.cos(rates[2] * n),
            )
            return mix(base, rotate(tilt, away), 0.5)

        def slope(n):
            return tuple((b - a) / 2 for a, b in zip(place(n - 1), place(n + 1)))

        rot = [rk(step * (1 + n), swing(n)) for n in range(count)]
        pos = []
        for n in range(0, count, 2):
            p, m = place(n), slope(n)
            third = tuple(c * 2 / 3 for c in m)
            pos.append(
                pk(
                    step * (1 + n),
                    p,
                    tuple(a - b for a, b in zip(p, third)),
                    tuple(a + b for a, b in zip(p, third)),
                )
            )
        pos[-1].time = clip.end
        clip.bones.append(Bone(rot, pos, float(rng.choice((5, 8, 10)))))
    return pack(clip)
