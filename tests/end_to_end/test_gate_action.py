"""The action of GitHub and the job of the component, run step by step: what a team sees of a good model, a wrong one and bad input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate_action import ROOT, Ended, Forge, forge, run_action
from small_models import linear_model

QUICK = "--only-kind=verify\n--samples=2"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "models").mkdir()
    linear_model(tmp_path / "models" / "linear.onnx")
    (tmp_path / "event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
    return tmp_path


@pytest.fixture
def api() -> Iterator[Forge]:
    with forge() as kept:
        yield kept


def _gate(checkout: Path, api: Forge, **inputs: str) -> Ended:
    about = {
        "GITHUB_EVENT_PATH": str(checkout / "event.json"), "GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": "team/models",
        "GITHUB_WORKFLOW": "gate", "GITHUB_JOB": "assay",
    }  # fmt: skip
    asked = {"models": "models/**/*.onnx", "flows": "onnxruntime", "arguments": QUICK, "token": "secret"}
    return run_action(checkout, asked | inputs, about)


def test_a_good_model_then_a_wrong_one_share_one_comment(checkout: Path, api: Forge) -> None:
    good = _gate(checkout, api)
    assert (good.code, good.outputs["exit-code"]) == (0, "0"), good.printed
    assert good.summary.startswith("## Assay: PASS")
    assert "::error" not in good.printed
    wrong = _gate(checkout, api, flows="onnxruntime\nfaulty-scale2")
    assert (wrong.code, wrong.outputs["exit-code"]) == (1, "1")
    assert (
        "::error file=models/linear.onnx,title=fail%3A linear on faulty-scale2%3A verify::output 'y': budget used"
        in wrong.printed
    )
    (comment,) = api.comments
    assert comment["body"].startswith("<!-- assay gate: gate / assay -->\n## Assay: FAIL")
    assert [request.partition(" ")[0] for request in api.asked] == ["GET", "POST", "GET", "PATCH"]
    reports = {path.name for path in (checkout / wrong.outputs["reports"]).iterdir()}
    assert reports >= {"summary.md", "junit.xml", "report.html", "results.json", "code-quality.json"}
    (finding,) = json.loads((checkout / "assay-reports" / "code-quality.json").read_text())
    assert (finding["severity"], finding["location"]["path"]) == ("critical", "models/linear.onnx")


def test_without_the_right_to_comment_the_verdict_stands_and_one_sentence_says_so(checkout: Path, api: Forge) -> None:
    api.refuses = 403
    said = _comment(checkout, api)
    assert said == (
        "::notice title=Assay::No comment: the token may not comment here (HTTP 403); "
        "give the job the permission pull-requests: write, or say comment: false.\n"
    )
    assert not api.comments


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"models": "nets/*.onnx"}, "nets/*.onnx does not exist; give the path of an ONNX file"),
        ({"flows": "onnxrutime"}, "there is no flow 'onnxrutime'; perhaps you mean 'onnxruntime'"),
        ({"golden": "goldens/none"}, "goldens/none"),
    ],
)
def test_bad_input_is_one_sentence_everywhere(checkout: Path, api: Forge, inputs: dict[str, str], message: str) -> None:
    ended = _gate(checkout, api, **inputs)
    assert (ended.code, ended.outputs["exit-code"]) == (2, "2"), ended.printed
    (annotation,) = [line for line in ended.printed.splitlines() if line.startswith("::error")]
    assert annotation.startswith("::error title=Assay::")
    assert message in annotation
    assert message in ended.summary
    assert message in api.comments[0]["body"]
    assert "Traceback" not in ended.printed


def test_a_folder_that_cannot_be_written_is_one_sentence(checkout: Path, api: Forge) -> None:
    (checkout / "taken").write_text("a file, where the reports should go")
    done = subprocess.run(
        ["bash", ROOT / "deploy/gate/check.sh"],
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "ASSAY_MODELS": "models/*.onnx", "ASSAY_REPORTS": "taken/reports"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "")
    assert done.stdout == (
        f"::error title=Assay::{checkout}/taken/reports cannot be written, and nothing was checked; name another folder in the variable "
        "ASSAY_REPORTS, or give this user the right to write\n"
    )
    assert (checkout / "taken").is_file()


def test_what_is_no_pull_request_gets_no_comment(checkout: Path, api: Forge) -> None:
    (checkout / "event.json").write_text(json.dumps({"ref": "refs/heads/main"}))
    assert _comment(checkout, api) == "No comment: this run is of no pull request.\n"
    assert not api.asked


def _comment(checkout: Path, api: Forge) -> str:
    (checkout / "summary.md").write_text("## Assay: PASS\n")
    done = subprocess.run(
        [sys.executable, ROOT / "deploy/gate/comment.py", checkout / "summary.md"],
        env={
            "GITHUB_EVENT_PATH": str(checkout / "event.json"), "GITHUB_API_URL": api.url, "GITHUB_REPOSITORY": "team/models",
            "GITHUB_WORKFLOW": "gate", "GITHUB_JOB": "assay",
        },
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout


def test_a_comment_on_the_second_page_is_found_and_one_of_somebody_else_is_left(checkout: Path, api: Forge) -> None:
    api.comments = [{"id": number, "body": "hello"} for number in range(130)]
    api.comments[120] = {"id": 120, "body": "<!-- assay gate: gate / assay -->\nold"}
    assert _comment(checkout, api) == "Comment on pull request 7: changed.\n"
    assert "PASS" in api.comments[120]["body"]
    api.comments[120] = {"id": 120, "body": "<!-- assay gate: gate / assay -->\nnot yours", "foreign": True}
    assert _comment(checkout, api) == "Comment on pull request 7: written.\n"
    assert "not yours" in api.comments[120]["body"]


def test_an_api_that_does_not_answer_fails_nothing(checkout: Path) -> None:
    said = _comment(checkout, Forge(url="http://127.0.0.1:9"))
    assert (
        said
        == "::notice title=Assay::No comment: the API did not answer as it should (URLError); the verdict stands.\n"
    )


def test_the_job_of_the_component_ends_as_the_check_does(checkout: Path) -> None:
    done = subprocess.run(
        ["bash", ROOT / "deploy/gate/check.sh"],
        cwd=checkout,
        env={
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": os.environ.get("HOME", "/"),
            "ASSAY_MODELS": "models/*.onnx", "ASSAY_FLOWS": "onnxrutime",
        },
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "there is no flow 'onnxrutime'" in (checkout / "assay-reports" / "summary.md").read_text()
