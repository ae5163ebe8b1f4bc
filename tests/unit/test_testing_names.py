"""The conformance checks are found where the extension manual says, and asking for one imports no other."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import assay.ports
import assay.testing


def test_every_check_is_there_by_the_name_that_it_has() -> None:
    assert sorted(assay.testing.__all__) == assay.testing.__all__
    for name in assay.testing.__all__:
        check = getattr(assay.testing, name)
        assert callable(check)
        assert check.__name__ == name
    with pytest.raises(AttributeError, match="check_nothing"):
        _ = assay.testing.check_nothing


def test_every_check_that_a_module_defines_for_a_port_is_listed() -> None:
    """A check that the manual names and that exists somewhere below `assay.testing` is reachable from there."""
    manual = "".join(path.read_text() for path in Path(assay.ports.__file__).parent.glob("*.py"))
    named = set(re.findall(r"assay\.testing\.(check_\w+)", manual))
    folder = Path(assay.testing.__file__).parent
    defined = {name for path in folder.glob("*.py") for name in re.findall(r"^def (check_\w+)", path.read_text(), re.M)}
    assert {"check_backend", "check_store", "check_metric", "check_launcher"} <= named
    assert named & defined <= set(assay.testing.__all__)


def test_asking_for_one_check_leaves_the_others_alone() -> None:
    line = "import sys; from assay.testing import check_metric; print('assay.testing.store_checks' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", line], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "False"
