from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.reports.sanitize import one_line, sanitize, shortened


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("bell\x07", "bell\\x07"),
        ("lone \x1b", "lone \\x1b"),
        ("c1 \x9b31m", "c1 \\x9b31m"),
        ("rtl \u202egpj.exe", "rtl \\u202egpj.exe"),
        ("half \ud800", "half \\ud800"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("progress\rdone", "progress\\x0ddone"),
        ("µ é 数字", "µ é 数字"),
    ],
)
def test_plain_shows_what_hides(hostile: str, shown: str) -> None:
    assert sanitize(hostile) == shown


@given(st.text(alphabet=st.characters(max_codepoint=0x2100)))
def test_plain_is_well_formed_xml_and_utf8_and_does_not_change_twice(text: str) -> None:
    once = sanitize(text)
    element = ET.Element("a")
    element.text = once
    assert ET.fromstring(ET.tostring(element, encoding="unicode")).text == (once or None)
    assert once.encode("utf-8").decode("utf-8") == once
    assert sanitize(once) == once


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


def test_shortened_keeps_the_end_and_says_how_much_went() -> None:
    assert shortened("abcdef", 6) == "abcdef"
    assert shortened("abcdef", 2) == "[the first 4 characters are left out]\nef"
