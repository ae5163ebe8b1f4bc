"""robot.toml, read into frozen values, with its secrets taken from where they lie."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from assay.config.alert_rules import alert_rules
from assay.config.toml_errors import Place, TomlFile, read
from assay.config.toml_schema import AddressFile, AlertsFile
from assay.core.alert import AlertRules
from assay.errors import BadPolicy, UsageError
from assay_zoo.robot.config_schema import (
    GithubTable,
    GitlabTable,
    GitTable,
    LimitsTable,
    RobotFile,
    SecretPlace,
    ZooTable,
)

_SHORTEST_SECRET = 16


class Secret:
    """A text that shows itself to nobody who does not ask for it."""

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return "Secret(***)"


@dataclass(frozen=True, kw_only=True)
class RobotConfig:
    """All of robot.toml. Paths are absolute; `source` is the one table of git, github and gitlab that is there."""

    path: Path
    host: str
    port: int
    public_url: str
    data: Path
    database: str = field(repr=False)
    history: str = field(repr=False)
    workers: int
    demand_sandbox: bool
    zoo: ZooTable
    source: GitTable | GithubTable | GitlabTable
    limits: LimitsTable
    source_secret: Secret | None = None
    operator: Secret | None = None
    alerts: AlertRules | None = None
    hidden: tuple[str, ...] = ()
    """Variables that hold secrets."""


def load_robot(path: Path) -> RobotConfig:
    """Read and validate robot.toml; relative paths in it are relative to its folder.

    Raises UsageError (BadPolicy) with one sentence a line: file, line, key, what to do. No sentence holds a secret.
    """
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file; docs/robot.md shows a robot.toml of ten lines")
    text = read(path)
    parsed = text.validate(RobotFile)
    beside = path.absolute().parent
    secrets = _Secrets(text, beside)
    host, _, port = parsed.listen.rpartition(":")
    if int(port) > 65535:
        raise BadPolicy(text.sentence(("listen",), f"names port {port}: ports go up to 65535"))
    data = beside / parsed.data
    return RobotConfig(
        path=path.absolute(),
        host=host.strip("[]"),
        port=int(port),
        public_url=parsed.public_url,
        data=data,
        database=_beside(beside, parsed.database) or str(data / "robot.db"),
        history=_beside(beside, parsed.history) or str(data / "history"),
        workers=parsed.workers,
        demand_sandbox=parsed.sandbox == "demand",
        zoo=_zoo(parsed, text, beside),
        source=_source(parsed, text),
        limits=parsed.limits,
        source_secret=_source_secret(parsed, secrets),
        operator=secrets.maybe(
            ("operator", "token"), parsed.operator.token if parsed.operator else None, shortest=_SHORTEST_SECRET
        ),
        alerts=_alerts(parsed.alerts, secrets, text, beside),
        hidden=secrets.variables(),
    )


def _beside(beside: Path, location: str) -> str:
    return location if not location or "://" in location else str(beside / location)


def _source(parsed: RobotFile, text: TomlFile) -> GitTable | GithubTable | GitlabTable:
    there = [table for table in (parsed.git, parsed.github, parsed.gitlab) if table is not None]
    names = [name for name in ("git", "github", "gitlab") if getattr(parsed, name) is not None]
    if len(there) > 1:
        raise BadPolicy(text.sentence((names[1],), f"stands beside [{names[0]}]: a robot has one source, remove one"))
    return there[0] if there else GitTable()


def _source_secret(parsed: RobotFile, secrets: _Secrets) -> Secret | None:
    if parsed.github:
        return secrets.read(("github", "token"), parsed.github.token)
    return secrets.maybe(("gitlab", "token"), parsed.gitlab.token if parsed.gitlab else None)


def _zoo(parsed: RobotFile, text: TomlFile, beside: Path) -> ZooTable:
    place = ("zoo", "repository")
    repository = parsed.zoo.repository
    if not repository and parsed.github and parsed.github.api == "https://api.github.com":
        repository = f"https://github.com/{parsed.github.repository}.git"
    if not repository and parsed.gitlab and not parsed.gitlab.project.isdigit():
        repository = f"{parsed.gitlab.api.rstrip('/')}/{parsed.gitlab.project}.git"
    if not repository:
        raise BadPolicy(text.sentence(place, "is missing: give the path or the address of the zoo"))
    if repository.startswith(("-", "ext::")):
        raise BadPolicy(text.sentence(place, f"must be a path or an address, not {repository!r}"))
    if "://" in repository and urlsplit(repository).password:
        raise BadPolicy(text.sentence(place, "holds a password: give it as the token of the source instead"))
    if "://" not in repository and not _is_scp(repository):
        repository = str((beside / repository).resolve())
    return parsed.zoo.model_copy(update={"repository": repository})


def _alerts(parsed: AlertsFile, secrets: _Secrets, text: TomlFile, beside: Path) -> AlertRules | None:
    """As in assay.toml, but for addresses in the file itself, and for keys that speak of runs."""
    for key, why in (
        ("report-url", "has no meaning here: messages link to the robot's page, below `public_url`"),
        ("trend-metrics", "has no meaning here: the robot watches submissions, no metrics of runs"),
    ):
        if key in text.data.get("alerts", {}):
            raise BadPolicy(text.sentence(("alerts", key), f"{why}; remove it"))
    for number, target in enumerate(parsed.target):
        place = ("alerts", "target", number, "url")
        if not isinstance(target.url, AddressFile):
            sentence = 'must be { file = "PATH" } or { env = "NAME" }: no secret is written here'
            raise BadPolicy(text.sentence(place, sentence))
        secrets.read(
            place, SecretPlace.model_validate({"env": target.url.env} if target.url.env else {"file": target.url.file})
        )
    if parsed.only_with and not os.environ.get(parsed.only_with):
        return None
    return alert_rules(beside, parsed)


def _is_scp(repository: str) -> bool:
    """git@host:path, which is no path."""
    host, colon, _ = repository.partition(":")
    return bool(colon) and "/" not in host


class _Secrets:
    def __init__(self, text: TomlFile, beside: Path) -> None:
        self._text, self._beside = text, beside
        self._variables: list[str] = []

    def variables(self) -> tuple[str, ...]:
        """Those that secrets were read from so far."""
        return tuple(self._variables)

    def maybe(self, place: Place, where: SecretPlace | None, *, shortest: int = 1) -> Secret | None:
        return self.read(place, where, shortest=shortest) if where else None

    def read(self, place: Place, where: SecretPlace, *, shortest: int = 1) -> Secret:
        """Raises BadPolicy where the secret is not there, or is too short to be one."""
        value = self._of_environment(place, where.env) if where.env else self._of_file(place, where.file)
        if len(value) < shortest:
            text = f"leads to a secret of {len(value)} characters: take one of at least {shortest}"
            raise BadPolicy(self._text.sentence(place, text))
        return Secret(value)

    def _of_environment(self, place: Place, name: str) -> str:
        value = os.environ.get(name, "").strip()
        self._variables.append(name)
        if not value:
            raise BadPolicy(self._text.sentence(place, f"names the variable {name}, which is not set"))
        return value

    def _of_file(self, place: Place, name: str) -> str:
        path = self._beside / name
        try:
            return path.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is no text"
            raise BadPolicy(self._text.sentence(place, f"names {path}, which cannot be read ({why})")) from None
