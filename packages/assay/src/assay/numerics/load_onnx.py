"""An ONNX file with its external data, as the standard says what they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from assay.numerics.dense_weights import densify, state_length

if TYPE_CHECKING:
    from onnx import ModelProto


def load_onnx(path: str | Path) -> ModelProto:
    """As `onnx.load`, which (onnx 1.23) takes all that follows in the file where an entry states no length: what type and shape need is
    taken. Sparse weights come as the dense ones that they stand for."""
    import onnx
    from onnx.external_data_helper import _get_all_tensors, load_external_data_for_model, uses_external_data

    model: ModelProto = onnx.load(str(path), load_external_data=False)
    for tensor in filter(uses_external_data, _get_all_tensors(model)):
        state_length(tensor)
    load_external_data_for_model(model, str(Path(path).parent))
    densify(model, str(Path(path).parent))
    return model
