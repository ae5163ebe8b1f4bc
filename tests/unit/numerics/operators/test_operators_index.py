"""Every operator of the standard has one record, in one file."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import onnx
import pytest
from onnx import TensorProto, defs, helper

from assay.numerics import operators as room
from assay.numerics.operators.index import TwoRecords, by_name, names_where, onnx_operators
from assay.numerics.operators.record import LEARNING, MICROSOFT, OnnxOperator, alike

NOTHING_KNOWN = {
    "ImageDecoder": "which numbers an encoded picture holds is the decoder's affair; there is no oracle",
    "RegexFullMatch": "of texts nothing is rounded, and every engine has the same answer or none",
    "StringConcat": "as RegexFullMatch",
    "StringSplit": "as RegexFullMatch",
    "SequenceMap": "the operators of its body have records of their own",
}
"""Operators that need no record, and why."""
ROUNDS = ("rounding", "moves", "kernel", "expanded")
"""What says how the result of an operator rounds."""
BODIES = {"If": "its branches round", "Loop": "its body rounds", "Scan": "its body rounds"}
TEXTS = {"StringNormalizer": "of texts nothing is rounded"}


def _of_the_standard(domain: str) -> set[str]:
    """Of its current opset: those that it has taken back are not."""
    return {schema.name for schema in defs.get_all_schemas() if schema.domain == domain and not schema.deprecated}


@pytest.mark.parametrize("domain", ["", LEARNING])
def test_every_operator_of_the_current_opset_has_a_record(domain: str) -> None:
    recorded = {
        name
        for (of, name), operator in onnx_operators().items()
        if of == domain and operator != OnnxOperator(name, domain=of)
    }
    missing = sorted(_of_the_standard(domain) - recorded - set(NOTHING_KNOWN))
    assert missing == [], (
        f"write a record of {', '.join(missing)} in a file of numerics/operators, as grid_sample.py is one"
    )


def test_what_needs_no_record_has_none() -> None:
    assert not [name for name in NOTHING_KNOWN if ("", name) in onnx_operators()]
    assert set(NOTHING_KNOWN) <= _of_the_standard("")


@pytest.mark.parametrize("domain", ["", LEARNING])
def test_every_record_of_the_standard_says_how_results_round(domain: str) -> None:
    silent = {
        name
        for (of, name), record in onnx_operators().items()
        if of == domain
        and name in _of_the_standard(domain)
        and not any(getattr(record, field_name) for field_name in ROUNDS)
    }
    assert silent == ({*BODIES, *TEXTS} if domain == "" else set())


def test_each_operator_is_in_one_file() -> None:
    listed = Counter(
        (record.domain, record.name)
        for module in iter_modules(room.__path__)
        for record in getattr(import_module(f"{room.__name__}.{module.name}"), "OPERATORS", ())
    )
    assert [operator for operator, count in listed.items() if count > 1] == []
    assert len(listed) == len(onnx_operators())


def test_two_records_of_one_operator_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    clip = import_module("assay.numerics.operators.clip")
    monkeypatch.setattr(clip, "OPERATORS", alike("Add", moves=True))
    onnx_operators.cache_clear()
    with pytest.raises(TwoRecords) as raised:
        onnx_operators()
    assert raised.value.args == ("", "Add", "clip")
    onnx_operators.cache_clear()


def test_of_two_domains_the_name_means_the_operator_of_the_standard() -> None:
    assert onnx_operators()[MICROSOFT, "Attention"].shape is not onnx_operators()["", "Attention"].shape
    assert by_name(lambda record: record.shape)["Attention"] is onnx_operators()["", "Attention"].shape


def test_what_is_false_or_empty_is_not_known() -> None:
    assert "Relu" in names_where(lambda record: record.moves)
    assert "Exp" not in names_where(lambda record: record.moves)
    assert by_name(lambda record: record.steers)["Pad"] == (1, 3)
    assert "Relu" not in by_name(lambda record: record.steers)


def test_a_file_in_the_room_is_all_that_an_operator_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Input planning, floating operations, mutations, the oracle and its noise read the record; nothing else names the operator."""
    (tmp_path / "half.py").write_text(
        "from assay.numerics.operators.mutations import PICTURE\n"
        "from assay.numerics.operators.record import alike\n"
        "from assay.numerics.shapes.elementwise import same_shape\n"
        "from assay.numerics.tolerance.rules.rounding_rules import rounding\n"
        "OPERATORS = alike('Half', rounding=rounding, kernel=lambda call: (call.inputs[0] / 2,), shape=same_shape, free=True,\n"
        "                  mutations=PICTURE)\n"
    )
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 3, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 3, 3])
    model = helper.make_model(helper.make_graph([helper.make_node("Half", ["x"], ["y"], name="half")], "g", [x], [y]))
    onnx.save(model, tmp_path / "half.onnx")
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "import numpy as np\n"
        "import onnx\n"
        "from assay.numerics import operators as room\n"
        "room.__path__.append(sys.argv[1])\n"
        "from assay.models.flop_count import flops_of\n"
        "from assay.models.input_plan.evaluate_shapes import evaluate\n"
        "from assay.models.input_plan.graph import read_graph\n"
        "from assay.mutation.graph import Graph\n"
        "from assay.mutation.registry import sites\n"
        "from assay.numerics.oracle.evaluator import kernel_of\n"
        "from assay.numerics.oracle.hooks import Call\n"
        "from assay.numerics.tolerance.rules.noise_rules import rule_for\n"
        "path = Path(sys.argv[1]) / 'half.onnx'\n"
        "graph = read_graph(onnx.load(path))\n"
        "print(evaluate(graph, {'x': (1, 2, 3, 3)}, {}).values['y'].shape)\n"
        "print(flops_of(path, {'x': (1, 2, 3, 3)})[0])\n"
        "print(*(str(one) for one in sites(Graph(onnx.load(path))) if one.operator == 'swap-height-width'))\n"
        "print(*kernel_of('', 'Half')(Call('Half', 1, (np.float64(3),), {}, frozenset(), ('y',), 'half')), rule_for('Half').__name__)\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["(1, 2, 3, 3)", "0.0", "swap-height-width@half", "1.5 rounding"], done.stderr


def test_all_records_are_known_without_the_evaluator() -> None:
    """Each worker that compares asks for them; only those that evaluate need onnx.reference, whose operators are 200 modules."""
    script = (
        "import sys; from assay.numerics.operators.index import onnx_operators; onnx_operators(); "
        "print('onnx.reference' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False"], done.stderr
