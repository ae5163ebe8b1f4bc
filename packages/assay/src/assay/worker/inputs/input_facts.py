"""What was fed, for people to see: shapes and values of each input, and where they come from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.core.dtype import dtype_name, is_floating
from assay.core.flow import dimension_key
from assay.core.input_plan import InputFacts, InputPlan, InputRange
from assay.core.model import Model, TensorSpec
from assay.models.goldens import Golden
from assay.numerics.shapes.requirements import MASK
from assay.ports import Tensor


def input_facts(model: Model, golden: Golden) -> tuple[InputFacts, ...]:
    """One for each input, in the order of the model."""
    specs = {spec.name: spec for spec in model.inputs}
    names = list(golden.inputs[0]) if golden.inputs else []
    ordered = [name for name in specs if name in names] + [name for name in names if name not in specs]
    return tuple(
        _facts(name, [sample[name] for sample in golden.inputs], _chosen(golden.lock.plan, specs.get(name)))
        for name in ordered
    )


def _facts(name: str, given: Sequence[object], chosen: str) -> InputFacts:
    arrays = [one for one in given if isinstance(one, np.ndarray | np.generic)]
    if len(arrays) < len(given):
        return InputFacts(name, "sequence", (), chosen=chosen)
    tensors = [np.asarray(one) for one in arrays]
    dtype = "string" if tensors[0].dtype.kind in "OUS" else dtype_name(tensors[0].dtype)
    shapes = tuple(dict.fromkeys(one.shape for one in tensors))
    least, most = _extremes(tensors) if dtype != "string" else (None, None)
    return InputFacts(name, dtype, shapes, least, most, chosen)


def _extremes(tensors: Sequence[Tensor]) -> tuple[float | None, float | None]:
    """Of the finite numbers; of complex ones nothing is said."""
    found = []
    for one in tensors:
        if one.dtype.kind == "c" or not one.size:
            continue
        wide = one.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        if finite.size:
            found += [float(finite.min()), float(finite.max())]
    return (min(found), max(found)) if found else (None, None)


def _chosen(plan: InputPlan | None, spec: TensorSpec | None) -> str:
    if plan is None:
        return "golden"
    if spec is None:
        return ""
    sizes = {
        dimension_key(spec.name, axis, one): size
        for axis, one in enumerate(spec.shape)
        if isinstance(one, str) and (size := plan.sizes.get(dimension_key(spec.name, axis, one))) is not None
    }
    texts = [f"{name}={size}" for name, size in sizes.items()]
    one = plan.ranges.get(spec.name)
    if one is not None:
        texts.append(_range(one))
    elif is_floating(spec.dtype):
        texts.append(plan.floats)
    if plan.products:
        texts.append(f"few samples, for one takes {plan.products / 1e9:.3g} billion products (--samples says how many)")
    if plan.note:
        texts.append(f"after other inputs were refused: {plan.note}")
    return "; ".join(texts)


def _range(one: InputRange) -> str:
    why = f" ({one.why})" if one.why else ""
    if one.texts:
        return f"of {len(one.texts)} texts{why}"
    if one.choices:
        return f"{' or '.join(f'{number:.6g}' for number in one.choices)}{why}"
    if one.kind == MASK:
        return f"ones before zeros{why}"
    ends = ["any" if end is None else f"{end:.6g}" for end in (one.low, one.high)]
    return f"{ends[0]} to {ends[1]}{why}"
