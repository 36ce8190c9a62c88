"""Packs Red Faction meshes (V3C, V3M) in the habits of either known family of writers."""

import math
import struct
from dataclasses import dataclass, field

from rfa_build import Bits, floats
from vecmath import cross, dot, f32, sub, unit

NAN_NORMAL = (Bits(0xFFC00000),) * 3
DOUBLE_SIDED = 0x20
ORIG_MAP, CHARACTER, PLANES = 0x01, 0x02, 0x20  # LOD flags
CHARACTER_RENDER, OPAQUE_RENDER = 0x518C41, 0x400C41


@dataclass
class Style:
    # The first four are habits of family A, the original tools.
    padded_sizes: bool = False  # sizes of positions, UVs, links rounded up to 16; same_pos too
    header_copy: bool = False  # batch headers repeat the batch info and hold stale pointers
    find_same_pos: bool = False  # duplicates of a position point at the first vertex there
    unused_bone: int = 0  # bone of a link slot without weight; 0xFF there
    junk_fill: bool = False  # padding and slack not zero
    block_tail: bytes = b""  # bytes in the data block after the last prop point


FAMILY_A = Style(padded_sizes=True, header_copy=True, find_same_pos=True, unused_bone=0xFF)
FAMILY_B = Style()


@dataclass
class Vertex:
    pos: tuple
    normal: tuple
    uv: tuple
    links: tuple = ()  # (bone, weight byte), used slots only
    original: int = -1


@dataclass
class Batch:
    vertices: list = field(default_factory=list)
    triangles: list = field(default_factory=list)  # (a, b, c, flags)
    texture: int = 0  # index into the texture list of the LOD
    render_flags: int = CHARACTER_RENDER
    has_links: bool = True


@dataclass
class Prop:
    name: str
    stored: tuple  # conjugated rotation x y z w
    pos: tuple
    bone: int = -1
    junk: bytes = b""  # bytes after the terminator of the name


@dataclass
class Lod:
    flags: int
    batches: list
    textures: list  # (material index, name)
    props: list = field(default_factory=list)
    distance: float = 0.0
    num_originals: int = 0  # with flag ORIG_MAP; otherwise the vertices of all batches are counted


@dataclass
class Submesh:
    name: str
    lods: list
    materials: list  # (texture name, self-illumination, flags)
    offset: tuple = (0.0, 0.0, 0.0)
    parent: str = "None"


def text(value, size, junk=b""):
    raw = value.encode() + b"\0" + junk
    return raw[:size].ljust(size, b"\0")


def align16(n):
    return (n + 15) & ~15


class Block:
    """The data block of a LOD: regions of a stated size, each followed by padding to 16 from the
    start of the block."""

    def __init__(self, junk):
        self.data = bytearray()
        self.junk = junk

    def fill(self, count):
        if self.junk:
            self.data.extend(1 + (7 * (len(self.data) + i)) % 255 for i in range(count))
        else:
            self.data.extend(bytes(count))

    def region(self, payload, size=None):
        self.data.extend(payload)
        if size is not None:
            self.fill(size - len(payload))
        self.fill(-len(self.data) % 16)


def same_positions(batch):
    """Distance of every vertex to the first one with its position and links, 0 for that one."""
    first, result = {}, []
    for i, v in enumerate(batch.vertices):
        result.append(i - first.setdefault((v.pos, v.links), i))
    return result


def plane(batch, triangle):
    a, b, c = (batch.vertices[i].pos for i in triangle[:3])
    n = cross(sub(b, a), sub(c, a))
    if dot(n, n) < 1e-20:
        return (*NAN_NORMAL, Bits(0xFFC00000))
    n = unit(n)
    return (*n, -dot(n, a))


def batch_sizes(batch, style):
    """Positions, indices, same_pos, links, UVs: the order of the batch info."""
    nv, nt = len(batch.vertices), len(batch.triangles)
    links = 8 * nv if batch.has_links else 0
    if not style.padded_sizes:
        return 12 * nv, 8 * nt, 2 * nv, links, 8 * nv
    same_pos = 2 * nv + 4 * (-nv % 4)  # pads by vertices, but in the unit of something else
    return align16(12 * nv), 8 * nt, same_pos, align16(links), align16(8 * nv)


def batch_header(batch, number, style):
    if not style.header_copy:
        return bytes(0x20) + struct.pack("<i", batch.texture) + bytes(0x14)
    positions, indices, same_pos, links, uvs = batch_sizes(batch, style)
    nv, nt = len(batch.vertices), len(batch.triangles)
    stale = [0x00C30000 + 0x1000 * number + 0x90 * i for i in range(8)]
    head = struct.pack("<I7IiI", batch.render_flags, *stale[:7], batch.texture, stale[7])
    return head + struct.pack("<8H", nv, nt, positions, indices, uvs, links, same_pos, 0)


def link_bytes(vertex, style):
    bones = [b for b, _ in vertex.links] + [style.unused_bone] * (4 - len(vertex.links))
    weights = [w for _, w in vertex.links] + [0] * (4 - len(vertex.links))
    return bytes(weights + bones)


def put_batch(block, batch, lod, style):
    positions, indices, same_pos, links, uvs = batch_sizes(batch, style)
    offsets = same_positions(batch) if style.find_same_pos else [0] * len(batch.vertices)
    block.region(b"".join(floats(v.pos) for v in batch.vertices), positions)
    block.region(b"".join(floats(v.normal) for v in batch.vertices), positions)
    block.region(b"".join(floats(v.uv) for v in batch.vertices), uvs)
    block.region(b"".join(struct.pack("<4H", *t) for t in batch.triangles), indices)
    if lod.flags & PLANES:
        block.region(b"".join(floats(plane(batch, t)) for t in batch.triangles))
    block.region(struct.pack(f"<{len(offsets)}h", *offsets), same_pos)
    if batch.has_links:
        block.region(b"".join(link_bytes(v, style) for v in batch.vertices), links)
    if lod.flags & ORIG_MAP:
        orig_map = [-1] * lod.num_originals
        for i, v in enumerate(batch.vertices):
            if offsets[i] == 0:
                orig_map[v.original] = i
        block.region(struct.pack(f"<{len(orig_map)}h", *orig_map))


def pack_prop(prop):
    numbers = floats([*prop.stored, *prop.pos])
    return text(prop.name, 0x44, prop.junk) + numbers + struct.pack("<i", prop.bone)


def pack_lod(lod, style):
    block = Block(style.junk_fill)
    block.region(b"".join(batch_header(b, n, style) for n, b in enumerate(lod.batches)))
    for batch in lod.batches:
        put_batch(block, batch, lod, style)
    block.data.extend(b"".join(pack_prop(p) for p in lod.props) + style.block_tail)

    count = lod.num_originals if lod.flags & ORIG_MAP else sum(len(b.vertices) for b in lod.batches)
    parts = [
        struct.pack("<IiHi", lod.flags, count, len(lod.batches), len(block.data)),
        bytes(block.data),
        struct.pack("<i", -1),
    ]
    for batch in lod.batches:
        nv, nt = len(batch.vertices), len(batch.triangles)
        parts.append(struct.pack("<7HI", nv, nt, *batch_sizes(batch, style), batch.render_flags))
    parts.append(struct.pack("<ii", len(lod.props), len(lod.textures)))
    parts.extend(bytes([material]) + name.encode() + b"\0" for material, name in lod.textures)
    return b"".join(parts)


def pack_material(name, illumination, flags):
    numbers = floats([illumination, 0.25, 0.1, 0.0])
    return text(name, 32) + numbers + bytes(32) + struct.pack("<I", flags)


def pack_submesh(submesh, style):
    points = [v.pos for b in submesh.lods[0].batches for v in b.vertices]
    radius = f32(max(math.sqrt(dot(p, p)) for p in points))
    low = [min(p[a] for p in points) for a in range(3)]
    high = [max(p[a] for p in points) for a in range(3)]
    parts = [struct.pack("<Ii", 0x5355424D, 0), text(submesh.name, 24), text(submesh.parent, 24)]
    parts += [struct.pack("<ii", 7, len(submesh.lods))]
    parts += [floats([lod.distance for lod in submesh.lods])]
    parts += [floats([*submesh.offset, radius, *low, *high])]
    parts += [pack_lod(lod, style) for lod in submesh.lods]
    parts += [struct.pack("<i", len(submesh.materials))]
    parts += [pack_material(*m) for m in submesh.materials]
    parts += [struct.pack("<i", 1), text(submesh.name, 24), floats([0.0])]
    return b"".join(parts)


def sphere_chunk(name, bone, pos, radius, size=44):
    """The body is 44 bytes whatever the size field says: real files hold 40 there as well."""
    head = struct.pack("<Ii", 0x43535048, size)
    return head + text(name, 24) + struct.pack("<i", bone) + floats([*pos, radius])


def bone_chunk(names, parents, stored, bytes_per_bone=56):
    """bytes_per_bone enters the size field only; 44 is a mistake of known tools."""
    body = b"".join(
        text(name, 24) + floats([*q, *t]) + struct.pack("<i", parent)
        for name, parent, (q, t) in zip(names, parents, stored)
    )
    return struct.pack("<Iii", 0x424F4E45, 4 + bytes_per_bone * len(names), len(names)) + body


def dumb_chunk(name):
    body = text(name, 24) + bytes(range(32))
    return struct.pack("<Ii", 0x44554D42, len(body)) + body


def pack_mesh(magic, submeshes, style, spheres=(), bones=b"", dumbs=(), trailing=b""):
    materials = sum(len(s.materials) for s in submeshes)
    counts = (len(submeshes), 0, 0, 0, materials, 0, len(dumbs), len(spheres))
    parts = [struct.pack("<4sI8i", magic, 0x40000, *counts)]
    parts += [pack_submesh(s, style) for s in submeshes]
    return b"".join([*parts, *dumbs, *spheres, bones, bytes(8), trailing])


# Geometry


def add_quad(batch, corners, normals, links=((),) * 4, originals=(-1,) * 4, flags=0, tile=(0, 0)):
    """Corners in the order that makes cross(b - a, c - a) point outwards, in the game's axes."""
    base = len(batch.vertices)
    square = ((0, 1), (1, 1), (1, 0), (0, 0))
    uvs = [(0.25 * (tile[0] + u), 0.25 * (tile[1] + v)) for u, v in square]
    batch.vertices += [Vertex(*v) for v in zip(corners, normals, uvs, links, originals)]
    batch.triangles += [(base, base + 1, base + 2, flags), (base, base + 2, base + 3, flags)]


def box_faces():
    """Per face: axis, direction, and the four corner numbers (bit per axis) in outward order."""
    for axis in range(3):
        u, v = 1 << (axis + 1) % 3, 1 << (axis + 2) % 3
        loop = [0, u, u | v, v]
        yield axis, 1, [(1 << axis) | c for c in loop]
        yield axis, -1, loop[::-1]


def add_box(batch, centre, half, flags=0):
    """A box with flat normals, not skinned."""
    for n, (axis, direction, loop) in enumerate(box_faces()):
        normal = tuple(float(direction * (a == axis)) for a in range(3))
        corners = [
            tuple(f32(centre[a] + half[a] * (1 if c >> a & 1 else -1)) for a in range(3))
            for c in loop
        ]
        add_quad(batch, corners, [normal] * 4, flags=flags, tile=(n % 4, n // 4))


def face_normal(points):
    return unit(cross(sub(points[1], points[0]), sub(points[2], points[0])))
