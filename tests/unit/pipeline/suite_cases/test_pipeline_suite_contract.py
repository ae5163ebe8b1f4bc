"""A suite that loses cases, names them twice or falls over is told by its name, and nothing runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from assay.core.case import Case
from assay.core.model import Model
from assay.errors import BrokenSuite, UsageError
from assay.pipeline.suite_cases.suite_contract import collect_cases, make_files


class Own:
    """Cases by name; `make` answers for those of `answered`."""

    name, about = "own", "cases as told"

    def __init__(self, names: Sequence[str], answered: Sequence[str] = ()) -> None:
        self._cases = [Case(name, Model(name, "m.onnx", "")) for name in names]
        self._answered = answered

    def cases(self, *, seed: int) -> Iterator[Case]:
        yield from self._cases
        if seed:
            raise KeyError("no table")

    def make(self, cases: Sequence[Case], *, workers: int) -> Iterator[tuple[Case, str]]:
        if not workers:
            raise UsageError("torch is missing")
        for name in self._answered:
            yield next(case for case in self._cases if case.name == name), ""


def test_a_suite_that_keeps_its_promises_is_taken_as_it_is() -> None:
    suite = Own(["own/a", "own/b"], ["own/b", "own/a"])
    cases = collect_cases(suite, 0)
    assert [case.name for case in cases] == ["own/a", "own/b"]
    assert [case.name for case, _ in make_files(suite, cases, 1)] == ["own/b", "own/a"]
    assert make_files(suite, [], 0) == []


@pytest.mark.parametrize(
    ("names", "seed", "message"),
    [
        (["own/a", "own/a"], 0, "suite 'own' has 2 cases called 'own/a'"),
        (["other/a"], 0, "suite 'own' has a case 'other/a': its cases are named 'own/...'"),
        (["own/a"], 1, "suite 'own' cannot list its cases (KeyError: 'no table')"),
    ],
)
def test_what_would_lose_cases_is_told(names: list[str], seed: int, message: str) -> None:
    with pytest.raises(BrokenSuite) as caught:
        collect_cases(Own(names), seed)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("answered", "message"),
    [
        (["own/a"], "did not make its case 'own/b'"),
        (["own/a", "own/b", "own/b"], "made 1 times too often its case 'own/b'"),
    ],
)
def test_each_case_is_answered_for_once(answered: list[str], message: str) -> None:
    suite = Own(["own/a", "own/b"], answered)
    with pytest.raises(BrokenSuite) as caught:
        make_files(suite, collect_cases(suite, 0), 1)
    assert message in str(caught.value)


def test_an_error_of_ours_is_told_as_it_is() -> None:
    suite = Own(["own/a"])
    with pytest.raises(UsageError, match="torch is missing"):
        make_files(suite, collect_cases(suite, 0), 0)
