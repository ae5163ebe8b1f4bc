"""The keys of robot.toml, each with its default."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from assay.config.toml_schema import AlertsFile

Text = Annotated[str, Field(min_length=1)]
Positive = Annotated[float, Field(gt=0)]


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SecretPlace(_Table):
    """Where a secret is read from; robot.toml itself never holds one."""

    file: str = ""
    env: str = ""

    @model_validator(mode="before")
    @classmethod
    def _one(cls, value: Any) -> Any:
        # Before anything else looks at it: whatever stands here instead may be the secret, and is not to be repeated.
        if not isinstance(value, dict) or set(value) not in ({"file"}, {"env"}):
            raise ValueError('must be { file = "PATH" } or { env = "NAME" }: no secret is written here')
        return value


class ZooTable(_Table):
    """`repository` is a path or an address that git understands; "": the forge's own."""

    repository: str = ""
    branch: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._/-]*$")] = "main"
    promote: bool = True
    committer: Annotated[str, Field(pattern=r"^[^<>\n]+ <[^<>\s]+>$")] = "Assay robot <assay@localhost>"


class GitTable(_Table):
    """Branches of a plain repository, looked at every `poll_s` seconds; no account."""

    prefix: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._/-]*/$")] = "submission/"
    status: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._/-]*$")] = "assay-status"
    poll_s: Positive = 10.0


class GithubTable(_Table):
    """Pull requests."""

    repository: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")]
    api: Annotated[str, Field(pattern=r"^https?://")] = "https://api.github.com"
    token: SecretPlace
    poll_s: Positive = 60.0


class GitlabTable(_Table):
    """Merge requests."""

    project: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$|^\d+$")]
    api: Annotated[str, Field(pattern=r"^https?://")] = "https://gitlab.com"
    token: SecretPlace
    poll_s: Positive = 60.0


class OperatorTable(_Table):
    """Who has the token may have a submission checked again."""

    token: SecretPlace


class LimitsTable(_Table):
    """`attempts`: inspections that end without an answer before a person is asked; `taken`: the same for workers that did
    not come back. Seconds and bytes as the names say."""

    attempts: Annotated[int, Field(gt=0)] = 3
    taken: Annotated[int, Field(gt=0)] = 10
    retry_s: Annotated[float, Field(ge=0)] = 60.0
    lease_s: Annotated[float, Field(ge=3)] = 60.0
    check_s: Positive = 7200.0
    fetch_s: Positive = 900.0
    checkout_bytes: Annotated[int, Field(gt=0)] = 8_000_000_000
    checkout_files: Annotated[int, Field(gt=0)] = 20_000


class RobotFile(_Table):
    """robot.toml."""

    listen: Annotated[str, Field(pattern=r"^(\[[0-9a-fA-F:]+\]|[^:\s]+):\d{1,5}$")] = "127.0.0.1:8300"
    public_url: str = ""
    data: Text = "robot"
    database: str = ""
    history: str = ""
    workers: Annotated[int, Field(ge=0, le=256)] = 1
    sandbox: Literal["demand", "optional"] = "demand"
    zoo: ZooTable = ZooTable()
    git: GitTable | None = None
    github: GithubTable | None = None
    gitlab: GitlabTable | None = None
    operator: OperatorTable | None = None
    alerts: AlertsFile = AlertsFile()
    limits: LimitsTable = LimitsTable()

    @field_validator("public_url")
    @classmethod
    def _address(cls, value: str) -> str:
        if value and not value.startswith(("http://", "https://")):
            raise ValueError(f"must begin with https:// or http://, not {value!r}")
        return value.rstrip("/")
