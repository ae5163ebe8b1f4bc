"""Grids that a tensor's own range makes: what tips a value there, and an engine that leaves such a grid out where one operator has it."""

from __future__ import annotations

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper, parser

from assay.numerics.oracle.evaluator import WideEvaluator
from assay.numerics.tolerance.derive import derive_model
from assay.numerics.tolerance.judge.judge_outputs import judge_outputs
from assay.ports import Tensor

RANDOM = np.random.default_rng(3)
SIZE, WIDTH, STEPS = 16, 12, 6


def test_no_fixed_point_arithmetic_tips_what_goes_onto_a_grid_of_its_own_range() -> None:
    """A quotient of float32 is that near to the true one: a value a thousandth of a step from a boundary stays on its side."""
    model = parser.parse_model(
        """<ir_version: 10, opset_import: ["" : 21]> g (float[1, 256] x) => (float[1, 256] y)
        { q, s, z = DynamicQuantizeLinear(x) y = DequantizeLinear(q, s, z) }"""
    )
    x = np.arange(256, dtype=np.float32)[None]
    x[0, 1:-1] += np.float32(0.5 - 2.0**-10)
    profile = derive_model(model, [{"x": x}], "float32")
    assert profile.deviation[0]["y"].max() < 1e-3


def recurrent(quantized: bool, factor: float = 1.0) -> ModelProto:
    """DynamicQuantizeLSTM, or an LSTM of the same weights."""
    random = np.random.default_rng(4)
    whole = [random.integers(0, 256, (1, rows, 4 * SIZE)).astype(np.uint8) for rows in (WIDTH, SIZE)]
    scale, zero = np.array([0.004], np.float32), np.array([128], np.uint8)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [STEPS, 1, WIDTH])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [STEPS, 1, 1, SIZE])]
    if quantized:
        names = ["x", "w", "r", "", "", "", "", "", "s", "z", "s", "z"]
        stored = {"w": whole[0], "r": whole[1], "s": scale * np.float32(factor), "z": zero}
    else:
        names = ["x", "w", "r"]
        stored = {
            name: ((weight.astype(np.float32) - 128) * scale).swapaxes(1, 2)
            for name, weight in zip("wr", whole, strict=True)
        }
    node = helper.make_node(
        "DynamicQuantizeLSTM" if quantized else "LSTM",
        names,
        ["y"],
        domain="com.microsoft" if quantized else "",
        hidden_size=SIZE,
    )
    weights = [numpy_helper.from_array(array, name) for name, array in stored.items()]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    graph = helper.make_graph([node], "g", inputs, outputs, weights)
    return helper.make_model(graph, opset_imports=opsets, ir_version=10)


def answers(model: ModelProto, inputs: list[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
    evaluator = WideEvaluator(model)
    return [{"y": evaluator.evaluate({"x": sample["x"].astype(np.float64)})[0].astype(np.float32)} for sample in inputs]


def test_a_state_may_stay_off_the_grid_that_one_operator_puts_it_on() -> None:
    """ONNX Runtime quantizes it, OpenVINO does not. A scale that is off by a twentieth is seen all the same."""
    inputs = [{"x": RANDOM.standard_normal((STEPS, 1, WIDTH)).astype(np.float32)} for _ in range(3)]
    profile = derive_model(recurrent(quantized=True), inputs, "float32")
    used = {
        name: judge_outputs(answers(model, inputs), None, profile)["y"].metrics["budget_used"]
        for name, model in (
            ("quantized", recurrent(quantized=True)),
            ("real", recurrent(quantized=False)),
            ("fault", recurrent(quantized=True, factor=1.05)),
        )
    }
    assert used["quantized"] < 0.1
    assert 0.1 < used["real"] < 0.8
    assert used["fault"] > 1


def few_bits(level: int, factor: float = 1.0) -> ModelProto:
    """Weights of four bits in blocks of 32."""
    random = np.random.default_rng(5)
    packed = random.integers(0, 256, (24, 4, 16)).astype(np.uint8)
    scales = (random.uniform(0.01, 0.02, (24, 4)) * factor).astype(np.float32)
    attributes = {"K": 128, "N": 24, "bits": 4, "block_size": 32, "accuracy_level": level}
    node = helper.make_node("MatMulNBits", ["x", "b", "s"], ["y"], domain="com.microsoft", **attributes)
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 128])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [8, 24])]
    weights = [numpy_helper.from_array(packed, "b"), numpy_helper.from_array(scales, "s")]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(
        helper.make_graph([node], "g", inputs, outputs, weights), opset_imports=opsets, ir_version=10
    )


def test_an_input_may_be_rounded_to_eight_bits_where_the_level_says_so() -> None:
    """ONNX Runtime rounds it, others multiply in float32."""
    import onnxruntime

    inputs = [{"x": RANDOM.standard_normal((8, 128)).astype(np.float32)} for _ in range(2)]
    session = onnxruntime.InferenceSession(few_bits(4).SerializeToString(), providers=["CPUExecutionProvider"])
    rounded = [{"y": session.run(None, sample)[0]} for sample in inputs]
    used = {}
    for level in (0, 4):
        profile = derive_model(few_bits(level), inputs, "float32")
        assert profile.header.without_rule == ()
        for name, limit in (
            ("rounded", rounded),
            ("real", answers(few_bits(4), inputs)),
            ("fault", answers(few_bits(4, factor=1.1), inputs)),
        ):
            used[level, name] = judge_outputs(limit, None, profile)["y"].metrics["budget_used"]
    assert used[4, "rounded"] < 0.8
    assert used[4, "real"] < 0.8
    assert used[4, "fault"] > 1
    assert used[0, "real"] < 0.8
    assert used[0, "rounded"] > 1
