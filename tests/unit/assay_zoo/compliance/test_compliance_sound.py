"""Sound models pass: a false alarm costs as much as a fault that is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from examined import failures as findings
from onnx import TensorProto, helper, numpy_helper

from assay.testing.broken_models.craft import HEAD, external, loop, relu, sparse, text, with_weight
from assay_zoo.compliance.request import ClaimedPort, Request
from assay_zoo.compliance.sentences import sentence

DIGITS = Path(__file__).parents[4] / "examples" / "digits" / "models"
NEWEST = Request(
    "", domains=("", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.preview"), opset=28, ir=14
)


def failures(path: Path, request: Request = NEWEST) -> list[str]:
    return [sentence(finding) for finding in findings(path, request)]


@pytest.mark.parametrize("name", sorted(path.name for path in DIGITS.glob("*.onnx")))
def test_trained_models(name: str) -> None:
    assert failures(DIGITS / name, Request("")) == []


@pytest.mark.heavy
def test_cases_of_onnx(node_cases: list[Any], tmp_path: Path) -> None:
    """Every sixth of onnx's own node cases, run on its data: 314 models of all operators."""
    cases = node_cases[::6]
    assert len(cases) >= 300
    wrong: dict[str, list[str]] = {}
    for case in cases:
        folder = tmp_path / case.name / "test_data_set_0"
        folder.mkdir(parents=True)
        for number, value in enumerate(case.data_sets[0][0]):
            if isinstance(value, np.ndarray):
                (folder / f"input_{number}.pb").write_bytes(numpy_helper.from_array(value).SerializeToString())
        path = folder.parent / "model.onnx"
        path.write_bytes(case.model.SerializeToString())
        if problems := failures(path):
            wrong[case.name] = problems
    assert wrong == {}


def _causal_mask() -> onnx.ModelProto:
    return with_weight(np.array([[0, -np.inf, -np.inf], [0, 0, -np.inf]], np.float32))


def _tied_weights(folder: Path) -> onnx.ModelProto:
    model = external(folder, "w.bin")
    second = model.graph.initializer.add()
    second.CopyFrom(model.graph.initializer[0])
    second.name = "v"
    model.graph.node.append(helper.make_node("Add", ["y", "v"], ["z"], name="b"))
    model.graph.output[0].name = "z"
    return model


def _same_names_in_both_branches() -> onnx.ModelProto:
    return text(
        "g (bool c, float[2] x) => (float[2] y) { [if] y = If<then_branch = t () => (float[2] p) { [a] p = Relu(x) }, "
        "else_branch = e () => (float[2] p) { [a] p = Neg(x) }>(c) }"
    )


def _default_of_an_input() -> onnx.ModelProto:
    model = with_weight(np.ones((2, 3), np.float32))
    model.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, [2, 3]))
    return model


def _function() -> onnx.ModelProto:
    return text(
        "g (float[2] x) => (float[2] y) { [a] y = own.F<slope = 0.5>(x) }\n"
        '<domain: "own", opset_import: ["" : 17]> F <slope> (a) => (b) { [f] b = LeakyRelu<alpha: float = @slope>(a) }',
        HEAD.replace("17]", '17, "own" : 1]'),
    )


def _loop_over_the_batch() -> onnx.ModelProto:
    return text(
        "g (float[N,2] x) => (float[N,2] y) <int64 zero = {0}, bool yes = {1}> "
        "{ [s] s = Shape(x) [g] n = Gather(s, zero) [loop] y = Loop<body = b (int64 i, bool go, float[N,2] v) => "
        "(bool more, float[N,2] w) { [c] more = Identity(go) [n] w = Relu(v) }>(n, yes, x) }"
    )


def _spelled_out(model: onnx.ModelProto) -> onnx.ModelProto:
    """The default domain by its other name, everywhere."""
    nodes = [*model.graph.node, *(node for function in model.functions for node in function.node)]
    nodes += [node for outer in nodes for each in outer.attribute if each.HasField("g") for node in each.g.node]
    imports = [*model.opset_import, *(entry for each in model.functions for entry in each.opset_import)]
    for part in (*nodes, *imports):
        part.domain = part.domain or "ai.onnx"
    return model


SOUND = {
    "plain": lambda folder: relu(),
    "a free batch": lambda folder: relu("N,3"),
    "a mask of minus infinity": lambda folder: _causal_mask(),
    "one infinite bound": lambda folder: with_weight(np.float32(-np.inf), "Max"),
    "weights in a file": lambda folder: external(folder, "w.bin"),
    "weights in a folder": lambda folder: external(folder, "data/w.bin"),
    "two names for the same weights": _tied_weights,
    "the same names in both branches": lambda folder: _same_names_in_both_branches(),
    "a default of an input": lambda folder: _default_of_an_input(),
    "a function with an attribute": lambda folder: _function(),
    "a loop of few trips": lambda folder: loop("int64 trips = {10}, bool yes = {1}", "trips, yes"),
    "a loop over the batch": lambda folder: _loop_over_the_batch(),
    "a loop that collects a little": lambda folder: text(
        "g (float[N] x) => (float[M] y) <int64 n = {100}, bool yes = {1}> { [loop] y = Loop<body = b (int64 i, bool go, "
        "float[K] v) => (bool more, float[L] w) { [c] more = Identity(go) [d] w = Concat<axis = 0>(v, x) }>(n, yes, x) }"
    ),
    "an index from the end": lambda folder: text(
        "g (float[3,2] x) => (float[2] y) <int64 i = {-3}> { [a] y = Gather<axis = 0>(x, i) }"
    ),
    "an empty optional input": lambda folder: text(
        "g (float[3] x) => (float[3] y) <float high = {1.0}> { [a] y = Clip(x, , high) }"
    ),
    "the default domain spelled out": lambda folder: _spelled_out(relu()),
    "... beside weights in a file": lambda folder: _spelled_out(external(folder, "w.bin")),
    "... in a function": lambda folder: _spelled_out(_function()),
    "... in both branches": lambda folder: _spelled_out(_same_names_in_both_branches()),
    "a default that onnx forgets": lambda folder: text(
        "g (float[2,3,4,5] x) => (float[2,3,4,5] y) { [a] y = MeanVarianceNormalization(x) }"
    ),
    "text": lambda folder: text("g (string[2] x) => (string[2] y) { [a] y = Identity(x) }"),
    "nothing in it": lambda folder: text("g (float[0,3] x) => (float[0,3] y) { [a] y = Relu(x) }"),
}


@pytest.mark.parametrize("name", SOUND)
def test_what_exporters_write(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(SOUND[name](tmp_path).SerializeToString())
    assert failures(path, Request("")) == []


def test_what_cannot_be_read_at_all_is_told_by_the_name_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "submitted.onnx").write_bytes(b"")
    assert failures(tmp_path / "submitted.onnx") == [
        "submitted.onnx is empty (0 bytes); export or copy the model again"
    ]


def test_a_domain_that_the_policy_takes(tmp_path: Path) -> None:
    model = text("g (float[2] x) => (float[2] y) { [a] y = acme.Frob(x) }", HEAD.replace("17]", '17, "acme" : 1]'))
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    assert failures(path, Request("", domains=("", "acme"))) == []
    assert len(failures(path, Request("", domains=("",)))) == 1


def test_sorted_sparse_indices_are_no_finding(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(sparse(np.array([1, 3], np.int64), [2, 3]).SerializeToString())
    # Mul takes no sparse tensor; of the tensor itself nothing is wrong.
    assert not [failure for failure in failures(path, Request("")) if "indices" in failure or "index" in failure]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (ClaimedPort("x", "float32", (2, 3)), ""),
        (ClaimedPort("input", "float32", (2, 3)), "lists the inputs 'input', and the model has 'x'"),
        (ClaimedPort("x", "float16", (2, 3)), "says 'float16', and the model float32"),
        (ClaimedPort("x", "float32", ("N", 3)), "says [N, 3], and the model [2, 3]"),
    ],
)
def test_ports_of_the_metadata(claim: ClaimedPort, message: str, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(relu().SerializeToString())
    problems = failures(path, Request("", claimed_inputs=(claim,)))
    assert (len(problems) == 1 and message in problems[0]) if message else problems == []


def test_opset_of_the_metadata(tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(relu().SerializeToString())
    assert failures(path, Request("", claimed_opset=17)) == []
    (problem,) = failures(path, Request("", claimed_opset=18))
    assert "claims opset 18, and the model imports 17" in problem
