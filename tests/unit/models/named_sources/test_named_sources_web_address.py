"""Models at an address: their digest, tokens and deadlines."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from named_source_servers import Files, to_file

from assay.core.digest import sha256_bytes
from assay.errors import BadModel
from assay.models.named_sources import to_file as fetched
from assay.models.named_sources import tokens, wanted, web_address
from http_server import Handler, serving


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, dict[str, str | None]]]:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    seen: dict[str, str | None] = {}
    with serving(type("Handler", (Files,), {"seen": seen})) as server:
        yield server, seen


DIGEST = sha256_bytes(b"a model")


def test_an_address_with_a_digest(served: tuple[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    server, _ = served
    for name in ("m", "moved"):
        named_file = fetched(Path(f"{server}/{name}.onnx#sha256={DIGEST}"))
        assert (Path(named_file.path).read_bytes(), named_file.sha256) == (b"a model", DIGEST)
    for name, sentence in {
        f"m.onnx#sha256={'0' * 64}": "the file was changed, or the digest is wrong",
        f"none.onnx#sha256={DIGEST}": r"cannot be fetched \(HTTP 404",
        f"open.onnx#sha256={DIGEST}": "http://example.invalid is read and changed by everybody",
        f"file.onnx#sha256={DIGEST}": "names no host|cannot be fetched",
    }.items():
        with pytest.raises(BadModel, match=sentence):
            to_file(f"{server}/{name}")
    monkeypatch.setattr(wanted, "MOST_BYTES", 3)
    with pytest.raises(BadModel, match="is larger than"):
        to_file(f"{server}/m.onnx#sha256={DIGEST}")


def test_a_token_is_shown_to_its_own_host_alone(
    served: tuple[str, dict[str, str | None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, seen = served
    monkeypatch.setenv(tokens.TOKENS, "127.0.0.1=secret")
    to_file(f"{server}/moved.onnx#sha256={DIGEST}")
    assert seen["/m.onnx"] == "Bearer secret"
    to_file(f"{server}/elsewhere.onnx#sha256={DIGEST}")
    assert (seen["/elsewhere.onnx"], seen["/m.onnx"]) == ("Bearer secret", None)


def test_what_takes_too_long_is_given_up(served: tuple[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wanted, "TIMEOUT_S", 0.0)
    with pytest.raises(BadModel, match="took longer than 0 s"):
        to_file(f"{served[0]}/m.onnx#sha256={DIGEST}")


@pytest.mark.parametrize("head", [b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.0 200 OK\r\nX-Slow: ", b""])
@pytest.mark.parametrize("period_s", [0.05, 60.0])
def test_the_deadline_holds_for_an_answer_that_drips_or_is_silent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: bytes, period_s: float
) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(wanted, "TIMEOUT_S", 0.3)
    over = threading.Event()

    class Slow(Handler):
        def do_GET(self) -> None:
            try:
                self.wfile.write(head)
                for _ in range(100):
                    if over.wait(period_s):
                        break
                    self.wfile.write(b"x")
            except OSError:
                pass

    with serving(Slow) as server:
        begun = time.monotonic()
        with pytest.raises(BadModel, match=r"took longer than 0\.3 s"):
            to_file(f"{server}/m.onnx#sha256={DIGEST}")
        taken = time.monotonic() - begun
        over.set()
    assert taken < 30.0


def test_a_file_is_called_by_its_last_name_alone() -> None:
    assert [web_address.name_of(path) for path in ("/a/m.onnx", "/..", "", "/a/")] == [
        "m.onnx",
        "model.onnx",
        "model.onnx",
        "a",
    ]


def test_a_file_of_the_cache_of_hugging_face(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    repository = tmp_path / "hub" / "models--owner--name"
    for path, text in (
        ("refs/main", "c0ffee"),
        ("snapshots/c0ffee/onnx/m.onnx", "net of m.onnx_data"),
        ("snapshots/c0ffee/onnx/other.onnx_data", "no"),
        ("snapshots/c0ffee/onnx/m.onnx_data", "w"),
    ):
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_text(text)
    file = to_file("hf:owner/name@main:onnx/m.onnx")
    assert sorted(path.name for path in file.parent.iterdir()) == ["m.onnx", "m.onnx_data"]
