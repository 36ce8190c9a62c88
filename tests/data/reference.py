#!/usr/bin/env python3
"""Reference numbers for the tests: reads clips and meshes with its own parser and evaluates them in
double precision.

    reference.py OUTDIR                    everything listed in OUTDIR/index.json
    reference.py OUTDIR FILE...            these .rfa, .v3c or .v3m files
    reference.py --selftest SAMPLES_DIR    numbers known from real files

Writes OUTDIR/<name>.expected.json, in the game's own left-handed space: metres, ticks of 1/4800
s, q = active rotation x y z w (the conjugate of what is stored), one line per sampled tick. A
number that is not finite becomes null. Shares no code with the fixture builders.
"""

import json
import math
import struct
import sys
from pathlib import Path

MAX_TICKS = 240  # per list; beyond it the ticks are thinned out evenly


# Quaternions x y z w


def conj(q):
    return [-q[0], -q[1], -q[2], q[3]]


def norm(v):
    return math.sqrt(math.fsum(c * c for c in v))


def normalised(q):
    n = norm(q)
    return [c / n for c in q] if n > 0 else [0.0, 0.0, 0.0, 1.0]


def product(a, b):
    return [
        math.fsum((a[3] * b[0], a[0] * b[3], a[1] * b[2], -a[2] * b[1])),
        math.fsum((a[3] * b[1], -a[0] * b[2], a[1] * b[3], a[2] * b[0])),
        math.fsum((a[3] * b[2], a[0] * b[1], -a[1] * b[0], a[2] * b[3])),
        math.fsum((a[3] * b[3], -a[0] * b[0], -a[1] * b[1], -a[2] * b[2])),
    ]


def rotate(q, v):
    return product(product(q, [*v, 0.0]), conj(q))[:3]


def angle_degrees(a, b):
    d = product(conj(a), b)
    return math.degrees(2 * math.atan2(norm(d[:3]), abs(d[3])))


# Clip


class Clip:
    def __init__(self, data):
        if data[:4] != b"VMVF":
            raise ValueError("no Red Faction clip")
        self.version, self.start, self.end = struct.unpack_from("<i8x2i", data, 4)
        nbones, nmv, nmk, self.ramp_in, self.ramp_out = struct.unpack_from("<5i", data, 0x18)
        if self.version not in (7, 8):
            raise ValueError("unknown version")
        index_at, frames_at = struct.unpack_from("<ii", data, 0x48)
        self.weights, self.rot, self.pos = [], [], []
        for at in struct.unpack_from(f"<{nbones}i", data, 0x50):
            weight, nrot, npos = struct.unpack_from("<fhh", data, at)
            rot_end = at + 8 + 16 * nrot
            self.weights.append(weight)
            # rotation key: time, x y z w, ease in, ease out, pad; position key: time, pos, in, out
            self.rot.append(list(struct.iter_unpack("<i4hbbh", data[at + 8 : rot_end])))
            self.pos.append(list(struct.iter_unpack("<i9f", data[rot_end : rot_end + 40 * npos])))
        self.morph_indices = struct.unpack_from(f"<{nmv}H", data, index_at) if nmv else ()
        self.morph_times, self.morph_frames = [], []
        if nmk and self.version == 8:
            self.morph_times = list(struct.unpack_from(f"<{nmk}i", data, frames_at))
        if nmk and nmv:
            self.read_frames(data, frames_at, nmv, nmk)

    def read_frames(self, data, at, nmv, nmk):
        if self.version == 7:
            flat = struct.unpack_from(f"<{3 * nmv * nmk}f", data, at)
        else:
            at += 4 * nmk
            box = struct.unpack_from("<6f", data, at)
            codes = data[at + 24 : at + 24 + 3 * nmv * nmk]
            span = [high - low for low, high in zip(box, box[3:])]
            flat = [box[i % 3] + c * span[i % 3] / 255 for i, c in enumerate(codes)]
        points = [list(flat[i : i + 3]) for i in range(0, len(flat), 3)]
        self.morph_frames = [points[k * nmv : (k + 1) * nmv] for k in range(nmk)]

    def objection(self):
        """Why the rules of evaluation do not cover this clip, or nothing."""
        for track in self.rot + self.pos:
            if any(b[0] <= a[0] for a, b in zip(track, track[1:])):
                return "key times do not increase"
        if any(k[5] < 0 or k[6] < 0 for track in self.rot for k in track):
            return "negative ease"
        if not all(map(math.isfinite, (c for track in self.pos for k in track for c in k[1:]))):
            return "positions are not finite"
        return None


def segment(keys, tick):
    """Index of the earlier key and the linear parameter. On an inner key the segment after it
    counts."""
    last = len(keys) - 1
    if tick <= keys[0][0]:
        return 0, 0.0
    if tick >= keys[last][0]:
        return last - 1, 1.0
    i = next(i for i in range(last) if tick < keys[i + 1][0])
    return i, (tick - keys[i][0]) / (keys[i + 1][0] - keys[i][0])


def eased(u, ease_out, ease_in):
    a, b = ease_out / 127, ease_in / 127
    if u == 0 or u == 1 or a + b == 0:
        return u
    if a + b > 1:
        a, b = a / (a + b), b / (a + b)
    k = 1 / (2 - a - b)
    if u < a:
        return k / a * u * u
    if u < 1 - b:
        return (2 * u - a) * k
    return 1 - k / b * (1 - u) ** 2


def nearer(q0, q1):
    """q1 or its negative, by the integer rule of the engine: a tie counts as opposite."""
    if sum((a + b) ** 2 for a, b in zip(q0, q1)) <= sum((a - b) ** 2 for a, b in zip(q0, q1)):
        return [-c for c in q1]
    return list(q1)


def rotation_segment(keys, tick):
    i, u = segment(keys, tick)
    q0 = list(keys[i][1:5])
    return q0, nearer(q0, keys[i + 1][1:5]), eased(u, keys[i][6], keys[i + 1][5])


def smooth_rotation(keys, tick):
    if not keys:
        return [0.0, 0.0, 0.0, 1.0]
    if len(keys) == 1:
        return conj(normalised(keys[0][1:5]))
    q0, q1, u = rotation_segment(keys, tick)
    q0, q1 = normalised(q0), normalised(q1)
    w = 2 * math.atan2(norm([a - b for a, b in zip(q0, q1)]), norm([a + b for a, b in zip(q0, q1)]))
    if math.sin(w) == 0:
        return conj(q0)
    s0, s1 = math.sin((1 - u) * w) / math.sin(w), math.sin(u * w) / math.sin(w)
    return conj(normalised([a * s0 + b * s1 for a, b in zip(q0, q1)]))


def snaps(q0, q1):
    return 1 - sum(a * b for a, b in zip(q0, q1)) / 16383**2 <= 1e-6


def exact_components(keys, tick):
    """The int16 components that the engine computes, as stored (not conjugated)."""
    if not keys:
        return [0, 0, 0, 16383]
    if len(keys) == 1:
        return list(keys[0][1:5])
    q0, q1, u = rotation_segment(keys, tick)
    if snaps(q0, q1):
        result = q1
    else:
        w = math.acos(sum(a * b for a, b in zip(q0, q1)) / 16383**2)
        s0, s1 = math.sin((1 - u) * w) / math.sin(w), math.sin(u * w) / math.sin(w)
        result = [math.trunc(a * s0 + b * s1) for a, b in zip(q0, q1)]
    if result[3] == 0:
        result[3] = 1
    return result


def exact_rotation(keys, tick):
    return conj([c / 16383 for c in exact_components(keys, tick)])


def position(keys, tick):
    if not keys:
        return [0.0, 0.0, 0.0]
    if len(keys) == 1:
        return list(keys[0][1:4])
    i, u = segment(keys, tick)
    if u in (0.0, 1.0):
        return list(keys[i + int(u)][1:4])
    (_, *a), (_, *b), v = keys[i], keys[i + 1], 1 - u
    k = (v**3, 3 * u * v * v, 3 * u * u * v, u**3)
    return [
        math.fsum((k[0] * a[c], k[1] * a[6 + c], k[2] * b[3 + c], k[3] * b[c])) for c in range(3)
    ]


def ramped_weight(clip, bone, tick):
    w, dt, d = clip.weights[bone], tick - clip.start, clip.end - clip.start
    if w < 1e-5 or dt < 0:
        return 0.0
    if dt < clip.ramp_in:
        return w * dt / clip.ramp_in
    if dt > d:
        return 0.0
    if dt > d - clip.ramp_out:
        return w * (d - dt) / clip.ramp_out
    return w


def phase(clip, tick):
    if tick <= clip.start:
        return 0.0
    return 1.0 if tick >= clip.end else (tick - clip.start) / (clip.end - clip.start)


def morph(clip, tick):
    frames = clip.morph_frames
    if clip.version == 8:
        k, u = segment([(t,) for t in clip.morph_times], tick) if len(frames) > 1 else (0, 0.0)
    else:
        f = len(frames) * phase(clip, tick)
        k = min(math.trunc(f), len(frames) - 1)
        u = min(f - k, 1.0)
    a, b = frames[k], frames[min(k + 1, len(frames) - 1)]
    return [
        {"index": i, "p": [x + (y - x) * u for x, y in zip(p, q)]}
        for i, p, q in zip(clip.morph_indices, a, b)
    ]


# Where to sample


def thinned(ticks):
    ticks = sorted(set(ticks))
    step = -(-len(ticks) // MAX_TICKS)
    return ticks if step < 2 else ticks[:-1:step] + ticks[-1:]


def around(clip, keys):
    """Every key, quarters and an odd fraction between keys, and both outsides of the keys and of
    the clip."""
    times = sorted(set(keys))
    ticks = [clip.start - 0.5, clip.start, clip.end, clip.end + 0.5, clip.end + 1000]
    if times:
        ticks += [times[0] - 123.25, times[0] - 1, *times, times[-1] + 1, times[-1] + 77.75]
    for a, b in zip(times, times[1:]):
        ticks += [a + (b - a) * part for part in (0.25, 0.381966, 0.5, 0.75)]
    return thinned(map(float, ticks))


def clip_numbers(clip, name):
    keys = [k[0] for track in clip.rot + clip.pos for k in track]
    smooth_ticks = around(clip, keys)
    exact_ticks = thinned(
        [math.floor(t) for t in smooth_ticks] + [t + d for t in keys for d in (-1, 1)]
    )
    steps = clip.morph_times
    if clip.version == 7 and clip.morph_frames:
        count = len(clip.morph_frames)
        steps = [clip.start + k * (clip.end - clip.start) / count for k in range(count)]
    corners = (clip.start, clip.start + clip.ramp_in, clip.end - clip.ramp_out, clip.end)
    weight_ticks = [t + d for t in corners for d in (-1, 0, 1)]
    weight_ticks += [sum(corners) // 4, clip.end + 200]
    weight_ticks += [(a + b) // 2 for a, b in zip(corners, corners[1:])]

    def pose(rotation, tick):
        return [
            {"t": position(p, tick), "q": rotation(r, tick)} for r, p in zip(clip.rot, clip.pos)
        ]

    bones = range(len(clip.weights))
    morph_ticks = around(clip, steps) if clip.morph_frames else []
    return {
        "file": name,
        "smooth": [{"tick": t, "bones": pose(smooth_rotation, t)} for t in smooth_ticks],
        "exact": [{"tick": t, "bones": pose(exact_rotation, t)} for t in exact_ticks],
        "morph": [{"tick": t, "vertices": morph(clip, t)} for t in morph_ticks],
        "weights": [
            {"tick": t, "bones": [ramped_weight(clip, b, t) for b in bones]}
            for t in thinned(weight_ticks)
        ],
    }


# Mesh: only what is needed to find bones and prop points


class Mesh:
    def __init__(self, data):
        if data[:4] not in (b"MCFR", b"D3FR"):
            raise ValueError("no Red Faction mesh")
        self.data, self.at = data, 40
        self.bones, self.props = [], []  # (name, q, t, parent)
        while True:
            kind, size = self.take("<Ii")
            if kind == 0x5355424D:
                self.submesh()
            elif kind == 0x43535048:
                self.at += 44
            elif kind == 0x424F4E45:
                self.bones = [self.placed("24s") for _ in range(self.take("<i")[0])]
            elif kind == 0:
                break
            else:
                self.at += size

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def placed(self, name_form):
        name, *numbers, bone = self.take(f"<{name_form}7fi")
        return name.split(b"\0")[0].decode("latin-1"), numbers[:4], numbers[4:], bone

    def submesh(self):
        self.at += 52
        lods = self.take("<i")[0]
        self.at += 4 * lods + 40
        for lod in range(lods):
            self.lod(keep_props=lod == 0)
        for stride in (84, 28):  # materials, tail records
            count = self.take("<i")[0]
            self.at += stride * count

    def lod(self, keep_props):
        _, _, batches, size = self.take("<IiHi")
        block_end = self.at + size
        self.at = block_end + 4 + 18 * batches
        props, textures = self.take("<ii")
        for _ in range(textures):
            self.at = self.data.index(0, self.at + 1) + 1
        if keep_props:
            resume, self.at = self.at, block_end - 0x64 * props
            self.props += [self.placed("68s") for _ in range(props)]
            self.at = resume

    def rest_world(self, bone):
        _, q, t, _ = self.bones[bone]
        q = normalised(q)
        return rotate(q, [-c for c in t]), q

    def rest_local(self, bone):
        parent = self.bones[bone][3]
        t, q = self.rest_world(bone)
        if parent < 0:
            return t, q
        pt, pq = self.rest_world(parent)
        return rotate(conj(pq), [a - b for a, b in zip(t, pt)]), product(conj(pq), q)

    def inverse_bind(self, bone):
        return list(self.bones[bone][2]), conj(normalised(self.bones[bone][1]))

    def prop_world(self, prop):
        _, q, t, bone = self.props[prop]
        pt, pq = self.rest_world(bone) if bone >= 0 else ([0.0] * 3, [0.0, 0.0, 0.0, 1.0])
        return [a + b for a, b in zip(pt, rotate(pq, t))], product(pq, conj(normalised(q)))


def mesh_numbers(mesh, name):
    lists = {
        "rest_world": mesh.rest_world,
        "rest_local": mesh.rest_local,
        "inverse_bind": mesh.inverse_bind,
    }
    result = {"file": name}
    for key, of in lists.items():
        result[key] = [dict(zip("tq", of(bone))) for bone in range(len(mesh.bones))]
    return result


# Output


def finite(value):
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    return [finite(v) for v in value] if isinstance(value, list) else value


def dump(numbers):
    parts = []
    for key, value in finite(numbers).items():
        if isinstance(value, list):
            lines = [json.dumps(v, separators=(",", ":"), allow_nan=False) for v in value]
            text = "[\n" + ",\n".join(lines) + "\n]"
        else:
            text = json.dumps(value)
        parts.append(f"{json.dumps(key)}: {text}")
    return "{" + ",\n".join(parts) + "}\n"


def numbers_of(path):
    data = path.read_bytes()
    if path.suffix != ".rfa":
        mesh = Mesh(data)
        return (mesh_numbers(mesh, path.name), None) if mesh.bones else (None, "no bones")
    clip = Clip(data)
    reason = clip.objection()
    return (None, reason) if reason else (clip_numbers(clip, path.name), None)


def write_all(outdir, paths):
    done = set()
    for path in paths:
        numbers, reason = numbers_of(path)
        if path.stem in done:
            reason = "its name is taken by a clip"
        if reason:
            print(f"{path.name}: no numbers, {reason}")
            continue
        done.add(path.stem)
        (outdir / f"{path.stem}.expected.json").write_text(dump(numbers))


def main(args):
    if len(args) == 2 and args[0] == "--selftest":
        sys.dont_write_bytecode = True
        import reference_selftest

        reference_selftest.run(Path(args[1]))
        return 0
    if not args or args[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    outdir = Path(args[0])
    paths = [Path(a) for a in args[1:]]
    if not paths:
        paths = [outdir / e["file"] for e in json.loads((outdir / "index.json").read_text())]
    write_all(outdir, paths)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
