"""TotemTech animations: every variant, every interpolation, faults, thousands of random ones, and the
other variants of the samples where those are at hand. Lists of them go to OUTDIR/totemtech.json, the
numbers that totemtech_reference.py expects to OUTDIR/totemtech_reference.json."""

import json
import math
import os
import random
import struct
from pathlib import Path

import totemtech_reference
from totemtech_build import (animation, crc, has_message_keys, material, mesh, node, pack, parse, quantised, rot,
                             turning)
from vecmath import axis_angle, qmul, unit

VARIANTS = [(big, header, junk) for big in (False, True) for header in (False, True) for junk in (False, True)]
# Of the shared samples: file, big, header, junk.
SAMPLES = [("walk_le", False, False, False), ("walk_be_hdr", True, True, False),
           ("walk_be_msgjunk", True, False, True), ("empty_be", True, False, False)]


def neg(q):
    return tuple(-c for c in q)


def vec_keys(frames, points, sign=1):
    """Vec3 keys with the tangents of a smooth curve; `sign` is what tangents in are stored with."""
    keys = []
    for i, (f, p) in enumerate(zip(frames, points)):
        a, b = points[max(i - 1, 0)], points[min(i + 1, len(points) - 1)]
        before = frames[i] - frames[i - 1] if i else 0
        after = frames[i + 1] - f if i + 1 < len(frames) else 0
        span = max(frames[min(i + 1, len(frames) - 1)] - frames[max(i - 1, 0)], 1)
        slope = [(y - x) / span for x, y in zip(a, b)]
        keys.append((f, tuple(p), tuple(round(sign * s * before) for s in slope),
                     tuple(round(s * after) for s in slope)))
    return keys


PATH = [(0, 1000, 50), (120, 1040, 260), (-90, 960, 420), (30, 1010, 700)]
SIZES = [(1000, 1000, 1000), (1100, 950, 1000), (980, 1020, 1010), (1000, 1000, 1000)]


def turns(axis, degrees):
    return [axis_angle(axis, d) for d in degrees]


def walk(sign=1, rate=60, text=b"SB_LAUGH01", stale=0):
    frames = [0, rate // 4, rate // 2, rate]
    spine = turns((0.2, 1, 0.1), (0, 35, -20, 0))
    knee = turns((1, 0.3, -0.4), (10, 80, 150, 10))
    knee[2] = neg(knee[2])
    messages = [(rate // 4, stale, [(14, 5, b"", 7), (0x11, 1, text, crc("TALK"))]),
                (rate // 2, stale, []), (rate, stale, [(0x13, 0, b"", 0)])]
    return animation(1.0, [
        node(crc("BIP01"), (1, vec_keys(frames, PATH, sign)), (1, turning(frames, spine, stale)),
             (1, vec_keys(frames, SIZES, sign)), (1, messages)),
        node(crc("BIP01 L CALF"), rotation=(1, turning(frames, knee, stale)), flag=4),
        node(crc("BIP01 HEAD"), t3=(1, vec_keys(frames, SIZES, sign))),
    ], [mesh(crc("EYES_CLOSED"), (8, [(0, stale, 0.0, 0.0, 0.0), (frames[1], stale, 1.0, 0.0, 0.0),
                                      (frames[2], stale, 0.0, 0.0, 0.0)]))],
        [material(crc("M_EYE"), track1=(1, [(0, stale, 0.0, 0.0, 1.5), (rate, stale, 1.0, sign * 0.25, 0.0)]),
                  track4=(2, [(0, stale, 1.0, 0.0, 0.5), (rate, stale, 1.5, 0.5, 0.0)]),
                  track7=(1, vec_keys(frames, SIZES, sign)),
                  track8=(8, [(0, stale, 1.0, 0.0, 0.0), (frames[1], stale, 0.25, 0.0, 0.0)]))])


def interps():
    """One node per set of flags; keys with tangents that no straight line has."""
    frames = [0, 10, 40, 60]
    bent = [(f, p, (100, -50, 20), (300, 200, -100)) for f, p in zip(frames, PATH)]
    q = turns((1, 2, 3), (0, 70, -60, 20))
    floats = [(f, 0, v, 0.4, -0.7) for f, v in zip(frames, (0.0, 2.0, -1.0, 0.5))]
    return animation(1.0, [node(100 + bits, (bits, bent), (bits, turning(frames, q)),
                                (bits, vec_keys(frames, SIZES))) for bits in (0, 1, 2, 3, 4, 8, 9, 10, 17, 18)],
                     materials=[material(200 + bits, track2=(bits, floats), track6=(bits, bent))
                                for bits in (1, 2, 8)])


def slerps():
    """Stored angles: plain, with the two pi, 0, absurd, the long way round, and keys of one direction."""
    frames = [0, 12, 30, 31, 45, 60]
    plain = turns((0.3, 1, 0.2), (0, 20, 100, 130, -20, 0))
    flips = [neg(q) if i in (1, 2, 4) else q for i, q in enumerate(plain)]
    held = [rot(f, quantised(q)) for f, q in zip(frames, plain)]
    absurd = [rot(f, quantised(q), *more) for f, q, more in
              zip(frames, flips, [(1e9, 1.0), (0.5, 9.0), (-3.0, -7.0), (1e-30, 1e30), (2 * math.pi, 1.0), (0.0, 0.0)])]
    wide = turns((1, -0.4, 0.5), (0, 150, 330, 350, 200, 10))
    long_way = []
    for f, q, r in zip(frames, wide, [*wide[1:], wide[-1]]):
        d = sum(x * y for x, y in zip(q, r))
        omega = math.acos(max(-1.0, min(1.0, d)))
        s = math.sin(omega)
        long_way.append(rot(f, quantised(q), omega if s > 1e-4 else 0.0, 1 / s if s > 1e-4 else 0.0))
    same = turning(frames, [plain[1]] * 3 + [neg(plain[1])] * 3)
    lists = [turning(frames, plain), turning(frames, flips), held, absurd, long_way, same]
    return animation(1.0, [node(300 + i, rotation=(1, k)) for i, k in enumerate(lists)])


def edges():
    """Single keys, keys that begin late and end early, equal times, a jump, keys beyond the end."""
    q = turns((0, 1, 0), (0, 50, 90, 120))
    point = [(20, (500, 600, 700), (10, 10, 10), (30, 30, 30))]
    late = vec_keys([20, 30, 40], PATH[:3])
    equal = vec_keys([0, 30, 60, 61], PATH)
    equal[2] = (30, *equal[2][1:])
    equal[3] = (60, *equal[3][1:])
    return animation(1.0, [
        node(400, (1, point), (1, [rot(20, quantised(q[1]), 0.3, 3.4)]), (1, [(20, (900, 1000, 1100), (0,) * 3, (0,) * 3)])),
        node(401, (1, late), (1, turning([20, 30, 40], q[:3]))),
        node(402, (1, equal), (1, turning([0, 30, 30, 60], q))),
        node(403, (1, vec_keys([0, 50, 190], PATH[:3])), (8, turning([0, 50, 190], q[:3]))),
        node(404, (2, late)),
    ], [mesh(405, (8, [(20, 0, 1.0, 0.0, 0.0), (40, 0, 0.0, 0.0, 0.0)]))])


def scale_first():
    """t1 holds the scale: its values sit near 1000."""
    frames = [0, 20, 40, 60]
    return animation(1.0, [node(crc("BIP01"), (1, vec_keys(frames, SIZES)),
                                (1, turning(frames, turns((0, 1, 0), (0, 10, 20, 0)))), (1, vec_keys(frames, PATH)))])


def quaternions():
    """Raw quaternions, one key each, that tell the decodings apart."""
    raws = [(-1000, -1000, -1000, 1000), (0, 0, -2000, 0), (-1, 0, 0, 2000), (1414, 0, 0, 1414), (0, -1999, 62, 0),
            (2100, 0, 0, 0)]
    return animation(0.5, [node(500 + i, rotation=(1, [rot(0, q)])) for i, q in enumerate(raws)])


def faults():
    """A file that reads, with as much wrong in it as the checks look for."""
    nan = float("nan")
    frames = [0, 30, 20, 500]
    q = turns((0, 1, 0), (0, 50, 90, 120))
    keys = [rot(0, quantised(q[0]), 2.0, 1.0), rot(30, (2100, 0, 0, 0), 0.4, nan), rot(20, (900, 0, 0, 900), 0.1, 10.0),
            rot(500, quantised(q[3]), 0.3, 0.2)]
    messages = [(10, 0, [(0x12, 0, b"x" * 150, 0), (4000, 0, b"", 0)]), (5, 0, [(0x11, 0, b"STREAM\0", 0)])]
    twice = [(f, p, (-50, 10, 0), (60, 10, 0)) for f, p in zip(frames, SIZES)]
    return animation(nan, [node(600, (0x40, twice), (1, keys), (1, vec_keys([0, 10, 20, 30], SIZES)), (1, messages), flag=0x300),
                           node(600)],
                     [mesh(601, (8, [(0, 0, nan, 0.0, 0.0), (1, 0, 2e6, 0.0, 0.0)])), mesh(601, (8, [])),
                      mesh(602, (1, [(0, 0, 0.0, 0.0, 0.0), (9, 0, 1.0, 0.0, 0.0)]))],
                     [material(603, flag=0x200, track1=(2, [(0, 0, 0.0, 0.0, 0.0), (9, 0, 1.0, 0.0, 0.0)]))], flag=0x4002)


def skeleton(order, extra=True):
    """A SKEL block of five bones, big-endian, whose ids stand in the columns that `order` names: for name,
    parent, first child, previous and next. World matrices are row-vector ones."""
    bones = [("ROOT", None, (0, 1, 0), axis_angle((0, 1, 0), 30)), ("HIP", "ROOT", (0.2, 0.5, 0), axis_angle((1, 0, 0), 40)),
             ("KNEE", "HIP", (0, -0.5, 0), axis_angle((1, 0, 0), -60)), ("ARM", "ROOT", (-0.2, 0.7, 0.1), axis_angle((0, 0, 1), 80)),
             ("HAND", "ARM", (-0.4, 0, 0), axis_angle((0.5, 1, 0), 15))]
    children = {b[0]: [c[0] for c in bones if c[1] == b[0]] for b in bones}
    world = {}
    out = struct.pack(">II5fI", crc("SKELETON"), 0, 1, 2, 3, 4, 5, len(bones))
    for name, parent, move, turn in bones:
        m = matrix(turn, move)
        world[name] = product(m, world[parent]) if parent else m
        siblings = children[parent] if parent else [name]
        at = siblings.index(name)
        ids = [name, parent, (children[name] or [None])[0], siblings[at - 1] if at else None,
               siblings[at + 1] if at + 1 < len(siblings) else None]
        out += struct.pack(">5I", *[crc(ids[k]) if ids[k] else 0 for k in order])
        if extra and name == "KNEE":
            out += struct.pack(">IIII", crc("USERDEFINE"), 1, 2, 3) + b"abc"
        else:
            out += struct.pack(">I", 0)
        out += struct.pack(">3f4s4f3f", *move, b"junk", *turn, 1, 1, 1)
        out += struct.pack(">18f", *[0.0] * 18)
        out += struct.pack(">16f", *[c for row in world[name] for c in row]) + struct.pack(">16f", *[0.0] * 16)
    return out


def matrix(q, move):
    rows = [turned(q, axis) for axis in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    return [[*r, 0.0] for r in rows] + [[*move, 1.0]]


def turned(q, v):
    return qmul(qmul(q, (*v, 0.0)), (-q[0], -q[1], -q[2], q[3]))[:3]


def product(a, b):
    return [[sum(a[i][k] * b[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def random_animation(r):
    def interp():
        return r.choice((1, 1, 1, 2, 3, 8, 0, 17, 4))

    def frames(n):
        return sorted(r.randrange(0, 600) for _ in range(n))

    def small():
        return r.choice((0, 0, 1, 1, 2, 3, 5, 9))

    def name():
        return r.getrandbits(32)

    def floats():
        return (interp(), [(f, r.choice((0, 0xCDCD, r.getrandbits(16))), *(struct.unpack("<f", struct.pack("<f", r.uniform(-2, 2)))[0] for _ in range(3)))
                           for f in frames(small())])

    def vectors():
        return (interp(), [(f, *(tuple(r.randrange(-3000, 3000) for _ in range(3)) for _ in range(3))) for f in frames(small())])

    def rotations():
        f = frames(small())
        q = [unit(tuple(r.gauss(0, 1) for _ in range(4))) for _ in f]
        return (interp(), [k[:2] + (r.getrandbits(16),) + tuple(struct.unpack("<f", struct.pack("<f", x))[0] for x in k[3:])
                           for k in turning(f, q)])

    def messages():
        def one():
            number = r.choice((4, 5, 14, 17, 18, 19, 33, 300))
            text = bytes(r.choice(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") for _ in range(r.randrange(0, 24)))
            return (number, r.choice((0, 1, 5, r.getrandbits(32))), text if 0x11 <= number <= 0x13 else b"", r.choice((0, name())))

        return (interp(), [(f, r.getrandbits(16), [one() for _ in range(r.randrange(0, 4))])
                           for f in frames(r.choice((0, 0, 1, 2, 4)))])

    a = animation(r.choice((0.5, 1.0, 2.25, 10.0)), flag=r.choice((0, 0, 1, 2)), header=(name(), name()))
    a["meshes"] = [mesh(name(), floats(), r.randrange(4)) for _ in range(r.choice((0, 0, 1, 3)))]
    a["nodes"] = [node(name(), vectors(), rotations(), vectors(), messages(), r.randrange(8)) for _ in range(r.choice((0, 1, 2, 4)))]
    a["materials"] = [{"name": name(), "flag": 0, "tracks": [floats() for _ in range(5)] + [vectors(), vectors(), floats()]}
                      for _ in range(r.choice((0, 0, 1)))]
    if not a["meshes"] and not a["nodes"] and not a["materials"]:
        a["nodes"] = [node(name(), vectors())]
    return a


def write_random(outdir, count=3200):
    """u32 count; then each: u8 big, u8 header, u8 junk, u8 has message keys, u32 size, bytes. Little-endian."""
    r = random.Random(173)
    out = [struct.pack("<I", count)]
    for i in range(count):
        a = random_animation(r)
        big, header, junk = VARIANTS[i % len(VARIANTS)]
        data = pack(a, big, header, junk)
        out.append(struct.pack("<4BI", big, header, junk, has_message_keys(a), len(data)) + data)
    (outdir / "totemtech_random.bin").write_bytes(b"".join(out))


def samples_dir():
    given = os.environ.get("DOPESHEET_SAMPLES")
    return Path(given) if given else Path(__file__).resolve().parents[2] / ".." / "shared" / "samples"


def write_sample_twins(outdir):
    """The shared samples in all the variants that they are not in."""
    names = []
    for name, *variant in SAMPLES:
        source = samples_dir() / "totemtech" / f"{name}.animation"
        if not source.exists():
            continue
        data = source.read_bytes()
        a = parse(data, *variant)
        assert pack(a, *variant) == data
        for other in VARIANTS:
            file = f"twin_{name}_{suffix(other)}.animation"
            (outdir / file).write_bytes(pack(a, *other))
            names.append(entry(file, a, other, ""))
    return names


def suffix(variant):
    big, header, junk = variant
    return ("be" if big else "le") + ("_hdr" if header else "") + ("_junk" if junk else "")


def entry(file, a, variant, note):
    big, header, junk = variant
    return {"file": file, "big": big, "header": header, "junk": junk, "messages": has_message_keys(a),
            "tracks": len(a["meshes"]) + len(a["nodes"]) + len(a["materials"]), "note": note}


def write(outdir):
    index = []

    def put(name, a, variant=(True, False, False), note=""):
        file = f"tt_{name}.animation"
        (outdir / file).write_bytes(pack(a, *variant))
        index.append(entry(file, a, variant, note))

    for variant in VARIANTS:
        put("walk_" + suffix(variant), walk(stale=0xBEEF), variant, "all tracks, in every variant")
        put("empty_" + suffix(variant), animation(1.5), variant, "nothing is animated")
    put("minus", walk(sign=-1), note="tangents in point backwards")
    put("30fps", walk(rate=30), note="30 ticks a second")
    put("interps", interps(), note=interps.__doc__)
    put("slerps", slerps(), (False, False, False), slerps.__doc__)
    put("edges", edges(), note=edges.__doc__)
    put("scale_first", scale_first(), note=scale_first.__doc__)
    put("quaternions", quaternions(), note=quaternions.__doc__)
    put("faults", faults(), note=faults.__doc__)
    write_random(outdir)
    for name, order in (("skel_01234", (0, 1, 2, 3, 4)), ("skel_34210", (3, 4, 2, 1, 0))):
        (outdir / f"{name}.bin").write_bytes(skeleton(order))
    (outdir / "totemtech.json").write_text(json.dumps(index, indent=1) + "\n")
    twins = write_sample_twins(outdir)
    (outdir / "totemtech_twins.json").write_text(json.dumps(twins, indent=1) + "\n")
    totemtech_reference.write(outdir)
