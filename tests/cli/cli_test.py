"""The command line as a user meets it: outputs, exit codes, files left behind."""

import json
import os
import subprocess
import unittest

from tool import FIXTURES, TOOL, ToolTest, samples

FILES = [e["file"] for e in json.loads((FIXTURES / "index.json").read_text())
         if e["kind"] in ("rfa", "v3c", "v3m")]


class Dump(ToolTest):
    def test_json_builds_the_same_bytes(self):
        for name in FILES:
            path = self.fixture(name)
            self.run_tool("dump", "--json", name, "-o", "x.json")
            self.run_tool("build", "x.json", "-o", "built")
            self.assertEqual((self.dir / "built").read_bytes(), path.read_bytes(), name)

    def test_text_has_offsets_and_paths(self):
        self.fixture("plain_v8.rfa")
        out, _ = self.run_tool("dump", "plain_v8.rfa")
        lines = out.decode().splitlines()
        self.assertEqual(lines[0], '0x000000  magic = "VMVF"')
        self.assertTrue(any(" bones[0].rotation_keys[1].time = " in line for line in lines))

    def test_through_pipes(self):
        data = (FIXTURES / "plain_v8.rfa").read_bytes()
        document, _ = self.run_tool("dump", "--json", "-", stdin=data)
        built, _ = self.run_tool("build", "-", "-o", "-", stdin=document)
        self.assertEqual(built, data)

    def test_several_into_a_folder(self):
        for name in ("plain_v7.rfa", "plain_v8.rfa"):
            self.fixture(name, "in/" + name)
        self.run_tool("dump", "--json", "in/*.rfa", "-o", "out")
        self.run_tool("build", "out/*.json", "-o", "back/")
        self.assertEqual((self.dir / "back/plain_v7.rfa").read_bytes(), (FIXTURES / "plain_v7.rfa").read_bytes())

    def test_an_edit_that_changes_lengths_needs_a_new_layout(self):
        self.fixture("plain_v8.rfa")
        document, _ = self.run_tool("dump", "--json", "plain_v8.rfa")
        edited = json.loads(document)
        del edited["bones"][0]["rotation_keys"][1]
        (self.dir / "x.json").write_text(json.dumps(edited))
        _, err = self.run_tool("build", "x.json", "-o", "x.rfa", code=3)
        self.assertNotIn("at byte", err)
        self.run_tool("build", "--layout", "x.json", "-o", "x.rfa")
        facts = self.run_json("info", "x.rfa")["facts"]
        before = self.run_json("info", "plain_v8.rfa")["facts"]
        self.assertEqual(int(facts["rotation keys"].split(",")[0]), int(before["rotation keys"].split(",")[0]) - 1)

    def test_a_wrong_document_says_where(self):
        (self.dir / "x.json").write_text('{"format": "rfa", "version": 12}')
        _, err = self.run_tool("build", "x.json", "-o", "x.rfa", code=3)
        self.assertIn("x.json: at byte", err)
        self.assertIn("version", err)
        self.assertEqual(self.files(), ["x.json"])


class Info(ToolTest):
    def test_text_and_json(self):
        self.fixture("char_wave.rfa")
        self.fixture("char.v3c")
        out, _ = self.run_tool("info", "char_wave.rfa", "--skeleton", "char.v3c")
        self.assertIn("head", out.decode())
        report = self.run_json("info", "char_wave.rfa")
        self.assertEqual(report["format"], "rfa")
        self.assertEqual(report["facts"]["version"], "8")
        both = self.run_json("info", "char_wave.rfa", "char.v3c")
        self.assertEqual([r["format"] for r in both], ["rfa", "v3c"])


class Check(ToolTest):
    def test_findings_and_exit_codes(self):
        self.fixture("char_wave.rfa")
        self.fixture("char_wrong_order.rfa")
        self.fixture("weights.rfa")
        self.fixture("char.v3c")
        self.run_tool("check", "char_wave.rfa", "--skeleton", "char.v3c")
        out, _ = self.run_tool("check", "char_wrong_order.rfa", "--skeleton", "char.v3c", code=3)
        self.assertIn("char_wrong_order.rfa: error rfa-bone-order: bones[", out.decode())
        self.run_tool("check", "weights.rfa")
        self.run_tool("check", "--strict", "weights.rfa", code=3)
        report = self.run_json("check", "weights.rfa")
        self.assertTrue(any(f["code"] == "rfa-weight-range" for f in report["findings"]))
        out, _ = self.run_tool("check", "--level", "error", "weights.rfa")
        self.assertNotIn("rfa-weight-range", out.decode())

    def test_colour_only_on_a_terminal(self):
        self.fixture("weights.rfa")
        out, _ = self.run_tool("check", "weights.rfa")
        self.assertNotIn(b"\x1b", out)
        for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            out = self.on_a_terminal("check", "weights.rfa", env=env)
            self.assertEqual(b"\x1b[33m" in out, coloured, env)

    def on_a_terminal(self, *args, env):
        import pty
        master, slave = pty.openpty()
        full = {**os.environ, "TERM": "xterm", **env}
        if "NO_COLOR" not in env:
            full.pop("NO_COLOR", None)
        done = subprocess.Popen([TOOL, *args], stdout=slave, stderr=slave, cwd=self.dir, env=full)
        os.close(slave)
        out = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:
                break
            if not part:
                break
            out += part
        done.wait()
        os.close(master)
        return out


class OutputFiles(ToolTest):
    def test_reports_go_to_a_file_or_a_folder(self):
        self.fixture("weights.rfa")
        shown, _ = self.run_tool("check", "weights.rfa")
        nothing, _ = self.run_tool("check", "weights.rfa", "-o", "report.txt")
        self.assertEqual(nothing, b"")
        self.assertEqual((self.dir / "report.txt").read_bytes(), shown)
        self.run_tool("info", "weights.rfa", "--json", "-o", "out/")
        self.assertEqual(json.loads((self.dir / "out/info.json").read_text())["format"], "rfa")
        self.run_tool("formats", "--markdown", "-o", "table.md")
        self.assertTrue((self.dir / "table.md").read_text().startswith("| Format"))
        self.run_tool("info", "weights.rfa", "-o", "weights.rfa/x", code=5)


class Convert(ToolTest):
    def test_one_file_many_files_and_two_parts(self):
        for name in ("char_wave.rfa", "char_stretch.rfa", "char.v3c"):
            self.fixture(name)
        out, _ = self.run_tool("convert", "char_wave.rfa", "-s", "char.v3c", "-o", "one.glb")
        self.assertIn("char_wave", out.decode())
        self.run_tool("convert", "char_wave.rfa", "char_stretch.rfa", "-s", "char.v3c", "-o", "both.glb")
        self.run_tool("convert", "char_wave.rfa", "char_stretch.rfa", "-s", "char.v3c", "-o", "out/")
        self.run_tool("convert", "char_wave.rfa", "-s", "char.v3c", "-o", "parts.gltf")
        for name in ("one.glb", "both.glb", "out/char_wave.glb", "out/char_stretch.glb", "parts.gltf", "parts.bin"):
            self.assertTrue((self.dir / name).exists(), name)
        gltf = json.loads((self.dir / "parts.gltf").read_text())
        self.assertEqual(gltf["buffers"][0]["uri"], "parts.bin")
        self.assertEqual([a["name"] for a in gltf["animations"]], ["char_wave"])

    def test_the_report_says_what_was_baked(self):
        self.fixture("eases.rfa")
        report = self.run_json("convert", "eases.rfa", "-o", "x.glb")
        clip = report["clips"][0]
        self.assertGreater(clip["baked_tracks"], 0)
        self.assertLessEqual(clip["error"]["max_mm"], 0.05)
        self.assertLessEqual(clip["error"]["max_degrees"], 0.05)
        self.assertGreater(clip["error"]["max_degrees"], 0)
        coarse = self.run_json("convert", "eases.rfa", "-o", "x.glb", "--tolerance-deg", "5", "--tolerance-mm", "50")
        self.assertLess(coarse["clips"][0]["keys_after"], clip["keys_after"])

    def test_the_same_bytes_each_time(self):
        self.fixture("char_wave.rfa")
        self.fixture("char.v3c")
        for name in ("a.glb", "b.glb"):
            self.run_tool("convert", "char_wave.rfa", "-s", "char.v3c", "-o", name)
        self.assertEqual((self.dir / "a.glb").read_bytes(), (self.dir / "b.glb").read_bytes())

    def test_to_its_own_format_over_itself(self):
        path = self.fixture("gaps.rfa")
        before = path.read_bytes()
        self.run_tool("convert", "gaps.rfa", "-o", "gaps.rfa")
        self.assertEqual(path.read_bytes(), before)
        self.assertEqual(self.files(), ["gaps.rfa"])

    def test_what_cannot_be(self):
        self.fixture("plain_v8.rfa")
        self.fixture("char.v3c")
        self.run_tool("convert", "plain_v8.rfa", "-o", "x.v3c", code=4)
        self.run_tool("convert", "plain_v8.rfa", code=1)
        self.run_tool("sample", "char.v3c", code=4)
        self.assertEqual(self.files(), ["char.v3c", "plain_v8.rfa"])


class Banks(ToolTest):
    def test_list_select_and_convert(self):
        self.fixture("bank.motn")
        rows = self.run_json("list", "bank.motn")["rows"]
        self.assertEqual([r[1] for r in rows], ["WALK_L", "WALK_R", "LONG", "STANDBY", "BAG", "WALK_END"])
        self.assertEqual(rows[1][7:9], ["itself", "yes"])
        out, _ = self.run_tool("list", "bank.motn#WALK_*")
        self.assertEqual(len(out.decode().splitlines()), 4)
        self.run_tool("convert", "bank.motn#WALK_L", "-o", "walk.glb")
        self.run_tool("convert", "bank.motn#2", "--ik", "targets", "-o", "two.glb")
        self.run_tool("convert", "bank.motn", "-o", "all/")
        self.assertEqual(len([f for f in self.files() if f.startswith("all/")]), 6)
        frames = self.run_json("sample", "bank.motn#WALK_L")
        self.assertEqual(len(frames["nodes"]), 21)
        self.run_tool("convert", "bank.motn#NOBODY", "-o", "x.glb", code=1)
        self.run_tool("list", "bank.motn#NOBODY", code=1)
        self.run_tool("list", "walk.glb", code=3)

    def test_its_bytes_come_back(self):
        for name in ("bank.motn", "bank_holes.motn", "package_relative.motn"):
            path = self.fixture(name)
            self.run_tool("dump", "--json", name, "-o", "x.json")
            self.run_tool("build", "x.json", "-o", "x.motn")
            self.assertEqual((self.dir / "x.motn").read_bytes(), path.read_bytes())


    def names(self, bank):
        return [r[1] for r in self.run_json("list", bank)["rows"]]

    def test_edit(self):
        original = self.fixture("bank.motn").read_bytes()
        self.run_tool("edit", "bank.motn", "--replace", "WALK_L=bank.motn#WALK_L", "-o", "same.motn")
        self.assertEqual((self.dir / "same.motn").read_bytes(), original)
        self.run_tool("edit", "bank.motn", "--rename", "WALK_L=STROLL", "--remove", "LONG", "--move", "6=1",
                      "--add", "bank.motn#WALK_L=AGAIN", "-o", "new.motn")
        self.assertEqual(self.names("new.motn"), ["WALK_END", "STROLL", "WALK_R", "STANDBY", "BAG", "AGAIN"])
        self.run_tool("check", "new.motn")
        out, _ = self.run_tool("edit", "new.motn", "--merge", "bank.motn", "-o", "merged.motn")
        self.assertIn("WALK_R: the name is taken; the motion is left out", out.decode())
        self.assertEqual(self.names("merged.motn")[6:], ["WALK_L", "LONG"])
        # The same movement under another name: the same poses.
        a, _ = self.run_tool("sample", "bank.motn#WALK_L")
        b, _ = self.run_tool("sample", "new.motn#STROLL")
        self.assertEqual(a, b)

    def test_edits_that_cannot_be(self):
        self.fixture("bank.motn")
        self.fixture("plain_v8.rfa")
        for args in (["--remove", "NOBODY"], ["--rename", "WALK_L=WALK_R"], ["--rename", "WALK_L"],
                     ["--replace", "WALK_*=bank.motn#LONG"], ["--replace", "WALK_L=plain_v8.rfa"],
                     ["--move", "WALK_L=0"], ["--remove", "*"]):
            code = 4 if args[-1] in ("WALK_L=WALK_R", "*") else 1
            self.run_tool("edit", "bank.motn", *args, "-o", "x.motn", code=code)
        self.run_tool("edit", "plain_v8.rfa", "--remove", "a", "-o", "x.motn", code=1)
        self.run_tool("edit", "bank.motn", "--merge", "nothing.motn", "-o", "x.motn", code=2)
        self.assertEqual(self.files(), ["bank.motn", "plain_v8.rfa"])

    def test_threads_change_nothing(self):
        self.fixture("bank.motn")
        for jobs in ("1", "5"):
            self.run_tool("convert", "bank.motn", "--jobs", jobs, "-o", f"out{jobs}/")
            self.run_tool("convert", "bank.motn", "--jobs", jobs, "-o", f"one{jobs}.glb")
        self.assertEqual((self.dir / "one1.glb").read_bytes(), (self.dir / "one5.glb").read_bytes())
        for name in self.names("bank.motn"):
            self.assertEqual((self.dir / f"out1/{name}.glb").read_bytes(), (self.dir / f"out5/{name}.glb").read_bytes())

    def test_settings(self):
        self.fixture("bank.motn")
        self.fixture("person36.mt5")
        report = self.run_json("convert", "bank.motn#WALK_L", "--ik", "both", "-o", "both.glb")
        self.assertLess(report["clips"][0]["solved"]["error"]["max_mm"], 0.1)
        self.assertEqual(report["clips"][0]["baked_tracks"], 0)
        self.run_tool("convert", "bank.motn#WALK_L", "-s", "person36.mt5", "-o", "person.glb")
        self.run_tool("convert", "bank.motn#BAG", "-s", "person36.mt5", "-o", "x.glb", code=4)
        for args in (["--ik", "neither"], ["--set", "ik"], ["--set", "nothing=1"], ["--set", "solve-rate=fast"],
                     ["-s", "person36.mt5", "--ik", "both"]):
            self.run_tool("convert", "bank.motn#WALK_L", *args, "-o", "x.glb", code=1)
        rows = self.run_json("formats")
        settings = {s["name"] for f in rows for s in f["settings"]}
        self.assertIn("ik", settings)
        out, _ = self.run_tool("formats", "--settings")
        self.assertIn("out-of-reach", out.decode())

    def test_layout(self):
        self.fixture("bank.motn")
        document = json.loads(self.run_tool("dump", "--json", "bank.motn")[0])
        document["names"][0]["text"] = "A_MUCH_LONGER_NAME"
        (self.dir / "x.json").write_text(json.dumps(document))
        self.run_tool("build", "x.json", "-o", "x.motn", code=3)
        self.run_tool("build", "--layout", "x.json", "-o", "x.motn")
        self.assertEqual(self.names("x.motn")[0], "A_MUCH_LONGER_NAME")


class Sample(ToolTest):
    def test_csv_and_json(self):
        self.fixture("plain_v8.rfa")
        out, _ = self.run_tool("sample", "plain_v8.rfa", "--times", "0.1,0.2")
        lines = out.decode().splitlines()
        self.assertTrue(lines[0].startswith("time,frame,node,name,tx,ty,tz,qx,qy,qz,qw,sx,sy,sz"))
        frames = self.run_json("sample", "plain_v8.rfa", "--times", "0.1,0.2")
        self.assertEqual(frames["schema"], "dopesheet.sample/1")
        self.assertEqual(len(frames["frames"]), 2)
        self.assertEqual(len(lines) - 1, 2 * len(frames["nodes"]))
        self.run_tool("sample", "plain_v8.rfa", "-o", "x.json")
        self.run_tool("convert", "plain_v8.rfa", "-o", "y.csv")
        self.assertTrue((self.dir / "x.json").read_text().startswith("{"))
        self.assertTrue((self.dir / "y.csv").read_text().startswith("time,"))

    def test_exact_differs_and_snaps(self):
        self.fixture("snap.rfa")
        smooth = self.run_json("sample", "snap.rfa")
        exact = self.run_json("sample", "snap.rfa", "--exact")
        self.assertEqual(len(smooth["frames"]), len(exact["frames"]))
        self.assertNotEqual(smooth["frames"], exact["frames"])

    def test_huge_clips_are_refused(self):
        path = self.fixture("plain_v8.rfa")
        data = bytearray(path.read_bytes())
        data[0x14:0x18] = (0x7FFFFFFF).to_bytes(4, "little")
        path.write_bytes(data)
        _, err = self.run_tool("sample", "plain_v8.rfa", "--fps", "100000", code=3)
        self.assertIn("--fps", err)


class ExitCodes(ToolTest):
    def test_each(self):
        path = self.fixture("plain_v8.rfa")
        self.run_tool(code=1)
        self.run_tool("nonsense", code=1)
        self.run_tool("info", code=1)
        self.run_tool("--version")
        for verb in ("info", "list", "dump", "build", "check", "convert", "sample", "formats"):
            out, _ = self.run_tool(verb, "--help")
            self.assertIn(f"Example: dopesheet {verb}", out.decode())
        self.run_tool("info", "missing.rfa", code=2)
        self.run_tool("info", "*.nothing", code=2)
        self.run_tool("info", ".", code=2)
        (self.dir / "short.rfa").write_bytes(path.read_bytes()[:200])
        _, err = self.run_tool("info", "short.rfa", code=3)
        self.assertRegex(err, r"short\.rfa: at byte \d+ \(0x[0-9a-f]+\), bones\[\d\]\.\w+.*: ")
        (self.dir / "other.bin").write_bytes(b"something else")
        _, err = self.run_tool("info", "other.bin", code=3)
        self.assertIn("Red Faction" if "Red Faction" in err else "RFA", err)
        self.run_tool("convert", "plain_v8.rfa", "-o", "plain_v8.rfa/x.glb", code=5)
        self.run_tool("dump", "plain_v8.rfa", "-o", "no/such/folder/x.txt", code=5)
        self.run_tool("info", "plain_v8.rfa", "short.rfa", code=6)
        self.run_tool("info", "short.rfa", "other.bin", code=3)
        self.run_tool("info", "--limit-bytes", "100", "plain_v8.rfa", code=3)
        self.assertEqual(self.files(), ["other.bin", "plain_v8.rfa", "short.rfa"])

    def test_a_failure_does_not_stop_the_rest(self):
        self.fixture("plain_v7.rfa")
        self.fixture("plain_v8.rfa")
        (self.dir / "broken.rfa").write_bytes(b"VMVF")
        self.run_tool("convert", "*.rfa", "-o", "out/", code=6)
        self.assertEqual([f for f in self.files() if f.startswith("out")], ["out/plain_v7.glb", "out/plain_v8.glb"])
        reports = self.run_json("check", "*.rfa", code=6)
        self.assertEqual(["error" in r for r in reports], [True, False, False])
        self.assertEqual(reports[0]["error"]["code"], "truncated")

    def test_two_inputs_one_output(self):
        self.fixture("plain_v7.rfa", "a/x.rfa")
        self.fixture("plain_v8.rfa", "b/x.rfa")
        self.run_tool("convert", "a/x.rfa", "b/x.rfa", "-o", "out/", code=1)
        self.assertEqual(self.files(), ["a/x.rfa", "b/x.rfa"])

    def test_a_full_disk_is_noticed(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        self.fixture("plain_v8.rfa")
        self.run_tool("dump", "plain_v8.rfa", "-o", "/dev/full", code=5)
        done = subprocess.run(f"'{TOOL}' dump plain_v8.rfa > /dev/full", shell=True, cwd=self.dir, check=False,
                              capture_output=True)
        self.assertEqual(done.returncode, 5)


class Files(ToolTest):
    def test_names_in_any_script(self):
        self.fixture("plain_v8.rfa", "Földer/Тест/動き.rfa")
        self.run_tool("convert", "Földer/Тест/動き.rfa", "-o", "Földer/動き.glb")
        self.run_tool("convert", "Földer/**/*.rfa", "-o", "出力/")
        self.assertEqual(self.files(), ["Földer/Тест/動き.rfa", "Földer/動き.glb", "出力/動き.glb"])

    def test_patterns(self):
        for name in ("a1.rfa", "a2.rfa", "sub/a3.rfa", "sub/deep/a4.rfa", ".hidden.rfa"):
            self.fixture("plain_v8.rfa", name)
        self.assertEqual(len(self.run_json("info", "a*.rfa")), 2)
        self.assertEqual(len(self.run_json("info", "a?.rfa")), 2)
        self.assertEqual(len(self.run_json("info", "**/*.rfa")), 4)
        self.fixture("plain_v8.rfa", "odd[1]*.rfa")
        self.assertEqual(self.run_json("info", "odd[1]*.rfa")["file"], "odd[1]*.rfa")

    def test_links_and_permissions_are_kept(self):
        path = self.fixture("plain_v8.rfa", "real.rfa")
        path.chmod(0o640)
        (self.dir / "link.rfa").symlink_to("real.rfa")
        self.run_tool("convert", "real.rfa", "-o", "link.rfa")
        self.assertTrue((self.dir / "link.rfa").is_symlink())
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)

    def test_another_locale_changes_nothing(self):
        self.fixture("plain_v8.rfa")
        plain, _ = self.run_tool("sample", "plain_v8.rfa", "--fps", "7")
        german, _ = self.run_tool("sample", "plain_v8.rfa", "--fps", "7", env={"LC_ALL": "de_DE.UTF-8"})
        self.assertEqual(plain, german)


class RealFiles(ToolTest):
    def setUp(self):
        super().setUp()
        self.samples = samples()
        if self.samples is None:
            self.skipTest("no real samples here (set DOPESHEET_SAMPLES)")

    def test_a_clip_goes_to_blender_and_its_bytes_come_back(self):
        rfa = self.samples / "rfa"
        out, _ = self.run_tool("convert", rfa / "BoxT_Fly.rfa", "--skeleton", rfa / "boxt.v3c", "-o", "boxt.glb")
        self.assertIn("every curve exact", out.decode())
        for name in ("BoxT_Flinch_Hover.rfa", "BoxT_Fly.rfa", "BoxT_Hover.rfa", "boxt.v3c"):
            self.run_tool("dump", "--json", rfa / name, "-o", "x.json")
            self.run_tool("build", "x.json", "-o", "x")
            self.assertEqual((self.dir / "x").read_bytes(), (rfa / name).read_bytes())
        out, _ = self.run_tool("check", rfa / "*.rfa", "--skeleton", rfa / "boxt.v3c")
        self.assertIn("0 errors, 0 warnings", out.decode())


if __name__ == "__main__":
    unittest.main()
