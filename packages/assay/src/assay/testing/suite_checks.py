"""What every suite must do: call it in the tests of a plug-in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.core.case import Case
from assay.core.outcome import Outcome
from assay.models.goldens import read_golden
from assay.models.sources import open_source
from assay.ports import HasVariants, Suite, count_name, missing_outcome


def check_suite(suite: Suite, *, at_least: int = 1, made: int = 3, seed: int = 5) -> None:
    """Raises AssertionError with a sentence that says which promise of `assay.ports.Suite` was broken.

    The promises: at least `at_least` cases, each named once, as `suite/case`; the same for the same seed; the first
    `made` of them can be made, and what is made is there: a model of the digest told, and a golden for it or a seed.
    """
    cases = list(suite.cases(seed=seed))
    assert len(cases) >= at_least, f"The suite has {len(cases)} cases where at least {at_least} are promised."
    assert cases == list(suite.cases(seed=seed)), "The suite gives other cases when it is asked again."
    names = [case.name for case in cases]
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    assert not twice, f"Two cases are called {twice[:1]}."
    for name in names:
        assert name.startswith(f"{suite.name}/"), f"Case {name!r} is not named '{suite.name}/...'."
        assert "|" not in name, f"Case {name!r} holds '|', which separates case, flow and kind."
    assert suite.about.strip(), "The suite does not say what is in it (`about`)."
    _check_abilities(suite)
    made_cases = list(suite.make(cases[:made], workers=1))
    got = [case.name for case, _ in made_cases]
    assert got == names[:made], f"make() was asked for {names[:made]} and gave {got}."
    for case, reason in made_cases:
        _check_made(case, reason)


def _check_abilities(suite: Suite) -> None:
    outcome = missing_outcome(suite)
    assert isinstance(outcome, Outcome), f"A case without files ends {outcome!r} (`unmade`), which is no outcome."
    assert count_name(suite), "The list that its cases are counted with has no name (`counted_as`)."
    kind: Any = type(suite)
    for variant in suite.variants if isinstance(suite, HasVariants) else ():
        other: Suite = kind(variant)
        assert other.name == suite.name, f"Its variant {variant!r} is another suite, {other.name!r}."
        assert count_name(other) != count_name(kind()), f"Its variant {variant!r} is counted with another list."


def _check_made(case: Case, reason: str) -> None:
    if reason:
        assert len(reason.split()) > 1, f"Case {case.name!r} has no files, and the reason {reason!r} explains nothing."
        return
    path = Path(case.model.source)
    assert path.is_file(), f"Case {case.name!r} was made, but {path} is not there."
    assert open_source(path).digest == case.model.digest, (
        f"The model of case {case.name!r} has another digest than stated."
    )
    if case.inputs.golden:
        folder = Path(case.inputs.golden)
        golden = read_golden(folder, model_digest=case.model.digest)
        assert golden.outputs, f"The golden of case {case.name!r} has no outputs."
