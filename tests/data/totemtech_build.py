"""TotemTech ANIMATION, version 1.73, packed and parsed with struct alone: either byte order, with or
without the resource header, with or without the junk in message keys.

An animation is a dict: length, flag, meshes [{name, flag, visibility}], nodes [{name, flag, t1, rotation,
t3, messages}], materials [{name, flag, tracks: 8 keyframers}], header (name, link). A keyframer is
(interp, keys). Keys are tuples:

    float    frame, junk, value, tangent in, tangent out
    vec3     frame, value, tangent in, tangent out    (3 integers each)
    rot      frame, (x, y, z, w), junk, omega, sinom
    message  frame, junk, [(id, param, text, name)]
"""

import math
import struct
import zlib

CLASS = zlib.crc32(b"ANIMATION")
TEXT_IDS = (0x11, 0x12, 0x13)
KINDS = ("float",) * 5 + ("vec3", "vec3", "float")


def crc(name):
    return zlib.crc32(name.upper().encode("latin-1"))


def rot(frame, q, omega=0.0, sinom=0.0, junk=0):
    return (frame, tuple(q), junk, omega, sinom)


def quantised(q):
    return tuple(max(-2000, min(2000, round(2000 * c))) for c in q)


def slerp_params(a, b):
    """What an exporter stores for the segment between two unit quaternions."""
    d = sum(x * y for x, y in zip(a, b))
    omega = math.acos(min(1.0, abs(d)))
    if math.sin(omega) < 1e-4:
        return 0.0, 0.0
    return omega + (2 * math.pi if d < 0 else 0), 1 / math.sin(omega)


def turning(frames, quaternions, junk=0):
    """Rotation keys with the omega and sinom of their segments."""
    keys = []
    for i, (frame, q) in enumerate(zip(frames, quaternions)):
        more = slerp_params(q, quaternions[i + 1]) if i + 1 < len(frames) else (0.0, 0.0)
        keys.append(rot(frame, quantised(q), *more, junk))
    return keys


def node(name, t1=(1, ()), rotation=(1, ()), t3=(1, ()), messages=(1, ()), flag=0):
    return {"name": name, "flag": flag, "t1": t1, "rotation": rotation, "t3": t3, "messages": messages}


def material(name, flag=0, **tracks):
    return {"name": name, "flag": flag, "tracks": [tracks.get(f"track{i}", (1, ())) for i in range(1, 9)]}


def mesh(name, visibility, flag=0):
    return {"name": name, "flag": flag, "visibility": visibility}


def animation(length, nodes=(), meshes=(), materials=(), flag=0, header=(0x12345678, 0x9ABCDEF0)):
    return {"length": length, "flag": flag, "meshes": list(meshes), "nodes": list(nodes),
            "materials": list(materials), "header": header}


def pack(a, big=False, header=False, junk=False):
    e = ">" if big else "<"

    def put(layout, *values):
        return struct.pack(e + layout, *values)

    def one(kind, key):
        if kind == "float":
            return put("HHfff", *key)
        if kind == "vec3":
            return put("H9h", key[0], *key[1], *key[2], *key[3])
        if kind == "rot":
            return put("H4hHff", key[0], *key[1], *key[2:])
        out = put("H", key[0]) + (put("H", key[1]) if junk else b"") + put("I", len(key[2]))
        for number, param, text, name in key[2]:
            out += put("II", number, param)
            if number in TEXT_IDS:
                out += put("I", len(text)) + text
            out += put("I", name)
        return out

    def keyframer(kind, k):
        return put("HI", k[0], len(k[1])) + b"".join(one(kind, key) for key in k[1])

    body = put("fHI", a["length"], a["flag"], len(a["meshes"]))
    for m in a["meshes"]:
        body += put("IH", m["name"], m["flag"]) + keyframer("float", m["visibility"])
    body += put("I", len(a["nodes"]))
    for n in a["nodes"]:
        body += put("IH", n["name"], n["flag"]) + keyframer("vec3", n["t1"]) + keyframer("rot", n["rotation"])
        body += keyframer("vec3", n["t3"]) + keyframer("message", n["messages"])
    body += put("I", len(a["materials"]))
    for m in a["materials"]:
        body += put("IH", m["name"], m["flag"])
        body += b"".join(keyframer(kind, k) for kind, k in zip(KINDS, m["tracks"]))
    if header:
        body = put("IIII", len(body) + 16, CLASS, *a["header"]) + body
    return body


def parse(data, big=False, header=False, junk=False):
    """The animation of bytes that are known to be well formed and of this variant."""
    e, at = (">" if big else "<"), 0

    def take(layout):
        nonlocal at
        values = struct.unpack_from(e + layout, data, at)
        at += struct.calcsize(e + layout)
        return values

    def one(kind):
        nonlocal at
        if kind == "float":
            return take("HHfff")
        if kind == "vec3":
            v = take("H9h")
            return (v[0], v[1:4], v[4:7], v[7:10])
        if kind == "rot":
            v = take("H4hHff")
            return (v[0], v[1:5], *v[5:])
        frame, stale = take("H")[0], take("H")[0] if junk else 0
        messages = []
        for _ in range(take("I")[0]):
            (number, param), text = take("II"), b""
            if number in TEXT_IDS:
                size = take("I")[0]
                text, at = data[at : at + size], at + size
            messages.append((number, param, text, take("I")[0]))
        return (frame, stale, messages)

    def keyframer(kind):
        interp, n = take("HI")
        return (interp, [one(kind) for _ in range(n)])

    more = take("IIII")[2:] if header else (0, 0)
    length, flag, n = take("fHI")
    a = animation(length, flag=flag, header=more)
    for _ in range(n):
        name, flag = take("IH")
        a["meshes"].append(mesh(name, keyframer("float"), flag))
    for _ in range(take("I")[0]):
        name, flag = take("IH")
        t = [keyframer(kind) for kind in ("vec3", "rot", "vec3", "message")]
        a["nodes"].append(node(name, *t, flag=flag))
    for _ in range(take("I")[0]):
        name, flag = take("IH")
        a["materials"].append({"name": name, "flag": flag, "tracks": [keyframer(k) for k in KINDS]})
    assert at == len(data)
    return a


def has_message_keys(a):
    return any(n["messages"][1] for n in a["nodes"])
