"""A benchmark of operators as Markdown: what each reaches, how it scales over threads, and which flow is the fastest."""

from __future__ import annotations

import errno
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence

from assay.core.machine import Machine
from assay.core.result import Result
from assay.core.run import Run
from assay.core.verdict import RunVerdict
from assay.judge.roofline import Roofline, roofline
from assay.reports import format as text
from assay.reports.sanitize import one_line

SCALED = "-threads"
"""Between the name of a flow and the number of threads that it was measured with."""
WAITED = 1.1
"""From this ratio of wall to CPU time on, calls on one thread did not have a core to themselves."""


class OperatorBench:
    """One table of rates, one of memory access, one of thread scaling (where several numbers were asked for), one of flows (where there
    are several), and one of the flows that gave no samples, with the reason."""

    name = "operators"
    suffix = ".md"

    def render(self, run: Run, results: Sequence[Result], judgement: RunVerdict) -> str:  # noqa: ARG002  the port
        """Results without samples are counted at the end."""
        rooflines = [row_roofline for result in results if (row_roofline := roofline(result, run.machine)) is not None]
        lines = [f"# Operators, run {run.id}", "", *_machine(run.machine), "", *_rates(rooflines)]
        lines += [*_waited(rooflines), *_memory(rooflines), *_threads(rooflines, run.machine), *_flows(rooflines)]
        lines += _not_available([result for result in results if roofline(result, run.machine) is None], len(results))
        return "\n".join(lines) + "\n"


def _machine(machine: Machine) -> Iterator[str]:
    yield f"{machine.kind}, load {machine.load_average:.1f} at the start."
    for threads, copy in sorted(machine.copy_bytes_per_s.items()):
        product = machine.gemm_flops_per_s.get(threads, 0.0)
        whose = "1 thread" if threads == 1 else f"{threads} threads"
        yield f"Peaks on {whose}: copy {copy / 1e9:.3g} GB/s, product {product / 1e9:.3g} GFLOP/s."


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield f"|{'---|' * len(header)}"
    for row in rows:
        yield f"| {' | '.join(one_line(cell).replace('|', '/') for cell in row)} |"


def _rates(rooflines: Sequence[Roofline]) -> Iterator[str]:
    header = (
        "case", "flow", "mean", "deviation", "median", "elements/s", "GFLOP/s", "roofline", "cold caches", "channels-last",
    )  # fmt: skip
    rows = [
        (
            roof.case,
            roof.flow,
            text.milliseconds(roof.mean_s),
            f"{100 * roof.deviation:.0f} %",
            text.milliseconds(roof.median_s),
            text.number(roof.elements_per_s),
            text.number(roof.flops_per_s / 1e9) if roof.flops_per_s else "",
            _share(roof.roofline_share),
            _times(roof.cold_s, roof.median_s),
            _times(roof.channels_last_s, roof.median_s),
        )
        for roof in rooflines
    ]
    return _table(header, rows)


def _memory(rooflines: Sequence[Roofline]) -> Iterator[str]:
    """What calls move, beside what a copy moves on as many threads; misses of the last cache, or why they are not counted."""
    rows = [
        (
            roof.case,
            roof.flow,
            text.size(roof.moved_bytes),
            text.number(roof.bytes_per_s / 1e9),
            _share(roof.copy_share),
            "" if roof.cache_misses is None else text.number(roof.cache_misses),
        )
        for roof in rooflines
        if roof.moved_bytes
    ]
    if not rows:
        return
    yield from ("", "## Memory access", "")
    yield from _table(("case", "flow", "bytes moved", "GB/s", "of a copy", "cache misses"), rows)
    for code in sorted({roof.cache_errno for roof in rooflines if roof.cache_errno}):
        yield from ("", f"Cache misses are not counted: {_why_no_misses(code)}.")


def _why_no_misses(code: int) -> str:
    known = {
        errno.ENOENT: "this processor, or the virtual machine, has no such counter",
        errno.EACCES: "the kernel does not allow it (kernel.perf_event_paranoid)",
        errno.EPERM: "the kernel or the container does not allow it (kernel.perf_event_paranoid, seccomp)",
        errno.ENOSYS: "this system has no perf_event_open",
    }
    return known.get(code, f"perf_event_open fails ({os.strerror(code)})")


def _waited(rooflines: Sequence[Roofline]) -> Iterator[str]:
    """Times are the wall clock's, so that what neighbours took is in them: that is told, with the worst."""
    known = [roof for roof in rooflines if roof.wall_over_cpu is not None]
    waited = [roof for roof in known if (roof.wall_over_cpu or 0.0) >= WAITED]
    if waited:
        worst = max(waited, key=lambda roof: roof.wall_over_cpu or 0.0)
        yield ""
        yield (
            f"In {len(waited)} of {len(known)} measurements on one thread calls waited: their mean was up to "
            f"{worst.wall_over_cpu:.2g} times their CPU time ({one_line(worst.case)} on {worst.flow}). Times here are the wall "
            "clock's, what other programs took included: measure again on an idle machine before believing means and "
            "deviations, and medians of calls that take milliseconds."
        )


def _share(share: float | None) -> str:
    """In whole percent, and below ten of them two digits: small operators reach a fraction of one."""
    if share is None:
        return ""
    percent = 100.0 * share
    return f"{percent:.2g} %" if percent < 9.95 else f"{percent:.0f} %"


def _times(seconds: float | None, usual: float) -> str:
    return "" if seconds is None else f"× {seconds / usual:.2f}"


def _threads(rooflines: Sequence[Roofline], machine: Machine) -> Iterator[str]:
    """Parallel efficiency: the speed-up over one thread, per thread, and as a share of what the peaks of so many threads allow; of more
    threads than cores it says nothing."""
    cells: dict[tuple[str, str], dict[int, Roofline]] = defaultdict(dict)
    for roof in rooflines:
        cells[roof.case, roof.flow.partition(SCALED)[0]][roof.threads] = roof
    rows = [
        (case, flow, str(threads), *_scaling(taken[1], many, threads))
        for (case, flow), taken in cells.items()
        if 1 in taken
        for threads, many in sorted(taken.items())
        if threads > 1
    ]
    if rows:
        yield from ("", "## Threads", "")
        yield from _table(("case", "flow", "threads", "speed-up", "efficiency", "peaks allow", "of that"), rows)
        most = max(roof.threads for roof in rooflines)
        if most > machine.cores:
            cores = text.cores(machine.cores)
            yield ""
            yield f"These processes may use {cores}: how {most} threads scale cannot be seen here; give them more cores."


def _scaling(single: Roofline, many: Roofline, threads: int) -> tuple[str, str, str, str]:
    """The peaks of so many threads, at the operator's intensity, over those of one."""
    faster = single.median_s / many.median_s
    speedup = (f"× {faster:.2f}", f"{100 * faster / threads:.0f} %")
    if not single.roofline_share or not many.roofline_share:
        return (*speedup, "", "")
    kept = many.roofline_share / single.roofline_share
    return (*speedup, f"× {faster / kept:.2f}", f"{100 * kept:.0f} %")


def _flows(rooflines: Sequence[Roofline]) -> Iterator[str]:
    """Backends, optimization levels: each beside the fastest on one number of threads."""
    cells: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for roof in rooflines:
        cells[roof.case, roof.threads][roof.flow.partition(SCALED)[0]] = roof.median_s
    flows = list(dict.fromkeys(flow for taken in cells.values() for flow in taken))
    if len(flows) < 2:
        return
    yield from ("", "## Flows, times the fastest", "")
    rows = [
        (case, str(threads), *(f"{taken[flow] / min(taken.values()):.2f}" if flow in taken else "" for flow in flows))
        for (case, threads), taken in cells.items()
    ]
    yield from _table(("case", "threads", *flows), rows)


def _not_available(left: Sequence[Result], jobs: int) -> list[str]:
    """Each flow that gave no samples with its first reason."""
    if not left:
        return []
    rows: dict[str, tuple[str, ...]] = {}
    for result in left:
        count = sum(other.flow == result.flow for other in left)
        rows.setdefault(result.flow, (result.flow, str(count), result.outcome.value, result.detail))
    lines = [*_table(("flow", "jobs", "outcome", "reason"), list(rows.values()))]
    return ["", "## Not available", "", f"{len(left)} of {jobs} jobs have no samples.", "", *lines]
