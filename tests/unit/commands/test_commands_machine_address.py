"""Where jobs run: `--on` first, then [launch] of assay.toml, by every command that takes `--on`."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.commands.machine_address import said_address
from assay.commands.run import run_suites
from assay.config.assay_toml import load_config
from assay.errors import BadPolicy, UsageError
from assay.options.run import RunOptions

pytestmark = pytest.mark.usefixtures("warm_workers")

NOWHERE = '[launch]\non = "nowhere"\n'
RUN = ["run", "operators", "--filter", "relu-float32*", "--flow", "onnxruntime"]
SLURM = RunOptions(suites=("operators",), flows=("onnxruntime",), command="assay run operators --flow onnxruntime")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _main(words: list[str]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.mark.parametrize(
    ("toml", "on", "address"),
    [
        ("", "", ""),
        ("", "ray", "ray"),
        ("[launch]\n", "", ""),
        ('[launch]\non = "ray"\n', "", "ray"),
        ('[launch]\non = "ray"\n', "slurm://cpu", "slurm://cpu"),
        ('[launch]\non = "ray"\n', "here", ""),
        ('[launch]\non = "here"\n', "", ""),
        ('launch.on = "ray://10.0.0.1:6379"\n', "", "ray://10.0.0.1:6379"),
        ('history = "launch"\n', "", ""),
    ],
)
def test_the_command_line_overrides_assay_toml(folder: Path, toml: str, on: str, address: str) -> None:
    (folder / "assay.toml").write_text(toml)
    assert said_address(on).text == address


def test_the_configuration_that_is_read_decides_and_not_the_one_here(folder: Path) -> None:
    (folder / "assay.toml").write_text(NOWHERE)
    (folder / "other.toml").write_text('[launch]\non = "ray"\n[[model]]\npath = "m.onnx"\n')
    (folder / "m.onnx").touch()
    assert said_address("", load_config(folder / "other.toml")).text == "ray"


def test_what_is_wrong_with_the_table_is_said(folder: Path) -> None:
    (folder / "assay.toml").write_text('[launch]\nat = "ray"\n')
    with pytest.raises(BadPolicy, match=r"line 2: 'launch\.at'"):
        said_address("")


@pytest.mark.heavy
def test_every_command_that_takes_the_option_reads_the_table(
    folder: Path, linear: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check = ["check", str(linear), "--flow", "onnxruntime", "--only-kind", "verify"]
    assert _main(check) == 0
    (folder / "assay.toml").write_text(NOWHERE)
    for words in (RUN, check, ["resume"]):
        capsys.readouterr()
        assert _main(words) == 2, words
        said = capsys.readouterr().err
        assert 'assay.toml: launch.on: nothing runs jobs on "nowhere": write ' in said, words
        assert "--on" not in said, words
        assert _main([*words, "--on", "here"]) in ((0,) if words[0] != "resume" else (2,)), "it is complete"
        assert "nowhere" not in capsys.readouterr().err


def test_every_place_is_named_where_nothing_has_that_name(linear: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _main(["check", str(linear), "--flow", "onnxruntime", "--on", "nowhere"]) == 2
    words = capsys.readouterr().err
    for place in ("--on ray", "--on slurm (`assay run` alone)", "--on here"):
        assert place in words


def test_slurm_of_the_table_is_for_suites_alone(folder: Path, linear: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "assay.toml").write_text(
        f'[launch]\non = "slurm"\n[flows]\nuse = ["onnxruntime"]\n[measure]\nseconds = 0.05\n[[model]]\npath = "{linear}"\n'
    )
    named = ["check", str(linear), "--flow", "onnxruntime", "--only-kind", "verify"]
    for words in (["check"], named, ["baseline", "set", "--config", "assay.toml", "--reason", "good"]):
        assert _main(words) == 0, capsys.readouterr().err
    assert _main(["resume"]) == 2
    assert "complete" in capsys.readouterr().err
    assert _main([*named, "--on", "slurm"]) == 2
    assert "slurm shares out the cases of suites" in capsys.readouterr().err


def test_a_command_without_the_option_names_the_table(
    folder: Path, linear: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "assay.toml").write_text(f'{NOWHERE}[[model]]\npath = "{linear}"\n')
    assert _main(["baseline", "set", "--config", "assay.toml", "--reason", "good", "--flow", "onnxruntime"]) == 2
    said = capsys.readouterr().err
    assert f"{folder / 'assay.toml'}: launch.on: nothing runs" in said
    assert "--on" not in said


@pytest.mark.parametrize("part", [{"shard": "1/3"}, {"only": "relu|onnxruntime|verify"}])
def test_a_part_of_a_suite_is_shared_out_only_where_the_command_line_says_so(
    folder: Path, part: dict[str, str]
) -> None:
    (folder / "assay.toml").write_text('[launch]\non = "slurm"\n')
    with pytest.raises(UsageError, match="makes the shards itself"):
        run_suites(RunOptions(**{**vars(SLURM), **part, "on": "slurm"}))
    few = {**vars(SLURM), "filters": ("relu-float32*",), "accept_counts": True, "history": str(folder / "h")}
    with pytest.raises(UsageError, match="verifies only"):
        run_suites(RunOptions(**{**few, "only_kind": "measure"}))
    if "shard" in part:
        assert run_suites(RunOptions(**{**few, **part})).results
