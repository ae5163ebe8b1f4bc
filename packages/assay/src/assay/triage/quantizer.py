"""What the quantizer has to do with it: the whole model, rewritten by another choice of a transform of the flow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace as dataclass_replace

from msgspec.structs import replace

from assay import plugins
from assay.core.outcome import Outcome
from assay.ports import HasArguments
from assay.triage.context import Context, end_error
from assay.triage.graph import Graph

RIGHT = 0.25
"""Of the error as it was: a model that is off by less is taken for right, as with an option."""


async def right_choices(context: Context, error: float) -> tuple[str, ...]:
    """Other arguments of the flow's transforms with which the model is right, as `--transform` takes them; `error` is that of the model as
    it is. Each is asked once. Raises OutOfTime."""
    right = []
    for number, (named, transforms) in enumerate(other_choices(context.job.flow.transforms)):
        flow = replace(context.job.flow, name=f"{context.job.flow.name}+{number}", transforms=transforms)
        other = dataclass_replace(
            context, job=replace(context.job, flow=flow), folder=context.folder / f"choice-{number}"
        )
        values = await other.values()
        if values.outcome is not Outcome.OK:
            continue
        graph = Graph(values.graph)
        result = await other.prober().ask([range(len(graph.nodes))], outputs=graph.outputs, derive=False)
        if result.outcome is Outcome.OK and end_error(result) < RIGHT * error:
            right.append(named)
    return tuple(right)


def other_choices(transforms: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each with the transforms of the flow in which it stands."""
    for at, transform_name in enumerate(transforms):
        name, _, argument = transform_name.partition(":")
        transform = plugins.load("assay.transforms", name)()
        if not isinstance(transform, HasArguments) or not transform.arguments:
            continue
        usual = argument or transform.arguments[0]
        for choice in transform.arguments:
            if choice != usual:
                yield f"{name}:{choice}", (*transforms[:at], f"{name}:{choice}", *transforms[at + 1 :])
