"""Group `files`: sizes, names, links, digests, and whether each file is what it claims to be and harmless to open."""
