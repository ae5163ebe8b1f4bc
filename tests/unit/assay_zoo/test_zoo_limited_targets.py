"""Every module that opens a stranger's file in a limited process is one that the contract of imports holds."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
_TARGET = re.compile(r'"(assay_zoo[a-z_.]*):[a-z_]+"')
_CONTRACT = "What reads a stranger's file imports no driver"
_EXCEPTIONS = {
    "assay_zoo.functionality.golden": "compares answers as the judge does, and imports its room",
    "assay_zoo.accuracy.metric_depends": "its check beside the target executes notebooks, and imports the driver for that",
}


def test_each_target_is_in_the_contract() -> None:
    sources = [path.read_text() for path in (ROOT / "packages/assay-zoo/src").rglob("*.py")]
    targets = {
        module for text in sources if "run_limited" in text or "TARGET =" in text for module in _TARGET.findall(text)
    }
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    (held,) = (set(contract["source_modules"]) for contract in contracts if contract["name"] == _CONTRACT)
    assert "assay_zoo.facts" in targets
    assert targets - held == set(_EXCEPTIONS)
