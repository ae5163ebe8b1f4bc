"""pip's settings reach uv as pip means them."""

from __future__ import annotations

import pytest

from assay.environments.pip_config import client_variables, parse_settings, uv_arguments

LISTED = """\
:env:.find-links='/wheels'
global.cert='/etc/ssl/own.crt'
global.constraint='/etc/constraints.txt'
global.extra-index-url='file:///one file:///two'
global.find-links='/never'
global.index-url='https://example.org/simple'
install.no-binary='x'
freeze.timeout='10'
a line that is no setting
global.broken='no end
"""


@pytest.fixture(autouse=True)
def _no_settings_of_uv(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_INDEX", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"):
        monkeypatch.delenv(name, raising=False)


def test_the_later_section_wins_and_the_rest_is_left_out() -> None:
    assert parse_settings(LISTED) == {
        "find-links": ("/wheels",),
        "cert": ("/etc/ssl/own.crt",),
        "constraint": ("/etc/constraints.txt",),
        "extra-index-url": ("file:///one", "file:///two"),
        "index-url": ("https://example.org/simple",),
        "no-binary": ("x",),
    }


def test_uv_is_told_the_same_places_and_constraints_only_when_it_resolves() -> None:
    settings = parse_settings(LISTED)
    installing = uv_arguments(settings, resolving=False)
    assert installing == [
        *("--default-index", "https://example.org/simple"),
        *("--extra-index-url", "file:///one", "--extra-index-url", "file:///two"),
        *("--find-links", "/wheels"),
        *("--index-strategy", "unsafe-best-match"),
    ]
    assert uv_arguments(settings, resolving=True) == [*installing, "--constraint", "/etc/constraints.txt"]
    assert uv_arguments({}, resolving=True) == []
    assert uv_arguments({"no-index": ("true",)}, resolving=False) == ["--no-index"]
    assert uv_arguments({"no-index": ("false",)}, resolving=False) == []


def test_settings_of_uv_itself_are_the_users_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_INDEX_URL", "https://example.org/own")
    assert uv_arguments(parse_settings(LISTED), resolving=True) == []


def test_the_certificate_of_pip_is_uvs_where_no_other_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = parse_settings(LISTED)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    assert client_variables(settings)["SSL_CERT_FILE"] == "/etc/ssl/own.crt"
    monkeypatch.setenv("SSL_CERT_FILE", "/mine")
    assert client_variables(settings)["SSL_CERT_FILE"] == "/mine"
