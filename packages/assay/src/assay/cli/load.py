"""`assay load`: a service under load, alone or against another."""

from __future__ import annotations

import json
import math
import signal
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

from assay.cli.common import INTERRUPTED, command_line, tell_line
from assay.cli.from_options import from_options, read_options
from assay.options.load import LoadOptions

if TYPE_CHECKING:
    from assay.commands.load import Loaded

_TERMINATED = 143
_EXITS = {"pass": 0, "fail": 1}
_SHOWN = (
    "requests",
    "errors",
    "throughput_per_s",
    "goodput_per_s",
    "ttft_p50_ms",
    "ttft_p99_ms",
    "itl_p50_ms",
    "e2e_p50_ms",
    "e2e_p99_ms",
)


@from_options(LoadOptions)
def load(values: Mapping[str, Any]) -> None:
    from assay.commands.load import run_load
    from assay.reports.rows import EXIT_MEANING

    options = read_options(LoadOptions, values, command=command_line(sys.argv[1:], LoadOptions))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(_TERMINATED))  # services that were started are ended
    try:
        loaded = run_load(options, tell_line)
    except KeyboardInterrupt:
        tell_line("assay: interrupted; services that were started are ended, and this load is not recorded")
        raise typer.Exit(INTERRUPTED) from None
    _print(loaded)
    if options.output is not None:
        options.output.write_text(json.dumps(_figures(loaded), indent=1), "utf-8")
        print(f"figures: {options.output}")
    for _, path in options.reports:
        print(f"report: {path}")
    code = _EXITS.get(loaded.word.value, 3)
    print(f"exit {code} = {EXIT_MEANING[code]}")
    raise typer.Exit(code)


def _print(loaded: Loaded) -> None:
    for name, combination in loaded.combinations:
        print(f"\n{name}")
        _print(combination)
    for rate, summary in loaded.curve.points if loaded.curve is not None else ():
        title = summary.source or f"{rate:g} requests a second"
        print(title)
        for name in (*_SHOWN, *sorted(summary.metrics.keys() - set(_SHOWN))):
            if name in summary.metrics:
                between = summary.intervals.get(name)
                interval = f"  ({between[0]:.4g} to {between[1]:.4g})" if between else ""
                print(f"  {name:24} {summary.metrics[name]:10.4g}{interval}")
        for error, count in summary.errors.items():
            print(f"  {count} x {error}")
        for note in summary.notes:
            print(f"  note: {note}")
    if loaded.curve is not None and loaded.curve.knee is not None:
        print(f"knee: {loaded.curve.knee:g} requests a second, the greatest throughput over latency")
    for reason in loaded.reasons:
        print(reason)
    if loaded.checked is not None:
        print(f"run {loaded.checked.run.id}: `assay report {loaded.checked.run.id}` shows it beside earlier ones")
    print(loaded.word.value.upper())


def _figures(loaded: Loaded) -> dict[str, Any]:
    if loaded.comparison is not None:
        comparison = loaded.comparison
        pairs = [
            {"ratios": pair.ratios, "new_first": pair.new_first, "trouble": pair.trouble} for pair in comparison.pairs
        ]
        return {
            "verdict": loaded.word.value,
            "word": comparison.word,
            "old": comparison.old,
            "new": comparison.new,
            "failed": comparison.failed,
            "sent": comparison.sent,
            "pairs": pairs,
        }
    if loaded.combinations:
        return {
            "verdict": loaded.word.value,
            "combinations": [{"set": name} | _figures(combination) for name, combination in loaded.combinations],
        }
    assert loaded.curve is not None
    points = [
        {
            "rate": None if math.isnan(rate) else rate,
            "metrics": {name: _finite(value) for name, value in point.metrics.items()},
            "intervals": {name: [*map(_finite, value)] for name, value in point.intervals.items()},
            "errors": point.errors,
            "notes": point.notes,
        }
        for rate, point in loaded.curve.points
    ]
    return {"verdict": loaded.word.value, "reasons": loaded.reasons, "points": points, "knee_per_s": loaded.curve.knee}


def _finite(value: float) -> float | None:
    """JSON has no infinity: null is a percentile that lies among failed requests."""
    return value if math.isfinite(value) else None
