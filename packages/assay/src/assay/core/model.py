"""A graph by reference: what it is called, where it lies, what goes in and out."""

from __future__ import annotations

import msgspec

from assay.core.model_finding import ModelFinding


class TensorSpec(msgspec.Struct, frozen=True):
    """One input or output. A dimension is a number, a symbol, or "?" where nothing is known. `element` is the type of the tensors
    in a sequence or an optional, where `dtype` says only that it is one."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    element: str = ""


class Model(msgspec.Struct, frozen=True):
    """A model by digest: its bytes never travel inside a value. `coarse` are the types below float32 in which it multiplies or
    stores what it multiplies with, by name; they are looked for only where another model is compared with it. `contradictions`
    are what it declares and its nodes give otherwise. `files` are all that it is read from, each with its sha256, where its digest is
    not that of its one file."""

    name: str
    source: str
    digest: str
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    format: str = "onnx"
    size_bytes: int = 0
    ir_version: int = 0
    opsets: dict[str, int] = {}
    nodes: int = 0
    coarse: tuple[str, ...] = ()
    contradictions: tuple[ModelFinding, ...] = ()
    files: dict[str, str] = {}
