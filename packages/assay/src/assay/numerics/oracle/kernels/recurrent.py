"""RNN, GRU and LSTM in every direction and layout, with sequence lengths, peepholes and clipping (ONNX 22).

onnx.reference 1.23 has one direction only. Each gate is a sum, then a function, then a product of states, and each rounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from assay.numerics.attributes import NotComputed, stated
from assay.numerics.oracle.hooks import Call, Kernel, Values
from assay.ports import Tensor

Function = Callable[[Tensor], Tensor]
_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4, "DynamicQuantizeLSTM": 4}
_LSTM = ["Sigmoid", "Tanh", "Tanh"]
_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": _LSTM, "DynamicQuantizeLSTM": _LSTM}
_ALPHA = {"LeakyRelu": 0.01, "ThresholdedRelu": 1.0, "HardSigmoid": 0.2, "Elu": 1.0, "Affine": 1.0, "ScaledTanh": 1.0}
_BETA = {"HardSigmoid": 0.5, "Affine": 0.0, "ScaledTanh": 1.0}
AHEAD = 1 << 22
"""Numbers that the inputs of several steps may give to the gates at once: the matrix is read once for all of these steps."""


def sigmoid(x: Tensor) -> Tensor:
    """Without overflow."""
    result: Tensor = 0.5 * (1 + np.tanh(0.5 * x))
    return result


class Squares:
    """The squares of the terms of a sum, added up: of some rows times the squares of a matrix each. Costs as much as the sum itself,
    and is asked for where the rounding of a sum is wanted."""

    def __init__(self, rows: tuple[Tensor, ...], matrices: Callable[[], tuple[Tensor, ...]]) -> None:
        self._rows, self._matrices = rows, matrices

    def __call__(self) -> Tensor:
        pairs = zip(self._rows, self._matrices(), strict=True)
        return np.asarray(sum(_times(rows * rows, squared) for rows, squared in pairs))

    @staticmethod
    def of_all(each: Sequence[Squares]) -> Tensor:
        """Those of several steps along a new first axis; matrices that steps share are read once."""
        shared: dict[tuple[int, ...], list[int]] = {}
        for at, squares in enumerate(each):
            shared.setdefault(tuple(map(id, squares._matrices())), []).append(at)
        arrays: list[Tensor] = [np.empty(0)] * len(each)
        for places in shared.values():
            rows = zip(*(each[at]._rows for at in places), strict=True)
            whole = Squares(tuple(np.stack(part) for part in rows), each[places[0]]._matrices)()
            for at, tensor in zip(places, whole, strict=True):
                arrays[at] = tensor
        return np.stack(arrays)


class _Cell:
    """One direction of one operator. Everything may have further axes in front: bias and peepholes with one of length 1 for
    the batch behind them."""

    def __init__(
        self,
        call: Call,
        direction: int,
        weights: Tensor,
        recurrence: Tensor,
        bias: Tensor | None,
        peepholes: Tensor | None,
    ) -> None:
        self.call = call
        self.size = recurrence.shape[-1]
        self.weights, self.recurrence = weights, recurrence
        self._squares: dict[tuple[str, Any, Any], Tensor] = {}
        width = _GATES[call.operator] * self.size
        zeros = np.zeros(width, weights.dtype)
        self.bias_in: Tensor = zeros if bias is None else bias[..., :width]
        self.bias_back: Tensor = zeros if bias is None else bias[..., width:]
        per_direction = len(_DEFAULTS[call.operator])
        names = _texts(call.attributes.get("activations")) or _DEFAULTS[call.operator] * 2
        self.all_names = names
        self.names = names[direction * per_direction : (direction + 1) * per_direction]
        self.first = direction * per_direction
        self.clip = call.attributes.get("clip")
        self.peepholes = peepholes
        self._ahead: tuple[int, Tensor] = (0, np.empty(0))

    def look_ahead(self, x: Tensor, step: int) -> None:
        """Multiplies the inputs of this step and of those around it, as many as AHEAD lets, where that is not done."""
        first, made = self._ahead
        if not (first <= step < first + len(made)):
            size = x[0, ..., 0].size * self.weights.shape[-2]
            several = max(1, AHEAD // max(1, size))
            first = step // several * several
            self._ahead = first, _times(x[first : first + several], _turned(self.weights))

    def entered(self, step: int, part: slice) -> Tensor:
        """x W^T of a step for some gates."""
        first, made = self._ahead
        return np.asarray(made[step - first][..., part])

    def gates(self, x: Tensor, h: Tensor, step: int, part: slice) -> Tensor:
        """x W^T + h R^T + biases for some gates, as one sum."""
        r = _turned(self.recurrence[..., part, :])
        bias = self.bias_in[..., part] + self.bias_back[..., part]
        value = self.entered(step, part) + _times(h, r) + bias
        return self.call.mark(
            "sum",
            value,
            terms=self.weights.shape[-1] + r.shape[-2],
            squares=Squares((x, h), lambda: (self._squared("weights", part), self._squared("recurrence", part))),
        )

    def _squared(self, name: str, part: slice) -> Tensor:
        """A matrix, turned, which is the same in every step."""
        key = (name, part.start, part.stop)
        if key not in self._squares:
            matrix = _turned(getattr(self, name)[..., part, :])
            self._squares[key] = matrix * matrix
        return self._squares[key]

    def apply(self, which: int, x: Tensor) -> Tensor:
        if self.clip:
            x = np.clip(x, -self.clip, self.clip)
        name = self.names[which]
        value = self._function(name, which)(x)
        kind = {"Sigmoid": "sigmoid", "Tanh": "tanh"}.get(name, "inner")
        return self.call.mark(kind, value, x=x)

    def _function(self, name: str, which: int) -> Function:
        alpha = self._parameter("activation_alpha", which, _ALPHA)
        beta = self._parameter("activation_beta", which, _BETA)
        functions: dict[str, Function] = {
            "Sigmoid": sigmoid,
            "Tanh": np.tanh,
            "Relu": lambda x: np.maximum(x, 0),
            "LeakyRelu": lambda x: np.where(x < 0, alpha * x, x),
            "ThresholdedRelu": lambda x: np.where(x > alpha, x, 0),
            "HardSigmoid": lambda x: np.clip(alpha * x + beta, 0, 1),
            "Elu": lambda x: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x),
            "Softsign": lambda x: x / (1 + np.abs(x)),
            "Softplus": lambda x: np.logaddexp(x.dtype.type(0), x),
            "Affine": lambda x: alpha * x + beta,
            "ScaledTanh": lambda x: alpha * np.tanh(beta * x),
        }
        if name not in functions:
            raise NotComputed(activation=name)
        return functions[name]

    def _parameter(self, name: str, which: int, defaults: Mapping[str, float]) -> float:
        """ "Consumed in the order of activation functions": by those alone that have one."""
        given = self.call.attributes.get(name) or ()
        at = sum(activation in defaults for activation in self.all_names[: self.first + which])
        function = self.names[which]
        return float(given[at]) if function in defaults and at < len(given) else defaults.get(function, 0.0)

    def step(self, x: Tensor, h: Tensor, c: Tensor, step: int) -> tuple[Tensor, Tensor]:
        """The next states, from the input of a step that was looked ahead to."""
        return {"RNN": self._rnn, "GRU": self._gru}.get(self.call.operator, self._lstm)(x, h, c, step)

    def _rnn(self, x: Tensor, h: Tensor, c: Tensor, step: int) -> tuple[Tensor, Tensor]:
        return self.call.mark("output", self.apply(0, self.gates(x, h, step, slice(None)))), c

    def _gru(self, x: Tensor, h: Tensor, c: Tensor, step: int) -> tuple[Tensor, Tensor]:
        n = self.size
        both = self.apply(0, self.gates(x, h, step, slice(0, 2 * n)))
        update, reset = both[..., :n], both[..., n:]
        last = slice(2 * n, None)
        if self.call.attributes.get("linear_before_reset"):
            r = _turned(self.recurrence[..., last, :])
            back = self.call.mark(
                "sum",
                h @ r + self.bias_back[..., last],
                terms=r.shape[-2],
                squares=Squares((h,), lambda: (self._squared("recurrence", last),)),
            )
            ahead = self.call.mark(
                "sum",
                self.entered(step, last) + self.bias_in[..., last],
                terms=self.weights.shape[-1],
                squares=Squares((x,), lambda: (self._squared("weights", last),)),
            )
            inner = self.call.mark("inner", ahead + reset * back)
        else:
            inner = self.gates(x, self.call.mark("inner", reset * h), step, last)
        hidden = self.apply(1, inner)
        return self.call.mark("affine", (1 - update) * hidden + update * h, product=update * h), c

    def _lstm(self, x: Tensor, h: Tensor, c: Tensor, step: int) -> tuple[Tensor, Tensor]:
        n = self.size
        gates = self.gates(x, h, step, slice(None))
        i, o, f, g = (gates[..., at * n : (at + 1) * n] for at in range(4))
        peep = self.peepholes
        if peep is not None:
            i, f = i + peep[..., :n] * c, f + peep[..., 2 * n :] * c
        admit = self.apply(0, i)
        keep = 1 - admit if self.call.attributes.get("input_forget") else self.apply(0, f)
        cell = self.call.mark("affine", keep * c + admit * self.apply(1, g), product=keep * c)
        if peep is not None:
            o = o + peep[..., n : 2 * n] * cell
        return self.call.mark("output", self.apply(0, o) * self.apply(2, cell)), cell


def _times(rows: Tensor, matrix: Tensor) -> Tensor:
    """The product; one matrix for all of them is read once."""
    if matrix.ndim > 2 or rows.ndim == 2:
        return np.asarray(rows @ matrix)
    return np.asarray((rows.reshape(-1, rows.shape[-1]) @ matrix).reshape(*rows.shape[:-1], -1))


def _turned(matrix: Tensor) -> Tensor:
    return matrix.swapaxes(-1, -2)


def recurrent(call: Call) -> Values | None:
    """Y, Y_h and, for LSTM, Y_c; as many as the node names."""
    x, w, r, bias = call.input(0), call.input(1), call.input(2), call.input(3)
    h0, c0 = call.input(5), call.input(6) if call.operator == "LSTM" else None
    layout = call.attributes.get("layout") or 0
    if layout:
        x = x.swapaxes(0, 1)
        h0, c0 = (None if state is None else state.swapaxes(0, 1) for state in (h0, c0))
    y, last_h, last_c = unrolled(call, x, w, r, bias, h0, c0, call.input(7))
    if layout:
        y, last_h, last_c = y.transpose(2, 0, 1, 3), last_h.swapaxes(0, 1), last_c.swapaxes(0, 1)
    return activation_functions(call, y, last_h, last_c)


def activation_functions(call: Call, y: Tensor, last_h: Tensor, last_c: Tensor) -> Values:
    """As many as the node names."""
    states: tuple[Any, ...] = (y, last_h) if call.operator in ("RNN", "GRU") else (y, last_h, last_c)
    return states[: max(1, len(call.outputs))]


def unrolled(
    call: Call,
    x: Tensor,
    w: Tensor,
    r: Tensor,
    bias: Tensor | None,
    h0: Tensor | None,
    c0: Tensor | None,
    peepholes: Tensor | None,
    *,
    entering: Function = np.asarray,
) -> tuple[Tensor, Tensor, Tensor]:
    """Y (steps, directions, ..., batch, size) and the last states (directions, ..., batch, size), from x (steps, ..., batch,
    input), states like these, and weights (directions, ..., gates, input or size). Of an LSTM, `entering` is what the gates see of
    a state."""
    lengths, sides = call.input(4), sides_of(call)
    shape = (*x.shape[1:-1], r.shape[-1])
    y = np.zeros((len(x), len(sides), *shape), x.dtype)
    last_h, last_c = np.zeros((2, len(sides), *shape), x.dtype)
    ends = np.asarray(lengths).astype(np.int64) if lengths is not None else None
    for at, backward in enumerate(sides):
        cell = _Cell(call, at, w[at], r[at], *(None if array is None else array[at] for array in (bias, peepholes)))
        h = np.zeros(shape, x.dtype) if h0 is None else h0[at].astype(x.dtype, copy=False)
        c = np.zeros(shape, x.dtype) if c0 is None else c0[at].astype(x.dtype, copy=False)
        for step in range(len(x) - 1, -1, -1) if backward else range(len(x)):
            cell.look_ahead(x, step)
            new_h, new_c = cell.step(x[step], entering(h), c, step)
            if ends is None:
                h, c = new_h, new_c
                y[step, at] = h
            else:
                alive = (step < ends)[:, None]
                h, c = np.where(alive, new_h, h), np.where(alive, new_c, c)
                y[step, at] = np.where(alive, new_h, 0)
        last_h[at], last_c[at] = h, c
    return y, last_h, last_c


def sides_of(call: Call) -> list[bool]:
    """Whether each direction goes backward."""
    (name,) = _texts([stated(call.attributes, "direction", "forward")])
    return {"forward": [False], "reverse": [True], "bidirectional": [False, True]}[name]


def _texts(values: Any) -> list[str]:
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values or ()]


RECURRENT: dict[str, Kernel] = {"RNN": recurrent, "GRU": recurrent, "LSTM": recurrent}
