"""Links of a readme and of the metadata: files that are not there, and, where the zoo allows the network, pages that are gone."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from assay_zoo.artifacts.finding import Finding, failed, passed, skipped, undecided
from assay_zoo.artifacts.pages.addresses import deceiving
from assay_zoo.check import Check
from assay_zoo.zoo_files import METADATA

if TYPE_CHECKING:
    from markdown_it.token import Token

    from assay_zoo.metadata import Metadata

MOST = 50
_SECONDS = 10.0
_HOPS = 5
_PAGE = re.compile(r"https?://[^\s<>\"')\]]+")
_GONE = (404, 410)
Ask = Callable[[str], str]
"""What is wrong with an address, "" where it answers, "?" with a reason where nobody can say now."""


def links_in_markdown(text: str) -> list[tuple[int, str]]:
    """(line, target) of each link and image."""
    from markdown_it import MarkdownIt

    links: list[tuple[int, str]] = []
    for token in MarkdownIt("commonmark", {"maxNesting": 20}).enable("table").parse(text):
        line = token.map[0] + 1 if token.map else 0
        targets = (str(child.attrs.get(name, "")) for child in token.children or [] for name in ("href", "src"))
        links += [(line, target) for target in targets if target]
        links += [
            (line, address.rstrip(".,;:!?`*_")) for address in _PAGE.findall(_outside_links(token.children or []))
        ]
    return list(dict.fromkeys(links))


def _outside_links(tokens: Sequence[Token]) -> str:
    """The words that are no link yet."""
    depth, words = 0, []
    for token in tokens:
        depth += token.nesting if token.type in ("link_open", "link_close") else 0
        if token.type in ("text", "code_inline") and not depth:
            words.append(token.content)
    return " ".join(words)


def check_links(
    folder: Path, links: Iterable[tuple[int, str]], metadata: Metadata | None, *, network: bool, ask: Ask | None = None
) -> Iterator[Check]:
    """`links` are the readme's. Addresses are asked for only where `network` says so."""
    listed = list(links)
    missing = [(line, target) for line, target in listed if not _there(folder, target)]
    for line, target in missing:
        sentence = f"README.md leads to {target[:100]!r}, and no such file is in the submission"
        yield failed("links", Finding(sentence=sentence, path="README.md", line=line))
    pages = {address: ("README.md", line) for line, address in listed if address.startswith(("http://", "https://"))}
    texts = [metadata.source, *metadata.references, metadata.dataset.source] if metadata else []
    pages |= {address: (METADATA, 0) for text in texts for address in _PAGE.findall(text) if address not in pages}
    deceptive = {page: trouble for page in pages if (trouble := deceiving(page))}
    yield from _asked({page: pages[page] for page in deceptive}, deceptive.__getitem__)
    pages = {page: place for page, place in pages.items() if page not in deceptive}
    if pages and not network:
        yield skipped("links", f"{len(pages)} addresses were not asked for: zoo.toml does not say network = true")
        return
    checks = list(_asked(dict(list(pages.items())[:MOST]), ask or address_trouble))
    yield from checks
    if not missing and not checks and not deceptive:
        yield passed(
            "links", f"every link leads somewhere (links of the readme: {len(listed)}, addresses: {len(pages)})"
        )


def _asked(pages: dict[str, tuple[str, int]], ask: Ask) -> Iterator[Check]:
    for page, (path, line) in pages.items():
        if trouble := ask(page):
            make = undecided if trouble.startswith("?") else failed
            sentence = f"{path} leads to {page[:100]!r}: {trouble.removeprefix('?').strip()}"
            yield make("links", Finding(sentence=sentence, path=path, line=line))


def _there(folder: Path, target: str) -> bool:
    try:
        parts = urlsplit(target)
    except ValueError:  # an address, if anything
        return True
    try:
        if parts.scheme or parts.netloc or not parts.path:
            return True
        path = PurePosixPath(unquote(parts.path))
        return not path.is_absolute() and ".." not in path.parts and "\0" not in str(path) and (folder / path).exists()
    except OSError:  # a name that no file system takes
        return False


def address_trouble(page: str) -> str:
    """Asked with HEAD, then with GET, hop by hop: an address inside our own network is never asked."""
    import httpx

    with httpx.Client(timeout=_SECONDS, follow_redirects=False, headers={"user-agent": "assay-zoo"}) as client:
        for _ in range(_HOPS):
            try:
                if trouble := _host_trouble(urlsplit(page).hostname or ""):
                    return trouble
                answer = client.head(page)
                if answer.status_code in (403, 404, 405, 501):
                    with client.stream("GET", page) as answer:
                        pass
            except ValueError:
                return "it is no address"
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                return f"? it does not answer now ({type(error).__name__})"
            if not answer.is_redirect or not answer.next_request:
                return f"it is gone ({answer.status_code})" if answer.status_code in _GONE else ""
            page = str(answer.next_request.url)
    return f"it leads on more than {_HOPS} times"


def _host_trouble(host: str) -> str:
    """As `Ask`."""
    try:
        addresses = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        if error.errno == socket.EAI_AGAIN:
            return "? names cannot be looked up now"
        return "it names no host of the public network"
    except (OSError, UnicodeError):
        return "it names no host of the public network"
    public = bool(addresses) and all(ipaddress.ip_address(address[4][0]).is_global for address in addresses)
    return "" if public else "it names no host of the public network"
