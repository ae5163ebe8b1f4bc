"""OpenVINO 2026.4.1, CPU: a compiled model with rotary positions answers garbage once it was exported and imported, or taken from a cache.

Expected: y = [a cos - b sin, b cos + a sin] of the two halves a, b of x (Su et al. 2021), as the compiled model itself answers. Got after
`export_model` and `import_model`, and from the second start on with CACHE_DIR: values of any size, and NaN. The nodes become one RoPE node,
which a saved model brings back wrong. Found by `assay check` of a small language model, whose engine is always saved and loaded.
"""

from __future__ import annotations

import sys
import tempfile

import numpy as np
import openvino
from onnx import TensorProto, helper, numpy_helper

HALF = 8


def rotary() -> bytes:
    constants = {"axes": [1, 3], "zero": [0], "half": [HALF], "end": [2**62], "last": [3]}
    lines = [
        ("Unsqueeze", "positions axes", "p"),
        ("Cast", "p", "float", {"to": TensorProto.FLOAT}),
        ("Mul", "float frequencies", "angles"),
        ("Cos", "angles", "cos"),
        ("Sin", "angles", "sin"),
        ("Slice", "x zero half last", "a"),
        ("Slice", "x half end last", "b"),
        ("Mul", "a cos", "a_cos"),
        ("Mul", "b sin", "b_sin"),
        ("Sub", "a_cos b_sin", "left"),
        ("Mul", "b cos", "b_cos"),
        ("Mul", "a sin", "a_sin"),
        ("Add", "b_cos a_sin", "right"),
        ("Concat", "left right", "y", {"axis": -1}),
    ]
    nodes = [
        helper.make_node(kind, takes.split(), [gives], **(rest[0] if rest else {}))
        for kind, takes, gives, *rest in lines
    ]
    shape = ["batch", 2, "new", 2 * HALF]
    frequencies = (10000.0 ** (-np.arange(HALF) / HALF)).astype(np.float32)
    graph = helper.make_graph(
        nodes,
        "rotary",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, shape),
            helper.make_tensor_value_info("positions", TensorProto.INT64, ["batch", "new"]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)],
        [numpy_helper.from_array(np.array(value, np.int64), name) for name, value in constants.items()]
        + [numpy_helper.from_array(frequencies, "frequencies")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)
    return bytes(model.SerializeToString())


core = openvino.Core()
x = np.random.default_rng(0).standard_normal((1, 2, 5, 2 * HALF)).astype(np.float32)
positions = np.arange(5)[None]
angles = positions[:, None, :, None] * 10000.0 ** (-np.arange(HALF) / HALF)
a, b = x[..., :HALF].astype(float), x[..., HALF:].astype(float)
due = np.concatenate([a * np.cos(angles) - b * np.sin(angles), b * np.cos(angles) + a * np.sin(angles)], axis=-1)
precise = {"INFERENCE_PRECISION_HINT": "f32"}
compiled = core.compile_model(core.read_model(rotary()), "CPU", precise)
engines = {"compiled": compiled, "exported and imported": core.import_model(compiled.export_model(), "CPU")}
with tempfile.TemporaryDirectory() as folder:
    for name in ("with a new cache", "from the cache"):
        cached = openvino.Core()
        cached.set_property({"CACHE_DIR": folder})
        engines[name] = cached.compile_model(cached.read_model(rotary()), "CPU", precise)
    wrong = False
    for name, engine in engines.items():
        error = np.abs(engine([x, positions])[0] - due).max()
        bad = not error < 1e-5
        print(f"{name}: largest error {error:.3g}{'  WRONG' if bad else ''}")
        wrong = wrong or bad
sys.exit(int(wrong))
