"""`python -m assay.suites.gradients.build`: makes gradient cases, one JSON line in, one out, until the input ends.

Each case becomes model.pt2, a program of ATen operators that computes outputs and derivatives as autograd does, model.onnx
where torch's exporter can, and a golden: the same in float64 on the inputs as rounded. Finite differences in float64 must
agree, or there is no case.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.model import Model
from assay.models.goldens import write_golden
from assay.suites.draw import draw
from assay.suites.gradients.joint import DIRECTIONS, Joint, disagreement, floating, joint
from assay.suites.torch_case import Asked, Drawn
from assay.suites.torch_make import as_tensor, build, number_of, save_models, serve

ATTEMPTS = 6
"""Other inputs are drawn where a kink is too near."""


class Contradicted(Exception):
    """Finite differences say something else than autograd, wherever it was tried."""


def main() -> None:
    serve(make)


def make(asked: Asked, folder: Path) -> None:
    """Raises Contradicted, ValueError where there is nothing to differentiate, and what torch raises."""
    import torch

    case, second = asked.case, asked.case.source == "second"
    torch.manual_seed(number_of(f"{asked.seed}/{case.name}"))
    module = build(case).eval()
    double = copy.deepcopy(module).double()
    arrays, told = _drawn(asked, double, second)
    inputs = [as_tensor(one) for one in arrays.values()]
    own = joint(module, list(arrays), inputs, second=second)
    vectors = {name: draw(Drawn(name, "float32", shape), seed=asked.seed, case=case.name) for name, shape in own.given}
    fed = {**arrays, **vectors}
    expected = told.function(*(_double(as_tensor(one)) for one in fed.values()))
    given = save_models(_traced(own, fed), folder, list(fed), list(own.outputs))
    _write(given, folder, asked, fed, dict(zip(told.outputs, (one.numpy() for one in expected), strict=True)))


def _drawn(asked: Asked, double: Any, second: bool) -> tuple[dict[str, np.ndarray[Any, Any]], Joint]:
    """Inputs away from every kink, and the function in double whose derivatives hold there."""
    why = ""
    for attempt in range(ATTEMPTS):
        name = asked.case.name + (f"#{attempt}" if attempt else "")
        arrays = {one.name: draw(one, seed=asked.seed, case=name) for one in asked.case.inputs}
        inputs = [_double(as_tensor(one)) for one in arrays.values()]
        told = joint(double, list(arrays), inputs, second=second)
        why = _checked(told, inputs, asked.seed, second)
        if not why:
            return arrays, told
    raise Contradicted(f"{why} (for each of {ATTEMPTS} draws)")


def _checked(told: Joint, inputs: Sequence[Any], seed: int, second: bool) -> str:
    """By the inputs: outputs weighted at random, or the first derivative weighted at random, as one number."""
    import torch

    stream = torch.Generator().manual_seed(seed)
    weights = [torch.randn(shape, generator=stream, dtype=torch.float64) for _, shape in told.given]
    values = told.function(*inputs, *weights)
    firsts = [place for place, name in enumerate(told.outputs) if name.startswith("grad_")]
    outputs = firsts[0]
    places = [place for place in floating(inputs) if f"w{place}" in dict(told.given)] if second else None
    if places is None:
        names = [name.removeprefix("grad_") for name in told.outputs[outputs:]]
        places = [place for place, name in zip(floating(inputs), _own(inputs, names), strict=False) if name]

    def scalar(point: Sequence[Any]) -> float:
        moved = list(inputs)
        for place, one in zip(places, point, strict=True):
            moved[place] = one
        found = told.function(*moved, *weights)
        terms, vectors = (
            (found[outputs : outputs + len(places)], weights[outputs:]) if second else (found[:outputs], weights)
        )
        return float(sum((one * w).sum() for one, w in zip(terms, vectors, strict=False)))

    begin = len(values) - len(places) if second else outputs
    gradients = values[begin : begin + len(places)]
    directions = [
        [torch.randint(0, 2, inputs[place].shape, generator=stream).double() * 2 - 1 for place in places]
        for _ in range(DIRECTIONS)
    ]
    return disagreement(scalar, gradients, [inputs[place] for place in places], directions)


def _own(inputs: Sequence[Any], names: Sequence[str]) -> list[bool]:
    told = "xyzwvu"
    return [told[place] in names for place in floating(inputs)]


def _double(tensor: Any) -> Any:
    return tensor.double() if tensor.is_floating_point() else tensor


def _traced(own: Joint, fed: dict[str, np.ndarray[Any, Any]]) -> Any:
    import torch
    from torch.fx.experimental.proxy_tensor import make_fx

    tensors = tuple(as_tensor(one) for one in fed.values())
    # Kernels of oneDNN keep a workspace for their backward, which no exported program can hold.
    with warnings.catch_warnings(action="ignore"), torch.backends.mkldnn.flags(enabled=False):
        traced = make_fx(own.function)(*tensors)
    return torch.export.export(traced, tensors, strict=False)


def _write(
    given: Model, folder: Path, asked: Asked, fed: dict[str, Any], expected: dict[str, np.ndarray[Any, Any]]
) -> None:
    import torch

    write_golden(
        folder / "golden",
        model=given,
        inputs=[{spec.name: fed[spec.name] for spec in given.inputs}],
        outputs=[expected],
        seed=asked.seed,
        producer="torch float64",
        producer_version=str(torch.__version__),
        who="assay",
        why="autograd in float64, held against finite differences",
        created_at="",
    )


if __name__ == "__main__":
    main()
