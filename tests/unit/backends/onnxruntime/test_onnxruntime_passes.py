"""What a session's log says of the optimizers that ran."""

from __future__ import annotations

import pytest

from assay.backends.onnxruntime.passes import REWRITE_RULES, TRANSFORMERS, parse_log


def ran(name: str, changed: int = 0, status: str = "OK") -> str:
    return f"Applying graph transformer {name} on step 1.\n GraphTransformer {name} modified: {changed} with status: {status}\n"


@pytest.mark.parametrize(
    ("log", "failed", "names"),
    [
        (ran("A") + ran("B", 1), False, ("B",)),
        (ran("A", 1) + "Applying graph transformer Nchwc on step 1.\n", True, ("A", "Nchwc")),
        (ran("A", 1) + ran("B"), True, ("A",)),
        (ran("A") + ran("B", 0, "FAIL"), True, ("B",)),
        (ran("A") + ran("Level1_RuleBasedTransformer", 1), False, (*REWRITE_RULES, "Level1_RuleBasedTransformer")),
        ("GraphTransformer B modified: 1\n", False, ("B",)),
    ],
)
def test_those_that_changed_the_model_and_the_one_that_failed_are_named(
    log: str, failed: bool, names: tuple[str, ...]
) -> None:
    assert parse_log(log, failed=failed) == names


def test_a_release_that_logs_nothing_may_have_run_all_that_are_known() -> None:
    assert set(TRANSFORMERS) | set(REWRITE_RULES) == set(parse_log("", failed=False))
