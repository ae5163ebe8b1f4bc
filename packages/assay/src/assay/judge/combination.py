"""Each node is right and the end is wrong: then their combination is at fault, and the verdict says so."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from assay.core.outcome import Outcome
from assay.core.verdict import VerdictStatus
from assay.judge.draft_verdict import DraftVerdict

COMBINATION = (
    "each node that was judged is right on its own inputs: a combination of nodes is at fault, such as a fusion, which ends where "
    "a node is observed"
)


def with_combinations(opinions: Sequence[DraftVerdict]) -> list[DraftVerdict]:
    """The failing verify opinions of cells whose per-node job blames no node, with that sentence behind their reason."""
    innocent = {
        opinion.cell
        for opinion in opinions
        if opinion.kind == "per_node" and opinion.outcome is Outcome.OK and opinion.result is not None
    }
    return [
        replace(opinion, reason=f"{opinion.reason}; {COMBINATION}")
        if opinion.cell in innocent and _is_wrong(opinion)
        else opinion
        for opinion in opinions
    ]


def _is_wrong(opinion: DraftVerdict) -> bool:
    return opinion.kind == "verify" and opinion.word is VerdictStatus.FAIL and opinion.outcome is Outcome.MISMATCH
