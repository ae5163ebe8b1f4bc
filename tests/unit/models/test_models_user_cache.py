"""Where downloads of all projects are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import UsageError
from assay.models.files import user_cache


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ASSAY_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("os.getuid", lambda: 54321)
    with pytest.raises(UsageError, match="set ASSAY_CACHE"):
        user_cache()
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    assert user_cache() == tmp_path
