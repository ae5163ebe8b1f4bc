"""Unstable engines beside steady ones in one pool: each is called what it is, and its neighbours pass."""

from __future__ import annotations

from pathlib import Path

import assay
from assay.core.outcome import Outcome
from assay.core.result import VerifyResult
from assay.testing.instabilities import SEEN_AS

CLOCKS_AND_DICE = ("late_moment", "rare_call")
"""What a busy machine, or chance, may hide: `tests/unit/worker/verify` asks them with more patience."""
BATCHED = "by_mates"


def test_unstable_engines_are_named_and_their_neighbours_pass(linear: Path, golden: Path, tmp_path: Path) -> None:
    kinds = [kind for kind in SEEN_AS if kind not in (*CLOCKS_AND_DICE, BATCHED)]
    flows = [flow for kind in kinds for flow in (f"faulty-{kind}", "faulty")][:-1]
    checked = assay.check(
        linear,
        flows=list(dict.fromkeys(flows)),
        golden=golden,
        measure=False,
        history=str(tmp_path / "h"),
        repeat_share=50.0,
    )
    results = {answer.flow: answer for answer in checked.results}
    steady = results.pop("faulty")
    assert isinstance(steady, VerifyResult)
    assert (steady.outcome, steady.repeats.found) == (Outcome.OK, ())
    for kind in kinds:
        result = results[f"faulty-{kind}"]
        assert isinstance(result, VerifyResult)
        assert result.outcome is Outcome.NONDETERMINISTIC, (kind, result.detail)
        assert SEEN_AS[kind] in {instance.pattern for instance in result.repeats.found}, kind
    failing = {verdict.job_key for verdict in checked.judgement.verdicts if verdict.word.value == "fail"}
    assert len(failing) == len(kinds)
