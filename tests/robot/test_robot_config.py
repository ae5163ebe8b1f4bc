"""robot.toml: what it may say, and the sentence for each thing that it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import UsageError
from assay_zoo.robot.config import load_robot
from assay_zoo.robot.config_schema import GithubTable, GitTable

LONG = "0123456789abcdef-secret"


def written(folder: Path, text: str) -> Path:
    (folder / "robot.toml").write_text(text)
    (folder / "secret").write_text(LONG + "\n")
    (folder / "short").write_text("abc")
    return folder / "robot.toml"


def test_two_lines_are_enough(tmp_path: Path) -> None:
    config = load_robot(written(tmp_path, '[zoo]\nrepository = "zoo.git"\n'))
    assert isinstance(config.source, GitTable)
    assert config.zoo.repository == str(tmp_path / "zoo.git")
    assert (config.host, config.port, config.workers) == ("127.0.0.1", 8300, 1)
    assert config.database == str(tmp_path / "robot" / "robot.db")
    assert config.demand_sandbox


def test_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOO_TOKEN", "another-0123456789")
    config = load_robot(
        written(
            tmp_path,
            """
listen = "[::1]:80"
public_url = "https://zoo.example/"
database = "postgresql+psycopg://robot@db/robot"
workers = 4
[github]
repository = "zoo/models"
token = { env = "ZOO_TOKEN" }
[operator]
token = { file = "secret" }
""",
        )
    )
    assert isinstance(config.source, GithubTable)
    assert config.zoo.repository == "https://github.com/zoo/models.git"
    assert (config.host, config.port, config.public_url) == ("::1", 80, "https://zoo.example")
    assert config.source_secret is not None
    assert config.source_secret.reveal() == "another-0123456789"
    assert config.hidden == ("ZOO_TOKEN",)
    assert LONG not in repr(config)
    assert "another-0123456789" not in repr(config)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "'zoo.repository' is missing: give the path or the address of the zoo"),
        ('[zoo]\nrepository = "https://u:pass@x/z.git"', "line 2: 'zoo.repository' holds a password: give it as the token"),
        ('[zoo]\nrepository = "--upload-pack=evil"', "must be a path or an address"),
        ('[zoo]\nrepository = "ext::sh -c evil"', "must be a path or an address"),
        ('[zoo]\nrepository = "z"\nbranch = "-x"', "line 3: 'zoo.branch' must match"),
        ('[zo]\nrepository = "z"', "'zo' is no known key; the nearest is 'zoo'"),
        ('listen = "8300"\n[zoo]\nrepository = "z"', "line 1: 'listen' must match"),
        ('listen = "a:99999"\n[zoo]\nrepository = "z"', "line 1: 'listen' names port 99999: ports go up to 65535"),
        ('workers = -1\n[zoo]\nrepository = "z"', "line 1: 'workers' must be at least 0, not -1"),
        ('sandbox = "off"\n[zoo]\nrepository = "z"', "line 1: 'sandbox' must be one of 'demand' or 'optional'"),
        ('[zoo]\nrepository = "z"\n[git]\n[gitlab]\nproject = "a/b"\ntoken = { file = "secret" }', "line 4: 'gitlab' stands beside [git]"),
        ('[github]\nrepository = "a/b"', "'github.token' is missing"),
        ('[github]\nrepository = "a/b"\ntoken = { file = "nowhere" }', "which cannot be read (No such file or directory)"),
        ('[github]\nrepository = "a/b"\ntoken = { env = "ZOO_UNSET" }', "'github.token' names the variable ZOO_UNSET, which is not set"),
        ('[github]\nrepository = "a/b"\ntoken = "ghp_verysecret"', "line 3: 'github.token' must be { file"),
        ('[github]\nrepository = "a/b"\ntoken = { file = "secret", env = "X" }', 'must be { file = "PATH" } or { env = "NAME" }'),
        (
            '[github]\nrepository = "a/b"\ntoken = { file = "secret" }\n[operator]\ntoken = { file = "short" }',
            "leads to a secret of 3 characters: take one of at least 16",
        ),
        ('[zoo]\nrepository = "z"\n[limits]\nlease = 3', "line 4: 'limits.lease' is no known key; the nearest is 'lease_s'"),
        ('[zoo', "is not valid TOML"),
    ],
)  # fmt: skip
def test_each_mistake_is_one_sentence(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load_robot(written(tmp_path, text))
    assert message in str(error.value)
    assert "verysecret" not in str(error.value)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no such file; docs/robot.md shows"):
        load_robot(tmp_path / "robot.toml")
