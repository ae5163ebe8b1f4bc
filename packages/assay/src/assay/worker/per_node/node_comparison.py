"""Every node of a graph judged in float64 on the engine's own inputs to it, in the precision of the flow.

A tap inside of what the backend computes as one may hold a value that nobody used: a node that fails is judged again
together with its producers before it is blamed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.finding import Finding, FindingCode, facts
from assay.core.note import NoteCode, noted
from assay.core.tensor_parts import whole_name
from assay.errors import Lowering, UsageError
from assay.models.expose_intermediates import is_number, part, reads_of
from assay.models.model_precision import multiplies
from assay.numerics.oracle.decompose import expanded
from assay.numerics.tolerance.arithmetic import arithmetic_of
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.deriving import Deriving
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.numerics.tolerance.judge.statistics import NORM_LIMIT
from assay.numerics.tolerance.rules.dyadic import are_powers_of_two
from assay.numerics.tolerance.rules.noise_rules import MOVEMENT, RULES
from assay.numerics.tolerance.simulate.double_evaluation import as_type, wide_evaluator
from assay.numerics.tolerance.simulate.graph_study import ROUNDING, STEPPING
from assay.ports import Tensor
from assay.worker.per_node.node_values import NodeValues, Values, label

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto

MERGED = 3
"""How many times a failing region grows by its producers before it is blamed."""
TIE = 2.0**-6
"""Of a quantization step: so near to a tie either neighbour is right (measured: OpenVINO, ONNX Runtime)."""
SINGLE = UNIT_ROUNDOFF["float32"]
END = 65504.0
"""Of float16, whose largest finite number is the smallest of any type that a flow computes in."""
CHOOSING = MOVEMENT - STEPPING - RULES.keys()
"""Operators that move or choose numbers and do not jump, and never round."""
RESIDUE = 2.0**-20
"""Of the largest number: where terms cancel, another order of a sum shows in what is left."""


class NodeComparisons:
    """The nodes of `model`, each compared with `feeds`: all values of the engine by name, one mapping a sample."""

    def __init__(
        self, model: ModelProto, feeds: Sequence[Values], precision: str, allowances: tuple[str, ...], seed: int
    ) -> None:
        self._model = model
        self._feeds = feeds
        self._precision = precision if precision in UNIT_ROUNDOFF else "float32"
        self._arithmetic = arithmetic_of(self._precision, allowances)
        self._seed = seed
        self._producer = {name: node for node in model.graph.node for name in node.output if name}
        self._order = {id(node): place for place, node in enumerate(model.graph.node)}
        self._weights = {tensor.name: tensor for tensor in model.graph.initializer}

    @property
    def all(self) -> list[NodeProto]:
        """Those of which an answer was seen or due, in their order. What is computed from weights alone may be folded wrongly,
        too."""
        seen = {*self._feeds[0], *(value.name for value in self._model.graph.output)}
        return [node for node in self._model.graph.node if seen.intersection(node.output)]

    def judge(self, node: NodeProto) -> NodeValues | None:
        """None where it cannot be evaluated in float64, or what it reads or gives was not seen. An output of the model itself
        that the engine does not give is wrong whatever is known of the rest."""
        lost = next((value.name for value in self._model.graph.output if self._lacks(value.name, node)), "")
        if lost:
            missing = Finding("missing_output", lost, FindingCode.NODE_OUTPUT_MISSING)
            return NodeValues(label(node), lost, math.inf, missing, "missing")
        region = self._seen_from(node)
        seen = self.judge_region(region, only=tuple(node.output))
        if seen is None:
            return None
        if seen.budget > 1.0 and node.op_type == "QuantizeLinear" and seen.kind != "shape":
            seen = self._at_ties(node, region) or seen
        if self._coarse and node.op_type in CHOOSING and len(region) == 1:
            return self._moved(node)
        if self._coarse and seen.budget > 1.0 and len(region) == 1:
            seen = self._less(seen, self.judge_region(self._unrounded(node), only=tuple(node.output)))
        for _ in range(MERGED):
            if not seen.budget > 1.0:
                break
            grown = {id(member): member for member in region}
            for member in region:
                grown.update({id(before): before for before in self._before(member)})
            if len(grown) == len(region):
                break
            region = sorted(grown.values(), key=lambda member: self._order[id(member)])
            wider = self.judge_region(region, only=tuple(node.output))
            if wider is None:
                break
            seen = self._less(seen, wider)
        return NodeValues(label(node), seen.output, seen.budget, seen.finding, seen.kind)

    @property
    def _coarse(self) -> bool:
        return self._arithmetic.storage > SINGLE

    @staticmethod
    def _less(seen: NodeValues, other: NodeValues | None) -> NodeValues:
        return other if other is not None and other.budget < seen.budget else seen

    def _lacks(self, name: str, node: NodeProto) -> bool:
        """Not given by any of its parts either, where it is a sequence, an optional or a map."""
        return name in node.output and any(name not in map(whole_name, feed) for feed in self._feeds)

    def _seen_from(self, node: NodeProto) -> list[NodeProto]:
        """The node, and those before it whose answers were not seen."""
        region, todo = {id(node): node}, [node]
        while todo:
            for name in reads_of(todo.pop()):
                before = self._producer.get(name)
                if before is not None and name not in self._feeds[0] and id(before) not in region:
                    region[id(before)] = before
                    todo.append(before)
        return sorted(region.values(), key=lambda member: self._order[id(member)])

    def _moved(self, node: NodeProto) -> NodeValues:
        """What only moves or chooses numbers, in a coarse type: a tap may have been rounded where the kernel read what it was
        before, so the answer may lie two roundings away. No region explains more."""
        profile, names = self._profile([node], ())
        if misshapen := self._misshapen(names, profile, node):
            return misshapen
        unit = self._arithmetic.storage
        worst, where = 0.0, names[0]
        for name in names:
            for feed, oracle in zip(self._feeds, profile.oracle, strict=True):
                exact = oracle[name].astype(np.float64)
                mine = feed[name].astype(np.float64).reshape(exact.shape)
                finite = np.isfinite(exact)
                largest = np.abs(exact[finite]).max(initial=0.0)
                with np.errstate(all="ignore"):
                    used = np.abs(mine - exact) / (2 * unit * np.abs(exact) + RESIDUE * largest)
                used = np.where(np.isfinite(mine), used, np.inf)
                # An infinity is one, or the end of the type in its place: which of the two an output has is told by its own judgement.
                like = (
                    (mine == exact)
                    | (np.isnan(mine) & np.isnan(exact))
                    | (np.isinf(exact) & (np.sign(exact) * mine >= END))
                )
                used = np.where(like, 0.0, np.where(finite, used, np.inf))
                if used.max(initial=0.0) > worst:
                    worst, where = float(used.max()), name
        off = Finding("values", where, FindingCode.NODE_MOVES, facts(times=worst)) if worst > 1.0 else None
        return NodeValues(label(node), where, worst, off, "exact")

    def _before(self, node: NodeProto) -> list[NodeProto]:
        """The producers of what a node reads, as far as one kernel may compute them with it: what was rounded to a grid was
        stored, and a region across it would be allowed a step of the grid. In a coarse type all that the roundings of a sum of
        products leave would hide a defect of what follows; there only what the sum was before it was rounded is allowed for."""
        producers = [self._producer[name] for name in reads_of(node) if name in self._producer]
        producers = [producer for producer in producers if producer.op_type not in ROUNDING]
        return [producer for producer in producers if not (self._coarse and multiplies(producer.op_type))]

    def apart(self, node: NodeProto, others: Sequence[Values], unrounded: bool = False) -> float:
        """How far the answers of another engine, that got the same inputs, lie from these: in widths of the node's noise,
        infinite where noise has no part in it. `unrounded`: of its noise if the kernel reads what other nodes gave it before
        that was rounded to the flow's type."""
        profile, names = self._profile(self._unrounded(node) if unrounded else [node], ())
        mine, theirs = ([{name: sample[name] for name in names} for sample in side] for side in (self._feeds, others))
        judgements = judge_outputs(theirs, mine, profile)
        if len(judgements) < len(names):
            return float("inf")
        return max(
            NORM_LIMIT * output_judgement.metrics.get("budget_norm", output_judgement.metrics["budget_used"])
            for output_judgement in judgements.values()
        )

    def _unrounded(self, node: NodeProto) -> list[NodeProto]:
        """The node behind operators that change nothing and round once."""
        from onnx import NodeProto, helper

        later = NodeProto()
        later.CopyFrom(node)
        steps = []
        for place, name in enumerate(node.input):
            if name in self._producer and self._feeds[0][name].dtype.kind not in "biu":
                later.input[place] = f"{name}/unrounded/{place}"
                steps.append(helper.make_node("LeakyRelu", [name], [later.input[place]], alpha=1.0))
        return [*steps, later]

    def _at_ties(self, node: NodeProto, region: Sequence[NodeProto]) -> NodeValues | None:
        """A quantization that is off by one step at most, and only next to a tie: backends multiply by the reciprocal of the
        scale, and add a bias that is rounded to a grid as well. None where that is not all, and for the tie itself where the scale is a
        power of two and the flow declares no other rule. The budget is the distance to the tie as a share of `TIE` of a step."""
        scale, zero = self._known(node, 1), self._known(node, 2)
        if scale is None or scale.size != 1:
            return None
        decided = are_powers_of_two(scale) and not self._arithmetic.ties
        farthest = 0.0
        for feed in self._feeds:
            exact = self._exactly(node.input[0], region, feed) / float(scale)
            info = np.iinfo(feed[node.output[0]].dtype)
            rounded = np.rint(exact) + float(zero if zero is not None else 0)
            off = np.abs(feed[node.output[0]].astype(np.float64) - np.clip(rounded, info.min, info.max))
            distance = np.abs(np.abs(exact - np.floor(exact)) - 0.5)
            if np.any(off > 1) or (decided and np.any((off > 0) & (distance == 0.0) & (node.input[0] in feed))):
                return None
            farthest = max(farthest, float(distance[off > 0].max(initial=0.0)))
        return NodeValues(label(node), node.output[0], farthest / TIE) if farthest < TIE else None

    def _exactly(self, name: str, region: Sequence[NodeProto], values: Values) -> Tensor:
        """A value of a region in float64, from what was seen."""
        if name in values:
            return values[name].astype(np.float64)
        alone = expanded(part(self._model, region, values))
        reads = {value.name: values[value.name] for value in alone.graph.input}
        with np.errstate(all="ignore"):
            array: Tensor = wide_evaluator(alone, {}).evaluate(as_type(reads, np.float64), (name,))[-1]
        return array

    def _known(self, node: NodeProto, place: int) -> Tensor | None:
        from onnx import numpy_helper

        name = node.input[place] if place < len(node.input) else ""
        return numpy_helper.to_array(self._weights[name]) if name in self._weights else self._feeds[0].get(name)

    def judge_region(self, region: Sequence[NodeProto], only: tuple[str, ...] = ()) -> NodeValues | None:
        """The region's outputs (`only` those) against its float64 evaluation on the engine's own inputs."""
        try:
            profile, names = self._profile(region, only)
            judgements = judge_outputs([{name: feed[name] for name in names} for feed in self._feeds], None, profile)
        except (Lowering, UsageError, KeyError, ValueError, TypeError):
            return None
        if misshapen := self._misshapen(self._sized(names, profile), profile, region[-1]):
            return misshapen
        if lost := next((name for name in names if self._ranges(name, profile)), ""):
            beyond = Finding("values", lost, FindingCode.NODE_RANGE)
            return NodeValues(label(region[-1]), lost, math.inf, beyond, "range")
        worst = max(judgements.values(), key=lambda output: output.metrics.get("budget_used", 0.0), default=None)
        if worst is None or "budget_used" not in worst.metrics:
            return None
        first = next(iter(worst.findings), None)
        noise = profile.output(worst.output)
        kind = noise.kind if noise is not None else ""
        return NodeValues(label(region[-1]), worst.output, worst.metrics["budget_used"], first, kind)

    def judge_window(self, nodes: Sequence[NodeProto], outputs: tuple[str, ...]) -> NodeValues | None:
        """A part that was built alone. One that ends on a grid may be a step off next to a tie, as a node may."""
        seen = self.judge_region(nodes, only=outputs)
        if seen is None or seen.budget <= 1.0 or seen.kind == "shape":
            return seen
        last = next((node for node in nodes if seen.output in node.output), nodes[-1])
        if last.op_type == "QuantizeLinear":
            return self._at_ties(last, nodes) or seen
        return seen

    def _misshapen(self, names: Iterable[str], profile: DerivedTolerance, node: NodeProto) -> NodeValues | None:
        """Other sizes than the node gives; an axis of one more or less is an engine's own matter."""
        for name in names:
            for feed, oracle in zip(self._feeds, profile.oracle, strict=True):
                mine, exact = feed[name].shape, oracle[name].shape
                if [size for size in mine if size != 1] != [size for size in exact if size != 1]:
                    shapes = Finding("values", name, FindingCode.NODE_SHAPE, facts(seen=mine, due=exact))
                    return NodeValues(label(node), name, math.inf, shapes, "shape")
        return None

    def _sized(self, names: Iterable[str], profile: DerivedTolerance) -> list[str]:
        """Those whose shape no rounding decides: a coarse type lets values into a NonZero, or out of it."""
        kinds = {output.name: output.kind for output in profile.header.outputs}
        return [
            name for name in names if kinds.get(name) == "real" or (kinds.get(name) == "exact" and not self._coarse)
        ]

    def _ranges(self, name: str, profile: DerivedTolerance) -> bool:
        """What tolerances do not measure: no number where double has one that the flow's types hold, or a number that is far from
        their ends where double has an infinity."""
        top = (END if self._precision == "float16" else float(np.finfo(np.float32).max)) * (
            1 - self._arithmetic.storage
        )
        for feed, oracle in zip(self._feeds, profile.oracle, strict=True):
            mine, exact = feed[name].astype(np.float64), oracle[name].astype(np.float64)
            if mine.shape != exact.shape:
                continue
            if np.any(~np.isfinite(mine) & (np.abs(exact) < top)) or np.any(np.isinf(exact) & (np.abs(mine) < END)):
                return True
        return False

    def _profile(self, region: Sequence[NodeProto], only: tuple[str, ...]) -> tuple[DerivedTolerance, list[str]]:
        """The tolerance of a region alone, and which of its outputs to judge. Raises KeyError for a value that was not seen,
        Lowering and others where it cannot be evaluated."""
        alone = part(self._model, region, self._feeds[0])
        names = [value.name for value in alone.graph.output if not only or value.name in only]
        reads = [value.name for value in alone.graph.input]
        if not names or not all(is_number(self._feeds[0][name]) for name in (*names, *reads)):
            raise Lowering(noted(NoteCode.NO_NUMBERS))
        deriving = Deriving(expanded(alone), self._arithmetic, self._seed)
        inputs = [{name: feed[name] for name in reads} for feed in self._feeds]
        return deriving.profile(deriving.samples(inputs), self._precision), names
