"""A message as a person reads it: what changed, since when, what to do. Text of 80 columns, and the same as HTML."""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from html import escape

from assay.core.alert import Alert, AlertFacts, AlertKind, Message

WIDTH = 80
SUBJECT = 120
JOBS_SHOWN = 8
_UNSEEN = ("Cc", "Cf", "Cs")
"""Categories of characters that steer a terminal, or change the order in which a line is shown."""
_WORDS = {
    AlertKind.BLOCK: "blocked",
    AlertKind.CHANGE: "changed",
    AlertKind.INCONCLUSIVE: "inconclusive twice",
    AlertKind.TREND: "trend",
    AlertKind.RECOVERY: "recovered",
    AlertKind.FOUND: "found",
}
_FIRST = {
    AlertKind.BLOCK: "This blocks.",
    AlertKind.CHANGE: "More jobs show what was reported before.",
    AlertKind.INCONCLUSIVE: "Twice in a row this was neither right nor wrong.",
    AlertKind.TREND: "The metric left its level; no limit was broken by that alone.",
    AlertKind.RECOVERY: "No job shows it any more.",
    AlertKind.FOUND: "Fuzzing met it for the first time.",
}
_SKIPPED = "This passed before and is skipped now."


def message(alert: Alert, kind: AlertKind, facts: AlertFacts, sender: str = "assay") -> Message:
    """`kind` is that of the news. Words of models and of libraries are in it as text, never as markup or mentions."""
    subject = harmless(f"[{sender}] {_WORDS[kind]}: {alert.headline}")
    if len(subject) > SUBJECT:
        subject = f"{subject[: SUBJECT - 3]}..."
    first = _SKIPPED if kind is AlertKind.CHANGE and alert.kind is kind and not alert.told else _FIRST[kind]
    lines = [(name, harmless(text)) for name, text in facts.lines]
    if len(facts.jobs) > 1:
        more = len(facts.jobs) - JOBS_SHOWN
        shown = ", ".join(facts.jobs[:JOBS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        lines.insert(1, ("Jobs", harmless(f"{len(facts.jobs)}: {shown}")))
    commands = [(name, harmless(text)) for name, text in facts.commands]
    return Message(
        kind,
        subject,
        _text(harmless(alert.headline), first, lines, commands, facts.link) + _script_text(facts.script),
        _html(harmless(alert.headline), first, lines, commands, facts.link, _script_html(facts.script)),
    )


def harmless(text: str) -> str:
    """One line without control characters, passwords in addresses, and what chats read as mentions of everybody."""
    text = " ".join("".join(character if character.isprintable() else " " for character in text).split())
    text = _without_passwords(text)
    for word in ("everyone", "channel", "here", "all"):
        text = text.replace(f"@{word}", f"@\u200b{word}")
    return text.replace("<!", "<\u200b!")


def _without_passwords(text: str) -> str:
    return re.sub(r"(://[^\s/:@]*:)[^\s/@]+@", r"\1***@", text)


def _text(title: str, first: str, lines: list[tuple[str, str]], commands: list[tuple[str, str]], link: str) -> str:
    paragraphs = [*textwrap.wrap(title, WIDTH), first, ""]
    margin = max((len(name) for name, _ in lines), default=0) + 2
    for name, text in lines:
        paragraphs += textwrap.wrap(
            text,
            WIDTH,
            initial_indent=f"{name:<{margin}}",
            subsequent_indent=" " * margin,
            break_long_words=False,
            break_on_hyphens=False,
        )
    for name, command in commands:
        # A command is copied: it stands on a line of its own, whatever its length.
        paragraphs += ["", f"{name}:", f"  {command}"]
    if link:
        paragraphs += ["", f"Report: {link}"]
    return "\n".join(paragraphs) + "\n"


def _script_text(script: str) -> str:
    """In a fence, in which chats look for no mentions. It is longer than any that the script has."""
    if not script:
        return ""
    fence = "`" * max([3, *(len(ticks) + 1 for ticks in re.findall("`+", script))])
    return "".join(f"{line}\n" for line in ["", "Script:", "", f"{fence}python", _code(script), fence])


def _script_html(script: str) -> str:
    return f"<p>Script:</p><pre>{escape(_code(script))}</pre>" if script else ""


def _code(script: str) -> str:
    """The same program: its white space stays, and nothing is put into its words."""
    text = script.replace("\r\n", "\n").rstrip()
    shown = (
        character if character in "\n\t" or unicodedata.category(character) not in _UNSEEN else " "
        for character in text
    )
    return _without_passwords("".join(shown))


def _html(
    title: str, first: str, lines: list[tuple[str, str]], commands: list[tuple[str, str]], link: str, script: str = ""
) -> str:
    """Paragraphs, so that the text a mail program makes of it reads well, too."""
    texts = [f"<p><b>{escape(title)}</b></p>", f"<p>{first}</p>"]
    texts += [f"<p><b>{escape(name)}:</b> {escape(text)}</p>" for name, text in lines]
    for name, command in commands:
        texts.append(f"<p>{escape(name)}:</p><pre>{escape(command)}</pre>")
    if link:
        texts.append(f'<p>Report: <a href="{escape(link, quote=True)}">{escape(link)}</a></p>')
    texts.append(script)
    style = "font-family:sans-serif;font-size:14px;line-height:1.4;max-width:44em"
    return f'<html><body style="{style}">{"".join(texts)}</body></html>'


def digest(news: Sequence[tuple[AlertKind, Alert]], link: str = "", sender: str = "assay") -> Message:
    """One message for much news of one run, the gravest first; it is of the kind of that one."""
    title = f"{len(news)} further alerts of the same run"
    lines = [(alert.id, harmless(f"{_WORDS[kind]}: {alert.headline}")) for kind, alert in news]
    commands = [("See them", "assay alert list")]
    first = "Each is an alert of its own, and its recovery is reported."
    return Message(
        news[0][0],
        f"[{sender}] {title}",
        _text(title, first, lines, commands, link),
        _html(title, first, lines, commands, link),
    )
