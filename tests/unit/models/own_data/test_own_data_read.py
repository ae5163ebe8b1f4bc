"""Data as people have them, read into samples; and the sentence for each that is bad."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from own_data_models import CELL, MODEL, ONE, STACK, X, function
from safetensors.numpy import save_file

from assay.core.data import Data
from assay.core.model import Model, TensorSpec
from assay.errors import UsageError
from assay.models.own_data import OwnData, read_data
from assay.models.own_data.state import proposed

FIXED = Model("fixed", "fixed.onnx", "c" * 64, inputs=(TensorSpec("x", "float32", (1, 4)),), outputs=MODEL.outputs)
BAG = Model("bag", "bag.onnx", "e" * 64, inputs=(TensorSpec("s", "sequence", (), "float32"),), outputs=MODEL.outputs)

Y = np.ones((2, 2), np.float32)


def polygraphy(array: np.ndarray[Any, Any]) -> dict[str, str]:
    file = io.BytesIO()
    np.save(file, array)
    return {"array": base64.b64encode(file.getvalue()).decode(), "polygraphy_class": "ndarray"}


def data_sets(folder: Path) -> None:
    for number in range(2):
        data_set = folder / f"test_data_set_{number}"
        data_set.mkdir(parents=True)
        for name, array in (("input_0", X + number), ("input_1", np.array(number)), ("output_0", Y)):
            tensor = onnx.numpy_helper.from_array(array)
            (data_set / f"{name}.pb").write_bytes(tensor.SerializeToString())


def both_files(folder: Path) -> None:
    folder.mkdir()
    (folder / "in.json").write_text(json.dumps([{"x": polygraphy(X)}, {"x": polygraphy(X + 1)}]))
    iterations = [
        {"outputs": {"y": polygraphy(Y + number)}, "polygraphy_class": "IterationResult"} for number in range(2)
    ]
    (folder / "out.json").write_text(json.dumps({"lst": [["runner", iterations]], "polygraphy_class": "RunResults"}))


def named(folder: Path) -> None:
    folder.mkdir()
    np.save(folder / "x.npy", STACK)
    np.save(folder / "n.npy", np.array(7))


def jagged(folder: Path) -> None:
    folder.mkdir()
    for number in range(3):
        np.savez(folder / f"s{number}.npz", x=np.ones((number + 1, 4), np.float32))


GOOD: dict[str, tuple[str, Callable[[Path], Any], Model, str, Any]] = {
    "npy": ("a.npy", lambda path: np.save(path, X), ONE, "", [X]),
    "npy, several": ("a.npy", lambda path: np.save(path, STACK), ONE, "", list(STACK)),
    "npy, a row for each call of a fixed batch": ("a.npy", lambda path: np.save(path, X), FIXED, "", [X[:1], X[1:]]),
    "npz": ("a.npz", lambda path: np.savez(path, x=STACK, n=5), MODEL, "", list(STACK)),
    "npz without names": ("a.npz", lambda path: np.savez(path, X), ONE, "", [X]),
    "safetensors": ("a.safetensors", lambda path: save_file({"x": X}, path), ONE, "", [X]),
    "whole numbers in double": ("a.npy", lambda path: np.save(path, X.astype(np.float64)), ONE, "", [X]),
    "a folder by name": ("f", named, MODEL, "", list(STACK)),
    "a folder, other shapes": ("f", jagged, ONE, "", [np.ones((n, 4), np.float32) for n in (1, 2, 3)]),
    "data sets": ("f", data_sets, MODEL, "", [X, X + 1]),
    "polygraphy": ("a.json", lambda path: path.write_text(json.dumps([{"x": polygraphy(X)}])), ONE, "", [X]),
    "polygraphy, both": ("f", both_files, ONE, "", [X, X + 1]),
    "a function": ("f.py", function("def f():\n yield {'x': X}\n yield {'x': [[1, 2, 3, 4]]}"), ONE, ":f", None),
}


@pytest.mark.parametrize("name", GOOD)
def test_data_are_read(name: str, tmp_path: Path) -> None:
    file, write, model, suffix, wanted = GOOD[name]
    write(tmp_path / file)
    read = read_data(Data(f"{tmp_path / file}{suffix}"), model)
    assert all(sample["x"].dtype == np.float32 for sample in read.inputs)
    for sample, array in zip(read.inputs, wanted or [], strict=bool(wanted)):
        assert np.array_equal(sample["x"], array)
    if len(model.inputs) > 1:
        assert all(sample["n"].dtype == np.int64 for sample in read.inputs)


def test_outputs_beside_the_inputs_are_what_is_expected(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=STACK, y=np.stack([Y] * 3))
    assert len(read_data(Data(str(tmp_path / "a.npz")), ONE).outputs) == 3
    assert read_data(Data(str(tmp_path / "a.npz"), expected=False), ONE).outputs == []
    function("def f():\n yield {'x': X, 'expected': {'y': X[:, :2]}}")(tmp_path / "f.py")
    assert read_data(Data(f"{tmp_path / 'f.py'}:f"), ONE).outputs[0]["y"].tolist() == [[1, 1], [1, 1]]
    both_files(tmp_path / "p")
    assert read_data(Data(str(tmp_path / "p")), ONE).outputs[1]["y"].tolist() == (Y + 1).tolist()


def sequence(path: Path, text: str, **changes: Any) -> OwnData:
    function(text)(path)
    return read_data(Data(f"{path}:f", state={"stateN": "state"}, **changes), CELL)


def test_state_begins_at_zeros_and_is_left_to_the_reference(tmp_path: Path) -> None:
    samples = sequence(tmp_path / "a.py", "def f():\n yield [{'x': X}] * 2\n yield [{'x': X}] * 3")
    assert samples.sequences == (2, 3)
    assert [sample["state"].shape if "state" in sample else None for sample in samples.inputs] == [
        (2, 2, 3),
        None,
    ] * 2 + [None]
    assert samples.inputs[0]["state"].dtype == np.float32


def test_expected_states_are_fed_into_the_next_call(tmp_path: Path) -> None:
    text = (
        "def f():\n for i in range(2): yield {'x': X, 'y': X[:, :2], 'stateN': np.full((2, 2, 3), i + 5, np.float32)}"
    )
    samples = sequence(tmp_path / "a.py", text)
    assert [float(sample["state"].max()) for sample in samples.inputs] == [0, 5]


def test_states_are_proposed_by_name_type_and_shape() -> None:
    def pairs(*names: tuple[str, str]) -> dict[str, str]:
        specs = [tuple(TensorSpec(name, "float32", (1, 3)) for name in each) for each in zip(*names, strict=True)]
        return proposed(Model("m", "m", "", inputs=specs[0], outputs=specs[1]))

    same = [
        ("state", "stateN"),
        ("h0", "hn"),
        ("c0", "cn"),
        ("past.0.key", "present.0.key"),
        ("past.1.key", "present.1.key"),
    ]
    assert pairs(*same) == {output: name for name, output in same}
    assert pairs(("image", "scores"), ("input", "output")) == {}


def test_a_sequence_is_fed_by_its_parts(tmp_path: Path) -> None:
    function("def f():\n yield {'s': [np.ones(2), X]}")(tmp_path / "a.py")
    (sample,) = read_data(Data(f"{tmp_path / 'a.py'}:f"), BAG).inputs
    assert {name: array.dtype.name for name, array in sample.items()} == {
        "s[]": "int64",
        "s[0]": "float32",
        "s[1]": "float32",
    }


def test_a_function_is_asked_as_often_as_is_wanted(tmp_path: Path) -> None:
    function("def f():\n while True: yield {'x': X}")(tmp_path / "f.py")
    assert len(read_data(Data(f"{tmp_path / 'f.py'}:f", most=3), ONE).inputs) == 3


def test_a_state_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError) as caught:
        read_data(Data("x.npy", state={"stateM": "state"}), CELL)
    assert str(caught.value) == "state stateM=state: cell has no output 'stateM'; perhaps you mean 'stateN'"
    with pytest.raises(UsageError) as caught:
        read_data(Data("x.npy", state={"y": "x"}), CELL)
    assert str(caught.value) == (
        "state y=x: output 'y' is float32 [N, 2], input 'x' float32 [N, 4]; only a state of one type and shape can be fed back"
    )
