"""The ONNX graph of a decoder: tokens, mask, positions and a cache in, logits and the cache behind the new tokens out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from assay.models.checkpoints.decoder_weights import EMBEDDING, HEAD, LAST_NORM, LAYER, Decoder
from assay.ports import Tensor

if TYPE_CHECKING:
    from onnx import ModelProto

_OPSET, _IR = 18, 9
_HIDDEN = -1e4
"""Added to the score of a position that is not seen."""


def decoder_graph(decoder: Decoder) -> ModelProto:
    """Names are those that exporters use (`assay.models.own_data.prompts.signature`)."""
    from onnx import TensorProto, helper

    graph = _Graph(decoder)
    graph.build()
    new: list[str | int | None] = ["batch", "sequence"]
    whole = TensorProto.INT64
    cache: list[str | int | None] = ["batch", decoder.key_heads, "cached", decoder.head]
    every: list[str | int | None] = ["batch", decoder.key_heads, "every", decoder.head]
    parts = [f"{layer}.{part}" for layer in range(decoder.layers) for part in ("key", "value")]
    value = helper.make_tensor_value_info
    inputs = [
        value("input_ids", whole, new),
        value("attention_mask", whole, ["batch", "every"]),
        value("position_ids", whole, new),
        *(value(f"past_key_values.{part}", TensorProto.FLOAT, cache) for part in parts),
    ]
    outputs = [
        value("logits", TensorProto.FLOAT, [*new, decoder.vocabulary]),
        *(value(f"present.{part}", TensorProto.FLOAT, every) for part in parts),
    ]
    made = helper.make_graph(graph.nodes, decoder.name, inputs, outputs, graph.initializers)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)


class _Graph:
    def __init__(self, decoder: Decoder) -> None:
        from onnx import NodeProto, TensorProto

        self._decoder, self._weights = decoder, decoder.weights
        self.nodes: list[NodeProto] = []
        self.initializers: list[TensorProto] = []
        self._known: set[str] = set()

    def build(self) -> None:
        """From the tokens to the logits."""
        self._constants()
        self._node("Gather", EMBEDDING, "input_ids", out="x.0", weights=(EMBEDDING,))
        self._hidden()
        self._angles()
        for layer in range(self._decoder.layers):
            self._layer(layer)
        self._norm(f"x.{self._decoder.layers}", LAST_NORM, "last")
        head = HEAD if HEAD in self._weights else EMBEDDING
        self._product("last", head, "logits")

    def _constants(self) -> None:
        config = self._decoder
        half = config.head // 2
        self._given("frequencies", (config.base ** (-np.arange(half, dtype=np.float64) / half)).astype(np.float32))
        self._given("scale", np.float32(config.head**-0.5))
        for name, value in (("zero", 0.0), ("hide", _HIDDEN), ("epsilon", config.epsilon)):
            self._given(name, np.float32(value))
        for name, numbers in (("first", [0]), ("second", [1]), ("third", [2]), ("last_axis", [-1])):
            self._given(name, np.array(numbers, np.int64))
        self._given("position_axes", np.array([1, 3], np.int64))
        self._given("mask_axes", np.array([1, 2], np.int64))
        self._given("seen_axes", np.array([0, 1], np.int64))
        self._given("none", np.int64(0))
        self._given("step", np.int64(1))
        self._given("halves", np.array([half, half], np.int64))
        self._given("many", np.array([0, 0, -1, config.head], np.int64))
        self._given("flat", np.array([0, 0, config.heads * config.head], np.int64))
        if config.heads != config.key_heads:
            self._given("grouped", np.array([0, config.heads, -1, config.head], np.int64))
            self._given("group", np.array([1, 1, config.heads // config.key_heads, 1, 1], np.int64))

    def _hidden(self) -> None:
        """What is added to the scores (batch, 1, new, every): tokens that come later, and padding, are not seen."""
        self._node("Shape", "attention_mask", out="mask.shape")
        self._node("Shape", "input_ids", out="ids.shape")
        self._node("Gather", "mask.shape", "step", out="count.every")
        self._node("Gather", "ids.shape", "step", out="count.new")
        self._node("Range", "none", "count.every", "step", out="places")
        self._node("Sub", "count.every", "count.new", out="count.past")
        self._node("Range", "count.past", "count.every", "step", out="places.new")
        self._node("Unsqueeze", "places", "first", out="places.row")
        self._node("Unsqueeze", "places.new", "second", out="places.column")
        self._node("LessOrEqual", "places.row", "places.column", out="seen.order")
        self._node("Unsqueeze", "seen.order", "seen_axes", out="seen.wide")
        self._node("Greater", "attention_mask", "none", out="mask.seen")
        self._node("Unsqueeze", "mask.seen", "mask_axes", out="mask.wide")
        self._node("And", "seen.wide", "mask.wide", out="seen")
        self._node("Where", "seen", "zero", "hide", out="hidden")

    def _angles(self) -> None:
        self._node("Cast", "position_ids", out="positions", to=1)
        self._node("Unsqueeze", "positions", "position_axes", out="positions.wide")
        self._node("Mul", "positions.wide", "frequencies", out="angles")
        self._node("Cos", "angles", out="cosine")
        self._node("Sin", "angles", out="sine")

    def _layer(self, number: int) -> None:
        x, at = f"x.{number}", f"layer.{number}"
        self._norm(x, self._name(number, "before"), f"{at}.before")
        sides = {part: self._heads(number, part) for part in ("query", "key", "value")}
        keys, values = (self._cached(number, part, sides[part]) for part in ("key", "value"))
        self._node("Transpose", keys, out=f"{at}.turned", perm=[0, 1, 3, 2])
        self._node("MatMul", sides["query"], f"{at}.turned", out=f"{at}.products")
        self._node("Mul", f"{at}.products", "scale", out=f"{at}.scaled")
        self._node("Add", f"{at}.scaled", "hidden", out=f"{at}.scores")
        self._node("Softmax", f"{at}.scores", out=f"{at}.shares", axis=-1)
        self._node("MatMul", f"{at}.shares", values, out=f"{at}.held")
        self._node("Transpose", f"{at}.held", out=f"{at}.behind", perm=[0, 2, 1, 3])
        self._node("Reshape", f"{at}.behind", "flat", out=f"{at}.joined")
        self._linear(number, "out", f"{at}.joined", f"{at}.attended")
        self._node("Add", x, f"{at}.attended", out=f"{at}.middle")
        self._norm(f"{at}.middle", self._name(number, "between"), f"{at}.between")
        self._linear(number, "gate", f"{at}.between", f"{at}.gate")
        self._linear(number, "up", f"{at}.between", f"{at}.up")
        self._node("Sigmoid", f"{at}.gate", out=f"{at}.open")
        self._node("Mul", f"{at}.gate", f"{at}.open", out=f"{at}.silu")
        self._node("Mul", f"{at}.silu", f"{at}.up", out=f"{at}.inner")
        self._linear(number, "down", f"{at}.inner", f"{at}.down")
        self._node("Add", f"{at}.middle", f"{at}.down", out=f"x.{number + 1}")

    def _heads(self, number: int, part: str) -> str:
        """(batch, heads, new, width of a head), turned by the positions where that is to be."""
        at = f"layer.{number}.{part}"
        self._linear(number, part, f"layer.{number}.before", f"{at}.flat")
        self._node("Reshape", f"{at}.flat", "many", out=f"{at}.split")
        split = f"{at}.split"
        norm = f"{part}_norm"
        if norm in LAYER and self._name(number, norm) in self._weights:
            self._norm(split, self._name(number, norm), f"{at}.normal")
            split = f"{at}.normal"
        self._node("Transpose", split, out=f"{at}.heads", perm=[0, 2, 1, 3])
        return f"{at}.heads" if part == "value" else self._rotated(at)

    def _rotated(self, at: str) -> str:
        """The first half of a head with the second (GPT-NeoX), as transformers has it. Su et al. 2021."""
        self._node("Split", f"{at}.heads", "halves", out=(f"{at}.one", f"{at}.other"), axis=-1)
        for name, factor in (("one", "cosine"), ("other", "sine")):
            self._node("Mul", f"{at}.{name}", factor, out=f"{at}.{name}.{factor}")
        for name, factor in (("other", "cosine"), ("one", "sine")):
            self._node("Mul", f"{at}.{name}", factor, out=f"{at}.{name}.{factor}")
        self._node("Sub", f"{at}.one.cosine", f"{at}.other.sine", out=f"{at}.left")
        self._node("Add", f"{at}.other.cosine", f"{at}.one.sine", out=f"{at}.right")
        self._node("Concat", f"{at}.left", f"{at}.right", out=f"{at}.turned", axis=-1)
        return f"{at}.turned"

    def _cached(self, number: int, part: str, new: str) -> str:
        """Behind what the cache holds, and each as often as queries share it."""
        present = f"present.{number}.{part}"
        self._node("Concat", f"past_key_values.{number}.{part}", new, out=present, axis=2)
        config = self._decoder
        if config.heads == config.key_heads:
            return present
        self._node("Unsqueeze", present, "third", out=f"{present}.wide")
        self._node("Tile", f"{present}.wide", "group", out=f"{present}.tiled")
        self._node("Reshape", f"{present}.tiled", "grouped", out=f"{present}.shared")
        return f"{present}.shared"

    def _norm(self, x: str, weight: str, out: str) -> None:
        """Zhang and Sennrich 2019."""
        self._node("Mul", x, x, out=f"{out}.square")
        self._node("ReduceMean", f"{out}.square", "last_axis", out=f"{out}.mean", keepdims=1)
        self._node("Add", f"{out}.mean", "epsilon", out=f"{out}.safe")
        self._node("Sqrt", f"{out}.safe", out=f"{out}.root")
        self._node("Div", x, f"{out}.root", out=f"{out}.unit")
        self._node("Mul", f"{out}.unit", weight, out=out, weights=(weight,))

    def _linear(self, number: int, part: str, x: str, out: str) -> None:
        name = self._name(number, part)
        bias = f"{name}.bias"
        if bias not in self._weights:
            return self._product(x, f"{name}.weight", out)
        self._product(x, f"{name}.weight", f"{out}.product")
        return self._node("Add", f"{out}.product", bias, out=out, weights=(bias,))

    def _product(self, x: str, weight: str, out: str) -> None:
        self._given(f"{weight}.turned", np.ascontiguousarray(self._weights[weight].T))
        self._node("MatMul", x, f"{weight}.turned", out=out)

    @staticmethod
    def _name(number: int, part: str) -> str:
        return f"model.layers.{number}.{LAYER[part]}"

    def _node(
        self, kind: str, *inputs: str, out: str | tuple[str, ...], weights: tuple[str, ...] = (), **attributes: Any
    ) -> None:
        from onnx import helper

        for name in weights:
            self._given(name, self._weights[name])
        outputs = [out] if isinstance(out, str) else list(out)
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=outputs[0], **attributes))

    def _given(self, name: str, value: Tensor | np.generic) -> None:
        from onnx import numpy_helper

        if name not in self._known:
            self._known.add(name)
            self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
