"""Bad submissions of examples/zoo/broken: the decision and the reason of each, and of pairs that have two defects.

`python benchmarks/zoo_decisions.py` looks at each by the groups that read files and the group that must find it: a failure in
one group declines, whatever the others say. `--whole` runs every group. `--pairs N` puts two defects into one submission, N
times, in the order of `--seed`: both must be heard. `--of 30` takes one defect of each of 30 checks: 435 pairs. `--skip N` goes on
behind the first N of them.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from assay_zoo.check import GROUPS, CheckOutcome
from assay_zoo.inspect import Inspection, inspect
from assay_zoo.services import open_tools
from warm_readers import WarmReaders

BROKEN = Path(__file__).parents[1] / "examples" / "zoo" / "broken"
sys.path.insert(0, str(BROKEN))

import good  # noqa: E402 - the builder's modules have short names
from build import build  # noqa: E402
from case import TABLE, Broken  # noqa: E402

READING = ("files", "artifacts")
BAD = (CheckOutcome.FAILED, CheckOutcome.UNDECIDED, CheckOutcome.INFRASTRUCTURE)


class NoPair(Exception):
    """The first defect took away what the second one changes."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="of these only")
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--of", type=int, default=0, help="one defect of each of so many checks")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="none that executes a notebook or waits for a limit")
    parser.add_argument("--warm", action="store_true", help="fork the processes that read files: see warm_readers.py")
    arguments = parser.parse_args()
    cases = [TABLE[name] for name in arguments.names] or list(TABLE.values())
    cases = [case for case in cases if not (arguments.quick and case.costly)]
    if arguments.of:
        cases = _one_of_each(cases)[: arguments.of]
    begin = time.perf_counter()
    with WarmReaders() if arguments.warm else contextlib.nullcontext():
        if arguments.pairs:
            wrong, count = _pairs(cases, arguments.pairs, arguments.seed, arguments.skip)
        else:
            wrong, count = sum(not _single(case, arguments.whole) for case in cases), len(cases)
    seconds = time.perf_counter() - begin
    print(f"{count - wrong} of {count} right, {wrong} wrong, {seconds:.0f} s, load {os.getloadavg()[0]:.1f}")


def _single(case: Broken, whole: bool) -> bool:
    inspection = _looked_at(case, GROUPS if whole else {*READING, case.group})
    told = _told(inspection)
    right = inspection.decision.answer == case.answer and case.check in told
    others = sorted(set(told) - {case.check, *case.also})
    if not right or others:
        print(
            f"{case.name}: {inspection.decision.answer}, wanted {case.answer} by {case.check}; heard {told}", flush=True
        )
    else:
        print(f"{case.name}: {inspection.decision.answer} by {case.check}", flush=True)
    return right


def _one_of_each(cases: list[Broken]) -> list[Broken]:
    """The first of each check, those that cost little before the others."""
    first: dict[str, Broken] = {}
    for broken in sorted(cases, key=lambda case: case.costly):
        first.setdefault(broken.check, broken)
    return list(first.values())


def _pairs(cases: list[Broken], most: int, seed: int, skip: int) -> tuple[int, int]:
    """Of defects of different checks. What can only be done to a whole submission is left out."""
    free = [candidate for candidate in cases if candidate.answer == "decline"]
    pairs = [pair for pair in itertools.combinations(free, 2) if pair[0].check != pair[1].check]
    random.Random(seed).shuffle(pairs)
    wrong = count = 0
    for at, (first, other) in enumerate(pairs[skip:], skip + 1):
        if count == most:
            break
        try:
            inspection = _looked_at(_both(first, other), {*READING, first.group, other.group})
        except NoPair:
            continue
        count += 1
        heard = _told(inspection)
        print(f"{at}: {first.name} and {other.name}", flush=True)
        missing = [case for case in (first, other) if case.check not in heard]
        for case in missing:
            held = any(each.outcome is CheckOutcome.SKIPPED and each.group == case.group for each in inspection.checks)
            text = "cannot be looked at before, and it says so" if held else "not heard"
            print(f"{first.name} and {other.name}: {case.name} {text}; {heard}", flush=True)
            wrong += not held
    return wrong, count


def _both(broken: Broken, other: Broken) -> Broken:
    def breaks(folder: Path) -> None:
        alone = folder.with_name("alone")
        shutil.copytree(folder, alone, symlinks=True)
        broken.breaks(folder)
        try:
            other.breaks(folder)
            other.breaks(alone)
        except Exception as error:
            raise NoPair from error
        if _contents(folder) == _contents(alone):
            raise NoPair  # the second one wrote over the first
        shutil.rmtree(alone)

    return replace(
        broken, name=f"{broken.name}+{other.name}", breaks=breaks, zoo=(*broken.zoo, *other.zoo),
        scenario=(*broken.scenario, *other.scenario), previous=broken.previous or other.previous,
    )  # fmt: skip


def _contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def _looked_at(case: Broken, groups: Iterable[str]) -> Inspection:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        build(root, case)
        with open_tools(root, str(root / ".assay")) as tools:
            return inspect(good.NAME, root, tools, groups=groups)


def _told(inspection: Inspection) -> dict[str, str]:
    return {
        check.name: f"{check.outcome}: {check.sentence[:120]}" for check in inspection.checks if check.outcome in BAD
    }


if __name__ == "__main__":
    main()
