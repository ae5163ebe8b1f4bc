"""What a job changed in its process, in words."""

from __future__ import annotations

from assay.core.wire import Changed

CHANGED = {
    Changed.DIRECTORY: "the working directory",
    Changed.ENVIRON: "environment variables",
    Changed.UMASK: "the umask",
    Changed.TEMPORARY: "the folder for temporary files",
    Changed.SIGNALS: "signal handlers or the signal mask",
    Changed.TIMER: "a timer that is still set",
    Changed.FLOATING_POINT: "the floating-point mode (rounding, subnormal numbers as zero, or exceptions that end the process)",
    Changed.NUMPY: "how numpy reports floating-point errors",
    Changed.LOCALE: "the locale or the time zone",
    Changed.LIMITS: "resource limits",
    Changed.AFFINITY: "the CPU affinity",
    Changed.PRIORITY: "its priority, how exact its timers are, or which process the kernel ends first",
    Changed.THREADS: "threads that still run",
    Changed.PROCESSES: "child processes that still run",
    Changed.DESCRIPTORS: "open or closed file descriptors",
    Changed.STREAMS: "the standard streams of Python",
    Changed.PATCHED: "patched functions of Python or numpy",
    Changed.COLLECTOR: "the garbage collector",
    Changed.INTERPRETER: "the recursion limit, the switch interval, the stack of threads, the time limit of sockets or the longest number "
    "as text",
    Changed.IMPORT_PATH: "the import path",
    Changed.TRACE: "a trace, profile or audit function",
    Changed.RESTRICTIONS: "what it may do: system calls or privileges that it has denied itself (seccomp, capabilities)",
    Changed.DEATH: "that it ends with its driver, adopts what descends from it and can be looked into",
}
