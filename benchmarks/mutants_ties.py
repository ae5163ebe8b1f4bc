"""Small faults in quantized nets whose scales are powers of two, and in those whose scales are any numbers: killed, and false alarms.

`python benchmarks/mutants_ties.py [--nets N] [--seed N] [--engines onnxruntime,openvino] [--faults N]`. Random nets of fresh seeds
(quantized_nets.py). Faults: another rounding, saturation one off, a zero point or a scale off on one side, one weight off by a step,
a bias dropped or coarser, a lost Relu, scales of channels in another order, padding counted or not; evaluated by numpy. Those that change
no bit of the outputs are not counted. Correct engines: numpy itself, and those named.

Flows that declare a tie rule of their own are judged twice: faults in an evaluation that rounds half to even everywhere, and (`by the
rule`) in one that rounds by the rule at every grid that it is of. A fault that gives what the rule gives at some of the grids is
none: such are counted apart, as equivalent.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper
from ties_faults import faults

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from mutants_local import run
from quantized_nets import Array, Fault, build, evaluate

from assay.core.flow import Flow
from assay.numerics.tolerance.derive import derive
from assay.numerics.tolerance.derived_tolerance import DerivedTolerance
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

AFTER = ("ties-after-zero-point",)
ELEMENTWISE = ("elementwise-ties-after-zero-point",)
AWAY = ("ties-away-from-zero",)
ENGINES = {
    "onnxruntime": Flow("onnxruntime", "onnxruntime", {"threads": 1}, precision="int8", allowances=ELEMENTWISE),
    "basic": Flow("basic", "onnxruntime", {"threads": 1, "optimization": "basic"}, precision="int8"),
    "disable": Flow("disable", "onnxruntime", {"threads": 1, "optimization": "disable"}, precision="int8"),
    "openvino": Flow("openvino", "openvino", {}, precision="int8", allowances=AFTER),
    "tvm": Flow("tvm", "tvm", {}, precision="int8"),
    "iree": Flow("iree", "iree", {}, precision="int8"),
    "mnn": Flow("mnn", "mnn", {}, precision="int8", allowances=AWAY),
}
Samples = Sequence[Mapping[str, Array]]
READINGS: dict[tuple[str, ...], tuple[str, ...]] = {
    (): (),
    ELEMENTWISE: ("even after the zero point",),
    AFTER: ("even after the zero point",),
    AWAY: ("away after the zero point", "away"),
}
"""What each rule means, the first as engines were seen to follow it."""
MOST = 10
"""Grids that every combination is evaluated of."""


def _pads_by_nothing(model: onnx.ModelProto) -> bool:
    """Whether OpenVINO 2026.4.1 answers wrongly: docs/findings/openvino-int8-pool-padding.py."""
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    grids = {node.output[0]: held.get((*node.input, "", "")[2]) for node in model.graph.node}
    return any(
        node.op_type == "AveragePool"
        and any(next(attribute.ints for attribute in node.attribute if attribute.name == "pads"))
        and any(attribute.i for attribute in node.attribute if attribute.name == "count_include_pad")
        and np.any(grids[node.input[0]])
        for node in model.graph.node
    )


def _contradicts_itself(path: Path, samples: Samples, profile: DerivedTolerance) -> bool:
    """Whether OpenVINO answers rightly as soon as every value on a grid is an output as well."""
    model = onnx.load(path)
    known = {value.name for value in model.graph.output}
    shown = [value for value in model.graph.value_info if value.name in _on_grids(model) - known]
    model.graph.output.extend(shown)
    file = path.with_suffix(".shown.onnx")
    onnx.save(model, str(file))
    outputs = run(file, ENGINES["openvino"], samples)
    return used([{name: output[name] for name in known} for output in outputs], profile) <= 1


def _on_grids(model: onnx.ModelProto) -> set[str]:
    held = {tensor.name for tensor in model.graph.initializer}
    nodes = [node for node in model.graph.node if node.op_type == "DequantizeLinear"]
    return {node.output[0] for node in nodes if node.input[0] not in held}


def used(actual: Samples, profile: DerivedTolerance) -> float:
    return max(output.metrics.get("budget_used", 0.0) for output in judge_outputs(actual, None, profile).values())


def differ(samples: Samples, other: Samples) -> bool:
    return any(not np.array_equal(a[key], b[key]) for a, b in zip(samples, other, strict=True) for key in a)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nets", type=int, default=20, help="of each kind of scales")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", default="onnxruntime,basic,disable,openvino")
    parser.add_argument("--faults", type=int, default=60, help="of one net, at most")
    parser.add_argument("--kinds", default="dyadic,general")
    options = parser.parse_args()
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as scratch:
        for kind in options.kinds.split(","):
            campaign(kind, options, Path(scratch))
    print(f"{time.process_time() - begin:.0f} s of processor time, load {os.getloadavg()[0]:.1f}")


def campaign(kind: str, options: argparse.Namespace, folder: Path) -> None:
    total: collections.Counter[str] = collections.Counter()
    killed: collections.Counter[str] = collections.Counter()
    sound: collections.Counter[str] = collections.Counter()
    alarms: collections.Counter[str] = collections.Counter()
    equal: collections.Counter[str] = collections.Counter()
    for seed in range(options.seed, options.seed + options.nets):
        model, samples = build(seed, kind == "dyadic")
        path = folder / f"{kind}-{seed}.onnx"
        onnx.save(model, str(path))
        profiles = {rule: derive(path, samples, "float32", allowances=rule) for rule in ((), ELEMENTWISE, AFTER, AWAY)}
        for engine, outputs, rule in answers(path, samples, options.engines.split(",")):
            budget = used(outputs, profiles[rule])
            sound[engine] += 1
            if budget > 1:
                true = engine == "openvino" and (
                    _pads_by_nothing(model) or _contradicts_itself(path, samples, profiles[rule])
                )
                alarms[f"{engine}, truly wrong" if true else engine] += 1
                print(f"   {'TRULY' if true else 'ALARM'} {kind} {seed} {engine}: {budget:.3g}", flush=True)
        drawn = list(faults(model))
        keep = np.random.default_rng(seed).permutation(len(drawn))[: options.faults].tolist()
        chosen = [drawn[place] for place in sorted(keep)]
        for rule, profile in profiles.items():
            for basis in ("", *(["by the rule"] if rule else [])):
                _plant(model, samples, chosen, rule, basis, profile, (total, killed, equal), f"{kind} {seed}")
    print(f"\n{kind}: | fault | changed an output | killed |")
    groups = list(dict.fromkeys(key.partition(" | ")[2] for key in total))
    for group in groups:
        rows = [key for key in sorted(total) if key.partition(" | ")[2] == group]
        for label in rows:
            print(f"| {label} | {total[label]} | {killed[label]} |")
        every, seen = (sum(counter[row] for row in rows) for counter in (total, killed))
        share = 100 * seen / max(1, every)
        print(f"| all, {group or 'half to even'} | {every} | {seen} | {share:.2f} %, and {equal[group]} equivalent")
    print(f"correct engines called wrong: {dict(alarms)} of {dict(sound)}\n", flush=True)


Counters = tuple[collections.Counter[str], collections.Counter[str], collections.Counter[str]]


def _plant(
    model: onnx.ModelProto,
    samples: Samples,
    chosen: Sequence[tuple[str, onnx.ModelProto, Fault]],
    rule: tuple[str, ...],
    basis: str,
    profile: DerivedTolerance,
    counters: Counters,
    where: str,
) -> None:
    """These faults in one correct evaluation, judged by one rule."""
    total, killed, equal = counters
    group = " ".join((*rule, basis)).strip()
    declared = dict.fromkeys(_of_rule(model, rule), READINGS[rule][0]) if basis else {}
    right = [evaluate(model, sample, ties=declared) for sample in samples]
    if basis and not differ(right, [evaluate(model, sample) for sample in samples]):
        return
    allowed: list[list[dict[str, Array]]] | None = None
    for what, lie, fault in chosen:
        wrong = [evaluate(lie, sample, fault, declared) for sample in samples]
        if not differ(right, wrong):
            continue
        seen = used(wrong, profile) > 1
        if not seen:
            allowed = _allowed(model, samples, rule) if allowed is None else allowed
            if any(not differ(outputs, wrong) for outputs in allowed):
                equal[group] += 1
                continue
            print(f"   survived {where}: {what} | {group or 'half to even'}", flush=True)
        label = f"{what} | {group}" if group else what
        total[label] += 1
        killed[label] += seen


def _of_rule(model: onnx.ModelProto, rule: tuple[str, ...]) -> list[str]:
    """What the grids give that a rule is of."""
    producers = {name: node for node in model.graph.node for name in node.output}
    names = []
    for node in model.graph.node:
        before = producers.get(node.input[0])
        while before is not None and before.op_type in ("Relu", "Flatten", "Identity"):
            before = producers.get(before.input[0])
        fused = before is not None and before.op_type in ("Add", "Mul", "AveragePool", "GlobalAveragePool")
        if node.op_type == "QuantizeLinear" and (fused or rule != ELEMENTWISE):
            names.append(node.output[0])
    return names


def _allowed(model: onnx.ModelProto, samples: Samples, rule: tuple[str, ...]) -> list[list[dict[str, Array]]]:
    """What the rule gives, at some of the grids or at all of them."""
    evaluations = [[evaluate(model, sample) for sample in samples]]
    for reading in READINGS[rule]:
        grids = [
            grid
            for grid in _of_rule(model, rule)
            if any(_acts(model, sample, grid, reading, rule) for sample in samples)
        ]
        for some in itertools.product((False, True), repeat=min(MOST, len(grids))):
            ties = dict.fromkeys(itertools.compress(grids, some), reading)
            evaluations.append([evaluate(model, sample, ties=ties) for sample in samples])
    return evaluations


def _acts(model: onnx.ModelProto, sample: Mapping[str, Array], grid: str, reading: str, rule: tuple[str, ...]) -> bool:
    """Whether it changes an output at this grid alone, or where it is followed at all others."""
    every = dict.fromkeys(_of_rule(model, rule), reading)
    pairs: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {grid: reading}),
        (every, {name: ties for name, ties in every.items() if name != grid}),
    ]
    return any(differ([evaluate(model, sample, ties=a)], [evaluate(model, sample, ties=b)]) for a, b in pairs)


def answers(path: Path, samples: Samples, engines: Sequence[str]) -> Iterator[tuple[str, Samples, tuple[str, ...]]]:
    """Of every engine that takes the net, with the tie rule that its flow declares."""
    from assay.errors import AssayError

    yield "numpy", [evaluate(onnx.load(path), sample) for sample in samples], ()
    for name in engines:
        try:
            outputs = run(path, ENGINES[name], samples)
        except (AssayError, RuntimeError) as error:
            print(f"   {path.stem} {name}: {type(error).__name__} {str(error)[:120]}")
            continue
        yield name, outputs, ENGINES[name].allowances


if __name__ == "__main__":
    main()
