"""The figures of one load, by name, each percentile with the interval that its samples allow."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from assay.serving.load_answers import Answer, answers_of
from assay.serving.load_generator import Load
from assay.stats.percentiles import needed, percentile
from assay.stats.proportion import binomial_quantile

MEANINGS = {
    "ttft": "time to the first token, from when the request was due",
    "itl": "time between two tokens",
    "e2e": "time to the whole answer, from when the request was due",
}
PERCENTILES = (50.0, 90.0, 99.0)
_LATE_MS, _LATE_SHARE = 5.0, 0.1


@dataclass(frozen=True)
class LoadSummary:
    """`metrics` by name, the unit in the name; `intervals` of those that have one, at 95 %; `errors` counted by what went wrong;
    `notes` on what the figures cannot say; `resident` are readings of the memory of its processes: seconds, bytes;
    `texts` are the answers, None of a request that failed: an answer may be empty; `ended` says how the service had ended
    behind them ("": it had not)."""

    metrics: dict[str, float]
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    source: str = ""
    resident: tuple[tuple[float, int], ...] = ()
    texts: tuple[str | None, ...] = ()
    ended: str = ""


def summarize(load: Load, objectives: Mapping[str, float] = {}) -> LoadSummary:
    """`objectives` are milliseconds by ttft, itl or e2e: a good answer keeps all of them."""
    answers = answers_of(load)
    good = [answer for answer in answers if not answer.error]
    last = max((request.ended for request in load.requests), default=0.0)
    seconds = max(last, load.requests[-1].due if load.requests else 0.0) or math.nan
    metrics = {
        "requests": float(len(answers)),
        "errors": float(len(answers) - len(good)),
        "throughput_per_s": len(good) / seconds,
        "tokens_per_s": sum(answer.tokens for answer in good) / seconds,
        "goodput_per_s": sum(keeps(answer, objectives) for answer in good) / seconds,
        "sender_late_p99_ms": late_ms(answers),
        "sender_cpu_share": load.cpu_s / load.wall_s,
    }
    if paces := [answer.whole_s / answer.tokens for answer in good if answer.tokens]:
        # Jain, Chiu and Hawe 1984: 1 where each token took as long whoever asked, 1/n where one request waited for all.
        metrics["fairness"] = sum(paces) ** 2 / (len(paces) * sum(pace * pace for pace in paces) or math.nan)
    intervals: dict[str, tuple[float, float]] = {}
    notes: list[str] = []
    failed = [math.inf] * (len(answers) - len(good))
    for name, samples in samples_of(good).items():
        _percentiles(name, samples, [] if name == "itl" else failed, metrics, intervals, notes)
    if is_late(metrics):
        notes.append(
            f"the sender itself was late by {metrics['sender_late_p99_ms']:.3g} ms (p99): use a quieter machine, or fewer requests a second"
        )
    return LoadSummary(
        metrics,
        intervals,
        dict(Counter(answer.error for answer in answers if answer.error)),
        tuple(notes),
        texts=tuple(None if answer.error else answer.text for answer in answers),
    )


def is_late(metrics: Mapping[str, float]) -> bool:
    """Whether the generator disturbed what it measures."""
    first = metrics.get("ttft_p50_ms", 0.0)
    return metrics["sender_late_p99_ms"] > max(_LATE_MS, _LATE_SHARE * first if math.isfinite(first) else 0.0)


def late_ms(answers: Sequence[Answer]) -> float:
    """How late requests were sent: of a hundred one is later."""
    return 1e3 * float(np.quantile([answer.late_s for answer in answers], 0.99)) if answers else math.nan


def keeps(answer: Answer, objectives: Mapping[str, float]) -> bool:
    """Whether it is as fast as asked for."""
    seen = {
        "ttft": answer.first_s,
        "e2e": answer.whole_s,
        "itl": float(np.mean(answer.gaps_s)) if answer.gaps_s else 0.0,
    }
    return all(1e3 * seen[name] <= limit for name, limit in objectives.items())


def samples_of(good: Sequence[Answer]) -> dict[str, list[float]]:
    """Milliseconds of good answers, by name."""
    return {
        "ttft": [1e3 * answer.first_s for answer in good],
        "itl": [1e3 * gap for answer in good for gap in answer.gaps_s],
        "e2e": [1e3 * answer.whole_s for answer in good],
    }


def _percentiles(
    name: str,
    samples: Sequence[float],
    failed: Sequence[float],
    metrics: dict[str, float],
    intervals: dict[str, tuple[float, float]],
    notes: list[str],
) -> None:
    """Order statistics: P(Binom(n, p) <= k) says between which of the samples a percentile lies (Conover, Practical Nonparametric
    Statistics, 1999, 3.2). Tokens of one answer are not independent: their interval is too narrow, and is not given. `failed`
    are requests that got no answer, however long they wait: infinite, and in no mean."""
    if not samples and not failed:
        return
    if samples:
        metrics[f"{name}_mean_ms"] = float(np.mean(samples))
    ordered = sorted([*samples, *failed])
    for percent in PERCENTILES:
        key = f"{name}_p{percent:g}_ms"
        if len(ordered) < needed(percent):
            if name != "itl":
                notes.append(f"{key} needs {needed(percent)} answers, and there are {len(ordered)}")
            continue
        metrics[key] = percentile(ordered, percent) or 0.0
        if name != "itl":
            low, high = (binomial_quantile(share, len(ordered), percent / 100) for share in (0.025, 0.975))
            intervals[key] = (float(ordered[max(0, low - 1)]), float(ordered[min(len(ordered) - 1, high)]))
