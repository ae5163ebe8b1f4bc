"""`metadata.toml` of a submission: what its author claims, in words that a machine can read."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field


def _plain(path: str) -> str:
    """Raises ValueError."""
    odd = next((character for character in path if not character.isprintable()), None)
    if odd is not None:
        raise ValueError(f"must be a path that can be printed, and has the character U+{ord(odd):04X} in it")
    return path


Text = Annotated[str, Field(min_length=1)]
Line = Annotated[str, Field(min_length=1, max_length=200)]
"""Of a table, or in a list of words: what is longer is no name."""
Words = Annotated[str, Field(min_length=1, max_length=20_000)]
"""About ten pages: more is for a file beside it."""
FilePath = Annotated[str, Field(min_length=1), AfterValidator(_plain)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Port(_Table):
    """An input or output: a dimension is a size, or a name where it is free."""

    name: Text
    dtype: Text
    shape: tuple[int | str, ...]
    description: str = ""


class Dataset(_Table):
    name: Text
    source: Words
    license: Text
    preparation: Words


class Claim(_Table):
    """What the validation notebook must reproduce. `read` names where it reports the metric: `output:NAME` for a line
    `NAME = 0.97` printed by a cell, `file:metrics.json#NAME` for a file that it writes."""

    metric: Text
    value: float = Field(allow_inf_nan=False)
    direction: Literal["higher", "lower"] = "higher"
    tolerance: float = Field(default=0.005, ge=0, allow_inf_nan=False)
    read: Text


class Metadata(_Table):
    """One submission. Paths are relative to its folder."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
    version: Annotated[str, Field(pattern=r"^[0-9]{1,9}(\.[0-9]{1,9}){0,2}$")]
    title: Line
    description: Words
    license: Text
    scenario: Text
    use_cases: Annotated[tuple[Words, ...], Field(min_length=1, max_length=200)]
    source: Words
    references: Annotated[tuple[Words, ...], Field(min_length=1, max_length=500)]
    contributors: Annotated[tuple[Line, ...], Field(min_length=1, max_length=500)]
    based_on: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    tags: Annotated[tuple[Line, ...], Field(max_length=50)] = ()
    model: FilePath = "model.onnx"
    opset: Annotated[int, Field(ge=1)]
    inputs: Annotated[tuple[Port, ...], Field(min_length=1)]
    outputs: Annotated[tuple[Port, ...], Field(min_length=1)]
    preprocessing: FilePath = "preprocess.py"
    postprocessing: FilePath = "postprocess.py"
    inference: FilePath = "inference.ipynb"
    validation: FilePath = "validation.ipynb"
    dataset: Dataset
    accuracy: Claim


def usual_names() -> Metadata:
    """For metadata that cannot be read: files by the names that they have where nothing else is said, and no claim."""
    return Metadata.model_construct(accuracy=Claim.model_construct(value=math.nan, read="output:metric"))
