"""What comes in is copied by us, file by file; nothing is followed, unpacked or believed."""

from __future__ import annotations

import io
import os
import pickle
import socket
import tarfile
import time
import zipfile
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from assay.faces.zoo import open_tools
from assay.zoo.check import Check, CheckOutcome
from assay.zoo.files import check_files
from assay.zoo.intake import Intake, Problem, take_in
from assay.zoo.place import Place
from assay.zoo.policy import FileLimits, ZooPolicy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "submission"
    made.mkdir()
    (made / "README.md").write_text("# A model\n")
    return made


def taken(folder: Path, **limits: int) -> Intake:
    return take_in(folder, folder.parent / "copy", FileLimits(**limits))


def problems(found: Intake) -> dict[str, Problem]:
    return {one.path: one.problem for one in found.entries if one.problem}


def checked(folder: Path, policy: ZooPolicy = ZooPolicy(name="zoo")) -> list[Check]:
    """What the group of checks holds against the folder."""
    history = folder.parent / ".assay"
    history.mkdir()
    with open_tools(folder.parent, str(history)) as tools:
        intake = take_in(folder, tools.scratch / "in", policy.files)
        place = Place(folder=intake.folder, root=folder.parent, policy=policy, metadata=None, intake=intake)
        found = check_files(place, tools)
    assert any(one.name == "files.digest" for one in found)
    return [one for one in found if one.outcome is not CheckOutcome.PASSED]


def test_what_is_taken_is_ours_and_has_its_digest(folder: Path) -> None:
    (folder / "data").mkdir()
    (folder / "data" / "a.txt").write_text("a")
    found = taken(folder)
    assert [one.path for one in found.taken] == ["README.md", "data/a.txt"]
    for one in found.taken:
        copy, original = found.folder / one.path, folder / one.path
        assert copy.read_bytes() == original.read_bytes()
        assert copy.stat().st_ino != original.stat().st_ino


def test_the_digest_knows_contents_and_names_and_nothing_else(folder: Path, tmp_path: Path) -> None:
    first = take_in(folder, tmp_path / "1").digest
    os.utime(folder / "README.md", (0, 0))
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_bytes(b"left by Python")
    again = take_in(folder, tmp_path / "2")
    assert again.digest == first
    assert again.left_out == ("__pycache__",)
    (folder / "README.md").write_text("# A model.\n")
    assert take_in(folder, tmp_path / "3").digest != first


def test_links_and_special_files_are_told_and_never_opened(folder: Path) -> None:
    (folder / "link").symlink_to("/etc/passwd")
    (folder / "folder").symlink_to("/etc")
    (folder.parent / "outside").write_text("of somebody else")
    os.link(folder.parent / "outside", folder / "hard")
    os.mkfifo(folder / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket is at most 108 bytes long
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        found = taken(folder)
    assert problems(found) == {
        "link": Problem.LINK,
        "folder": Problem.LINK,
        "hard": Problem.HARD_LINK,
        "pipe": Problem.SPECIAL,
        "socket": Problem.SPECIAL,
    }
    assert [path.name for path in found.folder.rglob("*")] == ["README.md"]
    assert "points to /etc/passwd" in str(found.entries)


def test_a_link_in_the_place_of_the_folder_is_not_followed(folder: Path) -> None:
    (folder.parent / "link").symlink_to("/etc")
    found = take_in(folder.parent / "link", folder.parent / "copy")
    assert problems(found) == {"link": Problem.LINK}
    assert list(found.folder.iterdir()) == []


def test_a_sparse_file_counts_as_large_as_it_seems(folder: Path) -> None:
    with (folder / "sparse.bin").open("wb") as file:
        file.truncate(10_000_000_000)
    begin = time.monotonic()
    (one,) = checked(folder)
    assert time.monotonic() - begin < 30
    assert one.name == "files.sizes"
    assert "10000000000 bytes" in one.sentence


def test_ten_thousand_files_are_one_finding_with_a_number(folder: Path) -> None:
    for number in range(10_000):
        (folder / f"{number}.txt").touch()
    found = checked(folder)
    assert {one.name for one in found} == {"files.sizes"}
    assert len(found) < 30
    assert found[-1].sentence == "and 9481 more"


def test_folders_in_folders_end(folder: Path) -> None:
    place = folder
    for _ in range(40):
        place = place / "d"
        place.mkdir()
    (place / "deep.txt").touch()
    (found,) = problems(taken(folder)).values()
    assert found is Problem.TOO_DEEP


def test_the_total_is_what_counts(folder: Path) -> None:
    for name in "abc":
        (folder / name).write_bytes(bytes(1000))
    assert list(problems(taken(folder, total_bytes=2500)).values()) == [Problem.TOTAL]


@pytest.mark.parametrize("name", ["a\nb", "a\x1b[2Jb", "a\u202eb", "a\\..\\b", "c:b", "blank ", "\udcff"])
def test_a_hostile_name_is_not_taken_and_is_shown_harmless(folder: Path, name: str) -> None:
    (folder / name).write_text("x")
    found = taken(folder)
    (path,) = problems(found)
    assert problems(found)[path] is Problem.NAME
    assert path.isprintable()
    assert [one.path for one in found.taken] == ["README.md"]


def test_names_that_are_one_elsewhere_are_told(folder: Path) -> None:
    (folder / "readme.md").write_text("another")
    (one,) = checked(folder)
    assert one.name == "files.names"


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
        ("weights.bin", 8, 16, "is truncated"),
        ("weights.bin", 0, 1 << 40, "need 16"),
        ("weights.bin", -4, 16, "negative offset"),
        ("", 0, 16, "names no file"),
    ],
)
def test_external_data_stay_inside(folder: Path, location: str, offset: int, length: int, says: str) -> None:
    (folder / "weights.bin").write_bytes(bytes(16))
    (folder.parent / "outside.bin").write_bytes(bytes(16))
    external(folder, location, offset=offset, length=length)
    (one,) = checked(folder)
    assert one.name == "files.external_data"
    assert says in one.sentence
    assert str(folder.parent) not in one.sentence


def test_external_data_that_hold_are_taken(folder: Path) -> None:
    (folder / "weights.bin").write_bytes(bytes(16))
    external(folder, "weights.bin")
    assert checked(folder) == []


def test_external_data_behind_a_hard_link_are_told_once(folder: Path) -> None:
    (folder.parent / "outside.bin").write_bytes(bytes(16))
    os.link(folder.parent / "outside.bin", folder / "weights.bin")
    external(folder, "weights.bin")
    (one,) = checked(folder)
    assert (one.name, one.path) == ("files.links", "weights.bin")


def test_a_model_nested_without_end_is_a_finding(folder: Path) -> None:
    """400 branches in branches: more than protobuf reads, and once more than some stacks hold."""
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [])
    inner = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [], [out])
    data = inner.SerializeToString()
    for _ in range(400):
        attribute = _field(5, b"then") + _field(6, data)  # name, g
        data = _field(1, _field(4, b"If") + _field(5, attribute))  # node: op_type, attribute
    (folder / "model.onnx").write_bytes(b"\x08\x08" + _field(7, data))
    (one,) = checked(folder)
    assert one.name == "files.readable"
    assert "nested too deeply" in one.sentence


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
    found = checked(folder)
    assert [(one.name, one.path) for one in found] == [("files.readable", name), ("files.readable", "z.json")]


class Dangerous:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.mkdir, ("/tmp/a-pickle-was-loaded",))


def zipped(**members: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return file.getvalue()


def tarred(member: tarfile.TarInfo, mode: str = "w") -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
        archive.addfile(member, io.BytesIO(bytes(member.size)))
    return file.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 0) -> tarfile.TarInfo:
    one = tarfile.TarInfo(name)
    one.type, one.size = kind, size
    if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
        one.linkname = "/etc/passwd"
    return one


@pytest.mark.parametrize(
    ("name", "data", "check", "says"),
    [
        ("w.pt", zipped(**{"archive/data.pkl": pickle.dumps(Dangerous())}), "pickles", "by its name"),
        ("w.zip", zipped(**{"archive/data.pkl": pickle.dumps(Dangerous())}), "pickles", "holds"),
        ("w.bin", zipped(**{"data": pickle.dumps(Dangerous(), 0)}), "pickles", "holds"),
        ("w.txt", pickle.dumps(Dangerous(), 0), "pickles", "is a pickle"),
        ("b.zip", zipped(zeros=bytes(50_000_000)), "archives", "zip bomb"),
        ("n.zip", zipped(inner=zipped(x=b"x")), "archives", "an archive in an archive"),
        ("t.tar", tarred(member("../x")), "archives", "outside of its folder"),
        ("t.tar.gz", tarred(member("/x"), "w:gz"), "archives", "outside of its folder"),
        ("l.tar.bz2", tarred(member("x", tarfile.SYMTYPE), "w:bz2"), "archives", "a link"),
        ("h.tar", tarred(member("x", tarfile.LNKTYPE)), "archives", "a link"),
        ("b.tar.xz", tarred(member("x", size=50_000_000), "w:xz"), "archives", "unfolds to more"),
        ("a.7z", b"7z\xbc\xaf\x27\x1c" + bytes(20), "archives", "cannot be looked into"),
        ("cut.zip", zipped(x=b"x" * 100)[:-30], "readable", "cut off"),
        ("run.png", b"\x7fELF" + bytes(60), "programs", "a Linux program"),
        ("lib.so", b"", "programs", "by its name"),
        ("a.png", b"GIF89a", "readable", "is no png file"),
        ("a.md", b"\xff\xfe", "readable", "no UTF-8"),
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


def test_a_harmless_archive_and_a_good_tensor_are_taken(folder: Path) -> None:
    (folder / "labels.zip").write_bytes(zipped(labels=b"zero\none\n"))
    (folder / "x.pb").write_bytes(onnx.numpy_helper.from_array(np.zeros(3)).SerializeToString())
    assert checked(folder) == []
