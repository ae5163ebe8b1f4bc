"""Pickles run code when they are read: found by their opcodes or their name, never by loading them."""

from __future__ import annotations

import pickletools

from assay_zoo.files.finding import Finding, Item

SUFFIXES = (".pkl", ".pickle", ".joblib", ".dill", ".pt", ".pth", ".ckpt", ".mar", ".cloudpickle")
_INSTEAD = "it runs code when it is read; hand in ONNX, safetensors, NumPy arrays of numbers, or text"
_OPCODES = 2000
_IMPORTING = ("GLOBAL", "STACK_GLOBAL", "INST", "REDUCE", "OBJ", "NEWOBJ", "BUILD")


def pickle_problem(item: Item, head: bytes) -> Finding | None:
    """A pickle, alone or as what a .pt or .npy file holds."""
    if is_pickle(head):
        return Finding(check="pickles", sentence=f"is a pickle: {_INSTEAD}")
    if item.suffix in SUFFIXES:
        return Finding(check="pickles", sentence=f"is a pickle by its name ({item.suffix}): {_INSTEAD}")
    if head.startswith(b"\x93NUMPY") and array_of_objects(head):
        return Finding(check="pickles", sentence=f"is an array of Python objects, which is a pickle: {_INSTEAD}")
    return None


def is_pickle(head: bytes) -> bool:
    """Whether the bytes begin with a pickle of any protocol. One of protocol 0 or 1 has no mark: it must end, and import."""
    marked = len(head) > 2 and head[0] == 0x80 and 2 <= head[1] <= 5
    if not marked and head[:1] not in (b"(", b"c", b"]", b"}", b")", b"l", b"d", b"i", b"S", b"V", b"I", b"K"):
        return False
    names: list[str] = []
    try:
        for opcode, _, _ in pickletools.genops(head):
            names.append(opcode.name)
            if opcode.name == "STOP" or len(names) >= _OPCODES:
                break
    except Exception:  # noqa: BLE001 - genops raises whatever a decoder of one of its opcodes raises
        return marked and len(names) > 3
    return marked or (names[-1:] == ["STOP"] and any(name in _IMPORTING for name in names))


def array_of_objects(head: bytes) -> bool:
    """Whether a .npy file says in its header that it holds objects."""
    length = int.from_bytes(head[8:10] if head[6:7] == b"\x01" else head[8:12], "little")
    start = 10 if head[6:7] == b"\x01" else 12
    header = head[start : start + length].decode("latin-1")
    return "'|O" in header or "'O" in header or '"O' in header or '"|O' in header
