"""The files of a made submission, scanned as one."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from assay_zoo.allowed_packages import PACKAGES
from assay_zoo.artifacts.code_scan import reaches
from assay_zoo.artifacts.other_files import file_names, other_files

FUTURES = "import concurrent.futures as helper"


def scanned(files: Mapping[str, str]) -> dict[str, list[str]]:
    """What each file reaches for, of those that reach for anything."""
    others = other_files({path: file_names(ast.parse(code), path) for path, code in files.items()})
    reached = {path: [reach.what for reach in reaches(code, PACKAGES, others[path])] for path, code in files.items()}
    return {path: texts for path, texts in reached.items() if texts}
