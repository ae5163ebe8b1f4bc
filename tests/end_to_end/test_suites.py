"""`assay run` on a folder of models, from the command line to the verdict: guards, shards, expectations, repro lines."""

from __future__ import annotations

import contextlib
import csv
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from assay.pipeline.merge import saved_run
from assay.suites.folder import Folder
from assay.testing.suite_checks import check_suite
from command_line import run_assay


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def _model(folder: Path, name: str, factor: float, wrong: float = 0.0, dtype: type = np.float32) -> None:
    """y = x * factor, with a data set whose output is off by `wrong`."""
    own = folder / name
    data = own / "test_data_set_0"
    data.mkdir(parents=True)
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    graph = helper.make_graph(
        [helper.make_node("Mul", ["x", "w"], ["y"])],
        name,
        [helper.make_tensor_value_info("x", kind, [2, 3])],
        [helper.make_tensor_value_info("y", kind, [2, 3])],
        [numpy_helper.from_array(np.array(factor, dtype), "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, str(own / "model.onnx"))
    x = np.arange(1, 7, dtype=dtype).reshape(2, 3)
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    (data / "output_0.pb").write_bytes(
        numpy_helper.from_array((x * factor + wrong).astype(dtype), "y").SerializeToString()
    )


@pytest.fixture
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for place in range(4):
        _model(tmp_path / "zoo", f"right{place}", 2.0 + place)
    _model(tmp_path / "zoo", "half", 3.0, dtype=np.float16)
    return tmp_path / "zoo"


def assay(*arguments: str, code: int) -> str:
    done = run_assay(*arguments)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_a_folder_keeps_the_promises_of_a_suite_and_sees_what_changes(zoo: Path) -> None:
    check_suite(Folder(zoo), at_least=5)
    before = {case.name: case.model.digest for case in Folder(zoo).cases(seed=0)}
    _model(zoo, "more", 9.0)
    assert set(before) < {case.name for case in Folder(zoo).cases(seed=0)}


def test_a_failure_that_is_known_of_the_flow_says_where_the_known_ones_are(zoo: Path) -> None:
    line = "note: 1 of the 1 that failed is known of these flows; --expectations shipped takes the known outcomes that come with Assay"
    _model(zoo.with_name("onnx-node"), "test_maxunpool_export_with_output_shape", 2.0, wrong=0.5)
    assert line in assay("run", "./onnx-node", "--flow", "onnxruntime", code=1)
    Path("expectations").mkdir()
    Path("expectations/onnxruntime.toml").write_text("")
    assert "--expectations shipped" not in assay("run", "./onnx-node", "--flow", "onnxruntime", code=1)


def test_right_passes_wrong_fails_and_the_repro_line_repeats_it(zoo: Path) -> None:
    _model(zoo, "wrong", 2.0, wrong=0.5)
    output = assay("run", "./zoo", "--flow", "onnxruntime", "--report", "csv=out.csv", code=1)
    rows = {row["case"]: row for row in csv.DictReader(Path("out.csv").read_text().splitlines())}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        **{f"zoo/right{place}": "pass" for place in range(4)}, "zoo/half": "pass", "zoo/wrong": "fail"
    }  # fmt: skip
    (line,) = [text.strip() for text in output.splitlines() if text.strip().startswith("assay run")]
    again = assay(*shlex.split(line)[1:], code=1)
    assert "1 of 1 jobs recorded" in again


def test_broken_data_is_told_and_no_data_is_held_against_the_oracle(zoo: Path) -> None:
    (zoo / "right0" / "test_data_set_0" / "output_0.pb").unlink()
    for path in (zoo / "right1" / "test_data_set_0").iterdir():
        path.unlink()
    (zoo / "right1" / "test_data_set_0").rmdir()
    output = assay("run", "./zoo", "--flow", "onnxruntime", "--filter", "right[01]", code=2)
    assert "has 0 outputs, the model 1; complete the data set\n" in output
    assert "error in start: the case cannot be made" in output
    assert "1 fail, 1 pass" in output


def test_nothing_selected_fewer_cases_and_a_flow_that_vanished_are_never_silent(zoo: Path) -> None:
    run = ("run", "./zoo", "--flow", "onnxruntime")
    assert "matches none of 5 cases" in assay(*run, "--filter", "nothing*", code=5)
    assert "no case has --dtype int8" in assay(*run, "--dtype", "int8", code=5)
    assert "1 of 1 jobs recorded" in assay(*run, "--dtype", "float16", code=0)
    (zoo / "right3" / "model.onnx").unlink()
    assert "collects 4 cases, 5 are recorded" in assay(*run, code=1)
    assay(*run, "--accept-counts", "--filter", "right0", code=0)
    assert json.loads(Path(".assay/suite-counts.json").read_text()) == {str(zoo): 4}
    assert "there is no flow" in assay("run", "./zoo", "--flow", "nothing", code=2)


@pytest.mark.slow
def test_a_program_in_a_folder_is_a_case_beside_its_onnx_file(zoo: Path) -> None:
    code = (
        "import torch\n"
        "program = torch.export.export(torch.nn.Sigmoid(), (torch.ones(2, 3),))\n"
        "torch.export.save(program, 'zoo/alone.pt2')\n"
        "torch.export.save(program, 'zoo/right0/model.pt2')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    output = assay("run", "./zoo", "--flow", "torch-eager", "--filter", "alone", "--filter", "right0/*", code=0)
    assert "3 of 3 jobs recorded" in output
    names = {case.name for case in Folder(zoo).cases(seed=0) if "alone" in case.name or "right0" in case.name}
    assert names == {"zoo/right0/model", "zoo/right0/model.pt2", "zoo/alone"}
    (zoo / "alone.pt2").write_bytes(b"nothing")
    assert "error" in assay("run", "./zoo", "--flow", "torch-eager", "--filter", "alone", code=1)


def test_another_folder_of_the_same_name_is_another_suite(zoo: Path) -> None:
    assay("run", "./zoo", "--flow", "onnxruntime", "--filter", "right0", code=0)
    _model(zoo.parent / "other" / "zoo", "right0", 2.0)
    output = assay("run", "./other/zoo", "--flow", "onnxruntime", code=0)
    assert "1 of 1 jobs recorded" in output


def _expectations_change_after_a_shard(whole: list[str], files: list[str]) -> None:
    """Shards are judged by the files of one moment: those that they were run by, or today's."""
    known = '[[expect]]\noutcome = "mismatch"\nreason = "known"\ncases = ["zoo/right0*"]\n'
    Path("expectations").mkdir()
    Path("expectations/onnxruntime.toml").write_text(known)
    assert "5 of 5 jobs passed" in assay("merge", *files, code=0), "by the files as they were"
    output = assay("merge", *files, "--expectations", "expectations", code=1)
    assert "unexpected pass" in output
    run_assay(*whole, "--shard", "2/2", "--save", files[1], "--history", "h5")
    output = assay("merge", *files, code=2)
    assert f"{files[1]} and {files[0]} are judged by different files" in output
    assert f"{files[1]} and {files[0]} are judged by different files" in assay("merge", *reversed(files), code=2)
    assert "there is no folder misspelt" in assay("merge", *files, "--expectations", "misspelt", code=2)
    assert "unexpected pass" in assay("merge", *files, "--expectations", "expectations", code=1)
    Path("expectations/onnxruntime.toml").write_text(known.replace("known", ""))
    assert "expectations/onnxruntime.toml" in assay("merge", *files, "--expectations", "expectations", code=2)


@pytest.mark.slow
def test_shards_of_which_one_has_a_case_that_never_ends_are_judged_by_one_policy(tmp_path: Path) -> None:
    """That it must be stopped is what such a case brings to the policy of its shard."""
    chosen = [
        word
        for pattern in ("Loop-endless", "ConstantOfShape-", "Tile-", "Div-by")
        for word in ("--filter", f"*{pattern}*")
    ]
    asked = ["run", "edge", "--flow", "onnxruntime", *chosen]
    files = [f"s{at}.assay" for at in (1, 2)]
    with contextlib.chdir(tmp_path):
        for at, file in enumerate(files, 1):
            run_assay(*asked, "--shard", f"{at}/2", "--save", file)
        Path("expectations").mkdir()
        for output in (
            assay("merge", *files, code=0),
            assay("merge", *files, "--expectations", "expectations", code=0),
        ):
            assert "1 xfail" in output


def test_shards_merge_into_the_whole_run_and_without_all_it_is_no_pass(zoo: Path) -> None:
    whole = ["run", "./zoo", "--flow", "onnxruntime"]
    files = []
    for number in (1, 2):
        files.append(f"shard-{number}.assay")
        assay(*whole, "--shard", f"{number}/2", "--save", files[-1], "--history", f"h{number}", code=0)
    part = assay("merge", files[0], code=4)
    assert "error: shard 2/2 is missing: what is there was judged; run the rest, and merge all files again" in part
    assert "ERROR  4 of 4 jobs passed, and shard 2/2 is missing" in part
    assert "shard 2/2 is missing" in assay("rejudge", "last", code=4)
    assay(*whole, "--shard", "3/4", "--save", "quarter.assay", "--history", "h4", code=0)
    assert "shards 1/4, 2/4, 4/4 are missing" in assay("merge", "quarter.assay", code=4)
    assert "name each shard once" in assay("merge", files[0], files[0], code=2)
    assert "5 pass; 5 of 5 jobs recorded" in assay("merge", *files, code=0)
    Path("durations.json").write_text("{}")
    for number in range(1, 7):  # five cases: the sixth share has none
        shared = ("--durations", "durations.json", "--save", f"share-{number}.assay", "--history", f"s{number}")
        code = 5 if number == 6 else 0
        said = assay(*whole, "--shard", f"{number}/6", *shared, "--unrecorded", code=code)
        assert f"results are in share-{number}.assay alone: `assay merge` judges" in said
        assert not Path(f"s{number}/history.db").exists()
    assert "5 pass; 5 of 5 jobs recorded" in assay(
        "merge", *(f"share-{number}.assay" for number in range(1, 7)), code=0
    )
    assert "say in which with --save FILE" in assay(*whole, "--unrecorded", code=2)
    assert "say which with --shard I/N" in assay(*whole, "--durations", "durations.json", code=2)
    nowhere = assay(*whole, "--unrecorded", "--save", "nowhere/x.assay", "--history", "unopened", code=2)
    assert "nowhere/x.assay cannot be written" in nowhere
    assert not Path("unopened").exists()  # before anything ran: it would be lost
    earlier = ("--save", "x.assay", "--compare-run", "last")
    assert "with --unrecorded no history is read" in assay(*whole, "--unrecorded", *earlier, code=2)
    _expectations_change_after_a_shard(whole, files)
    Path("other.assay").write_bytes(b"something else")
    assert "is no saved run" in assay("merge", files[0], "other.assay", code=2)


def test_shards_by_durations_agree_on_other_machines_and_one_that_saw_others_is_named(zoo: Path) -> None:
    """Each shard has a history of its own, as on a machine of its own: the file of the last run is all that they share."""
    whole = ["run", "./zoo", "--flow", "onnxruntime"]
    files = [f"shard-{number}.assay" for number in (1, 2)]

    def run_shard(number: int, *durations: str) -> None:
        own = ("--save", files[number - 1], "--history", f"machine-{number}")
        assay(*whole, "--shard", f"{number}/2", *own, *durations, code=0)

    for number in (1, 2):
        run_shard(number)
    assay("merge", *files, "--durations", "last.json", code=0)
    taken = json.loads(Path("last.json").read_text())
    assert taken.keys() == {f"zoo/{path.name}" for path in zoo.iterdir()}
    Path("last.json").write_text(json.dumps({**taken, "zoo/half": 1000.0}))
    for number in (1, 2):
        run_shard(number, "--durations", "last.json")
    cases = [{result.case for result in saved_run(Path(file))[1]} for file in files]
    assert cases == [{"zoo/half"}, taken.keys() - {"zoo/half"}], "the case that takes long is alone"
    assert "5 pass; 5 of 5 jobs recorded" in assay("merge", *files, code=0)
    Path("other.json").write_text(json.dumps({**taken, "zoo/right0": 1000.0}))
    run_shard(2, "--durations", "other.json")
    refused = assay("merge", *files, "--history", "refused", code=2)
    assert "shard-2.assay and shard-1.assay did not share out the cases alike: they saw other --durations" in refused
    run_shard(2, "--durations", "last")  # its history has shards alone, none of which is a last run
    assert "did not share out the cases alike" in assay("merge", *files, code=2)
    run_shard(2, "--durations", "last.json")
    assert "5 pass; 5 of 5 jobs recorded" in assay("merge", *files, code=0)
    assert "last.json/x.json cannot be written" in assay("merge", *files, "--durations", "last.json/x.json", code=2)
    assert "nowhere.json cannot be read" in assay(*whole, "--shard", "1/2", "--durations", "nowhere.json", code=2)


def test_expectations_are_written_from_a_run_and_an_unexpected_pass_fails(zoo: Path) -> None:
    _model(zoo, "wrong", 2.0, wrong=0.5)
    run = ("run", "./zoo", "--flow", "onnxruntime")
    assay(*run, code=1)
    assert "zoo/wrong" in assay("expect", "update", "--check", code=1)
    assay("expect", "update", "--yes", code=0)
    assert "1 xfail, 5 pass" in assay(*run, code=0)
    assert "nothing would change" in assay("expect", "update", "--check", code=0)
    assay(*run, "--filter", "wrong", "--save", "wrong.assay", code=0)
    assay(*run, "--filter", "right0", "--save", "right.assay", "--history", "elsewhere", code=0)
    files = ("expect", "update", "right.assay", "wrong.assay", "--expectations", "other", "--history", "none")
    assert "zoo/wrong" in assay(*files, "--yes", code=0)
    assert Path("other/onnxruntime.toml").read_text() == Path("expectations/onnxruntime.toml").read_text()
    text = Path("expectations/onnxruntime.toml").read_text()
    assert 'outcome = "mismatch"\nstage = "compare"' in text
    Path("expectations/onnxruntime.toml").write_text(text.replace("zoo/wrong", "zoo/right0"))
    assert "unexpected pass" in assay(*run, code=1)
    Path("expectations/onnxruntime.toml").write_text(text.replace('stage = "compare"', 'stage = "load"'))
    assert "expected was another outcome" in assay(*run, code=1)
    Path("expectations/onnxruntime.toml").write_text('[[expect]]\noutcom = "mismatch"\n')
    assert "outcom" in assay(*run, code=2)


def test_what_was_ok_and_is_not_is_newly_failing_also_between_saved_runs(zoo: Path) -> None:
    run = ("run", "./zoo", "--flow", "onnxruntime")
    assay(*run, "--save", "before.assay", code=0)
    output = assay("diff", "before.assay", "last", "--check", code=0)
    assert "newly failing" not in output
    shutil.rmtree(zoo / "right0")
    _model(zoo, "right0", 2.0, wrong=0.5)
    assay(*run, "--save", "after.assay", code=1)
    output = assay("diff", "before.assay", "after.assay", "--check", code=1)
    assert "zoo/right0|onnxruntime|verify: ok -> mismatch" in output
    assert "1 newly failing, 0 newly passing, 1 outcomes changed" in output
    assert "0 newly failing, 1 newly passing" in assay("diff", "after.assay", "before.assay", "--check", code=0)


def test_newer_opsets_are_converted_in_a_lane_of_their_own_and_the_converted_model_is_recorded(zoo: Path) -> None:
    run = ("run", "./zoo", "--flow", "onnxruntime", "--report", "json=out.json", "--filter", "right0")
    assert "no case here has a newer opset" in assay(*run, "--adapt-opset", "17", code=5)
    assert "2 of 2 jobs" in assay(*run, "--adapt-opset", "14", code=0)
    results = {entry["result"]["flow"]: entry["result"] for entry in json.loads(Path("out.json").read_text())["jobs"]}
    assert results["onnxruntime"]["facts"]["transforms"] == []
    (applied,) = results["onnxruntime+opset-14"]["facts"]["transforms"]
    assert applied["transform"] == "opset:14"
    assert len(applied["digest"]) == 64
    output = assay(*run, "--adapt-opset", "14", "--only", "zoo/right0|onnxruntime+opset-14|verify", code=0)
    assert "1 of 1 job" in output
