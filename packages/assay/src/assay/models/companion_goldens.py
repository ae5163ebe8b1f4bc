"""The companion of a golden set with labels: inputs whose truth nobody knows, which reveal what the labelled ones do not.

It lies beside the set, `NAME-mutants`, and is a golden of its own. What is judged by the set is judged on both; tasks are
scored, flows calibrated and times measured on the labelled samples alone.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assay.models.golden_checks import LOCK
from assay.models.golden_samples import Golden
from assay.models.goldens import read_golden

_SUFFIX = "-mutants"


def companion_of(folder: Path) -> Path:
    """Where the companion of a golden set lies, or would lie."""
    return folder.with_name(f"{folder.name}{_SUFFIX}")


def lock_of_companion(folder: Path) -> bytes:
    """The lock of the companion, empty where there is none: what a cache of answers depends on, too."""
    try:
        return (companion_of(folder) / LOCK).read_bytes()
    except OSError:
        return b""


def with_companion(folder: Path, golden: Golden) -> Golden:
    """The golden set `folder` with its companion's samples behind its own; `labels` stay those of the first.

    Only a set with labels has one. Raises BadGolden for a companion that is of another model or cannot be read.
    """
    place = companion_of(folder)
    if not golden.labels or not (place / LOCK).is_file():
        return golden
    other = read_golden(place, model_digest=golden.lock.model_digest)
    return replace(golden, inputs=[*golden.inputs, *other.inputs], outputs=[*golden.outputs, *other.outputs])
