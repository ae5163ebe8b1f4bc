"""Recurrent layers."""

from __future__ import annotations

from typing import Any

from assay.generators.build import Build, Operand
from assay.generators.operators.form import flag, form, version_has

_GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
_FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
_PLAIN = ("Tanh", "Sigmoid", "Relu", "Softsign", "Softplus")
_SLOPED = ("LeakyRelu", "Elu", "HardSigmoid", "Affine", "ScaledTanh", "ThresholdedRelu")
"""Those that read `activation_alpha`, and three of them `activation_beta`."""


def _weight(build: Build, dtype: str, shape: tuple[int, ...]) -> Operand:
    return build.operand(dtype, shape, low=-1.0, high=1.0, fixed=80)


@form("RNN GRU LSTM")
def recurrent(build: Build, operator: str) -> list[Operand]:
    draws = build.draws
    dtype = build.dtype(operator, among=("float32",))
    direction = draws.one_of((None, "forward", "reverse", "bidirectional"))
    ways = 2 if direction == "bidirectional" else 1
    length, batch, width, hidden = (draws.between(1, 4) for _ in range(4))
    gates = _GATES[operator]
    attributes: dict[str, Any] = {"hidden_size": hidden, "direction": direction}
    across = version_has(build, operator, "layout") and draws.chance(15)
    if across:
        attributes["layout"] = 1
    x = build.operand(dtype, (batch, length, width) if across else (length, batch, width), low=-1, high=1)
    state = (batch, ways, hidden) if across else (ways, batch, hidden)
    reads: list[Operand | None] = [
        x,
        _weight(build, dtype, (ways, gates * hidden, width)),
        _weight(build, dtype, (ways, gates * hidden, hidden)),
    ]
    reads.append(_weight(build, dtype, (ways, 2 * gates * hidden)) if draws.chance(60) else None)
    reads.append(build.input(draws.wholes((batch,), 1, length).astype("int32")) if draws.chance(30) else None)
    reads.append(build.operand(dtype, state, low=-1, high=1) if draws.chance(40) else None)
    if operator == "LSTM":
        reads.append(build.operand(dtype, state, low=-1, high=1) if draws.chance(30) else None)
        reads.append(_weight(build, dtype, (ways, 3 * hidden)) if draws.chance(25) else None)
        attributes["input_forget"] = flag(build) if draws.chance(20) else None
    while reads[-1] is None:
        reads.pop()
    if operator == "GRU":
        attributes["linear_before_reset"] = flag(build)
    if draws.chance(30):
        attributes |= _activations(build, _FUNCTIONS[operator] * ways)
    if draws.chance(15):
        attributes["clip"] = 0.5
    return build.node(operator, reads, 3 if operator == "LSTM" else 2, **attributes)


def _activations(build: Build, count: int) -> dict[str, Any]:
    """One number for all that read it: whether those that read none take their turn in the list is not said."""
    draws = build.draws
    sloped = draws.chance(40)
    names = [draws.one_of((*_PLAIN[:3], *_SLOPED) if sloped else _PLAIN) for _ in range(count)]
    if not sloped:
        return {"activations": names}
    if any(name in _PLAIN for name in names):  # to which of them a number belongs where others take none is not said
        names = [draws.one_of(_SLOPED) for _ in range(count)]
    return {
        "activations": names,
        "activation_alpha": [draws.one_of((0.25, 0.5, 1.0))] * count,
        "activation_beta": [draws.one_of((0.25, 0.5, 1.0))] * count,
    }
