"""Where a job is, told to the driver before it happens, and how long each stage took."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import perf_counter

from assay.core.engine_info import EngineInfo
from assay.core.input_plan import InputFacts
from assay.core.native_warning import NativeWarning
from assay.core.outcome import Stage
from assay.core.result import StageTime
from assay.worker import native_log


class Stages:
    """Announces each stage through `crumb`, and keeps its wall seconds. `built` is what is known of the artifact,
    `inputs` what is fed: recorded when a later stage fails. `printed` is what native libraries wrote in each stage, `logged` what
    Python's loggers warned of there, `warned` what both warned of when the artifact was built. `check` is called at the end of each
    stage: what it raises is of that stage."""

    def __init__(self, crumb: Callable[[Stage], None], check: Callable[[Stage], None] = lambda stage: None) -> None:
        self._crumb, self._check = crumb, check
        self.reached = Stage.START
        self.times: list[StageTime] = []
        self.built = EngineInfo()
        self.inputs: tuple[InputFacts, ...] = ()
        self.printed: list[str] = []
        self.logged: list[str] = []
        self.warned: tuple[NativeWarning, ...] = ()

    @contextmanager
    def enter(self, stage: Stage) -> Iterator[None]:
        """The seconds are kept when the stage fails, too."""
        self._crumb(stage)
        self.reached = stage
        heard = stage in native_log.HEARD
        start = native_log.position() if heard else -1
        begin = perf_counter()
        try:
            with native_log.logged_by(self.logged) if heard else nullcontext():
                yield
            self._check(stage)
        finally:
            self.times.append(StageTime(stage, perf_counter() - begin))
            if text := native_log.printed_since(start):
                self.printed.append(text)
