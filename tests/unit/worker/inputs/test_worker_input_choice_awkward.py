"""Graphs with awkward demands on their inputs: what is chosen for them, an engine that checks takes too, and it tells something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper, parser

from assay.core.case import Case, Inputs
from assay.core.flow import Flow
from assay.core.job import VerifyJob
from assay.models.onnx_file import describe
from assay.numerics.oracle.evaluator import Evaluator
from assay.worker.inputs.input_choice import chosen, is_telling

Stored = dict[str, Any]
ZERO, ONE, TWO, SIX = (np.array([number]) for number in (0, 1, 2, 6))
SCALAR = np.array(1)


def table(rows: int, columns: int = 4) -> Any:
    return np.random.default_rng(rows).standard_normal((rows, columns)).astype(np.float32)


GRAPHS: dict[str, tuple[str, Stored]] = {
    "a gather of a gather": (
        "g (int64[N] id) => (float[N,4] y) { row = Gather(rows, id) y = Gather(emb, row) }",
        {"rows": np.arange(50) % 7, "emb": table(7)},
    ),
    "an index that is computed": (
        "g (int64[N] id) => (float[N,4] y) { a = Mul(id, three) b = Add(a, first) row = Gather(rows, b) y = Gather(emb, row) }",
        {"rows": np.arange(30) % 9, "emb": table(9), "three": np.array(3), "first": SCALAR},
    ),
    "the depth of a one hot from a shape": (
        "g (int64[N] id, float[C,4] x) => (float[N,4] y) { s = Shape(x) d = Gather(s, zero) h = OneHot(id, d, ends) y = MatMul(h, x) }",
        {"zero": ZERO, "ends": np.array([0, 1], np.float32)},
    ),
    "the depth of a one hot from its own indices": (
        "g (int64[N] id) => (float[N,D] y) { m = ReduceMax<keepdims=0>(id) d = Add(m, first) y = OneHot(id, d, ends) }",
        {"first": SCALAR, "ends": np.array([0, 1], np.float32)},
    ),
    "a shape that is computed": (
        """g (float[N,S] x) => (float[A,B,6] y) { s = Shape(x) n = Gather(s, zero) l = Gather(s, one) q = Div(l, six)
        t = Concat<axis=0>(n, q, six) y = Reshape(x, t) }""",
        {"zero": ZERO, "one": ONE, "six": SIX},
    ),
    "tokens that make a square": (
        """g (float[N,T,8] x) => (float[N,8,H,W] y) { s = Shape(x) t = Gather(s, one) f = Cast<to=1>(t) r = Sqrt(f) i = Cast<to=7>(r)
        n = Gather(s, zero) p = Transpose<perm=[0,2,1]>(x) sh = Concat<axis=0>(n, eight, i, i) y = Reshape(p, sh) }""",
        {"zero": ZERO, "one": ONE, "eight": np.array([8])},
    ),
    "the last token that a mask shows": (
        """g (int64[N,T] ids, int64[N,T] mask) => (float[N,4] y) { e = Gather(emb, ids) c = ReduceSum<keepdims=0>(mask, one)
        l = Sub(c, first) b = Unsqueeze(l, one) y = GatherND<batch_dims=1>(e, b) }""",
        {"emb": table(20), "one": ONE, "first": SCALAR},
    ),
    "a loop over rows": (
        """g (float[T,4] x, int64 n) => (float[4] y) { go = Constant<value = bool {1}>() none = Constant<value_floats=[0.0,0.0,0.0,0.0]>()
        y = Loop(n, go, none) <body = b (int64 i, bool c, float[4] a) => (bool more, float[4] o)
        { more = Identity(c) r = Gather<axis=0>(x, i) o = Add(a, r) }> }""",
        {},
    ),
    "as many of the largest as an input says": (
        "g (float[N,C] x, int64[1] k) => (float[N,K] y, int64[N,K] i) { y, i = TopK<axis=1>(x, k) }",
        {},
    ),
    "rows and columns that are written": (
        """g (float[10,3] x, int64[K] rows, int64[K] cols, float[K] u) => (float[10,3] y) { r = Unsqueeze(rows, one)
        c = Unsqueeze(cols, one) i = Concat<axis=1>(r, c) y = ScatterND(x, i, u) }""",
        {"one": ONE},
    ),
    "positions behind earlier ones": (
        """g (int64[N,T] ids, int64 past) => (float[N,T,4] y) { s = Shape(ids) t = Gather(s, first) e = Add(t, past)
        p = Range(past, e, first) a = Gather(places, p) b = Gather(words, ids) y = Add(b, a) }""",
        {"first": SCALAR, "places": table(24), "words": table(30)},
    ),
    "a table of places that is short": (
        """g (int64[N,T] ids) => (float[N,T,4] y) { s = Shape(ids) t = Gather(s, one) p = Slice(places, zero, t, zero)
        e = Gather(words, ids) y = Add(e, p) }""",
        {"zero": ZERO, "one": ONE, "places": table(12), "words": table(9)},
    ),
    "a picture that is halved twice": (
        """g (float[1,3,H,W] x) => (float[1,3,H,W] y) { d = MaxPool<kernel_shape=[2,2],strides=[2,2]>(x)
        e = MaxPool<kernel_shape=[2,2],strides=[2,2]>(d) u = Resize<mode="nearest">(e, , fours) y = Add(x, u) }""",
        {"fours": np.array([1, 1, 4, 4], np.float32)},
    ),
    "an index of two parts": (
        "g (int64[N] row, int64[N] col) => (float[N] y) { r = Mul(row, ten) f = Add(r, col) y = Gather(flat, f) }",
        {"ten": np.array(10), "flat": table(50, 1).reshape(-1)},
    ),
    "an index counted from the end": (
        "g (float[T,3] x, int64[K] back) => (float[K,3] y) { s = Shape(x) t = Gather(s, none) d = Sub(t, back) y = Gather(x, d) }",
        {"none": np.array(0)},
    ),
    "a cache of fixed length": (
        "g (float[1,P,4] past, float[1,S,4] x) => (float[1,8,4] y) { c = Concat<axis=1>(past, x) y = Reshape(c, sh) }",
        {"sh": np.array([1, 8, 4])},
    ),
    "bytes as indices": ("g (uint8[N] v) => (float[N,4] y) { i = Cast<to=7>(v) y = Gather(emb, i) }", {"emb": table(100)}),
    "a remainder as an index": (
        "g (int64[N] ids) => (float[N,4] y) { h = Mul(ids, big) m = Mod(h, size) y = Gather(emb, m) }",
        {"big": np.array(2654435761), "size": np.array(16), "emb": table(16)},
    ),
    "parts that add up": (
        "g (float[10,4] x, int64[3] parts) => (float[A,4] y, float[B,4] z, float[C,4] w) { y, z, w = Split<axis=0>(x, parts) }",
        {},
    ),
    "a border that is reflected": ('g (float[1,2,L] x, int64[6] pads) => (float[A,B,C] y) { y = Pad<mode="reflect">(x, pads) }', {}),
    "a part of a sequence": (
        "g (float[T,4] x, int64 at) => (float[A,4] y) { s = SplitToSequence<axis=0>(x, pair) y = SequenceAt(s, at) }",
        {"pair": np.array(2)},
    ),
    "texts that a model knows": (
        """g (string[N] s) => (float[N,4] y) {
        i = ai.onnx.ml.LabelEncoder<keys_strings=["red","green"], values_int64s=[0,1], default_int64=2>(s) y = Gather(emb, i) }""",
        {"emb": table(3)},
    ),
    "bounds of a clip": ("g (float[N,4] x, float low, float high) => (float[N,4] y) { y = Clip(x, low, high) }", {}),
    "branches of two sizes": (
        """g (float[N,12] x, bool wide) => (float[A,B] y) { y = If(wide) <then_branch = t () => (float[A,B] p) { p = Reshape(x, six) },
        else_branch = e () => (float[A,B] q) { q = Reshape(x, four) }> }""",
        {"six": np.array([-1, 6]), "four": np.array([-1, 4])},
    ),
    "a divisor that is a difference": (
        "g (int32[N] a, int32[N] b) => (int32[N] y) { d = Sub(b, a) e = Add(d, far) y = Div(a, e) }",
        {"far": np.array(20, np.int32)},
    ),
    "the sizes of a picture as an input": (
        """g (float[1,3,H,W] x, int64[2] hw) => (float[1,3,A,B] y) { s = Shape(x) f = Slice(s, zero, two) t = Concat<axis=0>(f, hw)
        y = Resize<mode="linear">(x, , , t) }""",
        {"zero": ZERO, "two": TWO},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GRAPHS)
def test_the_chosen_inputs_are_taken_and_tell_something(tmp_path: Path, name: str) -> None:
    text, stored = GRAPHS[name]
    model = parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17, "ai.onnx.ml" : 3]> {text}')
    model.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in stored.items())
    onnx.save(model, tmp_path / "m.onnx")
    job = VerifyJob(Case("m", describe(tmp_path / "m.onnx"), Inputs(samples=3)), Flow("reference", "reference"))
    evaluator = Evaluator(model)
    names = evaluator.output_names
    inputs, outputs, _ = chosen(
        job, lambda given: [dict(zip(names, evaluator.evaluate(sample), strict=True)) for sample in given]
    )
    assert is_telling(outputs)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), options, ["CPUExecutionProvider"])
    for given, expected in zip(inputs, outputs, strict=True):
        for theirs, mine in zip(session.run(names, given), expected.values(), strict=True):
            np.testing.assert_allclose(theirs, mine, rtol=1e-4, atol=1e-5)
