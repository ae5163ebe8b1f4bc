"""Fakes, builders and conformance checks, for plug-in authors and for us.

The checks are found here by name and imported when asked for: `from assay.testing import check_backend`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from assay.testing.backend_checks import check_backend
    from assay.testing.blob_checks import check_blobs
    from assay.testing.generator_checks import check_generator
    from assay.testing.launcher_checks import check_launcher
    from assay.testing.metric_checks import check_metric
    from assay.testing.store_checks import check_store
    from assay.testing.suite_checks import check_suite
    from assay.testing.transform_checks import check_transform

_MODULES = {
    "check_backend": "backend_checks",
    "check_blobs": "blob_checks",
    "check_generator": "generator_checks",
    "check_launcher": "launcher_checks",
    "check_metric": "metric_checks",
    "check_store": "store_checks",
    "check_suite": "suite_checks",
    "check_transform": "transform_checks",
}

__all__ = [
    "check_backend",
    "check_blobs",
    "check_generator",
    "check_launcher",
    "check_metric",
    "check_store",
    "check_suite",
    "check_transform",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"assay.testing has no {name!r}; it has {', '.join(_MODULES)}")
    return getattr(import_module(f"assay.testing.{_MODULES[name]}"), name)
