"""`python -m assay` is `assay`."""

from assay.faces.cli.main import main

main()
