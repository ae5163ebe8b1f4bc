"""RNN, GRU and LSTM: torch's own where it has the form, else unrolled over the steps of the example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional

from assay.core.note import noted
from assay.core.refusals.conversion_codes import ConversionCode
from assay.onnx_to_torch.nodes import Node
from assay.onnx_to_torch.registry import operator

Tensor = torch.Tensor
Gate = Callable[[Tensor], Tensor]


@operator("RNN")
def rnn(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h0: Tensor | None = None,
) -> Any:
    if _is_plain(node, ["Tanh"], lengths):
        return _by_torch(node, x, w, r, b, [h0])

    def direction(
        inputs: Tensor, k: int, gates: list[Gate], states: list[Tensor], back: bool
    ) -> tuple[Tensor, list[Tensor]]:
        (f,) = gates
        wb, rb = _biases(b, k, 1, r.shape[-1], x)
        ahead = functional.linear(inputs, w[k], wb + rb)

        def step(now: Tensor, state: list[Tensor]) -> list[Tensor]:
            return [f(_clip(node, now + state[0] @ r[k].t()))]

        return _unroll(ahead, states, step, lengths, back)

    y, (h,) = _directions(node, x, r, [h0], ["Tanh"], direction)
    return y, h


@operator("LSTM")
def lstm(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h0: Tensor | None = None,
    c0: Tensor | None = None,
    peepholes: Tensor | None = None,
) -> Any:
    """Gates in the order i, o, f, c."""

    if _is_plain(node, ["Sigmoid", "Tanh", "Tanh"], lengths) and peepholes is None and not node.get("input_forget", 0):
        return _by_torch(node, x, w, r, b, [h0, c0])

    def direction(
        inputs: Tensor, k: int, gates: list[Gate], states: list[Tensor], back: bool
    ) -> tuple[Tensor, list[Tensor]]:
        f, g, h = gates
        wb, rb = _biases(b, k, 4, r.shape[-1], x)
        ahead = functional.linear(inputs, w[k], wb + rb)
        peep = peepholes[k].chunk(3) if peepholes is not None else None

        def step(now: Tensor, state: list[Tensor]) -> list[Tensor]:
            hidden, cell = state
            i, o, forget, c = (now + hidden @ r[k].t()).chunk(4, -1)
            if peep is not None:
                i, forget = i + peep[0] * cell, forget + peep[2] * cell
            i = f(_clip(node, i))
            forget = 1 - i if node.get("input_forget", 0) else f(_clip(node, forget))
            cell = forget * cell + i * g(_clip(node, c))
            if peep is not None:
                o = o + peep[1] * cell
            return [f(_clip(node, o)) * h(_clip(node, cell)), cell]

        return _unroll(ahead, states, step, lengths, back)

    y, (h_last, c_last) = _directions(node, x, r, [h0, c0], ["Sigmoid", "Tanh", "Tanh"], direction)
    return y, h_last, c_last


@operator("GRU")
def gru(
    node: Node,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    b: Tensor | None = None,
    lengths: Tensor | None = None,
    h0: Tensor | None = None,
) -> Any:
    """Gates in the order z, r, h."""

    if _is_plain(node, ["Sigmoid", "Tanh"], lengths) and node.get("linear_before_reset", 0):
        return _by_torch(node, x, w, r, b, [h0])

    def direction(
        inputs: Tensor, k: int, gates: list[Gate], states: list[Tensor], back: bool
    ) -> tuple[Tensor, list[Tensor]]:
        f, g = gates
        size = r.shape[-1]
        wb, rb = _biases(b, k, 3, size, x)
        ahead = functional.linear(inputs, w[k], wb)
        rz, rr, rh = r[k].chunk(3)
        bz, br, bh = rb.chunk(3)

        def step(now: Tensor, state: list[Tensor]) -> list[Tensor]:
            hidden = state[0]
            nz, nr, nh = now.chunk(3, -1)
            z = f(_clip(node, nz + hidden @ rz.t() + bz))
            reset = f(_clip(node, nr + hidden @ rr.t() + br))
            if node.get("linear_before_reset", 0):
                new = g(_clip(node, nh + reset * (hidden @ rh.t() + bh)))
            else:
                new = g(_clip(node, nh + (reset * hidden) @ rh.t() + bh))
            return [(1 - z) * new + z * hidden]

        return _unroll(ahead, states, step, lengths, back)

    y, (h,) = _directions(node, x, r, [h0], ["Sigmoid", "Tanh"], direction)
    return y, h


_ORDER = {"RNN": (0,), "LSTM": (0, 2, 3, 1), "GRU": (1, 0, 2)}
"""Where torch's gates are in ONNX's: i f g o of i o f c, r z n of z r h."""


def _is_plain(node: Node, defaults: list[str], lengths: Tensor | None) -> bool:
    names = node.get("activations")
    usual = names is None or [name.lower() for name in names] == [
        name.lower() for name in defaults * (len(names) // len(defaults))
    ]
    return usual and lengths is None and node.get("clip") is None


def _by_torch(
    node: Node, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, optional_weights: Sequence[Tensor | None]
) -> tuple[Tensor, ...]:
    """One layer of torch's own. torch.export unrolls it, too (2.13): the number of steps is that of the example."""
    batch_first = bool(node.get("layout", 0))
    states = [
        None if tensor is None else tensor.transpose(0, 1) if batch_first else tensor for tensor in optional_weights
    ]
    x = x.transpose(0, 1) if batch_first else x
    backwards = node.get("direction", "forward") == "reverse"
    count, size = w.shape[0], r.shape[-1]
    order = _ORDER[node.operator]

    def sorted_gates(matrix: Tensor) -> Tensor:
        parts = matrix.chunk(len(order))
        return matrix if len(order) == 1 else torch.cat([parts[i] for i in order])

    weights = []
    for k in range(count):
        weights += [sorted_gates(w[k]), sorted_gates(r[k])]
        if b is not None:
            weights += [sorted_gates(part) for part in b[k].chunk(2)]
    zeros = x.new_zeros(count, x.shape[1], size)
    start = [zeros if state is None else state for state in states]
    function: Any = {"RNN": torch.rnn_tanh, "LSTM": torch.lstm, "GRU": torch.gru}[node.operator]
    fed = torch.flip(x, [0]) if backwards else x
    hx = start if node.operator == "LSTM" else start[0]
    if isinstance(x.shape[0], int) and x.shape[0] == 0:  # torch's own refuses it
        y, ends = x.new_zeros(0, x.shape[1], count * size), start
    else:
        y, *ends = function(fed, hx, weights, b is not None, 1, 0.0, False, count == 2, False)
    y = torch.flip(y, [0]) if backwards else y
    y = y.reshape(y.shape[0], y.shape[1], count, size)
    if batch_first:
        return (y.transpose(0, 1), *(end.transpose(0, 1) for end in ends))
    return (y.permute(0, 2, 1, 3), *ends)


Direction = Callable[[Tensor, int, list[Gate], list[Tensor], bool], tuple[Tensor, list[Tensor]]]


def _directions(
    node: Node, x: Tensor, r: Tensor, weights: Sequence[Tensor | None], defaults: list[str], run: Direction
) -> tuple[Tensor, list[Tensor]]:
    """Forward, reverse or both; `layout` 1 has the batch first."""
    batch_first = bool(node.get("layout", 0))
    if batch_first:
        x = x.transpose(0, 1)
        weights = [None if tensor is None else tensor.transpose(0, 1) for tensor in weights]
    kind = node.get("direction", "forward")
    count = 2 if kind == "bidirectional" else 1
    names = node.get("activations", defaults * count)
    zeros = x.new_zeros(x.shape[1], r.shape[-1])
    outputs, finals = [], []
    for k in range(count):
        gates = _gates(node, names, k * len(defaults), len(defaults))
        states = [zeros if tensor is None else tensor[k] for tensor in weights]
        y, last = run(x, k, gates, states, kind == "reverse" or k == 1)
        outputs.append(y)
        finals.append(last)
    y = torch.stack(outputs, 1)
    ends = [torch.stack([final[i] for final in finals], 0) for i in range(len(weights))]
    if batch_first:
        return y.permute(2, 0, 1, 3), [end.transpose(0, 1) for end in ends]
    return y, ends


def _unroll(
    ahead: Tensor,
    states: list[Tensor],
    step: Callable[[Tensor, list[Tensor]], list[Tensor]],
    lengths: Tensor | None,
    backwards: bool,
) -> tuple[Tensor, list[Tensor]]:
    """Rows that are over keep their state and give zeros."""
    outputs: list[Tensor] = []
    steps = range(ahead.shape[0])
    for t in reversed(steps) if backwards else steps:
        new = step(ahead[t], states)
        out = new[0]
        if lengths is not None:
            alive = (lengths > t).unsqueeze(-1)
            out = torch.where(alive, out, torch.zeros_like(out))
            new = [torch.where(alive, state, old) for state, old in zip(new, states, strict=True)]
        outputs.append(out)
        states = new
    if not outputs:
        return states[0].new_zeros(0, *states[0].shape), states
    return torch.stack(outputs[::-1] if backwards else outputs), states


def _biases(b: Tensor | None, k: int, gates: int, size: int, x: Tensor) -> tuple[Tensor, Tensor]:
    if b is None:
        zeros = x.new_zeros(gates * size)
        return zeros, zeros
    first, second = b[k].chunk(2)
    return first, second


def _clip(node: Node, x: Tensor) -> Tensor:
    limit = node.get("clip")
    return x if limit is None else torch.clamp(x, -limit, limit)


def _gates(node: Node, names: list[str], start: int, count: int) -> list[Gate]:
    """`activation_alpha` and `activation_beta` are given to the functions that take them, in their order."""
    alphas, betas = list(node.get("activation_alpha", [])), list(node.get("activation_beta", []))
    gates: list[Gate] = []
    for name in names:
        kind = name.lower()
        alpha = alphas.pop(0) if kind in _ALPHA and alphas else _ALPHA.get(kind, 0.0)
        beta = betas.pop(0) if kind in _BETA and betas else _BETA.get(kind, 0.0)
        gates.append(_activation(node, kind, alpha, beta))
    return gates[start : start + count]


_ALPHA = {"affine": 1.0, "leakyrelu": 0.01, "thresholdedrelu": 1.0, "scaledtanh": 1.0, "hardsigmoid": 0.2, "elu": 1.0}
_BETA = {"affine": 0.0, "scaledtanh": 1.0, "hardsigmoid": 0.5}


def _activation(node: Node, kind: str, alpha: float, beta: float) -> Gate:
    functions: dict[str, Gate] = {
        "relu": torch.relu,
        "tanh": torch.tanh,
        "sigmoid": torch.sigmoid,
        "affine": lambda x: alpha * x + beta,
        "leakyrelu": lambda x: functional.leaky_relu(x, alpha),
        "thresholdedrelu": lambda x: torch.where(x >= alpha, x, torch.zeros_like(x)),
        "scaledtanh": lambda x: alpha * torch.tanh(beta * x),
        "hardsigmoid": lambda x: torch.clamp(alpha * x + beta, 0, 1),
        "elu": lambda x: functional.elu(x, alpha),
        "softsign": functional.softsign,
        "softplus": lambda x: torch.logaddexp(x, torch.zeros_like(x)),
    }
    if kind not in functions:
        raise node.unsupported(noted(ConversionCode.ACTIVATION, activation=kind))
    return functions[kind]
