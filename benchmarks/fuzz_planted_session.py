"""Does a whole session of `assay fuzz` report a backend's own wrong optimiser, each fault once?

`fuzz_planted.py` asks the screen alone. Here the backend of `planted_backend` stands between a model and ONNX Runtime as a plug-in, with
forty faults at once, and `assay fuzz` is called as a user calls it: screen, check with witnesses, triage, buckets. A fault is found when a
bucket of *wrong*, *crash*, *timeout*, *in_use* or *unstable* has a case in which it finds its pattern. A second bucket of the same fault is
a duplicate; one in which no fault finds its pattern is a defect of ONNX Runtime, or a false alarm.

    python benchmarks/fuzz_planted_session.py FOLDER TIME [SEED]      # TIME as --for takes it: 30m

A second call with the same folder goes on.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import onnx
from planted_backend import by_fault, faults

from assay.fuzz.corpus import Bucket, Corpus, is_cause

HERE = Path(__file__).parent


def install(folder: Path) -> str:
    """The backend as an installed package has it: a folder for PYTHONPATH."""
    info = folder / "plugin" / "planted_backend-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted-backend\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.backends]\nplanted = planted_backend:Planted\n")
    return os.pathsep.join((str(info.parent.absolute()), str(HERE.absolute())))


def faults_in(bucket: Bucket, corpus: Corpus) -> list[str]:
    """Those that find their pattern in what is left of its first case."""
    path = corpus.suspects(bucket.flow) / f"{bucket.first}.onnx"
    model = onnx.load(str(path))
    return [name for name in faults() if by_fault(model, name) is not None]


def show(corpus: Corpus) -> None:
    session = corpus.read()
    assert session is not None
    found: dict[str, list[str]] = {}
    others = []
    for bucket in session.buckets.values():
        if not is_cause(bucket):
            continue
        names = faults_in(bucket, corpus)
        for name in names:
            found.setdefault(name, []).append(f"{bucket.at:.0f} s: {bucket.title}")
        if not names:
            others.append(bucket.title)
    for name in faults():
        print(f"{name:<32} {'; '.join(found.get(name, ['not found']))}")
    for title in others:
        print(f"{'no fault':<32} {title}")
    duplicates = sum(len(titles) - 1 for titles in found.values())
    print(
        f"{len(found)} of {len(faults())} found, {duplicates} reported again, {len(others)} of no fault, "
        f"in {session.processor_s:.0f} s of processor time, seed {session.seed}"
    )


def main(folder: Path, time: str, seed: str) -> None:
    corpus = folder / "corpus"
    command = [sys.executable, "-m", "assay", "fuzz", "--flow", "planted", "--for", time]
    command += ["--seed", seed] if seed else []
    command += ["--corpus", str(corpus), "--history", str(folder / "history")]
    subprocess.run(command, env={**os.environ, "PYTHONPATH": install(folder)}, check=False)
    show(Corpus(corpus))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
