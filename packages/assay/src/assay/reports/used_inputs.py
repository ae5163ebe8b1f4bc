"""One line for what was fed as one input."""

from __future__ import annotations

from assay.core.engine_info import EngineInfo
from assay.core.input_plan import InputFacts

_SIZES = ("size.", "bounds.")


def used_inputs(one: InputFacts) -> str:
    """`ids int64 [1, 16] from 3 to 30110 (0 to 30521 (Gather 'embedding'))`."""
    shapes = " or ".join(str(list(shape)) for shape in one.shapes[:3])
    values = "" if one.least is None or one.most is None else f" from {one.least:.4g} to {one.most:.4g}"
    if one.least == one.most and one.least is not None:
        values = f" = {one.least:.6g}"
    return f"{one.name} {one.dtype} {shapes}{values}{f' ({one.chosen})' if one.chosen else ''}"


def built_for(facts: EngineInfo) -> str:
    """`built for height=96, batch=1..32`: sizes of dynamic dimensions that are fixed in the engine. "" where none is."""
    told = {name.partition(".")[2]: size for name, size in facts.options.items() if name.startswith(_SIZES)}
    sizes = [f"{name}={_one(size)}" for name, size in told.items()]
    return f"built for {', '.join(sizes)}" if sizes else ""


def _one(size: str) -> str:
    """`16..16` is 16."""
    least, _, most = size.partition("..")
    return least if least == most else size
