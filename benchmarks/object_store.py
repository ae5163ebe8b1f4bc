"""One large file and many small ones to a real S3 server and back, beside curl by the same gateway and the server's own client, which asks
no gateway and no credentials (down: curl)."""

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

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from assay.models.files import file_digest
from assay.stores.object_blobs import ObjectBlobs
from object_server import KEY, SECRET, _command, _wait

SIDE_BY_SIDE = 8
NAMES = ("assay", "curl", "its own client")


def timed(work: Callable[[], object]) -> float:
    began = time.monotonic()
    work()
    return time.monotonic() - began


def large(weed: str, filer: str, blobs: ObjectBlobs, folder: Path, size: int) -> None:
    path, back, place = folder / "large", folder / "back", f"{filer}/own/{uuid4().hex}"
    with path.open("wb") as file:  # another content each time: nothing of it is there
        for _ in range(size // 2**20):
            file.write(os.urandom(2**20))
    digest = file_digest(path)
    ours = timed(lambda: blobs.put(path, digest)), timed(lambda: blobs.fetch(digest, back))
    blobs.remove([digest])
    signed = ["curl", "-sf", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{KEY}:{SECRET}"]
    signed += ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", f"{os.environ['AWS_ENDPOINT_URL']}/assay/{uuid4().hex}"]
    by_curl = (
        timed(lambda: subprocess.run([*signed, "-T", path], check=True)),
        timed(lambda: subprocess.run([*signed, "-o", back], check=True)),
    )
    subprocess.run([*signed, "-X", "DELETE"], check=True)
    own_up = timed(lambda: subprocess.run([weed, "filer.copy", path, f"{place}/"], check=True, capture_output=True))
    plain = re.sub(r"(:\d+)\.\d+/", r"\1/", place)  # it has the port of the filer's own protocol, too
    own_down = timed(lambda: subprocess.run(["curl", "-sf", "-o", back, f"{plain}/large"], check=True))
    assert file_digest(back) == digest
    rates = [f"{size / 1e6 / seconds:.0f}" for seconds in (*ours, *by_curl, own_up, own_down)]
    said = "; ".join(
        f"{name} up {up}, down {down} MB/s" for name, up, down in zip(NAMES, rates[::2], rates[1::2], strict=True)
    )
    print(f"{size / 1e9:.2f} GB: {said}", flush=True)


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
                large(weed, filer, blobs, folder, arguments.mebibytes * 2**20)
            blobs.close()
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    main()
