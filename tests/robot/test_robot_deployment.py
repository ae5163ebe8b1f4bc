"""The files of deploy/ name what there is: keys that the robot reads, extras of the package, flags of its command."""

from __future__ import annotations

import re
import shutil
import subprocess
import textwrap
import tomllib
from pathlib import Path

import pytest

from assay_zoo.robot.config import load_robot

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def test_robot_toml_is_read_by_the_robot() -> None:
    assert load_robot(DEPLOY / "robot.toml").demand_sandbox


def test_the_compose_files_own_robot_toml_is_read_by_the_robot(tmp_path: Path) -> None:
    text = (DEPLOY / "compose.yaml").read_text(encoding="utf-8")
    inline = re.search(r"^    content: \|\n((?:      .*\n|\n)+)", text, re.MULTILINE)
    assert inline
    (tmp_path / "robot.toml").write_text(textwrap.dedent(inline[1]), encoding="utf-8")
    read = load_robot(tmp_path / "robot.toml")
    assert read.database.startswith("postgresql")
    assert read.demand_sandbox
    assert f"127.0.0.1:{read.port}:{read.port}" in text


@pytest.mark.parametrize("name", ["Containerfile", "Containerfile.nvidia"])
def test_a_container_file_asks_for_extras_and_files_that_there_are(name: str) -> None:
    text = (DEPLOY / name).read_text(encoding="utf-8")
    extras = re.search(r"^ARG EXTRAS=(\S+)$", text, re.MULTILINE)
    assert extras
    known = tomllib.loads((ROOT / "packages/assay/pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert set(extras[1].split(",")) <= set(known)
    for copied in re.findall(r"^COPY (?!--from)(.+) \S+$", text, re.MULTILINE):
        assert all((ROOT / part).exists() for part in copied.split())
    assert "USER assay" in text.partition("ENTRYPOINT")[0]


def test_the_unit_is_one_that_systemd_reads(tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not installed")
    unit = tmp_path / "assay-robot.service"
    text = (DEPLOY / "assay-robot.service").read_text(encoding="utf-8")
    # The program that it starts is not installed where a test runs.
    unit.write_text(text.replace("/opt/assay/bin/assay ", "/bin/true "), encoding="utf-8")
    ended = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    # The sandbox is made of what these take away.
    for hardening in ("RestrictNamespaces", "PrivateUsers", "ProtectHostname", "ProtectKernelTunables", "ProtectProc"):
        assert not re.search(rf"^{hardening}=", text, re.MULTILINE)
