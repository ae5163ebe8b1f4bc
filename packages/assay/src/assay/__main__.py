"""`python -m assay` is `assay`: a file of the working folder that is named as a library is none of its modules."""

import os
import sys

if not sys.flags.safe_path and sys.path[:1] == [os.getcwd()]:
    del sys.path[0]

from assay.cli.main import main

main()
