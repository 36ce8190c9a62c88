"""Outputs go where the user said and nowhere else, and nothing the user has is lost."""

import json
import os
import subprocess
import sys
import unittest

from tool import FIXTURES, SOURCE, TOOL, ToolTest

sys.path.insert(0, str(SOURCE / "tests" / "data"))
import motn_fixtures  # noqa: E402


class Banks(ToolTest):
    def bank(self, name, *motions):
        walk = motn_fixtures.curves(10, 0, motn_fixtures.walk())
        data = motn_fixtures.bank([(m, walk, motn_fixtures.extra()) for m in motions])
        (self.dir / name).write_bytes(data)
        return data

    def test_names_from_a_file_stay_in_the_folder(self):
        target = self.dir / "absolute"
        self.bank("b.bin", "../up", str(target), "a/b", "..", ".", "", "x" * 300, "CON:\\z")
        self.run_tool("convert", "b.bin", "-o", "out/")
        outside = [f for f in self.files() if not f.startswith("out/")]
        self.assertEqual(outside, ["b.bin"])
        made = os.listdir(self.dir / "out")
        self.assertEqual(len(made), 8)
        self.assertFalse([f for f in made if f.startswith(".") or "\\" in f or ":" in f], made)

    def test_one_name_twice_is_two_files(self):
        self.bank("b.bin", "same", "same", "SAME")
        self.bank("c.bin", "same")
        self.run_tool("convert", "b.bin", "c.bin", "-o", "out/")
        self.assertEqual([f for f in self.files() if f.startswith("out/")],
                         ["out/SAME-3.glb", "out/same-2.glb", "out/same-4.glb", "out/same.glb"])

    def test_the_buffer_of_a_gltf_is_not_an_input(self):
        data = self.bank("m.bin", "walk")
        _, err = self.run_tool("convert", "m.bin", "-o", "m.gltf", code=1)
        self.assertIn("overwrite", err)
        self.run_tool("convert", "m.bin#walk", "-o", "./m.gltf", code=1)
        (self.dir / "link.bin").symlink_to("m.bin")
        self.run_tool("convert", "m.bin", "-o", "link.gltf", code=1)
        self.assertEqual((self.dir / "m.bin").read_bytes(), data)
        self.assertEqual(self.files(), ["link.bin", "m.bin"])
        self.run_tool("convert", "m.bin", "-o", "other.gltf")
        self.run_tool("convert", "m.bin", "--to", "gltf", "-o", ".")
        self.assertEqual((self.dir / "m.bin").read_bytes(), data)

    def test_the_buffer_of_a_gltf_is_not_the_skeleton(self):
        self.fixture("char_wave.rfa")
        mesh = self.fixture("char.v3c", "char.bin")
        before = mesh.read_bytes()
        self.run_tool("convert", "char_wave.rfa", "-s", "char.bin", "-o", "char.gltf", code=1)
        self.assertEqual(mesh.read_bytes(), before)

    def test_several_poses_are_one_document(self):
        self.bank("b.bin", "one", "two")
        clips = self.run_json("sample", "b.bin")
        self.assertEqual([c["clip"] for c in clips], ["one", "two"])
        self.assertEqual(self.run_json("sample", "b.bin#two")["clip"], "two")
        self.run_tool("sample", "b.bin", "-o", "b.csv", code=1)
        self.run_tool("sample", "b.bin#1", "-o", "b.csv")
        self.assertEqual((self.dir / "b.csv").read_text().count("time,"), 1)


class Targets(ToolTest):
    def test_links_are_followed_even_to_nothing(self):
        self.fixture("plain_v8.rfa")
        (self.dir / "sub").mkdir()
        (self.dir / "link.glb").symlink_to("sub/new.glb")
        self.run_tool("convert", "plain_v8.rfa", "-o", "link.glb")
        self.assertTrue((self.dir / "link.glb").is_symlink())
        self.assertTrue((self.dir / "sub/new.glb").is_file())
        (self.dir / "loop.glb").symlink_to("loop.glb")
        self.run_tool("convert", "plain_v8.rfa", "-o", "loop.glb", code=5)

    def test_a_name_as_long_as_the_system_takes(self):
        self.fixture("plain_v8.rfa")
        self.run_tool("convert", "plain_v8.rfa", "-o", "n" * 251 + ".glb")

    def test_new_files_follow_the_umask(self):
        self.fixture("plain_v8.rfa")
        subprocess.run(["sh", "-c", 'umask 027; exec "$0" convert plain_v8.rfa -o x.glb', TOOL], cwd=self.dir,
                       check=True, capture_output=True)
        self.assertEqual((self.dir / "x.glb").stat().st_mode & 0o777, 0o640)

    def test_folders_with_a_dot_and_other_names(self):
        path = self.fixture("plain_v8.rfa")
        (self.dir / "out.d").mkdir()
        self.run_tool("convert", "plain_v8.rfa", "-o", "out.d")
        self.assertTrue((self.dir / "out.d/plain_v8.glb").exists())
        out, _ = self.run_tool("convert", "plain_v8.rfa", "--to", "rfa", "-o", "-")
        self.assertEqual(out, path.read_bytes())
        self.run_tool("convert", "plain_v8.rfa", "--to", "rfa", "-o", "copy.dat")
        self.assertEqual((self.dir / "copy.dat").read_bytes(), path.read_bytes())
        self.run_tool("convert", "plain_v8.rfa", "--to", "nonsense", "-o", "new/", code=1)
        self.assertFalse((self.dir / "new").exists())

    def test_a_refusal_makes_no_folder(self):
        self.fixture("plain_v7.rfa", "a/x.rfa")
        self.fixture("plain_v8.rfa", "b/x.rfa")
        self.run_tool("convert", "a/x.rfa", "b/x.rfa", "-o", "out/", code=1)
        self.run_tool("dump", "a/x.rfa", "b/x.rfa", "-o", "x.txt", code=1)
        self.assertEqual(sorted(os.listdir(self.dir)), ["a", "b"])

    def test_documents_of_two_formats_get_their_own_extensions(self):
        for name in ("plain_v8.rfa", "char.v3c"):
            self.fixture(name)
            self.run_tool("dump", "--json", name, "-o", "json/")
        self.run_tool("build", "json/*.json", "-o", "out/")
        self.assertEqual(sorted(os.listdir(self.dir / "out")), ["char.v3c", "plain_v8.rfa"])


class Reports(ToolTest):
    def test_a_closed_standard_error_leaves_the_exit_code(self):
        for where in ("/dev/full", "&-"):
            done = subprocess.run(f"'{TOOL}' info missing.rfa 2>{where}", shell=True, cwd=self.dir, check=False)
            self.assertEqual(done.returncode, 2, where)

    def test_names_that_are_no_text(self):
        raw = os.fsencode(self.dir) + b"/bad\xff.rfa"
        with open(raw, "wb") as f:
            f.write((FIXTURES / "plain_v8.rfa").read_bytes())
        self.fixture("plain_v7.rfa")
        done = subprocess.run([TOOL, "convert", raw, "plain_v7.rfa", "-o", b"o\xff.glb", "--json"], cwd=self.dir,
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        report = json.loads(done.stdout)
        self.assertTrue(report["files"][0].endswith("bad\\xff.rfa"))
        self.assertEqual(report["output"], "o\\xff.glb")

    def test_failures_are_json_too(self):
        self.fixture("plain_v7.rfa")
        (self.dir / "empty.rfa").write_bytes(b"")
        self.assertEqual(self.run_json("info", "*.nothing", code=2)["error"]["code"], "cannot read")
        report = self.run_json("convert", "empty.rfa", "plain_v7.rfa", "-o", "x.glb", code=3)
        self.assertEqual(report["error"]["code"], "bad magic")

    def test_equal_names_are_told_apart(self):
        self.fixture("weights.rfa", "a/w.rfa")
        self.fixture("weights.rfa", "b/w.rfa")
        out, _ = self.run_tool("check", "*/w.rfa")
        self.assertIn("a/w.rfa: ", out.decode())
        self.assertIn("b/w.rfa: ", out.decode())

    def test_joints_without_tracks_are_named(self):
        for name in ("char_fewer_bones.rfa", "char_wave.rfa", "char.v3c"):
            self.fixture(name)
        out, _ = self.run_tool("convert", "char_fewer_bones.rfa", "-s", "char.v3c", "-o", "x.glb")
        self.assertIn("warning: no tracks for ", out.decode())
        out, _ = self.run_tool("convert", "char_wave.rfa", "-s", "char.v3c", "-o", "x.glb")
        self.assertNotIn("warning", out.decode())


class Numbers(ToolTest):
    def test_only_finite_ones(self):
        self.fixture("eases.rfa")
        for value in ("nan", "inf", "-inf"):
            for option in ("--tolerance-mm", "--tolerance-deg", "--bake-rate"):
                self.run_tool("convert", "eases.rfa", "-o", "x.glb", f"{option}={value}", code=1)
            self.run_tool("sample", "eases.rfa", f"--times={value}", code=1)
            self.run_tool("sample", "eases.rfa", f"--fps={value}", code=1)
        self.run_tool("sample", "eases.rfa", "--times=-1,0.5")
        self.assertEqual(self.files(), ["eases.rfa"])


if __name__ == "__main__":
    unittest.main()
