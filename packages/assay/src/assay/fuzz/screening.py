"""Cases that lie in files are screened: in use, where they ended a worker, and those of known defects."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from assay.core.case import Case
from assay.core.flow import Flow
from assay.core.job import ScreenJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import Result, ScreenResult
from assay.core.screening import ANY_OPERATOR, Suspect, Use
from assay.fuzz.corpus import Corpus
from assay.pipeline.adapters import Services
from assay.ports.generator import GeneratedCase

KEPT, KEPT_VERSION = "kept", 0
HANG_S = 60.0
"""A case that takes longer is taken for one that does not end."""


def screen_kept(
    places: Sequence[Path], first: int, flow: Flow, corpus: Path, services: Services, seconds: float = 600.0
) -> Result:
    """The cases at these places, from the index `first` on, until so many seconds are over. The worker may have ended: then
    `corpus/progress` has the index, or is not there where no case was under way."""
    corpus.mkdir(parents=True, exist_ok=True)
    (corpus / "progress").unlink(missing_ok=True)
    job = ScreenJob(
        case=Case("fuzz", Model(name="fuzz", source="", digest="")),
        flow=flow,
        limits=Limits(timeout_s=HANG_S + seconds),
        generator=KEPT,
        version=KEPT_VERSION,
        seed=0,
        first=first,
        count=len(places) - first,
        seconds=seconds,
        corpus=str(corpus),
        progress=str(corpus / "progress"),
        derive_each=0,
        kept=tuple(str(place) for place in places),
    )
    return services.jobs.complete(services.jobs.run(job))


ENDED = (Outcome.CRASH, Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY)
"""Of a worker that did not outlive its case."""


class Rescreen:
    """Of what ended its worker in use: once more, in a fresh one."""

    def __init__(self, corpus: Corpus, services: Services) -> None:
        self._corpus, self._services = corpus, services

    def smallest(self, place: Path, flow: Flow) -> str:
        """What has to be done with the engine for its process to end: the name of one use alone where that is enough, of all else; "" where
        it does not end again. The files of that smaller case are then those at `place`."""
        from assay.generators.files import read_case

        whole = read_case(place)
        parts = [
            *(replace(whole, others=(other,), uses=()) for other in whole.others),
            *(replace(whole, others=(), uses=(use,)) for use in whole.uses),
        ]
        with TemporaryDirectory(prefix="again-", dir=self._corpus.folder.absolute()) as folder:
            return self._first_that_ends([*parts, whole], place, flow, Path(folder))

    def node_or_whole(self, place: Path, flow: Flow) -> bool:
        """Whether a node of the case ends a process alone, to which it is cut down then, or the case itself: what is tried of one that does
        not would all come out right."""
        if self.node_that_ends(place, flow):
            return True
        with TemporaryDirectory(prefix="alone-", dir=self._corpus.folder.absolute()) as name:
            return screen_kept([place], 0, flow, Path(name), self._services).outcome in ENDED

    def as_it_answers(self, place: Path, flow: Flow) -> Suspect | None:
        """The case alone, in a fresh worker, where that answers wrongly: its files are then those of what the screen cut it down to."""
        from assay.generators.files import read_case

        with TemporaryDirectory(prefix="alone-", dir=self._corpus.folder.absolute()) as name:
            result = screen_kept([place], 0, flow, Path(name), self._services)
            suspect = next(iter(result.suspects), None) if isinstance(result, ScreenResult) else None
            if suspect is not None:
                _replace(place, read_case(Path(name) / str(suspect.case)))
        return suspect

    def node_that_ends(self, place: Path, flow: Flow) -> bool:
        """Whether a node of the case ends a process alone, or with the quantizers before it, at one of its sizes: the files at `place` are
        then those of that node. All are tried in one job, which ends at the first that does."""
        from assay.generators.case_parts import behind_quantizers, nodes_alone
        from assay.generators.files import keep_case, read_case

        whole = read_case(place)
        sizes = [*whole.others[::-1], whole.inputs]
        with warnings.catch_warnings(action="ignore", category=RuntimeWarning):  # numpy's, of a mean of no elements
            parts = [
                part
                for parted in (nodes_alone, behind_quantizers)
                for inputs in sizes
                for part in parted(GeneratedCase(whole.model, inputs))
            ]
        if not parts:
            return False
        with TemporaryDirectory(prefix="node-", dir=self._corpus.folder.absolute()) as name:
            folder = Path(name)
            for number, part in enumerate(parts):
                keep_case(part, folder, str(number))
            places = [folder / str(number) for number in range(len(parts))]
            ended = screen_kept(places, 0, flow, folder / "suspects", self._services)
            at = reached(folder / "suspects" / "progress")
        if ended.outcome not in ENDED or at is None:
            return False
        _replace(place, parts[at])
        return True

    def with_plain_model(self, place: Path, flow: Flow) -> dict[str, bool]:
        """Whether a plain model of another operator goes well in the use of the case at `place`; empty where that could not be tried."""
        from assay.generators.files import keep_case, read_case
        from assay.generators.plain_uses import TRIES, plain_cases

        with TemporaryDirectory(prefix="plain-", dir=self._corpus.folder.absolute()) as name:
            folder = Path(name)
            for number, case in enumerate(plain_cases(read_case(place))):
                keep_case(case, folder, str(number))
                places = [folder / str(number)] * TRIES
                result = screen_kept(places, 0, flow, folder / "suspects", self._services)
                if result.outcome in ENDED:
                    return {ANY_OPERATOR: False}
                if isinstance(result, ScreenResult) and result.right:
                    return {ANY_OPERATOR: True}
        return {}

    def _first_that_ends(self, cases: Sequence[GeneratedCase], place: Path, flow: Flow, folder: Path) -> str:
        from assay.generators.files import keep_case

        for number, case in enumerate(cases):
            keep_case(case, folder, name := f"{place.name}-{number}")
            ended = screen_kept([folder / name], 0, flow, folder / "suspects", self._services)
            if ended.outcome not in ENDED:
                continue
            _replace(place, case)
            return ", ".join([*([Use.OTHER_SIZES] if case.others else []), *case.uses])
        return ""


def _replace(place: Path, case: GeneratedCase) -> None:
    from assay.generators.files import keep_case

    for old in place.parent.glob(f"{place.name}.*"):
        old.unlink()
    keep_case(case, place.parent, place.name)


def reached(progress: Path) -> int | None:
    """The index that was under way; None where none was."""
    try:
        return int(progress.read_text())
    except (OSError, ValueError):
        return None
