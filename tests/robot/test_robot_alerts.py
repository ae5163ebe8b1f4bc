"""[alerts] in robot.toml: one message for each cause, to a real HTTP endpoint; a target that is down loses nothing."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from live_server import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from submissions import failed, whole
from test_robot_config import written

from assay.commands.alerts import list_alerts
from assay.core.alert import AlertKind, AlertRules, AlertTarget, SecretText
from assay.errors import UsageError
from assay_zoo.check import Check, CheckOutcome
from assay_zoo.robot.alerting import Alerts, NotificationFailed
from assay_zoo.robot.config import load_robot
from assay_zoo.robot.queue_records import Whole

PAGE = "https://zoo.example/submissions/1"


class Team:
    """A chat: what came in, by the path that it came to."""

    def __init__(self) -> None:
        self.taken: list[tuple[str, str, str]] = []
        self.down: set[str] = set()
        self.address = ""

    async def take(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name in self.down:
            return PlainTextResponse("no", 503)
        body = await request.json()
        self.taken.append((name, body["title"], body["message"]))
        return PlainTextResponse("ok")

    def subjects(self, name: str = "team") -> list[str]:
        return [title for to, title, _ in self.taken if to == name]

    def alerts(self, folder: Path, *names: str) -> Alerts:
        targets = tuple(
            AlertTarget(name, SecretText(f"{self.address.replace('http', 'json', 1)}/{name}"), tuple(AlertKind))
            for name in names or ("team",)
        )
        return Alerts(AlertRules(targets), str(folder / "history"))


@pytest.fixture
def team() -> Iterator[Team]:
    chat = Team()
    with serving(Starlette(routes=[Route("/{name}", chat.take, methods=["POST"])])) as address:
        chat.address = address
        yield chat


def declined(check: str, identity: int, name: str = "digits") -> Whole:
    found = Check(name=check, outcome=CheckOutcome.FAILED, sentence="it is not right")
    return whole("decline", checks=[found], reasons=[f"{check}: it is not right"], identity=identity, name=name)


def broken(identity: int, name: str) -> Whole:
    check = Check(name="robot.inspection", outcome=CheckOutcome.INFRASTRUCTURE, sentence="the disk is full")
    return whole("retry", checks=[check], reasons=["robot.inspection: the disk is full"], identity=identity, name=name)


def test_a_cause_is_told_once_and_its_recovery(team: Team, tmp_path: Path) -> None:
    alerts = team.alerts(tmp_path)
    alerts.tell(whole("decline", checks=failed(3, "<b>@everyone</b>"), reasons=["artifacts.readme: bad"]), PAGE)
    (text,) = [text for _, _, text in team.taken]
    assert team.subjects() == ["[zoo] blocked: digits on octocat:patch-1: declined (artifacts.readme)"]
    assert "aaaaaaaaaaaa of octocat:patch-1" in text
    assert f"Report: {PAGE}" in text
    alerts.tell(declined("artifacts.readme", 2), PAGE)
    assert len(team.taken) == 1, "a newer commit that is declined for the same is no news"
    alerts.tell(declined("accuracy.top1", 3), PAGE)
    assert team.subjects()[1:] == ["[zoo] blocked: digits on octocat:patch-1: declined (accuracy.top1)"]
    assert "Before  digits on octocat:patch-1: declined (artifacts.readme)" in team.taken[1][2]
    alerts.tell(whole("promote", promoted="c" * 40, identity=4), PAGE)
    alerts.tell(whole("promote", promoted="c" * 40, identity=4), PAGE)
    assert team.subjects()[2:] == ["[zoo] recovered: digits on octocat:patch-1: declined (accuracy.top1)"]


def test_the_command_of_a_message_mutes_as_it_stands(team: Team, tmp_path: Path) -> None:
    history = tmp_path / "the robot's"
    team.alerts(history).tell(declined("artifacts.readme", 1), PAGE)
    (mute,) = (line for line in team.taken[0][2].splitlines() if line.startswith("  assay alert mute "))
    program, *words = shlex.split(mute)
    subprocess.run([Path(sys.executable).parent / program, *words], cwd=tmp_path, check=True, timeout=60)
    (alert,) = list_alerts(str(history / "history"))
    assert alert.mute is not None


def test_a_machine_that_fails_is_told_once_for_all_that_it_stops(team: Team, tmp_path: Path) -> None:
    alerts = team.alerts(tmp_path)
    alerts.tell(broken(1, "digits"), PAGE)
    alerts.tell(broken(2, "faces"), PAGE)
    assert team.subjects() == ["[zoo] blocked: inspection on the robot: could not be checked (robot.inspection)"]
    alerts.tell(declined("artifacts.readme", 3, "faces"), PAGE)
    assert sorted(subject.partition(":")[0] for subject in team.subjects()[1:]) == ["[zoo] blocked", "[zoo] recovered"]


def test_an_accepted_model_that_did_not_get_in_is_told(team: Team, tmp_path: Path) -> None:
    team.alerts(tmp_path).tell(whole("promote", trouble="the branch moved on"), PAGE)
    assert team.subjects() == ["[zoo] blocked: digits on octocat:patch-1: accepted, but not promoted"]
    assert "the branch moved on" in team.taken[0][2]


def test_a_target_that_is_down_gets_it_later_and_the_others_once(team: Team, tmp_path: Path) -> None:
    team.down.add("pager")
    with pytest.raises(NotificationFailed, match=r"alert target 'pager' was not reached: .*503") as error:
        team.alerts(tmp_path, "pager", "team").tell(declined("artifacts.readme", 1), PAGE)
    assert team.address.rpartition(":")[2] not in str(error.value), "the address is a secret"
    assert (len(team.subjects("team")), len(team.subjects("pager"))) == (1, 0)
    team.down.clear()
    team.alerts(tmp_path, "pager", "team").send_waiting()  # as after a restart of the robot
    assert (len(team.subjects("team")), len(team.subjects("pager"))) == (1, 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[[alerts.target]]\nname = "a"\nurl = "mailto://u:p@x"', "'alerts.target[0].url' must be { file = "),
        ('[[alerts.target]]\nname = "a"\nurl = { env = "NOT_SET" }', "names the variable NOT_SET, which is not set"),
        ('[[alerts.target]]\nname = "a"', "'alerts.target[0].url' is missing"),
        ('[alerts]\nreport-url = "https://x"', "'alerts.report-url' has no meaning here: messages link to"),
        ("[alerts]\ntrend-metrics = []", "'alerts.trend-metrics' has no meaning here: the robot watches submissions"),
        ('[alerts]\nquiet-hours = "late"', "'alerts.quiet-hours' must be two times of the day"),
    ],
)
def test_what_is_wrong_is_told_in_one_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        load_robot(written(tmp_path, f'[zoo]\nrepository = "z"\n{text}\n'))
    assert message in str(error.value)
    assert "u:p" not in str(error.value)


def test_the_table_is_that_of_assay_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        '[zoo]\nrepository = "z"\n[alerts]\nquiet-hours = "20:00-07:00"\nonly-with = "ROBOT_TELLS"\n'
        '[[alerts.target]]\nname = "a"\nurl = { env = "TEAM_URL" }\non = ["block"]\n'
    )
    monkeypatch.setenv("TEAM_URL", "json://localhost:1/secret")
    assert load_robot(written(tmp_path, text)).alerts is None, "only-with names a variable that is not set"
    monkeypatch.setenv("ROBOT_TELLS", "1")
    config = load_robot(written(tmp_path, text))
    assert config.alerts is not None
    assert (config.alerts.quiet_hours, config.alerts.targets[0].on) == ((1200, 420), (AlertKind.BLOCK,))
    assert config.hidden == ("TEAM_URL",), "no child sees it"
