"""The plan by which the inputs of a model are drawn, from what its graph says; and what to try where that is refused."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from math import isinf, prod

import numpy as np
from msgspec.structs import replace

from assay.core.constraint import Constraint, ConstraintCode
from assay.core.finding import Fact
from assay.core.input_plan import InputPlan, InputRange, RangeSource
from assay.core.model import Model
from assay.core.note import NoteCode, noted
from assay.models.input_plan.evaluate_shapes import evaluate
from assay.models.input_plan.graph import Graph, read_graph
from assay.models.input_plan.number_ranges import number_ranges
from assay.models.input_plan.sizes import LARGE, MOST_ELEMENTS, NATURAL, SMALL, Solution, solve
from assay.models.input_plan.symbols import Sizes, planned_shapes, shaped, symbols
from assay.models.input_plan.threshold_ranges import threshold_ranges
from assay.models.input_plan.value_ranges import compared_constants, value_ranges
from assay.numerics.shapes.needed_values import ASCENDING, COUNT, DOMAIN, INDEX, UNIQUE, Need
from assay.numerics.shapes.values import Array

Ranges = dict[str, InputRange]
_WHOLE = ("int", "uint")
_FEW = 3
"""The last place of a table whose size nobody knows."""


def plan_of(model: Model, *, batch: int, fixed: Mapping[str, int], stated: Mapping[str, InputRange]) -> InputPlan:
    """`fixed` sizes and `stated` ranges are taken as they are. Of a graph that cannot be read nothing is known: every first
    dimension is `batch`, all others 16."""
    if model.format != "onnx":
        program = _of_program(model, batch, fixed, stated)
        if program is not None:
            return program
    known = {spec.name: spec.shape for spec in model.inputs if spec.shape != ("...",)}
    graph = _graph(model)
    if graph is None:
        firsts = symbols(known)
        return InputPlan(
            {name: fixed.get(name, batch if first else 16) for name, first in firsts.items()}, dict(stated)
        )
    chosen = {**_compared(graph, model), **stated}
    solution = _solved(graph, batch, dict(fixed), chosen)
    ranges = {name: _range(need) for name, need in value_ranges(graph, solution.walked).items()}
    unmet = solution.unmet.constraint if solution.unmet is not None else None
    if unmet is None or _is_avoided(unmet):
        unmet = _outside(stated, ranges)
    guesses = {**number_ranges(graph, solution.walked.values, model), **threshold_ranges(graph, model)}
    return InputPlan(solution.sizes, {**guesses, **ranges, **chosen}, unmet=unmet)


def taken(model: Model, ways: Sequence[Mapping[str, tuple[int, ...]]]) -> list[bool]:
    """Of shapes of all inputs: whether they meet every constraint of the graph. A graph that cannot be read has none."""
    graph = _graph(model) if ways else None
    return [graph is None or evaluate(graph, shapes, {}).unmet is None for shapes in ways]


def _is_avoided(unmet: Constraint) -> bool:
    """And not demanded: an output may be empty, and a sum taken of nothing, by what the model is. The mean, or the place, of nothing is
    nothing."""
    empty = unmet.code is ConstraintCode.EMPTY_REDUCTION and unmet.operator not in ("ArgMax", "ArgMin", "ReduceMean")
    return empty or unmet.code is ConstraintCode.EMPTY_OUTPUT


def _of_program(
    model: Model, batch: int, fixed: Mapping[str, int], stated: Mapping[str, InputRange]
) -> InputPlan | None:
    """None where the program cannot be read: whoever runs it says why."""
    from assay.errors import AssayError
    from assay.models.input_plan.program_plan import plan_program

    try:
        program_plan = plan_program(model, batch=batch, fixed=dict(fixed))
    except (AssayError, AttributeError, KeyError, TypeError, ValueError):
        # What torch keeps of a program changes with its versions.
        return None
    ranges = {name: _range(need) for name, need in program_plan.needs.items()}
    return InputPlan(
        program_plan.sizes,
        {**program_plan.numbers, **ranges, **stated},
        unmet=program_plan.unmet or _outside(stated, ranges),
    )


def _outside(stated: Mapping[str, InputRange], ranges: Ranges) -> Constraint | None:
    """The first range that a user states and that leads out of a table. Indices below zero count from the end."""
    for name, input_range in stated.items():
        number_range = ranges.get(name)
        if number_range is None or number_range.kind not in (INDEX, UNIQUE) or number_range.high is None:
            continue
        low, high = input_range.low, input_range.high
        if (low is None or low >= -number_range.high - 1) and (high is None or high <= number_range.high):
            continue
        ends = {"low": low, "high": high}
        known: dict[str, Fact] = {key: end for key, end in ends.items() if end is not None}
        return Constraint(
            ConstraintCode.RANGE_OUTSIDE,
            {"input": name, "last": number_range.high, **known},
            operator=number_range.operator,
            node=number_range.node,
        )
    return None


def _graph(model: Model) -> Graph | None:
    if model.format != "onnx" or not model.source.endswith(".onnx"):
        return None
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        return read_graph(onnx.load(model.source, load_external_data=False))
    except (
        OSError,
        ValueError,
        RuntimeError,
        DecodeError,
    ):  # onnx raises RuntimeError for functions that it cannot inline
        return None


def _compared(graph: Graph, model: Model) -> Ranges:
    """Scalars that are compared with numbers: those numbers."""
    sizes = {spec.name: spec.shape for spec in model.inputs}
    return {
        name: InputRange(min(numbers), max(numbers), choices=numbers, source=RangeSource.COMPARED)
        for name, numbers in compared_constants(graph).items()
        if all(size in (1, "?") for size in sizes.get(name, ("...",)))
    }


def _solved(graph: Graph, batch: int, fixed: Sizes, chosen: Ranges) -> Solution:
    """With the first choices of scalars, since they decide which branch is taken."""
    data: dict[str, Array] = {}
    for name, input_range in chosen.items():
        if input_range.choices and graph.declared.get(name) in ((), (1,)):
            shape = graph.declared[name] or ()
            data[name] = np.full(tuple(int(size) for size in shape), input_range.choices[0]).astype(
                _element(graph, name)
            )
    return solve(graph, batch=batch, fixed=fixed, data=data)


def _element(graph: Graph, name: str) -> np.dtype[np.generic]:
    from onnx.helper import tensor_dtype_to_np_dtype

    return np.dtype(tensor_dtype_to_np_dtype(graph.elements[name]))


def _range(need: Need) -> InputRange:
    return InputRange(
        None if isinf(need.low) else need.low,
        None if isinf(need.high) else need.high,
        "" if need.kind == DOMAIN else need.kind,
        need.choices,
        need.exact,
        need.texts,
        RangeSource.OPERATOR if need.operator else RangeSource.UNKNOWN,
        need.operator,
        need.node,
    )


def without_guesses(plan: InputPlan) -> Ranges:
    """Those that are more than what numbers may be: without them whole numbers are 0 to 9, and real ones normal."""
    return {
        name: input_range
        for name, input_range in plan.ranges.items()
        if input_range.source not in (RangeSource.TYPE, RangeSource.NUMBERS, RangeSource.THRESHOLDS)
    }


def alternatives(plan: InputPlan, model: Model) -> Iterator[InputPlan]:
    """What else to try where the reference refuses the plan, or answers nothing that tells anything; likelier ones first."""
    for name, input_range in plan.ranges.items():
        for choice in input_range.choices if len(input_range.choices) > 1 else ():
            only = replace(input_range, choices=(choice,))
            yield replace(
                plan,
                ranges={**plan.ranges, name: only},
                changes=(noted(NoteCode.ONE_VALUE_FED, input=name, value=choice),),
            )
    unknown = [
        name
        for name, input_range in plan.ranges.items()
        if input_range.kind in (INDEX, UNIQUE) and input_range.low == input_range.high == 0
    ]
    if unknown:
        few = {name: replace(plan.ranges[name], high=_FEW) for name in unknown}
        yield replace(plan, ranges={**plan.ranges, **few}, changes=(noted(NoteCode.FEW_PLACES, places=_FEW + 1),))
    yield from ascending(plan, model)
    free = without_guesses(plan)
    if len(free) < len(plan.ranges):
        yield replace(plan, ranges=free, changes=(noted(NoteCode.SMALL_FED),))
    yield from whole_lengths(plan, model)
    whole = [spec.name for spec in model.inputs if spec.dtype.startswith(_WHOLE) and spec.name not in free]
    if whole:
        bits = {name: InputRange(0, 1, source=RangeSource.TRIED) for name in whole}
        yield replace(plan, ranges={**plan.ranges, **bits}, changes=(noted(NoteCode.BITS_FED),))
    if any(spec.dtype.startswith(("float", "bfloat")) for spec in model.inputs):
        yield replace(plan, floats="uniform", changes=(noted(NoteCode.UNIFORM_FED),))
    if whole:
        ones = {name: InputRange(1, 1, source=RangeSource.TRIED) for name in whole}
        yield replace(plan, ranges={**plan.ranges, **ones}, changes=(noted(NoteCode.ONES_FED),))
    if any(spec.dtype == "bool" for spec in model.inputs):
        truths = {
            spec.name: InputRange(1, 1, source=RangeSource.TRIED) for spec in model.inputs if spec.dtype == "bool"
        }
        yield replace(plan, ranges={**plan.ranges, **truths}, changes=(noted(NoteCode.TRUTHS_FED),))


def ascending(plan: InputPlan, model: Model) -> Iterator[InputPlan]:
    """With whole numbers along one axis as the places where parts of another begin and end: from 0 to each size that the inputs have,
    or to the last place before it."""
    shapes, known = planned_shapes(model, plan, batch=1), without_guesses(plan)
    names = [
        spec.name
        for spec in model.inputs
        if spec.dtype in ("int64", "int32") and len(shapes[spec.name]) == 1 and shapes[spec.name] != (1,)
        if spec.name not in known or known[spec.name].kind == COUNT
    ]
    for name in names:
        sizes = dict.fromkeys(size for other, shape in shapes.items() if other != name for size in shape)
        for last in (end for size in sizes for end in (size, size - 1) if end > 0):
            input_range = InputRange(0, last, ASCENDING, source=RangeSource.TRIED)
            yield replace(
                plan,
                ranges={**plan.ranges, name: input_range},
                changes=(noted(NoteCode.ASCENDING_FED, input=name, last=last),),
            )


def whole_lengths(plan: InputPlan, model: Model) -> Iterator[InputPlan]:
    """With whole numbers along one axis at most as lengths: the largest size that another input has, so that nothing is cut off."""
    shapes, known = planned_shapes(model, plan, batch=1), without_guesses(plan)
    names = [
        spec.name
        for spec in model.inputs
        if spec.dtype in ("int64", "int32") and len(shapes[spec.name]) <= 1 and spec.name not in known
    ]
    for name in names:
        last = max((size for other, shape in shapes.items() if other != name for size in shape), default=0)
        if last > 1:
            input_range = InputRange(last, last, source=RangeSource.TRIED)
            yield replace(
                plan,
                ranges={**plan.ranges, name: input_range},
                changes=(noted(NoteCode.ONE_VALUE_FED, input=name, value=last),),
            )


def other_sizes(plan: InputPlan, model: Model, *, fixed: Collection[str]) -> Iterator[Sizes]:
    """Sizes to try where the reference refuses those of the plan though no constraint is known: of all dimensions but the batch
    together, of each alone, and of the batch; usual ones first. What a user stated stays."""
    firsts = symbols({spec.name: spec.shape for spec in model.inputs})
    free = [name for name in plan.sizes if name not in fixed]
    others = [name for name in free if not firsts.get(name)]
    known = {spec.name: spec.shape for spec in model.inputs}
    for names in ([others] if len(others) > 1 else []) + [[name] for name in (*others, *free) if name in free]:
        for size in dict.fromkeys((*NATURAL, *SMALL, *range(1, 65), *LARGE)):
            sizes = {**plan.sizes, **dict.fromkeys(names, size)}
            shapes = (shape for shape in shaped(known, sizes).values() if shape is not None)
            if sizes != plan.sizes and sum(map(prod, shapes)) <= MOST_ELEMENTS:
                yield dict.fromkeys(names, size)
