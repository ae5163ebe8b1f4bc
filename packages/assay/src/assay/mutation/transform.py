"""`mutant:OPERATOR@NODE` in the transforms of a flow: the model, with one lie in it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.note import NoteCode, noted
from assay.errors import BadModel, InvalidModel, Unsupported, UsageError
from assay.ports import Availability, Tensors


class Mutant:
    """Rewrites an ONNX model with one mutation operator of `assay.mutation.registry` at one node."""

    name = "mutant"
    accepts = "onnx"
    precision = ""
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

        Raises UsageError for an argument that is no mutant, InvalidModel for a file that is no model, Unsupported where
        the operator does not apply or leaves no valid model (two shapes that do not meet any more, mostly).
        """
        from assay.mutation.load import load_graph, save_graph
        from assay.mutation.registry import inject, parse
        from assay.mutation.validate import why_invalid

        mutant = parse(argument)
        try:
            graph = load_graph(model)
        except BadModel as error:
            raise InvalidModel(error.reason) from error
        try:
            inject(graph, mutant)
        except UsageError as error:
            raise Unsupported(error.reason, node=mutant.site) from None
        if reason := why_invalid(graph.model):
            raise Unsupported(noted(NoteCode.MUTANT_INVALID, mutant=argument, error=reason), node=mutant.site)
        return save_graph(graph, folder / "model.onnx")
