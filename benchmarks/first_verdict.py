"""How long a first answer takes: `assay check` of each model with a new history, as somebody sees it who has just installed it.

`python benchmarks/first_verdict.py MODEL... [--flow NAME]...` prints a line of a table for each: seconds to the first line of progress, to
the first verdict, to the longest silence and to the end, the processor seconds of all processes (up to the first
verdict, too: they say more than the clock where other work runs on the machine), and what was said.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

VERDICT = re.compile(r"\] (pass|fail|inconclusive|error|xfail|xpass|skip): ")
LIMIT_S = 600.0


@dataclass(frozen=True)
class Seen:
    """One check, in seconds from its start; the first verdict is that of the end where none came before."""

    first_line_s: float
    verdict_s: float
    silence_s: float
    end_s: float
    verdict_processor_s: float
    processor_s: float
    told: str


def check(model: Path, flows: list[str], folder: Path) -> Seen:
    """Raises subprocess.TimeoutExpired where it does not end."""
    words = [word for flow in flows for word in ("--flow", flow)]
    command = [sys.executable, "-m", "assay", "check", str(model.absolute()), *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    child = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert child.stderr is not None
    times, verdicts, used = [0.0], list[tuple[float, str]](), 0.0
    for line in child.stderr:
        times.append(time.monotonic() - begin)
        if match := VERDICT.search(line):
            used = used or processor_seconds(child.pid)
            verdicts.append((times[-1], match[1]))
    code = child.wait(LIMIT_S)
    end = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    times.append(end)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Seen(
        first_line_s=times[1],
        verdict_s=verdicts[0][0] if verdicts else end,
        silence_s=max(later - earlier for earlier, later in itertools.pairwise(times)),
        end_s=end,
        verdict_processor_s=used or whole,
        processor_s=whole,
        told=", ".join([*(word for _, word in verdicts), f"exit {code}"]),
    )


def processor_seconds(root: int) -> float:
    """Of a process and all below it, those that have ended included (proc(5): ppid, utime, stime, cutime, cstime)."""
    parents, ticks = {}, {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = file.read_text().rpartition(")")[2].split()
            parents[int(file.parent.name)] = int(fields[1])
            ticks[int(file.parent.name)] = sum(map(int, fields[11:15]))
    tree = {root}
    while more := {pid for pid, parent in parents.items() if parent in tree} - tree:
        tree |= more
    return sum(ticks.get(pid, 0) for pid in tree) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--flow", action="append")
    options = parser.parse_args()
    flows = options.flow or ["onnxruntime", "openvino-f32"]
    print(f"flows {', '.join(flows)}; load at the beginning {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores\n")
    print(
        "| model | MB | first line s | first verdict s | longest silence s | end s | processor s to the verdict | in all | said |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    small = list[Seen]()
    for model in options.models:
        with tempfile.TemporaryDirectory() as folder:
            seen = check(model, flows, Path(folder))
        size = model.stat().st_size / 1e6
        small += [seen] if size < 20 else []
        print(
            f"| {model.stem} | {size:.1f} | {seen.first_line_s:.1f} | {seen.verdict_s:.1f} | {seen.silence_s:.1f} | {seen.end_s:.1f} | "
            f"{seen.verdict_processor_s:.1f} | {seen.processor_s:.1f} | {seen.told} |",
            flush=True,
        )
    if small:
        print(f"\n{len(small)} models under 20 MB, median and most:")
        for what, figures in (
            ("first line", [small_check.first_line_s for small_check in small]),
            ("first verdict", [small_check.verdict_s for small_check in small]),
            ("longest silence", [small_check.silence_s for small_check in small]),
            ("end", [small_check.end_s for small_check in small]),
            ("to the verdict", [small_check.verdict_processor_s for small_check in small]),
            ("processor", [small_check.processor_s for small_check in small]),
        ):
            print(f"{what:16} {statistics.median(figures):5.1f} s {max(figures):5.1f} s")
    print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
