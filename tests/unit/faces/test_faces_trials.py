"""A flow is ok where it was tried: the trial counts for its versions and no others."""

from __future__ import annotations

from pathlib import Path

from assay.core.flow import Flow
from assay.faces.flow_table import FlowLine, Group, tried
from assay.faces.trials import Trial, Trials, trial_key
from assay.pipeline.progress import SILENT
from assay.plugins import find_flow
from assay.ports import Availability

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
