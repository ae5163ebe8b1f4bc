"""Exported programs whose archive or graph brings code, by ways that the format itself has: refused unread, and nothing runs."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from assay.errors import InvalidModel
from assay.models.program import open_program

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")


class _Trap:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return (Path.touch, (self.mark,))


class _Half(torch.nn.Module):
    def forward(self, x: torch.Tensor, more: dict[str, torch.Tensor]) -> torch.Tensor:
        return x.view(x.shape[0] // 2, -1).sum() + more["rest"]


class _Scaled(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.ones(int(1.0 * x.shape[0]), 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    auto = torch.export.Dim.AUTO
    given = torch.ones(4, 6), {"rest": torch.ones(4)}
    sizes = {0: auto, 1: auto}, {"rest": {0: auto}}
    torch.export.save(torch.export.export(_Half(), given, dynamic_shapes=sizes), tmp_path / "half.pt2")
    return tmp_path / "half.pt2"


def _entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def _refused(path: Path, entries: dict[str, bytes], said: str, outside: dict[str, bytes] | None = None) -> None:
    """The archive with these entries, and others outside of its folder."""
    changed = path.with_name("changed.pt2")
    with zipfile.ZipFile(changed, "w") as archive:
        for name, data in {f"half/{name}": data for name, data in entries.items()}.items():
            archive.writestr(name, data)
        for name, data in (outside or {}).items():
            archive.writestr(name, data)
    with pytest.raises(InvalidModel, match=said):
        open_program(changed).exported.module()


def test_guards_of_sizes_are_read(path: Path) -> None:
    guards = json.loads(_entries(path)["models/model.json"])["guards_code"]
    assert any("// 2" in guard for guard in guards), guards
    assert open_program(path).inputs[0].name == "x"


def test_guards_of_scaled_sizes_are_read(tmp_path: Path) -> None:
    """As a Resize of the digits' segmenter has them: the size is a float on the way."""
    program = torch.export.export(_Scaled(), (torch.ones(4, 6),), dynamic_shapes=({0: torch.export.Dim.AUTO},))
    torch.export.save(program, tmp_path / "scaled.pt2")
    guards = json.loads(_entries(tmp_path / "scaled.pt2")["models/model.json"])["guards_code"]
    assert any("math.trunc(" in guard for guard in guards), guards
    assert open_program(tmp_path / "scaled.pt2").inputs[0].name == "x"


def test_the_format_before_torch_2_8(path: Path, tmp_path: Path) -> None:
    """Without its format file the archive is read as the older one, whose weights are pickles."""
    entries = _entries(path)
    trap = pickle.dumps(_Trap(tmp_path / "ran"))
    old = {f"serialized_{name}.pt": trap for name in ("state_dict", "constants", "example_inputs")}
    version = ".".join(map(str, torch._export.serde.schema.SCHEMA_VERSION)).encode()
    old |= {"version": version, "serialized_exported_program.json": entries["models/model.json"]}
    del entries["archive_format"]
    _refused(path, entries, "which torch.export does not write", old)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("name", ["a/b", "b"])
def test_a_second_program(path: Path, tmp_path: Path, name: str) -> None:
    """The reader loads every file below models/, with weights that may be a pickle."""
    entries = _entries(path)
    entries |= {
        f"models/{name}.jsox": entries["models/model.json"],
        f"data/weights/{name}.pt": pickle.dumps(_Trap(tmp_path / "ran")),
        f"data/constants/{name}_constants_config.json": entries["data/constants/model_constants_config.json"],
        f"data/sample_inputs/{name}.pt": entries["data/sample_inputs/model.pt"],
    }
    _refused(path, entries, "holds 2 graphs")
    assert not (tmp_path / "ran").exists()


CALL = "__import__('pathlib').Path({mark!r}).touch()"


def _guard(graph: dict[str, Any], call: str) -> None:
    graph["guards_code"].append(f"{call} is None")


def _guard_in_lines(graph: dict[str, Any], call: str) -> None:
    graph["guards_code"].append(f"L['x'].size()[0] > 0, '')\n  ({call}")


def _name(graph: dict[str, Any], call: str) -> None:
    graph["graph_module"]["graph"]["inputs"][0]["as_tensor"]["name"] = f"x={call}"


def _argument(graph: dict[str, Any], call: str) -> None:
    graph["graph_module"]["graph"]["nodes"][0]["inputs"][0]["name"] = f"x={call}"


def _tree(graph: dict[str, Any], call: str) -> None:
    context = json.dumps([f'a"+{call}+"'])
    tree = {"type": "builtins.dict", "context": context, "children_spec": []}
    graph["graph_module"]["module_call_graph"][0]["signature"]["in_spec"] = json.dumps([1, tree])


def _module(graph: dict[str, Any], call: str) -> None:
    context = json.dumps({"__enum__": True, "fqn": "this:s", "name": call[:0]})
    tree = {"type": "builtins.dict", "context": context, "children_spec": []}
    graph["graph_module"]["module_call_graph"][0]["signature"]["out_spec"] = json.dumps([1, tree])


def _file(graph: dict[str, Any], call: str) -> None:
    graph["graph_module"]["graph"]["nodes"][0]["target"] = f"torch.ops.aten.from_file.default{call[:0]}"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_guard, "guard that is no comparison of sizes"),
        (_guard_in_lines, "guard that is no comparison of sizes"),
        (_name, "a name that is no name"),
        (_argument, "a name that is no name"),
        (_tree, "tree of inputs that is more than names"),
        (_module, "tree of outputs that is more than names"),
        (_file, "no operator of torch"),
    ],
)
def test_texts_that_torch_makes_source_of(path: Path, tmp_path: Path, change: Any, said: str) -> None:
    entries = _entries(path)
    graph = json.loads(entries["models/model.json"])
    change(graph, CALL.format(mark=str(tmp_path / "ran")))
    _refused(path, entries | {"models/model.json": json.dumps(graph).encode()}, said)
    assert not (tmp_path / "ran").exists()


def test_a_list_of_entries_that_two_readers_find_at_two_places(path: Path) -> None:
    """zipfile looks before the end of the file, torch's reader where the end says."""
    plain = path.with_name("plain.pt2")
    with zipfile.ZipFile(plain, "w") as archive:
        for name, data in _entries(path).items():
            archive.writestr(f"half/{name}", data)
    open_program(plain)
    data = plain.read_bytes()
    start = struct.unpack("<L", data[-6:-2])[0]
    path.write_bytes(data[:start] + data[start:-22] * 2 + data[-22:])
    with pytest.raises(InvalidModel, match="its list of entries is not where it ends"):
        open_program(path)


def test_a_bomb_in_the_example_inputs(path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/data/0", bytes(100 * 2**20))
    _refused(path, _entries(path) | {"data/sample_inputs/model.pt": packed.getvalue()}, "unpacks to 1048")


@pytest.mark.parametrize("config", [{"config": []}, {"config": {"weight": "x"}}])
def test_a_description_of_weights_that_is_none(path: Path, config: dict[str, Any]) -> None:
    changed = {"data/weights/model_weights_config.json": json.dumps(config).encode()}
    _refused(path, _entries(path) | changed, "none of torch.export's")
