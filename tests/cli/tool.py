"""What the tests of the command line share."""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOOL = os.environ["DOPESHEET_CLI"]
FIXTURES = pathlib.Path(os.environ["DOPESHEET_FIXTURES"])
SOURCE = pathlib.Path(os.environ["DOPESHEET_SOURCE"])


def samples():
    """The folder of real game data, or None."""
    path = pathlib.Path(os.environ.get("DOPESHEET_SAMPLES") or SOURCE / ".." / "shared" / "samples")
    return path if path.is_dir() else None


class ToolTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="dopesheet-"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def run_tool(self, *args, stdin=b"", env=None, code=0):
        """Runs the tool in the test's own folder; returns standard output and error as bytes."""
        done = subprocess.run(
            [TOOL, *map(str, args)], input=stdin, capture_output=True, cwd=self.dir, timeout=120,
            env={**os.environ, "TERM": "xterm", **(env or {})}, check=False)
        self.assertEqual(done.returncode, code, (args, done.stdout[-2000:], done.stderr[-2000:]))
        return done.stdout, done.stderr.decode()

    def run_json(self, *args, **kwargs):
        out, _ = self.run_tool(*args, "--json", **kwargs)
        return json.loads(out)

    def fixture(self, name, to=None):
        """A copy of a fixture in the test's folder."""
        path = self.dir / (to or name)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(FIXTURES / name, path)
        return path

    def files(self):
        return sorted(str(p.relative_to(self.dir)) for p in self.dir.rglob("*") if p.is_file())
