"""Whether a flow runs here: a tiny model lowered, run and compared in a worker, kept for as long as no version changes. A flow that
fails with a free batch is tried once more with fixed sizes."""

from __future__ import annotations

import contextlib
import enum
import os
import platform
import tempfile
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay import plugins
from assay.core.digest import value_digest
from assay.core.flow import Flow
from assay.core.limits import Limits
from assay.core.outcome import Outcome
from assay.core.result import Result
from assay.judge.outcome_table import MACHINE, outcome_words
from assay.pipeline.progress import SILENT, Progress
from assay.ports import Availability, Backend, has_integers

TRIAL_S = 120.0
"""Compilers take some seconds for a model of six operators; more than that is no answer."""
LONGEST = 2000
"""Characters of a reason that are kept. The table shows fewer, and `assay doctor` tries again."""
FORM = 3
"""Of what is kept; another number forgets all earlier trials."""


HOPELESS = MACHINE | {Outcome.OK}
"""Other sizes change nothing about these."""


class Trial(msgspec.Struct, frozen=True):
    """How the tiny model ended on a flow: `outcome` by name, and why. `fixed`: ok with fixed sizes only; `detail` then says what
    a free batch does, its outcome first."""

    outcome: str
    detail: str = ""
    fixed: bool = False

    @property
    def passed(self) -> bool:
        return self.outcome == Outcome.OK.value


def trial_key(flow: Flow, state: Availability) -> str:
    """Everything that a trial depends on, as far as versions say it."""
    from assay.pipeline.provenance import PACKAGES, versions

    transforms = (
        [] if flow.environment else [availability.version for availability in plugins.transforms_available(flow)]
    )
    machine = (platform.python_version(), platform.machine(), platform.system())
    return value_digest((FORM, flow, state.version, transforms, versions(PACKAGES), machine))


class Trials:
    """Those of this user, by key. A file that cannot be read counts as empty, one that cannot be written costs the next time."""

    def __init__(self, path: Path | None = None) -> None:
        from assay.models.files import user_cache

        self._path = path or user_cache() / "trials.json"
        try:
            self._known = msgspec.json.decode(self._path.read_bytes(), type=dict[str, Trial])
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            self._known = {}

    def find(self, key: str) -> Trial | None:
        return self._known.get(key)

    def keep(self, trials: Mapping[str, Trial]) -> None:
        """Two commands that write at once both leave a whole file."""
        self._known = {**self._known, **trials}
        staged = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            staged.write_bytes(msgspec.json.encode(self._known))
            staged.replace(self._path)


def try_flows(flows: Sequence[Flow], locks: Path, progress: Progress = SILENT) -> dict[str, Trial]:
    """By the name of the flow. In workers, and in a history that is forgotten; `locks` are those of the environments."""
    first = {result.flow: result for result in _checked(flows, locks, progress)}
    failed = [flow for flow in flows if flow.name in first and first[flow.name].outcome not in HOPELESS]
    second = {result.flow: result for result in _checked(failed, locks, progress, batch=1)} if failed else {}
    return {name: trial_of(result, second.get(name)) for name, result in first.items()}


def _checked(flows: Sequence[Flow], locks: Path, progress: Progress, batch: int | None = None) -> Sequence[Result]:
    from assay.commands.composition import open_services
    from assay.pipeline.check import check
    from assay.pipeline.request import ModelRequest, Request

    with tempfile.TemporaryDirectory(prefix="assay-trial-", ignore_cleanup_errors=True) as name:
        by_form: dict[_Form, list[Flow]] = {}
        for flow in flows:
            by_form.setdefault(_form(flow), []).append(flow)
        models = tuple(
            ModelRequest(path=_tried_on(form, Path(name) / f"tiny{number}.onnx", batch), flows=tuple(own))
            for number, (form, own) in enumerate(by_form.items())
        )
        with open_services(str(Path(name) / "history"), locks=locks, progress=progress) as services:
            request = Request(models=models, measuring=None, limits=Limits(TRIAL_S), command="assay flows")
            return check(request, services).results


class _Form(enum.Enum):
    """Which of the tiny models a flow is tried on."""

    INTEGERS = enum.auto()
    FLOATS = enum.auto()
    LAYERS = enum.auto()


def _form(flow: Flow) -> _Form:
    backend: Backend = plugins.load(plugins.BACKENDS, flow.backend)()
    if flow.precision.startswith("int"):
        return _Form.LAYERS
    return _Form.INTEGERS if has_integers(backend) else _Form.FLOATS


def _tried_on(form: _Form, path: Path, batch: int | None) -> Path:
    from assay.testing.tiny_models import layered_model, tiny_model

    if form is _Form.LAYERS:
        return layered_model(path, batch=batch)
    return tiny_model(path, integers=form is _Form.INTEGERS, batch=batch)


def trial_of(free: Result, fixed: Result | None = None) -> Trial:
    """Of the check with a free batch, and of the one with fixed sizes where there was one."""
    detail = textwrap.shorten(free.detail, LONGEST, placeholder=" ...", break_on_hyphens=False)
    if fixed is not None and fixed.outcome is Outcome.OK:
        return Trial(Outcome.OK.value, f"{outcome_words(free.outcome.value)}: {detail}", fixed=True)
    return Trial(free.outcome.value, detail)
