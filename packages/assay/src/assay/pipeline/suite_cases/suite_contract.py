"""A suite is held to what `assay.ports.Suite` promises, where a run would otherwise lose cases in silence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from assay.core.case import Case
from assay.errors import AssayError, BrokenSuite
from assay.ports import Suite


def collect_cases(suite: Suite, seed: int) -> list[Case]:
    """Every case. Raises BrokenSuite where two have one name, one has the name of another suite, or the plug-in fails."""
    with _blamed(suite, "list its cases"):
        cases = list(suite.cases(seed=seed))
    for name, count in Counter(case.name for case in cases).items():
        if not name.startswith(f"{suite.name}/"):
            raise BrokenSuite(
                f"suite '{suite.name}' has a case '{name}': its cases are named '{suite.name}/...'; fix it"
            )
        if count > 1:
            raise BrokenSuite(
                f"suite '{suite.name}' has {count} cases called '{name}': all but one would be lost; fix it"
            )
    return cases


def make_files(suite: Suite, cases: Sequence[Case], workers: int) -> list[tuple[Case, str]]:
    """These cases, each with its files or the reason why it has none. Raises BrokenSuite where one is missing or another came."""
    with _blamed(suite, "make its cases"):
        made = list(suite.make(cases, workers=workers)) if cases else []
    expected, got = Counter(case.name for case in cases), Counter(case.name for case, _ in made)
    for name, count in ((expected - got) | (got - expected)).items():
        text = "did not make" if expected[name] > got[name] else f"made {count} times too often"
        raise BrokenSuite(f"suite '{suite.name}' {text} its case '{name}': it must answer for each once; fix it")
    return made


@contextmanager
def _blamed(suite: Suite, what: str) -> Iterator[None]:
    try:
        yield
    except AssayError:
        raise
    except Exception as error:  # whatever a plug-in raises
        text = " ".join(f"{type(error).__name__}: {error}".split())
        raise BrokenSuite(f"suite '{suite.name}' cannot {what} ({text}); fix it") from error
