"""Shenmue models: the node tree of a real one, and small ones with meshes, broken or not.

No real file was at hand when these were made: they follow docs/formats/mt5.md, which the reader
follows too."""

import struct
from dataclasses import dataclass, field

from rfa_build import Registry

fixture = Registry("mt5")


@dataclass
class Node:
    id: int
    position: tuple = (0.0, 0.0, 0.0)
    rotation: tuple = (0, 0, 0)  # signed BAMS
    scale: tuple = (1.0, 1.0, 1.0)
    mesh: int = 0
    tag: bytes = b""
    children: list = field(default_factory=list)
    offset: int = 0
    stored_parent: object = None  # where the file lies about the parent


def place(roots, start):
    """Depth first, back to back, as in the real file."""
    for node in roots:
        node.offset = start
        start = place(node.children, start + 64)
    return start


def links(siblings, parent=0):
    """Every node with its three offsets."""
    for node, after in zip(siblings, [*siblings[1:], None]):
        child = node.children[0].offset if node.children else 0
        told = parent if node.stored_parent is None else node.stored_parent
        yield node, child, after.offset if after else 0, told
        yield from links(node.children, node.offset)


def pack_node(node, child, sibling, parent):
    words = [r & 0xFFFF if -0x8000 <= r < 0x8000 else r for r in node.rotation]
    return (
        struct.pack("<5I6f", node.id, node.mesh, *words, *node.scale, *node.position)
        + struct.pack("<3I", child, sibling, parent)
        + node.tag.ljust(4, b"\0")
        + bytes(4)
    )


def pack_node7(node, child, sibling, parent):
    return (
        struct.pack("<I3f3i3f", node.id, *node.position, *node.rotation, *node.scale)
        + struct.pack("<4I", node.mesh, child, sibling, parent)
        + bytes(8)
    )


def put(image, offset, data):
    if len(image) < offset + len(data):
        image.extend(bytes(offset + len(data) - len(image)))
    assert not any(image[offset : offset + len(data)]), "fixture records overlap"
    image[offset : offset + len(data)] = data


def pack(roots, textures=0, pieces=()):
    """`pieces` are (offset, bytes)."""
    image = bytearray(struct.pack("<4sII", b"HRCM", textures, roots[0].offset))
    for node, *offsets in links(roots):
        put(image, node.offset, pack_node(node, *offsets))
    for offset, data in pieces:
        put(image, offset, data)
    return bytes(image)


def pack7(roots, magic=b"MDC7", pieces=(), textures=0):
    image = bytearray(struct.pack("<4sIII", magic, 0, roots[0].offset, textures))
    for node, *offsets in links(roots):
        put(image, node.offset, pack_node7(node, *offsets))
    for offset, data in pieces:
        put(image, offset, data)
    image[4:8] = struct.pack("<I", len(image))
    return bytes(image)


# ---- the tree of a real character (36 nodes). Ids were lost there; these follow from the meaning.

QUARTER = 16384
NOBODY = 0x7F00  # no bone: the byte above says so


def hand_of(side, hand, thumb, index, fingers):
    s = 1 if side == "R" else -1
    return Node(
        hand,
        (0.250665, 0, 0),
        children=[
            Node(
                index[0],
                (0.113395, -0.011110, -0.003079 * s),
                (0, 2232 * s, 0),
                children=[Node(index[1], (0.023182, 0.003164, 0.001988 * s), (0, 6008 * s, 0))],
            ),
            Node(
                fingers[0],
                (0.117255, 0.028722, -0.002888 if s > 0 else 0.002887),
                (0, 939 * s, 0),
                children=[Node(fingers[1], (0.027113, 0.001097, 0.000614 * s), (0, 8240 * s, 0))],
            ),
            Node(thumb, (0.084188, 0.051539, -0.030294 * s), (-QUARTER * s, 0, 0)),
        ],
    )


def arm(side, ids, shoulder, upper):
    hand = (
        hand_of(side, 0xFFBF, 25, (28, 29), (31, 32))
        if side == "R"
        else hand_of(side, 0xFFBE, 40, (43, 44), (46, 47))
    )
    wrist = Node(ids[3], children=[hand])
    lower = Node(ids[2], (0.242525, 0, 0), (0, 0, 133), children=[wrist])
    return Node(ids[0], shoulder, children=[Node(ids[1], upper, (0, 0, 32700), children=[lower])])


def person():
    flat = (8192, -QUARTER, 8192)
    hips = Node(
        14,
        rotation=(0, 0, -2 * QUARTER),
        children=[
            Node(
                16,
                (0.191467, 0, 0.091672),
                children=[
                    Node(17, (0.392729, 0, 0), children=[Node(18, (0.444608, 0, -0.005720), flat)])
                ],
            ),
            Node(
                21,
                (0.191467, 0.000001, -0.091672),
                children=[
                    Node(
                        22,
                        (0.392729, 0, 0),
                        children=[Node(23, (0.444615, 0.000001, -0.000003), flat)],
                    )
                ],
            ),
        ],
    )
    neck = Node(
        NOBODY + 1,
        (0.380852, 0.000001, 0.000002),
        (-QUARTER, 0, -QUARTER),
        children=[Node(0xFFBD), Node(0xFFBC)],
    )
    right = arm("R", (4, 5, 6, 7), (0.255220, 0, 0.055838), (0.016945, 0, 0.168566))
    left = arm("L", (9, 10, 11, 12), (0.255221, 0, -0.055834), (0.016944, -0.000001, -0.168570))
    spine = Node(1, rotation=(QUARTER, 0, QUARTER), children=[hips, right, left, neck])
    return [
        Node(
            0x7001,
            tag=b"YEAM",
            children=[
                Node(NOBODY, children=[spine]),
                Node(NOBODY + 2, children=[Node(NOBODY + 3)]),
            ],
        ),
        Node(NOBODY + 4),
    ]


@fixture(canonical=False)
def person36():
    """The 36 nodes of a real character, without meshes."""
    roots = person()
    assert place(roots, 12) == 12 + 36 * 64
    return pack(roots)


@fixture(canonical=False)
def shuffled():
    """The same tree with its nodes in another order and bytes of nobody between them, turns with
    more than 16 bits, one parent that is a lie."""
    roots = person()
    place(roots, 0)
    nodes = [node for node, *_ in links(roots)]
    for i, node in enumerate(nodes):
        node.offset = 0x40 + 72 * (7 * i % 36)
    nodes[5].stored_parent = 0x1234
    nodes[2].rotation = (0x30000 + QUARTER, 0, QUARTER)
    junk = [(0x40 + 72 * i + 64, bytes([i + 1] * 8)) for i in range(36)]
    return pack(roots, pieces=junk)


# ---- meshes

FLAT, UV, COLOUR, UV_COLOUR, ENVIRONMENT = 0x10, 0x11, 0x12, 0x14, 0x13
END = struct.pack("<H", 0x8000)


def word(op, value):
    return struct.pack("<HH", op, value)


def attributes(op=2, high_resolution=False, mirror_u=False, mirror_v=False):
    data = bytearray(16)
    data[0] = high_resolution
    data[10] = 4 * mirror_u + 2 * mirror_v
    return struct.pack("<HH", op, len(data)) + bytes(data)


def strips(op, *lists):
    """Corners are (vertex, u, v, colour), as far as the op has them."""
    body = struct.pack("<H", len(lists))
    for corners in lists:
        length = -len(corners[1]) if corners[0] == "turned" else len(corners)
        body += struct.pack("<h", length)
        for vertex, *rest in corners[1] if length < 0 else corners:
            body += struct.pack("<h", vertex)
            if op in (UV, UV_COLOUR):
                body += struct.pack("<hh", *rest[:2])
            if op in (COLOUR, UV_COLOUR):
                body += bytes(rest[-1])
    return struct.pack("<HH", op, len(body)) + body


def square(size, z=0.0):
    """Seen from +z; its strip is counter-clockwise."""
    corners = ((0, 0), (size, 0), (0, size), (size, size))
    return b"".join(struct.pack("<6f", x, y, z, 0, 0, 1) for x, y in corners)


def mesh_header(vertices, count, polygons, flags=0):
    return struct.pack("<IIiI4f", flags, vertices, count, polygons, 0.5, 0.5, 0, 0.8)


GREEN = (0, 255, 0, 255)


def parts():
    """A body, a limb whose stream reaches into it, and a finger that reaches over the limb."""
    body, limb, finger = Node(0x7001), Node(5, (1, 0, 0)), Node(6, (1, 0, 0), (0, 0, QUARTER))
    body.children, limb.children = [limb], [finger]
    streams = [
        word(9, 3)
        + attributes(2, mirror_u=True)
        + strips(UV, [(0, 0, 0), (1, 256, 0), (2, 0, 256), (3, 256, -256)])
        + struct.pack("<H", 0)
        + word(0x0B, 1024)
        + attributes(3)
        + strips(UV_COLOUR, [(0, 512, 0, GREEN), (1, 0, 1024, GREEN), (2, 0, 0, GREEN)])
        + END,
        word(9, 4)
        + word(8, 7)
        + attributes(5, high_resolution=True, mirror_v=True)
        + strips(UV, [(-4, 32767, 0), (1, 16384, -32768), (-2, 0, 0), (3, 0, 1)])
        + END,
        strips(FLAT, [(-5,), (0,), (1,)], ("turned", [(2,), (1,), (0,)]))
        + word(9, 0xFFFF)
        + strips(COLOUR, [(0, GREEN), (1, GREEN), (2, GREEN)])
        + END,
    ]
    return body, limb, finger, streams


def lay_out(nodes, streams):
    """As exporters do it: streams and vertices, mesh headers, nodes."""
    at, pieces = 12, []
    polygons, vertices = [], []
    for stream in streams:
        polygons.append(at)
        pieces.append((at, stream))
        at += (len(stream) + 3) // 4 * 4
    for i in range(len(nodes)):
        vertices.append(at)
        pieces.append((at, square(1 + i)))
        at += 96
    for i, node in enumerate(nodes):
        node.mesh = at
        pieces.append((at, mesh_header(vertices[i], 4, polygons[i], i)))
        at += 32
    return at, pieces


TEXTURES = struct.pack("<4sII", b"TEXD", 12, 1) + struct.pack("<4sI8s", b"NAME", 16, b"_TESTTEX")


@fixture(canonical=False)
def meshes():
    """Three parts: all forms of corners, UVs of both resolutions, negative vertices into the parent
    and its parent, a trigger, a texture section at the end."""
    body, limb, finger, streams = parts()
    at, pieces = lay_out([body, limb, finger], streams)
    end = place([body], at)
    return pack([body], textures=end, pieces=[*pieces, (end, TEXTURES)])


@fixture(canonical=False)
def shared_mesh():
    """Two nodes with one mesh; two meshes with one list of vertices, of which the second uses a
    part; a stream that ends in an unknown op; a strip that is too long; a corner of nobody."""
    root, other, third = Node(0), Node(300), Node(301, (0, 1, 0))
    root.children = [other, third]
    stream = strips(FLAT, [(0,), (1,), (2,)]) + struct.pack("<HHH", 0x0077, 1, 2)
    bad = bytearray(strips(FLAT, [(0,), (1,), (2,)]))
    bad[6] = 9  # the length of the strip
    bad += strips(FLAT, [(0,), (1,), (3,)]) + strips(FLAT, [(-4,), (1,), (2,)]) + END
    nodes = 12
    end = place([root], nodes)
    first, second, vertices = end, end + 32, end + 64
    root.mesh = other.mesh = first
    third.mesh = second
    pieces = [
        (first, mesh_header(vertices, 4, vertices + 96)),
        (second, mesh_header(vertices, 3, vertices + 128)),
        (vertices, square(1)),
        (vertices + 96, stream),
        (vertices + 128, bytes(bad)),
    ]
    return pack([root], pieces=pieces)


@fixture(canonical=False)
def lost_mesh():
    """One mesh inside the file, one far outside."""
    root, other = Node(0), Node(5)
    root.children = [other]
    end = place([root], 12)
    root.mesh, other.mesh = end, 0x00F00000
    stream = strips(FLAT, [(0,), (1,), (2,)]) + END
    header = mesh_header(end + 32, 4, end + 128)
    return pack([root], pieces=[(end, header), (end + 32, square(1)), (end + 128, stream)])


@fixture(canonical=False, name="person36", kind="mt7")
def person7():
    """The tree of person36 with a texture table, a table of node offsets before the first node, and
    sections behind the last one."""
    roots = person()
    textures = struct.pack("<HHIII", 64, 64, 1, 2, 0) + b"_TESTTEX"
    table_at = 16 + len(textures)
    end = place(roots, table_at + 4 + 4 * 36)
    offsets = [node.offset for node, *_ in links(roots)]
    table = struct.pack("<37I", 36, *offsets)
    return pack7(
        roots, pieces=[(16, textures), (table_at, table), (end, b"CLSG" + bytes(12))], textures=1
    )


@fixture(canonical=False, kind="mt7")
def xbox():
    """Another magic, negative turns in 32 bits, a record behind a node."""
    root, child = Node(0x7003), Node(14, (0, 1, 0), (-QUARTER, 0, 70000), (2.0, 2.0, 2.0))
    root.children = [child]
    root.offset, child.offset = 16, 0x80
    return pack7([root], magic=b"MDPX", pieces=[(0x50, b"MDPX" + struct.pack("<I", 8) + b"name")])
