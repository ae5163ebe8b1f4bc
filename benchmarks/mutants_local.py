"""Local judgement under test: mutants in float16, bfloat16 and int8, judged node by node on the engine's own inputs.

`python benchmarks/mutants_local.py [--flows fp16,bf16,int8,int8-ov] [--models classifier,residual] [--first-seed N]`. The digit models on
held-out samples and 8 architectures with seeded weights on noise, up to three sites of each mutation operator. A mutant's
width is what it changes where it first shows, in units of the noise of a correct flow at that node: the sound engine and the
mutated one get the same inputs there. `beyond rounding`: of those of 4 widths or more, such as are so many even if the kernel
read what it reads before that was rounded to the flow's type, and move an element by more than two correct
roundings of one number can lie apart, 2 u |y|, or a whole number at all. Mutants that change no bit of any value are counted apart.
"""

from __future__ import annotations

import argparse
import collections
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from mutants_peers import models, mutants_of

from assay import plugins
from assay.core.dtype import UNIT_ROUNDOFF
from assay.core.flow import Flow
from assay.models.expose_intermediates import expose_intermediates
from assay.mutation.load import load_graph
from assay.mutation.registry import inject
from assay.worker.per_node.node_comparison import NodeComparisons
from assay.worker.per_node.node_values import NodeValues

Array = np.ndarray[Any, Any]
Values = Mapping[str, Array]

FLOWS = {
    "fp16": Flow("fp16", "onnxruntime", {"threads": 1}, precision="float16", transforms=("fp16",)),
    "bf16": Flow("bf16", "openvino", {"precision": "bfloat16"}, precision="bfloat16"),
    "int8": Flow("int8", "onnxruntime", {"threads": 1}, precision="int8", transforms=("int8-qdq:per-channel",)),
    "int8-ov": Flow("int8-ov", "openvino", {}, precision="int8", transforms=("int8-qdq:per-tensor",)),
    "nncf": Flow("nncf", "openvino", {}, precision="int8", transforms=("int8-nncf",)),
}
CALIBRATION = 8


@dataclass
class Tally:
    """One flow, so far."""

    nodes: int = 0
    unjudged: collections.Counter[str] = field(default_factory=collections.Counter)
    alarms: list[str] = field(default_factory=list)
    equal: int = 0
    mutants: int = 0
    killed: int = 0
    wide: int = 0
    wide_killed: int = 0
    beyond: int = 0
    beyond_killed: int = 0
    survivors: list[str] = field(default_factory=list)
    largest: float = 0.0


def transformed(flow: Flow, model: Path, inputs: Sequence[Values], folder: Path) -> Path:
    """The model as the flow's own transforms leave it."""
    for spec in flow.transforms:
        name, _, argument = spec.partition(":")
        transform = plugins.load("assay.transforms", name)()
        transform.prepare()
        target = folder / f"transform-{name}"
        target.mkdir(exist_ok=True)
        model = transform.apply(model, target, argument, [dict(sample) for sample in inputs])
    return model


def run(model: Path, flow: Flow, inputs: Sequence[Values]) -> list[dict[str, Array]]:
    backend = plugins.load("assay.backends", flow.backend)()
    backend.prepare()
    engine = backend.lower(model, flow)
    return [dict(engine.run(dict(sample))) for sample in inputs]


def fed(model: onnx.ModelProto, inputs: Sequence[Values]) -> list[dict[str, Array]]:
    """In the types that the transformed model takes."""
    given = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    return [
        {name: array.astype(onnx.helper.tensor_dtype_to_np_dtype(given[name])) for name, array in sample.items()}
        for sample in inputs
    ]


def differing(sound: Sequence[Values], other: Sequence[Values]) -> set[str]:
    """Names of the values in which one bit differs, or the shape."""
    return {
        name
        for left_sample, two in zip(sound, other, strict=True)
        for name in left_sample
        if name not in two
        or left_sample[name].shape != two[name].shape
        or left_sample[name].tobytes() != two[name].tobytes()
    }


def effect(
    nodes: NodeComparisons, node: Any, sound: Sequence[Values], other: Sequence[Values], precision: str
) -> tuple[float, bool]:
    """How far the answers of two engines lie apart at a node on whose inputs they agree: widths of its noise, and whether
    beyond what rounding explains."""
    if any(name in sound[0] and name not in other[0] for name in node.output):
        return float("inf"), True
    width = nodes.apart(node, other)
    if width < 4.0:
        return width, False
    unit = UNIT_ROUNDOFF.get(precision, UNIT_ROUNDOFF["float32"])
    if unit > UNIT_ROUNDOFF["float32"] and nodes.apart(node, other, unrounded=True) < 4.0:
        return width, False
    beyond = False
    for name in node.output:
        for mine, two in zip(sound, other, strict=True):
            if name not in mine or mine[name].shape != two[name].shape:
                beyond = beyond or name in mine
                continue
            left, right = mine[name].astype(np.float64), two[name].astype(np.float64)
            with np.errstate(all="ignore"):
                allowed = 0.0 if mine[name].dtype.kind in "biu" else 2 * unit * np.abs(left)
                beyond = beyond or bool(
                    np.any(~(np.abs(left - right) <= allowed) & ~(np.isnan(left) & np.isnan(right)))
                )
    return width, beyond


def answers_of_mutants(
    model: Path, tapped: Path, flow: Flow, samples: Sequence[Values], folder: Path, sites: int
) -> Iterator[tuple[Any, list[dict[str, Array]]]]:
    """Every mutant that the backend takes, and what it answers at each node."""
    graph = load_graph(tapped)
    for mutant, _ in mutants_of(model, sites):
        lie = graph.copy()
        inject(lie, mutant)
        file = folder / "mutant.onnx"
        onnx.save(lie.model, str(file))
        try:
            values = run(file, flow, samples)
        except Exception:  # noqa: BLE001  refused or crashed: every gate sees that
            continue
        yield mutant, values


def one_model(
    name: str, path: Path, inputs: Sequence[Values], flow: Flow, folder: Path, tally: Tally, sites: int
) -> None:
    calibration = list(inputs)
    if len(calibration) < CALIBRATION and set(inputs[0]) == {"x"}:
        rng = np.random.default_rng(77)
        calibration += [
            {"x": rng.normal(size=inputs[0]["x"].shape).astype(np.float32)} for _ in range(CALIBRATION - len(inputs))
        ]
    model = transformed(flow, path, calibration, folder)
    tapped, plain, _ = expose_intermediates(model, folder)
    samples = fed(plain, inputs[:2])
    sound = run(tapped, flow, samples)
    feeds = [{**sample, **outputs} for sample, outputs in zip(samples, sound, strict=True)]
    nodes = NodeComparisons(plain, feeds, flow.precision, (), 0)
    for node in nodes.all:
        seen = nodes.judge(node)
        if seen is None:
            tally.unjudged[node.op_type] += 1
            continue
        tally.nodes += 1
        tally.largest = max(tally.largest, seen.budget)
        if seen.budget > 1.0:
            tally.alarms.append(f"{name} {seen.node}: {seen.budget:.3g} {seen.text}")
    for mutant, values in answers_of_mutants(model, tapped, flow, samples, folder, sites):
        changed = differing(sound, values)
        if not changed:
            tally.equal += 1
            continue
        tally.mutants += 1
        theirs = [{**sample, **value} for sample, value in zip(samples, values, strict=True)]
        shows = next((node for node in nodes.all if changed & set(node.output) and not changed & set(node.input)), None)
        width, beyond = effect(nodes, shows, feeds, theirs, flow.precision) if shows is not None else (np.inf, True)
        blamed = blame(NodeComparisons(plain, theirs, flow.precision, (), 0), changed)
        tally.killed += blamed is not None
        tally.wide += width >= 4.0
        tally.wide_killed += width >= 4.0 and blamed is not None
        tally.beyond += beyond
        tally.beyond_killed += beyond and blamed is not None
        if blamed is None:
            marks = f"{'WIDE ' * (width >= 4)}{'BEYOND ' * beyond}"
            where = shows.op_type if shows is not None else "?"
            tally.survivors.append(f"{marks}{name} {mutant}: {width:.3g} widths at {where}")


def blame(nodes: NodeComparisons, changed: set[str]) -> NodeValues | None:
    """The first wrong node of those that anything differs at; the others were judged already."""
    for node in nodes.all:
        if changed & {*node.input, *node.output}:
            seen = nodes.judge(node)
            if seen is not None and seen.budget > 1.0:
                return seen
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flows", default=",".join(FLOWS))
    parser.add_argument("--models", default="")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--sites", type=int, default=3)
    options = parser.parse_args()
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    wanted = [part for part in options.models.split(",") if part]
    tallies = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, path, inputs in models(options.first_seed, options.seeds, Path(scratch)):
            if wanted and not any(name.startswith(prefix) for prefix in wanted):
                continue
            for flow in options.flows.split(","):
                tally = tallies.setdefault(flow, Tally())
                begin, before = time.process_time(), tally.mutants
                folder = Path(tempfile.mkdtemp(dir=scratch))
                survivors = len(tally.survivors)
                try:
                    one_model(name, path, inputs, FLOWS[flow], folder, tally, options.sites)
                except Exception as error:  # noqa: BLE001  told, and not counted
                    print(f"  {name} {flow}: {type(error).__name__}: {str(error)[:200]}", flush=True)
                print(
                    f"{name} {flow}: {tally.mutants - before} mutants, {time.process_time() - begin:.0f} s of processor time",
                    flush=True,
                )
                for line in tally.survivors[survivors:]:
                    print("   survived:", line, flush=True)
    columns = ("flow", "mutants", "killed", "of those of 4 widths or more", "and beyond the type's rounding")
    print(f"\n| {' | '.join(columns)} | nodes of correct engines called wrong |\n|{'---|' * (len(columns) + 1)}")
    for flow, one in tallies.items():
        print(
            f"| {flow} | {one.mutants} (and {one.equal} equal) | {one.killed} ({100 * one.killed / max(1, one.mutants):.1f} %) | "
            f"{one.wide_killed} of {one.wide} | {one.beyond_killed} of {one.beyond} | {len(one.alarms)} of {one.nodes} "
            f"(largest budget {one.largest:.2f}; not judged: {dict(one.unjudged)}) |"
        )
        for line in one.alarms:
            print("   ALARM", line)


if __name__ == "__main__":
    main()
