"""Packs Red Faction animation clips, well formed or not. Knows the layout only, nothing about
motion."""

import struct
from dataclasses import dataclass, field

from vecmath import add, conj, f32, mix, scale, sub

FRAME = 160  # ticks of one frame at 30 frames per second
IDENTITY = (0.0, 0.0, 0.0, 1.0)


class Bits(int):
    """A float given by its 32 bits: a NaN payload does not survive a Python float."""


@dataclass
class RotKey:
    time: int  # ticks
    stored: tuple  # four int16, as in the file
    ease_in: int = 0
    ease_out: int = 0
    pad: int = 0


@dataclass
class PosKey:
    time: int  # ticks
    pos: tuple  # metres; absolute, like both handles
    handle_in: tuple
    handle_out: tuple


@dataclass
class Bone:
    rot: list = field(default_factory=list)
    pos: list = field(default_factory=list)
    weight: float = 10.0


@dataclass
class Clip:
    version: int = 8
    start: int = FRAME
    end: int = 10 * FRAME
    ramp_in: int = 0
    ramp_out: int = 0
    bones: list = field(default_factory=list)
    reduction: tuple = (0.0, 0.0)
    total_rotation: tuple = IDENTITY
    total_translation: tuple = (0.0, 0.0, 0.0)
    morph_indices: list = field(default_factory=list)
    # Version 8 only: times, whose number is the keyframe count, and box (min, max).
    morph_times: list = field(default_factory=list)
    morph_box: tuple = ()
    # Per keyframe, per vertex: three bytes (version 8) or three floats (version 7).
    morph_frames: list = field(default_factory=list)


def quantise(active):
    """Stored form: conjugated and truncated towards zero, which keeps the raw length at or below
    16383."""
    return tuple(int(16383 * c) for c in conj(active))


def rk(time, active, ease_in=0, ease_out=0, pad=0):
    return RotKey(time, quantise(active), ease_in, ease_out, pad)


def raw_rk(time, stored):
    return RotKey(time, tuple(stored))


def pk(time, pos, handle_in=None, handle_out=None):
    return PosKey(
        time,
        tuple(pos),
        tuple(pos if handle_in is None else handle_in),
        tuple(pos if handle_out is None else handle_out),
    )


def thirds(times, points):
    """Straight motion at constant speed between keys: handles at the thirds of each segment."""
    keys = [pk(t, p) for t, p in zip(times, points)]
    for a, b in zip(keys, keys[1:]):
        a.handle_out = mix(a.pos, b.pos, 1 / 3)
        b.handle_in = mix(a.pos, b.pos, 2 / 3)
    return keys


def bent(times, points, bend):
    """As thirds(), but curved, and differently on both sides of a key: swapped handles show."""
    keys = thirds(times, points)
    for i, key in enumerate(keys):
        if i > 0:
            key.handle_in = add(key.handle_in, scale(bend, 0.5 + 0.25 * i))
        if i + 1 < len(keys):
            key.handle_out = sub(key.handle_out, scale((bend[2], bend[0], bend[1]), 1.0 + 0.5 * i))
    return keys


def still(times, pos):
    return [pk(t, pos) for t in times]


def floats(values):
    return b"".join(
        struct.pack("<I", v) if isinstance(v, Bits) else struct.pack("<f", v) for v in values
    )


def pack_bone(bone):
    parts = [floats([bone.weight]), struct.pack("<hh", len(bone.rot), len(bone.pos))]
    for k in bone.rot:
        parts.append(struct.pack("<i4hbbh", k.time, *k.stored, k.ease_in, k.ease_out, k.pad))
    for k in bone.pos:
        parts.append(struct.pack("<i", k.time) + floats([*k.pos, *k.handle_in, *k.handle_out]))
    return b"".join(parts)


def keyframe_count(clip):
    return len(clip.morph_times) if clip.version == 8 else len(clip.morph_frames)


def pack_morph_frames(clip):
    nmk, nmv = keyframe_count(clip), len(clip.morph_indices)
    if clip.version == 7:
        return b"".join(floats(p) for frame in clip.morph_frames for p in frame)
    parts = [struct.pack(f"<{nmk}i", *clip.morph_times)]
    if nmk * nmv > 0:
        parts.append(floats([*clip.morph_box[0], *clip.morph_box[1]]))
        parts.extend(bytes(p) for frame in clip.morph_frames for p in frame)
    return b"".join(parts)


def pack(
    clip, order=None, gaps=None, morph_first=False, morph_pad=0, morph_offsets=None, trailing=b""
):
    """The file. Without further arguments the order is the canonical one and there is no byte too
    many.

    order: file order of the bone records. gaps: bytes in front of the n-th record in the file.
    morph_first: morph sections in front of the bone records. morph_pad: value of the padding
    bytes behind the index list. morph_offsets: what to store where there is no morph data.
    """
    nbones, nmv, nmk = len(clip.bones), len(clip.morph_indices), keyframe_count(clip)
    image = bytearray(0x50 + 4 * nbones)

    def put_bones():
        offsets = [0] * nbones
        for n, i in enumerate(order if order is not None else range(nbones)):
            image.extend((gaps or {}).get(n, b""))
            offsets[i] = len(image)
            image.extend(pack_bone(clip.bones[i]))
        return offsets

    def put_morph():
        index_at = len(image)
        image.extend(struct.pack(f"<{nmv}H", *clip.morph_indices))
        if nmv:
            image.extend(bytes([morph_pad]) * (-len(image) % 4))
        frames_at = len(image)
        image.extend(pack_morph_frames(clip))
        return index_at, frames_at

    if morph_first:
        morph = put_morph()
        offsets = put_bones()
    else:
        offsets = put_bones()
        morph = put_morph()
    if morph_offsets is not None:
        morph = morph_offsets
    image.extend(trailing)

    header = struct.pack("<4si", b"VMVF", clip.version) + floats(clip.reduction)
    header += struct.pack(
        "<7i", clip.start, clip.end, nbones, nmv, nmk, clip.ramp_in, clip.ramp_out
    )
    header += floats([*clip.total_rotation, *clip.total_translation])
    header += struct.pack(f"<2i{nbones}i", *morph, *offsets)
    image[: len(header)] = header
    return bytes(image)


def morph_bytes(frames):
    """Version 8 form of absolute positions: the box of all frames, as floats of a file, and the
    nearest bytes."""
    points = [p for frame in frames for p in frame]
    low = tuple(f32(min(p[a] for p in points)) for a in range(3))
    high = tuple(f32(max(p[a] for p in points)) for a in range(3))

    def code(p):
        return tuple(
            min(255, max(0, round((p[a] - low[a]) / (high[a] - low[a]) * 255))) for a in range(3)
        )

    return (low, high), [[code(p) for p in frame] for frame in frames]


class Registry:
    """Collects fixtures in the order of their definition. A fixture's docstring is its note in the
    index."""

    def __init__(self, kind):
        self.kind = kind
        self.entries = []

    def __call__(self, canonical=True, name=None, kind=None):
        def wrap(build):
            suffix = kind or self.kind
            self.entries.append(
                {
                    "file": f"{name or build.__name__}.{suffix}",
                    "kind": suffix,
                    "canonical": canonical,
                    "note": " ".join(build.__doc__.split()),
                    "build": build,
                }
            )
            return build

        return wrap
