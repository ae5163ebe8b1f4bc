"""The test data sets: `test_data_set_N/input_K.pb` and `output_K.pb`, counted without holes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from assay_zoo.artifacts.finding import Finding
from assay_zoo.submission import SubmissionContext

_SET = re.compile(r"test_data_set_(\d+)")


def sample_findings(place: SubmissionContext) -> Iterator[Finding]:
    """What is missing in them, and what nobody asked for. Without metadata only that there is one at all."""
    folders = {
        path.name: path for path in place.folder.iterdir() if path.is_dir() and path.name.startswith("test_data_set")
    }
    if not folders:
        yield Finding(
            sentence="there is no test_data_set_0, inputs with the outputs that they must give: `assay zoo data` writes it",
            path="test_data_set_0",
        )
    numbers = sorted(int(match[1]) for name in folders if (match := _SET.fullmatch(name)))
    for name in sorted(folders):
        match = _SET.fullmatch(name)
        if not match or name != f"test_data_set_{int(match[1])}":
            yield Finding(
                sentence=f"{name} is no name of a test data set: test_data_set_0, test_data_set_1, ...", path=name
            )
    for number in sorted(set(range(len(numbers))) - set(numbers)):
        name = f"test_data_set_{number}"
        yield Finding(sentence=f"{name} is missing: test data sets are counted from 0 without holes", path=name)
    if place.metadata is not None:
        ports = {"input": len(place.metadata.inputs), "output": len(place.metadata.outputs)}
        for number in numbers:
            if (name := f"test_data_set_{number}") in folders:
                yield from _one(folders[name], ports)


def _one(folder: Path, ports: dict[str, int]) -> Iterator[Finding]:
    wanted = {f"{kind}_{number}.pb": kind for kind, count in ports.items() for number in range(count)}
    there = {path.name for path in folder.iterdir()}
    for name in sorted(wanted.keys() - there):
        path, kind = f"{folder.name}/{name}", wanted[name]
        sentence = f"{path} is missing: metadata.toml has {ports[kind]} {kind}{'s' if ports[kind] != 1 else ''}"
        yield Finding(sentence=sentence, path=path)
    for name in sorted(file_name for file_name in there - wanted.keys() if re.fullmatch(r"(in|out)put.*", file_name)):
        path = f"{folder.name}/{name}"
        yield Finding(
            sentence=f"{path} belongs to no input or output of metadata.toml: remove it, or add the port", path=path
        )
