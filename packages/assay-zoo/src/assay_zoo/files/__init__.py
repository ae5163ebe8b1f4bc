"""Group `files`: sizes, names, links, digests, and whether each file is what it claims to be and harmless to open."""

from assay_zoo.files.check import check_files

__all__ = ["check_files"]
