"""What a case that ends its process is tried without, each time in a fresh one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.core.flow import Flow
from assay.core.result import Result, ScreenResult
from assay.fuzz.screening import ENDED, screen_kept
from assay.pipeline.adapters import Services
from assay.ports.generator import GeneratedCase

MOST = 24
"""Processes: after so many no experiment begins. One has up to two."""
LONGEST_S = 60.0
"""After so long no experiment begins: what is not tried by then is not known. None is cut short."""
NEEDLESS = 0.5
"""The share of both in which it is tried without attributes."""


def try_crash(place: Path, flow: Flow, signal: str, folder: Path, services: Services) -> dict[str, bool]:
    """By what was left out or replaced whether the process outlives it twice with a right answer; one that ends otherwise is not named."""
    from assay.generators.files import read_case

    ablated = dict[str, bool]()
    case = read_case(place)
    with TemporaryDirectory(prefix="crash-", dir=folder.absolute()) as name:
        runs = _Runs(Path(name), flow, services, time.monotonic())
        for parted in (_without_quantizers, _without_optional):
            fewer = next(parted(case), None)
            case = fewer if fewer is not None and _ends(runs.run(fewer), signal) else case
        case, needless = _without_needless(case, signal, runs)
        ablated |= dict.fromkeys(needless, False)
        for what, tried_case in experiments(case):
            if not runs.may_begin():
                break
            if what in ablated:  # another form of the same
                continue
            tried = runs.run(tried_case)
            if _is_right(tried):  # memory that is not its own ends a process one time and not the next
                tried = runs.run(tried_case)
            if _ends(tried, signal):
                ablated[what] = False
            elif _is_right(tried):
                ablated[what] = True
    return ablated


@dataclass
class _Runs:
    folder: Path
    flow: Flow
    services: Services
    began: float
    number: int = 0

    def may_begin(self, share: float = 1.0) -> bool:
        """Another one, where they may take that share of the processes and of the time."""
        return self.number < MOST * share and time.monotonic() - self.began <= LONGEST_S * share

    def run(self, case: GeneratedCase) -> Result:
        from assay.generators.files import keep_case

        self.number += 1
        keep_case(case, self.folder, str(self.number))
        return screen_kept([self.folder / str(self.number)], 0, self.flow, self.folder / "suspects", self.services)


def _ends(result: Result, signal: str) -> bool:
    return result.outcome in ENDED and result.signal == signal


def _is_right(result: Result) -> bool:
    return isinstance(result, ScreenResult) and bool(result.right)


def _without_quantizers(case: GeneratedCase) -> Iterator[GeneratedCase]:
    from assay.generators.case_parts import without_quantizers

    yield from (fewer for _, fewer in without_quantizers(case))


def _without_optional(case: GeneratedCase) -> Iterator[GeneratedCase]:
    """One input that only a node has which is no quantizer."""
    from assay.generators.ablations import without_optional
    from assay.generators.other_operators import GRID

    yield from (fewer for name, fewer in without_optional(case) if name.split()[0] not in GRID)


def _without_needless(case: GeneratedCase, signal: str, runs: _Runs) -> tuple[GeneratedCase, list[str]]:
    """Without the attributes that it ends without, and their names: another operator in its place may know none of these. They take half of
    the processes and of the time at most: what tells more comes after them."""
    import onnx

    from assay.generators.narrowing import without_attribute

    needless: list[str] = []
    for place, node in enumerate(onnx.load_from_string(case.model).graph.node):
        for attribute in node.attribute:
            if not runs.may_begin(NEEDLESS):
                return case, needless
            fewer = without_attribute(case, place, attribute.name)
            if _ends(runs.run(fewer), signal):
                case, needless = fewer, [*needless, f"{node.op_type}.{attribute.name}"]
    return case, needless


def experiments(case: GeneratedCase) -> Iterator[tuple[str, GeneratedCase]]:
    """What tells most comes first."""
    import onnx

    from assay.generators.ablations import as_kin, filled, in_plain_types, of_wide_type
    from assay.generators.narrowing import without_attribute
    from assay.generators.other_operators import in_place_of, with_one_scale

    yield from filled(case)
    yield from of_wide_type(case)
    yield from with_one_scale(case)
    yield from in_plain_types(case)
    yield from in_place_of(case)
    yield from as_kin(case)
    for place, node in enumerate(onnx.load_from_string(case.model).graph.node):
        for attribute in node.attribute:
            yield f"{node.op_type}.{attribute.name}", without_attribute(case, place, attribute.name)
