"""A rewritten model beside the one that it is to be still, on a real engine."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, version_converter

import assay
from assay.cli.main import main
from assay.core.note import NoteCode
from assay.core.verdict import Verdict, VerdictStatus
from assay.errors import UsageError
from assay.pipeline.open_run import Checked
from small_models import golden_for, linear_model


@pytest.fixture
def here(linear: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(linear.parent)
    return linear.parent


def _words(checked: Checked) -> dict[str, VerdictStatus]:
    return {verdict.job_key: verdict.word for verdict in checked.judgement.verdicts}


def _renamed(source: Path, target: Path) -> None:
    model = onnx.load(source)
    model.graph.input[0].name = model.graph.node[0].input[0] = "z"
    model.graph.output[0].name = model.graph.node[1].output[0] = "out"
    onnx.save(model, target)


def _weights_in_int8(source: Path, target: Path) -> None:
    """Every weight on a grid of 8 bits, as quantizers write it."""
    model = onnx.load(source)
    weight = numpy_helper.to_array(model.graph.initializer[0])
    scale = np.float32(np.abs(weight).max() / 127)
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.rint(weight / scale).astype(np.int8), "q"))
    model.graph.initializer.append(numpy_helper.from_array(scale, "scale"))
    model.graph.node.insert(0, onnx.helper.make_node("DequantizeLinear", ["q", "scale"], ["w"]))
    onnx.save(model, target)


def test_a_converted_file_passes_and_a_changed_one_is_red_while_the_engine_is_right_on_both(here: Path) -> None:
    onnx.save(version_converter.convert_version(onnx.load("linear.onnx"), 21), "converted.onnx")
    linear_model(here / "changed.onnx", scale=1.01)
    checked = assay.check("converted.onnx", "changed.onnx", reference="linear.onnx", measure=False)
    assert _words(checked) == {
        "converted|model-change|change": VerdictStatus.PASS,
        "converted|onnxruntime|verify": VerdictStatus.PASS,
        "changed|model-change|change": VerdictStatus.FAIL,
        "changed|onnxruntime|verify": VerdictStatus.PASS,
    }
    assert checked.judgement.exit_code == 1
    reason = next(verdict.reason for verdict in checked.judgement.verdicts if verdict.word is VerdictStatus.FAIL)
    assert reason.startswith("changed model: it is not 'linear' any more, and no engine took part")
    far = {
        result.case: result.against_float[0].metrics["max_abs"] for result in checked.results if result.kind == "verify"
    }
    assert far["converted"] < 1e-6 < far["changed"]


def test_a_quantized_file_loses_within_a_goal_and_not_beyond_it(here: Path) -> None:
    _weights_in_int8(here / "linear.onnx", here / "int8.onnx")
    policy = here / "policy.toml"
    for least, word in ((25, VerdictStatus.PASS), (90, VerdictStatus.FAIL)):
        policy.write_text(f'[[goal]]\nmetric = "vs_float.sqnr_db"\nmin = {least}\ncase = "int8"\n')
        checked = assay.check("int8.onnx", reference="linear.onnx", policy=policy, measure=False)
        assert _words(checked)["int8|model-change|change"] is word
    (change,) = (result for result in checked.results if result.kind == "change")
    assert change.comparisons == ()


def test_names_are_mapped_and_the_golden_of_the_old_file_is_enough_if_somebody_says_so(here: Path) -> None:
    _renamed(here / "linear.onnx", here / "renamed.onnx")
    with pytest.raises(UsageError, match="types and shapes would fit in this order: --map-input z=x"):
        assay.check("renamed.onnx", reference="linear.onnx", measure=False)
    golden_for(here / "linear.onnx", here / "golden")
    with pytest.raises(UsageError, match="golden-of-another-model"):
        assay.check("renamed.onnx", golden="golden", measure=False)
    (here / "assay.toml").write_text(
        '[[model]]\npath = "renamed.onnx"\ngolden = "golden"\ngolden-of-another-model = true\n'
        'map-inputs = { z = "x" }\nmap-outputs = { out = "y" }\n[flows]\nuse = ["onnxruntime"]\n[measure]\nenabled = false\n'
    )
    checked = assay.check(save_inputs="fed.npz", save_outputs="answers")
    with np.load("fed.npz") as fed:
        assert fed["z"].shape == (5, 1, 4)
    assert Path("answers/golden.lock").is_file()
    assert _words(checked) == {
        "renamed|model-change|change": VerdictStatus.PASS,
        "renamed|onnxruntime|verify": VerdictStatus.PASS,
    }
    linear_model(here / "changed.onnx", scale=1.01)
    _renamed(here / "changed.onnx", here / "renamed.onnx")
    checked = assay.check()
    verdicts = {verdict.job_key: verdict for verdict in checked.judgement.verdicts}
    assert verdicts["renamed|model-change|change"].word is VerdictStatus.FAIL
    disagree = (NoteCode.GOLDEN_DISAGREES, NoteCode.REFERENCE_DISAGREES)
    assert not [note for result in checked.results for note in result.notes if note.code in disagree], (
        "that is the failure itself"
    )
    assert verdicts["renamed|model-change|change"].reason.endswith("; reference-f64 and onnxruntime-disable agree")


def _answers(model: Path, target: Path) -> None:
    """What an engine answers to one sample, as a user keeps it."""
    import onnxruntime

    session = onnxruntime.InferenceSession(model)
    fed = session.get_inputs()[0]
    sample = np.random.default_rng(5).normal(size=[size if isinstance(size, int) else 2 for size in fed.shape])
    inputs = {fed.name: sample.astype(np.float32)}
    answers = dict(zip([output.name for output in session.get_outputs()], session.run(None, inputs), strict=True))
    np.savez(target, **inputs, **answers)


def _change(given: str) -> Verdict:
    checked = assay.check("new.onnx", reference="linear.onnx", golden=given, measure=False)
    return next(verdict for verdict in checked.judgement.verdicts if verdict.job_key.endswith("|change"))


@pytest.mark.parametrize("quantized", [False, True], ids=["float", "int8"])
def test_a_new_file_is_not_compared_with_its_own_answers(quantized: bool, here: Path) -> None:
    linear_model(here / "new.onnx", scale=1.01)
    if quantized:
        _weights_in_int8(here / "new.onnx", here / "new.onnx")
    _answers(here / "new.onnx", here / "answers.npz")
    verdict = _change("answers.npz")
    assert verdict.word is VerdictStatus.INCONCLUSIVE, verdict.reason
    assert verdict.reason.startswith(
        "the given answers are not those of 'linear': onnxruntime-disable answers that file otherwise; to decide it, leave them out, "
        "so that both files are evaluated on these inputs: `assay check "
    )
    if not quantized:
        with pytest.raises(SystemExit) as ended:
            main(shlex.split(verdict.reason.split("`")[1])[1:])
        assert ended.value.code == 1


def test_answers_of_the_old_file_are_confirmed_by_another_engine(here: Path) -> None:
    onnx.save(version_converter.convert_version(onnx.load("linear.onnx"), 21), "new.onnx")
    _answers(here / "linear.onnx", here / "answers.npz")
    assert _change("answers.npz").word is VerdictStatus.PASS
    linear_model(here / "new.onnx", scale=1.01)
    assert _change("answers.npz").word is VerdictStatus.FAIL


def test_a_revision_of_the_file_is_its_reference_and_every_report_says_which(
    here: Path, own_cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "--quiet", "-b", "main"], ["add", "linear.onnx"], ["commit", "--quiet", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    said = ["check", "git:main:linear.onnx", "linear.onnx", "--only-kind", "verify", "--report", "markdown=report.md"]
    with pytest.raises(SystemExit) as ended:
        main(said)
    assert ended.value.code == 0
    shown = capsys.readouterr().out
    assert "linear | model-change" in shown
    assert shown.count("git:main:linear.onnx is sha256 ") == 1
    assert "git:main:linear.onnx is sha256 " in Path("report.md").read_text()
