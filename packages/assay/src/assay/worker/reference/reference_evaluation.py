"""Reference answers computed here and now: of a model that transforms have made, or at sizes that no golden has."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from assay import plugins
from assay.errors import Lowering
from assay.models.conversion import convert_to, format_of
from assay.models.dynamic_ranges import with_ranges
from assay.ports import Backend, Engine, Tensor

DOUBLE, OWN = "reference-f64", "reference"
ORACLES = (DOUBLE, OWN)
"""Tried in this order: in double, then in the model's own types where an operator has no double."""
QUANTIZED = (OWN, DOUBLE)
"""For a quantized model its own types come first: which way a value is rounded to the grid is decided in them, and in double
it would be decided otherwise now and then, which costs a whole step."""

_BACKENDS = {"onnx": "reference", "torch": "torch"}
_TORCH = {DOUBLE: "torch-eager-f64", OWN: "torch-eager"}
"""What stands for the evaluators where the model is an exported program."""


Answers = TypeVar("Answers")


def evaluate(
    model: Path, inputs: Sequence[Mapping[str, Tensor]], *, oracles: Sequence[str] = ORACLES
) -> list[dict[str, Tensor]]:
    """Every output of the model for every sample: of an ONNX file by the reference evaluator, of an exported program by torch
    without a compiler, with the ranges that XNNPACK finds while running. Raises Lowering where it cannot."""
    return ask(model, lambda engine: [engine.run(sample) for sample in inputs], oracles=oracles)


def ask(model: Path, question: Callable[[Engine], Answers], *, oracles: Sequence[str] = ORACLES) -> Answers:
    """What the evaluator of the model says to the question. Raises Lowering where none can answer it."""
    form = format_of(model)
    if form == "onnx":
        return _ask(model, question, form, oracles)
    with tempfile.TemporaryDirectory(prefix="reference-") as own:
        folder = Path(own)
        program = model if form == "torch" else convert_to(model, "torch", folder)
        return _ask(with_ranges(program, folder), question, "torch", oracles)


def _ask(model: Path, question: Callable[[Engine], Answers], form: str, oracles: Sequence[str]) -> Answers:
    backend: Backend = plugins.load(plugins.BACKENDS, _BACKENDS[form])()
    flows = {flow.name: flow for flow in backend.flows}
    refusals: list[Lowering] = []
    for name in oracles:
        try:
            return question(backend.lower(model, flows[_TORCH[name] if form == "torch" else name]))
        except Lowering as error:
            refusals.append(error)
    raise refusals[0]
