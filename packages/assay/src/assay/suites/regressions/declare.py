"""What an entry of the tables says: a graph in onnx's own text, its inputs, and the answer where the evaluation cannot give it."""

from __future__ import annotations

import tomllib
from importlib import resources

import msgspec

Numbers = float | int | bool | list[float | int | bool]


class Spread(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A tensor of evenly spread numbers, both ends among them, in an order that mixes them."""

    low: float = -2.0
    high: float = 2.0


class Regression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`graph` is in the syntax of `onnx.parser`. `inputs` are numbers, row by row, one of which stands for all; what is not named is spread
    from -2 to 2. `constants` are inputs of the text that become weights. `outputs` are the right numbers; without any the float64
    evaluation says what is right. `finding` is the script in docs/findings that shows it with the backend alone."""

    name: str
    finding: str
    opset: int
    graph: str
    inputs: dict[str, Numbers | Spread] = {}
    constants: dict[str, Numbers | Spread] = {}
    outputs: dict[str, Numbers] = {}


def texts() -> tuple[str, ...]:
    """Of every table, in the order of their names."""
    folder = resources.files("assay.suites.regressions").joinpath("data")
    files = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return tuple(file.read_text(encoding="utf-8") for file in files)


def tables() -> tuple[Regression, ...]:
    """Every entry, each name once."""
    regressions = tuple(
        regression for text in texts() for regression in msgspec.convert(tomllib.loads(text)["case"], list[Regression])
    )
    assert len({regression.name for regression in regressions}) == len(regressions), "two regressions have one name"
    return regressions
