"""Exports every fixture and holds the result against programs we did not write: Khronos' validator, and
three.js, which plays the file and is compared with `dopesheet sample`."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = os.environ["DOPESHEET_CLI"]
FIXTURES = pathlib.Path(os.environ["DOPESHEET_FIXTURES"])
SOURCE = pathlib.Path(os.environ["DOPESHEET_SOURCE"])
HERE = pathlib.Path(__file__).parent


def run(*args, ok=True):
    done = subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False)
    if ok and done.returncode != 0:
        sys.exit(f"{args}: {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def export(clip, skeleton, out, extra=()):
    """Converts one clip; returns its report and what the poses may differ by."""
    args = [*(["--skeleton", skeleton] if skeleton else []), *extra]
    report = json.loads(run(TOOL, "convert", clip, *args, "-o", out, "--json").stdout)
    clips = report.get("clips", [])
    lossless = all(not c["losses"] for c in clips)
    baked = any(c["baked_tracks"] for c in clips)
    return lossless, baked


def compare(glb, clip, skeleton, baked, out, extra=()):
    args = [*(["--skeleton", skeleton] if skeleton else []), *extra]
    run(TOOL, "sample", clip, *args, "--space", "gltf", "--fps", "61.7", "-o", out)
    limits = ["--mm", "0.05", "--deg", "0.05"] if baked else ["--mm", "0.01", "--deg", "0.01"]
    done = run("node", HERE / "agree.mjs", glb, out, "--world", *limits, ok=False)
    print(done.stdout.strip() or done.stderr.strip())
    return done.returncode == 0


def main():
    entries = json.loads((FIXTURES / "index.json").read_text())
    character = FIXTURES / "char.v3c"
    work = [(FIXTURES / e["file"], character if e["file"].startswith("char_") else None)
            for e in entries if e["kind"] in ("rfa", "v3c", "v3m")]
    work += [(FIXTURES / e["file"], None) for e in json.loads((FIXTURES / "totemtech.json").read_text())]
    samples = pathlib.Path(os.environ.get("DOPESHEET_SAMPLES") or SOURCE / ".." / "shared" / "samples")
    if samples.is_dir():
        work += [(p, samples / "rfa" / "boxt.v3c") for p in sorted((samples / "rfa").glob("*.rfa"))]
        work.append((samples / "rfa" / "boxt.v3c", None))
        work += [(p, None) for p in sorted((samples / "totemtech").glob("*.animation"))]
    else:
        print("no real samples here (set DOPESHEET_SAMPLES)")

    made, failed, agreed = [], [], 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for clip, skeleton in work:
            for suffix in ("glb", "gltf"):
                out = folder / f"{clip.stem}-{clip.suffix[1:]}.{suffix}"
                lossless, baked = export(clip, skeleton, out)
                made.append(out)
            glb = folder / f"{clip.stem}-{clip.suffix[1:]}.glb"
            if clip.suffix == ".animation":
                # A pose knows no visibility: it must not be a scale in the file that is compared.
                glb = folder / f"{clip.stem}-extension.glb"
                lossless, baked = export(clip, skeleton, glb, ["--visibility", "extension"])
                made.append(glb)
            # Poses are compared where the export says that it lost nothing.
            if clip.suffix in (".rfa", ".animation") and lossless:
                if compare(glb, clip, skeleton, baked, folder / "poses.json"):
                    agreed += 1
                else:
                    failed.append(clip.name)
        banks = [(FIXTURES / "bank.motn", ["WALK_L", "WALK_R", "STANDBY", "BAG", "LONG"])]
        props = {"BAG"}  # have no rig
        if (samples / "motn" / "motion.bin").exists():
            bank = samples / "motn" / "motion.bin"
            rows = json.loads(run(TOOL, "list", bank, "--json").stdout)["rows"]
            props.update(r[1] for r in rows if r[2] == "object")
            banks.append((bank, [r[1] for r in rows[::31]] + [r[1] for r in rows if r[2] != "curves"][::3]))
        ways = [(None, []), (None, ["--ik", "targets"]), (None, ["--ik", "both"]),
                (FIXTURES / "person36.mt5", [])]
        for bank, names in banks:
            for i, name in enumerate(names):
                # Every motion one way; every tenth one in all ways that it has.
                for way, (skeleton, extra) in enumerate(ways if i % 10 == 0 else ways[:1]):
                    if skeleton and name in props:
                        continue
                    out = folder / f"{bank.stem}-{name}-{way}.glb"
                    lossless, baked = export(f"{bank}#{name}", skeleton, out, extra)
                    made.append(out)
                    if compare(out, f"{bank}#{name}", skeleton, baked, folder / "poses.json", extra):
                        agreed += 1
                    else:
                        failed.append(f"{name} {extra}")
        together = folder / "together.glb"
        run(TOOL, "convert", FIXTURES / "char_wave.rfa", FIXTURES / "char_morph_v8.rfa",
            FIXTURES / "char_morph_v7.rfa", "--skeleton", character, "-o", together)
        made.append(together)
        if os.environ.get("DOPESHEET_EXAMPLE"):
            run(os.environ["DOPESHEET_EXAMPLE"], folder)
            clips, mesh = sorted(folder.glob("walker_*.rfa")), folder / "walker.v3c"
            run(TOOL, "convert", *clips, "--skeleton", mesh, "-o", folder / "walker.glb")
            made.append(folder / "walker.glb")
            for clip in clips:
                out = folder / f"{clip.stem}.glb"
                lossless, baked = export(clip, mesh, out)
                made.append(out)
                if compare(out, clip, mesh, baked, folder / "poses.json"):
                    agreed += 1
                else:
                    failed.append(clip.name)
        done = run("node", HERE / "validate.mjs", *made, ok=False)
        bad = [line for line in done.stdout.splitlines() if not line.startswith("ok ")]
        print("\n".join(bad))
        print(f"{len(made)} files validated, {agreed} clips agree with three.js, {len(failed)} do not: {failed}")
        if done.returncode != 0 or failed or agreed < 20:
            sys.exit(1)


if __name__ == "__main__":
    main()
