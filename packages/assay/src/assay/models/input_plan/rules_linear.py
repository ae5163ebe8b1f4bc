"""Products: matrices, Einsum, recurrent layers, attention, and transforms of signals."""

from __future__ import annotations

from collections.abc import Sequence

from assay.models.input_plan.graph import UNKNOWN, Dims, Node, Value
from assay.models.input_plan.shape_engine import Evaluation
from assay.models.input_plan.shape_rules import Conflict, Inputs, at, axis_of, broadcast, equal, ints, plain, rule


@rule("MatMul", "MatMulInteger", "FusedMatMul", "MatMulIntegerToFloat", "DynamicQuantizeMatMul", "QLinearMatMul")
def _matmul(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    first, second = inputs[0].shape, at(inputs, 3 if node.op == "QLinearMatMul" else 1).shape
    if first is None or second is None:
        return [UNKNOWN]
    if not first or not second:
        raise Conflict("a scalar is multiplied as a matrix")
    if node.attributes.get("transA") and len(first) > 1:
        first = (*first[:-2], first[-1], first[-2])
    if node.attributes.get("transB") and len(second) > 1:
        second = (*second[:-2], second[-1], second[-2])
    inner = second[-2] if len(second) > 1 else second[0]
    equal(first[-1], inner, "the inner sizes of a matrix product")
    batch = broadcast((first[:-2], second[:-2])) or ()
    rows = first[-2:-1] if len(first) > 1 else ()
    columns = second[-1:] if len(second) > 1 else ()
    return plain((*batch, *rows, *columns))


@rule("Gemm", "QGemm")
def _gemm(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    first, second = inputs[0].shape, at(inputs, 3 if node.op == "QGemm" else 1).shape
    if first is None or second is None:
        return [UNKNOWN]
    equal(len(first), 2, "the rank of the first matrix and 2")
    first = first[::-1] if node.attributes.get("transA") else first
    second = second[::-1] if node.attributes.get("transB") else second
    equal(first[1], second[0], "the inner sizes of a matrix product")
    return plain((first[0], second[1]))


@rule("Einsum")
def _einsum(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    equation = node.attributes["equation"].replace(" ", "")
    terms, arrow, result = equation.partition("->")
    sizes: dict[str, int | None] = {}
    if "." in equation:
        return [UNKNOWN]
    for term, value in zip(terms.split(","), inputs, strict=True):
        if value.shape is None:
            continue
        equal(len(term), len(value.shape), f"the axes of {term!r} and the rank of the input")
        for letter, size in zip(term, value.shape, strict=True):
            if sizes.get(letter, 1) in (1, None):
                sizes[letter] = size
            elif size != 1:
                equal(sizes[letter], size, f"sizes of {letter!r} in {equation}")
    if not arrow:
        flat = terms.replace(",", "")
        result = "".join(sorted(one for one in set(flat) if flat.count(one) == 1))
    return plain(tuple(sizes.get(letter) for letter in result))


@rule("LSTM", "GRU", "RNN", "DynamicQuantizeLSTM")
def _recurrent(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, weight, recurrence = (at(inputs, place).shape for place in (0, 1, 2))
    if shape is None or weight is None or recurrence is None:
        return [UNKNOWN] * len(node.outputs)
    equal(len(shape), 3, "the rank of a recurrent layer's input and 3")
    # DynamicQuantizeLSTM keeps its weights transposed: [directions, input, gates * hidden].
    wanted = weight[1] if node.op.startswith("Dynamic") else weight[2]
    if shape[2] is not None and wanted is not None and shape[2] != wanted:
        raise Conflict(f"the input has {shape[2]} features, the weight takes {wanted}", (shape[2], wanted))
    hidden = node.attributes.get("hidden_size") or recurrence[-1]
    turned = node.attributes.get("layout", 0)
    steps, batch = (shape[1], shape[0]) if turned else (shape[0], shape[1])
    lengths = at(inputs, 4).shape
    if lengths:
        batch = equal(batch, lengths[0], "the batch sizes of the input and of the lengths")
    for place in (5, 6) if "LSTM" in node.op else (5,):
        state = at(inputs, place).shape
        if state is not None and len(state) == 3:
            batch = equal(batch, state[0 if turned else 1], "the batch sizes of the input and of the initial state")
            if hidden is not None and state[2] is not None and hidden != state[2]:
                raise Conflict(f"the initial state has {state[2]} features, the layer {hidden}", (state[2], hidden))
    ends: Dims = (batch, weight[0], hidden) if turned else (weight[0], batch, hidden)
    whole: Dims = (batch, steps, weight[0], hidden) if turned else (steps, weight[0], batch, hidden)
    return [Value(whole), Value(ends), Value(ends)]


@rule("Attention")
def _attention(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    query, key, value = (at(inputs, place).shape for place in (0, 1, 2))
    if query is None or key is None or value is None:
        return [UNKNOWN] * len(node.outputs)
    if len(query) == 4:
        equal(query[3], key[3], "the head sizes of query and key")
        equal(key[2], value[2], "the lengths of key and value")
        return [Value((*query[:3], value[3])), *[UNKNOWN] * (len(node.outputs) - 1)]
    for what, size, heads in (("query", query[2], "q_num_heads"), ("key", key[2], "kv_num_heads")):
        count = node.attributes.get(heads)
        if size is not None and count and size % count:
            raise Conflict(
                f"the {what} has {size} features, no multiple of {count} heads", (size, -(-size // count) * count)
            )
    equal(key[1], value[1], "the lengths of key and value")
    return [Value((query[0], query[1], None)), *[UNKNOWN] * (len(node.outputs) - 1)]


@rule("com.microsoft:Attention", "com.microsoft:QAttention")
def _fused_attention(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, weight = inputs[0].shape, at(inputs, 1).shape
    if shape is None or weight is None or weight[1] is None:
        return [UNKNOWN] * len(node.outputs)
    equal(shape[2], weight[0], "the features of the input and of the weight")
    sizes = node.attributes.get("qkv_hidden_sizes")
    features = sizes[2] if sizes else weight[1] // 3
    return [Value((shape[0], shape[1], features)), *[UNKNOWN] * (len(node.outputs) - 1)]


@rule("MultiHeadAttention", "SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def _like_first(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    if node.op.startswith("Skip"):
        broadcast((inputs[0].shape, at(inputs, 1).shape))
    shape = inputs[0].shape
    packed = shape is not None and len(shape) != 3
    return [UNKNOWN if packed else Value(shape), *[UNKNOWN] * (len(node.outputs) - 1)]


@rule("GroupQueryAttention")
def _grouped_attention(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    """What is new lies behind the keys of before; several new ones behind such for one row alone (ONNX Runtime)."""
    shape, past, total = inputs[0].shape, at(inputs, 3).shape, ints(at(inputs, 6))
    heads, groups = node.attributes.get("num_heads") or 0, node.attributes.get("kv_num_heads") or 0
    if shape is None or len(shape) != 3 or heads + groups == 0:
        return [UNKNOWN] * len(node.outputs)
    rows, new, width = shape
    before = past[2] if past is not None and len(past) == 4 else 0
    if rows is not None and new is not None and before and rows > 1 and new > 1:
        raise Conflict(
            f"{new} tokens follow earlier ones in {rows} rows: they may in one row alone", (new, 1), (rows, 1)
        )
    if total and new is not None and before is not None and total[0] != before + new:
        told = f"{before} keys and {new} new ones are {before + new}, and the total length is {total[0]}"
        raise Conflict(told, (total[0], before + new), (before + new, total[0]))
    table = at(inputs, 7).shape
    if table and table[0] is not None and before is not None and new is not None and before + new > table[0]:
        raise Conflict(f"{before + new} positions, and the table of angles has {table[0]}", (before + new, table[0]))
    packed = not (len(node.inputs) > 1 and node.inputs[1])
    size = None if width is None else width // (heads + 2 * groups if packed else heads)
    places = None if before is None or new is None else before + new
    cache = Value((rows, groups, places, size))
    return [Value((rows, new, None if size is None else heads * size)), cache, cache, *[UNKNOWN] * 1]


@rule("RotaryEmbedding")
def _rotary(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    """No more tokens than the table has angles, wherever positions say that they lie: ONNX Runtime asks for that."""
    shape = inputs[0].shape
    table = at(inputs, 2 if node.domain else 1).shape
    if shape is not None and table and len(table) == 2:
        tokens = shape[-2] if len(shape) == 4 else shape[1] if len(shape) == 3 else None
        if tokens is not None and table[0] is not None and tokens > table[0]:
            raise Conflict(f"{tokens} positions, and the table of angles has {table[0]}", (tokens, table[0]))
    return plain(shape)


@rule("EmbedLayerNormalization")
def _embedded(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, table, places = inputs[0].shape, at(inputs, 2).shape, at(inputs, 3).shape
    if shape is None or table is None:
        return [UNKNOWN] * len(node.outputs)
    if places and places[0] is not None and shape[1] is not None and shape[1] > places[0]:
        raise Conflict(f"{shape[1]} positions, and the table has {places[0]}", (shape[1], places[0]))
    return [Value((*shape, table[1])), Value(shape[:1]), *[UNKNOWN] * (len(node.outputs) - 2)]


@rule("MatMulNBits", "MatMulBnb4")
def _few_bits(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    if shape is None:
        return [UNKNOWN]
    equal(shape[-1], node.attributes.get("K"), "the inner sizes of a matrix product")
    return plain((*shape[:-1], node.attributes.get("N")))


@rule("STFT")
def _short_time(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape, step, window = inputs[0].shape, ints(at(inputs, 1)), at(inputs, 2).shape
    length = ints(at(inputs, 3)) or (None if not window or window[0] is None else [window[0]])
    if shape is None or step is None or length is None or shape[1] is None:
        return [UNKNOWN]
    if shape[1] < length[0]:
        raise Conflict(f"a frame of {length[0]} does not fit into {shape[1]} samples", (shape[1], length[0]))
    bins = length[0] // 2 + 1 if node.attributes.get("onesided", 1) else length[0]
    return plain((shape[0], (shape[1] - length[0]) // step[0] + 1, bins, 2))


@rule("DFT")
def _fourier(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    length, given = ints(at(inputs, 1)), ints(at(inputs, 2))
    if shape is None or (len(inputs) > 1 and node.inputs[1] and length is None):
        return [UNKNOWN]
    axis = axis_of(given[0] if given else node.attributes.get("axis", -2 if len(inputs) > 2 else 1), len(shape))
    dims: list[int | None] = list(shape)
    size = length[0] if length else shape[axis]
    dims[axis] = None if size is None else size // 2 + 1 if node.attributes.get("onesided") else size
    dims[-1] = 1 if node.attributes.get("inverse") and node.attributes.get("onesided") else 2
    return plain(tuple(dims))


@rule(
    "LinearRegressor",
    "LinearClassifier",
    "TreeEnsembleRegressor",
    "TreeEnsembleClassifier",
    "TreeEnsemble",
    "SVMRegressor",
    "SVMClassifier",
)
def _tabular(node: Node, inputs: Inputs, _: Evaluation) -> Sequence[Value]:
    shape = inputs[0].shape
    rows = shape[0] if shape else None
    if shape is not None and len(shape) == 2 and shape[1] is not None:
        wanted = _features(node)
        if wanted > shape[1] or (node.op.startswith("Linear") and wanted != shape[1]):
            raise Conflict(f"the input has {shape[1]} features, the model takes {wanted}", (shape[1], wanted))
    if node.op.endswith("Classifier"):
        return [Value((rows,)), Value((rows, None))]
    return plain((rows, node.attributes.get("n_targets", node.attributes.get("targets", 1))))


def _features(node: Node) -> int:
    """How many an ensemble of trees or a linear model looks at, at least; 0 where it does not say."""
    ids = node.attributes.get("nodes_featureids")
    if ids:
        return int(max(ids)) + 1
    targets = len(node.attributes.get("intercepts") or ()) or node.attributes.get("targets", 1)
    count = len(node.attributes.get("coefficients") or ())
    return count // max(targets, 1) if node.op.startswith("Linear") else 0
