"""A golden says in which types its model multiplies: what a quantized model answers otherwise than before is no cost of quantizing it."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import numpy as np
import onnx
import pytest

import assay
from assay.cli.main import main
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.result import ChangeResult
from assay.core.verdict import VerdictStatus
from assay.models.goldens import read_lock

BODY = "p = MatMul (x, w) y = Add (p, b)"
QUANTIZED = ("int8[3,2] q = {10, -20, 30, 40, -50, 60}, float s = {0.02}", f"w = DequantizeLinear (q, s) {BODY}")
FLOAT = ("float[3,2] w = {0.2, -0.4, 0.6, 0.8, -1.0, 1.2}", BODY)


def _model(path: Path, form: tuple[str, str], bias: float) -> Path:
    weights, body = form
    graph = f"g (float[N,3] x) => (float[N,2] y) <{weights}, float[2] b = {{0.25, {bias}}}> {{ {body} }}"
    onnx.save(onnx.parser.parse_model(f'<ir_version: 9, opset_import: ["": 17]> {graph}'), path)
    return path


def _record(folder: Path, old: tuple[str, str], *more: str) -> Path:
    golden = folder / "golden"
    source = _model(folder / "old.onnx", old, 0.5)
    with pytest.raises(SystemExit) as ended:
        main(["golden", "record", str(source), str(golden), "--reason", "test", "--history", str(folder / "h"), *more])
    assert ended.value.code == 0
    return golden


def _change(folder: Path, old: tuple[str, str], bias: float, *more: str) -> ChangeResult:
    golden = _record(folder, old, *more)
    assert read_lock(golden).coarse == (("int8",) if old == QUANTIZED else ())
    new = _model(folder / "new.onnx", QUANTIZED, bias)
    wanted = {"golden": golden, "golden_of_another_model": True, "flows": ["onnxruntime"], "measure": False}
    checked = assay.check(new, history=folder / "h", **wanted)
    return next(result for result in checked.results if isinstance(result, ChangeResult))


@pytest.mark.parametrize(("bias", "outcome"), [(0.5, Outcome.OK), (0.0, Outcome.MISMATCH)])
def test_a_quantized_model_is_held_to_the_answers_of_the_quantized_one(
    tmp_path: Path, bias: float, outcome: Outcome
) -> None:
    change = _change(tmp_path, QUANTIZED, bias)
    assert (change.outcome, bool(change.comparisons)) == (outcome, True)


def test_against_the_answers_of_a_float_model_it_is_a_loss(tmp_path: Path) -> None:
    change = _change(tmp_path, FLOAT, 0.0)
    assert (change.outcome, change.comparisons, bool(change.against_float)) == (Outcome.OK, (), True)


def test_outputs_that_are_kept_say_in_which_types_their_model_multiplies(tmp_path: Path) -> None:
    given = np.linspace(-1.0, 1.0, 12, dtype=np.float32).reshape(4, 3)
    weights = np.array([[10, -20], [30, 40], [-50, 60]], np.float32) * np.float32(0.02)
    np.savez(tmp_path / "data.npz", x=given, y=given @ weights + np.array([0.25, 0.5], np.float32))
    change = _change(tmp_path, QUANTIZED, 0.0, "--inputs", str(tmp_path / "data.npz"), "--keep-outputs")
    assert change.outcome is Outcome.MISMATCH


@pytest.mark.parametrize("limited", [False, True])
def test_a_golden_that_does_not_say_proves_no_loss(tmp_path: Path, limited: bool) -> None:
    """Those of earlier versions: what is allowed is then for the user to say."""
    golden = _record(tmp_path, QUANTIZED)
    lock = golden / "golden.lock"
    lock.write_text(re.sub(r'  "coarse": \[[^]]*\],\n', "", lock.read_text()))
    assert read_lock(golden).coarse is msgspec.UNSET
    new = _model(tmp_path / "new.onnx", QUANTIZED, 0.45)
    goals = ["vs_float.sqnr_db >= 10"] if limited else []
    wanted = {"golden": golden, "golden_of_another_model": True, "flows": ["onnxruntime"], "measure": False}
    checked = assay.check(new, history=tmp_path / "h", require=goals, **wanted)
    change = next(result for result in checked.results if isinstance(result, ChangeResult))
    verdict = next(candidate for candidate in checked.judgement.verdicts if candidate.job_key == change.job_key)
    assert verdict.word is (VerdictStatus.PASS if limited else VerdictStatus.INCONCLUSIVE)
    assert [note.code for note in change.notes] == [NoteCode.OLD_TYPES_UNKNOWN]
