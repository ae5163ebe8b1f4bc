"""What the zoo's robot costs: idle memory, submissions an hour.

`python benchmarks/robot.py [--submissions 4]`. The robot is a process of its own, with SQLite,
one worker and the sandbox; the forge is the one of the tests, in this process.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests" / "robot"), str(ROOT / "examples" / "zoo" / "broken")]

import build  # noqa: E402
import good  # noqa: E402
import httpx  # noqa: E402
import psutil  # noqa: E402
from fake_github import FakeGithub  # noqa: E402
from live_server import serving  # noqa: E402
from repositories import commit_tree, git  # noqa: E402

TOKEN, REPOSITORY = "token-of-the-benchmark", "zoo/models"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--submissions", type=int, default=4)
    parser.add_argument("--nice", type=int, default=0, help="of the robot, where the machine has other work")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="robot-") as name:
        folder = Path(name)
        fake = FakeGithub(REPOSITORY, token=TOKEN)
        repository = make_repository(folder)
        with serving(fake.app()) as forge:
            robot, address = start(folder, forge, asked.nice)
            try:
                measure(asked, folder, fake, repository, robot, address)
            finally:
                robot.terminate()
                robot.wait(30)


def measure(
    asked: argparse.Namespace,
    folder: Path,
    fake: FakeGithub,
    repository: Path,
    robot: subprocess.Popen[bytes],
    address: str,
) -> None:
    time.sleep(5)
    process = psutil.Process(robot.pid)
    print(f"load {os.getloadavg()[0]:.1f}")
    print(
        f"idle robot: {process.memory_info().rss / 1e6:.0f} MB resident, {process.memory_full_info().uss / 1e6:.0f} MB its own"
    )
    used = process.cpu_times()
    print(f"processor time of the robot so far: {used.user + used.system:.1f} s")

    shas = [submit(folder, repository, f"digits-{number}") for number in range(asked.submissions)]
    begin = time.monotonic()
    for number, sha in enumerate(shas, start=1):
        fake.add_pull(number, sha)
    while (now := state(address))["decided"] < asked.submissions:
        time.sleep(0.5)
    seconds = time.monotonic() - begin
    used = process.cpu_times()
    print(f"load {os.getloadavg()[0]:.1f}")
    print(
        f"{asked.submissions} submissions in {seconds:.1f} s: {3600 * asked.submissions / seconds:.0f} an hour; {now['answers']}"
    )
    mine, children = used.user + used.system, (used.children_user + used.children_system) / asked.submissions
    print(f"robot after the work: {process.memory_info().rss / 1e6:.0f} MB resident, {mine:.1f} s of processor time")
    print(f"inspections: {children:.1f} s of processor time a submission")


def prefer(pid: int, nice: int) -> None:
    """For a session of its own: Linux shares the processor among sessions first, so that nice alone says little."""
    group = Path(f"/proc/{pid}/autogroup")
    if nice and group.exists():
        group.write_text(f"{nice}\n")


def state(address: str) -> dict[str, Any]:
    counts = httpx.get(f"{address}/queue.json", timeout=30).json()["counts"]
    return {"running": counts["running"], "decided": sum(counts["answers"].values()), "answers": counts["answers"]}


def make_repository(folder: Path) -> Path:
    build.build(folder / "built", None)
    repository = folder / "zoo.git"
    repository.mkdir()
    git(repository, "init", "-q", "--bare", "-b", "main")
    commit(folder / "built", repository, "refs/heads/main", base=False, without="submissions")
    return repository


def submit(folder: Path, repository: Path, name: str) -> str:
    work = folder / f"submitted-{name}"
    target = work / "submissions" / name
    good.write(target)
    for file in (target / "metadata.toml", target / "README.md"):
        file.write_text(file.read_text().replace(f'name = "{good.NAME}"', f'name = "{name}"'))
    return commit(work, repository, f"refs/pull/{int(name.rpartition('-')[2]) + 1}/head", base=True)


def commit(work: Path, repository: Path, ref: str, *, base: bool, without: str = "") -> str:
    index = {
        **os.environ,
        "GIT_DIR": str(repository),
        "GIT_WORK_TREE": str(work),
        "GIT_INDEX_FILE": str(repository / "index"),
    }
    subprocess.run(["git", "read-tree", *(["main"] if base else ["--empty"])], env=index, check=True)
    paths = [path.name for path in work.iterdir() if path.name not in (without, ".assay")]
    subprocess.run(["git", "add", "--force", *paths], env=index, cwd=work, check=True)
    tree = subprocess.run(["git", "write-tree"], env=index, check=True, capture_output=True, text=True).stdout.strip()
    return commit_tree(repository, ref, tree, base=base)


def start(folder: Path, forge: str, nice: int) -> tuple[subprocess.Popen[bytes], str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "token").write_text(TOKEN)
    config = folder / "robot.toml"
    config.write_text(
        f'listen = "127.0.0.1:{port}"\n[zoo]\nrepository = "zoo.git"\n[github]\nrepository = "{REPOSITORY}"\n'
        f'api = "{forge}"\npoll_s = 1.0\ntoken = {{ file = "token" }}\n'
    )
    log = (folder / "log").open("wb")
    robot = subprocess.Popen(
        [sys.executable, "-m", "assay", "zoo", "robot", "--config", str(config)], stderr=log, start_new_session=True
    )
    prefer(robot.pid, nice)
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if httpx.get(f"{address}/readyz").status_code == 200:
                return robot, address
        except httpx.HTTPError:
            pass
        assert robot.poll() is None, (folder / "log").read_text()
        time.sleep(0.1)
    raise SystemExit("the robot did not come up")


if __name__ == "__main__":
    main()
