"""What a gate saw of its mutants on one flow: the score, and its metrics by operator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import MutationScoreJob
from assay.core.outcome import Outcome
from assay.core.result import MutationScoreResult, Result
from assay.pipeline.mutants.sample_mutants import Injected
from assay.pipeline.mutants.survivors import Survivor
from assay.stats.proportion import wilson

LOGGED = 500
"""Survivors with their reasons in the log of the summary, at most."""


@dataclass(frozen=True)
class Score:
    """Mutants on one flow: killed, with how; survived, with why; unbuilt. `untried` are cases that were not mutated: they
    fail without any mutant, or no mutant can be made of them."""

    flow: Flow
    killed: Mapping[Injected, Result] = field(default_factory=dict)
    survivors: Mapping[Injected, Survivor] = field(default_factory=dict)
    unbuilt: Mapping[Injected, Result] = field(default_factory=dict)
    untried: Mapping[str, str] = field(default_factory=dict)

    @property
    def survived(self) -> Mapping[Injected, Survivor]:
        """Without the equivalent ones."""
        return {injected: why for injected, why in self.survivors.items() if why.kind != "equivalent"}

    @property
    def counted(self) -> int:
        """Those that a perfect gate would kill, as far as is known."""
        return len(self.killed) + len(self.survived)

    @property
    def interval(self) -> tuple[float, float]:
        """Of the kill rate, Wilson, 95 %."""
        return wilson(len(self.killed), self.counted)


def summary(job: MutationScoreJob, score: Score) -> MutationScoreResult:
    """The metrics that a policy may limit, over all mutants, by mutation operator (`mutation.drop-bias.kill_rate`) and by the
    operator of the model that was hit (`mutation.at.Conv.kill_rate`); every survivor with its reason in the log."""
    figures = _figures("mutation", score) | {"mutation.untried": float(len(score.untried))}
    known = [*score.killed, *score.survivors, *score.unbuilt]
    for stem in sorted({stem for injected in known for stem in _stems(injected)}):
        figures |= _figures(stem, _part(score, stem))
    return replace(
        empty_result(job, Outcome.OK if score.counted else Outcome.UNSUPPORTED),
        scores=figures,
        detail="" if score.counted else "no mutant was built that is not equivalent to the model",
        log="".join(f"{line}\n" for line in _log(score)),
    )


def _stems(injected: Injected) -> tuple[str, str]:
    return f"mutation.{injected.operator}", f"mutation.at.{injected.node_type}"


def _part(score: Score, stem: str) -> Score:
    return Score(
        score.flow,
        {injected: result for injected, result in score.killed.items() if stem in _stems(injected)},
        {injected: why for injected, why in score.survivors.items() if stem in _stems(injected)},
        {injected: result for injected, result in score.unbuilt.items() if stem in _stems(injected)},
    )


def _figures(stem: str, score: Score) -> dict[str, float]:
    figures = {
        f"{stem}.killed": float(len(score.killed)),
        f"{stem}.survived": float(len(score.survived)),
        f"{stem}.equivalent": float(len(score.survivors) - len(score.survived)),
        f"{stem}.unbuilt": float(len(score.unbuilt)),
    }
    if score.counted:
        low, high = score.interval
        figures |= {
            f"{stem}.kill_rate": len(score.killed) / score.counted,
            f"{stem}.kill_rate_low": low,
            f"{stem}.kill_rate_high": high,
        }
    return figures


def _log(score: Score) -> list[str]:
    lines = [
        f"{'equivalent' if why.kind == 'equivalent' else 'survived'} {injected}: {why.why}"
        for injected, why in score.survivors.items()
    ]
    lines += [f"not tried {case}: {why}" for case, why in score.untried.items()]
    return lines if len(lines) <= LOGGED else [*lines[:LOGGED], f"and {len(lines) - LOGGED} more"]
