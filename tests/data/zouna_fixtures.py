"""Zouna animations and skeletons, packed with struct: each content in both byte orders and in every
flavour. zouna.json lists them with what a reader must find out; zouna_reference.json holds what they
show at a time, worked out here in plain Python from the integers that are packed."""

import json
import math
import struct

CRC_ANIMATION, CRC_SKEL = 0x46107D89, 0xD73B85EC
RAT, FUEL = (1, 6, 63, 2), (1, 381, 67, 9)


def table_entry(i):
    c = i << 24
    for _ in range(8):
        c = (c << 1 ^ 0x04C11DB7 if c & 0x80000000 else c << 1) & 0xFFFFFFFF
    return c


TABLE = [table_entry(i) for i in range(256)]


def crc(name):
    h = 0
    for c in name.lower().encode():
        h = h >> 8 ^ TABLE[(h ^ c) & 0xFF]
    return h


def vec(time, value, into=(0, 0, 0), out=(0, 0, 0), pad=0xFFFF):
    return (time, tuple(value), tuple(into), tuple(out), pad)


def num(time, value, into=0, out=0, pad=0xFFFF):
    return (time, value, into, out, pad)


def empty():
    return dict(max_time=0.0, smooth=0.0, flag=0, node_flag=0, rot=[], bezier=[], scale=(1, []), trans=(1, []),
                messages=[], u=(1, []), v=(1, []), diffuse=(1, []), emissive=(1, []), mrot=(1, []),
                visibility=(1, []), morph=(1, []), nodes=[], materials=[], meshes=[], morphs=[])


def body(a, order):
    def p(form, *values):
        return struct.pack(order + form, *values)

    def many(items, form, flat):
        return p("I", len(items)) + b"".join(p(form, *flat(i)) for i in items)

    def vecs(keyframer):
        return p("H", keyframer[0]) + many(keyframer[1], "f9hH", lambda k: (k[0], *k[1], *k[2], *k[3], k[4]))

    def nums(keyframer):
        return p("H", keyframer[0]) + many(keyframer[1], "f3hH", lambda k: k)

    out = p("ffHH", a["max_time"], a["smooth"], a["flag"], a["node_flag"])
    out += many(a["rot"], "f4h", lambda k: (k[0], *k[1]))
    out += many(a["bezier"], "f9f", lambda k: (k[0], *k[1], *k[2], *k[3]))
    out += vecs(a["scale"]) + vecs(a["trans"])
    out += p("I", len(a["messages"]))
    for time, messages in a["messages"]:
        out += p("f", time) + many(messages, "iIIfI", lambda m: m)
    out += nums(a["u"]) + nums(a["v"]) + vecs(a["diffuse"]) + vecs(a["emissive"]) + nums(a["mrot"])
    out += nums(a["visibility"]) + nums(a["morph"])
    out += many(a["nodes"], "IhH10H", lambda n: (n[0], n[1], n[2], *sum(n[3:], ())))
    out += many(a["materials"], "Ihh10h", lambda n: (n[0], n[1], n[2], *sum(n[3:], ())))
    out += many(a["meshes"], "Ihhhh", lambda n: n)
    out += many(a["morphs"], "Ihhhh", lambda n: n)
    return out


def wrapped(content, order, flavour, links, linked=(), rest=b"", class_id=CRC_ANIMATION, platform=None, name="walk"):
    if flavour == "bare":
        return content
    link = b""
    if links != "none":
        link = struct.pack(order + "I", crc("skeleton"))
    if links == "list":
        link += struct.pack(order + f"I{len(linked)}I", len(linked), *linked)
    link += rest
    out = struct.pack(order + "6I", len(link) + len(content), len(link), len(content), 0, class_id, crc(name))
    out += link + content
    if flavour == "bff":
        platform = (12 if order == ">" else 0) if platform is None else platform
        version = RAT if links == "list" else FUEL
        out = struct.pack("<4sHBB4H", b"BFF0", 10, platform, 0, *version) + out
    return out


def node(name, number=0, flag=0, trans=(0, 0), rot=(0, 0), bezier=(0, 0), scale=(0, 0), messages=(0, 0)):
    return (crc(name), number, flag, trans, rot, bezier, scale, messages)


def material(name, u=(0, 0), emissive=(0, 0), diffuse=(0, 0), rot=(0, 0), v=(0, 0)):
    return (crc(name), 0, 0, u, emissive, diffuse, rot, v)


S = crc("STEP_SOUND")


def rich():
    """Everything at once: shared, unused and overlapping ranges, odd pads, a pool out of order."""
    a = empty()
    a.update(max_time=1.5, smooth=2.0, flag=2, node_flag=0xCDCD)
    a["rot"] = [
        (0.0, (0, 0, 0, 2000)), (0.5, (0, 1414, 0, 1414)), (1.25, (0, 0, 0, -2000)), (1.5, (-1000, -1000, -1000, -1000)),
        (0.25, (2000, 0, 0, 0)),  # alone, and out of the pool's order
        (0.0, (1, 2, 3, 1999)), (0.75, (-900, 100, -200, 1770)), (0.75, (900, 0, 0, 1786)), (1.0, (0, 0, 1000, -1732)),
    ]
    a["bezier"] = [(0.0, (0.1, -0.2, 0.3), (0, 0, 0), (0.5, 0, -0.25)), (1.0, (1.0, 0.4, -0.6), (0.25, 0.5, 0.125), (0, 0, 0))]
    a["scale"] = (1, [vec(0.0, (4096, 4096, 4096)), vec(1.0, (8192, 4096, 2048), (100, 0, -50), (0, 0, 0), 0xCDCD)])
    a["trans"] = (1, [
        vec(0.0, (0, 4096, 0), (0, 0, 0), (2048, -1024, 512)),
        vec(0.5, (4096, 2048, -4096), (1024, 512, 256), (512, 1024, 2048)),
        vec(0.5, (0, 0, 0), (0, 0, 0), (300, 300, -300)),
        vec(1.5, (-8192, 32767, -32768), (-2048, 100, 7), (9, 9, 9), 0),
        vec(0.0, (1, 2, 3)),
    ])
    a["messages"] = [(0.25, [(33, S, 128, 1.0, 0)]), (0.75, []), (1.0, [(12, 0, 0, 0.0, crc("TETE")), (105, 7, 1, 0.5, 0)])]
    a["u"] = (1, [num(0.0, 0, 0, 4096), num(1.0, 4096, 4096, 0)])
    a["v"] = (8, [num(0.0, 0), num(0.5, 2048)])
    a["diffuse"] = (1, [vec(0.0, (4096, 0, 0)), vec(1.0, (0, 4096, 0)), vec(1.5, (0, 0, 4096))])
    a["emissive"] = (3, [vec(0.0, (0, 0, 0)), vec(1.0, (4096, 4096, 4096), (1, 2, 3), (4, 5, 6))])
    a["mrot"] = (0x11, [num(0.0, 0), num(1.5, 12867, 50, 60)])
    a["visibility"] = (8, [num(0.0, 4096), num(0.5, 0), num(1.0, 4096)])
    a["morph"] = (1, [num(0.0, 0, 0, 100), num(1.0, 4096, 100, 0)])
    a["nodes"] = [
        node("HIPS", 0, 7, trans=(0, 4), rot=(0, 4), messages=(0, 2)),
        node("SPINE", 1, 0, trans=(4, 1), rot=(4, 1), scale=(0, 2), messages=(2, 1)),
        node("TETE", 2, 2, rot=(0, 4), bezier=(0, 2)),           # shares HIPS' keys
        node("TAIL", -1, 0x100, trans=(1, 3), bezier=(0, 2)),     # overlaps them
        node("PROP", 4, 0, trans=(3, 0), rot=(5, 4)),             # a start without a count
    ]
    a["materials"] = [material("SKIN", (0, 2), (0, 2), (0, 3), (0, 2), (0, 2)), material("SHOES", u=(0, 1))]
    a["meshes"] = [(crc("HAT"), 3, 1, 0, 3), (crc("CAPE"), 0, 0, 1, 2)]
    a["morphs"] = [(crc("SMILE"), 0, 0, 0, 2)]
    return a


def bones():
    """The bones of rich() alone: what glTF holds in full."""
    a = rich()
    a.update(bezier=[], materials=[], meshes=[], morphs=[])
    a["nodes"] = [n[:5] + ((0, 0),) + n[6:] for n in a["nodes"]]
    return a


def negative():
    """As BuildSmooth of the game makes keys: TgtIn is minus the difference."""
    a = empty()
    a.update(max_time=1.0, smooth=1.0)
    a["trans"] = (1, [
        vec(0.0, (0, 0, 0), (0, 0, 0), (4096, 0, 0)),
        vec(0.5, (4096, 0, 0), (-4096, 0, 0), (4096, 0, 0)),
        vec(1.0, (8192, 0, 0), (-4096, 0, 0), (0, 0, 0)),
    ])
    a["nodes"] = [node("HIPS", trans=(0, 3))]
    return a


def squares():
    a = empty()
    a.update(max_time=1.0, smooth=1.0, node_flag=3)
    a["trans"] = (9, [vec(0.0, (0, 0, 0), (5, 5, 5), (6, 6, 6)), vec(0.5, (4096, 0, 0), (7, 7, 7), (8, 8, 8)), vec(1.0, (0, 4096, 0))])
    a["rot"] = [(0.5, (0, 0, 0, 2000)), (1.0, (2000, 0, 0, 0))]
    a["nodes"] = [node("HIPS", trans=(0, 3), rot=(0, 2))]
    return a


def faulty():
    """Reads, and is wrong in every way that the checker knows."""
    nan = float("nan")
    a = rich()
    a.update(max_time=1.0, node_flag=7)
    a["rot"] += [(1.0, (0, 0, 0, 2000)), (0.5, (2001, 0, 0, 1000)), (nan, (0, 0, 0, 100))]
    a["bezier"] = [(0.0, (nan, 0, 0), (0, 0, 0), (0, 0, 0))]
    a["scale"] = (0x20, a["scale"][1])
    a["messages"] = [(0.5, [(0x22, 0x12345678, 0, nan, 0)])]
    a["nodes"] = [
        node("HIPS", trans=(0, 9), rot=(9, 3), bezier=(0, 1), messages=(0, 1)),
        node("HIPS", trans=(65535, 65535)),
    ]
    a["u"] = (1, [num(0.0, 0)])
    a["materials"] = [(crc("SKIN"), 0, 0, (0, 1), (0, 2), (2, 1), (1, 1), (1, 1)), (crc("SOLE"), 0, 0, (-1, 1), (0, 0), (0, 0), (0, 0), (0, 0))]
    return a


def pool_order():
    """Material ranges that fit their pools only in the order of the pools."""
    a = empty()
    a.update(max_time=1.0, smooth=1.0)
    a["u"] = (1, [num(0.0, 1)])
    a["v"] = (1, [num(t / 4, 2) for t in range(5)])
    a["diffuse"] = (1, [vec(0.0, (1, 1, 1)), vec(1.0, (2, 2, 2))])
    a["emissive"] = (1, [vec(0.0, (3, 3, 3))])
    a["mrot"] = (1, [num(0.0, 4), num(0.5, 4), num(1.0, 4)])
    a["materials"] = [(crc("SKIN"), 0, 0, (0, 1), (0, 5), (0, 2), (0, 1), (0, 3))]
    return a


def contents():
    return {"rich": rich(), "bones": bones(), "negative": negative(), "squares": squares(), "pool_order": pool_order(),
            "empty": dict(empty(), max_time=1.0, smooth=1.0), "faulty": faulty()}


# ---- what is shown


def segment(keys, time):
    """(index, None) where a key holds, else (index, u). Of equal times the last counts."""
    at = None
    for i, k in enumerate(keys):
        if k[0] <= time:
            at = i
    if at is None:
        return 0, None
    if at + 1 == len(keys):
        return at, None
    return at, (time - keys[at][0]) / (keys[at + 1][0] - keys[at][0])


def hermite(keyframer, span, time, sign):
    flag, pool = keyframer
    keys = pool[span[0] : span[0] + span[1]]
    i, u = segment(keys, time)
    p0 = [c / 4096 for c in keys[i][1]]
    if u is None or flag & 8:
        return p0
    p1 = [c / 4096 for c in keys[i + 1][1]]
    t0 = [c / 4096 for c in keys[i][3]]
    m1 = [sign * c / 4096 for c in keys[i + 1][2]]
    return [
        a + u * (t + u * ((-3 * a + 3 * b - 2 * t - m) + u * (2 * a - 2 * b + t + m)))
        for a, b, t, m in zip(p0, p1, t0, m1)
    ]


def unit(q):
    n = math.sqrt(sum(c * c for c in q))
    return [c / n for c in q]


def rotation(pool, span, time, how):
    keys = pool[span[0] : span[0] + span[1]]
    i, u = segment(keys, time)
    a = unit(keys[i][1])
    if u is None:
        return a
    b = unit(keys[i + 1][1])
    d = sum(x * y for x, y in zip(a, b))
    if d < 0:
        b, d = [-c for c in b], -d
    if how == "nlerp":
        return unit([(1 - u) * x + u * y for x, y in zip(a, b)])
    w = math.acos(min(d, 1.0))
    if w < 1e-9:
        return a
    return unit([(math.sin((1 - u) * w) * x + math.sin(u * w) * y) / math.sin(w) for x, y in zip(a, b)])


def shown(name, a):
    rows = []
    times = sorted({-0.5, 0.0, 0.1, 0.249, 0.25, 0.4, 0.5, 0.51, 0.75, 0.9, 1.0, 1.1, 1.25, 1.4, 1.5, 2.0})
    for number, n in enumerate(a["nodes"]):
        for sign in (1, -1):
            if n[3][1]:
                rows.append({"node": number, "channel": "translation", "sign": sign,
                             "values": [[t, hermite(a["trans"], n[3], t, sign)] for t in times]})
            if n[6][1]:
                rows.append({"node": number, "channel": "scale", "sign": sign,
                             "values": [[t, hermite(a["scale"], n[6], t, sign)] for t in times]})
        for how in ("nlerp", "slerp"):
            if n[4][1]:
                rows.append({"node": number, "channel": "rotation", "how": how,
                             "values": [[t, rotation(a["rot"], n[4], t, how)] for t in times]})
    return {"file": f"zn_{name}_le_bff_list.Animation_Z", "rows": rows}


# ---- skeletons


def bone(name, parent, translation, rotation=(0, 0, 0, 1), child=-1, following=-1, before=-1):
    matrix = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    return dict(name=crc(name), parent=parent, t=translation, q=rotation, child=child, next=following, prev=before, m=matrix)


def skeleton(order, with_rotation):
    bones = [bone("HIPS", -1, (0, 1, 0), child=1), bone("SPINE", 0, (0, 0.5, 0), (0, 0.6, 0, 0.8), child=2),
             bone("TETE", 1, (0, 0.25, 0.125), following=3), bone("TAIL", 0, (0, 0, -0.25))]
    out = struct.pack(order + "I4f", 3, 0, 1, 0, 2)
    if with_rotation:
        out += struct.pack(order + "4f", 0, 0, 0, 1)
    out += struct.pack(order + "I", len(bones))
    for i, b in enumerate(bones):
        record = struct.pack(order + "I4f3fI3f", 0, *b["q"], 1, 1, 1, 5, *b["t"])
        record += struct.pack(order + "29I", *range(100 + i, 129 + i))
        record += struct.pack(order + "16f4iI", *b["m"], b["child"], b["parent"], b["next"], b["prev"], b["name"])
        assert len(record) == 248
        out += record
    return out + b"materials, spheres and the rest"


def files():
    out = []
    for name, a in contents().items():
        for order, label in (("<", "le"), (">", "be")):
            content = body(a, order)
            linked = (S,) if name != "faulty" else ()
            for flavour, links in (("bare", "none"), ("resource", "none"), ("resource", "name"), ("resource", "list"), ("bff", "name"), ("bff", "list")):
                suffix = flavour if flavour == "bare" else f"{flavour}_{links}"
                data = wrapped(content, order, flavour, links, linked)
                out.append((f"zn_{name}_{label}_{suffix}.Animation_Z", data, dict(content=name, big=order == ">", flavour=flavour, links=links, trailing=0)))
    content = body(squares(), ">")
    out.append(("zn_odd_envelope.Animation_Z", wrapped(content, ">", "bff", "list", (S, S), b"\1\2\3\0", platform=0) + b"\xff" * 9,
                dict(content="squares", big=True, flavour="bff", links="list", trailing=9)))
    out.append(("zn_zero_rest.Animation_Z", wrapped(content, ">", "resource", "list", (), bytes(8)),
                dict(content="squares", big=True, flavour="resource", links="list", trailing=0)))
    return out


def skeletons():
    out = []
    for order, label in (("<", "le"), (">", "be")):
        for with_rotation in (True, False):
            links = "list" if with_rotation else "name"
            data = wrapped(skeleton(order, with_rotation), order, "bff" if with_rotation else "resource", links, class_id=CRC_SKEL)
            out.append((f"zn_{label}_{'rat' if with_rotation else 'fuel'}.Skel_Z", data, dict(big=order == ">", rotation=with_rotation)))
    return out


def write(outdir):
    lists = {"zouna.json": files(), "zouna_skeletons.json": skeletons()}
    for name, entries in lists.items():
        for file, data, _ in entries:
            (outdir / file).write_bytes(data)
        (outdir / name).write_text(json.dumps([{"file": f, **about} for f, _, about in entries]) + "\n")
    numbers = [shown(n, contents()[n]) for n in ("rich", "bones", "negative", "squares")]
    (outdir / "zouna_reference.json").write_text(json.dumps(numbers) + "\n")
