"""Clips that a check must complain about, and clips of the fixture character."""

import character
import rfa_build as rfa
from rfa_build import FRAME, Bits, Bone, Clip, Registry, pack, pk, raw_rk, rk, still, thirds
from rfa_fixtures import END, MIDDLE, plain, plain_bones, turning
from vecmath import add, axis_angle, qmul, rotate, scale

fixture = Registry("rfa")


@fixture()
def keys_outside():
    """Keys before the start and after the end of the clip."""
    return pack(plain(8, start=4 * FRAME, end=7 * FRAME, ramp_in=FRAME, ramp_out=FRAME))


@fixture()
def zero_handles():
    """Handles left at (0,0,0) on a bone away from the origin: the bone dips to its parent between
    keys."""
    bones = plain_bones()
    bones[0].pos = [
        pk(t, p, (0, 0, 0), (0, 0, 0))
        for t, p in ((FRAME, (0.5, 1, 0.2)), (MIDDLE, (0.6, 1, 0.2)), (END, (0.5, 1, 0.2)))
    ]
    return pack(plain(8, bones=bones))


@fixture()
def flat_handles():
    """Handles equal to the key on a moving track: it stutters at every key."""
    bones = plain_bones()
    bones[0].pos = [pk(FRAME * f, (0.1 * f, 0.9, 0.02 * f)) for f in (1, 3, 6, 10)]
    return pack(plain(8, bones=bones))


@fixture()
def long_quat():
    """Raw quaternion lengths above 16383, on segments far too wide to snap."""
    bones = plain_bones()
    bones[1].rot = [
        raw_rk(FRAME, (0, 0, 0, 16390)),
        raw_rk(MIDDLE, (8000, 0, 0, 14310)),
        raw_rk(END, (0, 0, 0, 16384)),
    ]
    return pack(plain(8, bones=bones))


@fixture()
def short_quat():
    """Raw quaternion lengths far below 16383."""
    bones = plain_bones()
    bones[1].rot = [
        raw_rk(FRAME, (0, 0, 0, 12000)),
        raw_rk(MIDDLE, (3000, 4000, 0, 9000)),
        raw_rk(END, (100, 0, 0, 200)),
    ]
    return pack(plain(8, bones=bones))


@fixture()
def weights():
    """Bone weights above 10, negative, NaN, 0, just above and below the engine's zero, 10."""
    values = [12.5, -1.0, Bits(0x7FC00000), 0.0, 2e-5, 0.9e-5, 10.0]
    bones = [
        Bone(turning((FRAME, END), (0, 1, 0), (0, 30)), still((FRAME, END), (0, 0.1, 0)), w)
        for w in values
    ]
    return pack(Clip(8, ramp_in=2 * FRAME, ramp_out=3 * FRAME, bones=bones))


@fixture()
def negative_ease():
    """Ease bytes that a signed reader sees as negative."""
    bones = plain_bones()
    bones[0].rot[0].ease_out, bones[0].rot[1].ease_in, bones[2].rot[1].ease_out = -1, -100, -128
    return pack(plain(8, bones=bones))


@fixture()
def long_ramps():
    """Both ramps longer than the clip, so they overlap and the first wins, even past the end."""
    return pack(plain(8, ramp_in=13 * FRAME, ramp_out=11 * FRAME))


@fixture()
def time_disorder():
    """Equal and decreasing key times, of rotations and of positions."""
    bones = plain_bones()
    bones[0].rot[2].time = bones[0].rot[1].time
    bones[0].pos[2].time = bones[0].pos[1].time - 1
    bones[1].rot[1].time = END + FRAME
    return pack(plain(8, bones=bones))


@fixture()
def end_before_start():
    """end_time below start_time."""
    return pack(plain(8, start=END, end=FRAME))


@fixture(name="a_base_name_that_is_longer_than_the_59_characters_the_game_allows")
def long_name():
    """A file name over 59 characters, of a clip without other faults."""
    return pack(plain(8))


@fixture()
def loop_seam():
    """Bone 1 ends 10 mm (along x) and 2 degrees away from where it starts; bone 0 closes."""
    start_q, start_p = axis_angle((0, 1, 0.3), 25), (0.2, 0.4, 0.1)
    bones = [
        Bone(turning((FRAME, MIDDLE, END), (1, 0, 0), (0, 40, 0)), still((FRAME, END), (0, 0.9, 0)))
    ]
    end_q = qmul(start_q, axis_angle((0, 0.6, 0.8), 2))
    bones.append(
        Bone(
            [rk(FRAME, start_q), rk(MIDDLE, axis_angle((1, 1, 0), 60)), rk(END, end_q)],
            thirds((FRAME, MIDDLE, END), [start_p, (0.25, 0.42, 0.1), add(start_p, (0.01, 0, 0))]),
        )
    )
    return pack(Clip(8, bones=bones))


# Clips for char.v3c


def rest_bones():
    """Every bone at rest, in two equal keys: what a writer must do for bones without motion."""
    return [
        Bone([rk(FRAME, q), rk(END, q)], still((FRAME, END), t)) for q, t in character.REST_LOCAL
    ]


def wave_bones():
    bones = rest_bones()
    arm, root = character.NAMES.index("arm-r"), character.NAMES.index("root")
    arm_q = character.REST_LOCAL[arm][0]
    arc = [qmul(arm_q, axis_angle((0.1, 0.2, 1), d)) for d in (0, 70, 35, 75, 0)]
    bones[arm].rot = [rk(FRAME * f, q) for f, q in zip((1, 3, 5, 7, 10), arc)]
    for key, (ease_in, ease_out) in zip(
        bones[arm].rot, ((0, 60), (90, 30), (50, 100), (20, 0), (127, 0))
    ):
        key.ease_in, key.ease_out = ease_in, ease_out
    rest = character.REST_LOCAL[root][1]
    bones[root].pos = thirds(
        [FRAME * f for f in (1, 4, 7, 10)],
        [add(rest, d) for d in ((0, 0, 0), (0.02, -0.05, 0.1), (0.03, 0.02, 0.25), (0, 0, 0))],
    )
    bones[arm].weight = 8.0
    return bones


def wave(**changes):
    usual = {"version": 8, "ramp_in": 2 * FRAME, "ramp_out": 2 * FRAME, "bones": wave_bones()}
    return Clip(**{**usual, **changes})


@fixture()
def char_wave():
    """Fits char.v3c: position keys equal the rest offsets, arm-r turns with eases, root moves."""
    return pack(wave())


@fixture()
def char_wrong_order():
    """char_wave with the tracks in alphabetical order of the bones, which is not the order of the
    mesh."""
    bones = wave_bones()
    order = sorted(range(len(bones)), key=lambda i: character.NAMES[i])
    return pack(wave(bones=[bones[i] for i in order]))


@fixture()
def char_fewer_bones():
    """char_wave without its last track."""
    return pack(wave(bones=wave_bones()[:-1]))


@fixture()
def char_stretch():
    """char_wave with an arm whose position keys make it 20 percent longer half-way: a bone length
    changes."""
    bones = wave_bones()
    arm = character.NAMES.index("arm-l")
    rest = character.REST_LOCAL[arm][1]
    bones[arm].pos = thirds((FRAME, MIDDLE, END), [rest, scale(rest, 1.2), rest])
    return pack(wave(bones=bones))


FACE = [*character.NOSE, *range(0, 8)]  # original vertices: the nose, then the corners of the head


def face_frames():
    """The first keyframe is the rest shape; then the nose grows, then the head tilts."""
    rest = [character.ORIGINALS[i] for i in FACE]
    q, pivot = character.REST_WORLD[0]
    forward = rotate(q, (0, 0, 1))
    grown = [
        add(p, scale(forward, 0.08 if i == character.NOSE[-1] else 0.0)) for i, p in zip(FACE, rest)
    ]
    tilt = axis_angle((0, 0, 1), 15)
    tilted = [add(pivot, rotate(tilt, add(p, scale(pivot, -1)))) for p in grown]
    return [rest, grown, tilted]


@fixture()
def char_morph_v8():
    """char_wave with version 8 morph keyframes for the original vertices of nose and head."""
    box, codes = rfa.morph_bytes(face_frames())
    return pack(
        wave(
            morph_indices=FACE,
            morph_times=[FRAME, MIDDLE, 8 * FRAME],
            morph_box=box,
            morph_frames=codes,
        )
    )


@fixture()
def char_morph_v7():
    """The same morph in version 7."""
    return pack(wave(version=7, morph_indices=FACE, morph_frames=face_frames()))


@fixture()
def morph_index_past():
    """Fits char.v3c, but the last morph indices are at and beyond the vertex count of its LOD 0."""
    indices = [51, 55, character.NUM_ORIGINALS, character.NUM_ORIGINALS + 3, 65535]
    frames = [[(0.1 * i, 1.5, 0.1 * k) for i in range(len(indices))] for k in range(2)]
    box, codes = rfa.morph_bytes([[(x, y + 0.01 * x, z) for x, y, z in frame] for frame in frames])
    return pack(
        wave(morph_indices=indices, morph_times=[FRAME, END], morph_box=box, morph_frames=codes)
    )
