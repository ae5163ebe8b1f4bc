"""Every option of Assay, declared once: the command line, assay.toml, the Python API and repro lines are made from these rows."""
