"""The extension manual: what a backend, a transform, a metric, a suite, a generator, a launcher, a store, blobs and a report must do.

Each protocol names the conformance check in `assay.testing` that an implementation must pass. What a plug-in may do, and need
not, is a protocol of its own: a plug-in has the ability where it has the members of that protocol. Implementations are found by
entry point (groups `assay.backends`, `assay.transforms`, `assay.suites`, `assay.generators`, `assay.metrics`, `assay.reports`,
`assay.launchers`, `assay.stores`, `assay.blobs`); ours come in by the same door as a third party's.
"""

from __future__ import annotations

from assay.ports.backend import (
    Backend,
    BuiltForSizes,
    DeclaresIntegers,
    Dynamic,
    Forkable,
    LoadsWithLess,
    NamesLibrary,
    NamesPlatforms,
    NativeText,
    Prompted,
    ReadsWarnings,
    ShipsEnvironment,
    ShowsEachPass,
    ShowsPlainUse,
    ShowsSavedUse,
    SwitchesPasses,
    has_integers,
    is_dynamic,
    is_prompted,
    library_name,
    platforms_of,
    prepare_to_load,
    required_packages,
)
from assay.ports.blobs import BlobInfo, Blobs, KeepsFolders
from assay.ports.browsing import Browsable, CellQuery, JobState, MatrixJob, MatrixPage, Standing
from assay.ports.engine import DeviceTimed, Engine, ProfilesOperators, SelfTimed, SupportsBind, Traced
from assay.ports.generator import GeneratedCase, Generator
from assay.ports.launcher import JobList, JobSource, Launcher, Launchers, Sandbox, SharesFiles
from assay.ports.metric import Metric
from assay.ports.report import Report
from assay.ports.store import KeepsAlerts, KeepsAnnotations, PastResult, RollsUp, RunSearch, RunSummary, Store
from assay.ports.suite import CountedApart, HasVariants, JudgesMissingFiles, Suite, count_name, missing_outcome
from assay.ports.transform import HasArguments, PartlyCalibrated, Transform, needs_samples
from assay.ports.values import Availability, OptionSpec, Tensor, Tensors

__all__ = [
    "Availability",
    "Backend",
    "BlobInfo",
    "Blobs",
    "Browsable",
    "BuiltForSizes",
    "CellQuery",
    "CountedApart",
    "DeclaresIntegers",
    "DeviceTimed",
    "Dynamic",
    "Engine",
    "Forkable",
    "GeneratedCase",
    "Generator",
    "HasArguments",
    "HasVariants",
    "JobList",
    "JobSource",
    "JobState",
    "JudgesMissingFiles",
    "KeepsAlerts",
    "KeepsAnnotations",
    "KeepsFolders",
    "Launcher",
    "Launchers",
    "LoadsWithLess",
    "MatrixJob",
    "MatrixPage",
    "Metric",
    "NamesLibrary",
    "NamesPlatforms",
    "NativeText",
    "OptionSpec",
    "PartlyCalibrated",
    "PastResult",
    "ProfilesOperators",
    "Prompted",
    "ReadsWarnings",
    "Report",
    "RollsUp",
    "RunSearch",
    "RunSummary",
    "Sandbox",
    "SelfTimed",
    "SharesFiles",
    "ShipsEnvironment",
    "ShowsEachPass",
    "ShowsPlainUse",
    "ShowsSavedUse",
    "Standing",
    "Store",
    "Suite",
    "SupportsBind",
    "SwitchesPasses",
    "Tensor",
    "Tensors",
    "Traced",
    "Transform",
    "count_name",
    "has_integers",
    "is_dynamic",
    "is_prompted",
    "library_name",
    "missing_outcome",
    "needs_samples",
    "platforms_of",
    "prepare_to_load",
    "required_packages",
]
