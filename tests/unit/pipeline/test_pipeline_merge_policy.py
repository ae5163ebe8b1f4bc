"""By what merged shards are judged: what the endless cases of one bring is no change of files."""

from __future__ import annotations

import zlib
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from assay.commands.composition import open_services
from assay.core.error_case import ErrorCase
from assay.core.job import VerifyJob
from assay.core.policy import Expectation, Policy
from assay.core.run import Run
from assay.errors import UsageError
from assay.pipeline.merge import merge, save_run
from assay.pipeline.open_run import Checked, judge_run
from assay.pipeline.suite_cases.expected_timeouts import with_expected_timeouts
from assay.testing.builders import make_job, make_run

KNOWN = Expectation("s/plain", "onnxruntime", "mismatch", "known")


def shard(number: int, *expectations: Expectation, endless: bool = False) -> Run:
    job = make_job(f"s/{'endless' if endless else 'plain'}-{number}")
    assert isinstance(job, VerifyJob)
    if endless:
        job = replace(job, case=replace(job.case, misuse=ErrorCase("model", "timeout")))
    policy = with_expected_timeouts(Policy(expectations=expectations), [job.case], [job.flow])
    return make_run(
        jobs=(job,), policy=policy, command=f"assay run s --flow onnxruntime --shard {number}/2", status="complete"
    )


def saved(folder: Path, *runs: Run) -> list[Path]:
    paths = [folder / f"{place}.assay" for place in range(len(runs))]
    with open_services(str(folder / "made")) as services:
        for path, run in zip(paths, runs, strict=True):
            save_run(path, Checked(run, (), judge_run(run, (), services)))
    return paths


@pytest.mark.parametrize("first", [1, 2])
def test_what_an_endless_case_brings_judges_the_whole(first: int, tmp_path: Path) -> None:
    runs = [shard(1, KNOWN, endless=first == 1), shard(2, KNOWN, endless=first == 2)]
    with open_services(str(tmp_path / "history")) as services:
        whole = merge(saved(tmp_path, *runs), services).run
    assert {expectation.case for expectation in whole.policy.expectations} == {"s/plain", f"s/endless-{first}"}


@pytest.mark.parametrize("order", [1, -1])
def test_files_that_changed_are_named_once_each_in_any_order(order: int, tmp_path: Path) -> None:
    paths = saved(tmp_path, shard(1, KNOWN), shard(2))
    with open_services(str(tmp_path / "history")) as services, pytest.raises(UsageError) as caught:
        merge(paths[::order], services)
    assert str(caught.value).startswith(f"{paths[1]} and {paths[0]} are judged by different files")


@pytest.mark.parametrize("order", [1, -1])
def test_shards_that_shared_out_the_cases_otherwise_are_named_and_nothing_is_recorded(
    order: int, tmp_path: Path
) -> None:
    runs = [replace(shard(number), command=f"assay run s --shard {number}/3", split="a" * 16) for number in (1, 2, 3)]
    paths = saved(tmp_path, runs[0], replace(runs[1], split=""), runs[2])
    before = [path.read_bytes() for path in paths]
    with open_services(str(tmp_path / "history")) as services, pytest.raises(UsageError) as caught:
        merge(paths[::order], services)
    assert str(caught.value) == (
        f"{paths[1]} and {paths[0]} did not share out the cases alike: they saw other --durations, or other cases; "
        f"run {paths[1]} again with what {paths[0]} had (nothing was merged, and every file is as it was)"
    )
    assert [path.read_bytes() for path in paths] == before
    with open_services(str(tmp_path / "history")) as services:
        assert services.store.runs() == []
        assert merge(saved(tmp_path, *runs), services).run.missing == ()


def test_what_another_version_saved_is_refused_in_one_sentence(tmp_path: Path) -> None:
    (path,) = saved(tmp_path, shard(1))
    mark, body = path.read_bytes().split(b"\n", 1)
    whole = msgspec.msgpack.decode(zlib.decompress(body))
    whole["run"]["jobs"][0]["case"]["model"]["contradictions"] = [{"area": "graph", "code": "declared", "about": "y"}]
    path.write_bytes(mark + b"\n" + zlib.compress(msgspec.msgpack.encode(whole)))
    with open_services(str(tmp_path / "history")) as services, pytest.raises(UsageError) as caught:
        merge([path], services)
    assert str(caught.value).startswith(f"{path} was saved by another version of assay (Expected `object`, got `str`")
    assert str(caught.value).endswith("run that shard again")


def test_a_shard_in_the_form_of_another_version_is_named(tmp_path: Path) -> None:
    (path,) = saved(tmp_path, shard(1))
    path.write_bytes(path.read_bytes().replace(b"assay run 1\n", b"assay run 2\n", 1))
    with open_services(str(tmp_path / "history")) as services, pytest.raises(UsageError) as caught:
        merge([path], services)
    assert str(caught.value) == (
        f"{path} was saved by another version of assay (in a form that this one does not read); run that shard again"
    )
