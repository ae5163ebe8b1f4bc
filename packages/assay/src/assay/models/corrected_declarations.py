"""A copy of a model whose declarations say what its nodes give."""

from __future__ import annotations

from pathlib import Path

from assay.core.model_part import MODEL
from assay.models.examination.inference import contradiction, expanded, infer
from assay.models.examination.parse import read_model
from assay.models.external_data import external_files


def corrected(path: Path, target: Path) -> bool:
    """Written to `target`, where anything had to be corrected. Not of a model with external data: they would have to lie beside it."""
    model = read_model(path)
    if external_files(model, path):
        return False
    inferred = infer(expanded(model, path.parent), propagate=False).model.graph
    types = {value.name: value for value in (*inferred.value_info, *inferred.output, *model.graph.input)}
    changed = False
    for values in (model.graph.output, model.graph.value_info):
        for value in values:
            declared = types.get(value.name)
            if declared is not None and list(contradiction(MODEL, value, declared)):
                value.type.CopyFrom(declared.type)
                changed = True
    if changed:
        target.write_bytes(model.SerializeToString())
    return changed
