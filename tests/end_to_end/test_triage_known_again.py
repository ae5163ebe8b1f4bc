"""A cause that was found before is told of another model where it is the same one, and of no other."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from assay.testing.planted_nets import PlantedNet
from assay.triage.cause import Cause, Pattern, from_json, to_json
from triaged import NODES, causes_of


def test_one_fault_at_two_places_is_one_cause(tmp_path: Path) -> None:
    net = PlantedNet(2 * NODES, seed=3)
    (first,), (second,) = net.sites["wrong_function"]
    (cause,) = causes_of(net.model, tmp_path, "miscompiler", fault="wrong_function")
    named = [node_text.partition(" ")[0] for node_text in (*cause.nodes, *cause.elsewhere)]
    assert (sorted(named), len(cause.nodes)) == (sorted([first, second]), 1)
    assert cause.explains is not None
    assert cause.explains > 0.99
    page = (Path(cause.folder) / "cause.json").read_text()
    (again,) = causes_of(PlantedNet(2 * NODES, seed=4).model, tmp_path, "miscompiler", "second", fault="wrong_function")
    assert (again.known_as, len(again.elsewhere), again.kernel) == (cause.folder, 1, True)
    assert again.asked < 10
    assert (Path(cause.folder) / "cause.json").read_text() == page


def test_a_cause_of_the_same_nodes_that_another_pass_brings_is_not_told_as_known(tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    site = net.sites["swapped_scale"][0]
    (first,) = causes_of(net.model, tmp_path, "miscompiler", fault="swapped_scale", site=site[-1])
    page = Path(first.folder) / "cause.json"
    cause = from_json(page.read_bytes(), Cause)
    other = replace(cause, cures=(replace(cause.cures[0], options={"disabled": "lost_relu"}),))
    page.write_bytes(to_json(other))
    net = PlantedNet(NODES, seed=4)
    site = net.sites["swapped_scale"][0]
    (again,) = causes_of(net.model, tmp_path, "miscompiler", "second", fault="swapped_scale", site=site[-1])
    assert (again.known_as, again.cures[0].names) == ("", ("swapped_scale",))


@pytest.mark.parametrize("other", ["", "attributes", "versions", "unknown"])
def test_what_nothing_cured_is_known_again_by_attributes_and_versions(other: str, tmp_path: Path) -> None:
    net = PlantedNet(NODES, seed=3)
    (first,) = causes_of(net.model, tmp_path, "miscompiler", fault="wrong_slope")
    assert (first.cures, first.operators) == ((), ("LeakyRelu",))
    (kept,) = (tmp_path / "history" / "triage").glob("pattern-*.json")
    pattern = msgspec.json.decode(kept.read_bytes(), type=Pattern)
    if other == "versions":
        kept.write_bytes(msgspec.json.encode(replace(pattern, versions={**pattern.versions, "onnx": "0.1"})))
    if other == "unknown":
        kept.write_bytes(msgspec.json.encode(replace(pattern, versions={}, attributes=())))
    model = PlantedNet(NODES, seed=4).model
    for node in model.graph.node:
        if other == "attributes" and node.op_type == "LeakyRelu":
            node.attribute[0].f = 0.05
    (again,) = causes_of(model, tmp_path, "miscompiler", "second", fault="wrong_slope")
    assert again.operators == ("LeakyRelu",)
    assert again.known_as == ("" if other else first.folder)
