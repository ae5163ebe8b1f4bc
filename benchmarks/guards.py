"""Networks with guards against zero: right engines called wrong on inputs where the guards count, and engines without guards that are seen.

`python benchmarks/guards.py [--seeds FIRST LAST]`. Each seed is a network of two to seven layers, most of them normalizations, logarithms
and roots with an epsilon or a lower end from 1e-12 to 1e-4. ONNX Runtime with all optimizations and with none, and OpenVINO, in float32,
are right; the same network without its guards is wrong. Whether ordinary samples show that, too, is counted beside it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
from onnx import TensorProto, helper, numpy_helper

from assay.numerics.guards import guards_of, without
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.derived_tolerance import GuardedInputs
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs

Array = np.ndarray[Any, Any]
LAYERS = {
    "convolution": "r = Conv<pads=[1, 1]>(v, kernel, bias)",
    "instances": "r = InstanceNormalization<epsilon=EPSILON>(v, scale, bias)",
    "groups": "a = Reshape(v, two) b = InstanceNormalization<epsilon=EPSILON>(a, ones, zeros) r = Reshape(b, back)",
    "groups, by the standard": "r = GroupNormalization<epsilon=EPSILON, num_groups=2>(v, scale, bias)",
    "constant": "r = Add(v, far)",
    "layer": "r = LayerNormalization<epsilon=EPSILON>(v, along, across)",
    "length": "n = ReduceL2(v, first) d = Add(n, e) r = Div(v, d)",
    "length, cut": "n = ReduceL2(v, first) d = Clip(n, e) r = Div(v, d)",
    "variance": "m = ReduceMean(v, last) d = Sub(v, m) q = Mul(d, d) a = ReduceMean(q, last) w = Add(a, e) s = Sqrt(w) r = Div(d, s)",
    "spread": "m = ReduceMean(v, last) d = Sub(v, m) q = Mul(d, d) a = ReduceMean(q, last) s = Sqrt(a) w = Add(s, e) r = Div(d, w)",
    "bands": "q = Mul(v, v) p = MatMul(q, filters) c = Clip(p, e) r = Log(c)",
    "bands, raised": "q = Mul(v, v) p = MatMul(q, filters) c = Add(p, e) r = Log(c)",
    "chosen": "n = ReduceL2(v, first) z = Equal(n, none) d = Where(z, one, n) r = Div(v, d)",
    "chosen behind": "n = ReduceL2(v, first) d = Div(v, n) z = LessOrEqual(n, e) r = Where(z, none, d)",
    "root": "a = Relu(v) r = Sqrt(a)",
    "relu": "r = Relu(v)",
    "softmax": "r = Softmax(v)",
    "factor": "r = Mul(v, factor)",
}


def network(seed: int) -> tuple[onnx.ModelProto, list[dict[str, Array]]]:
    random = np.random.default_rng(seed)
    channels, length = int(random.choice([4, 8, 16])), int(random.choice([16, 64]))
    nodes, stored, value = [], dict[str, Array](), "x"
    for number in range(int(random.integers(2, 8))):
        epsilon = float(10.0 ** random.integers(-12, -3))
        own = numbers(random, channels, length, epsilon)
        text = LAYERS[str(random.choice([*LAYERS]))].replace("EPSILON", str(epsilon))
        layer = onnx.parser.parse_graph(f"g (float[N] v) => (float[N] r) {{ {text} }}").node
        for node in layer:
            for names in (node.input, node.output):
                names[:] = [value if name == "v" else f"{name}{number}" for name in names]
        nodes += layer
        read = {name for node in layer for name in node.input}
        stored |= {f"{name}{number}": array for name, array in own.items() if f"{name}{number}" in read}
        value = f"r{number}"
    nodes.append(helper.make_node("Identity", [value], ["y"]))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, channels, length))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, channels, length))],
        [numpy_helper.from_array(array, name) for name, array in stored.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    return model, [{"x": random.normal(size=(1, channels, length)).astype(np.float32)} for _ in range(2)]


def numbers(random: np.random.Generator, channels: int, length: int, epsilon: float) -> dict[str, Array]:
    """What layers may read."""
    real = {
        "kernel": random.normal(size=(channels, channels, 3)) / np.sqrt(3 * channels),
        "bias": random.normal(size=channels) * random.choice([0.0, 0.01, 1.0]),
        "scale": random.normal(size=channels),
        "ones": np.ones(2),
        "zeros": np.zeros(2),
        "along": random.normal(size=length),
        "across": random.normal(size=length),
        "filters": np.abs(random.normal(size=(length, length))) / length,
        "far": 10.0 ** random.uniform(-1, 2),
        "factor": random.choice([0.01, 1.0, 30.0]),
        "e": np.array(epsilon),
        "none": np.array(0),
        "one": np.array(1),
    }
    whole = {"two": [1, 2, -1], "back": [1, channels, length], "first": [1], "last": [-1]}
    reals = {name: np.asarray(array, np.float32) for name, array in real.items()}
    return reals | {name: np.asarray(sizes, np.int64) for name, sizes in whole.items()}


def by_onnxruntime(model: onnx.ModelProto, fed: dict[str, Array], *, optimized: bool) -> Array:
    settings, levels = onnxruntime.SessionOptions(), onnxruntime.GraphOptimizationLevel
    settings.graph_optimization_level = levels.ORT_ENABLE_ALL if optimized else levels.ORT_DISABLE_ALL
    answer: Array = onnxruntime.InferenceSession(model.SerializeToString(), settings).run(None, fed)[0]
    return answer


def answers(model: onnx.ModelProto, fed: dict[str, Array]) -> Iterator[Array]:
    """Of the engines that are right."""
    yield by_onnxruntime(model, fed, optimized=True)
    yield by_onnxruntime(model, fed, optimized=False)
    core = openvino.Core()
    read = core.read_model(model.SerializeToString())
    yield core.compile_model(read, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(fed)[0]


def used(answer: Array, guarded: GuardedInputs) -> float:
    """The share of what is allowed."""
    with np.errstate(all="ignore"):
        share = np.abs(answer.astype(np.float64) - guarded.oracle["y"]) / guarded.allowed["y"]
    return float(np.where(np.isfinite(share), share, np.inf).max())


def is_seen(model: onnx.ModelProto, asked: Sequence[GuardedInputs]) -> bool:
    return any(used(by_onnxruntime(model, each.inputs, optimized=False), each) > 1.0 for each in asked)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs=2, default=(0, 150), metavar=("FIRST", "LAST"))
    seeds = range(*parser.parse_args().seeds)
    onnxruntime.set_default_logger_severity(4)
    right: list[float] = []
    seen = Counter[str]()
    for seed in seeds:
        model, samples = network(seed)
        tolerance = derive_model(model, samples, "float32", seed=seed)
        guards = guards_of(model)
        seen["networks with guards"] += bool(guards)
        if not (asked := tolerance.guarded):
            continue
        seen["asked"] += 1
        seen["sets of inputs"] += len(asked)
        right += [used(answer, each) for each in asked for answer in answers(model, each.inputs)]
        bare = without(model, guards)
        seen["without guards, seen there"] += is_seen(bare, asked)
        for guard, guarded in guards.items():
            seen["guards"] += 1
            seen["one guard lost, seen there"] += is_seen(without(model, {guard: guarded}), asked)
        ordinary = [{"y": by_onnxruntime(bare, sample, optimized=False)} for sample in samples]
        judged = judge_outputs(ordinary, None, tolerance)["y"].metrics.get("budget_used", 0.0)
        finite = all(np.isfinite(answer["y"]).all() for answer in ordinary)
        seen["without guards, seen on ordinary samples"] += judged > 1.0 or not finite
    print(", ".join(f"{what}: {count}" for what, count in seen.items()))
    wrong = sum(not share <= 1.0 for share in right)
    print(f"{len(right)} right engines, {wrong} called wrong, largest share of what is allowed {max(right):.2g}")


if __name__ == "__main__":
    main()
