"""What one value of [alerts] may be, and what is said of one that may not. An address may be a secret: no sentence repeats one."""

from __future__ import annotations

import re
from typing import Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from assay.config.toml_errors import nearest
from assay.core.alert import AlertKind, read_quiet_hours

KINDS = tuple(alert_kind.value for alert_kind in AlertKind)


def one_place(value: Any) -> Any:
    """Before anything else looks at it: an error of a schema would show the value."""
    if isinstance(value, str) and re.match(r"[A-Za-z][A-Za-z0-9+.-]*://\S+$", value):
        return value
    if (
        isinstance(value, dict)
        and set(value) in ({"file"}, {"env"})
        and all(isinstance(v, str) and v for v in value.values())
    ):
        return value
    raise ValueError(
        'must be { env = "NAME" }, { file = "PATH" } or an address such as "mailtos://..." '
        "(https://appriseit.com/services lists them); what stands there is not shown, it may be a secret"
    )


def _kind(value: object) -> str:
    if not isinstance(value, str) or value not in KINDS:
        raise ValueError(f"must be one of {', '.join(KINDS)}, not {value!r}{nearest(str(value), KINDS)}")
    return value


def _target_name(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}", value):
        raise ValueError(
            "must be made of at most 60 letters, digits, '.', '_' and '-': it stands for the address everywhere"
        )
    return value


def _quiet_hours(value: str) -> str:
    if value:
        read_quiet_hours(value)
    return value


def _time_zone(value: str) -> str:
    try:
        if value:
            ZoneInfo(value)
    except (ValueError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(f"must be the name of a time zone such as Europe/Berlin, not {value!r}") from None
    return value


AlertKindName = Annotated[str, BeforeValidator(_kind), WithJsonSchema({"type": "string", "enum": list(KINDS)})]
AlertTargetName = Annotated[str, AfterValidator(_target_name)]
QuietHours = Annotated[str, AfterValidator(_quiet_hours)]
TimeZone = Annotated[str, AfterValidator(_time_zone)]
