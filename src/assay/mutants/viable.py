"""Whether what a mutation left is still a model: a mutant that no compiler would accept proves nothing."""

from __future__ import annotations

from onnx import ModelProto

_LARGEST_CHECKED = 2**30


def why_invalid(model: ModelProto) -> str:
    """One line, "" for a valid model."""
    import onnx

    if sum(len(tensor.raw_data) for tensor in model.graph.initializer) > _LARGEST_CHECKED:
        return ""
    try:
        onnx.checker.check_model(model)
        onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return " ".join(str(error).split())[:300]
    return ""
