"""Own data on the command line and in assay.toml: read behind the wall, answered by the reference or judged by what came with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import assay
from assay.cli.main import main
from assay.commands.check import run_check
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.words.note_text import note_text
from assay.models.goldens import read_golden
from assay.options.check import CheckOptions
from small_models import linear_model


def checked(path: Path, **options: object) -> Result:
    found = assay.check(path, flows=["onnxruntime"], measure=False, history=path.parent / "h", **options)  # type: ignore[arg-type]
    (result,) = found.results
    return result


def cell_model(path: Path, recurrent: float = 0.5) -> Path:
    """x (N, 4), state (N, 3) -> y (N, 1), stateN (N, 3): an Elman cell. `recurrent` scales what it makes of its state."""
    stream = np.random.default_rng(3)
    weights = {"w": stream.normal(size=(4, 3)), "r": stream.normal(size=(3, 3)) * recurrent}
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["a"]),
        helper.make_node("MatMul", ["state", "r"], ["b"]),
        helper.make_node("Add", ["a", "b"], ["c"]),
        helper.make_node("Tanh", ["c"], ["stateN"], name="tanh"),
        helper.make_node("ReduceSum", ["stateN"], ["y"], keepdims=1),
    ]
    kind = TensorProto.FLOAT
    graph = helper.make_graph(
        nodes,
        "cell",
        [helper.make_tensor_value_info("x", kind, ["N", 4]), helper.make_tensor_value_info("state", kind, ["N", 3])],
        [helper.make_tensor_value_info("y", kind, None), helper.make_tensor_value_info("stateN", kind, ["N", 3])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10), path)
    return path


def test_inputs_alone_are_answered_by_the_reference(tmp_path: Path) -> None:
    path = linear_model(tmp_path / "m.onnx")
    x = np.random.default_rng(0).normal(size=(3, 2, 4)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x, y=np.zeros((3, 2, 3), np.float32))
    result = checked(path, inputs=tmp_path / "x.npz")
    assert result.outcome is Outcome.OK
    assert result.comparisons[0].samples == 3
    assert checked(path, golden=tmp_path / "x.npz").outcome is Outcome.MISMATCH, "the outputs beside them are wrong"


def test_assay_toml_names_data_and_functions(tmp_path: Path) -> None:
    linear_model(tmp_path / "m.onnx")
    (tmp_path / "feed.py").write_text(
        "import numpy as np\ndef calls():\n for n in (1, 2, 5): yield {'x': np.full((n, 4), n, np.float32)}\n"
    )
    config = tmp_path / "assay.toml"
    config.write_text('[[model]]\npath = "m.onnx"\ninputs = "feed.py:calls"\n[flows]\nuse = ["onnxruntime"]\n')
    checked = run_check(CheckOptions(config=config, only_kind="verify", history=str(tmp_path / "h")))
    assert [result.outcome for result in checked.results] == [Outcome.OK]
    assert checked.results[0].comparisons[0].elements == 8 * 3


def test_state_is_fed_back_and_kept_in_a_golden(tmp_path: Path) -> None:
    path = cell_model(tmp_path / "cell.onnx")
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(4, 2, 4)).astype(np.float32))
    golden = tmp_path / "golden"
    words = ["golden", "record", str(path), str(golden), "--reason", "test", "--inputs", str(tmp_path / "x.npy")]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--state", "stateN=state", "--history", str(tmp_path / "h")])
    assert ended.value.code == 0
    stored = read_golden(golden)
    assert (stored.lock.state, stored.lock.sequences, stored.lock.version) == ({"stateN": "state"}, (4,), 2)
    assert not stored.inputs[0]["state"].any()
    assert np.array_equal(stored.inputs[3]["state"], stored.outputs[2]["stateN"])
    result = checked(path, golden=golden)
    assert result.outcome is Outcome.OK
    assert "fed its own state for up to 4 calls" in note_text(result.notes[0])
    other = cell_model(tmp_path / "other.onnx", recurrent=0.501)
    found = assay.check(
        other, golden=golden, golden_of_another_model=True, flows=["onnxruntime"], measure=False, history=tmp_path / "h"
    )
    change = next(answer for answer in found.results if answer.kind == "change")
    assert change.outcome is Outcome.MISMATCH, "the fault is seen from the second call on: the first state is 0"
    assert found.judgement.exit_code == 1


def test_bad_data_end_with_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = linear_model(tmp_path / "m.onnx")
    np.savez(tmp_path / "x.npz", X=np.zeros((1, 4), np.float32))
    words = ["check", str(path), "--inputs", str(tmp_path / "x.npz"), "--history", str(tmp_path / "h")]
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 2
    assert "holds 'X', which m neither takes nor gives; perhaps you mean 'x'" in capsys.readouterr().err
