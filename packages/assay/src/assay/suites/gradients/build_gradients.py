"""`python -m assay.suites.gradients.build_gradients`: makes gradient cases, one JSON line in, one out, until the input ends.

Each case becomes model.pt2, a program of ATen operators that computes outputs and derivatives as autograd does, model.onnx
where torch's exporter can, and a golden: the same in float64 on the inputs as rounded. Finite differences in float64 must
agree, or there is no case.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.model import Model
from assay.models.goldens import write_golden
from assay.models.model_precision import readable_coarse_types
from assay.suites.build_torch import as_tensor, build, number_of, prepare, save_models, serve
from assay.suites.gradients.vjp import DIRECTIONS, Joint, disagreement, joint
from assay.suites.random_tensors import random_tensors
from assay.suites.torch_case import MakeRequest, RandomArg

ATTEMPTS = 6
"""Other inputs are drawn where a kink is too near."""


class Contradicted(Exception):
    """Finite differences say something else than autograd, wherever it was tried."""


def main() -> None:
    serve(make, prepare)


def make(request: MakeRequest, folder: Path) -> None:
    """Raises Contradicted, ValueError where there is nothing to differentiate, and what torch raises."""
    import torch

    case, second = request.case, request.case.source == "second"
    torch.manual_seed(number_of(f"{request.seed}/{case.name}"))
    module = build(case).eval()
    double = copy.deepcopy(module).double()
    arrays, backward = _drawn(request, double, second)
    inputs = [as_tensor(array) for array in arrays.values()]
    own = joint(module, list(arrays), inputs, second=second)
    vectors = {
        name: random_tensors(RandomArg(name, "float32", shape), seed=request.seed, case=case.name)
        for name, shape in own.given
    }
    fed = {**arrays, **vectors}
    expected = backward.function(*(_double(as_tensor(array)) for array in fed.values()))
    models = save_models(_traced(own, fed), folder, list(fed), list(own.outputs))
    _write(
        models, folder, request, fed, dict(zip(backward.outputs, (tensor.numpy() for tensor in expected), strict=True))
    )


def _drawn(request: MakeRequest, double: Any, second: bool) -> tuple[dict[str, np.ndarray[Any, Any]], Joint]:
    """Inputs away from every kink, and the function in double whose derivatives hold there."""
    why = ""
    for attempt in range(ATTEMPTS):
        name = request.case.name + (f"#{attempt}" if attempt else "")
        arrays = {
            random_arg.name: random_tensors(random_arg, seed=request.seed, case=name)
            for random_arg in request.case.inputs
        }
        inputs = [_double(as_tensor(array)) for array in arrays.values()]
        backward = joint(double, list(arrays), inputs, second=second)
        why = _checked(backward, inputs, request.seed, second)
        if not why:
            return arrays, backward
    raise Contradicted(f"{why} (for each of {ATTEMPTS} draws)")


def _checked(backward: Joint, inputs: Sequence[Any], seed: int, second: bool) -> str:
    """Along DIRECTIONS by all inputs at once, and one by each parameter: outputs weighted at random as one number, or the
    first derivatives weighted at random."""
    import torch

    stream = torch.Generator().manual_seed(seed)
    weights = [torch.randn(shape, generator=stream, dtype=torch.float64) for _, shape in backward.given]
    begin, count = backward.values, len(backward.by_inputs)
    terms, pulled = (slice(begin, begin + count), weights[begin:]) if second else (slice(begin), weights)

    def number(own: Sequence[Any], moved: Mapping[str, Any]) -> float:
        gradients = backward.function(*own, *weights, moved=moved)[terms]
        return float(sum((gradient * w).sum() for gradient, w in zip(gradients, pulled, strict=True)))

    def by_inputs(point: Sequence[Any]) -> float:
        moved = dict(zip(backward.by_inputs, point, strict=True))
        return number([moved.get(place, tensor) for place, tensor in enumerate(inputs)], {})

    def directions(point: Sequence[Any], how_many: int) -> list[list[Any]]:
        return [
            [torch.randint(0, 2, tensor.shape, generator=stream).double() * 2 - 1 for tensor in point]
            for _ in range(how_many)
        ]

    derivatives = backward.function(*inputs, *weights)[begin + count if second else begin :]
    point = [inputs[place] for place in backward.by_inputs]
    if why := disagreement(by_inputs, derivatives[:count], point, directions(point, DIRECTIONS)):
        return why
    learned = () if second else zip(backward.by_parameters.items(), derivatives[count:], strict=True)
    for (name, value), derivative in learned:

        def by_parameter(point: Sequence[Any], name: str = name) -> float:
            return number(inputs, {name: point[0]})

        if why := disagreement(by_parameter, [derivative], [value], directions([value], 1)):
            return f"{why}, by the parameter {name}"
    return ""


def _double(tensor: Any) -> Any:
    return tensor.double() if tensor.is_floating_point() else tensor


def _traced(own: Joint, fed: dict[str, np.ndarray[Any, Any]]) -> Any:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    tensors = tuple(as_tensor(array) for array in fed.values())
    # Kernels of oneDNN keep a workspace for their backward, which no exported program can hold.
    with warnings.catch_warnings(action="ignore"), torch.backends.mkldnn.flags(enabled=False):
        traced = make_fx(own.function)(*tensors)
    return torch.export.export(traced, tensors, strict=False)


def _write(
    given: Model, folder: Path, request: MakeRequest, fed: dict[str, Any], expected: dict[str, np.ndarray[Any, Any]]
) -> None:
    import torch

    write_golden(
        folder / "golden",
        model=given,
        inputs=[{spec.name: fed[spec.name] for spec in given.inputs}],
        outputs=[expected],
        seed=request.seed,
        producer="torch float64",
        producer_version=str(torch.__version__),
        who="assay",
        reason="autograd in float64, compared with finite differences",
        created_at="",
        coarse=readable_coarse_types(Path(given.source)),
    )


if __name__ == "__main__":
    main()
