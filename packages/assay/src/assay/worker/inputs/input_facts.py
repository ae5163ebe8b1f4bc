"""What was fed: shapes and values of each input, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec.structs import replace

from assay.core.dtype import dtype_name, is_floating
from assay.core.flow import dimension_key
from assay.core.input_plan import InputFacts, InputPlan
from assay.core.model import Model, TensorSpec
from assay.models.goldens import Golden
from assay.ports import Tensor


def input_facts(model: Model, golden: Golden) -> tuple[InputFacts, ...]:
    """One for each input, in the order of the model."""
    specs = {spec.name: spec for spec in model.inputs}
    names = list(golden.inputs[0]) if golden.inputs else []
    ordered = [name for name in specs if name in names] + [name for name in names if name not in specs]
    return tuple(
        _facts(name, [sample[name] for sample in golden.inputs], _choice(golden.lock.plan, specs.get(name)))
        for name in ordered
    )


def _facts(name: str, samples: Sequence[object], choice: InputFacts) -> InputFacts:
    arrays = [value for value in samples if isinstance(value, np.ndarray | np.generic)]
    if len(arrays) < len(samples):
        return replace(choice, name=name, dtype="sequence")
    tensors = [np.asarray(array) for array in arrays]
    dtype = "string" if tensors[0].dtype.kind in "OUS" else dtype_name(tensors[0].dtype)
    shapes = tuple(dict.fromkeys(tensor.shape for tensor in tensors))
    least, most = _extremes(tensors) if dtype != "string" else (None, None)
    return replace(choice, name=name, dtype=dtype, shapes=shapes, least=least, most=most)


def _extremes(tensors: Sequence[Tensor]) -> tuple[float | None, float | None]:
    """Of the finite numbers; of complex ones nothing is said."""
    extremes = []
    for tensor in tensors:
        if tensor.dtype.kind == "c" or not tensor.size:
            continue
        wide = tensor.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        if finite.size:
            extremes += [float(finite.min()), float(finite.max())]
    return (min(extremes), max(extremes)) if extremes else (None, None)


def _choice(plan: InputPlan | None, spec: TensorSpec | None) -> InputFacts:
    """What is known of where its values come from."""
    if plan is None or spec is None:
        return InputFacts("", "", (), golden=plan is None)
    keys = (dimension_key(spec.name, axis, size) for axis, size in enumerate(spec.shape) if isinstance(size, str))
    sizes = {key: size for key in keys if (size := plan.sizes.get(key)) is not None}
    input_range = plan.ranges.get(spec.name)
    floats = plan.floats if input_range is None and is_floating(spec.dtype) else ""
    return InputFacts(
        "", "", (), sizes=sizes, range=input_range, floats=floats, products=plan.products, changes=plan.changes
    )
