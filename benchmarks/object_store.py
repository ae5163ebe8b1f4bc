"""One large file and many small ones to a real S3 server and back, beside curl by the same gateway and the server's own client, which asks
no gateway and no credentials (down: curl). With the processor time of server and client: on cores that are all busy, a client can be as
much faster as these two together are less."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from assay.models.files import file_digest
from assay.stores.object_blobs import AT_ONCE, PART_BYTES, ObjectBlobs
from object_server import KEY, SECRET, _command, _wait

SIDE_BY_SIDE = 8
CURLS = 4


class Meter:
    """The clock, and the processor time of the server and of its clients: this process and those that it started."""

    def __init__(self, server: psutil.Process) -> None:
        self._server = server

    def take(self, size: int, work: Callable[[], object]) -> str:
        began, server_s, client_s = time.monotonic(), self._server_s(), _own_s()
        work()
        seconds = time.monotonic() - began
        return f"{size / 1e6 / seconds:.0f} MB/s ({self._server_s() - server_s:.1f} + {_own_s() - client_s:.1f} s)"

    def _server_s(self) -> float:
        return sum(self._server.cpu_times()[:2])


def _own_s() -> float:
    return sum(os.times()[:4])


def timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def large(weed: str, filer: str, blobs: ObjectBlobs, folder: Path, size: int, meter: Meter) -> None:
    """Of each way: the rate, and processor seconds of the server and of the client."""
    path, back, own = folder / "large", folder / "back", f"{filer}/own/{uuid4().hex}"
    with path.open("wb") as file:  # another content each time: nothing of it is there
        for _ in range(size // 2**20):
            file.write(os.urandom(2**20))
    digest = file_digest(path)
    up = {"assay": meter.take(size, lambda: blobs.put(path, digest))}
    down = {"assay, verified": meter.take(size, lambda: blobs.fetch(digest, back))}
    parts = parts_of_download(blobs, digest, back, size, meter)
    blobs.remove([digest])
    place = f"{os.environ['AWS_ENDPOINT_URL']}/assay/{uuid4().hex}"
    up["curl"] = meter.take(size, lambda: _curl(place, "-T", path))
    down["curl"] = meter.take(size, lambda: _curl(place, "-o", back))
    _curl(place, "-X", "DELETE")
    with path.open("rb") as file:
        pieces = [folder / f"part{number}" for number in range(CURLS)]
        for part in pieces:
            part.write_bytes(file.read(size // CURLS))
    places = [f"{os.environ['AWS_ENDPOINT_URL']}/assay/{uuid4().hex}" for _ in pieces]
    with ThreadPoolExecutor(CURLS) as threads:
        side_by_side = lambda: list(threads.map(lambda place, part: _curl(place, "-T", part), places, pieces))  # noqa: E731
        up[f"{CURLS} of curl side by side"] = meter.take(size, side_by_side)
    for place, part in zip(places, pieces, strict=True):
        _curl(place, "-X", "DELETE")
        part.unlink()
    copy = [weed, "filer.copy", path, f"{own}/"]
    up["its own client"] = meter.take(size, lambda: subprocess.run(copy, check=True, capture_output=True))
    plain = re.sub(r"(:\d+)\.\d+/", r"\1/", own)  # it has the port of the filer's own protocol, too
    down["curl without S3"] = meter.take(
        size, lambda: subprocess.run(["curl", "-sf", "-o", back, f"{plain}/large"], check=True)
    )
    assert file_digest(back) == digest
    for name, ways in (("up", up), ("down", down), ("of what Assay does down", parts)):
        print(f"{size / 1e9:.2f} GB {name}: {', '.join(f'{way} {rate}' for way, rate in ways.items())}", flush=True)


def parts_of_download(blobs: ObjectBlobs, digest: str, path: Path, size: int, meter: Meter) -> dict[str, str]:
    """Each by itself: what comes is dropped; it is written, too; the file is hashed."""

    def each(work: Callable[[int], object]) -> None:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for _ in threads.map(lambda start: bool(work(start)), range(0, size, PART_BYTES)):
                pass

    with path.open("wb") as file:
        written = meter.take(size, lambda: each(lambda start: blobs._bring_part(digest, start, size, file.fileno())))
    received = meter.take(size, lambda: each(lambda start: blobs._range(digest, start, min(size, start + PART_BYTES))))
    return {"received": received, "and written": written, "its digest": meter.take(size, lambda: file_digest(path))}


def _curl(place: str, *words: str | Path) -> None:
    signed = ["curl", "-sf", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{KEY}:{SECRET}"]
    subprocess.run([*signed, "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", place, *words], check=True)


def small(blobs: ObjectBlobs, folder: Path, count: int) -> None:
    paths = {}
    for number in range(count):
        path = folder / f"small{number}"
        path.write_bytes(os.urandom(4096))
        paths[file_digest(path)] = path
    with ThreadPoolExecutor(SIDE_BY_SIDE) as threads:
        up = timed(lambda: list(threads.map(lambda entry: blobs.put(entry[1], entry[0]), paths.items())))
        again = timed(lambda: blobs.sizes(list(paths)))
        down = timed(lambda: list(threads.map(lambda entry: blobs.fetch(entry[0], entry[1]), paths.items())))
    rates = [f"{count / seconds:.0f}" for seconds in (up, down, again)]
    print(
        f"{count} objects of 4 kB: up {rates[0]}, down {rates[1]}, asked whether they are there {rates[2]} a second",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", type=int, default=2000)
    arguments = parser.parse_args()
    weed = shutil.which("weed") or str(Path(sys.executable).with_name("weed"))
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "server").mkdir()
        command, address = _command(weed, folder / "server")
        command = [word.replace("-volume.max=8", "-volume.max=40") for word in command]
        ports = dict(word.partition("=")[::2] for word in command)
        filer = f"http://127.0.0.1:{ports['-filer.port']}.{ports['-filer.port.grpc']}"
        os.environ |= {"AWS_ENDPOINT_URL": address, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": KEY}
        os.environ["AWS_SECRET_ACCESS_KEY"] = SECRET
        with (folder / "log").open("w") as log:
            server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
        try:
            _wait(address, server, folder / "log")
            blobs = ObjectBlobs(f"s3://assay/{uuid4().hex}")
            print(f"load {os.getloadavg()[0]:.1f}")
            small(blobs, folder, arguments.small)
            for _ in range(arguments.rounds):
                large(weed, filer, blobs, folder, arguments.mebibytes * 2**20, Meter(psutil.Process(server.pid)))
            blobs.close()
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
