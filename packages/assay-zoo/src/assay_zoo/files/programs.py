"""Machine code, byte code and scripts of other languages: a submission is a model and text that is looked into."""

from __future__ import annotations

from assay_zoo.files.finding import Finding, Item

_MAGIC = {
    b"\x7fELF": "a Linux program or library",
    b"\xfe\xed\xfa\xce": "a macOS program or library",
    b"\xfe\xed\xfa\xcf": "a macOS program or library",
    b"\xce\xfa\xed\xfe": "a macOS program or library",
    b"\xcf\xfa\xed\xfe": "a macOS program or library",
    b"\xca\xfe\xba\xbe": "Java byte code or a macOS library",
    b"\x00asm": "WebAssembly",
    b"!<arch>\n": "a static library",
}
_SCRIPTS = (
    ".sh", ".bash", ".zsh", ".fish", ".bat", ".cmd", ".ps1", ".vbs", ".js", ".mjs", ".ts", ".rb", ".pl", ".php", ".lua", ".scr", ".msi",
    ".com", ".scpt", ".desktop", ".lnk", ".pyw", ".pyx", ".pyi", ".r", ".jl", ".c", ".cc", ".cpp", ".cu", ".go", ".rs", ".java", ".cs",
    ".swift", ".kt", ".scala", ".tcl", ".hta", ".wsf", ".jse", ".vbe", ".reg", ".mk", ".cmake", ".gradle",
)  # fmt: skip
_NAMES = (
    "makefile", "gnumakefile", "dockerfile", "containerfile", "jenkinsfile", "vagrantfile", "cmakelists.txt", "justfile", "rakefile",
)  # fmt: skip
_SUFFIXES = (".so", ".dll", ".dylib", ".exe", ".pyc", ".pyd", ".whl", ".egg", ".jar", ".o", ".a")


def program_problem(item: Item, head: bytes) -> Finding | None:
    """By the first bytes, whatever the file is called; by name for what has no mark of its own."""
    kind = next((name for magic, name in _MAGIC.items() if head.startswith(magic)), "")
    if not kind and head.startswith(b"MZ") and b"PE\0\0" in head[:4096]:
        kind = "a Windows program or library"
    if not kind and item.suffix in _SUFFIXES:
        kind = f"a program by its name ({item.suffix})"
    if not kind:
        return _script(item, head)
    return Finding(
        check="programs", sentence=f"is {kind}: hand in models and sources, nothing that is already compiled"
    )


def _script(item: Item, head: bytes) -> Finding | None:
    """Python is read before it is published; a script of another language would be published unread."""
    first = head.partition(b"\n")[0][:200].decode("utf-8", "replace") if head.startswith(b"#!") else ""
    name = item.path.rpartition("/")[2].lower()
    if item.suffix not in _SCRIPTS and name not in _NAMES and (not first or item.suffix == ".py"):
        return None
    what = f"begins with {first!r}" if first else f"is a script by its name ({item.suffix or name})"
    sentence = f"{what}, and nothing but Python in files called .py is looked into: write it so, or in words"
    return Finding(check="programs", sentence=sentence)
