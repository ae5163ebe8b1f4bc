"""Products, normalisations, recurrences, quantization, signals, losses."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from oracle_table.case import OpCase
from oracle_table.gen import Gen


def matmul(g: Gen) -> Iterator[OpCase]:
    for a, b in (
        ((2, 3), (3, 4)),
        ((3,), (3, 4)),
        ((2, 3), (3,)),
        ((3,), (3,)),
        ((2, 2, 3), (3, 4)),
        ((2, 1, 2, 3), (5, 3, 2)),
        ((2, 0), (0, 3)),
    ):
        yield g.case(g.x(*a), g.x(*b))
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), g.x(3, 4, dtype=dtype))


def gemm(g: Gen) -> Iterator[OpCase]:
    for left, right in product((None, 1), (None, 1)):
        a, b = g.x(*((4, 2) if left else (2, 4))), g.x(*((3, 4) if right else (4, 3)))
        for c in ((2, 3), (3,), (1, 3), (2, 1), (), (1,)) if g.version >= 7 else ((2, 3),):
            yield g.case(a, b, g.x(*c), transA=left, transB=right, alpha=0.5, beta=1.5)
        yield g.case(a, b, g.x(2, 3), transA=left, transB=right)
        if g.schema.min_input == 2:
            yield g.case(a, b, transA=left, transB=right, alpha=0.5)
        if g.has("broadcast"):
            yield g.case(a, b, g.x(3), transA=left, transB=right, broadcast=1)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 4, dtype=dtype), g.x(4, 3, dtype=dtype), g.x(2, 3, dtype=dtype))


def einsum(g: Gen) -> Iterator[OpCase]:
    forms = (
        ("ij,jk->ik", (2, 3), (3, 4)),
        ("bij,bjk->bik", (2, 2, 3), (2, 3, 4)),
        ("ij->ji", (2, 3)),
        ("ij->", (2, 3)),
        ("ii->i", (3, 3)),
    )
    more = (
        ("i,i", (3,), (3,)),
        ("...ij,...jk->...ik", (2, 2, 3), (2, 3, 2)),
        ("ij,j", (2, 3), (3,)),
        (" i j -> j i", (2, 3)),
        ("...ii->...i", (2, 3, 3)),
    )
    for equation, *given in (*forms, *more):
        yield g.case(*(g.x(*shape) for shape in given), equation=equation)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, dtype=dtype), g.x(3, 2, dtype=dtype), equation="ij,jk->ik")


def batch_norm(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 3, 4, 5), (2, 3, 4), (2, 3), (1, 3, 2, 2, 2)):
        rest = (g.x(3), g.x(3), g.x(3), g.x(3, low=0.2))
        for epsilon in (None, 0.1):
            yield g.case(g.x(*shape), *rest, epsilon=epsilon, is_test=1)
        if g.has("training_mode"):
            for momentum in (None, 0.3):
                yield g.case(g.x(*shape), *rest, training_mode=1, momentum=momentum, outputs=3)
        if g.has("spatial") and len(shape) == 4:
            full = shape[1:]
            each = (g.x(*full), g.x(*full), g.x(*full), g.x(*full, low=0.2))
            yield g.case(g.x(*shape), *each, spatial=0, is_test=1)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, 4, 4, dtype=dtype), *(g.x(3, dtype=dtype, low=0.2) for _ in range(4)), is_test=1)


def instance_norm(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 3, 4, 5), (2, 3, 4), (1, 3, 2, 2, 2)):
        for epsilon in (None, 0.1):
            yield g.case(g.x(*shape), g.x(3), g.x(3), epsilon=epsilon)
    for dtype in g.some_dtypes():
        yield g.case(g.x(2, 3, 4, 4, dtype=dtype), g.x(3, dtype=dtype), g.x(3, dtype=dtype))


def layer_norm(g: Gen) -> Iterator[OpCase]:
    two = g.schema.name == "LayerNormalization"
    for shape in ((2, 3, 4), (2, 3), (2, 3, 4, 5)):
        for axis in (None, *range(-len(shape), len(shape))):
            rest = shape[axis if axis is not None else -1 :] if (axis or -1) < 0 or axis is None else shape[axis:]
            if axis == 0:
                rest = shape
            for epsilon in (None, 0.1):
                yield g.case(g.x(*shape), g.x(*rest), axis=axis, epsilon=epsilon)
                if two:
                    yield g.case(g.x(*shape), g.x(*rest), g.x(*rest), axis=axis, epsilon=epsilon, outputs=3)
    for dtype in g.some_dtypes():
        if dtype.kind == "f":
            yield g.case(g.x(2, 3, dtype=dtype), g.x(3, dtype=dtype))
    yield g.case(g.x(2, 3, 4), g.x(1), g.x(4) if two else None)


def group_norm(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 4, 3, 3), (2, 4, 5), (2, 4)):
        count = 2 if g.version < 21 else 4
        yield g.case(g.x(*shape), g.x(count), g.x(count), num_groups=2)
        yield g.case(g.x(*shape), g.x(count), g.x(count), num_groups=2, epsilon=0.1)


def lrn(g: Gen) -> Iterator[OpCase]:
    for shape in ((2, 5, 3, 3), (1, 4, 6), (3, 7, 2, 2, 2)):
        for size in (1, 2, 3, 4):
            yield g.case(g.x(*shape), size=size, alpha=0.2, beta=0.6, bias=1.5)
        yield g.case(g.x(*shape), size=3)


def recurrent(g: Gen) -> Iterator[OpCase]:
    name = g.schema.name
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[name]
    steps, batch, size, hidden = 4, 2, 3, 5
    for direction in (None, "reverse", "bidirectional"):
        for form in range(8):
            sides = 2 if direction == "bidirectional" else 1
            x, w, r = g.x(steps, batch, size), g.x(sides, gates * hidden, size), g.x(sides, gates * hidden, hidden)
            w, r = (w / 4).astype(w.dtype), (r / 4).astype(r.dtype)
            b = g.x(sides, 2 * gates * hidden) if form else None
            lengths = np.array([4, 2], np.int32) if form in (2, 5) else None
            h = g.x(sides, batch, hidden) if form in (3, 5) else None
            c = g.x(sides, batch, hidden) if form in (3, 5) and name == "LSTM" else None
            p = g.x(sides, 3 * hidden) if form in (4, 5) and name == "LSTM" else None
            layout = 1 if form == 6 and g.has("layout") else None
            if layout:
                x = x.swapaxes(0, 1).copy()
            yield g.case(
                x, w, r, b, lengths, h, c, p, hidden_size=hidden, direction=direction, outputs=3 if name == "LSTM" else 2,
                clip=0.5 if form == 7 else None, layout=layout, linear_before_reset=1 if form in (4, 7) else None,
                input_forget=1 if form == 1 and name == "LSTM" else None,
            )  # fmt: skip
    x, w, r = (
        g.x(steps, batch, size),
        g.x(1, gates * hidden, size, high=0.4, low=-0.4),
        g.x(1, gates * hidden, hidden, low=-0.4, high=0.4),
    )
    for names in (
        ["Relu"] * 3,
        ["HardSigmoid", "Softsign", "LeakyRelu"],
        ["Affine", "Elu", "ScaledTanh"],
        ["Sigmoid", "Softplus", "Tanh"],
    ):
        some = names[: {"RNN": 1, "GRU": 2, "LSTM": 3}[name]]
        yield g.case(
            x, w, r, hidden_size=hidden, activations=some, activation_alpha=[0.3, 0.4, 0.5][: len(some)],
            activation_beta=[0.6, 0.7, 0.8][: len(some)], outputs=2,
        )  # fmt: skip
    if name == "RNN":
        yield g.case(x, w, r, hidden_size=hidden, activations=["ThresholdedRelu"], activation_alpha=[0.4], outputs=2)


def attention(g: Gen) -> Iterator[OpCase]:
    for causal in (None, 1):
        for mask in (None, g.x(4, 6), g.x(4, 6, dtype=bool) | True):
            for softcap in (None, 2.0):
                q, k, v = g.x(2, 4, 4, 8), g.x(2, 2, 6, 8), g.x(2, 2, 6, 8)
                yield g.case(q, k, v, mask, is_causal=causal, softcap=softcap)
        yield g.case(
            g.x(2, 4, 16), g.x(2, 6, 16), g.x(2, 6, 12), q_num_heads=4, kv_num_heads=4, is_causal=causal, scale=0.3
        )
        q, k = g.x(2, 2, 4, 8), g.x(2, 2, 3, 8)
        yield g.case(q, k, k, None, g.x(2, 2, 5, 8), g.x(2, 2, 5, 8), is_causal=causal, outputs=3)


def rotary(g: Gen) -> Iterator[OpCase]:
    for inner in (None, 1):
        places = g.rng.integers(0, 7, (2, 3))
        yield g.case(g.x(2, 4, 3, 8), g.x(7, 4), g.x(7, 4), places, interleaved=inner)
        yield g.case(g.x(2, 4, 3, 8), g.x(2, 3, 4), g.x(2, 3, 4), interleaved=inner)
        yield g.case(g.x(2, 3, 32), g.x(7, 4), g.x(7, 4), places, interleaved=inner, num_heads=4)
        yield g.case(g.x(2, 4, 3, 8), g.x(7, 2), g.x(7, 2), places, interleaved=inner, rotary_embedding_dim=4)


def shrink(g: Gen) -> Iterator[OpCase]:
    for dtype in g.some_dtypes():
        for options in ({}, {"lambd": 1.5}, {"bias": 0.5}, {"lambd": 1.5, "bias": 1.5}):
            yield g.case(g.x(3, 4, dtype=dtype), **options)


COMPUTING: dict[str, Any] = {
    "MatMul": matmul,
    "Gemm": gemm,
    "Einsum": einsum,
    "BatchNormalization": batch_norm,
    "InstanceNormalization": instance_norm,
    **dict.fromkeys(("LayerNormalization", "RMSNormalization"), layer_norm),
    "GroupNormalization": group_norm,
    "LRN": lrn,
    **dict.fromkeys(("RNN", "GRU", "LSTM"), recurrent),
    "Attention": attention,
    "RotaryEmbedding": rotary,
    "Shrink": shrink,
}
