"""A version of a model in an MLflow registry, by the two interfaces that its server has for every client: one says where the files lie, the
other gives them."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TypeVar
from urllib.parse import quote, urlencode

import msgspec

from assay.errors import BadModel
from assay.models.named_sources.tokens import check_server
from assay.models.named_sources.wanted import SourceRequest, named_in
from assay.models.named_sources.web_address import NotServed, download, open_address

_SAID = re.compile(r"models:/+(?P<name>[^/@:]+)(?:/(?P<version>\d+)|@(?P<alias>[^/@:]+))(?::(?P<file>.+))?")
_MOST_ANSWER_BYTES = 10_000_000
_MOST_LISTED = 10_000
"""Files and folders of one version."""
_DEEPEST = 8
"""Folders in one another in which files are looked for."""

Value = TypeVar("Value")


class _Version(msgspec.Struct):
    version: str


class _OfAlias(msgspec.Struct):
    model_version: _Version


class _Place(msgspec.Struct):
    artifact_uri: str


class _File(msgspec.Struct):
    path: str
    is_dir: bool = False


class _Files(msgspec.Struct):
    files: tuple[_File, ...] = ()


def from_registry(request: SourceRequest, into: Path) -> Path:
    """`models:/NAME/VERSION` or `models:/NAME@ALIAS`, as MLflow writes it, with `:FILE` behind it where the version has several models. The
    server is that of MLFLOW_REGISTRY_URI or MLFLOW_TRACKING_URI, the credentials those of MLflow's own variables. Raises BadModel."""
    match = _SAID.fullmatch(request.said)
    if match is None:
        raise BadModel(
            f"{request.said} names no model of a registry: write models:/NAME/VERSION or models:/NAME@ALIAS, with :FILE behind it where it "
            "has several"
        )
    registry = _Registry(request)
    try:
        version = match["version"] or registry.version_of(match["name"], match["alias"])
        folder = registry.folder_of(match["name"], version)
    except NotServed as error:
        raise BadModel(
            f"{request.said}: the registry has no such model: give a name, a version or an alias that it lists ({error})"
        ) from None
    names = sorted(registry.files(folder))
    model = match["file"] or _only_model(request, names)
    if model not in names:
        raise BadModel(
            f"{request.said}: version {version} has no file {model}; it has {', '.join(names[:10]) or 'none'}"
        )
    above, to = PurePosixPath(model).parent, into / PurePosixPath(model).name
    registry.fetch(folder, model, to)
    places = [PurePosixPath(path) for path in names if path != model]
    beside = [place.relative_to(above).as_posix() for place in places if place.is_relative_to(above)]
    for name in named_in(to, beside):
        registry.fetch(folder, (above / name).as_posix(), into / name)
    return to


class _Registry:
    def __init__(self, request: SourceRequest) -> None:
        self._wanted, self._listed = request, 0
        server = os.environ.get("MLFLOW_REGISTRY_URI") or os.environ.get("MLFLOW_TRACKING_URI", "")
        if not server.startswith(("http:", "https:")):
            given = (
                f"begins with {server.partition(':')[0]}:" if ":" in server else "names no server"
            )  # the rest may hold a password
            raise BadModel(
                f"{request.said} is in which registry? MLFLOW_TRACKING_URI {given}: give the address of the server, https://HOST"
            )
        check_server(server)
        self._server = server.rstrip("/")

    def version_of(self, name: str, alias: str) -> str:
        return self._ask("mlflow/registered-models/alias", _OfAlias, name=name, alias=alias).model_version.version

    def folder_of(self, name: str, version: str) -> str:
        """Where its files lie below the server's own store."""
        place = self._ask("mlflow/model-versions/get-download-uri", _Place, name=name, version=version).artifact_uri
        match = re.fullmatch(r"mlflow-artifacts:(?://[^/]*)?/+(.+?)/*", place)
        if match is None or _leaves(match[1]):
            kind = place.partition(":")[0][:20]
            raise BadModel(
                f"{self._wanted.said}: its files do not lie with the server ({kind}:...), which hands out its own: fetch them by hand, "
                "and give the file, or name the object, s3://bucket/folder/model.onnx"
            )
        return match[1]

    def files(self, folder: str, below: str = "", depth: int = 0) -> Iterator[str]:
        """Of all folders below it, by their paths there."""
        listed = self._ask("mlflow-artifacts/artifacts", _Files, path=f"{folder}/{below}".rstrip("/"))
        self._listed += len(listed.files)
        if self._listed > _MOST_LISTED:
            raise BadModel(
                f"{self._wanted.said}: its server lists more than {_MOST_LISTED} files and folders: is it the folder of one version? "
                "Fetch the model by hand, and give the file"
            )
        for file in listed.files:
            path = f"{below}/{PurePosixPath(file.path).name}".lstrip("/")
            if _leaves(path) or (file.is_dir and depth == _DEEPEST):
                raise BadModel(
                    f"{self._wanted.said}: its server lists {file.path[:80]!r}, which is no file of the model"
                )
            if file.is_dir:
                yield from self.files(folder, path, depth + 1)
            else:
                yield path

    def fetch(self, folder: str, name: str, to: Path) -> None:
        to.parent.mkdir(parents=True, exist_ok=True)
        address = f"{self._server}/api/2.0/mlflow-artifacts/artifacts/{quote(f'{folder}/{name}')}"
        download(self._wanted, address, to, _credentials())

    def _ask(self, what: str, kind: type[Value], **parameters: str) -> Value:
        address = f"{self._server}/api/2.0/{what}"
        with open_address(self._wanted, f"{address}?{urlencode(parameters)}", _credentials()) as answer:
            body = answer.read(_MOST_ANSWER_BYTES)
        try:
            return msgspec.json.decode(body, type=kind)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise BadModel(f"{address} answers otherwise than a server of MLflow does ({error})") from None


def _only_model(request: SourceRequest, names: list[str]) -> str:
    models = [name for name in names if name.endswith(".onnx")]
    if len(models) == 1:
        return models[0]
    if not models:
        raise BadModel(f"{request.said} has no ONNX file; it has {', '.join(names[:10]) or 'no file'}")
    raise BadModel(f"{request.said} has {len(models)} ONNX files: name one, {request.said}:{models[0]}")


def _leaves(path: str) -> bool:
    return not path or path.startswith("/") or ".." in PurePosixPath(path).parts or "\0" in path


def _credentials() -> str:
    """The header, from the variables that MLflow's clients read; "" without them."""
    if token := os.environ.get("MLFLOW_TRACKING_TOKEN"):
        return f"Bearer {token}"
    user = os.environ.get("MLFLOW_TRACKING_USERNAME", "")
    if user:
        credentials = f"{user}:{os.environ.get('MLFLOW_TRACKING_PASSWORD', '')}"
        return f"Basic {base64.b64encode(credentials.encode()).decode()}"
    return ""
