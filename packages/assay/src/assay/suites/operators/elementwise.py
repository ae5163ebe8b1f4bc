"""One value in, one out: arithmetic, exponentials, trigonometry, rounding, activations."""

from __future__ import annotations

from collections.abc import Mapping

from assay.suites.operators.declare import EDGES, EVERY, FLOATS, NUMBERS, Operator
from assay.suites.torch_case import Attribute

_SMOOTH = {
    "sin": "normal",
    "cos": "normal",
    "tan": "unit",
    "asin": "unit",
    "acos": "unit",
    "atan": "normal",
    "sinh": "normal",
    "cosh": "normal",
    "tanh": "normal",
    "asinh": "normal",
    "atanh": "unit",
    "exp": "normal",
    "exp2": "normal",
    "expm1": "normal",
    "log": "positive",
    "log2": "positive",
    "log10": "positive",
    "log1p": "positive",
    "sqrt": "positive",
    "rsqrt": "positive",
    "reciprocal": "nonzero",
    "erf": "normal",
    "erfc": "normal",
    "sigmoid": "normal",
    "logit": "probability",
}
_STEPS = {"ceil": "away", "floor": "away", "round": "away", "trunc": "away", "frac": "away"}

_ACTIVATIONS: tuple[tuple[str, str, tuple[Mapping[str, Attribute], ...]], ...] = (
    ("relu", "F.relu(x)", ({},)),
    ("relu6", "F.relu6(3 * x)", ({},)),
    ("leaky_relu", "F.leaky_relu(x, slope)", ({"slope": 0.01}, {"slope": 0.3})),
    ("elu", "F.elu(x, alpha)", ({"alpha": 1.0}, {"alpha": 0.5})),
    ("celu", "F.celu(x, alpha)", ({"alpha": 1.0}, {"alpha": 2.0})),
    ("selu", "F.selu(x)", ({},)),
    ("gelu", "F.gelu(x, approximate=how)", ({"how": "none"}, {"how": "tanh"})),
    ("silu", "F.silu(x)", ({},)),
    ("mish", "F.mish(x)", ({},)),
    ("softplus", "F.softplus(x, beta)", ({"beta": 1.0}, {"beta": 2.0})),
    ("softsign", "F.softsign(x)", ({},)),
    ("softshrink", "F.softshrink(x, level)", ({"level": 0.5}, {"level": 0.25})),
    ("hardshrink", "F.hardshrink(x, level)", ({"level": 0.5}, {"level": 0.25})),
    ("tanhshrink", "F.tanhshrink(x)", ({},)),
    ("hardsigmoid", "F.hardsigmoid(3 * x)", ({},)),
    ("hardswish", "F.hardswish(3 * x)", ({},)),
    ("hardtanh", "F.hardtanh(x, low, high)", ({"low": -1.0, "high": 1.0}, {"low": -0.5, "high": 2.0})),
    ("threshold", "F.threshold(x, level, value)", ({"level": 0.0, "value": 0.5}, {"level": 0.5, "value": -7.0})),
    ("logsigmoid", "F.logsigmoid(x)", ({},)),
    (
        "clamp",
        "torch.clamp(x, low, high)",
        ({"low": -0.5, "high": 0.5}, {"low": None, "high": 0.2}, {"low": 0.1, "high": None}),
    ),
)

TABLE = (
    *(Operator(name, f"torch.{name}(x)", edge=EDGES, kinds=(kind,)) for name, kind in _SMOOTH.items()),
    *(Operator(name, f"torch.{name}(x)", edge=EDGES, kinds=(kind,)) for name, kind in _STEPS.items()),
    *(Operator(name, call, edge=EDGES, attributes=tuple(settings)) for name, call, settings in _ACTIVATIONS),
    Operator("abs", "torch.abs(x)", edge=EDGES, dtypes=EVERY),
    Operator("neg", "torch.neg(x)", edge=EDGES, dtypes=NUMBERS),
    Operator("sign", "torch.sign(x)", edge=EDGES, dtypes=NUMBERS),
    Operator("square", "torch.square(x)", edge=EDGES, dtypes=NUMBERS),
    Operator("isnan", "torch.isnan(torch.sqrt(x))", dtypes=FLOATS[:2]),
    Operator("isinf", "torch.isinf(x / y)", "20 20 | 5x10 5x10", dtypes=FLOATS[:2], kinds=("normal", "bool=normal")),
    Operator(
        "glu",
        "F.glu(x, dim)",
        "20 | 6x10 | 4x4x6 | 2x4x4x6",
        attributes=({"dim": -1}, {"dim": 0}),
        edge="2 | 2x0 | 2x7x6",
    ),
    Operator(
        "prelu",
        "m(x)",
        "5x4 | 3x4x5 | 2x4x4x5",
        module="nn.PReLU(count)",
        attributes=({"count": 4}, {"count": 1}),
        edge="1x4 | 3x4x0",
    ),
    Operator(
        "pow_scalar",
        "torch.pow(x, exponent)",
        kinds=("positive",),
        edge=EDGES,
        attributes=tuple({"exponent": exponent} for exponent in (2.0, 0.5, 3.0, -1.0, 0.0, 1.5)),
    ),
)
