"""Models of a registry that speaks as MLflow's does: versions, aliases, weights beside a model, credentials, and what is wrong in one
sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from assay.core.digest import sha256_bytes
from assay.errors import BadModel
from assay.models.named_sources import to_file
from http_server import Handler, serving

MODEL = b"a model, with parts/model.data"
FILES = {
    "1/models/m-7/artifacts/MLmodel": b"flavors:",
    "1/models/m-7/artifacts/net.onnx": MODEL,
    "1/models/m-7/artifacts/parts/model.data": b"weights",
    "1/models/m-7/artifacts/parts/other.data": b"of another model",
    "1/models/m-8/artifacts/a.onnx": b"a",
    "1/models/m-8/artifacts/below/b.onnx": b"b",
}
PLACES = {
    ("speech", "1"): "mlflow-artifacts:/1/models/m-7/artifacts",
    ("speech", "2"): "mlflow-artifacts://registry.example/1/models/m-8/artifacts/",
    ("speech", "3"): "s3://bucket/1/models/m-9",
    ("speech", "4"): "mlflow-artifacts:/../secrets",
    ("speech", "5"): "mlflow-artifacts:/1/models/m-none",
}


class _Registry(Handler):
    wants = ""
    asked: list[str] = []
    hostile = ""
    folders = 0
    body = b""

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query))
        self.asked.append(parts.path)
        if self.headers.get("Authorization", "") != self.wants:
            return self.send_error(401)
        known: dict[str, Any] = {
            "/api/2.0/mlflow/registered-models/alias": self._alias,
            "/api/2.0/mlflow/model-versions/get-download-uri": self._place,
            "/api/2.0/mlflow-artifacts/artifacts": self._list,
        }
        file = unquote(parts.path.removeprefix("/api/2.0/mlflow-artifacts/artifacts/"))
        if file in FILES:
            return self.answer(200, FILES[file])
        if self.body:
            return self.answer(200, self.body)
        document = known[parts.path](query) if parts.path in known else None
        return self.send_error(404) if document is None else self.answer(200, json.dumps(document).encode())

    def _alias(self, query: dict[str, str]) -> object:
        return {"model_version": {"version": "1", "source": "x"}} if query["alias"] == "champion" else None

    def _place(self, query: dict[str, str]) -> object:
        place = PLACES.get((query["name"], query["version"]))
        return place and {"artifact_uri": place}

    def _list(self, query: dict[str, str]) -> object:
        if self.folders:
            return {"files": [{"path": f"{at}", "is_dir": True} for at in range(self.folders)]}
        if self.hostile:
            return {"files": [{"path": self.hostile, "is_dir": self.hostile == "deeper"}]}
        below = {
            file.removeprefix(query["path"] + "/").split("/")[0]
            for file in FILES
            if file.startswith(query["path"] + "/")
        }
        return (
            {"files": [{"path": name, "is_dir": "." not in name and name != "MLmodel"} for name in sorted(below)]}
            if below
            else {}
        )


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[_Registry]]:
    handler = type("Handler", (_Registry,), {"asked": []})
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    for name in ("MLFLOW_REGISTRY_URI", "MLFLOW_TRACKING_TOKEN", "MLFLOW_TRACKING_USERNAME", "ASSAY_SOURCE_TOKENS"):
        monkeypatch.delenv(name, raising=False)
    with serving(handler) as address:
        monkeypatch.setenv("MLFLOW_TRACKING_URI", f"{address}/")
        yield handler


@pytest.mark.parametrize("said", ["models:/speech/1", "models:/speech@champion", "models:/speech/1:net.onnx"])
def test_a_version_is_a_file_with_the_weights_that_it_names(said: str, registry: type[_Registry]) -> None:
    file = to_file(Path(said))
    folder = Path(file.path).parent
    assert sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.*")) == [
        "net.onnx",
        "parts/model.data",
    ]
    assert (file.named, file.sha256) == (said, sha256_bytes(MODEL))
    assert not any("other.data" in request or "MLmodel" in request for request in registry.asked)


@pytest.mark.usefixtures("registry")
def test_a_model_in_a_folder_below_is_named() -> None:
    assert Path(to_file("models:/speech/2:below/b.onnx").path).read_bytes() == b"b"


@pytest.mark.usefixtures("registry")
@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ("models:/speech", "names no model of a registry: write models:/NAME/VERSION"),
        ("models:/speech/latest", "names no model of a registry"),
        ("models:/speech/9", r"has no such model: give .*get-download-uri\S* cannot be fetched \(HTTP 404"),
        ("models:/speech@none", "has no such model: give a name, a version or an alias that it lists"),
        ("models:/speech/2", r"has 2 ONNX files: name one, models:/speech/2:a\.onnx"),
        ("models:/speech/1:no.onnx", r"version 1 has no file no\.onnx; it has MLmodel, net\.onnx"),
        ("models:/speech/3", r"do not lie with the server \(s3:\.\.\.\)"),
        ("models:/speech/4", "do not lie with the server"),
        ("models:/speech/5", "has no ONNX file; it has no file"),
    ],
)
def test_what_is_wrong_is_one_sentence(said: str, sentence: str) -> None:
    with pytest.raises(BadModel, match=sentence) as raised:
        to_file(said)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("name", ["..", "deeper", "a\0.onnx"])
def test_a_listing_leads_nowhere_else(name: str, registry: type[_Registry], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "hostile", name)
    with pytest.raises(BadModel, match="which is no file of the model"):
        to_file("models:/speech/1")


def test_a_listing_ends(registry: type[_Registry], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "folders", 4_000)
    with pytest.raises(BadModel, match="lists more than 10000 files and folders"):
        to_file("models:/speech/1")
    assert sum(request.endswith("/artifacts") for request in registry.asked) == 3


def test_a_listing_that_is_deep_json_is_one_sentence(
    registry: type[_Registry], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "body", b'{"files": ' + b"[" * 100_000)
    with pytest.raises(BadModel, match="answers otherwise than a server of MLflow does"):
        to_file("models:/speech/1")


def test_credentials_are_those_of_mlflow(registry: type[_Registry], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "wants", "Basic dTpw")
    with pytest.raises(BadModel, match="HTTP 401"):
        to_file("models:/speech/1")
    monkeypatch.setenv("MLFLOW_TRACKING_USERNAME", "u")
    monkeypatch.setenv("MLFLOW_TRACKING_PASSWORD", "p")
    assert to_file("models:/speech/1").sha256 == sha256_bytes(MODEL)
    monkeypatch.setattr(registry, "wants", "Bearer secret")
    monkeypatch.setenv("MLFLOW_TRACKING_TOKEN", "secret")
    assert to_file("models:/speech/1").sha256 == sha256_bytes(MODEL)


@pytest.mark.parametrize(
    "server",
    [
        "",
        "mysql+pymysql://u:S3cret@db.example/m",
        "http://u:S3cret@registry.example",
        "https://u:S3cret@registry.example",
    ],
)
def test_the_registry_is_a_server_that_can_be_trusted(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    monkeypatch.delenv("MLFLOW_REGISTRY_URI", raising=False)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", server)
    with pytest.raises(BadModel, match=r"in which registry|everybody on the way|holds a user or a password") as said:
        to_file("models:/speech/1")
    assert "S3cret" not in str(said.value)
