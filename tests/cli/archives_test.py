"""Archives on the command line: list, select, extract, pack, and what lies in them."""

import json
import os
import struct
import sys
import unittest

from tool import FIXTURES, SOURCE, ToolTest, samples

sys.path.insert(0, str(SOURCE / "tests" / "data"))
import archive_fixtures as fx  # noqa: E402
import motn_fixtures  # noqa: E402


class Archives(ToolTest):
    def rows(self, *args, **kwargs):
        report = self.run_json("list", *args, **kwargs)
        return [dict(zip(report["columns"], row)) for row in report["rows"]]

    def totem(self, name="a.DGC", table="a.ngc"):
        path = self.fixture("totem_big.dgc", name)
        if table:
            self.fixture("totem_big.NGC", table)
        return path

    def knows(self, identifier):
        formats = [f["id"] for f in self.run_json("formats")]
        if identifier not in formats:
            self.skipTest(f"no format {identifier} in this build")


class List(Archives):
    def test_names_classes_sizes_and_offsets(self):
        self.totem()
        rows = self.rows("a.DGC")
        self.assertEqual([r["name"] for r in rows],
                         [fx.WALK, fx.RUN, fx.NOTE, "#%08X" % fx.totemtech_hash("UNNAMED")])
        self.assertEqual([r["class"] for r in rows], ["ANIMATION", "ANIMATION", "TXT", "NODE"])
        self.assertEqual([int(r["offset"]) for r in rows], [2052, 2086, 2120, 4100])
        self.assertEqual([int(r["size"]) for r in rows], [34, 34, 1535, 80])
        self.assertEqual([r["chunk"] for r in rows], ["0", "0", "0", "1"])
        text = self.run_tool("list", "a.DGC")[0].decode()
        self.assertEqual(len(text.splitlines()), 5)

    def test_patterns_hashes_and_classes(self):
        self.totem()
        for selector, names in (("*run*", [fx.RUN]), (fx.WALK.lower(), [fx.WALK]),
                                ("@ANIMATION", [fx.WALK, fx.RUN]), ("*@node", None),
                                ("#%08X" % fx.totemtech_hash(fx.RUN), [fx.RUN]),
                                ("*.TANIM/1", [fx.RUN]), ("/0", [fx.WALK])):
            with self.subTest(selector):
                rows = self.rows("a.DGC#" + selector)
                self.assertEqual([r["name"] for r in rows],
                                 names or ["#%08X" % fx.totemtech_hash("UNNAMED")])
        _, err = self.run_tool("list", "a.DGC#nothing", code=1)
        self.assertIn("no entry matches", err)

    def test_without_a_table_there_are_hashes(self):
        self.totem(table=None)
        self.assertEqual(self.rows("a.DGC")[0]["name"], "#%08X" % fx.totemtech_hash(fx.WALK))
        self.assertEqual(len(self.rows("a.DGC#" + fx.WALK)), 1)
        self.fixture("totem_big.NGC", "words.txt")
        self.assertEqual(self.rows("a.DGC", "--names", "words.txt")[0]["name"], fx.WALK)

    def test_a_table_with_bad_lines_or_no_sense_at_all(self):
        self.totem(table=None)
        (self.dir / "A.NGC").write_bytes(
            b"not a line\r\n\xff\xfe\r\n" + fx.name_table([fx.RUN]) + b'7 "open\r\n')
        self.assertEqual([r["name"] for r in self.rows("a.DGC")][1], fx.RUN)
        (self.dir / "A.NGC").write_bytes(os.urandom(5000))
        self.assertEqual(len(self.rows("a.DGC")), 4)

    def test_through_a_pipe(self):
        data = self.totem().read_bytes()
        self.assertEqual(len(self.rows("-", stdin=data)), 4)

    def test_zouna(self):
        self.fixture("zouna_little.dpc", "z.dpc")
        rows = self.rows("z.dpc")
        self.assertEqual([r["block"] for r in rows], ["0", "0", "0", "1", "2"])
        self.assertEqual(rows[0]["id"], rows[4]["id"])
        self.assertEqual(len(self.rows("z.dpc#walk.tanim")), 2)
        self.assertEqual(self.rows("z.dpc#walk.tanim/1")[0]["block"], "2")
        self.assertEqual(int(rows[2]["size"]), 24 + 8 + len(fx.WORDS))
        self.assertLess(int(rows[2]["stored"]), int(rows[2]["size"]))

    def test_info(self):
        self.totem()
        info = self.run_json("info", "a.DGC")
        self.assertEqual(info["format"], "totemtech")
        self.assertEqual(info["facts"]["entries"], "4")
        self.assertEqual(info["facts"]["byte order"], "big")
        self.assertIn(["ANIMATION", "2", "68"], info["rows"])

    def test_a_vast_one_takes_a_moment(self):
        with open(self.dir / "vast.dgc", "wb") as f:
            size = 0x40000000
            f.write(fx.totemtech(">", [], chunk_size=size))
            for chunk in range(5):
                f.seek(0x800 + chunk * size)
                f.write(struct.pack(">I", 2) + struct.pack(">4I", 0x20000000, 1, 2, 3))
                f.seek(0x800 + chunk * size + 4 + 0x20000000)
                f.write(struct.pack(">4I", 0x10, fx.ANIMATION, chunk, 0))
            f.truncate(0x800 + 5 * size)
        self.assertEqual(len(self.rows("vast.dgc")), 10)
        self.assertEqual(len(self.rows("vast.dgc#@ANIMATION")), 5)
        _, err = self.run_tool("extract", "vast.dgc#/0", "--limit-bytes", "1000", "-o", "o", code=3)
        self.assertIn("limit", err)


class Verbs(Archives):
    def test_the_whole_archive_is_no_clip(self):
        self.totem()
        for verb in ("dump", "check"):
            _, err = self.run_tool(verb, "a.DGC", code=1)
            self.assertIn("name an entry", err)
        self.run_tool("convert", "a.DGC", "-o", "x.glb", code=1)

    def test_an_entry_of_no_known_format_says_so(self):
        self.totem()
        _, err = self.run_tool("dump", "a.DGC#" + fx.NOTE, code=3)
        self.assertIn(fx.NOTE, err)
        self.assertIn("none of the known formats", err)

    def test_entries_are_clips(self):
        self.knows("totemtech")
        self.totem()
        self.run_tool("check", "a.DGC#@ANIMATION")
        self.run_tool("dump", "a.DGC#" + fx.WALK)
        self.run_tool("info", "a.DGC#*run*")
        self.run_tool("convert", "a.DGC#@ANIMATION", "-o", "out/")
        self.assertEqual(self.files()[-2:], ["out/a#DB__ACTORS_SPONGE_RUN.TANIM.glb",
                                             "out/a#DB__ACTORS_SPONGE_WALK.TANIM.glb"])

    def test_zouna_entries_are_clips(self):
        self.knows("zouna")
        for name in ("zouna_little.dpc", "zouna_big.dpc", "zouna_pool.dpc"):
            self.fixture(name)
            self.run_tool("info", name + "#@Animation_Z")

    def test_a_real_walk_becomes_gltf(self):
        if samples() is None:
            self.skipTest("no samples")
        self.knows("totemtech")
        path = samples() / "totemtech" / "sample.DGC"
        self.run_tool("convert", f"{path}#DB:>ACTORS>SPONGE>WALK.TANIM", "-o", "walk.glb")
        self.assertEqual((self.dir / "walk.glb").read_bytes()[:4], b"glTF")


class Nested(Archives):
    def test_a_bank_in_a_package_in_an_archive(self):
        walk = motn_fixtures.curves(10, 0, motn_fixtures.walk())
        bank = motn_fixtures.bank([(m, walk, motn_fixtures.extra()) for m in ("STROLL", "RUN")])
        package = fx.pks(fx.ipac([("WALK", "MOTN", bank), ("MAP", "MAPM", bytes(40))]))
        (self.dir / "disc.afs").write_bytes(fx.afs([("SCENE.PKS", package)]))
        self.assertEqual([r["name"] for r in self.rows("disc.afs")], ["SCENE.PKS"])
        self.assertEqual([r["name"] for r in self.rows("disc.afs#scene.pks")], ["WALK.MOTN", "MAP.MAPM"])
        self.assertEqual([r["name"] for r in self.rows("disc.afs#scene#walk/0")], ["STROLL", "RUN"])
        self.assertEqual([r["name"] for r in self.rows("disc.afs#scene#walk#STR*")], ["STROLL"])
        self.run_tool("convert", "disc.afs#scene#walk#STROLL", "-o", "stroll.glb")
        self.assertEqual((self.dir / "stroll.glb").read_bytes()[:4], b"glTF")
        self.run_tool("extract", "disc.afs#scene", "-o", "out")
        self.assertEqual((self.dir / "out" / "WALK.MOTN").read_bytes(), bank)
        other = motn_fixtures.bank([("OTHER", walk, motn_fixtures.extra())])
        (self.dir / "other.bin").write_bytes(other)
        self.run_tool("pack", "disc.afs#scene", "--replace", "walk=other.bin", "-o", "new.afs")
        self.assertEqual([r["name"] for r in self.rows("new.afs#scene#walk")], ["OTHER"])

    def test_a_clip_and_its_mesh_in_one_vpp(self):
        (self.dir / "m.vpp").write_bytes(fx.vpp(
            [(n, (FIXTURES / n).read_bytes()) for n in ("char_wave.rfa", "char.v3c")]))
        self.run_tool("convert", "m.vpp#char_wave", "-s", "m.vpp#char.v3c", "-o", "a.glb")
        self.fixture("char_wave.rfa")
        self.fixture("char.v3c")
        self.run_tool("convert", "char_wave.rfa", "-s", "char.v3c", "-o", "b.glb")
        self.assertEqual((self.dir / "a.glb").read_bytes(), (self.dir / "b.glb").read_bytes())
        report = self.run_json("check", "m.vpp#*")
        self.assertEqual([r["format"] for r in report], ["rfa", "v3c"])


class Extract(Archives):
    def manifest(self, folder="out"):
        return json.loads((self.dir / folder / "manifest.json").read_text())

    def test_files_and_the_list_that_leads_back(self):
        self.totem()
        self.run_tool("extract", "a.DGC", "-o", "out")
        entries = self.manifest()["entries"]
        self.assertEqual([e["name"] for e in entries][:3], [fx.WALK, fx.RUN, fx.NOTE])
        self.assertEqual((self.dir / "out" / entries[1]["file"]).read_bytes(),
                         fx.record(">", fx.ANIMATION, fx.RUN, fx.empty_animation(">", 2.0),
                                   fx.totemtech_hash("RUN")))
        self.assertEqual(len(self.files()), 2 + 5)
        report = self.run_json("extract", "a.DGC#@ANIMATION", "-o", "some")
        self.assertEqual(report["entries"], 2)
        self.assertEqual(len(self.manifest("some")["entries"]), 2)

    def test_zouna_entries_are_unpacked(self):
        self.fixture("zouna_big.dpc", "z.dgc")
        self.run_tool("extract", "z.dgc#WORDS", "-o", "out")
        file = self.manifest()["entries"][0]["file"]
        self.assertEqual((self.dir / "out" / file).read_bytes(),
                         fx.resource(">", fx.SKEL_Z, "WORDS", fx.links(">", "WORDS"), fx.WORDS))

    def hostile(self):
        names = ["..", "../up.tanim", str(self.dir / "absolute"), "CON", "nul.txt", "a\\b", "a/b",
                 "same", "MANIFEST.JSON", "x" * 300, "dot.", " ", "tab\there", ".hidden"]
        records = [fx.record(">", 1, n, n.encode()) for n in names]
        (self.dir / "h.dgc").write_bytes(fx.totemtech(">", [records], chunk_size=0x2000))
        (self.dir / "h.ngc").write_bytes(fx.name_table(names))
        return names

    def test_hostile_names_stay_in_the_folder(self):
        names = self.hostile()
        self.run_tool("extract", "h.dgc", "-o", "out")
        outside = [f for f in self.files() if not f.startswith("out/")]
        self.assertEqual(outside, ["h.dgc", "h.ngc"])
        made = os.listdir(self.dir / "out")
        self.assertEqual(len(made), len(names) + 1)
        self.assertEqual(len({m.lower() for m in made}), len(made))
        for m in made:
            self.assertRegex(m, r"^[ -~]+$")
            self.assertNotRegex(m, r'[<>:"/\\|?*]|[. ]$|^\.')
            self.assertLess(len(m), 130)
            self.assertNotIn(m.split(".")[0].upper(), ("CON", "NUL"))
        for entry, name in zip(self.manifest()["entries"], names):
            self.assertTrue((self.dir / "out" / entry["file"]).read_bytes().endswith(name.encode()))
        self.run_tool("pack", "h.dgc", "--from", "out", "-o", "again.dgc")
        self.assertEqual((self.dir / "again.dgc").read_bytes(), (self.dir / "h.dgc").read_bytes())

    def test_a_link_in_the_folder_is_not_followed(self):
        self.totem()
        (self.dir / "out").mkdir()
        (self.dir / "victim").write_text("mine")
        for name in ("DB__ACTORS_SPONGE_RUN.TANIM", "manifest.json"):
            link = self.dir / "out" / name
            link.symlink_to("../victim")
            _, err = self.run_tool("extract", "a.DGC", "-o", "out", code=5)
            self.assertIn("is a link", err)
            link.unlink()
        self.assertEqual((self.dir / "victim").read_text(), "mine")

    def test_several_archives_have_a_folder_each(self):
        self.totem("a.DGC", None)
        self.totem("b.DGC", None)
        self.run_tool("extract", "*.DGC", "-o", "out")
        self.assertEqual(sorted(os.listdir(self.dir / "out")), ["a.DGC", "b.DGC"])

    def test_no_archive(self):
        self.fixture("plain_v8.rfa")
        _, err = self.run_tool("extract", "plain_v8.rfa", "-o", "out", code=4)
        self.assertIn("is no archive", err)
        self.run_tool("extract", "none.dgc", "-o", "out", code=2)


class Pack(Archives):
    def test_the_same_bytes_again(self):
        for name in json.loads((FIXTURES / "archives.json").read_text()):
            with self.subTest(name):
                path = self.fixture(name)
                self.run_tool("extract", name, "-o", "out_" + name)
                report = self.run_json("pack", name, "--from", "out_" + name, "-o", "again")
                self.assertEqual(report["edits"], 0)
                self.assertEqual((self.dir / "again").read_bytes(), path.read_bytes())

    def test_a_changed_file_goes_back(self):
        self.totem()
        self.run_tool("extract", "a.DGC", "-o", "out")
        changed = fx.record(">", fx.ANIMATION, fx.RUN, fx.empty_animation(">", 3.0),
                            fx.totemtech_hash("RUN"))
        (self.dir / "out" / "DB__ACTORS_SPONGE_RUN.TANIM").write_bytes(changed)
        report = self.run_json("pack", "a.DGC", "--from", "out", "-o", "a.DGC")
        self.assertEqual(report["edits"], 1)
        data = (self.dir / "a.DGC").read_bytes()
        self.assertEqual(len(data), 6144)
        self.assertEqual(data[2086:2086 + len(changed)], changed)

    def test_replace_add_remove(self):
        self.totem()
        new = fx.record(">", fx.ANIMATION, "NEW", fx.empty_animation(">"))
        (self.dir / "new.bin").write_bytes(new)
        self.run_tool("pack", "a.DGC", "--replace", fx.RUN + "=new.bin", "--add", "new.bin",
                      "--remove", fx.WALK, "-o", "b.DGC")
        rows = self.rows("b.DGC")
        self.assertEqual([r["id"] for r in rows].count("#%08X" % fx.totemtech_hash("NEW")), 2)
        self.assertEqual(len(rows), 4)
        big = fx.record(">", fx.ANIMATION, "NEW", bytes(3000))
        (self.dir / "new.bin").write_bytes(big)
        report = self.run_json("pack", "a.DGC", "--add", "new.bin", "-o", "b.DGC")
        self.assertIn("every chunk grows from 2048 to 4096", report["notes"][0])

    def test_what_cannot_be(self):
        self.totem()
        (self.dir / "bad.bin").write_bytes(b"short")
        self.run_tool("pack", "a.DGC", "--replace", "nothing=bad.bin", "-o", "b.DGC", code=1)
        self.run_tool("pack", "a.DGC", "--replace", "bad.bin", "-o", "b.DGC", code=1)
        self.run_tool("pack", "a.DGC", "--replace", "@ANIMATION=bad.bin", "-o", "b.DGC", code=1)
        self.run_tool("pack", "a.DGC", "--add", "bad.bin", "-o", "b.DGC", code=3)
        self.run_tool("pack", "a.DGC", "--remove", "nothing", "-o", "b.DGC", code=1)
        self.run_tool("pack", "a.DGC", "--from", "nowhere", "-o", "b.DGC", code=2)
        self.run_tool("pack", "bad.bin", "-o", "b.DGC", code=3)
        self.assertFalse((self.dir / "b.DGC").exists())

    def test_a_manifest_from_elsewhere_reads_nothing_outside(self):
        self.totem()
        self.run_tool("extract", "a.DGC", "-o", "out")
        path = self.dir / "out" / "manifest.json"
        good = path.read_text()
        (self.dir / "sound.bin").write_bytes(fx.record(">", fx.ANIMATION, fx.RUN, bytes(18)))
        for bad in ("../sound.bin", str(self.dir / "sound.bin"), "/etc/hostname", "..", "a\\\\b", ""):
            path.write_text(good.replace("DB__ACTORS_SPONGE_RUN.TANIM", bad))
            self.run_tool("pack", "a.DGC", "--from", "out", "-o", "b.DGC", code=3)
        for bad in ("[]", "{", '{"entries": [1]}', '{"entries": [{"file": "x", "entry": 99}]}'):
            path.write_text(bad)
            self.run_tool("pack", "a.DGC", "--from", "out", "-o", "b.DGC", code=3)
        self.assertFalse((self.dir / "b.DGC").exists())


if __name__ == "__main__":
    unittest.main()
