"""Delivery by apprise, which is imported only here: mail, chats and incident tools, one address each."""

from __future__ import annotations

import logging
import re
import threading
import warnings
from typing import Any

from assay.alerts.target_addresses import NotDelivered, read_address, without_address
from assay.core.alert import AlertKind, AlertTarget, Message

TIMEOUT_S = 30.0
"""For one target, whatever it does."""
LONGEST = 200
"""Of why it was not: what a library did stands first, why it could not stands last, after what it had tried."""
SYSTEM_ERROR = re.compile(r"\[Errno -?\d+\] [^'\"()\[\]]+")
"""What the operating system said, where a library wraps it into its own errors."""
INSTALL = "alerts need the package apprise: pip install 'assay[alerts]'"


def send(target: AlertTarget, message: Message, timeout_s: float = TIMEOUT_S) -> None:
    """Raises NotDelivered; no secret is in its text."""
    address = read_address(target)
    troubles: list[str] = []
    # A server that answers a byte a second keeps nobody's verdict waiting: the thread is left to itself.
    worker = threading.Thread(target=_send, args=(address, message, troubles), daemon=True)
    with warnings.catch_warnings():
        # apprise 2.3 imports modules that Python calls deprecated, some of them with the first message.
        warnings.simplefilter("ignore", DeprecationWarning)
        worker.start()
        worker.join(timeout_s)
    if worker.is_alive():
        raise NotDelivered(f"it gave no answer within {timeout_s:g} s")
    if troubles:
        raise NotDelivered(_shortened(" ".join(without_address(" ".join(troubles), address).split())))


def _shortened(text: str) -> str:
    if len(text) > LONGEST and (said := SYSTEM_ERROR.findall(text)):
        text = f"{text.partition(';')[0].rstrip('. ')}: {said[-1].strip()}"
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half].rstrip()} ... {text[-half:].lstrip()}"


def _send(address: str, message: Message, troubles: list[str]) -> None:
    """`said` is why it was not delivered; it stays empty where it was."""
    try:
        from apprise import Apprise, AppriseAsset, NotifyFormat, NotifyType
    except ImportError:
        troubles.append(INSTALL)
        return
    logger = logging.getLogger("apprise")
    with _Heard(logger) as heard:
        try:
            # A hook that has moved answers with a page to sign in at, which takes anything: that is no delivery, and would get the message.
            asset = AppriseAsset(
                app_id="Assay", app_desc="Assay", app_url="", storage_mode="memory", http_redirects=False
            )
            plugin: Any = Apprise.instantiate(address, asset=asset, suppress_exceptions=True)
            if plugin is None:
                troubles.append(f"{_not_understood(address)}: https://appriseit.com/services lists them")
                return
            mail = address.partition("://")[0].startswith("mailto")
            html = mail or plugin.resolve_format(NotifyFormat.TEXT) == NotifyFormat.HTML
            sent = plugin.notify(
                title=message.subject,
                body=message.html if html else message.text,
                body_format=NotifyFormat.HTML if html else NotifyFormat.TEXT,
                notify_type=NotifyType.SUCCESS if message.kind is AlertKind.RECOVERY else NotifyType.FAILURE,
            )
        except Exception as error:  # noqa: BLE001 - whatever a library of a hundred services raises
            troubles.append(f"{type(error).__name__}: {error}")
            return
    if not sent:
        troubles.append("; ".join(heard.lines) or "it did not take the message")


def _not_understood(address: str) -> str:
    """What is wrong with an address that apprise makes no target of: of it, its scheme alone is told."""
    from apprise import Apprise

    scheme = address.partition("://")[0] if "://" in address else ""
    if not scheme:
        return "it is no address"
    services = Apprise().details()["schemas"]
    known = {
        str(name) for service in services for kind in ("protocols", "secure_protocols") for name in service[kind] or ()
    }
    problem = "the address is incomplete" if scheme.lower() in known else "it is no address that apprise understands"
    return f"{problem} ({scheme}://...)"


class _Heard(logging.Handler):
    """What apprise logs of a failure in this thread: the reason, which it returns to nobody. Another target that was not waited for may
    speak at the same time, and its address is not hidden here."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []
        self._thread = threading.get_ident()
        self._logger, self._before = logger, (logger.level, logger.propagate)

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage() if record.thread == self._thread else ""
        if text and (record.levelno >= logging.WARNING or "xception:" in text):
            self.lines.append(text.strip())

    def __enter__(self) -> _Heard:
        self._logger.addHandler(self)
        self._logger.setLevel(logging.DEBUG)
        self._logger.propagate = False
        return self

    def __exit__(self, *_: object) -> None:
        self._logger.removeHandler(self)
        self._logger.setLevel(self._before[0])
        self._logger.propagate = self._before[1]
