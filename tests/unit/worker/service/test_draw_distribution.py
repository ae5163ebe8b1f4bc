"""Draws of a service that samples by a known rule: the right one passes, and each other one is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.ports.prompts import Completion
from assay.worker.service.draw_distribution import draw_rules
from assay.worker.service.oracle import Oracle

START = (1, 2, 3, 4)
LOGITS = np.random.default_rng(2).normal(0, 2, 60)
RULES = {
    "right": lambda weights: weights,
    "hotter": lambda weights: weights ** (1 / 1.3),
    "colder": lambda weights: weights**1.3,
    "top eight": lambda weights: np.where(weights >= np.sort(weights)[-8], weights, 0.0),
    "repeats less": lambda weights: np.where(np.isin(np.arange(60), START), 0.3 * weights, weights),
    "one token less": lambda weights: np.where(np.arange(60) == np.argmax(weights), 0.1 * weights, weights),
}


class _Service:
    """What is needed of one."""

    def __init__(self, rule: str) -> None:
        weights = RULES[rule](np.exp(LOGITS))
        self._weights = weights / weights.sum()
        self.seeds: list[int] = []

    def complete(self, prompt: Any, tokens: int, *, temperature: float, seed: int) -> Completion:
        self.seeds.append(seed)
        token = int(np.random.default_rng(seed).choice(60, p=self._weights))
        return Completion("", (token,), (), "length", None, 1)


class _Odd(_Service):
    """Each answer is the same."""

    def __init__(self, ids: tuple[int, ...] | None, finish: str) -> None:
        super().__init__("right")
        self._answer = Completion("", ids, (), finish, None, len(ids or ()))

    def complete(self, prompt: Any, tokens: int, *, temperature: float, seed: int) -> Completion:
        return self._answer


def _drawn(rule: str | _Service) -> tuple[list[str], dict[str, float]]:
    logs = LOGITS - np.log(np.exp(LOGITS).sum())
    oracle = Oracle(None, None, [START, START])  # type: ignore[arg-type]
    oracle.keep(START, np.array([logs] * len(START)))
    service = _Service(rule) if isinstance(rule, str) else rule
    findings, metrics = draw_rules(service, oracle, 400)  # type: ignore[arg-type]
    return [str(finding.facts["rule"]) for finding in findings], metrics


def test_a_right_service_passes_and_the_power_is_told() -> None:
    findings, metrics = _drawn("right")
    assert findings == []
    assert metrics["draw_power"] > 0.9


@pytest.mark.parametrize("rule", [name for name in RULES if name != "right"])
def test_another_rule_is_seen(rule: str) -> None:
    assert _drawn(rule)[0] != []


def test_no_two_draws_have_one_seed() -> None:
    service = _Service("right")
    assert _drawn(service)[0] == []
    assert len(service.seeds) == len(set(service.seeds)) == 400


def test_draws_that_are_none() -> None:
    assert _drawn(_Odd((), "length")) == (["limit"], {})
    assert _drawn(_Odd((999,), "length")) == (["vocabulary"], {})
    assert _drawn(_Odd((), "stop")) == ([], {})  # the end of a text was drawn, perhaps
    assert _drawn(_Odd(None, "length")) == ([], {})
