"""Every mutation operator: it applies somewhere, leaves a valid model, changes one thing, and changes what comes out."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import ModelProto, numpy_helper

from assay.errors import Unsupported, UsageError
from assay.mutation.coarse_arithmetic import rounded
from assay.mutation.graph import Graph
from assay.mutation.registry import FAMILIES, OPERATORS, Mutant, inject, parse, sites
from assay.mutation.transform import Mutant as Transform
from assay.mutation.validate import why_invalid
from assay.numerics.operators.index import onnx_operators

sys.path.insert(0, str(Path(__file__).parent))
import models
import tree_models
from models import run

SAME_HERE = {"int32-for-int64", "argmax-ties", "exchange-comparison", "drop-epsilon", "ceil-for-floor", "grid-border"}
"""Another function, but not on every input: small integers fit anywhere, ties are rare."""
ELSEWHERE = {
    "missing-output", "exchange-outputs",  # change what is there, not its values
    "relu-for-smooth", "norm-to-zeros", "unbiased-variance",
}  # fmt: skip


@cache
def found() -> dict[str, list[tuple[str, Mutant]]]:
    where: dict[str, list[tuple[str, Mutant]]] = {name: [] for name in OPERATORS}
    for name, make in tree_models.ALL.items():
        for mutant in sites(Graph(make())):
            where[mutant.operator].append((name, mutant))
    return where


@cache
def original(where: str) -> tuple[Graph, bytes, dict[str, np.ndarray]]:
    """A model, what it is as bytes, and what comes out of it."""
    made = tree_models.ALL[where]()
    return Graph(made), made.SerializeToString(deterministic=True), run(made, models.inputs_of(made))


def test_at_least_thirty_operators_each_with_a_reason_and_a_place() -> None:
    assert len(OPERATORS) == sum(len(family.OPERATORS) for family in FAMILIES) >= 30
    for operator in OPERATORS.values():
        assert operator.stands_for
        assert (operator.distance is None) == (not operator.knob), operator.name


def test_records_of_operators_name_mutations_that_there_are() -> None:
    named = {mutation for operator in onnx_operators().values() for mutation in operator.mutations}
    assert named - set(OPERATORS) == set()


@pytest.mark.parametrize("name", OPERATORS)
def test_the_operator_lies(name: str) -> None:
    assert found()[name], f"{name} has no place in any of the test's models"
    refusals = []
    for where, mutant in found()[name]:
        graph, before, expected = original(where)
        changed = graph.copy()
        inject(changed, mutant)
        assert graph.model.SerializeToString(deterministic=True) == before, "the original was changed"
        if why_invalid(changed.model):
            continue
        try:
            actual = run(changed.model, models.inputs_of(graph.model))
        except Exception as error:
            refusals.append(str(error)[:80])
            continue
        same = list(actual) == list(expected) and all(np.array_equal(actual[n], expected[n]) for n in expected)
        refusals.append("" if same else "differs")
    assert refusals, f"{name} leaves no valid model anywhere"
    assert "differs" in refusals or name in SAME_HERE, (name, refusals, found()[name])


@pytest.mark.parametrize("name", [operator.name for operator in OPERATORS.values() if operator.distance is not None])
def test_the_knob_turns(name: str) -> None:
    """Half the distance is another mutant; a distance that means "no change" changes nothing, where there is one."""
    operator = OPERATORS[name]
    assert operator.distance is not None
    far = []
    for where, mutant in found()[name]:
        outputs = []
        for distance in (operator.distance, operator.distance / 2):
            graph = Graph(tree_models.ALL[where]())
            inject(graph, Mutant(name, mutant.site, distance))
            outputs.append(graph.model.SerializeToString(deterministic=True))
        far.append(outputs[0] != outputs[1])
    assert any(far), name


def test_a_padding_gets_another_value_where_it_adds_any() -> None:
    places = [mutant_site.site for mutant_site in sites(Graph(models.padding())) if mutant_site.operator == "pad-value"]
    assert places == ["low", "zero"]
    for site, value in (("low", 0.0), ("zero", 0.5)):
        graph = Graph(models.padding())
        inject(graph, Mutant("pad-value", site, 0.5))
        graph = Graph(graph.model)
        filled = graph.input_value(graph.at(site), 2)
        assert filled is not None
        assert filled.tolist() == value


def _behind(how: str) -> ModelProto:
    """One product whose weight and bias lie behind Constant nodes, Identity, or both."""
    weight, bias = models.weight(4, 4), models.weight(4)
    nodes, constants = [], {}
    for name, array in (("w", weight), ("b", bias)):
        if how == "constant":
            nodes.append(models.Node("Constant", [], [name], value=numpy_helper.from_array(array)))
        elif how == "identity":
            constants[f"{name}0"] = array
            nodes += [
                models.Node("Identity", [f"{name}0"], [f"{name}1"]),
                models.Node("Identity", [f"{name}1"], [name]),
            ]
        else:
            nodes += [
                models.Node("Constant", [], [f"{name}0"], value=numpy_helper.from_array(array)),
                models.Node("Identity", [f"{name}0"], [name]),
            ]
    nodes.append(models.Node("Gemm", ["x", "w", "b"], ["y"], name="gemm"))
    return models.model(nodes, {"x": (models.F, ["N", 4])}, {"y": (models.F, ["N", 4])}, constants)


@pytest.mark.parametrize("how", ["constant", "identity", "both"])
@pytest.mark.parametrize("operator", ["drop-bias", "bf16-weights", "drop-last-term", "flip-weight-sign", "shift-bias"])
def test_weights_behind_other_nodes_are_weights(how: str, operator: str) -> None:
    made = _behind(how)
    graph = Graph(made)
    assert Mutant(operator, "gemm") in sites(graph)
    changed = graph.copy()
    inject(changed, Mutant(operator, "gemm"))
    feeds = models.inputs_of(made)
    assert not np.array_equal(run(made, feeds)["y"], run(changed.model, feeds)["y"])


def test_a_shared_weight_is_changed_for_one_reader_only() -> None:
    made = models.model(
        [models.Node("MatMul", ["x", "w"], ["y"], name="one"), models.Node("MatMul", ["x", "w"], ["z"], name="two")],
        {"x": (models.F, ["N", 4])},
        {"y": (models.F, ["N", 4]), "z": (models.F, ["N", 4])},
        {"w": models.weight(4, 4)},
    )
    graph = Graph(made)
    changed = graph.copy()
    inject(changed, Mutant("flip-weight-sign", "two"))
    feeds = models.inputs_of(made)
    before, after = run(made, feeds), run(changed.model, feeds)
    assert np.array_equal(before["y"], after["y"])
    assert not np.array_equal(before["z"], after["z"])


def test_external_data_is_read_and_the_mutant_stands_alone(tmp_path: Path) -> None:
    made = models.convolutions()
    folder = tmp_path / "in"
    folder.mkdir()
    onnx.save(
        models.convolutions(), str(folder / "m.onnx"), save_as_external_data=True, location="w.bin", size_threshold=0
    )
    (tmp_path / "out").mkdir()
    path = Transform().apply(folder / "m.onnx", tmp_path / "out", "drop-bias@conv1", ())
    feeds = models.inputs_of(made)
    assert not np.array_equal(run(made, feeds)["y"], run(onnx.load(str(path)), feeds)["y"])


def test_nodes_without_names_or_with_twice_the_same_are_called_by_their_output() -> None:
    made = models.model(
        [models.Node("Relu", ["x"], ["h"], name="same"), models.Node("Relu", ["h"], ["i"], name="same"),
         models.Node("Relu", ["i"], ["y"])],
        {"x": (models.F, [2, 4])}, {"y": (models.F, [2, 4])},
    )  # fmt: skip
    graph = Graph(made)
    keys = [mutant.site for mutant in sites(graph) if mutant.operator == "leaky-for-relu"]
    assert keys == ["h", "i", "y"]
    inject(graph, Mutant("leaky-for-relu", "i"))
    assert [node.op_type for node in graph.nodes] == ["Relu", "LeakyRelu", "Relu"]


def test_the_words_of_a_mutant() -> None:
    for text in ("drop-bias@conv1", "scale-off=0.5@/a/b:c@d", "noise=1e-06@x"):
        assert str(parse(text)) == text
    for wrong, hint in (("drop-bias", "OPERATOR@NODE"), ("drop-bais@x", "drop-bias"), ("noise=much@x", "no number"),
                        ("drop-bias=2@x", "no distance")):  # fmt: skip
        with pytest.raises(UsageError, match=hint):
            parse(wrong)


def test_a_mutant_that_does_not_apply_or_is_no_model_is_unsupported(tmp_path: Path) -> None:
    onnx.save(models.convolutions(), str(tmp_path / "m.onnx"))
    with pytest.raises(Unsupported, match="it applies at"):
        Transform().apply(tmp_path / "m.onnx", tmp_path, "drop-bias@relu", ())
    with pytest.raises(Unsupported, match="it needs"):
        Transform().apply(tmp_path / "m.onnx", tmp_path, "exchange-gates@relu", ())


@pytest.mark.parametrize(("grade", "bits"), [("tf32", 11), ("bf16", 8), ("fp16", 11)])
def test_rounding_keeps_exactly_so_many_bits(grade: str, bits: int) -> None:
    values = np.random.default_rng(1).normal(size=1000).astype(np.float32)
    mantissa, _ = np.frexp(rounded(values, grade).astype(np.float64))
    assert np.array_equal(mantissa * 2**bits, np.rint(mantissa * 2**bits))
    assert np.abs(rounded(values, grade) - values).max() > 0
    assert np.all(np.abs(rounded(values, grade) - values) <= 2.0**-bits * np.abs(values) + 1e-7)


def test_inserted_rounding_is_that_of_the_weights() -> None:
    """Veltkamp's splitting in the graph and the rounding in numpy are two implementations of one thing."""
    made = models.model([models.Node("MatMul", ["x", "w"], ["y"], name="m")], {"x": (models.F, [3, 4])},
                        {"y": (models.F, [3, 4])}, {"w": np.eye(4, dtype=np.float32)})  # fmt: skip
    feeds = models.inputs_of(made)
    for grade in ("tf32", "bf16", "fp16"):
        graph = Graph(made).copy()
        inject(graph, Mutant(f"{grade}-inputs", "m"))
        assert np.array_equal(run(graph.model, feeds)["y"], rounded(feeds["x"], grade)), grade


def test_nested_graphs_of_local_functions_are_inlined() -> None:
    from onnx import helper

    function = helper.make_function(
        "own", "Twice", ["a"], ["b"], [models.Node("Relu", ["a"], ["b"])], [helper.make_opsetid("", 18)]
    )
    made = models.model([models.Node("Relu", ["x"], ["y"])], {"x": (models.F, [2, 4])}, {"y": (models.F, [2, 4])})
    made.graph.node[0].op_type, made.graph.node[0].domain = "Twice", "own"
    made.opset_import.append(helper.make_opsetid("own", 1))
    made.functions.append(function)
    assert "leaky-for-relu" in {mutant.operator for mutant in sites(Graph(made))}


def test_the_transform_keeps_the_promises_of_its_port(tmp_path: Path) -> None:
    """With a lie so small that the conformance check's own limit does not see it."""
    from assay.mutation.load import load_graph
    from assay.testing.tiny_models import tiny_model
    from assay.testing.transform_checks import check_transform

    graph = load_graph(tiny_model(tmp_path / "tiny.onnx"))
    place = next(mutant.site for mutant in sites(graph) if mutant.operator == "scale-off")
    check_transform(Transform(), arguments=(f"scale-off=1e-7@{place}",))


def test_erf_is_taken_for_tanh_where_a_gelu_is_however_it_is_written() -> None:
    made = models.gelu_by_tanh()
    assert [mutant_site.site for mutant_site in sites(Graph(made)) if mutant_site.operator == "erf-gelu"] == [
        "whole",
        "cube",
        "square",
    ]
    feeds = models.inputs_of(made)
    sound = run(made, feeds)["y"]
    for site in ("whole", "cube", "square"):
        graph = Graph(made)
        inject(graph, Mutant("erf-gelu", site))
        off = np.abs(run(graph.model, feeds)["y"] - sound).max()
        assert 1e-6 < off < 1e-2, (site, off)


def test_a_model_of_the_third_version_of_the_format_has_the_mutants_of_a_later_one() -> None:
    """In it every initializer is an input, too: a mutant's new constants are not."""
    names: dict[int, set[str]] = {}
    for version in (3, 8):
        nodes = [
            onnx.helper.make_node("Gemm", ["x", "w", "b"], ["h"], name="gemm"),
            onnx.helper.make_node("Relu", ["h"], ["y"], name="relu"),
        ]
        weights = [
            numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "w"),
            numpy_helper.from_array(np.arange(3, dtype=np.float32), "b"),
        ]
        inputs = [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, 4])]
        if version < 4:
            inputs += [
                onnx.helper.make_tensor_value_info(weight.name, weight.data_type, weight.dims) for weight in weights
            ]
        outputs = [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [2, 3])]
        model = onnx.helper.make_model(
            onnx.helper.make_graph(nodes, "gemm", inputs, outputs, weights),
            opset_imports=[onnx.helper.make_opsetid("", 9)],
        )
        model.ir_version = version
        graph, names[version] = Graph(model), set()
        for site in sites(graph):
            changed = graph.copy()
            inject(changed, site)
            if not why_invalid(changed.model):
                names[version].add(f"{site.operator}@{site.site}")
    assert names[3] == names[8]
    assert {"drop-bias@gemm", "bf16-weights@gemm"} <= names[3]
