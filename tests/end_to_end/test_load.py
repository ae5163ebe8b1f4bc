"""A load of a real server: recorded in the history, judged by the policy, and compared with the one before."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from assay.commands.composition import open_services
from assay.commands.load import Loaded, run_load
from assay.core.result import LoadResult
from assay.core.verdict import VerdictStatus
from assay.options.load import LoadOptions
from free_port import free_port
from served_model import TOKENIZER, WEIGHTS


def _config(folder: Path, goal: str, more: str = "") -> Path:
    port = free_port()
    start = f"{sys.executable} -m assay.testing.language_server --weights {WEIGHTS} --tokenizer {TOKENIZER} --port {port} --for 120{more}"
    config = folder / "assay.toml"
    config.write_text(
        f"""
[service.chat]
url = "http://127.0.0.1:{port}/v1"
start = "{start}"
health = "http://127.0.0.1:{port}/health"
metrics = "http://127.0.0.1:{port}/metrics"

[[policy.goal]]
{goal}
"""
    )
    return config


def _load(folder: Path, goal: str, seconds: float = 3.0) -> Loaded:
    options = LoadOptions(
        service="chat",
        config=_config(folder, goal),
        rates=(6,),
        seconds=seconds,
        tokens=(4,),
        history=str(folder / ".assay"),
        reports=(("json", folder / "load.json"),),
        command="assay load --service chat",
    )
    return run_load(options)


def test_a_load_is_kept_and_compared_with_the_one_before(tmp_path: Path) -> None:
    first = _load(tmp_path, 'metric = "load.e2e_p50_ms"\nmax = 20000')
    assert first.word is not VerdictStatus.FAIL, first.reasons
    assert first.checked is not None
    second = _load(tmp_path, 'metric = "load.requests"\nmax-degradation = 2', seconds=1.5)
    assert second.checked is not None
    assert second.checked.run.baseline == first.checked.run.id
    late = any(
        "the sender itself was late" in reason for reason in second.reasons
    )  # on a busy machine nothing is decided
    assert second.word is (VerdictStatus.INCONCLUSIVE if late else VerdictStatus.FAIL)
    assert late or any("load.requests is" in reason and "the baseline run has" in reason for reason in second.reasons)
    with open_services(str(tmp_path / ".assay"), recorded=True) as services:
        (kept,) = services.store.results(first.checked.run.id)
    assert isinstance(kept, LoadResult)
    assert kept.points[0].rate == 6
    assert kept.points[0].metrics["requests"] > 5
    assert len(kept.points[0].resident) > 5
    assert all(size > 10e6 for _, size in kept.points[0].resident)
    figures = kept.points[0].metrics
    assert 10e6 < figures["memory_arena_mean_bytes"] <= figures["memory_arena_peak_bytes"]
    assert figures["memory_arena_peak_bytes"] < figures["memory_peak_bytes"] <= figures["memory_high_water_bytes"]
    assert 1e5 < figures["memory_live_peak_bytes"] < figures["memory_arena_peak_bytes"]
    assert 0.0 < figures["memory_fragmentation_percent"] < 100.0
    assert 0.0 < figures["cache_used_peak_percent"] <= 100.0
    assert figures["batch_peak"] >= figures["batch_mean"] >= 0.0
    assert "load.ttft_mean_ms" in (tmp_path / "load.json").read_text()


def test_a_setting_of_the_batcher_is_varied_and_the_answers_stay_the_same(tmp_path: Path) -> None:
    goal = 'metric = "load.answers_differ"\nmax = 0'
    config = _config(tmp_path, goal, " --batch {batch} --delay {delay}")
    options = LoadOptions(
        service="chat", config=config, rates=(8,), seconds=1.5, tokens=(4,), history=str(tmp_path / ".assay")
    )
    load = run_load(replace(options, vary=("batch=1,4", "delay=0.002")))
    assert [name for name, _ in load.combinations] == ["batch=1 delay=0.002", "batch=4 delay=0.002"]
    assert load.word is not VerdictStatus.FAIL, load.reasons
    for name, combination in load.combinations:
        assert combination.checked is not None
        assert combination.checked.run.jobs[0].flow.name == f"chat {name}"
        assert combination.curve is not None
        assert combination.curve.points[0][1].metrics["answers_differ"] == 0.0
        assert 0.0 < combination.curve.points[0][1].metrics["fairness"] <= 1.0


def test_a_service_that_is_started_again_gives_the_same_and_another_one_is_seen(tmp_path: Path) -> None:
    def started_twice(start: str, folder: Path) -> Loaded:
        folder.mkdir()
        config = _config(folder, 'metric = "load.requests"\nmin = 1')
        text = config.read_text("utf-8")
        command = text.split('start = "')[1].split('"\n')[0]
        config.write_text(text.replace(command, start.format(command=command, folder=folder)), "utf-8")
        return run_load(
            LoadOptions(
                service="chat",
                config=config,
                rates=(4,),
                seconds=1.5,
                tokens=(8,),
                restarts=2,
                history=str(folder / ".assay"),
            )
        )

    right = started_twice("{command}", tmp_path / "right")
    assert [name for name, _ in right.combinations] == ["start 1", "start 2"]
    assert right.word is not VerdictStatus.FAIL, right.reasons
    # The control: from the second start on its weights are others.
    faults = "--fault rotary-scale --fault logit-scale --fault mask-loses-previous"
    script = f"sh -c 'test -e {{folder}}/began && set -- {faults}; touch {{folder}}/began; exec {{command}} $@'"
    faulty = started_twice(script, tmp_path / "faulty")
    curve = faulty.combinations[1][1].curve
    assert curve is not None
    assert curve.points[0][1].metrics["answers_differ"] > 0.5
    late = any(
        "the sender itself was late" in reason for reason in faulty.reasons
    )  # on a busy machine nothing is decided
    assert late or any("start 2" in reason and "answers_differ is" in reason for reason in faulty.reasons), (
        faulty.reasons
    )
