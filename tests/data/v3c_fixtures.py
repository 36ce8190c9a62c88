"""Mesh fixtures: the character in the habits of two families of writers, broken padding, and a
static mesh."""

from dataclasses import replace

import character
import mesh_build as mesh
from mesh_build import (
    CHARACTER,
    DOUBLE_SIDED,
    FAMILY_A,
    FAMILY_B,
    ORIG_MAP,
    PLANES,
    Batch,
    Lod,
    Prop,
    Submesh,
    Vertex,
)
from rfa_build import Registry
from vecmath import add, axis_angle, conj, f32, rotate, scale, sub, unit

fixture = Registry("v3c")
V3C, V3M = b"MCFR", b"D3FR"

HEAD, ARM_L, SPINE, ARM_R, LEG, ROOT = range(6)
# The two spine faces across this axis belong to the other batch, so that all spine corners are in
# both.
CAP_AXIS = 1


def links_of(bone, corner):
    """One bone far from the joint, two or three near it, with every weight sum that real files
    have."""
    parent = character.PARENTS[bone]
    near = {HEAD: 1, ARM_L: 0, SPINE: 1, ARM_R: 0, LEG: 1, ROOT: None}[bone]
    if near is None:
        return ((bone, 255),)
    joint_side = 1 if bone in (ARM_L, LEG) else 0
    if (corner >> near & 1) != joint_side:
        return ((bone, 255),)
    if bone == ARM_L and corner == 1:
        return ((bone, 84), (parent, 84), (HEAD, 84))
    return {
        HEAD: ((bone, 180), (parent, 75)),
        ARM_L: ((bone, 127), (parent, 127)),
        SPINE: ((bone, 200), (parent, 53)),
        ARM_R: ((parent, 90), (bone, 165)),
        LEG: ((bone, 153), (parent, 102)),
    }[bone]


def add_bone_box(batch, bone, wanted=lambda axis: True):
    """Normals are those of the corners: a duplicate of a position differs in UV only, as in the
    game's files."""
    q = character.REST_WORLD[bone][0]
    for n, (axis, _, loop) in enumerate(mesh.box_faces()):
        if not wanted(axis):
            continue
        originals = [8 * bone + c for c in loop]
        normals = [tuple(f32(x) for x in rotate(q, unit(character.corner_signs(c)))) for c in loop]
        mesh.add_quad(
            batch,
            [character.ORIGINALS[o] for o in originals],
            normals,
            [links_of(bone, c) for c in loop],
            originals,
            tile=((n + bone) % 4, (n + bone) // 4 % 4),
        )


def add_fin(batch):
    """One double-sided triangle: it makes the vertex count 3 modulo 4."""
    points = [character.ORIGINALS[o] for o in character.FIN]
    normal = tuple(f32(c) for c in mesh.face_normal(points))
    base = len(batch.vertices)
    batch.vertices += [
        Vertex(p, normal, uv, ((SPINE, 255),), o)
        for p, uv, o in zip(points, ((0.0, 0.0), (0.0, 1.0), (1.0, 0.5)), character.FIN)
    ]
    batch.triangles.append((base, base + 1, base + 2, DOUBLE_SIDED))


def add_nose(batch):
    """Four triangles around a tip: five vertices, none of them twice."""
    points = [character.ORIGINALS[o] for o in character.NOSE]
    forward = rotate(character.REST_WORLD[HEAD][0], (0, 0, 1))
    centre = scale(add(points[0], points[2]), 0.5)
    base = len(batch.vertices)
    for n, (p, o) in enumerate(zip(points, character.NOSE)):
        normal = forward if n == 4 else unit(sub(p, centre))
        batch.vertices.append(
            Vertex(p, tuple(f32(c) for c in normal), (0.25 * n, -0.25), ((HEAD, 255),), o)
        )
    batch.triangles += [(base + n, base + (n + 1) % 4, base + 4, 0) for n in range(4)]


def character_batches():
    body, trim = Batch(texture=1), Batch(texture=0)
    add_bone_box(body, ROOT)
    add_bone_box(body, LEG)
    add_bone_box(body, SPINE, lambda axis: axis != CAP_AXIS)
    add_fin(body)
    for bone in (HEAD, ARM_R, ARM_L):
        add_bone_box(trim, bone)
    add_bone_box(trim, SPINE, lambda axis: axis == CAP_AXIS)
    add_nose(trim)
    return [body, trim]


def low_batches():
    batch = Batch(texture=1)
    for bone in range(len(character.BONES)):
        add_bone_box(batch, bone)
    return [batch]


MATERIALS = [("fix_body.tga", 0.0, 0x1), ("fix_trim.tga", 0.0, 0x9)]
FULL_TEXTURES = [(1, "fix_trim.tga"), (0, "fix_body.tga")]
LOW_MATERIAL = ("fix_low.tga", 0.5, 0x1)


def props():
    def stored(axis, degrees):
        return tuple(f32(c) for c in conj(axis_angle(axis, degrees)))

    return [
        Prop("fixture-root", stored((0.2, 1, 0.1), 17), (0.0, 0.0, 0.0)),
        Prop("eye", stored((1, 0, 0), 0), (0.0, 0.2, 0.14), HEAD, b"\xCD\xCDole name\x00\x01junk"),
        Prop("primary_weapon_1", stored((0.3, 1, -0.2), 75), (0.47, 0.01, 0.05), ARM_R),
        Prop("thruster_1", stored((1, 0.1, 0), -90), (0.0, -0.78, -0.12), LEG),
    ]


def character_submesh():
    lods = [
        Lod(
            ORIG_MAP | CHARACTER,
            character_batches(),
            FULL_TEXTURES,
            props(),
            0.0,
            character.NUM_ORIGINALS,
        ),
        Lod(
            ORIG_MAP | CHARACTER,
            low_batches(),
            [(0, "fix_body.tga"), (2, LOW_MATERIAL[0])],
            props(),
            7.0,
            48,
        ),
    ]
    return Submesh("FixtureMan", lods, [*MATERIALS, LOW_MATERIAL])


def character_file(style=FAMILY_A, trailing=b""):
    spheres = [
        mesh.sphere_chunk("csphere_head", HEAD, (0.0, 0.14, 0.02), 0.2),
        mesh.sphere_chunk("csphere_all", -1, (0.05, 1.0, -0.03), 0.9, size=40),
    ]
    bones = mesh.bone_chunk(character.NAMES, character.PARENTS, character.STORED)
    return mesh.pack_mesh(V3C, [character_submesh()], style, spheres, bones, trailing=trailing)


@fixture()
def char():
    """The character as the original tools write it: padded sizes, same_pos, orig_map, two LODs with
    different textures, texture index different from batch index, junk after a prop name, one
    sphere with size field 40, one original in no batch."""
    return character_file()


@fixture()
def char_b():
    """The character as modern tools write it: exact sizes, empty batch headers, no orig_map, no
    same_pos, unused links bone 0, BONE size 4 + 44 * n, one LOD, no sphere."""
    lod = Lod(CHARACTER, character_batches(), FULL_TEXTURES, props())
    bones = mesh.bone_chunk(character.NAMES, character.PARENTS, character.STORED, bytes_per_bone=44)
    return mesh.pack_mesh(V3C, [Submesh("FixtureManB", [lod], MATERIALS)], FAMILY_B, bones=bones)


@fixture(canonical=False)
def oddpad():
    """char.v3c with non-zero alignment padding and slack."""
    return character_file(replace(FAMILY_A, junk_fill=True))


@fixture(canonical=False)
def trailing():
    """char.v3c with bytes behind the END chunk."""
    return character_file(trailing=b"after the end")


@fixture(canonical=False)
def slack_block():
    """char.v3c with 20 bytes in the data block behind the last prop point."""
    return character_file(replace(FAMILY_A, block_tail=bytes(range(0xE0, 0xF4))))


def crate():
    batch = Batch(render_flags=mesh.OPAQUE_RENDER)
    mesh.add_box(batch, (0.0, 0.5, 0.0), (0.5, 0.5, 0.6), DOUBLE_SIDED)
    lid = Batch(texture=1, render_flags=mesh.OPAQUE_RENDER, has_links=False)
    mesh.add_box(lid, (0.0, 1.05, 0.0), (0.55, 0.05, 0.65))
    lod = Lod(
        PLANES,
        [batch, lid],
        [(0, "fix_crate.tga"), (1, "fix_lid.tga")],
        [Prop("corona_1", (0.0, 0.0, 0.0, 1.0), (0.0, 1.1, 0.0), -1, b"ona_10")],
    )
    return Submesh(
        "crate",
        [lod],
        [("fix_crate.tga", 0.0, 0x11), ("fix_lid.tga", 1.0, 0x1)],
        offset=(1.5, 0.0, -0.25),
    )


def sign():
    """A board of two quads, one of them double-sided, and triangles without area that touch
    vertices with NaN normals."""
    batch = Batch(render_flags=0x110C21)
    front, back = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
    quad = [(-0.4, 1.0, 0.02), (0.4, 1.0, 0.02), (0.4, 1.6, 0.02), (-0.4, 1.6, 0.02)]
    mesh.add_quad(batch, [tuple(f32(c) for c in p) for p in quad], [front] * 4, flags=DOUBLE_SIDED)
    mesh.add_quad(
        batch,
        [tuple(f32(c) for c in (x, y, -z)) for x, y, z in quad[::-1]],
        [back] * 4,
        tile=(1, 0),
    )
    base = len(batch.vertices)
    line = [(-0.4, 1.75, 0.0), (0.0, 1.75, 0.0), (0.4, 1.75, 0.0)]
    batch.vertices += [
        Vertex(tuple(f32(c) for c in p), mesh.NAN_NORMAL, (0.5, 0.5), ()) for p in line
    ]
    batch.triangles += [(base, base + 1, base + 2, 0), (base, base, base + 1, 0)]
    lod = Lod(PLANES, [batch], [(0, "fix_sign.vbm")])
    return Submesh("sign", [lod], [("fix_sign.vbm", 0.0, 0x9)], offset=(-1.0, 0.25, 0.5))


@fixture(name="static", kind="v3m")
def static_mesh():
    """Two submeshes with offsets, planes, NaN normals and planes at zero-area triangles, a repeated
    index, a batch that is double-sided throughout and one that is in part, a batch without
    links, a sphere with size field 40, a DUMB chunk."""
    spheres = [mesh.sphere_chunk("csphere_0", -1, (1.5, 0.5, -0.25), 0.95, size=40)]
    return mesh.pack_mesh(
        V3M, [crate(), sign()], FAMILY_B, spheres, dumbs=[mesh.dumb_chunk("dummy_1")]
    )
