"""What the driver and its fork server say to each other: a request is one letter and the number of a process, an answer one number."""

FORK = b"f"
"""With three descriptors, a worker's socket, its log and its folder: answered with the number of the worker."""
WAIT = b"w"
"""Answered with the exit code of that worker (negative: the signal), or with RUNNING."""
RUNNING = 1 << 20
REFUSED = -(1 << 20)
"""There is no such worker, or it cannot be forked."""

MODULE = "module:"
"""Before the name of a module, among the flows that the server is started with."""
