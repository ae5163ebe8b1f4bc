"""The same request is answered from before; anything that its answer depends on makes it another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.commands.same_request import request_key
from assay.options.triage import TriageOptions


def test_what_an_answer_depends_on_makes_another_request(tmp_path: Path) -> None:
    model, weights = tmp_path / "net.onnx", tmp_path / "net.data"
    model.write_bytes(b"location net.data")
    weights.write_bytes(b"1")
    asked = TriageOptions(target=str(model), flows=("onnxruntime",))
    key = request_key(asked)
    assert key
    assert request_key(replace(asked, time_limit_s=5.0, workers=1, output=tmp_path, history="h")) == key
    changed = [replace(asked, seed=1), replace(asked, flows=("openvino",)), replace(asked, options={"threads": 2})]
    assert len({key, *map(request_key, changed)}) == 4
    weights.write_bytes(b"22")
    assert request_key(asked) != key
    model.write_bytes(b"location net.dat2")
    assert request_key(asked) != key


def test_where_more_has_a_say_the_model_is_checked_again(tmp_path: Path) -> None:
    model = tmp_path / "net.onnx"
    model.write_bytes(b"x")
    asked = TriageOptions(target=str(model), flows=("onnxruntime",))
    for other in (
        replace(asked, golden=tmp_path), replace(asked, inputs="x.npz"), replace(asked, flows=("onnxruntime@old",)),
        replace(asked, flows=()), replace(asked, target="last"), replace(asked, since=True),
    ):  # fmt: skip
        assert request_key(other) == ""
