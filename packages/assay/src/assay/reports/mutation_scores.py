"""What the gate saw of its mutants, by mutation operator, by operator of the model and by flow: the same rows for every report."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from assay.core.result import MutationScoreResult, Result
from assay.reports.batch_sweep import columns
from assay.reports.sanitize import one_line

ALL, MUTATION, HIT = "", "mutation operator", "operator of the model"
GROUPS = (MUTATION, HIT)
HEADER = ("kill rate", "killed", "95 % interval", "flow")
_STEM, _HIT_STEM, _KILLED = "mutation.", "mutation.at.", ".killed"


class MutationScore(msgspec.Struct, frozen=True):
    """One row. `group` says what `name` is ("" for all mutants of the flow); `rate` and its interval (Wilson, 95 %) are None
    where no mutant counts."""

    case: str
    flow: str
    group: str
    name: str
    killed: int
    survived: int
    equivalent: int
    unbuilt: int
    rate: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def counted(self) -> int:
        """Those that a perfect gate would kill, as far as is known."""
        return self.killed + self.survived


def mutation_scores(results: Sequence[Result]) -> list[MutationScore]:
    """Of each summary of mutants: the row over all first, then by group, the lowest rate first."""
    score_rows = [row for result in results if isinstance(result, MutationScoreResult) for row in _rows(result)]
    places = {group: place for place, group in enumerate((ALL, *GROUPS))}
    return sorted(
        score_rows, key=lambda score: (places[score.group], 2.0 if score.rate is None else score.rate, score.name)
    )


def _rows(result: MutationScoreResult) -> list[MutationScore]:
    figures = result.scores
    stems = [name.removesuffix(_KILLED) for name in figures if name.endswith(_KILLED) and name.startswith(_STEM)]
    return [_row(result, stem) for stem in ("mutation", *(stem for stem in stems if stem != "mutation"))]


def _row(result: MutationScoreResult, stem: str) -> MutationScore:
    figures = result.scores
    group = ALL if stem == "mutation" else HIT if stem.startswith(_HIT_STEM) else MUTATION
    name = stem.removeprefix(_HIT_STEM if group == HIT else _STEM) if group else ""
    counts = (int(figures.get(f"{stem}.{what}", 0.0)) for what in ("killed", "survived", "equivalent", "unbuilt"))
    rates = (figures.get(f"{stem}.{what}") for what in ("kill_rate", "kill_rate_low", "kill_rate_high"))
    return MutationScore(result.case, result.flow, group, name, *counts, *rates)


def table(scores: Sequence[MutationScore], group: str) -> tuple[tuple[str, ...], list[list[str]], str]:
    """Header, rows and a closing line of one group: those of which something survived, each flow in a row of its own."""
    own = [score for score in scores if score.group == group and score.rate is not None]
    bad = [mutation_score for mutation_score in own if mutation_score.survived]
    rest = len({mutation_score.name for mutation_score in own} - {mutation_score.name for mutation_score in bad})
    closing = _closing(rest, group, bool(bad)) if rest else ""
    return (
        (group, *HEADER),
        [
            [one_line(mutation_score.name), *texts(mutation_score), one_line(mutation_score.flow)]
            for mutation_score in bad
        ],
        closing,
    )


def _closing(count: int, group: str, more: bool) -> str:
    kinds = group.replace("operator", "operators", 1) if count > 1 else group
    return f"{count}{' more' if more else ''} {kinds}: every mutant killed on every flow"


def shown(scores: Sequence[MutationScore]) -> list[str]:
    """Lines of text: a table for each group, each after an empty line; none where no mutants were injected."""
    lines: list[str] = []
    for group in GROUPS:
        header, rows, closing = table(scores, group)
        group_lines = [*(columns(header, rows) if rows else []), *([closing] if closing else [])]
        lines += ["", *group_lines] if group_lines else []
    return lines


def texts(score: MutationScore) -> list[str]:
    """Rate, counts and interval as people read them."""
    if score.rate is None or score.low is None or score.high is None:
        return ["none", "", ""]
    return [
        f"{100 * score.rate:.1f} %",
        f"{score.killed} of {score.counted}",
        f"{100 * score.low:.1f} to {100 * score.high:.1f} %",
    ]
