"""A module and its derivative as one function of tensors, and finite differences of it in double precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

MARGIN = 1e-3
"""No kink may lie nearer to any element than this: rounding to float32 must not step over one."""
STEP = 1e-6
"""Of central differences: their error is about STEP**2 + 1e-16 / STEP, times the scale of the function."""
AGREE = 1e-6
"""Of the directional derivative, relative to the sum of the sizes of its terms."""
DIRECTIONS = 3


class Differentiated(Protocol):
    """`function(*inputs, *weights)` gives the outputs, then their derivatives. Parameters are baked in; `moved` replaces some."""

    def __call__(self, *values: Any, moved: Mapping[str, Any] = ...) -> tuple[Any, ...]: ...


@dataclass(frozen=True)
class Joint:
    """`given` names the extra inputs of `function` with their shapes, `outputs` its results: values, then derivatives by the
    inputs at `by_inputs`, then by `by_parameters` (name: value), then second ones by the inputs."""

    function: Differentiated
    given: tuple[tuple[str, tuple[int, ...]], ...]
    outputs: tuple[str, ...]
    by_inputs: tuple[int, ...]
    by_parameters: Mapping[str, Any]

    @property
    def values(self) -> int:
        """How many of the results are no derivatives."""
        return next(place for place, name in enumerate(self.outputs) if name.startswith("grad_"))


def floating(inputs: Sequence[Any]) -> list[int]:
    """The places of the inputs that have derivatives: whole numbers and truth values are declared to have none."""
    return [place for place, tensor in enumerate(inputs) if tensor.is_floating_point()]


def joint(module: Any, names: Sequence[str], inputs: Sequence[Any], *, second: bool) -> Joint:
    """Vector-Jacobian products for every differentiable input and parameter; for `second`, then the derivative of their
    product with another vector, by the inputs. Raises ValueError for a module of which nothing has a derivative."""
    import torch

    parameters = {name: parameter.detach() for name, parameter in module.named_parameters()}
    outputs = [tensor for tensor in flat(module(*inputs)) if tensor.is_floating_point()]
    by_inputs, by_parameters = _derivable(module, parameters, inputs)
    by_parameters = [] if second else by_parameters
    vectors = [(f"v{place}", tuple(output.shape)) for place, output in enumerate(outputs)]
    others = [(f"w{place}", tuple(inputs[place].shape)) for place in by_inputs] if second else []

    def function(*values: Any, moved: Mapping[str, Any] = parameters) -> tuple[Any, ...]:
        own = list(values[: len(inputs)])
        pushed, pulled = values[len(inputs) : len(inputs) + len(vectors)], values[len(inputs) + len(vectors) :]
        for place in by_inputs:
            own[place] = own[place].detach().requires_grad_()
        learned = {
            name: moved.get(name, parameter).detach().requires_grad_(name in by_parameters)
            for name, parameter in parameters.items()
        }
        with torch.enable_grad():
            outcomes = [
                tensor
                for tensor in flat(torch.func.functional_call(module, learned, tuple(own)))
                if tensor.is_floating_point()
            ]
            reached = [(tensor, v) for tensor, v in zip(outcomes, pushed, strict=True) if tensor.requires_grad]
            sources = [*(own[place] for place in by_inputs), *(learned[name] for name in by_parameters)]
            first = torch.autograd.grad(
                [tensor for tensor, _ in reached], sources, [v for _, v in reached], create_graph=second
            )
            twice = () if not second else torch.autograd.grad(
                [tensor for tensor in first if tensor.requires_grad],
                sources,
                [w for tensor, w in zip(first, pulled, strict=True) if tensor.requires_grad],
                allow_unused=True, materialize_grads=True,
            )  # fmt: skip
        return tuple(tensor.detach() for tensor in (*outcomes, *first, *twice))

    names_of_inputs = [names[place] for place in by_inputs]
    results = [f"out{place}" for place in range(len(outputs))]
    results += [f"grad_{name}" for name in names_of_inputs] + [
        f"grad_{name.replace('.', '_')}" for name in by_parameters
    ]
    results += [f"second_{name}" for name in names_of_inputs] if second else []
    learnable = {name: parameters[name] for name in by_parameters}
    return Joint(function, (*vectors, *others), tuple(results), tuple(by_inputs), learnable)


def _derivable(module: Any, parameters: dict[str, Any], inputs: Sequence[Any]) -> tuple[list[int], list[str]]:
    """The places of the inputs, and the names of the parameters, by which anything has a derivative; some input must."""
    places = floating(inputs)
    _, gradients = _first(module, parameters, inputs, places)
    by_inputs = [place for place, gradient in zip(places, gradients, strict=False) if gradient is not None]
    if not by_inputs:
        raise ValueError("no input has a derivative")
    by_parameters = zip(parameters, gradients[len(places) :], strict=True)
    return by_inputs, [name for name, parameter in by_parameters if parameter is not None]


def _first(
    module: Any, parameters: dict[str, Any], inputs: Sequence[Any], places: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Outputs, and the derivative of their sum by each floating input and each parameter (None: it has none)."""
    import torch

    own = [tensor.detach().requires_grad_() if place in places else tensor for place, tensor in enumerate(inputs)]
    learned = {name: parameter.detach().requires_grad_() for name, parameter in parameters.items()}
    with torch.enable_grad():
        outputs = [
            tensor
            for tensor in flat(torch.func.functional_call(module, learned, tuple(own)))
            if tensor.is_floating_point()
        ]
        reached = [tensor.sum() for tensor in outputs if tensor.requires_grad]
        sources = [*(own[place] for place in places), *learned.values()]
        if not reached:
            return outputs, [None] * len(sources)
        return outputs, list(torch.autograd.grad(reached, sources, allow_unused=True))


def flat(value: Any) -> list[Any]:
    """The tensors of whatever a module returns."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in flat(part)]
    return [value] if value is not None else []


def disagreement(
    scalar: Callable[[Sequence[Any]], float],
    gradients: Sequence[Any],
    point: Sequence[Any],
    directions: Sequence[Sequence[Any]],
) -> str:
    """Where finite differences contradict the gradients of `scalar` at `point`: "" nowhere.

    Central differences first; where they disagree, five points (Abramowitz and Stegun 25.3.6), which err by the fourth power
    of the step. The same five points as far apart as the margin see a kink that is too near.
    """
    for direction in directions:
        parts = [(gradient * along).sum() for gradient, along in zip(gradients, direction, strict=True)]
        derivative = float(sum(parts))
        scale = (
            float(sum((gradient * along).abs().sum() for gradient, along in zip(gradients, direction, strict=True)))
            + 1e-3
        )

        def at(step: float, along: Sequence[Any] = direction) -> float:
            return scalar([tensor + step * way for tensor, way in zip(point, along, strict=True)])

        central = (at(STEP) - at(-STEP)) / (2 * STEP)
        near = central if abs(central - derivative) <= AGREE * scale else _five(at, 1e-4)
        if not abs(near - derivative) <= AGREE * scale:
            return f"the derivative along a direction is {derivative:.9g}, finite differences say {near:.9g}"
        far = _five(at, MARGIN)
        if not abs(far - derivative) <= 1e3 * AGREE * scale:
            return f"a kink is within {MARGIN} of the inputs: {derivative:.9g} here, {far:.9g} around"
    return ""


def _five(at: Callable[[float], float], step: float) -> float:
    return (at(-2 * step) - 8 * at(-step) + 8 * at(step) - at(2 * step)) / (12 * step)
