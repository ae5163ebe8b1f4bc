"""Sizes and value ranges of an exported program's inputs: by the ranges that torch.export proved, and by its own operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.constraint import Constraint, ConstraintCode
from assay.core.finding import Fact
from assay.core.flow import dimension_key
from assay.core.input_plan import InputRange
from assay.core.model import Model
from assay.models.conversion import format_of
from assay.models.input_plan.number_ranges import number_ranges
from assay.models.input_plan.program_graph import read_program
from assay.models.input_plan.symbols import USUAL, Sizes
from assay.models.input_plan.value_ranges import value_ranges
from assay.numerics.shapes.needed_values import INDEX, Need, meet

if TYPE_CHECKING:
    from assay.models.program import Program

_SPECIALISED = 2
"""torch.export takes sizes of 0 and 1 for constants, and says 2 as the least of all others, which is no constraint of the model."""


@dataclass(frozen=True)
class ProgramPlan:
    """`unmet` is the range of torch.export that a stated size is outside of."""

    sizes: Sizes
    needs: Mapping[str, Need]
    numbers: Mapping[str, InputRange]
    unmet: Constraint | None = None


def plan_program(model: Model, *, batch: int, fixed: Sizes) -> ProgramPlan:
    """`batch` for first dimensions and 16 for the others, inside of their ranges. Raises what opening the program raises."""
    program = _opened(model.source, model.digest)
    symbols, sizes, unmet = _numbers(program, batch, fixed)
    graph, walked = read_program(program, lambda expression: _evaluated(expression, symbols))
    needs = dict(value_ranges(graph, walked))
    for name, need in _scalars(program):
        joined = meet([bounds for bounds in (need, needs.get(name)) if bounds is not None])
        needs.update({name: joined} if joined is not None else {})
    return ProgramPlan(sizes, needs, number_ranges(graph, walked.values, model), unmet)


def has_bodies(model: Model) -> bool:
    """Whether an exported program has graphs inside of its own: of branches, say, or of loops."""
    return any(True for _ in _opened(model.source, model.digest).exported.graph_module.named_children())


@lru_cache(maxsize=1)
def _opened(source: str, digest: str) -> Program:
    """`digest` is of the contents: another file of the same name is opened again."""
    from assay.models.program import open_program
    from assay.models.sources_factory import build_program

    path = Path(source)
    return build_program(source) if format_of(path) == "factory" else open_program(path)


def _expression(size: Any) -> Any:
    """The sympy expression of a symbolic size, None of a number."""
    return None if isinstance(size, int) else size.node.expr


def _evaluated(size: Any, symbols: Mapping[Any, int]) -> int | None:
    made = _expression(size).subs(symbols)
    return int(made) if made.is_number else None


def _numbers(program: Program, batch: int, fixed: Sizes) -> tuple[dict[Any, int], Sizes, Constraint | None]:
    """A number for each symbol, sizes by the names of dimensions, and what is not met."""
    places = [
        (dimension_key(spec.name, axis, dim), axis, expression)
        for spec, shape in zip(program.inputs, _shapes(program), strict=True)
        for axis, (dim, size) in enumerate(zip(spec.shape, shape, strict=True))
        if isinstance(dim, str) and (expression := _expression(size)) is not None
    ]
    ranges = program.exported.range_constraints
    symbols: dict[Any, int] = {}
    unmet: Constraint | None = None
    for key, axis, expression in sorted(
        places, key=lambda place: (place[0] not in fixed, not place[2].is_Symbol, place[1])
    ):
        for symbol in sorted(expression.free_symbols - set(symbols), key=str):
            least, most = _bounds(ranges.get(symbol))
            usual = _solved(expression, symbol, fixed[key]) if key in fixed else batch if axis == 0 else USUAL
            symbols[symbol] = max(usual, least) if most is None else max(min(usual, most), least)
        if key in fixed and int(expression.subs(symbols)) != fixed[key]:
            least, most = _bounds(ranges.get(expression))
            asked: dict[str, Fact] = {"dimension": key, "size": fixed[key]}
            if expression.is_Symbol:
                open_end: dict[str, Fact] = {} if most is None else {"most": most}
                broken = Constraint(ConstraintCode.EXPORTED_SIZES, {**asked, "least": least, **open_end})
            else:
                broken = Constraint(ConstraintCode.EXPORTED_FORM, {**asked, "form": str(expression)})
            unmet = unmet or broken
    sizes = {key: int(expression.subs(symbols)) for key, _, expression in places}
    return symbols, {key: fixed.get(key, size) for key, size in sizes.items()}, unmet


def _solved(expression: Any, symbol: Any, size: int) -> int:
    """The value of the symbol at which the expression is nearest to `size`, from below."""
    if expression == symbol:
        return size
    return next((number for number in range(size, 0, -1) if expression.subs(symbol, number) == size), size)


def _bounds(known: Any) -> tuple[int, int | None]:
    """Of a range of torch.export; None where it has no upper end."""
    least = int(known.lower) if known is not None and known.lower.is_finite else 0
    most = int(known.upper) if known is not None and known.upper.is_finite and known.upper < 2**31 else None
    return (least if least > _SPECIALISED else 1), most


def _shapes(program: Program) -> list[tuple[Any, ...]]:
    nodes = {node.name: node for node in program.exported.graph.nodes}
    return [tuple(nodes[str(name)].meta["val"].shape) for name in program.exported.graph_signature.user_inputs]


def _scalars(program: Program) -> list[tuple[str, Need]]:
    """Inputs whose one value becomes a size or a place (`item()`), with the range that the program asserts of it."""
    inputs = dict(zip(map(str, program.exported.graph_signature.user_inputs), program.inputs, strict=True))
    needs_of_scalars = []
    for node in program.exported.graph.nodes:
        if node.op != "call_function" or (
            "item" not in str(node.target) and "_local_scalar_dense" not in str(node.target)
        ):
            continue
        source = node.args[0]
        expression = getattr(getattr(node.meta.get("val"), "node", None), "expr", None)
        if source.name in inputs and expression is not None:
            least, most = _bounds(program.exported.range_constraints.get(expression))
            low = max(least, 1)
            needs_of_scalars.append(
                (inputs[source.name].name, Need(low, most if most is not None else low + 3, INDEX, operator="item"))
            )
    return needs_of_scalars
