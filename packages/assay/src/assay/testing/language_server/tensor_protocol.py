"""The Open Inference Protocol, version 2: tensors by name as JSON. https://github.com/kserve/open-inference-protocol"""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.testing.language_server.network import HEAD, Array, Network

_IDS = ("input_ids", "attention_mask", "position_ids")


def _parts(network: Network) -> list[str]:
    return [f"{layer}.{part}" for layer in range(network.layers) for part in ("key", "value")]


def metadata(name: str, network: Network) -> dict[str, Any]:
    """What the model takes and gives; -1 is any size."""
    cache = [-1, network.key_heads, -1, HEAD]
    inputs = [{"name": input_name, "datatype": "INT64", "shape": [-1, -1]} for input_name in _IDS]
    past = [{"name": f"past_key_values.{part}", "datatype": "FP32", "shape": cache} for part in _parts(network)]
    present = [{"name": f"present.{part}", "datatype": "FP32", "shape": cache} for part in _parts(network)]
    logits = {"name": "logits", "datatype": "FP32", "shape": [-1, -1, network.vocabulary]}
    return {
        "name": name,
        "versions": ["1"],
        "platform": "numpy",
        "inputs": inputs + past,
        "outputs": [logits, *present],
    }


def infer(network: Network, body: dict[str, Any]) -> dict[str, Any]:
    """The outputs for the inputs of a request. Raises KeyError and ValueError for others than the model takes."""
    given = {
        entry["name"]: np.asarray(entry["data"], np.int64 if entry["datatype"] == "INT64" else np.float32).reshape(
            entry["shape"]
        )
        for entry in body["inputs"]
    }
    past = [given[f"past_key_values.{part}"] for part in _parts(network)]
    logits, present = network.run(given[_IDS[0]], given[_IDS[1]], given[_IDS[2]], past)
    outputs = {"logits": logits} | {
        f"present.{part}": array for part, array in zip(_parts(network), present, strict=True)
    }
    return {"outputs": [_tensor(name, array) for name, array in outputs.items()]}


def _tensor(name: str, array: Array) -> dict[str, Any]:
    return {"name": name, "datatype": "FP32", "shape": list(array.shape), "data": array.ravel().tolist()}
