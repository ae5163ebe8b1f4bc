"""What is known of a model without running it: its weights, however they are held."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from assay_zoo.facts import read_facts, with_sketches
from assay_zoo.manifest import Accuracy, Entry, File, Manifest, Sketch, Version
from zoo_submission import matmul

pytestmark = pytest.mark.heavy  # each starts processes that read

MEMORY_BYTES = 2_000_000_000


def _in_a_list(path: Path, seed: int) -> None:
    """The same model, whose weights are a list of a Constant, in a branch."""
    values = np.random.default_rng(seed).normal(size=(16, 16)).astype(np.float32).reshape(-1)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16]) for name in ("x", "y"))
    nodes = [
        helper.make_node("Constant", [], ["flat"], value_floats=values.tolist()),
        helper.make_node("Constant", [], ["shape"], value_ints=[16, 16]),
        helper.make_node("Reshape", ["flat", "shape"], ["w"]),
        helper.make_node("MatMul", ["x", "w"], ["y"]),
    ]
    branch = helper.make_graph(nodes, "branch", [], [y])
    always = helper.make_node("Constant", [], ["always"], value=numpy_helper.from_array(np.array(True)))
    node = helper.make_node("If", ["always"], ["y"], then_branch=branch, else_branch=branch)
    graph = helper.make_graph([always, node], "g", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def test_weights_as_a_list_are_weights(tmp_path: Path) -> None:
    facts = []
    for seed in (1, 2):
        _in_a_list(tmp_path / "list.onnx", seed)
        facts.append(read_facts(tmp_path, "list.onnx", memory_bytes=MEMORY_BYTES))
    matmul(tmp_path / "model.onnx", 1, "first")
    same = read_facts(tmp_path, "model.onnx", memory_bytes=MEMORY_BYTES)
    assert same.largest == facts[0].largest != facts[1].largest
    assert facts[0].weights != facts[1].weights


def test_weights_beside_a_model_in_a_folder_are_read_there(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    matmul(tmp_path / "whole.onnx", 1, "first")
    model = onnx.load(tmp_path / "whole.onnx")
    onnx.save(model, tmp_path / "parts" / "model.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    whole, parts = (
        read_facts(tmp_path, name, memory_bytes=MEMORY_BYTES) for name in ("whole.onnx", "parts/model.onnx")
    )
    assert (parts.weights, parts.largest) == (whole.weights, whole.largest)
    assert [file.path for file in parts.files] == ["parts/model.onnx", "parts/w.bin"]


@pytest.mark.parametrize("sketch", [None, Sketch(elements=1, lines=b"")])
def test_a_manifest_of_before_gets_what_copies_are_known_by(tmp_path: Path, sketch: Sketch | None) -> None:
    folder = tmp_path / "models" / "a" / "1.0"
    folder.mkdir(parents=True)
    matmul(folder / "model.onnx", 1, "first")
    facts = read_facts(folder, "model.onnx", memory_bytes=MEMORY_BYTES)
    version = Version(
        version="1.0", digest="d", closure="c", title="t", license="MIT", scenario="s", promoted_at="", by="b", reason="r",
        decision="promote", files=(File(path="model.onnx", sha256="", size=1),), opset=17, inputs=(), outputs=(), tags=(),
        performance={}, accuracy=Accuracy(metric="m", claimed=1.0), sketch=sketch,
    )  # fmt: skip
    entries = {name: Entry(current="1.0", versions=(version,)) for name in ("a", "gone")}
    models = with_sketches(tmp_path, Manifest(models=entries), memory_bytes=MEMORY_BYTES).models
    assert facts.sketch is not None
    assert models["a"].versions[0].sketch == facts.sketch
    assert models["gone"] == entries["gone"]


def _texts(path: Path, texts: list[str], *, node: bool, listed: bool = False) -> None:
    tensor = helper.make_tensor("words", TensorProto.STRING, [len(texts)], texts)
    y = helper.make_tensor_value_info("y", TensorProto.STRING, [len(texts)])
    value: dict[str, object] = {"value_strings": texts} if listed else {"value": tensor}
    nodes = [helper.make_node("Constant", [], ["c"], **value)] if node else []
    nodes.append(helper.make_node("Identity", ["c" if node else "words"], ["y"]))
    graph = helper.make_graph(nodes, "g", [], [y], [] if node else [tensor])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path / "model.onnx")


def test_constants_of_texts_are_known_by_their_words_and_by_nothing_else(tmp_path: Path) -> None:
    words = [f"word {number}" for number in range(100)]
    digests = []
    for texts, node in (
        (words, False),
        (words, True),
        ([*words[:-1], "another"], False),
        ([*words[:-2], "wo", "rd"], False),
    ):
        _texts(tmp_path, texts, node=node)
        digests.append(read_facts(tmp_path, "model.onnx", memory_bytes=MEMORY_BYTES).weights)
    _texts(tmp_path, words, node=True, listed=True)
    digests.append(read_facts(tmp_path, "model.onnx", memory_bytes=MEMORY_BYTES).weights)
    assert digests[0] == digests[1] == digests[4] != ""
    assert len(set(digests)) == 3


def test_the_largest_weights_are_found_in_little_memory(tmp_path: Path) -> None:
    values = np.zeros((1 << 14, 1 << 11), np.float32)
    places = np.linspace(0, values.size - 1, 40).astype(int)
    values.reshape(-1)[places] = np.arange(40) + np.float32(0.25)
    matmul(tmp_path / "model.onnx", 1, "large", lambda _: values)
    facts = read_facts(tmp_path, "model.onnx", memory_bytes=1_000_000_000)
    assert facts.largest == tuple(float(at) + 0.25 for at in range(8, 40))
