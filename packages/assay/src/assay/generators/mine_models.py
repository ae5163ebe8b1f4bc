"""`python -m assay.generators.mine_models FOLDER FILE`: the patterns of every ONNX model below a folder. Models are untrusted: it is run in
a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.generators.mined import encode, mine_folder


def main() -> None:
    """Writes the file, and says how many patterns there are."""
    mined_patterns = mine_folder(Path(sys.argv[1]))
    Path(sys.argv[2]).write_bytes(encode(mined_patterns))
    print(len(mined_patterns))


if __name__ == "__main__":
    main()
