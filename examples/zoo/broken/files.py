"""Broken as files: what must not lie in a submission, or is not what its name says."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import onnx
from case import broken
from onnx import external_data_helper


def _external(folder: Path, location: str) -> bytes:
    """Let the largest weight live at `location`; returns its bytes, to be written wherever the case wants them."""
    model = onnx.load(folder / "model.onnx")
    tensor = max(model.graph.initializer, key=lambda initializer: len(initializer.raw_data))
    data = tensor.raw_data
    external_data_helper.set_external_data(tensor, location, offset=0, length=len(data))
    tensor.ClearField("raw_data")
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    return data


@broken("lfs-pointer", "the model is a pointer of Git LFS and not the model", "files.pointers")
def _(folder: Path) -> None:
    model = folder / "model.onnx"
    size = model.stat().st_size
    model.write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a' * 16}\nsize {size}\n", encoding="ascii"
    )


@broken("external-data-outside", "weights in a file beside the submission's folder", "files.external_data")
def _(folder: Path) -> None:
    (folder.parent / "weights.bin").write_bytes(_external(folder, "../weights.bin"))


@broken("external-data-absolute", "weights in a file of the system", "files.external_data")
def _(folder: Path) -> None:
    _external(folder, "/etc/passwd")


@broken("external-data-missing", "weights in a file that was not sent", "files.external_data")
def _(folder: Path) -> None:
    _external(folder, "weights.bin")


@broken("external-data-hard-linked", "weights in a file that has a second name outside", "files.links")
def _(folder: Path) -> None:
    outside = folder.parent / "outside.bin"
    outside.write_bytes(_external(folder, "weights.bin"))
    os.link(outside, folder / "weights.bin")


@broken("external-data-linked", "weights behind a symbolic link to a file outside", "files.links")
def _(folder: Path) -> None:
    outside = folder.parent / "outside.bin"
    outside.write_bytes(_external(folder, "weights.bin"))
    (folder / "weights.bin").symlink_to(outside)


@broken("link-to-the-system", "a symbolic link to a file of the system", "files.links")
def _(folder: Path) -> None:
    (folder / "labels.txt").symlink_to("/etc/passwd")


@broken("named-pipe", "a pipe that would be read for ever", "files.links")
def _(folder: Path) -> None:
    os.mkfifo(folder / "labels.txt")


@broken("pickle", "a pickle, which runs code when it is opened", "files.pickles")
def _(folder: Path) -> None:
    import pickle

    (folder / "state.pkl").write_bytes(pickle.dumps({"weights": [1.0, 2.0]}))


@broken("pickle-in-array", "an array of objects, which is a pickle within", "files.pickles")
def _(folder: Path) -> None:
    import numpy as np

    np.save(folder / "classes.npy", np.array([{"zero": 0}], dtype=object), allow_pickle=True)


@broken("zip-in-zip", "an archive within an archive", "files.archives")
def _(folder: Path) -> None:
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("labels.txt", "zero\none\n")
    with zipfile.ZipFile(folder / "extra.zip", "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())


@broken("zip-bomb", "an archive of 64 KiB that unpacks to 64 MiB", "files.archives")
def _(folder: Path) -> None:
    with zipfile.ZipFile(folder / "samples.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.bin", bytes(64 << 20))


@broken("secret-in-script", "a private key in a script", "files.secrets")
def _(folder: Path) -> None:
    with (folder / "preprocess.py").open("a", encoding="utf-8") as script:
        # Put together here, so that this file holds no secret for a scanner to find.
        script.write(f'\nKEY = """-----BEGIN {"RSA"} PRIVATE KEY-----\n{"MIIEowIBAAKCAQEA" * 4}\n"""\n')


@broken(
    "file-too-large",
    "a file larger than the zoo allows",
    "files.sizes",
    zoo=("[files]", "file_bytes = 2_000_000"),
)
def _(folder: Path) -> None:
    (folder / "samples.bin").write_bytes(os.urandom(1 << 16) * 40)


@broken("too-many-files", "more files than the zoo allows", "files.sizes", zoo=("[files]", "files = 60"))
def _(folder: Path) -> None:
    # Last in the order in which files are taken: no other part of the submission is left out.
    (folder / "zz_samples").mkdir()
    for number in range(60):
        (folder / "zz_samples" / f"{number}.txt").write_text(f"{number}\n", encoding="ascii")


@broken("data-is-html", "a test input that is a web page", "files.readable")
def _(folder: Path) -> None:
    (folder / "test_data_set_0" / "input_0.pb").write_text("<html><body>404</body></html>\n", encoding="ascii")


@broken("image-is-program", "a picture that is a program", "files.programs")
def _(folder: Path) -> None:
    (folder / "example.png").write_bytes(b"\x7fELF\x02\x01\x01" + bytes(57))


@broken("model-is-cut-off", "a model whose upload ended half way", "files.readable")
def _(folder: Path) -> None:
    model = folder / "model.onnx"
    model.write_bytes(model.read_bytes()[: model.stat().st_size // 2])
