"""The files of a run: what is kept, where, for how long, and for which machine."""
