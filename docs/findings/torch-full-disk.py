"""torch 2.13.0: `torch.export.save` to a disk that takes no more kills the process (SIGABRT) instead of raising.

Expected: OSError, or RuntimeError as `torch.save` raises. Got: RuntimeError, and then `terminate called` by the destructor of the
archive's writer. A file of at most 1 KiB stands for the disk. Written to memory first, and from there to the file, it raises OSError.
Found by `assay run edge --flow torch-eager --filter disk-full`.
"""

from __future__ import annotations

import subprocess
import sys

SAVE = """
import resource, tempfile, torch
program = torch.export.export(torch.nn.Linear(40, 40), (torch.zeros(2, 40),))
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, resource.RLIM_INFINITY))
with tempfile.TemporaryDirectory() as folder:
    try:
        torch.export.save(program, folder + "/model.pt2")
    except (OSError, RuntimeError) as error:
        print("raised", error)
"""
ended = subprocess.run([sys.executable, "-c", SAVE], capture_output=True, text=True)
print(f"ends with {ended.returncode}: {(ended.stdout or ended.stderr).splitlines()[:1]}")
sys.exit(int(ended.returncode != 0))
