#!/usr/bin/env python3
"""Writes the test fixtures, byte for byte the same on every run, without any code of the library
under test.

    make.py OUTDIR          all fixtures and OUTDIR/index.json
    make.py --big OUTDIR    the same, and big.rfa (about 3.6 MB, for benches; not in the index)
    make.py --list          names and notes

index.json is a list of {"file", "kind": "rfa" | "v3c" | "v3m", "canonical", "note"}. "canonical"
promises that a writer which recomputes all offsets, sizes and padding by the rules of the format
gets the same bytes again. mt5.json is the same for the kinds "mt5" and "mt7", which reference.py and
the table of formats do not know; archives.json says what the archives hold. The modules motn_fixtures,
totemtech_fixtures and zouna_fixtures write lists of their own.
"""

import json
import sys
from pathlib import Path

sys.dont_write_bytecode = True  # the source tree may be read-only or shared

import archive_fixtures
import motn_fixtures
import mt5_fixtures
import rfa_checks
import rfa_fixtures
import totemtech_fixtures
import v3c_fixtures
import zouna_fixtures


def entries():
    modules = (rfa_fixtures, rfa_checks, v3c_fixtures, mt5_fixtures)
    return [entry for module in modules for entry in module.fixture.entries]


def write_all(outdir):
    outdir.mkdir(parents=True, exist_ok=True)
    lists = {"index.json": [], "mt5.json": []}
    for entry in entries():
        (outdir / entry["file"]).write_bytes(entry["build"]())
        index = lists["mt5.json" if entry["kind"] in ("mt5", "mt7") else "index.json"]
        index.append({key: entry[key] for key in ("file", "kind", "canonical", "note")})
    motn_fixtures.write(outdir)
    archive_fixtures.write(outdir)
    totemtech_fixtures.write(outdir)
    zouna_fixtures.write(outdir)
    for name, index in lists.items():
        (outdir / name).write_text(json.dumps(index, indent=1) + "\n")


def write_big(outdir):
    outdir.mkdir(parents=True, exist_ok=True)
    (outdir / "big.rfa").write_bytes(rfa_fixtures.big())


def main(args):
    if args == ["--list"]:
        for entry in entries():
            print(f"{entry['file']}: {entry['note']}")
        return 0
    big = "--big" in args
    places = [a for a in args if a != "--big"]
    if len(places) != 1 or places[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    write_all(Path(places[0]))
    if big:
        write_big(Path(places[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
