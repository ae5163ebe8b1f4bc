"""Which files of which folder lie in the store of blobs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import msgspec
from sqlalchemy import Connection, delete, insert, select

from assay.core.kept_folder import KeptFolder
from assay.stores.encoded_result import pack, unpack
from assay.stores.history_tables import kept_folders
from assay.stores.statements import chunks

_FOLDERS: msgspec.msgpack.Decoder[KeptFolder] = msgspec.msgpack.Decoder(KeptFolder)


def read_folders(connection: Connection, names: Collection[str] | None) -> dict[str, KeptFolder]:
    """Those with these names, sorted; a name that ends in / stands for all below it. None: all."""
    name = kept_folders.c.name
    if names is None:
        names = ("",)
    conditions = [name.startswith(prefix, autoescape=True) for prefix in names if prefix.endswith("/") or not prefix]
    conditions += [
        name.in_(some) for some in chunks([prefix for prefix in names if prefix and not prefix.endswith("/")])
    ]
    rows = [row for condition in conditions for row in connection.execute(select(kept_folders).where(condition))]
    return {row.name: unpack(row.payload, _FOLDERS) for row in sorted(rows, key=lambda row: str(row.name))}


def change_folders(
    connection: Connection,
    names: Collection[str],
    change: Callable[[Mapping[str, KeptFolder]], Mapping[str, KeptFolder | None]],
) -> None:
    """Put what `change` makes of those that are there in their place."""
    before = read_folders(connection, names)
    after = {name: folder for name, folder in change(before).items() if before.get(name) != folder}
    for some in chunks(list(after)):
        connection.execute(delete(kept_folders).where(kept_folders.c.name.in_(some)))
    rows = [{"name": name, "payload": pack(folder)} for name, folder in after.items() if folder is not None]
    if rows:
        connection.execute(insert(kept_folders), rows)
