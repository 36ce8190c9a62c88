"""The example is what the README's demo shows: clean, small, and the same each time."""

import os
import subprocess
import unittest

from tool import ToolTest


@unittest.skipUnless(os.environ.get("DOPESHEET_EXAMPLE"), "the examples are not built")
class Example(ToolTest):
    def make(self, folder):
        (self.dir / folder).mkdir()
        subprocess.run([os.environ["DOPESHEET_EXAMPLE"], self.dir / folder], check=True, capture_output=True)
        return {p.name: p.read_bytes() for p in (self.dir / folder).iterdir()}

    def test_made_twice_the_same_and_clean(self):
        files = self.make("a")
        self.assertEqual(files, self.make("b"))
        self.assertEqual(sorted(files), ["walker.v3c", "walker_talk.rfa", "walker_walk.rfa", "walker_wave.rfa"])
        out, _ = self.run_tool("check", "--strict", "a/*", "--skeleton", "a/walker.v3c")
        self.assertIn("0 errors, 0 warnings", out.decode())

    def test_all_clips_in_one_file_within_the_tolerance(self):
        self.make("a")
        report = self.run_json("convert", "a/*.rfa", "--skeleton", "a/walker.v3c", "-o", "walker.glb")
        self.assertEqual([c["clip"] for c in report["clips"]], ["walker_talk", "walker_walk", "walker_wave"])
        for clip in report["clips"]:
            self.assertEqual([loss["path"] for loss in clip["losses"] if loss["path"] != "morph"], [])
            self.assertLessEqual(clip["error"]["max_mm"], 0.05)
            self.assertLessEqual(clip["error"]["max_degrees"], 0.05)


if __name__ == "__main__":
    unittest.main()
