"""What is read or made of a case that ended its worker, first done in a process of its own: native code of onnx may have ended it, and no
backend.

    python -P -m assay.fuzz.own_process read PLACE
    python -P -m assay.fuzz.own_process make GENERATOR VERSION SEED INDEX NEAR LEARNED FOLDER
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from assay.core.screening import CaseId

LIMIT_S = 120.0


def can_be_read(place: Path) -> bool:
    """Whether the parts of the case at `place`, at each of its sizes, can be made without the end of the process."""
    return _outlives("read", str(place))


def make_again(case: CaseId, near: str, learned: str, folder: Path) -> bool:
    """Whether the files of that case are in the folder now."""
    numbers = (case.generator, str(case.version), str(case.seed), str(case.index))
    return _outlives("make", *numbers, near, learned, str(folder)) and (folder / f"{case}.onnx").exists()


def _outlives(*arguments: str) -> bool:
    """An error of Python is none of these ends."""
    try:
        ended = subprocess.run(
            [sys.executable, "-P", "-m", "assay.fuzz.own_process", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return ended.returncode >= 0


def _read(place: Path) -> None:
    from assay.fuzz.crash_experiments import experiments
    from assay.generators.case_parts import behind_quantizers, nodes_alone, without_quantizers
    from assay.generators.files import read_case
    from assay.ports.generator import GeneratedCase

    whole = read_case(place)
    for inputs in (*whole.others, whole.inputs):
        for parted in (nodes_alone, behind_quantizers, without_quantizers):
            list(parted(GeneratedCase(whole.model, inputs)))
    list(experiments(whole))


def _make(generator: str, version: str, seed: str, index: str, near: str, learned: str, folder: str) -> None:
    from assay.generators.files import keep_case
    from assay.generators.open_generator import open_generator

    opened = open_generator(generator, near, learned)
    made = opened.make(int(seed), int(index)) if opened.version == int(version) else None
    if made is not None:
        keep_case(made, Path(folder), CaseId(generator, int(version), int(seed), int(index)))


if __name__ == "__main__":
    if sys.argv[1] == "read":
        _read(Path(sys.argv[2]))
    else:
        _make(*sys.argv[2:])
