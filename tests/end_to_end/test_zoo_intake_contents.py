"""What is in the files that come in: nothing is unpacked or believed."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from zoo_incoming import checked, submitted

from assay_zoo.check import CheckOutcome

pytestmark = pytest.mark.usefixtures("warm_readers")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return submitted(tmp_path)


def external(folder: Path, location: str, *, offset: int = 0, length: int = 16) -> None:
    weight = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", location), ("offset", str(offset)), ("length", str(length))):
        weight.external_data.add(key=key, value=value)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Add", ["x", "w"], ["y"])], "g", [x], [y], [weight])
    (folder / "model.onnx").write_bytes(helper.make_model(graph).SerializeToString())


@pytest.mark.parametrize(
    ("location", "offset", "length", "says"),
    [
        ("../outside.bin", 0, 16, "outside the model's folder"),
        ("a/../../outside.bin", 0, 16, "outside the model's folder"),
        ("/etc/passwd", 0, 16, "absolute path"),
        ("weights.bin", 8, 16, "are truncated"),
        ("weights.bin", 0, 1 << 40, "need 16"),
        ("weights.bin", -4, 16, "offset -4, which is negative"),
        ("", 0, 16, "name no file"),
    ],
)
def test_external_data_stay_inside(folder: Path, location: str, offset: int, length: int, says: str) -> None:
    (folder / "weights.bin").write_bytes(bytes(16))
    (folder.parent / "outside.bin").write_bytes(bytes(16))
    external(folder, location, offset=offset, length=length)
    (check,) = checked(folder)
    assert check.name == "files.external_data"
    assert says in check.sentence
    assert str(folder.parent) not in check.sentence


def test_external_data_that_hold_are_taken(folder: Path) -> None:
    (folder / "weights.bin").write_bytes(bytes(16))
    external(folder, "weights.bin")
    assert checked(folder) == []


def test_external_data_behind_a_hard_link_are_told_once(folder: Path) -> None:
    (folder.parent / "outside.bin").write_bytes(bytes(16))
    os.link(folder.parent / "outside.bin", folder / "weights.bin")
    external(folder, "weights.bin")
    (check,) = checked(folder)
    assert (check.name, check.path, check.stops) == ("files.links", "weights.bin", True)


@pytest.mark.parametrize("location", ["data/it's.bin", "./data/../data/w.bin"])
def test_a_file_of_weights_is_known_by_its_path_and_not_by_words(folder: Path, location: str) -> None:
    (folder.parent / "outside.bin").write_bytes(bytes(16))
    (folder / "data").mkdir()
    os.link(folder.parent / "outside.bin", folder / location)
    external(folder, location)
    (check,) = checked(folder)
    assert (check.name, check.path, check.stops) == ("files.links", os.path.normpath(location), True)


def test_a_tensor_that_is_called_like_a_refused_file_does_not_hide_what_is_wrong(folder: Path) -> None:
    (folder.parent / "outside.bin").write_bytes(bytes(16))
    os.link(folder.parent / "outside.bin", folder / "w")
    external(folder, "missing.bin")
    assert [(check.name, check.stops) for check in checked(folder)] == [
        ("files.links", False),
        ("files.external_data", False),
    ]


def test_a_model_nested_without_end_is_a_finding(folder: Path) -> None:
    """400 branches in branches: more than protobuf reads, and once more than some stacks hold."""
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [])
    inner = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [], [out])
    data = inner.SerializeToString()
    for _ in range(400):
        attribute = _field(5, b"then") + _field(6, data)  # name, g
        data = _field(1, _field(4, b"If") + _field(5, attribute))  # node: op_type, attribute
    (folder / "model.onnx").write_bytes(b"\x08\x08" + _field(7, data))
    (check,) = checked(folder)
    assert check.name == "files.readable"
    assert "nested too deeply" in check.sentence


def _field(number: int, data: bytes) -> bytes:
    length, size = len(data), b""
    while length > 127:
        size += bytes([length & 127 | 128])
        length >>= 7
    return bytes([number << 3 | 2]) + size + bytes([length]) + data


@pytest.mark.parametrize("name", ["deep.json", "deep.toml", "deep.py", "deep.yaml", "deep.ipynb"])
def test_text_nested_without_end_costs_one_file(folder: Path, name: str) -> None:
    (folder / name).write_text(("x = " if name.endswith(("toml", "py")) else "") + "[" * 100_000)
    (folder / "z.json").write_text("{")
    checks = checked(folder)
    assert [(check.name, check.path) for check in checks] == [("files.readable", name), ("files.readable", "z.json")]


class Dangerous:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, ("/tmp/a-pickle-was-loaded",))


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def arrays(**members: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **members)  # type: ignore[arg-type]
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "check", "says"),
    [
        ("w.pt", zipped(**{"archive/data.pkl": pickle.dumps(Dangerous())}), "pickles", "by its name"),
        ("w.txt", pickle.dumps(Dangerous(), 0), "pickles", "is a pickle"),
        ("labels.zip", zipped(labels=b"zero\none\n"), "archives", "is a zip archive: hand in the files"),
        ("labels.bin", zipped(labels=b"zero\none\n"), "archives", "is a zip archive"),
        ("t.tar", bytes(257) + b"ustar\0", "archives", "is a tar archive"),
        ("t.tar.gz", gzip.compress(b"x"), "archives", "is a gzip archive"),
        ("t.xz", lzma.compress(b"x"), "archives", "is a xz archive"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(20), "archives", "is a 7z archive"),
        ("a.npz", zipped(x=b"x"), "archives", "holds 'x', which is no array"),
        ("o.npz", arrays(x=np.array([{}], dtype=object)), "pickles", "an array of Python objects"),
        ("cut.npz", arrays(x=np.arange(100))[:-30], "readable", "cut off"),
        ("run.png", b"\x7fELF" + bytes(60), "programs", "a Linux program"),
        ("lib.so", b"", "programs", "by its name"),
        ("a.png", b"GIF89a", "readable", "is no png file"),
        ("a.md", b"\xff\xfe", "readable", "no UTF-8"),
        ("a.csv", b"a;\xe4\0", "readable", "no UTF-8"),
        ("a.csv", b"\xff\xfea", "readable", "no UTF-8"),
        ("s.csv", "key\nAWS = 'AKIA".encode("utf-16") + "IOSFODNN7EXAMPLF'\n".encode("utf-16-le"), "secrets", "AWS"),
        ("a.py", b"def f(:\n", "readable", "Python source"),
        ("model.onnx", b"", "readable", "no graph"),
        ("x.pb", b"", "readable", "is no tensor"),
        ("model.onnx", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "pointers", "git lfs pull"),
        ("key.txt", b"a\n-----BEGIN " + b"RSA PRIVATE KEY-----\nMIIE\n", "secrets", "Private Key"),
        ("s.py", b"x = 1\nAWS = 'AKIA" + b"IOSFODNN7EXAMPLF'  # pragma: allowlist secret\n", "secrets", "AWS"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_a_file_is_held_against_the_submission_by_its_own_check(
    folder: Path, name: str, data: bytes, check: str, says: str
) -> None:
    (folder / name).write_bytes(data)
    (one,) = checked(folder)
    assert (one.name, one.path) == (f"files.{check}", name)
    assert says in one.sentence
    assert not Path("/tmp/a-pickle-was-loaded").exists()
    if check == "secrets":
        assert one.line == 2
        assert "AKIA" not in one.sentence


def test_a_bomb_is_held_against_the_submission(folder: Path) -> None:
    (folder / "b.npz").write_bytes(arrays(x=np.zeros(10_000_000)))
    (check,) = checked(folder)
    assert (check.name, check.path) == ("files.archives", "b.npz")
    assert "a zip bomb" in check.sentence


def test_a_person_looks_at_an_id_that_may_be_a_token_after_what_is_sure(folder: Path) -> None:
    (folder / "a.txt").write_text("file_" + "QmxTbWkZpLrVnYdHcJgXsFqBtRwKzMvNaE\n")
    (folder / "b.txt").write_text("hf_" + "QmxTbWkZpLrVnYdHcJgXsFqBtRwKzMvNaE\n")
    assert [(check.path, check.outcome) for check in checked(folder)] == [
        ("b.txt", CheckOutcome.FAILED),
        ("a.txt", CheckOutcome.UNDECIDED),
    ]


def test_arrays_and_a_good_tensor_are_taken(folder: Path) -> None:
    (folder / "labels.npz").write_bytes(arrays(labels=np.arange(10), words=np.array(["zero"])))
    (folder / "x.pb").write_bytes(onnx.numpy_helper.from_array(np.zeros(3)).SerializeToString())
    assert checked(folder) == []
