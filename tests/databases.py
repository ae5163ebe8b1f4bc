"""Databases to test against: SQLite in a file, and a real PostgreSQL where its programs are installed."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from free_port import free_port


def _program(name: str) -> Path | None:
    program = shutil.which(name)
    if program:
        return Path(program)
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    return versions[-1] if versions else None


def server_user() -> str:
    """PostgreSQL refuses to run as root: then it is the package's own user, or the least of all."""
    if os.geteuid() != 0:
        return pwd.getpwuid(os.geteuid()).pw_name
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _run(arguments: list[str | Path], user: str) -> None:
    ended = subprocess.run(
        [str(argument) for argument in arguments],
        user=user if os.geteuid() == 0 else None,
        cwd="/",
        env={"PATH": os.environ["PATH"], "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    assert ended.returncode == 0, ended.stdout


class PostgresServer:
    """A real server on the loopback address, whose data lie in a folder of their own. `address` is one without a database."""

    def __init__(self, initdb: Path, control: Path, folder: Path) -> None:
        self._control, self._data, self._folder, self._user = control, folder / "data", folder, server_user()
        self.port = free_port()
        self.address = f"postgresql+psycopg://assay@127.0.0.1:{self.port}"
        shutil.chown(folder, self._user)
        _run([initdb, "--no-sync", "--auth=trust", "--encoding=UTF8", "--username=assay", "-D", self._data], self._user)

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off"
        log = self._folder / "log"
        _run([self._control, "-D", self._data, "-l", log, "-w", "-t", "300", "-o", options, "start"], self._user)

    def stop(self) -> None:
        """At once, as where it is killed: every connection is cut, and it recovers from its log when it starts again."""
        _run([self._control, "-D", self._data, "-m", "immediate", "-w", "stop"], self._user)

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """As a machine that stands still: whoever connects, or has connected, hears nothing. It goes on afterwards."""
        pid = int((self._data / "postmaster.pid").read_text().split()[0])
        processes = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
        for process in processes:
            process.suspend()
        try:
            yield
        finally:
            for process in processes:
                process.resume()

    def make_database(self, name: str) -> str:
        """Its address."""
        import psycopg

        plain = self.address.replace("+psycopg", "")
        with psycopg.connect(f"{plain}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}".encode())
        return f"{self.address}/{name}"


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Skips where PostgreSQL is not installed."""
    initdb, control = _program("initdb"), _program("pg_ctl")
    if initdb is None or control is None:
        reason = "PostgreSQL is not installed (apt install postgresql)"
        if os.environ.get("ASSAY_REQUIRE_POSTGRES") == "1":
            pytest.fail(f"ASSAY_REQUIRE_POSTGRES is 1, but {reason}")
        pytest.skip(reason)
    folder = Path(tempfile.mkdtemp(prefix="assay-pg-"))
    try:
        server = PostgresServer(initdb, control, folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """An address without a database: `postgresql+psycopg://user@127.0.0.1:port`."""
    with running_postgres() as server:
        yield server.address


@pytest.fixture
def postgresql(postgresql_server: str) -> str:
    """The address of an empty database."""
    import psycopg

    name = f"history_{uuid4().hex}"
    plain = postgresql_server.replace("+psycopg", "")
    with psycopg.connect(f"{plain}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{postgresql_server}/{name}"


@pytest.fixture
def postgresql_of_language(postgresql_server: str) -> str:
    """The address of an empty database that sorts as English does. Skips where the server knows no languages by itself (before 15)."""
    import psycopg

    name = f"history_{uuid4().hex}"
    plain = postgresql_server.replace("+psycopg", "")
    language = "TEMPLATE template0 LOCALE 'C' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'"
    with psycopg.connect(f"{plain}/postgres", autocommit=True) as connection:
        try:
            connection.execute(f"CREATE DATABASE {name} {language}".encode())
        except (psycopg.errors.SyntaxError, psycopg.errors.FeatureNotSupported) as error:
            pytest.skip(f"this PostgreSQL sorts by no language of ICU: {error}")
    return f"{postgresql_server}/{name}"


@pytest.fixture(params=["sqlite", "postgresql"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty history of either kind."""
    if request.param == "sqlite":
        return str(tmp_path / "new" / "history.db")
    address: str = request.getfixturevalue("postgresql")
    return address
