"""What a job leaves in its folder goes with it, also for an ordinary user."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from assay.launch.temp_folder import _remove
from deep_folder import make_deep_folder

NOBODY = 65534


def test_folders_that_their_owner_may_not_look_into_are_removed_and_what_a_link_names_is_not() -> None:
    """The superuser may look into all, so that another user removes them."""
    folder = Path(tempfile.mkdtemp())
    other = folder / "other"
    other.mkdir(mode=0o750)
    worker = folder / "worker"
    (worker / "closed" / "in" / "side").mkdir(parents=True)
    (worker / "closed" / "in" / "file").touch()
    (worker / "link").symlink_to(other)
    owner = NOBODY if os.geteuid() == 0 else os.geteuid()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, owner, -1, follow_symlinks=False)
    for path in (worker / "closed" / "in", worker / "closed"):
        path.chmod(0)
    child = os.fork()
    if not child:
        if os.geteuid() == 0:
            os.setresuid(owner, owner, owner)
        _remove(str(worker))
        os._exit(0)
    os.waitpid(child, 0)
    assert not worker.exists()
    assert other.stat().st_mode & 0o777 == 0o750
    shutil.rmtree(folder)


def test_thousands_of_folders_in_each_other_are_removed(tmp_path: Path) -> None:
    worker = tmp_path / "worker"
    worker.mkdir()
    make_deep_folder(worker)
    _remove(str(worker))
    assert not worker.exists()
