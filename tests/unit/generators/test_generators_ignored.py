"""What an engine does not read is told by its answer: that of the case without it. What one version brought and is ignored is one cause."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import parser

from assay.core.flow import Flow
from assay.core.screening import Suspect
from assay.fuzz.corpus import Bucket
from assay.fuzz.same_cause import Relation, relation
from assay.generators.kept_cases import KeptCases
from assay.generators.screen import _Screener
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase
from assay.testing.faulty_backend import Faulty, FaultyEngine
from screening import job_of

START = "(float[2,3,4] x) => (int64[2] y) { y = Shape <start = 1> (x) }"
END = "(float[2,3,4] x) => (int64[2] y) { y = Shape <end = 2> (x) }"
LOW = "(float[3] x) => (float[3] y) <float low = {2}> { y = Clip (x, low) }"
HIGH = '(float[3] x) => (float[3] y) <float high = {0}> { y = Clip (x, "", high) }'
CEIL = "(float[1,1,6] x) => (float[1,1,3] y) { y = MaxPool <kernel_shape = [3], strides = [2], ceil_mode = 1> (x) }"
WIDE = "(float[1,1,6] x) => (float[1,1,2] y) { y = MaxPool <kernel_shape = [3], dilations = [2]> (x) }"
PLACES = "(float[1,1,2,2] x) => (float[1,1,1,1] y, int64[1,1,1,1] p) { y, p = MaxPool <kernel_shape = [2,2], storage_order = 1> (x) }"


class _Without(Faulty):
    """Its reader leaves out these attributes, and optional inputs by their place."""

    def __init__(self, *names: str | int) -> None:
        self._names = names

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        graph = onnx.load(model)
        for node in graph.graph.node:
            kept = [attribute for attribute in node.attribute if attribute.name not in self._names]
            del node.attribute[:]
            node.attribute.extend(kept)
            kept_inputs = ["" if place in self._names else name for place, name in enumerate(node.input)]
            del node.input[:]
            node.input.extend(kept_inputs)
        return super().lower(_written(graph, model), flow)


class _StartsLate(Faulty):
    """It reads `start`, and one axis too far."""

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        graph = onnx.load(model)
        for attribute in graph.graph.node[0].attribute:
            attribute.i += attribute.name == "start"
        return super().lower(_written(graph, model), flow)


def _written(graph: onnx.ModelProto, model: Path) -> Path:
    for output in graph.graph.output:
        output.type.tensor_type.ClearField("shape")
    onnx.save(graph, changed := model.with_name("changed.onnx"))
    return changed


def _suspect(backend: Faulty, graph: str, folder: Path) -> Suspect:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 19]> g {graph}')
    shape = [axis.dim_value for axis in model.graph.input[0].type.tensor_type.shape.dim]
    numbers: Tensor = ((np.arange(np.prod(shape)) * 5 % 7).reshape(shape) - 1).astype(np.float32)
    folder.mkdir(exist_ok=True)
    job = job_of(GeneratedCase(model.SerializeToString(), {"x": numbers}), folder)
    screener = _Screener(job, backend, KeptCases(job.kept))
    screener.one(0)
    (suspect,) = screener.result().suspects
    return suspect


def _bucket(suspect: Suspect, key: str) -> Bucket:
    operators = tuple(name.partition("@")[0] for name in suspect.operators)
    return Bucket(
        key, "f", "engine", suspect.kind, "wrong", operators, attributes=suspect.attributes, ablated=suspect.ablated
    )


@pytest.mark.parametrize(
    ("names", "graphs", "due"),
    [
        (("start", "end"), (START, END), Relation.SAME),
        ((1, 2), (LOW, HIGH), Relation.SAME),
        (("ceil_mode", "dilations"), (CEIL, WIDE), Relation.SAME),
        (("ceil_mode", "storage_order"), (CEIL, PLACES), Relation.DIFFERENT),  # of two versions
    ],
)
def test_what_a_version_brought_and_is_ignored_is_one_cause(
    tmp_path: Path, names: tuple[str | int, ...], graphs: tuple[str, str], due: Relation
) -> None:
    buckets = [
        _bucket(_suspect(_Without(*names), graph, tmp_path / str(number)), str(number))
        for number, graph in enumerate(graphs)
    ]
    assert all(
        any(name.startswith("ignored ") and bucket.ablated[name] for name in bucket.ablated) for bucket in buckets
    )
    assert relation(buckets[0], buckets[1]) is relation(buckets[1], buckets[0]) is due


def test_what_is_read_and_computed_wrongly_is_a_cause_of_its_own(tmp_path: Path) -> None:
    late = _suspect(_StartsLate(), START, tmp_path / "late")
    assert late.ablated["ignored Shape.start"] is False
    ignored = _suspect(_Without("end"), END, tmp_path / "ignored")
    assert relation(_bucket(late, "late"), _bucket(ignored, "ignored")) is Relation.DIFFERENT


class _WithoutZeros(Faulty):
    """It takes a 0 for what was left out."""

    def lower(self, model: Path, flow: Flow) -> FaultyEngine:
        graph = onnx.load(model)
        for node in graph.graph.node:
            kept = [attribute for attribute in node.attribute if onnx.helper.get_attribute_value(attribute)]
            del node.attribute[:]
            node.attribute.extend(kept)
        return super().lower(_written(graph, model), flow)


ELU = "(float[3] x) => (float[3] y) { y = Elu <alpha = 0.0> (x) }"
PLACE = "(float[3,4] x) => (int64[1,4] y) { y = ArgMax <axis = 0> (x) }"
ROW = PLACE.replace("[1,4]", "[3]").replace("axis = 0", "axis = 1, keepdims = 0")


@pytest.mark.parametrize(
    ("backend", "graph", "due"),
    [
        (_WithoutZeros(), ELU, True),
        (_Without("alpha"), ELU, False),  # it reads no alpha at all
        (_Without("alpha"), ELU.replace("0.0", "3.0"), False),
        (_Without("keepdims"), ROW, False),  # a flag
        (_WithoutZeros(), ROW, False),
    ],
)
def test_a_zero_that_is_taken_for_what_was_left_out_is_seen(
    tmp_path: Path, backend: Faulty, graph: str, *, due: bool
) -> None:
    tried = _suspect(backend, graph, tmp_path).ablated
    assert any(name.startswith("ignored ") and right for name, right in tried.items())
    assert tried.get("no zero", False) is due


def test_an_alpha_of_zero_and_a_gamma_of_zero_are_one(tmp_path: Path) -> None:
    """Other inputs hide the first: that is no experiment against it."""
    selu = "(float[3] x) => (float[3] y) { y = Selu <alpha = 0.0> (x) }"
    alpha = _bucket(_suspect(_WithoutZeros(), selu, tmp_path / "alpha"), "alpha")
    gamma = _bucket(_suspect(_WithoutZeros(), selu.replace("alpha", "gamma"), tmp_path / "gamma"), "gamma")
    assert (alpha.ablated["inputs"], gamma.ablated["inputs"]) == (True, False)
    assert relation(alpha, gamma) is relation(gamma, alpha) is Relation.SAME
