"""Coverage-guided fuzzing of the loader: whatever a file holds, it is described, or refused with one sentence that names it.

`pip install atheris==3.0.0`, then `python benchmarks/fuzz_loader.py CORPUS [-max_total_time=3600] [more options of libFuzzer]`. CORPUS is
a folder that keeps what reached new code; an empty one begins with sound models and models that are broken by hand. It ends at the
first file that is not classified: a traceback, a crash, more than 60 s, more than 2 GB, a step of the examination that failed, or a
file outside of the folder that was opened. That file stays as `crash-...` where it was run.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from pathlib import Path

import atheris
import msgspec
from opened_files import Watch

with atheris.instrument_imports(include=["assay"]):
    from assay.errors import BadModel
    from assay.models.examination.steps import examine
    from assay.models.onnx_file import open_model
    from assay.testing.broken_models import CASES, built
    from assay.testing.broken_models.good import good_models
    from assay.testing.broken_models.random_damage import mutated

LIMITS = ("-timeout=60", "-rss_limit_mb=2000", "-max_len=65536")


class Target:
    """The folder of the model, with what lies beside it, and a file outside that nobody may open."""

    def __init__(self, root: Path) -> None:
        (root / "outside").mkdir()
        secret = root / "outside" / "secret.bin"
        secret.write_bytes(bytes(64))
        folder = root / "models"
        folder.mkdir()
        (folder / "link.bin").symlink_to(secret)
        os.link(secret, folder / "hard.bin")
        os.mkfifo(folder / "pipe.bin")
        (folder / "w.bin").write_bytes(bytes(64))
        self.path, self._watch = folder / "model.onnx", Watch(secret)

    def __call__(self, data: bytes) -> None:
        self.path.write_bytes(data)
        try:
            msgspec.msgpack.encode(open_model(self.path))
        except BadModel as error:
            message = str(error)
            assert message.startswith(str(self.path)), message
            assert "\n" not in message, message
        look = examine(self.path)
        msgspec.msgpack.encode(look.findings)
        failed = [finding for finding in look.findings if finding.code == "step-failed"]
        assert not failed, failed
        assert not self._watch.opened(), "a file outside was opened"


def mutate(data: bytes, largest: int, seed: int) -> bytes:
    """Mostly fields of the model: bytes alone seldom come past the parser."""
    draw = random.Random(seed)
    if data and draw.random() < 0.7:
        try:
            return mutated(data, draw)[1][:largest]
        except Exception:  # noqa: BLE001  no model, or one that cannot be written again: its bytes are changed
            pass
    return bytes(atheris.Mutate(data, largest))


def begin(corpus: Path) -> None:
    """The first files of an empty corpus."""
    corpus.mkdir(parents=True, exist_ok=True)
    if any(corpus.iterdir()):
        return
    with tempfile.TemporaryDirectory() as folder:
        for path in good_models(Path(folder) / "good"):
            (corpus / path.stem).write_bytes(path.read_bytes())
        for name in CASES:
            place = Path(folder) / name
            place.mkdir()
            data = built(name, place).read_bytes()
            if len(data) < 1 << 16:
                (corpus / name).write_bytes(data)


def main() -> None:
    arguments = sys.argv[1:] or sys.exit(__doc__)
    begin(Path(arguments[0]))
    with tempfile.TemporaryDirectory() as folder:
        target = Target(Path(folder))
        atheris.Setup([sys.argv[0], *LIMITS, *arguments], target, custom_mutator=mutate)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
