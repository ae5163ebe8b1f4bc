"""Answers by the Open Inference Protocol: read to the bit, or one sentence."""

from __future__ import annotations

import json
import warnings
from contextlib import closing
from typing import Any

import numpy as np
import pytest

from assay.endpoints.connection import Connection
from assay.endpoints.open_inference import TensorService
from assay.errors import EndpointBroke
from scripted_server import answering, whole


def _inferred(outputs: Any) -> dict[str, Any]:
    """The same answer serves as what the server says of the model, which may say nothing."""
    body = json.dumps({"outputs": outputs}).encode()
    with (
        answering(whole("200 OK", body)) as port,
        closing(Connection(f"http://127.0.0.1:{port}/v2", timeout_s=60.0)) as connection,
    ):
        return TensorService(connection, "model").infer({"x": np.zeros(1, np.float32)})


def _output(datatype: Any, data: Any, shape: Any = (2,)) -> dict[str, Any]:
    return {"name": "y", "datatype": datatype, "shape": shape, "data": data}


READ = {
    "flat": (_output("FP32", [1, 2.5]), np.array([1, 2.5], np.float32)),
    "nested": (_output("INT64", [[1], [2**53 + 1]], (2, 1)), np.array([[1], [2**53 + 1]])),
    "truth values": (_output("BOOL", [True, 0]), np.array([True, False])),
    "the largest": (_output("UINT64", [2**64 - 1, 0]), np.array([2**64 - 1, 0], np.uint64)),
    "none": (_output("FP64", [], (0, 3)), np.zeros((0, 3))),
    "what is no number": (_output("FP32", [None, 1e300]), np.array([np.nan, np.inf], np.float32)),
}


@pytest.mark.parametrize("what", READ)
def test_an_output_is_read(what: str) -> None:
    said, expected = READ[what]
    with warnings.catch_warnings(action="error"):
        answer = _inferred([said])["y"]
    assert answer.dtype == expected.dtype
    np.testing.assert_array_equal(answer, expected)


ODD = {
    "no list": {"y": 1},
    "a number": [1],
    "no data": [{"name": "y", "datatype": "FP32", "shape": [2]}],
    "data that is a text": [_output("FP32", "12")],
    "texts for numbers": [_output("FP32", ["1", "2"])],
    "a table for a number": [_output("FP32", [{}, 1])],
    "another type": [_output("BYTES", ["a", "b"])],
    "a type that is a list": [_output(["FP32"], [1, 2])],
    "ragged": [_output("FP32", [[1, 2], [3]], (2, 2))],
    "of another depth": [_output("FP32", [[[1, 2]], [[3], [4]]], (2, 2))],
    "too few": [_output("FP32", [1])],
    "a size below 0": [_output("FP32", [1, 2], (-1,))],
    "an endless size": [_output("FP32", [1, 2], (10**30,))],
    "many axes": [_output("FP32", [1], (1,) * 99)],
    "beyond a byte": [_output("UINT8", [300, 1])],
    "beyond any type": [_output("INT64", [2**70, 1])],
    "below 0": [_output("UINT8", [-1, 1])],
    "a fraction": [_output("INT64", [1.5, 1])],
    "null for a whole number": [_output("INT64", [None, 1])],
    "a number that no float holds": [_output("FP64", [10**400, 1])],
    "texts for truth values": [_output("BOOL", ["false", "false"])],
    "twice": [_output("FP32", [1, 2]), _output("FP32", [1, 2])],
}


@pytest.mark.parametrize("what", ODD)
def test_what_is_no_output_is_one_sentence(what: str) -> None:
    with pytest.raises(EndpointBroke, match=r"gave an answer that cannot be read .* is it the Open Inference") as error:
        _inferred(ODD[what])
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("said", [[1], 7, {"platform": 3}, {"versions": "1"}])
def test_what_is_said_of_a_model_is_read_or_one_sentence(said: Any) -> None:
    with (
        answering(whole("200 OK", json.dumps(said).encode())) as port,
        closing(Connection(f"http://127.0.0.1:{port}/v2", timeout_s=60.0)) as connection,
        pytest.raises(EndpointBroke, match="gave an answer that cannot be read"),
    ):
        TensorService(connection, "model")
