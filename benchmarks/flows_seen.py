"""docs/backends/seen.md: how every flow that assay offers ended on one model, on the machine that runs this.

python benchmarks/flows_seen.py --output docs/backends/seen.md
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from importlib import metadata
from pathlib import Path

from assay import plugins
from assay.commands.check import run_check
from assay.core.result import Result
from assay.options.check import CheckOptions
from assay.stores.sql import SqlStore

DIGITS = Path(__file__).parents[1] / "examples" / "digits"
WORDS = 180
"""Characters of what a flow said."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--flow", action="append", default=[], help="only these; default: every one")
    parser.add_argument("--timeout", type=float, default=900.0)
    parser.add_argument("--history", default=".assay")
    arguments = parser.parse_args()
    options = CheckOptions(
        models=(DIGITS / "models" / "classifier.onnx",),
        golden=DIGITS / "goldens" / "classifier",
        flows=tuple(arguments.flow) or every_flow(),
        only_kind="verify",
        workers=1,
        timeout_s=arguments.timeout,
        history=arguments.history,
    )
    run_check(options, progress=_told)
    arguments.output.write_text("\n".join(page(arguments.history)) + "\n")


def every_flow() -> tuple[str, ...]:
    """By backend; without the backend that fails on demand, and without those of other packages."""
    own = {point.name for point in metadata.distribution("assay").entry_points if point.group == plugins.BACKENDS}
    flows = plugins.catalogue().flows.values()
    return tuple(
        flow.name
        for flow in sorted(flows, key=lambda flow: (flow.backend, flow.name))
        if flow.backend in own - {*plugins.FAULTY}
    )


def _told(done: int, planned: int, newest: Result) -> None:
    print(f"{done}/{planned} {newest.flow}: {newest.outcome.value} after {newest.seconds:.1f} s", flush=True)


def page(history: str) -> Iterator[str]:
    """The table, by backend. Of a flow that several runs of the history have, the last counts."""
    store = SqlStore(str(Path(history) / "history.db"))
    try:
        runs = [store.run(run.id) for run in reversed(store.runs())]
        by_flow = {result.flow: result for run in runs for result in store.results(run.id)}
    finally:
        store.close()
    results = [by_flow[name] for name in every_flow() if name in by_flow]
    counted = Counter(result.outcome.value for result in results)
    machine = runs[-1].machine
    yield "# Every flow, seen once"
    yield ""
    yield f"`assay check` of the digits' classifier on {len(results)} flows, each against its golden, by `benchmarks/flows_seen.py`:"
    load = f"load {os.getloadavg()[2]:.0f}"
    yield f"{runs[0].started_at[:10]}, {machine.cpu}, {machine.cores} cores shared with other work ({load}), no GPU. Seconds are"
    yield "of the wall: lowering, running and comparing, and importing where that job's worker was a new one."
    yield ""
    yield ", ".join(f"{count} {word.replace('_', ' ')}" for word, count in counted.most_common()) + "."
    yield ""
    yield "| flow | outcome | seconds | |"
    yield "|---|---|---|---|"
    yield from rows(results)


def rows(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        used = [compared.metrics.get("budget_used") for compared in result.comparisons]
        said = result.detail or f"budget used {max((value for value in used if value is not None), default=0.0):.3g}"
        short = said if len(said) <= WORDS else said[: WORDS - 1].rsplit(" ", 1)[0] + " …"
        yield f"| `{result.flow}` | {result.outcome.value} | {result.seconds:.1f} | {short.replace('|', '/')} |"


if __name__ == "__main__":
    main()
