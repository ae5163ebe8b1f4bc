"""`mutant:OPERATOR@NODE` in the transforms of a flow: the model, with one lie in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.errors import Unsupported, UsageError
from assay.mutants.load import load_graph, save_graph
from assay.ports import Availability, Tensors


class Mutant:
    """Rewrites an ONNX model with one mutation operator of `assay.mutants.table` at one node."""

    name = "mutant"
    accepts = "onnx"
    calibrated = False

    def availability(self) -> Availability:
        """Needs nothing but onnx, which is always there."""
        from importlib import metadata

        return Availability(True, metadata.version("assay"))

    def prepare(self) -> None:
        """Import onnx."""
        import onnx  # noqa: F401

    def apply(self, model: Path, folder: Path, argument: str, calibration: Sequence[Tensors]) -> Path:
        """The mutated model, valid ONNX, weights inside of it where they fit.

        Raises UsageError for an argument that names no mutant of this model, Unsupported where the mutant is no valid
        model (two shapes that do not meet any more, mostly).
        """
        from assay.mutants.table import inject, parse
        from assay.mutants.viable import why_invalid

        graph = load_graph(model)
        mutant = parse(argument)
        try:
            inject(graph, mutant)
        except UsageError as error:
            raise Unsupported(str(error), node=mutant.site) from None
        if reason := why_invalid(graph.model):
            raise Unsupported(f"mutant {argument} is no valid model: {reason}", node=mutant.site)
        return save_graph(graph, folder / "model.onnx")
