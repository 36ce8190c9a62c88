"""What TotemTech animations show at a time, in plain Python and from the bytes: independent of the
library, and of the builders but for their parser. Written to OUTDIR/totemtech_reference.json."""

import json
import math

from totemtech_build import parse

RATE, UNIT = 60.0, 1000.0
TWO_PI_32 = 6.2831854820251465  # the nearest float


def find(keys, tick):
    """The last key at or before a time; 0 where there is none."""
    at = 0
    for i, k in enumerate(keys):
        if k[0] <= tick:
            at = i
    return at


def segment(keys, tick):
    """(i, None) where a key holds, else (i, u)."""
    i = find(keys, tick)
    if tick < keys[i][0] or i + 1 == len(keys):
        return i, None
    a, b = keys[i][0], keys[i + 1][0]
    return i, (tick - a) / (b - a)


def mode(interp, literal):
    if interp & 8:
        return "hold"
    return "lerp" if not literal and interp & 2 and not interp & 1 else "hermite"


def cubic(p0, p1, t0, m1, u):
    a = 2 * p0 - 2 * p1 + t0 + m1
    b = -3 * p0 + 3 * p1 - 2 * t0 - m1
    return p0 + (t0 + (b + u * a) * u) * u


def scalar(keyframer, tick, sign, literal, pick):
    interp, keys = keyframer
    i, u = segment(keys, tick)
    value, tangent_in, tangent_out = pick
    p0 = value(keys[i])
    how = mode(interp, literal)
    if u is None or how == "hold":
        return p0
    p1 = value(keys[i + 1])
    if how == "lerp":
        return p0 + u * (p1 - p0)
    return cubic(p0, p1, tangent_out(keys[i]), sign * tangent_in(keys[i + 1]), u)


def floats(keyframer, tick, sign, literal):
    return [scalar(keyframer, tick, sign, literal, (lambda k: k[2], lambda k: k[3], lambda k: k[4]))]


def vector(keyframer, tick, sign, literal):
    def axis(c):
        return (lambda k: k[1][c] / UNIT, lambda k: k[2][c] / UNIT, lambda k: k[3][c] / UNIT)

    return [scalar(keyframer, tick, sign, literal, axis(c)) for c in range(3)]


def unit(q):
    n = math.sqrt(sum(c * c for c in q))
    return [c / n for c in q]


def shortest(a, b, u):
    d = sum(x * y for x, y in zip(a, b))
    b, d = ([-c for c in b], -d) if d < 0 else (b, d)
    omega = math.acos(min(1.0, d))
    if math.sin(omega) < 1e-9:
        return unit([x + u * (y - x) for x, y in zip(a, b)])
    return unit([(math.sin((1 - u) * omega) * x + math.sin(u * omega) * y) / math.sin(omega) for x, y in zip(a, b)])


def rotation(keyframer, tick, *_):
    interp, keys = keyframer
    i, u = segment(keys, tick)
    a = unit(keys[i][1])
    if u is None or interp & 8:
        return a
    b = unit(keys[i + 1][1])
    omega, sinom = keys[i][3], keys[i][4]
    if omega == 0:
        return a
    turned = 1.0
    w = omega
    if omega > TWO_PI_32:
        w, turned = omega - 2 * math.pi, -1.0
    if not abs(sinom * math.sin(w) - 1) < 0.05:  # cannot be right
        return shortest(a, b, u)
    return unit([sinom * (x * math.sin((1 - u) * w) + turned * y * math.sin(u * w)) for x, y in zip(a, b)])


def times(keyframer):
    keys = keyframer[1]
    out = {0.0, 7.3, 20.0, 59.9, 60.0}
    for a, b in zip(keys, keys[1:]):
        out |= {a[0], b[0], a[0] + 0.25 * (b[0] - a[0]), (a[0] + b[0]) / 2, a[0] + 0.9 * (b[0] - a[0])}
    out |= {keys[0][0] - 5.0, keys[-1][0] + 5.0}
    return sorted(float(t) for t in out)


def cases(name, data, variant, sign, literal):
    a = parse(data, *variant)
    out = []

    def add(target, channel, keyframer, evaluate):
        if not keyframer[1]:
            return
        at = times(keyframer)
        out.append({"file": name, "sign": sign, "literal": literal, "target": target, "channel": channel,
                    "ticks": at, "values": [evaluate(keyframer, t, sign, literal) for t in at]})

    for n in a["nodes"]:
        add(n["name"], "translation", n["t1"], vector)
        add(n["name"], "rotation", n["rotation"], rotation)
        add(n["name"], "scale", n["t3"], vector)
    for m in a["meshes"]:
        add(m["name"], "visibility", m["visibility"], floats)
    for m in a["materials"]:
        for i, track in enumerate(m["tracks"], 1):
            add(m["name"], f"track{i}", track, vector if i in (6, 7) else floats)
    return out


def write(outdir):
    out = []
    for entry in json.loads((outdir / "totemtech.json").read_text()):
        name = entry["file"]
        if name not in ("tt_interps.animation", "tt_slerps.animation", "tt_edges.animation", "tt_walk_be_hdr_junk.animation",
                        "tt_walk_le.animation"):
            continue
        data = (outdir / name).read_bytes()
        variant = (entry["big"], entry["header"], entry["junk"])
        for sign in (1, -1):
            for literal in (False, True):
                out += cases(name, data, variant, sign, literal)
    (outdir / "totemtech_reference.json").write_text(json.dumps(out) + "\n")
