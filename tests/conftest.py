"""A tiny real model and its golden, for every test that needs something to run."""

from __future__ import annotations

import csv
import gc
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from assay.cli.main import GARBAGE
from own_cache import cache_at
from small_models import golden_for, linear_model
from warm_readers import new_readers, warm_readers

__all__ = ["new_readers", "warm_readers"]

# How long an example takes to draw or to run is the machine's business: on a busy one it says nothing of the code.
settings.register_profile("any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("any machine")
# Hypothesis (6.170) draws one value in twenty from the constants of all modules of Assay. So many say nothing of the function under test,
# and each process that runs tests read the source of all of them first: an eighth of what it takes to collect the tests.
vars(providers)["is_local_module_file"] = lambda path: False


# Some tests make files for other users, whatever the umask of who runs them.
UMASK = 0o022
CELL = csv.field_size_limit()
os.umask(UMASK)
# Threads of numpy's BLAS spin for a thirtieth of a second before they sleep, in each of the thousands of processes that import it: the
# time that they spin is 2 to this power, in ticks of the clock.
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "10")


# What is imported to collect ten thousand tests stays: the garbage collector went through all of it again and again, a seventh of that
# time, and a tenth of the time of the tests. Afterwards the threshold is that of `assay` itself.
gc.disable()


LIBRARIES = tuple(
    f"tests/{folder}/"
    for folder in (
        "ports/backends",
        "ports/models",
        "ports/transforms",
        "unit/backends",
        "unit/models",
        "unit/onnx_to_torch",
    )
)
"""Folders whose tests import backends into their process."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those first: one process runs most of what stands together, and to import the backends takes each that does ten seconds. Before
    them, what shares the node cases, which take four."""
    items.sort(key=lambda item: (NODE_CASES not in fixtures_of(item), not item.nodeid.startswith(LIBRARIES)))


NODE_CASES = "node_cases"


def fixtures_of(item: pytest.Item) -> list[str]:
    return item.fixturenames if isinstance(item, pytest.Function) else []


def pytest_collection_finish(session: pytest.Session) -> None:
    with suppress(ImportError):  # it comes with scikit-learn
        from threadpoolctl import threadpool_limits

        # The processes that run tests take all cores: a second thread of one of them waits for its turn, and spins meanwhile.
        threadpool_limits(1, "blas")
    put_imports_aside()
    gc.set_threshold(GARBAGE)
    gc.enable()


_modules_aside = 0
"""How many modules the collector no longer looks through."""
MANY_MODULES = 200
"""So many new ones are those of a large library: to look through it takes longer than most tests."""


def put_imports_aside() -> None:
    global _modules_aside
    _modules_aside = 0
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown() -> None:
    """Some tests import torch's compilers or transformers: a collection took a second from there on, in every test that asks for one."""
    if len(sys.modules) - _modules_aside > MANY_MODULES:
        put_imports_aside()


@pytest.fixture(scope="session", name=NODE_CASES)
def all_node_cases() -> list[Any]:
    """Those of the standard, as onnx computes them."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # onnx computes some cases with overflow on purpose
        return load_model_tests(kind="node")


@pytest.fixture
def linear(tmp_path: Path) -> Path:
    return linear_model(tmp_path / "linear.onnx")


@pytest.fixture
def golden(linear: Path, tmp_path: Path) -> Path:
    golden_for(linear, tmp_path / "golden")
    return tmp_path / "golden"


@pytest.fixture(autouse=True)
def _all_cores() -> Iterator[None]:
    """TVM's runtime (0.27) binds the thread that calls it to one core, and every process started from it after that."""
    before = os.sched_getaffinity(0)
    yield
    if os.sched_getaffinity(0) != before:
        os.sched_setaffinity(0, before)


@pytest.fixture(autouse=True)
def _process_as_before() -> Iterator[None]:
    """What a test leaves in its process breaks what runs after it there: each time others."""
    yield
    left = os.umask(UMASK)
    assert left == UMASK, f"the test leaves the umask at {left:03o}"
    cell = csv.field_size_limit()
    if cell < CELL:
        csv.field_size_limit(CELL)
    assert cell >= CELL, f"the test leaves a CSV file cells of {cell} characters"


@pytest.fixture
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's cache with nothing in it."""
    cache = cache_at(tmp_path_factory.getbasetemp() / "own-cache", tmp_path_factory.mktemp("cache"))
    monkeypatch.setenv("ASSAY_CACHE", str(cache))
    return cache


@pytest.fixture(scope="module")
def warm_workers() -> Iterator[None]:
    """For tests of what workers answer, not of how they start or which of them answers: their commands have warm workers (see
    `warm_workers.py`)."""
    from assay.launch import pool
    from assay.launch.idle import IdleWorkers
    from assay.launch.prefork import Preforked
    from warm_workers import begin_for_screens, supervisor

    with (
        patch.object(pool, "Supervisor", supervisor),
        # The first worker would import while the command does: all that has been imported here.
        patch.object(IdleWorkers, "start_numpy", lambda self: None),
        patch.object(Preforked, "__init__", begin_for_screens),  # so would what workers are forked from
    ):
        yield
