"""What `assay mutate` shows above the verdict."""

from __future__ import annotations

from assay.pipeline.mutants.mutation_score import Score
from assay.pipeline.mutants.sample_mutants import Injected
from assay.pipeline.mutate import Mutated
from assay.reports.mutation_scores import mutation_scores, shown

KINDS = {
    "unexercised": "survived: the inputs do not exercise it",
    "below_noise": "survived: within what the flow may be off",
    "untold": "survived, and it is not known why",
    "equivalent": "equivalent, not counted",
}
SHOWN, SHOWN_OF_SUITE = 60, 10
"""Lines of a kind at most: the log of the summary in the HTML and JSON reports has more."""


def lines(mutated: Mutated, killed: bool = False) -> list[str]:
    """Flow by flow what was killed and what survived, then the kill rates side by side."""
    if mutated.unsound:
        return ["the flow fails without any mutant, so no mutant was run: a gate that is always red catches nothing"]
    several = len({mutant.case for score in mutated.scores for mutant in _mutants(score)}) > 1
    text = [line for score in mutated.scores for line in _score(score, killed, several, named=len(mutated.scores) > 1)]
    if several or len(mutated.scores) > 1:
        text += [*shown(mutation_scores(mutated.checked.results)), ""]
    return [*text, *(_rate(score, named=len(mutated.scores) > 1) for score in mutated.scores)]


def verdict(mutated: Mutated) -> str:
    """What the policy says of it, in words about kill rates."""
    judgement = mutated.checked.judgement
    if judgement.exit_code:
        return judgement.run.reason
    goals = len(mutated.checked.run.policy.goals)
    if not goals:
        return "PASS: no policy demands a kill rate; mutation.kill-rate = { min = 0.95 } in a --policy file would"
    return f"PASS: {goals} demand{'s' if goals > 1 else ''} of the policy on kill rates met"


def _mutants(score: Score) -> list[Injected]:
    return [*score.killed, *score.survivors, *score.unbuilt]


def _score(score: Score, killed: bool, several: bool, named: bool) -> list[str]:
    def name(injected: Injected) -> str:
        return str(injected) if several else injected.mutant

    most = SHOWN_OF_SUITE if several else SHOWN
    text = [f"{score.flow.name}:"] if named else []
    text.append(f"killed: {len(score.killed)}")
    if killed:
        text += [
            f"  {name(injected)}: {result.detail or result.outcome.value}" for injected, result in score.killed.items()
        ]
    for kind, title in KINDS.items():
        of_kind = {injected: why for injected, why in score.survivors.items() if why.kind == kind}
        text += _listed(title, [f"{name(injected)}: {why.why}" for injected, why in of_kind.items()], most)
    unbuilt = [f"{name(injected)}: {result.detail}" for injected, result in score.unbuilt.items()]
    text += _listed("not built by the backend", unbuilt, most)
    return text + _listed("cases not mutated", [f"{case}: {why}" for case, why in score.untried.items()], most)


def _listed(title: str, items: list[str], most: int) -> list[str]:
    if not items:
        return []
    more = [f"  and {len(items) - most} more: --report html=FILE has them"] if len(items) > most else []
    return [f"{title}: {len(items)}", *(f"  {line}" for line in items[:most]), *more]


def _rate(score: Score, named: bool) -> str:
    where = f" on {score.flow.name}" if named else ""
    if not score.counted:
        return f"no kill rate{where}: no mutant applies and is not equivalent"
    low, high = score.interval
    return (
        f"kill rate{where}: {100 * len(score.killed) / score.counted:.1f} % of {score.counted} mutants "
        f"(95 % interval {100 * low:.1f} to {100 * high:.1f} %, Wilson)"
    )
