"""Models that have no answer in double: the next best is used and named; what has no right answer at all is said to have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import assay
from assay.core.note import NoteCode
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.words.finding_text import finding_text
from assay.judge.words.note_text import note_text
from assay.models.goldens import write_golden
from assay.models.onnx_file import open_model

F, I32 = TensorProto.FLOAT, TensorProto.INT32
Specs = Mapping[str, tuple[int, Sequence[int]]]


def save(
    path: Path, nodes: list[Any], inputs: Specs, outputs: Specs, constants: Mapping[str, Any] = {}, opset: int = 20
) -> Path:
    graph = helper.make_graph(
        nodes,
        path.stem,
        [helper.make_tensor_value_info(name, *spec) for name, spec in inputs.items()],
        [helper.make_tensor_value_info(name, *spec) for name, spec in outputs.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("acme", 1)]
    onnx.save(helper.make_model(graph, opset_imports=imports, ir_version=10 if opset < 26 else 13), path)
    return path


def checked(path: Path, flow: str = "onnxruntime", golden: Path | None = None) -> Result:
    found = assay.check(path, flows=[flow], golden=golden, measure=False, history=path.parent / "h")
    (result,) = found.results
    return result


def test_a_runtime_answers_where_the_standard_has_no_operator_and_is_named(tmp_path: Path) -> None:
    path = save(
        tmp_path / "m.onnx",
        [
            helper.make_node("MaxpoolWithMask", ["x", "mask"], ["h"], domain="com.microsoft", kernel_shape=[1, 2]),
            helper.make_node("Add", ["h", "b"], ["y"], name="sum"),
        ],
        {"x": (F, [1, 1, 3, 4])},
        {"y": (F, [1, 1, 3, 3])},
        {"b": np.arange(3, dtype=np.float32), "mask": np.ones((1, 1, 3, 4), np.int32)},
    )
    result = checked(path)
    assert result.outcome is Outcome.OK
    assert "answers are those of onnxruntime-disable (onnxruntime itself" in note_text(result.notes[0])
    assert "MaxpoolWithMask" in note_text(result.notes[0])
    assert "perturbed runs of onnxruntime-disable" in note_text(result.notes[1])
    config = tmp_path / "assay.toml"
    config.write_text('[flow.lying]\nbackend = "onnxruntime"\ntransforms = ["mutant:scale-off=0.01@sum"]\n')
    found = assay.check(path, flows=["lying"], config=config, measure=False, history=tmp_path / "h")
    assert found.results[0].outcome is Outcome.MISMATCH


def test_an_operator_that_nobody_has_is_supported_by_nobody(tmp_path: Path) -> None:
    nodes = [helper.make_node("Mystery", ["x"], ["y"], domain="acme")]
    result = checked(save(tmp_path / "m.onnx", nodes, {"x": (F, [3])}, {"y": (F, [3])}))
    assert result.outcome is Outcome.UNSUPPORTED
    assert "Mystery" in result.detail


def test_what_is_drawn_at_random_has_no_right_answer_and_what_is_beside_it_has(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["r"], name="noise"),
        helper.make_node("Add", ["x", "r"], ["y"]),
        helper.make_node("Multinomial", ["x"], ["m"], sample_size=5, name="choice"),
        helper.make_node("Exp", ["x"], ["e"], name="exp"),
    ]
    outputs = {"y": (F, [3, 4]), "m": (I32, [3, 5]), "e": (F, [3, 4])}
    path = save(tmp_path / "m.onnx", nodes, {"x": (F, [3, 4])}, outputs)
    result = checked(path)
    assert result.outcome is Outcome.MISTRUSTED
    outputs = {comparison.output: comparison for comparison in result.comparisons}
    assert "drawn at random (RandomNormalLike 'noise')" in finding_text(outputs["y"].degenerate)
    assert "drawn at random (Multinomial 'choice')" in finding_text(outputs["m"].degenerate)
    assert outputs["y"].metrics == outputs["m"].metrics == {}
    assert outputs["e"].degenerate is None
    assert 0 < outputs["e"].metrics["budget_used"] < 1
    config = tmp_path / "assay.toml"
    config.write_text('[flow.lying]\nbackend = "onnxruntime"\ntransforms = ["mutant:fp16-output@exp"]\n')
    found = assay.check(path, flows=["lying"], config=config, measure=False, history=tmp_path / "h")
    assert found.results[0].outcome is Outcome.MISMATCH
    assert [finding.output for finding in found.results[0].findings] == ["e"]


def test_bits_read_as_another_type_are_compared_bit_by_bit(tmp_path: Path) -> None:
    nodes = [helper.make_node("BitCast", ["x"], ["y"], to=F)]
    path = save(tmp_path / "m.onnx", nodes, {"x": (I32, [3])}, {"y": (F, [3])}, opset=26)
    x = np.array([1, 2**30, 1078530011], np.int32)
    for name, y in (("right", x.view(np.float32)), ("wrong", (x + np.int32([0, 0, 1])).view(np.float32))):
        write_golden(
            tmp_path / name, model=open_model(path), inputs=[{"x": x}], outputs=[{"y": y}], seed=0, producer="tests",
            producer_version="", who="tests", reason="a test", created_at="2026-11-21T00:00:00+00:00",
        )  # fmt: skip
    assert checked(path, "reference", tmp_path / "right").outcome is Outcome.OK
    # One bit of 24: any multiple of the unit roundoff lets it through.
    assert checked(path, "reference", tmp_path / "wrong").outcome is Outcome.MISMATCH


def test_text_beside_numbers_is_compared_as_text(tmp_path: Path) -> None:
    nodes = [helper.make_node("StringConcat", ["s", "s"], ["t"]), helper.make_node("Exp", ["x"], ["y"])]
    outputs = {"t": (TensorProto.STRING, [2]), "y": (F, [4])}
    path = save(tmp_path / "m.onnx", nodes, {"s": (TensorProto.STRING, [2]), "x": (F, [4])}, outputs)
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    for name, t in (("right", ["aa", "bb"]), ("wrong", ["aa", "b "])):
        write_golden(
            tmp_path / name, model=open_model(path), inputs=[{"s": np.array(["a", "b"], object), "x": x}],
            outputs=[{"t": np.array(t, object), "y": np.exp(x)}], seed=0, producer="tests", producer_version="",
            who="tests", reason="a test", created_at="2026-11-21T00:00:00+00:00",
        )  # fmt: skip
    assert checked(path, golden=tmp_path / "right").outcome is Outcome.OK
    result = checked(path, golden=tmp_path / "wrong")
    assert result.outcome is Outcome.MISMATCH
    assert "'t'" in result.detail or result.findings[0].output == "t"


def test_a_published_tolerance_that_hides_rounded_weights_says_so(tmp_path: Path) -> None:
    """rtol 1e-3 lets weights in bfloat16 through: the pass is told with what other tables would have said."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "zoo" / "product"
    folder.mkdir(parents=True)
    w = rng.uniform(1, 2, (64, 8)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    path = save(folder / "model.onnx", nodes, {"x": (F, [4, 64])}, {"y": (F, [4, 8])}, {"w": w})
    x = rng.uniform(1, 2, (4, 64)).astype(np.float32)
    y = x @ w
    data = folder / "test_data_set_0"
    data.mkdir()
    for name, array in (("input_0", x), ("output_0", y)):
        (data / f"{name}.pb").write_bytes(numpy_helper.from_array(array, name[0].replace("i", "x")).SerializeToString())
    rounded = save(tmp_path / "rounded.onnx", nodes, {"x": (F, [4, 64])}, {"y": (F, [4, 8])}, {"w": _bfloat16(w)})
    sound = _published(path, tmp_path / "zoo")
    assert sound.outcome is Outcome.OK
    assert not [note for note in sound.notes if note.code == NoteCode.PASSES_COARSELY]
    path.write_bytes(rounded.read_bytes())
    hidden = _published(path, tmp_path / "zoo")
    assert hidden.outcome is Outcome.OK, hidden.detail
    (message,) = [note_text(note) for note in hidden.notes if note.code == NoteCode.PASSES_COARSELY]
    assert "eps of its norm" in message
    assert "torch's table would fail 100 %" in message
    assert "onnx's table would fail 0 %" in message


def _bfloat16(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    import ml_dtypes

    return value.astype(ml_dtypes.bfloat16).astype(np.float32)


def _published(path: Path, folder: Path) -> Result:
    from assay.commands.run import run_suites
    from assay.options.run import RunOptions

    options = RunOptions(suites=(f"{folder}/",), flows=("onnxruntime",), history=str(folder.parent / "h"))
    (result,) = run_suites(options).results
    return result
