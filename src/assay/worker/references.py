"""Reference answers computed here and now: of a model that transforms have made, or at sizes that no golden has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from assay import plugins
from assay.errors import Lowering
from assay.ports import Backend, Tensor

DOUBLE, OWN = "reference-f64", "reference"
ORACLES = (DOUBLE, OWN)
"""Tried in this order: in double, then in the model's own types where an operator has no double."""
QUANTIZED = (OWN, DOUBLE)
"""For a quantized model its own types come first: which way a value is rounded to the grid is decided in them, and in double
it would be decided otherwise now and then, which costs a whole step."""

_BACKEND = "reference"


def evaluate(
    model: Path, inputs: Sequence[Mapping[str, Tensor]], *, oracles: Sequence[str] = ORACLES
) -> list[dict[str, Tensor]]:
    """Every output of the ONNX model for every sample, by the reference evaluator. Raises Lowering where it cannot."""
    backend: Backend = plugins.load(plugins.BACKENDS, _BACKEND)()
    flows = {flow.name: flow for flow in backend.flows}
    refusals: list[Lowering] = []
    for name in oracles:
        try:
            engine = backend.lower(model, flows[name])
            return [engine.run(sample) for sample in inputs]
        except Lowering as error:
            refusals.append(error)
    raise refusals[0]
