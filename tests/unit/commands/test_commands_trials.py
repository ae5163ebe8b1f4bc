"""A flow is ok where it was tried: the trial counts for its versions and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.commands.flow_table import FlowLine, Group, tried
from assay.commands.trials import Trial, Trials, trial_key, trial_of, try_flows
from assay.core.flow import Flow
from assay.core.outcome import Outcome, Stage
from assay.core.result import Result, VerifyResult
from assay.pipeline.progress import SILENT
from assay.plugins import find_flow
from assay.ports import Availability

pytestmark = pytest.mark.usefixtures("warm_workers")

HERE = Availability(available=True, version="1.2")


def test_a_trial_is_kept_by_the_versions_and_a_broken_file_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "trials.json"
    flow = Flow("mine", "reference")
    key = trial_key(flow, HERE)
    Trials(path).keep({key: Trial("crash", "it died")})
    assert Trials(path).find(key) == Trial("crash", "it died")
    assert Trials(path).find(trial_key(flow, Availability(available=True, version="1.3"))) is None
    path.write_text("{")
    assert Trials(path).find(key) is None


@pytest.mark.heavy
def test_only_what_is_there_and_not_yet_known_is_tried_and_it_is_kept(tmp_path: Path) -> None:
    trials = Trials(tmp_path / "trials.json")
    flow = find_flow("reference")
    gone = FlowLine(Flow("gone", "reference"), Availability(available=False))
    known = FlowLine(Flow("known", "reference"), HERE, Trial("ok"))
    groups = tried([Group("reference", (FlowLine(flow, HERE), gone, known))], tmp_path, trials, SILENT)
    assert [line.mark.strip() for line in groups[0].lines] == ["ok", "-", "ok"]
    assert trials.find(trial_key(flow, HERE)) == Trial("ok")
    again = tried([Group("reference", (known, gone))], tmp_path, trials, SILENT)
    assert again[0].lines == (known, gone)


def _ended(outcome: Outcome, detail: str = "") -> Result:
    return VerifyResult("tiny|mine|verify", "tiny", "mine", "0", outcome, Stage.RUN, detail=detail)


def test_a_flow_that_passes_at_fixed_sizes_only_is_ok_and_says_what_a_free_batch_does() -> None:
    free = _ended(Outcome.OTHER_PRECISION, "a  text\nof lines")
    assert trial_of(free, _ended(Outcome.OK)) == Trial("ok", "other precision: a text of lines", fixed=True)
    assert trial_of(free, _ended(Outcome.ERROR)) == Trial("other_precision", "a text of lines")
    assert trial_of(_ended(Outcome.ERROR, "word " * 1000)).detail.endswith("word ...")


@pytest.mark.heavy
def test_a_quantizing_flow_is_tried_on_layers_that_it_quantizes(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    names = ("onnxruntime-int8-qdq-per-tensor", "onnxruntime-int8-qdq-per-channel", "onnxruntime-int8-dynamic")
    trials = try_flows([find_flow(name) for name in names], tmp_path)
    assert {name: trial.passed for name, trial in trials.items()} == dict.fromkeys(names, True)


@pytest.mark.slow
def test_the_trial_of_a_flow_that_fails_with_a_free_batch_is_repeated_with_fixed_sizes(tmp_path: Path) -> None:
    """The virtual machine of iree 3.13 asks for all memory for a convolution with a relu over a dynamic batch."""
    pytest.importorskip("iree.compiler")
    trials = try_flows([find_flow("iree-vmvx"), find_flow("reference")], tmp_path)
    assert trials["iree-vmvx"].fixed
    assert trials["iree-vmvx"].detail.startswith("error: a dispatch asked for more memory")
    assert trials["reference"] == Trial("ok")
