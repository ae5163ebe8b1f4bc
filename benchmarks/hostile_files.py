"""Hostile and malformed model files: what becomes of each, and what onnx's own checks miss.

`python benchmarks/hostile_files.py [--count 200] [--seed 1] [--models FOLDER]`. Every file is looked at by a worker as `assay check`
does it; a file outside of the models' folder is watched, and whoever opens it is found.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import onnx
from opened_files import Watch

from assay.core.case import Case
from assay.core.job import InspectJob
from assay.core.limits import Limits
from assay.core.model import Model
from assay.core.outcome import Outcome
from assay.core.result import InspectResult, Result
from assay.errors import BadModel
from assay.launch.pool import Pool
from assay.models.sources import check_source
from assay.pipeline.inspect_models import model_of
from assay.ports import JobList
from assay.testing.broken_models import CASES, built
from assay.testing.broken_models.good import good_models
from assay.testing.broken_models.random_damage import mutations
from assay.testing.broken_models.special import SPECIAL

LIMITS = Limits(timeout_s=60.0, memory_bytes=2_000_000_000)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--count", type=int, default=200)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--models", type=Path, help="more good models, of this folder")
    options.add_argument("--seconds", type=float, default=10.0, help="that onnx's own checks may take for one file")
    asked = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "outside").mkdir()
        secret = root / "outside" / "secret.bin"
        secret.write_bytes(bytes(64))
        files = dict(_files(root, asked, secret))
        watch = Watch(secret)
        begin, results = time.perf_counter(), _looked_at(files)
        seconds, opened = time.perf_counter() - begin, watch.opened()
        sentences = {name: _told(results[name], path) for name, path in files.items()}
        lost = [name for name, (kind, _) in sentences.items() if kind == "unclassified"]
        print(f"{len(files)} files, {seconds:.0f} s, load {os.getloadavg()[0]:.1f}")
        print(dict(Counter(kind for kind, _ in sentences.values())))
        print(f"{100 * (1 - len(lost) / len(files)):.1f} % classified; outside files opened: {opened}")
        for name in lost:
            print(f"  {name}: {sentences[name][1][:200]}")
        _compare(files, results, asked.seconds)


def _files(root: Path, asked: argparse.Namespace, secret: Path) -> Iterator[tuple[str, Path]]:
    for name in CASES:
        folder = root / "hand" / name
        folder.mkdir(parents=True)
        yield name, built(name, folder)
    for name, make in SPECIAL.items():
        folder = root / "special" / name
        folder.mkdir(parents=True)
        path = folder / "model.onnx"
        make(path)
        yield name, path
    models = good_models(root / "good")
    models += sorted(asked.models.glob("*.onnx")) if asked.models else []
    for name, data in mutations(models, asked.seed, asked.count):
        folder = root / "mutated" / name
        folder.mkdir(parents=True)
        (folder / "link.bin").symlink_to(secret)
        os.link(secret, folder / "hard.bin")
        os.mkfifo(folder / "pipe.bin")
        (folder / "w.bin").write_bytes(bytes(64))
        (folder / "model.onnx").write_bytes(data)
        yield name, folder / "model.onnx"


def _looked_at(files: dict[str, Path]) -> dict[str, Result | BadModel]:
    """By the driver first, without opening them; then by workers."""
    by_name: dict[str, Result | BadModel] = {}
    jobs = []
    for name, path in files.items():
        try:
            check_source(path)
            jobs.append(InspectJob(Case(name, Model(name, str(path), "")), limits=LIMITS))
        except BadModel as error:
            by_name[name] = error
    by_name.update({result.case: result for result in Pool(2).launch(JobList(jobs))})
    return by_name


def _told(result: Result | BadModel, path: Path) -> tuple[str, str]:
    """valid; refused, with the sentence; or unclassified."""
    if isinstance(result, InspectResult) and result.model is not None:
        return ("contradiction" if result.model.contradictions else "valid"), ""
    text = str(result)
    if not isinstance(result, BadModel):
        try:
            model_of(result, str(path))
        except Exception as error:  # noqa: BLE001  the sentence is what is judged
            text = str(error)
    named = str(path) in text and "Traceback" not in text and "while in" not in text
    limited = isinstance(result, Result) and result.outcome in (Outcome.CRASH, Outcome.TIMEOUT)
    return ("refused" if named and not limited else "unclassified"), text


def _compare(files: dict[str, Path], results: dict[str, Result | BadModel], seconds: float) -> None:
    """For each code: how many files it was found in, and in how many of them onnx's own checks find nothing, or do not end."""
    count_by_code: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    overlooked = []
    for name, path in files.items():
        result = results[name]
        if not isinstance(result, InspectResult) or not path.is_file() or path.stat().st_size > 1 << 24:
            continue
        codes = {finding.code for finding in result.findings}
        official = _official(path, seconds)
        count_by_code.update(codes)
        if official in ("sound", "hangs", "dies"):
            missed.update(codes)
        elif not codes and result.model is not None and not result.model.contradictions:
            overlooked.append(f"{name}: {official}")
    print("\ncode | files | that onnx.checker (full) and strict inference miss")
    for code, count in count_by_code.most_common():
        print(f"{code} | {count} | {missed[code]}")
    print(f"refused by onnx, valid here: {len(overlooked)}", *overlooked, sep="\n  ")


def _official(path: Path, seconds: float) -> str:
    """What onnx says by itself: in a process of its own, for it may hang or die."""
    ours, theirs = multiprocessing.Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=_ask_onnx, args=(path, theirs))
    child.start()
    theirs.close()
    try:
        answer = ours.recv() if ours.poll(seconds) else "hangs"
    except EOFError:
        answer = "dies"
    child.kill()
    child.join()
    return str(answer)


def _ask_onnx(path: Path, answer: multiprocessing.connection.Connection) -> None:
    try:
        onnx.checker.check_model(str(path), full_check=True)
        model = onnx.load(str(path))
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        answer.send("sound")
    except Exception as error:  # noqa: BLE001  whatever it raises, it found something
        answer.send(" ".join(f"{type(error).__name__}: {error}".split())[:160])


if __name__ == "__main__":
    main()
