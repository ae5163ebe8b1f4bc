"""Tokens of texts, beside ONNX Runtime."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import ModelProto, TensorProto, helper

from assay.errors import Unsupported
from assay.numerics.oracle.evaluator import WideEvaluator

TEXTS = np.array([["The sat.cat", "a b-c_1"], ["", "caf\u00e9 \u00fcber x 42 lang"]], object)


def tokenizer(**attributes: Any) -> ModelProto:
    node = helper.make_node("Tokenizer", ["x"], ["y"], domain="com.microsoft", **attributes)
    values = [
        helper.make_tensor_value_info(name, TensorProto.STRING, [None] * rank) for name, rank in (("x", 2), ("y", 3))
    ]
    graph = helper.make_graph([node], "g", values[:1], values[1:])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("mark", [0, 1])
@pytest.mark.parametrize("least", [1, 3])
@pytest.mark.parametrize("expression", ["[a-zA-Z0-9_]+", r"\w\w+", "[^ ]+"])
def test_tokens_by_an_expression(mark: int, least: int, expression: str) -> None:
    model = tokenizer(mark=mark, mincharnum=least, pad_value="#", tokenexp=expression)
    theirs = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": TEXTS})[0]
    ours = WideEvaluator(onnx.ModelProto.FromString(model.SerializeToString())).evaluate({"x": TEXTS})[0]
    assert ours.tolist() == theirs.tolist()


def test_what_two_engines_of_expressions_could_read_otherwise_is_refused() -> None:
    model = tokenizer(mark=0, mincharnum=1, pad_value="#", tokenexp="a|ab")
    with pytest.raises(Unsupported, match=r"Assay does not compute Tokenizer with separators=None, tokenexp=a\|ab"):
        WideEvaluator(model).evaluate({"x": TEXTS})


@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
@pytest.mark.parametrize("rank", [1, 2])
def test_counts_of_words_in_double(mode: str, rank: int) -> None:
    node = helper.make_node(
        "TfIdfVectorizer", ["x"], ["y"], mode=mode, min_gram_length=1, max_gram_length=2, max_skip_count=0, ngram_counts=[0, 3],
        ngram_indexes=[2, 0, 1, 3, 4], pool_strings=["a", "b", "c", "a", "b", "b", "c"], weights=[0.1, 0.2, 0.3, 0.4, 0.5],
    )  # fmt: skip
    values = [
        helper.make_tensor_value_info("x", TensorProto.STRING, [None] * rank),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * rank),
    ]
    model = helper.make_model(
        helper.make_graph([node], "g", values[:1], values[1:]), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    x = np.array([["a", "b", "c", "b"], ["b", "b", "x", "a"]], object)
    x = x if rank == 2 else x[0]
    theirs = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x": x})[0]
    ours = WideEvaluator(model).evaluate({"x": x})[0]
    assert ours.dtype == np.float64
    assert ours.shape == theirs.shape
    assert np.allclose(ours, theirs, rtol=1e-6)
