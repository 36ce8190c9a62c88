"""Archives, small ones: TotemTech in both byte orders with a name table, Zouna with stored, packed and
pooled records. What they hold goes to OUTDIR/archives.json, worked out here."""

import json
import struct
import zlib

ANIMATION, NODE = 0xC9909A33, 0xB3EA05F1
ANIMATION_Z, SKEL_Z = 0x46107D89, 0xD73B85EC


def totemtech_hash(name):
    return zlib.crc32(name.upper().encode())


def zouna_hash(name):
    table = []
    for i in range(256):
        c = i << 24
        for _ in range(8):
            c = (c << 1) ^ 0x04C11DB7 if c & 0x80000000 else c << 1
        table.append(c & 0xFFFFFFFF)
    h = 0
    for c in name.lower().encode():
        h = (h >> 8) ^ table[(h ^ c) & 0xFF]
    return h


def block_sum(data):
    h = 0
    for c in data:
        t = ((h >> 24) ^ c) << 24
        for _ in range(8):
            t = (t << 1) ^ 0x04C11DB7 if t & 0x80000000 else t << 1
        h = (h << 8 ^ t) & 0xFFFFFFFF
    return h


# ---- TotemTech

def record(order, kind, name, body, link=0):
    return struct.pack(order + "4I", 16 + len(body), kind, totemtech_hash(name), link) + body


def totemtech(order, chunks, chunk_size=0x800, filler=b"\xcd", version=b"1.73"):
    out = b"TotemTech Data v" + version + b" (c) 1999-2002 Kalisto Entertainment - All right reserved"
    out = out.ljust(256, b"\0") + struct.pack(order + "I", chunk_size)
    out = out.ljust(0x800, filler)
    for records in chunks:
        chunk = struct.pack(order + "I", len(records)) + b"".join(records)
        assert len(chunk) <= chunk_size
        out += chunk.ljust(chunk_size, filler)
    return out


def empty_animation(order, seconds=1.0):
    return struct.pack(order + "fHIII", seconds, 0, 0, 0, 0)


WALK = "DB:>ACTORS>SPONGE>WALK.TANIM"
RUN = "DB:>ACTORS>SPONGE>RUN.TANIM"
NOTE = "DB:>ACTORS>SPONGE>NOTE.TTXT"


def totemtech_sample(order, **options):
    return totemtech(order, [
        [record(order, ANIMATION, WALK, empty_animation(order), totemtech_hash("WALK")),
         record(order, ANIMATION, RUN, empty_animation(order, 2.0), totemtech_hash("RUN")),
         record(order, 0x8A901DCF, NOTE, b"text, kept as it is" + bytes(1500))],
        [record(order, NODE, "UNNAMED", bytes(range(64)))],
    ], **options)


def name_table(names, eol=b"\r\n"):
    lines = [b'0 ""']
    for name in names:
        value = totemtech_hash(name)
        lines.append(b'%d "%s"' % (value - (value >> 31 << 32), name.encode("cp1252")))
    return eol.join(lines) + eol


# ---- Zouna

def lzrs(data, level=0):
    """Packed by plain search: the longest match within the window, byte for byte."""
    window, longest = (0x3FFF >> level) + 1, (0xFFFF >> (14 - level)) + 3
    out, at = b"", 0
    while at < len(data):
        flags, group = level, b""
        for k in range(30):
            if at >= len(data):
                break
            best, distance = 0, 0
            for d in range(1, min(window, at) + 1):
                n = 0
                while n < longest and at + n < len(data) and data[at + n - d] == data[at + n]:
                    n += 1
                if n > best:
                    best, distance = n, d
            if best >= 3:
                flags |= 0x80000000 >> k
                group += struct.pack(">H", best - 3 << (14 - level) | distance - 1)
                at += best
            else:
                group += data[at:at + 1]
                at += 1
        out += struct.pack(">I", flags) + group
    return struct.pack("<II", len(data), 8 + len(out)) + out


def zouna_body(order, seconds=1.0):
    """The empty animation: two floats, two flags, pools and ranges of nothing."""
    flagged = struct.pack(order + "HI", 0, 0)
    plain = struct.pack(order + "I", 0)
    return (struct.pack(order + "ffHH", seconds, 0.0, 0, 0xCDCD) + plain * 2 + flagged * 2 + plain
            + flagged * 7 + plain * 4)


def resource(order, kind, name, link, body, packed=None):
    stored = body if packed is None else packed
    return struct.pack(order + "6I", len(link) + len(stored), len(link), len(body),
                       0 if packed is None else len(packed), kind, zouna_hash(name)) + link + stored


def links(order, name):
    return struct.pack(order + "II", zouna_hash(name), 0)


def pad(data, to=0x800, filler=b"\0"):
    return data + filler * (-len(data) % to)


def zouna(order, blocks, version=b"1.06.63.02", checksums=False, pool=b"", working=0):
    """blocks: lists of (name, resource)."""
    bodies = [b"".join(r for _, r in block) for block in blocks]
    padded = [pad(b) for b in bodies]
    capacity = [max([len(p) + working for p in padded[k::2]], default=0) for k in (0, 1)]
    out = (b"v" + version + b" - Asobo Studio - Internal Cross Technology").ljust(256, b"\0")
    out += struct.pack(order + "8I", 1, len(blocks), *capacity, sum(map(len, padded)), 266, 1, 2)
    for block, body, full in zip(blocks, bodies, padded):
        out += struct.pack(order + "6I", len(block), len(full), len(body), working,
                           zouna_hash(block[0][0]) if block else 0,
                           block_sum(body) if checksums else 0)
    out = out.ljust(0x720, b"\0")
    if pool:
        at = 0x800 + sum(map(len, padded))
        out += struct.pack(order + "8I", 1, at // 0x800, 0xFFFFFFFF, 0, 1,
                           sum(len(p) - len(b) for p, b in zip(padded, bodies)), 0, at + len(pool))
        out = out.ljust(0x800, b"\0")
    else:
        out = out.ljust(0x800, b"\xff")
    return out + b"".join(padded) + pool


def zouna_pool(order, objects):
    """objects: (name, kind, body, packed or None)."""
    def array(values):
        return struct.pack(order + f"{len(values) + 1}I", len(values), *values)
    records = [pad(resource(order, kind, name, b"", body, packed), filler=b"\xff")
               for name, kind, body, packed in objects]
    out = struct.pack(order + "3I", 0x80000, 0x800, len(objects))
    out += array(range(len(objects)))
    out += array([zouna_hash(o[0]) for o in objects])
    out += array([1] * len(objects))
    out += array([len(r) // 0x800 for r in records])
    out += array(range(len(objects)))
    out += struct.pack(order + "I", len(objects))
    for i in range(len(objects)):
        out += struct.pack(order + "3I2H3I", i, i + 1, i, 0, 1, *[0xFFFFFFFF] * 3)
    return pad(out + bytes(28), filler=b"\0") + b"".join(records)


WORDS = b"left right left right up down, left left left right " * 12


def zouna_sample(order, **options):
    walk, run = zouna_body(order), zouna_body(order, 2.0)
    return zouna(order, [
        [("WALK.TANIM", resource(order, ANIMATION_Z, "WALK.TANIM", links(order, "WALK"), walk)),
         ("RUN.TANIM", resource(order, ANIMATION_Z, "RUN.TANIM", links(order, "RUN"), run,
                                lzrs(run, 2))),
         ("WORDS", resource(order, SKEL_Z, "WORDS", links(order, "WORDS"), WORDS, lzrs(WORDS)))],
        [("OTHER", resource(order, SKEL_Z, "OTHER", links(order, "OTHER") + b"more", bytes(64)))],
        [("WALK.TANIM", resource(order, ANIMATION_Z, "WALK.TANIM", links(order, "WALK"), run))],
    ], **options)


def fuel_sample():
    link = struct.pack("<I", zouna_hash("WALK"))
    walk, run = zouna_body("<"), zouna_body("<", 2.0)
    empty = struct.pack("<6I", 4, 4, 0, 0, ANIMATION_Z, zouna_hash("WALK.TANIM")) + link
    packed = struct.pack("<6I", 4, 4, 0, 0, ANIMATION_Z, zouna_hash("RUN.TANIM")) + link
    return zouna("<", [
        [("WALK.TANIM", empty), ("RUN.TANIM", packed),
         ("OTHER", resource("<", SKEL_Z, "OTHER", link, bytes(40)))],
    ], version=b"1.381.67.09", pool=zouna_pool("<", [
        ("RUN.TANIM", ANIMATION_Z, run, lzrs(run)), ("WALK.TANIM", ANIMATION_Z, walk, None)]))


# ---- Red Faction

def vpp(files, filler=b"\0", junk=b"\0"):
    head = struct.pack("<II", 0x51890ACE, 1)
    directory = b"".join(name.encode().ljust(60, b"\0") + struct.pack("<i", len(data))
                         for name, data in files)
    body = pad(directory, filler=junk) + b"".join(pad(data, filler=filler) for _, data in files)
    return (head + struct.pack("<ii", len(files), 0x800 + len(body))).ljust(0x800, b"\0") + body


VPP_FILES = [("walk.rfa", b"not really " * 20), ("empty.tbl", b""), ("x" * 60, bytes(range(256)) * 9),
             ("Miner.v3c", b"end")]


# ---- Shenmue

def afs(files, named=True):
    table = 8 + 8 * len(files)
    data_at = (table + 8 + 0x7FF) // 0x800 * 0x800
    places, body = [], b""
    for _, data in files:
        places.append((data_at + len(body), len(data)))
        body += pad(data)
    out = b"AFS\0" + struct.pack("<I", len(files)) + b"".join(struct.pack("<2I", *p) for p in places)
    out = out.ljust(data_at - 8, b"\0")
    out += struct.pack("<2I", data_at + len(body), 48 * len(files)) if named else bytes(8)
    out += body
    if named:
        out += pad(b"".join(name.encode().ljust(32, b"\0") + struct.pack("<6HI", 1999, 11, 12, 16, 10, 23, len(data))
                            for name, data in files))
    return out


def ipac(files, dictionary_first=False):
    """files: ("NAME", "TYPE", data)."""
    at = 16 + (20 * len(files) if dictionary_first else 0)
    entries, body = b"", b""
    for name, kind, data in files:
        entries += name.encode().ljust(8, b"\0") + kind.encode().ljust(4, b"\0")
        entries += struct.pack("<2I", at + len(body), len(data))
        body += pad(data, 32, b"\xee")
    dictionary = 16 if dictionary_first else 16 + len(body)
    head = b"IPAC" + struct.pack("<3I", dictionary, len(files), 16 + len(body) + len(entries))
    return head + (entries + body if dictionary_first else body + entries)


def pks(package):
    return b"PAKS" + struct.pack("<3I", 16, 0, 0) + package


AFS_FILES = [("HUMANS.BIN", bytes(range(100))), ("EMPTY.TXT", b""), ("LAST.MT5", b"model" * 700)]
IPAC_FILES = [("WALK", "MOTN", b"motions" * 9), ("WALK", "CHRM", b"chr"), ("MAP", "MAPM", bytes(64))]


def unpacked(order, kind, name, link, body):
    return resource(order, kind, name, link, body)


def write(outdir):
    files = {}

    def add(name, data, kind, order, entries):
        (outdir / name).write_bytes(data)
        files[name] = {"kind": kind, "order": order, "bytes": len(data), "entries": [
            {"id": i, "type": t, "size": len(b), "hex": b.hex()} if isinstance(i, int)
            else {"name": i, "type": t, "size": len(b), "hex": b.hex()} for i, t, b in entries]}

    for order, word, extension in ((">", "big", "dgc"), ("<", "little", "dps")):
        entries = [(totemtech_hash(n), k, record(order, k, n, b, l)) for n, k, b, l in (
            (WALK, ANIMATION, empty_animation(order), totemtech_hash("WALK")),
            (RUN, ANIMATION, empty_animation(order, 2.0), totemtech_hash("RUN")),
            (NOTE, 0x8A901DCF, b"text, kept as it is" + bytes(1500), 0),
            ("UNNAMED", NODE, bytes(range(64)), 0))]
        add(f"totem_{word}.{extension}", totemtech_sample(order), "totemtech", word, entries)

        walk, run = zouna_body(order), zouna_body(order, 2.0)
        entries = [(zouna_hash(n), k, unpacked(order, k, n, l, b)) for n, k, l, b in (
            ("WALK.TANIM", ANIMATION_Z, links(order, "WALK"), walk),
            ("RUN.TANIM", ANIMATION_Z, links(order, "RUN"), run),
            ("WORDS", SKEL_Z, links(order, "WORDS"), WORDS),
            ("OTHER", SKEL_Z, links(order, "OTHER") + b"more", bytes(64)),
            ("WALK.TANIM", ANIMATION_Z, links(order, "WALK"), run))]
        add(f"zouna_{word}.dpc", zouna_sample(order), "zouna", word, entries)
        if order == "<":
            add("zouna_sums.dpc", zouna_sample(order, checksums=True, version=b"1.291.03.06"),
                "zouna", word, entries)
    (outdir / "totem_big.NGC").write_bytes(name_table([WALK, RUN, NOTE]))
    link = struct.pack("<I", zouna_hash("WALK"))
    add("zouna_pool.dpc", fuel_sample(), "zouna", "little", [
        (zouna_hash(n), k, unpacked("<", k, n, link, b)) for n, k, b in (
            ("WALK.TANIM", ANIMATION_Z, zouna_body("<")),
            ("RUN.TANIM", ANIMATION_Z, zouna_body("<", 2.0)), ("OTHER", SKEL_Z, bytes(40)))])
    add("files.vpp", vpp(VPP_FILES, b"\xaa", b"\xbb"), "vpp", "little",
        [(name, 0, data) for name, data in VPP_FILES])
    names = [(name, 0, data) for name, data in AFS_FILES]
    add("files.afs", afs(AFS_FILES), "afs", "little", names)
    add("nameless.afs", afs(AFS_FILES, named=False), "afs", "little",
        [(f"{i:05}", 0, data) for i, (_, data) in enumerate(AFS_FILES)])
    names = [(f"{name}.{kind}", 0, data) for name, kind, data in IPAC_FILES]
    add("scene.pks", pks(ipac(IPAC_FILES)), "ipac", "little", names)
    add("first.ipac", ipac(IPAC_FILES, dictionary_first=True), "ipac", "little", names)
    (outdir / "archives.json").write_text(json.dumps(files, indent=1) + "\n")
