"""An engine that costs more in one way is found in the metric of that way, and in no other: the extra is really spent."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assay.commands.baseline import set_baselines
from assay.commands.check import run_check
from assay.core.verdict import VerdictStatus
from assay.options.check import CheckOptions
from small_models import linear_model

# On a machine at other work a comparison is rightly undecided, which would prove nothing here.
pytestmark = pytest.mark.slow
WORK = {"work_s": 0.008}
"""Of every engine here, so that what waiting itself costs in CPU time is little beside it."""


@pytest.fixture(scope="module")
def options(tmp_path_factory: pytest.TempPathFactory) -> CheckOptions:
    folder = tmp_path_factory.mktemp("own")
    check_options = CheckOptions(
        models=(linear_model(folder / "m.onnx"),),
        flows=("faulty",),
        options={**WORK, "load_s": 0.25, "ballast_bytes": 40000000},
        only_kind="measure",
        baseline=True,
        history=str(folder / "h"),
        measure_seconds=0.05,
    )
    set_baselines(check_options, "release 1")
    return check_options


def _failed(options: CheckOptions) -> list[str]:
    verdicts = run_check(options).judgement.verdicts
    assert not [verdict.reason for verdict in verdicts if verdict.word is VerdictStatus.INCONCLUSIVE]
    return [verdict.metric for verdict in verdicts if verdict.word is VerdictStatus.FAIL]


@pytest.mark.parametrize(
    ("burden", "figures"),
    [
        ({}, []),
        ({"work_s": 0.0084}, ["speed.slowdown_percent"]),
        ({"wait_s": 0.008}, ["speed.wall_slowdown_percent"]),
        ({"load_s": 0.5}, ["speed.load_slowdown_percent"]),
        ({"ballast_bytes": 48000000}, ["memory.load_added_bytes"]),
        ({"drip_bytes": 65536}, ["memory.growth_low_bytes"]),
    ],
    ids=["none", "work", "lost parallelism", "load time doubled", "memory + 20 %", "leak"],
)
def test_each_in_its_own_figure(options: CheckOptions, burden: dict[str, float], figures: list[str]) -> None:
    assert _failed(replace(options, options={**options.options, **burden})) == figures


def test_slower_at_one_batch_size_only(options: CheckOptions) -> None:
    sweep = replace(options, options={**options.options, "work_batch": 8}, measure_batches=(1, 8), measure_seconds=0.02)
    assert _failed(sweep) == ["speed.batch8.slowdown_percent"]
