"""A case whose process ended in use is screened again from its files: alone, by the one use that does it, or not at all."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from onnx import parser

from assay.commands.composition import open_services
from assay.core.flow import Flow
from assay.core.screening import ANY_OPERATOR, AS_KIN, Use
from assay.fuzz.corpus import Corpus
from assay.fuzz.crash_experiments import try_crash
from assay.fuzz.screening import Rescreen
from assay.generators.files import keep_case, operators_of, read_case
from assay.ports.generator import GeneratedCase

GRAPH = '<ir_version: 8, opset_import: ["" : 17]> g (float[n, 2] x) => (float[n, 2] y) { y = Neg(x) }'


def test_the_use_that_ends_the_process_is_found_again(tmp_path: Path) -> None:
    case = GeneratedCase(
        parser.parse_model(GRAPH).SerializeToString(),
        {"x": np.ones((2, 2), np.float32)},
        uses=(Use.RELOADED, Use.AGAIN, Use.SIDE_BY_SIDE),
    )
    place = tmp_path / "suspects" / "used-engines-4-7-12"
    options = {"fault": "segfault", "after": 6, "output": "y"}
    with open_services(str(tmp_path / "history"), workers=1) as services:
        again = Rescreen(Corpus(tmp_path), services)
        keep_case(case, place.parent, place.name)
        assert again.smallest(place, Flow(name="faulty", backend="faulty")) == ""
        assert read_case(place).uses == case.uses
        assert again.smallest(place, Flow(name="faulty", backend="faulty", options=options)) == Use.AGAIN
        assert again.with_plain_model(place, Flow(name="faulty", backend="faulty", options=options)) == {
            ANY_OPERATOR: False
        }
        assert again.with_plain_model(place, Flow(name="faulty", backend="faulty")) == {ANY_OPERATOR: True}
    left = read_case(place)
    assert (left.uses, left.others) == ((Use.AGAIN,), ())
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("again")] == []


def test_a_node_that_ends_the_process_alone_is_found(tmp_path: Path) -> None:
    """At the size at which it was asked last, as a model of one node with that size."""
    graph = """<ir_version: 8, opset_import: ["" : 17]>
      g (float[n, 2] x) => (float[n, 2] y, float[n, 2] z) { y = Neg(x) z = Exp(x) }"""
    model = parser.parse_model(graph).SerializeToString()
    case = GeneratedCase(model, {"x": np.ones((2, 2), np.float32)}, others=({"x": np.ones((0, 2), np.float32)},))
    place = tmp_path / "suspects" / "used-engines-4-7-13"
    keep_case(case, place.parent, place.name)
    with open_services(str(tmp_path / "history"), workers=1) as services:
        again = Rescreen(Corpus(tmp_path), services)
        assert not again.node_that_ends(place, Flow(name="faulty", backend="faulty"))
        assert read_case(place).model == model
        dies = Flow(name="faulty", backend="faulty", options={"fault": "segfault"})
        assert again.node_that_ends(place, dies)
    left = read_case(place)
    assert operators_of(place.with_name(f"{place.name}.onnx")) == ("Neg",)
    assert (left.others, next(iter(left.inputs.values())).shape) == ((), (0, 2))


def test_what_ends_the_process_is_tried_with_operators_that_are_made_alike(tmp_path: Path) -> None:
    graph = """<ir_version: 8, opset_import: ["" : 17]>
      g (float[1, 1, 4] x) => (float[1, 1, 3] y) { y = MaxPool<kernel_shape = [2]>(x) }"""
    place = tmp_path / "suspects" / "sweep-7-7-1"
    model = parser.parse_model(graph).SerializeToString()
    keep_case(GeneratedCase(model, {"x": np.float32([[[1, 3, 2, 5]]])}), place.parent, place.name)
    dies = Flow(name="faulty", backend="faulty", options={"fault": "segfault"})
    with open_services(str(tmp_path / "history"), workers=1) as services:

        def kin(flow: Flow, signal: str) -> dict[str, bool]:
            tried = try_crash(place, flow, signal, tmp_path, services)
            return {name: lives for name, lives in tried.items() if name.startswith(AS_KIN)}

        assert kin(dies, "SIGSEGV") == {"as AveragePool": False, "as LpPool": False}
        assert kin(dies, "SIGFPE") == {}
        lives = kin(Flow(name="faulty", backend="faulty"), "SIGSEGV")
    assert lives == {"as AveragePool": True, "as LpPool": True}
