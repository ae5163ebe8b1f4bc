"""Documents, tables and XML that do something when they are opened, and those that only show it; licences that a person has to read."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from assay_zoo.artifacts.pages.active_files import active_pdf, active_table, active_xml
from assay_zoo.artifacts.published import inspect_published
from assay_zoo.artifacts.rights.license import license_of, restricted_by


def _stream(kind: bytes, data: bytes) -> bytes:
    return b"%%PDF-1.7\n1 0 obj<<%s/Length %d>>stream\n%s\nendstream endobj\n" % (kind, len(data), data)


@pytest.mark.parametrize(
    "data",
    [
        b"<</OpenAction<</S/JavaScript/JS(x)>>>>",
        b"<</S/J#61vaScript>>",
        b"<</S/Launch/F(x)>>",
        b"<</Encrypt 4 0 R>>",
        _stream(b"/Type/ObjStm/Filter/FlateDecode", zlib.compress(b"1 0 <</S/JavaScript>>")),
        _stream(b"/Type/ObjStm/Filter/LZWDecode", b"nobody reads this"),
        b"<</Title(upstream)>> 2 0 obj<</S/JavaScript>>endobj",
        b"% stream\n<</S/JavaScript>>",
        b"%>> stream\n<</S/JavaScript>>",
        _stream(b"/Type/Obj#53tm/Filter/FlateDecode", zlib.compress(b"1 0 <</JS(x)>>")),
        _stream(b"/Type/ObjStm/Filter/FlateDecode/Note(" + b"x" * 3000 + b")", zlib.compress(b"1 0 <</JS(x)>>")),
    ],
)
def test_a_document_that_runs_something(data: bytes) -> None:
    assert active_pdf(data)


@pytest.mark.parametrize(
    "data",
    [
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/OpenAction[3 0 R/Fit]>>endobj\n%%EOF",
        _stream(b"/Filter/FlateDecode", b"chance /JS and /XFA in a drawing"),
        _stream(b"/Type/ObjStm/Filter/FlateDecode", zlib.compress(b"1 0 <</Type/Font/JSON 1>>")),
        _stream(b"/Type/ObjStm", b"1 0 <</Type/Font>>"),
    ],
)
def test_a_document_that_is_only_read(data: bytes) -> None:
    assert not active_pdf(data)


@pytest.mark.parametrize(
    ("text", "is_active"),
    [
        ('<?xml-stylesheet href="x.xsl"?><a/>', True),
        ('<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>', True),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>', True),
        ('<a xmlns="http://www.w3.org/1999/xhtm&#108;"><script>x()</script></a>', True),
        ('<a xmlns="http://a.example/&#108;"><script>a part of a play</script></a>', False),
        ("<annotation><object><name>seven</name></object></annotation>", False),
        ('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>', False),
    ],
)
def test_xml_that_a_browser_runs(text: str, is_active: bool) -> None:
    assert bool(active_xml(text)) is is_active


@pytest.mark.parametrize(
    ("text", "is_active"),
    [
        ("a,b\n=cmd|'/C calc'!A0,1\n", True),
        ('a,"=HYPERLINK(""http://e.example"")"\n', True),
        ('"=IF(1,HYPERLINK(""http://e.example""))"\n', True),
        ("=-HYPERLINK(1)\n", True),
        ("a,b\r=HYPERLINK(1)\r", True),
        ("=IF(1," + " " * 500 + "HYPERLINK (1))", True),
        ("+HYPERLINK(1)", True),
        ("\n" * 100_000, False),
        ('",=cmd ' * 100_000, False),
        ("-0.5,imports (tons)\n=1,added (x)\n", False),
        ("a,b\n-1,+2\n=,x\n", False),
        ("1;=IF(1,2;-HYPERLINK(1))\n", True),
        ('1;="a,b"&HYPERLINK(1)\n', True),
        ('1,"=""a,b""&HYPERLINK(1)"\n', True),
        ('",=HYPERLINK(1)\n', True),
        ("-1+HYPERLINK(1)\n", True),
        ("-2,=cmd|' /C calc'!A0\n", True),
        (",=(" * 100_000 + "HYPERLINK", False),
        ("1,-0.3,DDE (total)\n", False),
        ("-1.2,see hyperlink (blue)\n", False),
        ("+49 30,HYPERLINK (see)\n", False),
        ("-0.3 (a, b)\tDDE (total)\n", False),
        ("@a;see hyperlink (blue)\n", False),
        ('"-0.3","DDE (total)"\n', False),
        ("formula,score\na = b | c,-0.5\n", False),
        ('1,"=\nHYPERLINK(""http://e.example"")"\n', True),
        ('1;"=1+\r\nHYPERLINK(1)"\r\n', True),
        ('"+\n\ncmd|x"\n', True),
        ('text,"two lines\nand hyperlink (blue)"\n-1,hyperlink(x)\n', False),
        ('"- one\n- image (left)"\n', False),
        ('=IMAGE("https://e.example/a.png")\n', True),
        ('a,"=IF(1,image (""https://e.example""))"\n', True),
        ("- image (left),1\na,image(left)\n", False),
        ('=CALL("user32","MessageBoxA")\n', True),
        ('a,=IMAGE  ("https://e.example")\n=IMAGE\u00a0("https://e.example")\n', True),
        ('=IMAGE\u00a0("https://e.example")\n', True),
        ('+IMAGE("https://e.example")\n', True),
        ('a,-IMAGE("https://e.example")\n', True),
        ('+1+CALL("kernel32","x")\n', True),
        ('@_xlfn.IMAGE("https://e.example")\n', True),
        ('=""&"see the "&IMAGE("https://e.example")\n', True),
        ('a,"=""see the""&IMAGE(""https://e.example"")"\n', True),
        ('"=1+\n+IMAGE(""https://e.example"")"\n', True),
        ('"== Usage ==\nexec(code) runs it"\n', False),
        ('"= Figures\nsee image (1)"\n', False),
        ('="image (1)"\n', False),
    ],
)
def test_a_table_that_starts_something(text: str, is_active: bool) -> None:
    assert bool(active_table(text)) is is_active


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize(
    ("kind", "text", "is_active"),
    [
        ("table", "=HYPERLINK(1)", True),
        ("xml", '<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>', True),
        ("markup", '<svg onload="x()"></svg>', True),
        ("table", "a,b\n1,2\n", False),
        ("xml", "<annotation><name>seven</name></annotation>", False),
    ],
)
def test_a_file_is_read_as_a_browser_reads_it(
    tmp_path: Path, encoding: str, kind: str, text: str, is_active: bool
) -> None:
    (tmp_path / "a").write_bytes(text.encode(encoding))
    assert bool(inspect_published({"kind": kind, "copy": str(tmp_path / "a"), "path": "a"})["active"]) is is_active


@pytest.mark.heavy
def test_a_long_table_is_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"0.5,1\n" * (3 << 20) + b"=HYPERLINK(1)\n")
    found = inspect_published({"kind": "table", "copy": str(file), "path": "a.csv"})
    assert (found["active"][0][0], found["too_long"]) == ((3 << 20) + 1, "")


@pytest.mark.heavy
def test_a_line_that_is_too_long_is_told_and_weights_without_a_suffix_are_not(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"1" * (17 << 20))
    assert inspect_published({"kind": "table", "copy": str(file), "path": "a"})["too_long"]
    file.write_bytes(b"\0\0" + b"1" * (17 << 20))
    assert not inspect_published({"kind": "page", "copy": str(file), "path": "a"})["too_long"]


MIT = 'Permission is hereby granted, free of charge, to any person. The software is provided "as is".\n\n'


@pytest.mark.parametrize(
    ("text", "name", "restricted"),
    [
        ("This alternative is allowed only for noncommercial distribution. GNU General Public License version 2", "GPL-2.0", False),
        ("GNU General Public License Version 3 ... only occasionally and noncommercially", "GPL-3.0", False),
        (
            "This is free and unencumbered software released into the public domain. For any purpose, commercial or non-commercial",
            "Unlicense", False,
        ),
        ("GNU General Public License Version 3. For noncommercial use.", "GPL-3.0", True),
        ("Apache License\nVersion 2.0\n\nCommons Clause: no right to Sell", "Apache-2.0", True),
        ("MIT License\n\nFor research\npurposes only.", "MIT", True),
        ("Licensed under the Apache License 2.0.", "Apache-2.0", False),
        ("Released under the 3-clause BSD license", "BSD-3-Clause", False),
        ("Apache License Version 2.0 You may not use this file except in compliance with the License.", "Apache-2.0", False),
        ("Ask the owner.", "", False),
        ("Licensed under either of the Apache License, Version 2.0 or the MIT license at your option.", "Apache-2.0 OR MIT", False),
        ("The code is under the MIT license, the weights under the Apache License 2.0.", "Apache-2.0 AND MIT", False),
        (
            "The code is under the MIT license; for the data either of the authors may be asked. The weights are under the "
            "Apache License, Version 2.0.", "Apache-2.0 AND MIT", False,
        ),
        (
            "The program is under the GNU General Public License, version 3 or (at your option) any later one. The weights are under "
            "the MIT license.", "GPL-3.0 AND MIT", False,
        ),
        (
            "Copyright A. B.\n\nLicensed under either of\n\n* Apache License, Version 2.0 (http://www.apache.org/licenses/LICENSE-2.0)\n"
            "* MIT license (http://opensource.org/licenses/MIT)\n\nat your option.", "Apache-2.0 OR MIT", False,
        ),
        (f"{MIT}Parts of it are from B., under the Apache License, Version 2.0.", "MIT", False),
        (f"{MIT}Third-party code: Apache 2.0.", "MIT", False),
        (f"{MIT}The weights are under the Apache License, Version 2.0.", "Apache-2.0 AND MIT", False),
        (f"{MIT}Code is under the Apache License, Version 2.0.", "Apache-2.0 AND MIT", False),
        (f"{MIT}All parts are under the Apache License, Version 2.0.", "Apache-2.0 AND MIT", False),
        ("Parts are under the MIT license. Parts are under the Apache License 2.0.", "Apache-2.0 AND MIT", False),
        ("Dual-licensed under the MIT license and the BSD 3-Clause license. The MIT license is short.", "BSD-3-Clause OR MIT", False),
    ],
)  # fmt: skip
def test_what_a_licence_says_beyond_its_name(text: str, name: str, restricted: bool) -> None:
    assert license_of(text) == name
    assert bool(restricted_by(text)) is restricted
