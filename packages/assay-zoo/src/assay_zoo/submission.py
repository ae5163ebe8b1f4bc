"""Where a check looks: a submission in its folder, the zoo it wants to join, and the tools it may use."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay_zoo.intake import Intake
from assay_zoo.metadata import Metadata
from assay_zoo.policy import Scenario, ZooPolicy

if TYPE_CHECKING:
    from assay.pipeline.adapters import Services
    from assay.ports import Sandbox


@dataclass(frozen=True, kw_only=True)
class SubmissionContext:
    """`folder` holds copies of our own: no links, no hard links. `metadata` is None where it cannot be read: the checks
    of artifacts say why. `previous` is the folder of the version that is accepted now, None for a new model. `intake` tells
    what was found before it was copied; None where the folder was not taken in. `author` submits it, "" where nobody knows;
    `approved` is who agreed that its code is run, "" for nobody yet. `notebooks_wait_for` names a check after
    whose finding notebooks cannot be executed, "" for none."""

    folder: Path
    root: Path
    policy: ZooPolicy
    metadata: Metadata | None
    scenario: Scenario | None = None
    previous: Path | None = None
    intake: Intake | None = None
    name: str = ""
    author: str = ""
    approved: str = ""
    notebooks_wait_for: str = ""


@dataclass(frozen=True, kw_only=True)
class SubmissionServices:
    """`scratch` is the check's own and gone afterwards. Without a `sandbox` code of a submission is never run."""

    services: Services
    scratch: Path
    sandbox: Sandbox | None = None
