"""Shenmue motion banks, small ones: every encoding, shared records, holes, orphans, packages whose
name pointers are relative. Expected numbers for their curves go to OUTDIR/motn.json."""

import json
import struct

TRAILER = b"Fri Nov 12 16:10:23 1999\n\0" + bytes(6)


def half(value):
    """The game's half float: the exponent is re-biased, the rest cut off."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    magnitude = bits & 0x7FFFFFFF
    if magnitude < 0x38800000:
        return 0
    return (bits >> 16 & 0x8000) | (magnitude - 0x38000000) >> 13


def unhalf(word):
    if word & 0x7FFF == 0:
        return 0.0
    return struct.unpack("<f", struct.pack("<I", (word & 0x8000) << 16 | ((word & 0x7FFF) << 13) + 0x38000000))[0]


def curves(frames, rig, tracks, wide_counts=False, holes=(b"", b"", b"", b"")):
    """tracks: {(bone, bit): [(frame, code, words...), ...]}, first and last key included."""
    channels = {}
    for bone, bit in tracks:
        channels[bone] = channels.get(bone, 0) | bit
    order = [(bone, 1 << k) for bone in sorted(channels) for k in range(8, -1, -1) if channels[bone] >> k & 1]
    block1 = b"".join(struct.pack("<H", bone << 9 | bits) for bone, bits in sorted(channels.items())) + b"\0\0"
    counts, times, codes, words = b"", b"", b"", b""
    wide_times = frames > 255
    for key in order:
        keys = tracks[key]
        counts += struct.pack("<H" if wide_counts else "<B", len(keys) - 2)
        for frame, *_ in keys[1:-1]:
            times += struct.pack("<H" if wide_times else "<B", frame)
        packed = bytearray((len(keys) + 3) // 4)
        for k, (_, code, *values) in enumerate(keys):
            assert len(values) == code
            packed[k // 4] |= code << (6 - 2 * (k % 4))
            words += b"".join(struct.pack("<H", v) for v in values)
        codes += bytes(packed)
    at = 12 + len(block1) + len(holes[0])
    offsets = [at]
    body = block1 + holes[0] + counts
    pad = holes[1] or (b"\0" if wide_times and (12 + len(body)) % 2 else b"")
    body += pad
    offsets.append(12 + len(body))
    body += times + holes[2]
    offsets.append(12 + len(body))
    body += codes
    body += holes[3] or (b"\0" if (12 + len(body)) % 2 else b"")
    offsets.append(12 + len(body))
    body += words
    return struct.pack("<6H", frames | (0x8000 if wide_counts else 0), rig, *offsets) + body


def walk():
    v = half
    return {
        (0, 0x100): [(0, 0), (9, 0)],
        (0, 0x80): [(0, 1, v(1.1)), (4, 2, v(0.5), v(1.15)), (9, 1, v(1.1))],
        (0, 0x40): [(0, 2, v(-1.2), v(0.0)), (9, 3, v(-1.2), v(0.25), v(-0.36))],
        (0, 0x10): [(0, 1, v(0.0)), (3, 1, v(0.25)), (3, 1, v(0.5)), (9, 1, v(2.25))],
        (8, 0x100): [(0, 1, v(0.1)), (9, 1, v(0.1))],
        (8, 0x80): [(0, 1, v(0.12)), (2, 2, v(1.0), v(0.2)), (5, 2, v(-1.0), v(0.15)), (9, 1, v(0.12))],
        (8, 0x40): [(0, 1, v(0.3)), (9, 1, v(-0.3))],
        (127, 0x08): [(0, 0), (1, 1, v(-0.125)), (9, 0)],
    }


def long_walk():
    keys = [(0, 1, half(0.5))] + [(f, 2, half(0.25), half(f / 300)) for f in range(10, 290, 10)] + [(299, 0)]
    return {(0, 0x80): keys}


def dense(frames, bones):
    mask = sum(1 << b for b in bones)
    stride = 12 + sum(2 if b in (7, 14, 28, 34) else 6 for b in bones)
    out = struct.pack("<HHH", frames, 0x8000, stride) + struct.pack("<Q", mask)
    for f in range(frames):
        record = struct.pack("<3H3h", half(0.01 * f), half(1.1), half(0.0), 0, 100 * f, -100 * f)
        for b in bones:
            record += struct.pack("<h" if b in (7, 14, 28, 34) else "<3h", *([300 * f - b] * (1 if b in (7, 14, 28, 34) else 3)))
        assert len(record) == stride
        out += record
    return out


def prop(frames):
    node = struct.pack("<4H", 0, half(1.0), half(1.0), half(1.0))
    samples = b""
    base = 12 + 32
    for axis in range(3):
        node += struct.pack("<Hh", base + axis * 2 * (frames + 1), 1000 * axis)
        samples += b"".join(struct.pack("<h", 1000 * axis + 50 * f) for f in range(frames + 1))
    for axis in range(3):
        node += struct.pack("<HH", 0, half(0.5 * axis))
    return struct.pack("<6H", frames, 0xFFFF, 0x3C00, 0, 1, 0) + node + samples


def extra(*ops, events=None):
    out = struct.pack("<6H", 1, 2, 3, 4, 5, 6)
    for op in ops:
        out += op
    if events is None:
        out += b"\0\0\0\0"
    else:
        out += b"\x08\0\0\0" + b"".join(events) + b"\0\0\0\0"
    return out


def bank(motions, relative=False, orphan=b"", flags=0):
    """motions: [(name, sequence bytes, extra bytes)]; equal bytes are stored once."""
    sequences = list(dict.fromkeys(m[1] for m in motions))
    extras = list(dict.fromkeys(m[2] for m in motions))
    n = len(motions)
    at = 0x20 + 8 * n
    extra_at, extra_block = {}, b""
    for x in extras:
        extra_block += bytes(-len(extra_block) % 4)
        extra_at[x] = at + len(extra_block)
        extra_block += x
    extra_block += bytes(-len(extra_block) % 4)
    names_at = at + len(extra_block)
    pool, pointers = b"", []
    for name, _, _ in motions:
        pointers.append(4 * n + len(pool) + (0 if relative else names_at))
        pool += name.encode() + b"\0"
    names = b"".join(struct.pack("<I", p) for p in pointers) + pool
    names += bytes(-(names_at + len(names)) % 4)
    data_at = names_at + len(names)
    data, data_of = b"", {}
    for i, s in enumerate(sequences):
        align = 4 if s[2:4] == b"\xff\xff" else 2
        data += bytes(-(data_at + len(data)) % align)
        data_of[s] = len(data)
        data += s
        if i == 0:
            data += orphan
    data += bytes(-(data_at + len(data)) % 4)
    table = b"".join(struct.pack("<II", data_of[s], extra_at[x]) for _, s, x in motions)
    size = data_at + len(data) + len(TRAILER)
    head = struct.pack("<5I", 0x20, names_at, data_at, n + 1 + flags, size) + bytes(12)
    return head + table + extra_block + names + data + TRAILER


LOOP = b"\x01\0\xff\xff"
MIRROR = b"\x13\0\0\0"
STEP = struct.pack("<HBB4s", 4, 4, 5, b"\xab\0\x01\0")


def next_motion(motion_id):
    return b"\x01\0" + struct.pack("<H", motion_id)


def files():
    a, b = curves(10, 0, walk()), curves(300, 13, long_walk())
    plain = [
        ("WALK_L", a, extra(LOOP, events=[STEP])),
        ("WALK_R", a, extra(LOOP, MIRROR, events=[STEP])),
        ("LONG", b, extra(next_motion(4))),
        ("STANDBY", dense(5, [1, 5, 7, 28, 36]), extra()),
        ("BAG", prop(3), extra()),
        ("WALK_END", a, extra()),
    ]
    holed = curves(10, 0, walk(), holes=(b"\xaa", b"\xbb\xbb", b"\xcc", b"\xdd\xdd"))
    return {
        "bank.motn": bank(plain),
        "bank_orphan.motn": bank(plain, orphan=curves(4, 0, {(1, 0x20): [(0, 0), (3, 1, half(0.5))]})),
        "bank_holes.motn": bank([("HOLED", holed, extra())]),
        "bank_wide_counts.motn": bank([("WIDE", curves(10, 0, walk(), wide_counts=True), extra())]),
        "package_relative.motn": bank(plain[:4], relative=True, flags=0x10),
        # Sequences alone: what fuzz_motn_sequence starts from.
        "walk.sequence": a,
        "walk_wide.sequence": curves(10, 0, walk(), wide_counts=True),
        "walk_holes.sequence": holed,
        "standby.sequence": dense(5, [1, 5, 7, 28, 36]),
        "bag.sequence": prop(3),
    }


def hermite(keys, time):
    """The formula of the game on one decoded track, in plain Python."""
    frame = time * 30
    if frame <= keys[0][0]:
        return keys[0][1]
    for (f0, v0, _, out), (f1, v1, into, _) in zip(keys, keys[1:]):
        if f0 <= frame < f1:
            u, h = (frame - f0) / (f1 - f0), (f1 - f0) / 30
            return (v0 * (2 * u**3 - 3 * u**2 + 1) + v1 * (3 * u**2 - 2 * u**3)
                    + h * (out * (u**3 - 2 * u**2 + u) + into * (u**3 - u**2)))
    return keys[-1][1]


def expected():
    out = []
    for (bone, bit), keys in sorted(walk().items()):
        decoded = []
        for frame, code, *words in keys:
            v = [unhalf(w) for w in words]
            decoded.append((frame, v[-1] if v else 0.0, v[0] if code >= 2 else 0.0, v[code - 2] if code >= 2 else 0.0))
        out.append({"bone": bone, "bit": bit, "keys": decoded,
                    "samples": [[t / 97, hermite(decoded, t / 97)] for t in range(0, 30)]})
    return {"file": "bank.motn", "motion": "WALK_L", "tracks": out}


def write(outdir):
    for name, data in files().items():
        (outdir / name).write_bytes(data)
    (outdir / "motn.json").write_text(json.dumps(expected()) + "\n")
