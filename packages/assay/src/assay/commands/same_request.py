"""Whether `assay triage MODEL` was asked before, with nothing changed that its answer depends on: then it need not run again."""

from __future__ import annotations

import mmap
from dataclasses import fields
from importlib import metadata
from pathlib import Path

from assay import plugins
from assay.core.digest import value_digest
from assay.core.environment import SEPARATOR
from assay.errors import AssayError
from assay.models.files import file_digest
from assay.options.triage import TriageOptions
from assay.pipeline.provenance import this_machine

_NO_MATTER = ("history", "output", "workers", "time_limit_s", "command", "job", "target")
"""Options that change nothing of an answer that is complete."""


def request_key(options: TriageOptions) -> str:
    """Of the model's bytes, the options, the versions and the machine; "" where more has a say: other files, an environment of a flow."""
    stated = {field.name: getattr(options, field.name) for field in fields(options) if field.name not in _NO_MATTER}
    path = Path(options.target)
    more = options.since or options.inputs or options.image or any(isinstance(value, Path) for value in stated.values())
    elsewhere = any(SEPARATOR in name for name in options.flows)
    if more or elsewhere or not options.flows or not path.is_file():
        return ""
    try:
        backends = {plugins.find_flow(name).backend for name in options.flows}
        versions = [(backend, plugins.availability(backend).version) for backend in sorted(backends)]
        files = (file_digest(path), _files_named_in(path))
    except (AssayError, OSError, ValueError):
        return ""
    libraries = [(package, metadata.version(package)) for package in ("assay", "numpy", "onnx")]
    return value_digest((files, repr(sorted(stated.items())), versions, libraries, this_machine().kind))[:24]


def _files_named_in(model: Path) -> list[tuple[str, int, int]]:
    """Those beside the model that it may keep weights in: name, size, time of the last change."""
    beside = [path for path in sorted(model.parent.iterdir()) if path != model and path.is_file()]
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as text:
        named = [path for path in beside if text.find(path.name.encode()) >= 0]
    return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in named]
