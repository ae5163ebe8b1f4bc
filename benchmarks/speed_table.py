"""The recorded gates as tables: what the rule says of their launches, by flow and size, with and without busy neighbours, by load.

Files of `speed_gate.py --csv`, also compressed. Columns: size, flow, share of more work, busy neighbours, load average, the word at the
time, seconds, the rival's CPU milliseconds per call, then for each launch the logarithm of candidate over rival in CPU time, in newer
files those on the wall clock and of loading behind it, in the newest 1 where the candidate was loaded first.
"""

from __future__ import annotations

import csv
import gzip
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from assay.core.speed import PairedRun, SpeedRule
from assay.stats.proportion import wilson
from assay.stats.sequential_test import decide, load_ratios, significantly_above

CLASSES = ((3.0, "load up to 3"), (30.0, "load of 3 to 30"), (math.inf, "load above 30"))


@dataclass(frozen=True)
class Gate:
    size: str
    flow: str
    extra: float
    noisy: bool
    load: float
    seconds: float
    word: str
    ratio: float
    waits: bool
    loads: bool


def gates(path: Path) -> list[Gate]:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [row for row in csv.reader(data.decode().splitlines()) if len(row) > 8]
    found = []
    for size, flow, extra, noisy, load, word, seconds, _, *launches in rows:
        floor = float(flow.partition("floor=")[2] or 1.0) / 100.0
        rule = SpeedRule(min_slowdown=floor, margin=2.0 * floor)
        cpu, *others = zip(*([float(part) for part in launch.split(";")] for launch in launches), strict=True)
        first = [bool(flag) for flag in others[2]] if len(others) > 2 else []
        answer = decide(cpu, rule, first)
        waits = bool(others) and significantly_above(others[0], rule.wall_min_slowdown, rule)
        pairs = load_ratios([PairedRun(0.0, 0.0, load, 0) for load in others[1]]) if len(others) > 1 else []
        loads = significantly_above(pairs, rule.load_min_slowdown, rule)
        # Launches are kept with five digits: a word could tip over on the last of them. None did.
        # When these were recorded, "faster" asked for less certainty, and what looked faster was not looked at again.
        known = answer.word == word or (answer.mean < 0.0 and word in ("faster", "same"))
        assert known, (size, flow, word, answer)
        ratio = 100.0 * math.expm1(answer.mean)
        found.append(
            Gate(size, flow, float(extra), noisy == "1", float(load), float(seconds), answer.word, ratio, waits, loads)
        )
    return found


def table(found: list[Gate], key: Callable[[Gate], tuple[str, ...]]) -> None:
    cells: dict[tuple[str, ...], list[Gate]] = defaultdict(list)
    for gate in found:
        cells[key(gate)].append(gate)
    for name, many in sorted(cells.items()):
        words = [gate.word for gate in many]
        slower, same, faster, undecided = (words.count(w) for w in ("slower", "same", "faster", "inconclusive"))
        loads = sorted(gate.load for gate in many)
        print(
            f"{' '.join(name):42}{len(many):6}{slower:8}{same:7}{faster:8}{undecided:11}"
            f"{statistics.median(gate.ratio for gate in many):+9.2f} %{statistics.median(gate.seconds for gate in many):9.2f}"
            f"{loads[0]:9.1f}{loads[len(loads) // 2]:7.1f}{loads[-1]:9.1f}"
        )


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        gates_read = gates(path)
        print(f"{path.name}: {len(gates_read)} gates")
        print(f"{'':42}{'gates':>6}  slower   same  faster  undecided measured  seconds   load: least, median, most")
        table(
            gates_read,
            lambda gate: (gate.size, gate.flow, f"+{100 * gate.extra:g} %", "neighbours" if gate.noisy else ""),
        )
        table(gates_read, lambda gate: (f"+{100 * gate.extra:g} %", "neighbours" if gate.noisy else "none of ours"))
        table(gates_read, lambda gate: (next(name for limit, name in CLASSES if gate.load <= limit),))
        alike = [gate for gate in gates_read if not gate.extra]
        if alike:
            alarms = sum(gate.word == "slower" or gate.waits or gate.loads for gate in alike)
            coarse = sum(gate.waits for gate in alike), sum(gate.loads for gate in alike)
            print(f"on the wall clock {coarse[0]}, in loading {coarse[1]}")
            low, high = wilson(alarms, len(alike))
            print(f"false alarms {alarms} of {len(alike)}; 95 % interval {100 * low:.2f} to {100 * high:.2f} %")


if __name__ == "__main__":
    main()
