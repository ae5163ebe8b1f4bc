"""A graph of the standard's operators, built node by node with known types and shapes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import helper, numpy_helper

from assay.core.dtype import dtype_name
from assay.generators.draws import Draws
from assay.generators.output_types import Known, declared, inferred, ir_of
from assay.generators.schemas import NotMade, allowed, schema_at
from assay.generators.values import draw_values, with_special
from assay.ports import Tensor
from assay.ports.generator import GeneratedCase

SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17)
LARGEST = 4096
"""Elements of one value."""
EQUAL_SIZES = 25
FEW_SIZES = 30
"""Percent of the cases with one or two sizes for all axes: there a rule that takes one axis for another still gives a graph that fits."""
SPECIAL = 25
"""Percent of the constants that hold a number which compilers treat apart."""
WEIGHT = 30
"""Percent from which on an operand is rather a weight than a value."""
UNGUARDED = 30
"""Percent of the values that are read as they are, though they may lie beyond what the operator is defined for: a node between keeps a
pattern from being one, and a case with a NaN is left out."""


class Operand:
    """A value of the graph. `constant` is what it holds, where that is fixed."""

    __slots__ = ("constant", "dtype", "high", "low", "name", "shape")

    def __init__(self, name: str, dtype: str, shape: tuple[int, ...], low: float, high: float) -> None:
        self.name, self.dtype, self.shape, self.low, self.high = name, dtype, shape, low, high
        self.constant: Tensor | None = None

    @property
    def rank(self) -> int:
        return len(self.shape)


class Build:
    """One case under way. `reuse` is the chance, in percent, that an operand is a value of the graph where one fits."""

    def __init__(self, draws: Draws, opset: int, reuse: int = 0) -> None:
        self.draws, self.opset, self.reuse = draws, opset, reuse
        self.nodes: list[Any] = []
        self.feeds: dict[str, Tensor] = {}
        self.weights: dict[str, Tensor] = {}
        self.values: list[Operand] = []
        self._count = self._constants = 0
        self.stored = 0
        """Percent, at least, of the operands that are often a constant (WEIGHT) which are one: weights stand beside what is computed."""
        self._few = draws.shuffled(SIZES[1:5])[: draws.between(1, 2)] if draws.chance(FEW_SIZES) else []

    def schema(self, operator: str) -> Any:
        return schema_at(operator, self.opset)

    def since(self, operator: str) -> int:
        """The opset in which the operator got the form that it has here."""
        return int(self.schema(operator).since_version)

    def dtypes(self, operator: str, place: int = 0, among: Sequence[str] = ()) -> tuple[str, ...]:
        """The types that its input may have here, of those in `among`."""
        dtypes = tuple(dtype for dtype in allowed(operator, self.opset, place) if not among or dtype in among)
        if not dtypes:
            raise NotMade
        return dtypes

    def dtype(self, operator: str, place: int = 0, among: Sequence[str] = ()) -> str:
        """Of the newest value of the graph that fits, so that nodes read one another; else mostly float32, where that is allowed."""
        fitting = self.dtypes(operator, place, among)
        if self.reuse and self.draws.chance(self.reuse):
            for value in reversed(self.values):
                if value.dtype in fitting:
                    return value.dtype
        if "float32" in fitting and self.draws.chance(60):
            return "float32"
        return self.draws.one_of(fitting)

    def shape(self, ranks: Sequence[int], *, empty: bool = False) -> tuple[int, ...]:
        """Sizes at the edges of vector widths; sometimes an axis of none."""
        rank = self.draws.one_of(ranks)
        sizes = [self.size(SIZES) for _ in range(rank)]
        while np.prod(sizes, dtype=np.int64) > LARGEST:
            sizes[int(np.argmax(sizes))] = self.draws.one_of(SIZES[:4])
        if empty and sizes and self.draws.chance(3):
            sizes[self.draws.below(rank)] = 0
        return tuple(sizes)

    def size(self, choices: Sequence[int]) -> int:
        """Sometimes one that the graph has already: where two axes are of one size, they are taken for one another."""
        if self._few:
            return self.draws.one_of(self._few)
        if self.reuse and self.values and self.draws.chance(EQUAL_SIZES):
            known_operand = self.draws.one_of(self.values)
            if known_operand.shape and 0 < (size_here := self.draws.one_of(known_operand.shape)) <= SIZES[-1]:
                return size_here
        return self.draws.one_of(choices)

    def operand(
        self,
        dtype: str | Sequence[str],
        shape: Sequence[int] | None = None,
        *,
        ranks: Sequence[int] = (0, 1, 2, 3, 4),
        low: float = -3.0,
        high: float = 3.0,
        fixed: int = 0,
        empty: bool = False,
        domain: bool = False,
        any_size: bool = False,
    ) -> Operand:
        """A value of the graph that fits, or a new input; in `fixed` percent a constant. `domain`: the operator is not defined, or not of
        use, beyond the ends, so that a value of the graph is brought between them first. `any_size`: of a value of the graph the rank
        of `shape` matters alone."""
        dtypes = (dtype,) if isinstance(dtype, str) else tuple(dtype)
        stored = bool(fixed) and self.draws.chance(max(fixed, self.stored if fixed >= WEIGHT else 0))
        if self.reuse and not stored and self.draws.chance(self.reuse):
            fitting = [value for value in self.values if self._fits(value, dtypes, shape, ranks, any_size, empty)]
            if fitting:
                operand = fitting[-1] if self.draws.chance(70) else self.draws.one_of(fitting)
                return self._within(operand, low, high) if domain and not self.draws.chance(UNGUARDED) else operand
        chosen = dtypes[0] if len(dtypes) == 1 else self.draws.one_of(dtypes)
        sizes = tuple(shape) if shape is not None else self.shape(ranks, empty=empty)
        array = draw_values(self.draws, chosen, sizes, low, high)
        if stored and self.draws.chance(SPECIAL):
            array = with_special(self.draws, array, low, high)
        return self.constant(array) if stored else self.input(array, low, high)

    @staticmethod
    def _fits(
        operand: Operand,
        dtypes: Sequence[str],
        shape: Sequence[int] | None,
        ranks: Sequence[int],
        any_size: bool,
        empty: bool,
    ) -> bool:
        if operand.dtype not in dtypes or (0 in operand.shape and shape is None and not empty):
            return False
        if any_size and shape is not None:
            return operand.rank == len(shape) and 0 not in operand.shape
        return operand.shape == tuple(shape) if shape is not None else operand.rank in ranks

    def _within(self, operand: Operand, low: float, high: float) -> Operand:
        """Its numbers between the ends: |x| + low where there is a lowest one above 0, tanh where both ends are near."""
        if low <= operand.low and operand.high <= high:
            return operand
        if not operand.dtype.startswith("float"):
            raise NotMade
        if low >= 0:
            (positive,) = self.node("Abs", [operand], low=0.0)
            least = self.constant(np.asarray(low, numpy_of(operand.dtype)))
            return self.node("Add", [positive, least], low=low)[0]
        (near,) = self.node("Tanh", [operand], low=-1.0, high=1.0)
        if low <= -1.0 and high >= 1.0:
            return near
        factor = self.constant(np.asarray(min(-low, high), numpy_of(operand.dtype)))
        return self.node("Mul", [near, factor], low=low, high=high)[0]

    def mark(self) -> tuple[int, ...]:
        """Where the graph is now."""
        return len(self.nodes), len(self.values), len(self.feeds), len(self.weights), self._count

    def undo(self, mark: tuple[int, ...]) -> None:
        """Back to a mark; random numbers are not drawn again."""
        nodes, values, feeds, weights, self._count = mark
        del self.nodes[nodes:]
        del self.values[values:]
        self.feeds = dict([*self.feeds.items()][:feeds])
        self.weights = dict([*self.weights.items()][:weights])

    def input(self, array: Tensor, low: float = -np.inf, high: float = np.inf) -> Operand:
        """A new input of the graph."""
        array = np.asarray(array)
        operand = Operand(f"x{len(self.feeds)}", dtype_name(array.dtype), array.shape, low, high)
        self.feeds[operand.name] = array
        self.values.append(operand)
        return operand

    def constant(self, array: Tensor) -> Operand:
        """A weight of the graph."""
        array = np.asarray(array)
        operand = Operand(f"w{self._constants}", dtype_name(array.dtype), array.shape, -np.inf, np.inf)
        self._constants += 1
        operand.constant = array
        self.weights[operand.name] = array
        return operand

    def steering(self, numbers: Any, dtype: str = "int64") -> Operand:
        """A shape, axes, repeats: a constant, as exporters write it."""
        return self.constant(np.asarray(numbers, dtype))

    def node(
        self,
        operator: str,
        reads: Sequence[Operand | None],
        outputs: int = 1,
        *,
        low: float = -np.inf,
        high: float = np.inf,
        known: Sequence[Known] = (),
        **attributes: Any,
    ) -> list[Operand]:
        """Its outputs. Attributes that are None are left out. `known` are their types and shapes, where onnx cannot infer them from types
        and shapes alone: sizes that depend on values, sequences. Raises NotMade where the operator has no such form here."""
        schema = self.schema(operator)
        written = {name: value for name, value in attributes.items() if value is not None}
        if not written.keys() <= schema.attributes.keys() or len(reads) > schema.max_input:
            raise NotMade
        names = [f"v{self._count + place}" for place in range(outputs)]
        self._count += outputs
        made = helper.make_node(
            operator, [read.name if read else "" for read in reads], names, name=f"n{len(self.nodes)}"
        )
        made.attribute.extend(
            helper.make_attribute(name, value, attr_type=int(schema.attributes[name].type))
            for name, value in sorted(written.items())
        )
        types = (
            dict(zip(names, known, strict=True))
            if known
            else inferred(schema, made, [read for read in reads if read is not None], self.opset)
        )
        self.nodes.append(made)
        results = []
        for name in names:
            if (shaped := types.get(name)) is not None:
                results.append(Operand(name, *shaped, low, high))
        if len(results) < outputs:
            raise NotMade
        self.values += results
        return results

    def case(self, outputs: Sequence[Operand]) -> GeneratedCase:
        """The whole: these outputs, and inputs that something reads. Raises NotMade where nothing does."""
        used = {name for node in self.nodes for name in node.input} | {output.name for output in outputs}
        inputs = [declared(name, array.dtype, array.shape) for name, array in self.feeds.items() if name in used]
        if not inputs:
            raise NotMade
        graph = helper.make_graph(
            self.nodes,
            "fuzzed",
            inputs,
            [declared(operand.name, numpy_of(operand.dtype), operand.shape) for operand in dict.fromkeys(outputs)],
            [numpy_helper.from_array(array, name) for name, array in self.weights.items() if name in used],
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.opset)],
            ir_version=ir_of(self.opset),
            producer_name="assay fuzz",
        )
        feeds = {value.name: self.feeds[value.name] for value in inputs}
        return GeneratedCase(model.SerializeToString(deterministic=True), feeds)


def numpy_of(dtype: str) -> np.dtype[Any]:
    from assay.core.dtype import numpy_dtype

    return np.dtype(numpy_dtype(dtype))
