"""When the robot starts, and when it says that it is not ready."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import make_zoo, put
from served_robot import robot_toml

from assay.cli.main import main
from assay.errors import HarnessError, UsageError
from assay.launch.sandbox.bubblewrap import Bubblewrap
from assay_zoo.robot.config import load_robot
from assay_zoo.robot.service import Service


def test_two_robots_do_not_share_a_folder(tmp_path: Path) -> None:
    make_zoo(tmp_path / "zoo.git")
    config = load_robot(robot_toml(tmp_path))
    first = Service(config)
    with pytest.raises(UsageError, match="another robot works in"):
        Service(config)
    first.close()
    Service(config).close()


def test_without_a_sandbox_nothing_starts_unless_the_operator_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_zoo(tmp_path / "zoo.git")
    monkeypatch.setattr("assay_zoo.robot.service.Bubblewrap", lambda: Bubblewrap("bwrap-that-is-not-there"))
    path = robot_toml(tmp_path)
    Service(load_robot(path)).close()
    path.write_text(path.read_text().replace('sandbox = "optional"', ""))
    with pytest.raises(HarnessError, match="there is no sandbox for the code of submissions"):
        Service(load_robot(path))


def test_readiness_has_reasons(tmp_path: Path) -> None:
    make_zoo(tmp_path / "zoo.git")
    service = Service(load_robot(robot_toml(tmp_path)))
    assert service.health.ready() == {}
    (tmp_path / "zoo.git").rename(tmp_path / "gone.git")
    service.health._at = -1e9
    assert set(service.health.ready()) == {"repository"}
    service.close()


@pytest.mark.parametrize(
    ("policy", "missing"),
    [('packages = ["numpy", "no_such_package"]', True), ('packages = ["numpy"]', False), ("packages = 3", False)],
)
def test_packages_that_the_zoo_allows_and_the_machine_lacks_are_told_at_the_check(
    policy: str, missing: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_zoo(tmp_path / "zoo.git", {"zoo.toml": f'name = "tiny"\n{policy}\n'})
    with pytest.raises(SystemExit) as ended:
        main(["zoo", "robot", "--config", str(robot_toml(tmp_path)), "--check"])
    printed = capsys.readouterr().out
    assert not ended.value.code
    assert printed.splitlines()[-1].startswith("ready: ")
    assert ("packages: no_such_package: zoo.toml allows them" in printed) == missing


def test_locks_of_a_killed_git_do_not_stop_the_next_robot(tmp_path: Path) -> None:
    make_zoo(tmp_path / "zoo.git")
    config = load_robot(robot_toml(tmp_path))
    first = Service(config)
    base = first.mirror.fetch_base()
    first.close()
    put(tmp_path / "zoo.git", "refs/heads/main", {"more": "1"})
    (tmp_path / "robot/mirror.git/refs/assay/base.lock").touch()
    (tmp_path / "robot/history/zoo-left").mkdir(parents=True)
    second = Service(config)
    assert second.mirror.fetch_base() != base
    assert list((tmp_path / "robot/history").iterdir()) == []
    second.close()
