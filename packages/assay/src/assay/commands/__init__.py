"""Each command as a typed function, and the choice of adapters: what the command line, the Python API and pytest share."""
