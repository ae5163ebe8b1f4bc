"""Whatever a service does to its client is one sentence, of the right kind."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.endpoints.connection import KEY, Connection, endpoint_key
from assay.endpoints.openai import OpenAi, Vocabulary
from assay.errors import AssayError, EndpointBroke, EndpointFailed, UsageError
from scripted_server import answering, whole
from served_model import client, serving


def _sentence(error: pytest.ExceptionInfo[BaseException]) -> str:
    text = str(error.value)
    assert "\n" not in text
    return text


def test_nothing_listens() -> None:
    with pytest.raises(EndpointFailed) as error:
        client("http://127.0.0.1:9/v1")
    assert _sentence(error) == (
        "nothing answers at http://127.0.0.1:9/v1 ([Errno 111] Connection refused): start the service, or correct its address"
    )


def test_no_address() -> None:
    with pytest.raises(UsageError, match="'ftp://there' is no address of a service"):
        Connection("ftp://there")


def test_it_is_slow() -> None:
    with serving(troubles=("slow",), slow_s=2.0) as address:
        service = client(address, timeout_s=0.2)
        with pytest.raises(EndpointFailed) as error:
            service.complete([1, 2], 1)
    assert error.value.late
    assert "did not answer in 0.2 s" in _sentence(error)


def test_it_is_busy_now_and_then() -> None:
    with serving(troubles=("busy",)) as address:
        service = client(address)
        assert [len(service.complete([1, 2], 1).ids or ()) for _ in range(12)] == [1] * 12


def test_it_is_always_unavailable() -> None:
    with serving(troubles=("unavailable",)) as address, pytest.raises(EndpointFailed) as error:
        client(address).complete([1, 2], 1)
    assert "was busy 5 times (status 503: the model is being loaded)" in _sentence(error)


def test_another_model() -> None:
    with serving() as address, pytest.raises(UsageError) as error:
        client(address, model="huge")
    assert "serves no model 'huge'; it serves tiny" in _sentence(error)


def test_a_prompt_beyond_the_context_and_a_token_beyond_the_vocabulary() -> None:
    with serving() as address:
        service = client(address)
        with pytest.raises(UsageError) as error:
            service.complete([1] * 300, 1)
        assert "maximum context length is 256 tokens" in _sentence(error)
        with pytest.raises(UsageError, match="Token id 9999 is out of vocabulary"):
            service.complete([9999], 1)


def test_a_stream_that_is_cut_off() -> None:
    with serving(troubles=("truncated",)) as address:
        service = client(address)
        with pytest.raises(EndpointBroke) as error:
            service.complete([1, 2], 8, stream=True)
    assert "events" in _sentence(error) or "went away" in _sentence(error)


@pytest.mark.parametrize(
    ("host", "age_days", "trusted", "sentence"),
    [
        (
            "127.0.0.1",
            0,
            False,
            "its certificate is not trusted (self-signed certificate): name the file of its authority in SSL_CERT_FILE",
        ),
        ("127.0.0.1", 30, True, "its certificate has expired (certificate has expired): have it renewed"),
        ("127.0.0.1", -30, True, "its certificate is not valid yet (certificate is not yet valid): set the clock"),
        ("127.0.0.9", 0, True, "its certificate is for another host (IP address mismatch"),
    ],
)
def test_a_certificate_that_is_none_for_us(
    host: str, age_days: int, trusted: bool, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with _tls_server(tmp_path, host, age_days) as port, pytest.raises(EndpointFailed) as error:
        Connection(f"https://127.0.0.1:{port}/v1").get("/models")
    assert sentence in _sentence(error)


def test_a_certificate_that_is_trusted_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the same server, of the right host and day."""
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
    with _tls_server(tmp_path, "127.0.0.1", 0) as port, pytest.raises(EndpointFailed) as error:
        Connection(f"https://127.0.0.1:{port}/v1").get("/models")
    assert "certificate" not in _sentence(error)


def test_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no file; give the tokenizer"):
        Vocabulary(str(tmp_path / "none.json"))


ANSWERS = {
    "not JSON": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", EndpointBroke, "which is not JSON"),
    "another protocol": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        EndpointBroke,
        "missing required field `data`",
    ),
    "no entry": (b"HTTP/1.1 401 No\r\nContent-Length: 2\r\n\r\n{}", UsageError, "put its key into ASSAY_ENDPOINT_KEY"),
    "a fault": (b"HTTP/1.1 500 No\r\nContent-Length: 2\r\n\r\nxx", EndpointBroke, "failed (status 500): xx"),
    "cut short": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        EndpointFailed,
        "IncompleteRead(1 bytes read, 98 more expected)",
    ),
    "nested": (whole("200 OK", b"[" * 100_000), EndpointBroke, "which is not JSON"),
    "a nested refusal": (whole("400 No", b"[" * 100_000), UsageError, "refuses the request (status 400): [[["),
    "no HTTP": (b"220 mail\r\n", EndpointFailed, "nothing answers"),
}


@pytest.mark.parametrize("what", ANSWERS)
def test_it_answers_otherwise(what: str) -> None:
    content, kind, sentence = ANSWERS[what]
    with (
        answering(content) as port,
        contextlib.closing(Connection(f"http://127.0.0.1:{port}/v1", timeout_s=60.0)) as connection,
        pytest.raises(kind) as error,
    ):
        OpenAi(connection, "", Vocabulary(""))
    assert sentence in _sentence(error)


@contextmanager
def _tls_server(folder: Path, host: str, age_days: int) -> Iterator[int]:
    """Valid for a day, which began so long ago; it goes away behind the handshake."""
    import datetime
    import ssl
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    today = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=age_days)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    built = built.not_valid_before(today).not_valid_after(today + datetime.timedelta(days=1))
    built = built.add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(host))]), critical=True)
    (folder / "cert.pem").write_bytes(built.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "key.pem").write_bytes(private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer() -> None:
            try:
                other, _ = listening.accept()
                context.wrap_socket(other, server_side=True).close()
            except OSError:
                pass

        threading.Thread(target=answer, daemon=True).start()
        yield listening.getsockname()[1]


SECRET = "sk-a-secret-word"


@pytest.mark.parametrize("odd", ["\n", "\x00", "\u2603"])
def test_a_key_that_cannot_be_sent_is_not_shown(odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {KEY: f"{SECRET}{odd}x"})
    with pytest.raises(UsageError) as error:
        endpoint_key()
    assert SECRET not in str(error.value)
    assert f"character {len(SECRET) + 1} of {KEY}" in str(error.value)


def test_what_is_around_a_key_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY, f" {SECRET}\n")
    assert endpoint_key() == SECRET


@pytest.mark.parametrize("status", ["200 OK", "401 No", "500 No"])
def test_a_key_that_a_server_repeats_is_not_shown(status: str) -> None:
    said = f"your key {SECRET} is bad".encode()
    content = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status.encode(), len(said), said)
    with answering(content) as port, pytest.raises(AssayError) as error:
        Connection(f"http://127.0.0.1:{port}/v1", timeout_s=60.0, key=SECRET).get("/models")
    assert "your key (key) is bad" in str(error.value)
