"""Numbers known about four real files (three BoxT clips and boxt.v3c), asserted against
reference.py.

The files are not part of the project: name a directory that holds them.
"""

import math

import reference as ref

REST_LOCAL = [  # active rotation, position
    ((-0.70711, 0, 0, 0.70711), (0, 0, 0)),
    ((0, 0, 0, 1), (0.03216, 0.06748, 1.71138)),
    ((0, 0, 0, 1), (0.04295, 0.45916, 2.00352)),
    ((0, 0, 0, 1), (0.00083, -0.82378, -0.76339)),
    ((0, 0, 0, 1), (0.00083, -0.82384, 0.17604)),
    ((0.70711, 0, 0, 0.70711), (0, 0, 0)),
    ((0, 0, -0.22495, 0.97437), (-1.95224, 0.26087, -0.29014)),
    ((0, 0, 0.23345, 0.97237), (1.93285, 0.25050, -0.29014)),
]
# first key against rest local: degrees per bone, metres of bone 5
FIRST_KEYS = {
    "BoxT_Flinch_Hover.rfa": ([0, 0, 0, 69, 66, 0, 0, 0], 0.0),
    "BoxT_Fly.rfa": ([0, 46, 0.3, 69, 66, 3.5, 24, 24], 0.1289),
    "BoxT_Hover.rfa": ([0, 46, 24.7, 69, 66, 0, 0.5, 0], 0.1289),
}
NORMS = {  # smallest, mean, largest raw quaternion length; number of rotation segments
    "BoxT_Flinch_Hover.rfa": (16379.39, 16381.84, 16383.00, 11),
    "BoxT_Fly.rfa": (16378.99, 16381.20, 16382.21, 15),
    "BoxT_Hover.rfa": (16378.91, 16380.80, 16382.31, 20),
}
SNAP_ANGLES = {16384: 1.80, 16383.5: 1.28, 16383.2: 0.82, 16383: 0.162}  # raw length: degrees


def close(a, b, tolerance):
    return all(abs(x - y) <= tolerance for x, y in zip(a, b))


def rounded(v):
    return [round(c, 5) + 0.0 for c in v]


def check_mesh(mesh):
    assert len(mesh.bones) == 8 and len(mesh.props) == 8
    for i, (q, t) in enumerate(REST_LOCAL):
        got_t, got_q = mesh.rest_local(i)
        print(f"rest local {i} {mesh.bones[i][0]}: t {rounded(got_t)} q {rounded(got_q)}")
        assert close(got_t, t, 1.1e-5) and close(got_q, q, 1.1e-5)
    t, _ = mesh.rest_world(6)
    print(f"rest world 6: {rounded(t)}")
    assert close(t, (-1.95224, 0.26087, -0.29014), 1.1e-5)
    names = [p[0] for p in mesh.props]
    t, _ = mesh.prop_world(names.index("thruster_1"))
    print(f"thruster_1 in model space: {rounded(t)}")
    assert close(t, (-2.44847, -0.87768, 0.48116), 1.1e-5)
    for i in range(8):  # rest world times inverse bind is the identity
        (t, q), (it, iq) = mesh.rest_world(i), mesh.inverse_bind(i)
        assert ref.norm([a + b for a, b in zip(t, ref.rotate(q, it))]) < 1e-12
        assert ref.angle_degrees(ref.product(q, iq), [0, 0, 0, 1]) < 1e-6


def check_clip(clip, mesh, name):
    degrees, root_away = FIRST_KEYS[name]
    angles, away = [], []
    for i in range(8):
        t, q = mesh.rest_local(i)
        angles.append(ref.angle_degrees(q, ref.smooth_rotation(clip.rot[i], clip.start)))
        away.append(math.dist(t, ref.position(clip.pos[i], clip.start)))
    print(f"{name}: degrees {[round(a, 2) for a in angles]} metres {[round(a, 4) for a in away]}")
    assert close(angles, degrees, 0.05)
    assert all(abs(a - (root_away if i == 5 else 0)) < 1e-4 for i, a in enumerate(away))

    lengths = [ref.norm(k[1:5]) for track in clip.rot for k in track]
    pairs = [
        (a[1:5], ref.nearer(a[1:5], b[1:5])) for track in clip.rot for a, b in zip(track, track[1:])
    ]
    snapping = sum(ref.snaps(a, b) for a, b in pairs)
    low, mean, high, segments = NORMS[name]
    got = (min(lengths), math.fsum(lengths) / len(lengths), max(lengths))
    print(f"  raw length {rounded(got)}; {snapping} of {len(pairs)} segments snap")
    assert close(got, (low, mean, high), 0.0051)
    assert snapping == 0 and len(pairs) == segments

    worst = max(
        ref.angle_degrees(
            ref.smooth_rotation(track, t), ref.normalised(ref.exact_rotation(track, t))
        )
        for track in clip.rot
        for t in range(clip.start, clip.end + 1, 7)
    )
    print(f"  smooth against exact: {worst:.4f} degrees at most")
    assert worst < 0.16


def check_rules():
    for length, degrees in SNAP_ANGLES.items():
        at = 2 * math.degrees(math.acos((1 - 1e-6) * 16383**2 / length**2))
        print(f"raw length {length}: snaps below {at:.3f} degrees")
        assert abs(at - degrees) < 0.006
    for a, b in (
        (40, 50),
        (100, 90),
        (70, 0),
        (0, 70),
        (127, 127),
    ):  # the ease curve has no step and no corner
        values = [ref.eased(i / 10000, a, b) for i in range(10001)]
        slopes = [y - x for x, y in zip(values, values[1:])]
        assert values[0] == 0 and values[-1] == 1 and min(slopes) >= 0
        assert max(abs(y - x) for x, y in zip(slopes, slopes[1:])) < 1e-6, (a, b)
    assert abs(ref.eased(0.5, 100, 100) - 0.5) < 1e-15


def run(samples):
    mesh = ref.Mesh((samples / "boxt.v3c").read_bytes())
    check_mesh(mesh)
    for name in FIRST_KEYS:
        check_clip(ref.Clip((samples / name).read_bytes()), mesh, name)
    check_rules()
    print("self test passed")
