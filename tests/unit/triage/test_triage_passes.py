"""What brought it: values of options, switches that are tried besides, and limits on the processor's instructions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from assay.core.empty_result import empty_result
from assay.core.flow import Flow
from assay.core.job import RegionJob, other_kind
from assay.core.outcome import Cause as WhyFailed
from assay.core.outcome import Outcome
from assay.core.region import RegionError
from assay.core.result import RegionResult
from assay.ports import Backend, OptionSpec
from assay.testing.builders import make_job
from assay.triage import triage_text as text
from assay.triage.cause import Cause, Doubt, Where
from assay.triage.passes import Brought, Cure, _culprits_first, find_cures
from assay.triage.prober import OutOfTime
from assay.triage.script import _defined
from assay.triage.symptom import Symptom

SWITCHES = OptionSpec("flags", "", tried=("fuse=no", "fold=no"))
ISA = OptionSpec("env.MAX_ISA", "", tried=("avx2", "sse"), of_processor=True)


class Compiler:
    """Has options alone."""

    options: tuple[OptionSpec, ...] = (SWITCHES, OptionSpec("fast", True), ISA)


class Partitioning(Compiler):
    """Whose passes are switched one by one, at one level below those that flows name."""

    options = (OptionSpec("delegate", "none", ("none", "fast", "faster")), OptionSpec("without", ""))
    levels = ({"delegate": "none"},)

    def passes_run(self, model: Path, flow: Flow) -> tuple[str, ...]:
        return ("take(relu)", "take(gelu)")

    def after_passes(self, model: Path, flow: Flow, folder: Path) -> Path:
        raise NotImplementedError

    def without_passes(self, flow: Flow, names: Sequence[str]) -> Flow:
        return replace(flow, options={**flow.options, "without": ";".join(names)})


def test_a_flow_above_all_levels_is_the_highest_one() -> None:
    attribution = brought({"delegate": "none"}, {"without": "take(gelu)"}, backend=Partitioning(), delegate="faster")
    assert [(cure.kind, cure.names) for cure in attribution.cures] == [("pass", ("take(gelu)",)), ("level", ("none",))]
    assert attribution.flow.options == {"delegate": "faster"}


def test_a_pass_of_the_lowest_level_is_no_kernel() -> None:
    attribution = brought({"without": "take(gelu)"}, backend=Partitioning(), delegate="none")
    assert ([cure.names for cure in attribution.cures], attribution.kernel) == ([("take(gelu)",)], False)
    assert brought(backend=Partitioning(), delegate="none").kernel


def test_a_level_that_cannot_be_asked_is_no_cure() -> None:
    refused = {"delegate": "none", "without": "take(relu)"}
    attribution = brought(backend=Partitioning(), refused=refused, delegate="fast", without="take(relu)")
    assert (attribution.cures, attribution.kernel) == ((), False)
    assert attribution.flow.options == {"delegate": "fast", "without": "take(relu)"}


def test_a_pass_is_a_cure_also_where_no_level_can_be_asked() -> None:
    right = {"without": "take(gelu)"}
    attribution = brought(right, backend=Partitioning(), refused={"delegate": "none"}, delegate="fast")
    assert [(cure.kind, cure.names) for cure in attribution.cures] == [("pass", ("take(gelu)",))]


@pytest.mark.parametrize(
    ("answers", "names", "tried"),
    [
        (0, [], 0),
        (1, [("none",)], 0),  # the level below is right
        (2, [("none",)], 0),  # the passes are not listed
        (4, [("none",)], 1),
        (5, [("take(gelu)",), ("none",)], 2),
        (6, [("take(gelu)",), ("none",)], 2),
    ],
)
def test_what_passes_and_levels_cured_by_the_time_that_is_over_stays(
    answers: int, names: list[tuple[str, ...]], tried: int
) -> None:
    right = ({"delegate": "none"}, {"without": "take(gelu)"})
    attribution = brought(*right, backend=Partitioning(), delegate="faster", answers=answers)
    assert ([cure.names for cure in attribution.cures], attribution.tried) == (names, tried)
    assert attribution.unfinished is (answers < 6)
    assert attribution.flow.options == {"delegate": "faster"}


def test_passes_that_cure_together_stay_though_fewer_were_not_tried() -> None:
    right = ({"delegate": "none"}, {"without": "take(relu);take(gelu)"})
    attribution = brought(*right, backend=Partitioning(), delegate="faster", answers=6)
    assert ([cure.names for cure in attribution.cures], attribution.unfinished) == (
        [("take(relu)", "take(gelu)"), ("none",)],
        True,
    )


def test_an_option_counts_as_tried_once_it_was_answered() -> None:
    assert brought(answers=1).tried == 1
    assert (brought(answers=0).tried, brought(answers=0).unfinished) == (0, True)


def test_of_options_that_there_was_no_time_for_nothing_is_said() -> None:
    end = Symptom("values", "y", 0.5)
    cause = Cause("j", "m", "f", "compiler", {}, Where.NODE, end, end, nodes=("n",), tried=2)
    assert text.brought(cause) == "no option of the backend matters (2 were tried)"
    cut = replace(cause, doubts=(Doubt.OUT_OF_TIME,))
    assert text.brought(cut) == "of 2 options of the backend that there was time for, none matters"
    assert text.brought(replace(cut, tried=0)) == "not known: the time was over"


def brought(
    *right: dict[str, Any],
    backend: Compiler | None = None,
    refused: dict[str, Any] | None = None,
    answers: int = 99,
    **said: Any,
) -> Brought:
    """Of a backend that is right under any of these options, and cannot be asked under those that are `refused`. There is time for so many
    `answers`."""
    made = backend or Compiler()
    left = iter(range(answers))

    async def ask(flow: Flow, *, listed: bool = False, after: Flow | None = None) -> RegionResult:
        if next(left, None) is None:
            raise OutOfTime("the time is over")
        seen = empty_result(other_kind(make_job(), RegionJob, values_dir="", windows=()))
        if listed and isinstance(made, Partitioning):
            return replace(seen, passes=made.passes_run(Path(), flow))
        if refused is not None and refused.items() <= flow.options.items():
            return replace(seen, outcome=Outcome.ERROR, cause=WhyFailed.WRONG_USAGE)
        is_right = any(options.items() <= flow.options.items() for options in right)
        return replace(seen, errors=() if is_right else (RegionError(0, "y", "values", 9.0, 0.5),))

    flow = Flow("f", "compiler", said)
    return asyncio.run(find_cures(cast("Backend", made), flow, ask, lambda result: bool(result.errors)))


def test_a_switch_is_named_beside_those_that_the_flow_has_set() -> None:
    (cure,) = brought({"flags": "fuse=no;fold=no"}, flags="fuse=no").cures
    assert (cure.kind, cure.names, cure.options) == ("option", ("flags=fold=no",), {"flags": "fuse=no;fold=no"})


def test_a_switch_takes_the_place_of_one_of_its_name() -> None:
    (cure,) = brought({"flags": "level=3;fuse=no"}, flags="level=3;fuse=yes").cures
    assert cure.names == ("flags=fuse=no",)


def test_a_switch_that_the_flow_has_set_itself_may_be_what_is_wrong() -> None:
    (cure,) = brought({"flags": "level=3"}, flags="level=3;fast=yes").cures
    assert (cure.names, cure.options) == (("flags without fast=yes",), {"flags": "level=3"})


def test_the_widest_instructions_that_are_right_are_the_hardware_s_answer() -> None:
    (cure,) = brought({"env.MAX_ISA": "avx2"}, {"env.MAX_ISA": "sse"}).cures
    assert (cure.kind, cure.names) == ("hardware", ("env.MAX_ISA=avx2",))


def test_what_no_option_changes_has_no_cure() -> None:
    attribution = brought()
    assert (attribution.cures, attribution.tried) == ((), 4), "the narrowest instructions alone"


def test_the_script_sets_the_variables_before_it_imports_the_library() -> None:
    class Plain:
        def plain_code(self, flow: Flow) -> str:
            return "def run(model, inputs):\n    import library\n"

    code = _defined(cast("Any", Plain()), Flow("f", "b", {"env.MAX_ISA": "avx2"}), "cured", saved=False)
    assert code.splitlines() == [
        "def cured(model, inputs):",
        "    import os",
        "    os.environ['MAX_ISA'] = 'avx2'",
        "    import library",
    ]


def test_of_passes_without_which_it_does_not_die_the_last_is_named() -> None:
    prepares, rewrites = (Cure("pass", (name,), {}, culprit=False) for name in ("prepares", "rewrites"))
    culprit = Cure("pass", ("culprit",), {}, culprit=True)
    assert _culprits_first([prepares, rewrites], died=True) == [rewrites, prepares]
    assert _culprits_first([prepares, rewrites], died=False) == [prepares, rewrites]
    assert _culprits_first([prepares, culprit], died=False)[0] is culprit
