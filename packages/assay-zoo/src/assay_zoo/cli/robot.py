"""`assay zoo robot`: the service, until it is told to stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from assay_zoo.robot.service import Service


def robot(
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="Configuration, a robot.toml (see docs/robot.md).")
    ],
    dry: Annotated[
        bool, typer.Option("--check", help="Only read the file and open what it names, and start nothing.")
    ] = False,
) -> None:
    """Watch a zoo's repository, check what is submitted, decide, promote and report.

    Needs `pip install assay-zoo`. Stops at Ctrl-C or SIGTERM: running checks are given back and begin again at the next
    start.
    """
    from assay.errors import UsageError

    try:
        import uvicorn

        from assay_zoo.robot.app import app_of
        from assay_zoo.robot.config import load_robot
        from assay_zoo.robot.file_modes import private_files
        from assay_zoo.robot.logs import log_as_json
        from assay_zoo.robot.service import Service
    except ModuleNotFoundError as error:
        raise UsageError(f"the robot needs {error.name}: pip install assay-zoo") from None

    with private_files():
        settings = load_robot(config)
        service = Service(settings)
        if dry:
            raise typer.Exit(0 if _ready(service, settings.zoo.repository) else 4)
        log_as_json()
        # A connection that sends nothing is closed by the server, and there is an end to how many there are.
        uvicorn.run(
            app_of(service),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=10,
            limit_concurrency=200,
            server_header=False,
        )


def _ready(service: Service, repository: str) -> bool:
    """Whether it could start; what is missing is printed. The service is closed."""
    from assay_zoo.robot.zoo_policy import missing_packages

    missing = service.health.ready()
    packages = [] if missing else missing_packages(service.mirror)
    service.close()
    for name, reason in missing.items():
        print(f"{name}: {reason}")
    if packages:
        text = "notebooks that import them cannot be checked here until they are installed beside Assay"
        print(f"packages: {', '.join(packages)}: zoo.toml allows them; {text}")
    print("not ready" if missing else f"ready: {repository}, {service.queue.database.name}")
    return not missing
