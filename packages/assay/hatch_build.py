"""Builds the comparator's compiled pass where there is a C compiler; without one the wheel is pure Python, and slower."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/assay/numerics/pairs.c")
LIBRARY = Path("src/assay/numerics/_pairs.so")
# No contraction, and no reordering of sums: the metrics are the same on every processor.
FLAGS = ("-O3", "-std=gnu99", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fPIC", "-shared")


class CustomBuildHook(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        del version
        if self.target_name != "wheel" or not compile_library(Path(self.root)):
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
        build_data["artifacts"].append(str(LIBRARY))


def compile_library(root: Path) -> bool:
    """Whether it is there now. Moved into place whole: a worker may be loading the old one."""
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("cc") or shutil.which("gcc") or "clang"]
    fresh = root / LIBRARY.with_suffix(".new")
    command = [*compiler, *FLAGS, "-o", str(fresh), str(root / SOURCE), "-lm"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        print(f"assay: no C compiler ({error}); the comparator will run on numpy alone", file=sys.stderr)
        return False
    if done.returncode:
        print(f"assay: the compiled comparator could not be built: {done.stderr[-500:]}", file=sys.stderr)
        return False
    fresh.replace(root / LIBRARY)
    return True


if __name__ == "__main__":
    sys.exit(0 if compile_library(Path(__file__).parent) else 1)
