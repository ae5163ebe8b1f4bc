"""What is done with an engine once its first answer was right: asked again, at other sizes, saved and loaded, and run beside another."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assay.core.flow import Sizes
from assay.core.screening import Use
from assay.ports import Tensor
from assay.ports.engine import Engine
from assay.ports.generator import GeneratedCase

Outputs = dict[str, Tensor]
CALLS = 6
TURNS = 8
"""Calls of each of two engines beside each other."""


@dataclass(frozen=True)
class Maker:
    """How engines of one case are made: from its model, in the form that the backend reads, and from what one saved in a folder."""

    lower: Callable[[], Engine]
    load: Callable[[Path], Engine]
    scratch: Path


def sizes_of(case: GeneratedCase) -> dict[str, Sizes]:
    """Of each axis of its inputs ("x[0]") the least, the first and the largest that an engine is fed; none is built for nothing."""
    fed = [case.inputs, *case.others]
    return {
        f"{name}[{axis}]": (max(1, min(sizes)), size, max(1, *sizes))
        for name, array in case.inputs.items()
        for axis, size in enumerate(array.shape)
        for sizes in [[inputs[name].shape[axis] for inputs in fed]]
    }


def answers(maker: Maker, engine: Engine, case: GeneratedCase, use: Use) -> Iterator[Outputs]:
    """What the engine, or one made from it, gives for the inputs of the case. Raises whatever a backend raises."""
    if use is Use.RELOADED:
        with tempfile.TemporaryDirectory(dir=maker.scratch) as folder:
            engine.save(Path(folder))
            yield _run(maker.load(Path(folder)), case.inputs)
    elif use is Use.SIDE_BY_SIDE:
        yield from _beside(engine, maker.lower(), case.inputs)
    else:
        for _ in range(CALLS):
            yield _run(engine, case.inputs)


def _run(engine: Engine, inputs: Mapping[str, Tensor]) -> Outputs:
    return {name: np.asarray(array) for name, array in engine.run(inputs).items()}


def _beside(first: Engine, second: Engine, inputs: Mapping[str, Tensor]) -> Iterator[Outputs]:
    """Each engine in a thread of its own, both at once."""
    outputs_beside: list[Outputs] = []
    raised: list[Exception] = []
    start = threading.Barrier(2)

    def calls(engine: Engine) -> Callable[[], None]:
        def run() -> None:
            start.wait()
            try:
                for _ in range(TURNS):
                    outputs_beside.append(_run(engine, inputs))
            except Exception as error:  # noqa: BLE001  it is raised again where it can be seen
                raised.append(error)

        return run

    threads = [threading.Thread(target=calls(call)) for call in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if raised:
        raise raised[0]
    yield from outputs_beside
