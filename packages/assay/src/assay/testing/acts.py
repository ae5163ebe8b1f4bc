"""What a backend can do to its process and to the harness beyond failing: one small act each, and what must be reported of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass

from assay.core.outcome import Cause, Outcome
from assay.testing import (
    acts_of_children,
    acts_on_connection,
    acts_on_interpreter,
    acts_on_others,
    acts_on_processes,
    acts_on_resources,
    acts_on_rights,
    acts_on_runtime,
    acts_on_state,
    acts_that_raise,
)


@dataclass(frozen=True)
class Act:
    """`commit` does it. `says` are words that the detail has, `signal` its signal; `changed` is the word for what the process was not
    left with, in a warning ("": nothing is said)."""

    commit: Callable[[], None]
    outcome: Outcome = Outcome.OK
    cause: Cause = Cause.NONE
    says: str = ""
    signal: str = ""
    changed: str = ""


def _dies(commit: Callable[[], None], signal: str) -> Act:
    return Act(commit, Outcome.CRASH, Cause.SIGNAL, signal, signal)


def _exits(commit: Callable[[], None], says: str) -> Act:
    return Act(commit, Outcome.CRASH, Cause.OTHER, says)


def _hangs(commit: Callable[[], None]) -> Act:
    return Act(commit, Outcome.TIMEOUT, Cause.TIMEOUT, "no answer within")


def _grows(commit: Callable[[], None]) -> Act:
    return Act(commit, Outcome.OUT_OF_MEMORY, Cause.OUT_OF_MEMORY, "the limit is")


def _raises(commit: Callable[[], None], says: str) -> Act:
    return Act(commit, Outcome.ERROR, Cause.OTHER, says)


def _leaves(commit: Callable[[], None], changed: str) -> Act:
    return Act(commit, changed=changed)


_p, _s, _r = acts_on_processes, acts_on_state, acts_that_raise
_q, _t, _n = acts_on_resources, acts_on_runtime, acts_on_rights
_c, _i, _o, _k = acts_on_connection, acts_on_interpreter, acts_on_others, acts_of_children

ACTS: dict[str, Act] = {
    # Copies, children and the connection
    "fork_that_lives": _leaves(_p.fork_that_lives, "processes"),
    "native_fork_that_lives": _leaves(_p.native_fork_that_lives, "processes"),
    "fork_that_works_on": Act(_p.fork_that_works_on),
    "native_fork_that_works_on": Act(_p.native_fork_that_works_on),
    "fork_that_writes_garbage": _leaves(_c.fork_that_writes_garbage, "processes"),
    "fork_that_reads": _leaves(_c.fork_that_reads, "processes"),
    "child_in_own_session": _leaves(_p.child_in_own_session, "processes"),
    "daemon": _leaves(_p.daemon, "processes"),
    "many_children": _leaves(_p.many_children, "processes"),
    "daemon_and_exit": _exits(_p.daemon_and_exit, "exit code 3"),
    "child_holds_socket_and_exit": _exits(_p.child_holds_socket_and_exit, "exit code 3"),
    "child_holds_socket_and_abort": _dies(_p.child_holds_socket_and_abort, "SIGABRT"),
    "garbage": Act(_c.garbage),
    "forged_length": Act(_c.forged_length),
    "answer_for_another": Act(_c.answer_for_another),
    "answer_twice": Act(_c.answer_of_old_form),
    "closes_all_and_lives": _exits(_c.closes_all_and_lives, "closed its connection"),
    "closes_all": _exits(_c.closes_all, "closed its connection"),
    "shuts_sockets_down": _exits(_c.shuts_sockets_down, "closed its connection"),
    "fork_in_thread": _leaves(_p.fork_in_thread, "processes"),
    "stopped_child": _leaves(_p.stopped_child, "processes"),
    "zombies": Act(_p.zombies),
    "becomes_another_program": _exits(_p.becomes_another_program, "closed its connection"),
    "answers_with_token": _exits(_c.answers_with_token, "another job"),
    "answers_before_it_is_done": Act(_c.answers_before_it_is_done),
    "greets_again": _exits(_c.greets_again, "greets again"),
    "shared_memory_left": _leaves(_p.shared_memory_left, "processes"),
    "system_v_memory_left": Act(_p.system_v_memory_left),
    "files_without_end": Act(_p.files_without_end),
    "copy_answers_later": _leaves(_c.copy_answers_later, "processes"),
    "crumb_overwritten": Act(_c.crumb_overwritten),
    "empty_packets": Act(_c.empty_packets),
    "floods_connection": _exits(_c.floods_connection, "answer nothing"),
    "sends_descriptors": Act(_c.sends_descriptors),
    "socket_swapped": _exits(_c.socket_swapped, "closed its connection"),
    "fleeing_process": _leaves(_k.fleeing_process, "processes"),
    "nameless_process": _leaves(_k.nameless_process, "processes"),
    "nameless_process_and_exit": _exits(_k.nameless_process_and_exit, "exit code 4"),
    "process_beside_it": Act(_k.process_beside_it),
    # The processes around it
    "traced_by_driver": _raises(_k.traced_by_driver, "PermissionError"),
    "stops_driver": _raises(_o.stops_driver, "PermissionError"),
    "kills_driver": _raises(_o.kills_driver, "PermissionError"),
    "terminates_group_of_driver": _raises(_o.terminates_group_of_driver, "PermissionError"),
    "signals_everybody": _raises(_o.signals_everybody, "PermissionError"),
    "stops_workers_beside": Act(_o.stops_workers_beside),
    "kills_workers_beside": Act(_o.kills_workers_beside),
    "traces_driver": _raises(_o.traces_driver, "PermissionError"),
    "limits_driver": _raises(_o.limits_driver, "PermissionError"),
    "slows_driver": _raises(_o.slows_driver, "PermissionError"),
    "sets_clock": _raises(_o.sets_clock, "PermissionError"),
    # It does not end
    "child_stops_it": _hangs(_k.child_stops_it),
    "stops_itself": _hangs(_p.stops_itself),
    "hangs_deaf": _hangs(_p.hangs_deaf),
    "hangs_in_native_code": _hangs(_p.hangs_in_native_code),
    "floods_log": Act(_p.floods_log),
    "floods_log_for_ever": _hangs(_p.floods_log_for_ever),
    "exit_handler_hangs": Act(_p.exit_handler_hangs),
    # Memory
    "child_eats_memory": _grows(_p.child_eats_memory),
    "far_grandchild_eats_memory": _grows(_p.far_grandchild_eats_memory),
    "eats_memory": _grows(_p.eats_memory),
    "eats_memory_of_no_process": _grows(_p.eats_memory_of_no_process),
    "eats_shared_memory": _grows(_k.eats_shared_memory),
    # It ends
    "child_kills_it": _dies(_k.child_kills_it, "SIGKILL"),
    "kills_itself": _dies(_p.kills_itself, "SIGKILL"),
    "terminates_itself": _dies(_p.terminates_itself, "SIGTERM"),
    "segfault_in_thread": _dies(_p.segfault_in_thread, "SIGSEGV"),
    "divides_by_zero": _dies(_p.divides_by_zero, "SIGFPE"),
    "leaves_well": _exits(_p.leaves_well, "exit code 0"),
    "leaves_from_thread": _exits(_p.leaves_from_thread, "exit code 7"),
    "leaves_by_c": _exits(_p.leaves_by_c, "exit code 5"),
    # What is raised
    "str_fails": _raises(_r.str_fails, "StrFails"),
    "repr_fails": _raises(_r.repr_fails, "ReprFails"),
    "str_exits": _raises(_r.str_exits, "StrExits"),
    "unencodable": _raises(_r.unencodable, "RuntimeError"),
    "node_fails": _raises(_r.node_fails, "NodeFails"),
    "node_is_no_text": _raises(_r.node_is_no_text, "node of a number"),
    "keyboard_interrupt": _raises(_r.keyboard_interrupt, "KeyboardInterrupt"),
    "system_exit": _raises(_r.system_exit, "SystemExit"),
    "generator_exit": _raises(_r.generator_exit, "GeneratorExit"),
    "own_base_exception": _raises(_r.own_base_exception, "Own"),
    "exception_group": _raises(_r.exception_group, "ExceptionGroup"),
    "long_text": _raises(_r.long_text, "RuntimeError"),
    "recursion": _raises(_r.recursion, "RecursionError"),
    "unencodable_warning": Act(_r.unencodable_warning),
    "warning_str_fails": _raises(_r.warning_str_fails, "ValueError"),
    "descriptors_exhausted": _raises(_r.descriptors_exhausted, "open files"),
    "descriptors_exhausted_quietly": _raises(_r.descriptors_exhausted_quietly, "open files"),
    # What the next job would find
    "chdir": _leaves(_s.chdir, "directory"),
    "directory_gone": _leaves(_s.directory_gone, "directory"),
    "umask": _leaves(_s.umask, "umask"),
    "environ": _leaves(_s.environ, "environment"),
    "environ_cleared": _leaves(_s.environ_cleared, "environment"),
    "native_environ": _leaves(_s.native_environ, "environment"),
    "tempdir": _leaves(_s.tempdir, "temporary files"),
    "signal_handler": _leaves(_s.signal_handler, "signal"),
    "native_signal_handler": _leaves(_s.native_signal_handler, "signal"),
    "signal_mask": _leaves(_s.signal_mask, "signal"),
    "timer": _leaves(_s.timer, "timer"),
    "rounding": _leaves(_s.rounding, "floating-point"),
    "flush_to_zero": _leaves(_s.flush_to_zero, "floating-point"),
    "numpy_errors": _leaves(_s.numpy_errors, "numpy"),
    "locale": _leaves(_s.locale_, "locale"),
    "resource_limit": _leaves(_s.resource_limit, "resource"),
    "nice": _leaves(_s.nice, "priority"),
    "thread": _leaves(_s.thread, "thread"),
    "descriptor": _leaves(_s.descriptor, "descriptor"),
    "standard_output_replaced": _leaves(_s.standard_output_replaced, "descriptor"),
    "streams_gone": _leaves(_s.streams_gone, "streams"),
    "streams_closed": _leaves(_s.streams_closed, "descriptor"),
    "clock_patched": _leaves(_s.clock_patched, "patched"),
    "numpy_patched": _leaves(_s.numpy_patched, "patched"),
    "builtin_patched": _leaves(_s.builtin_patched, "patched"),
    "garbage_collector": _leaves(_s.garbage_collector, "garbage collector"),
    "recursion_limit": _leaves(_s.recursion_limit, "recursion"),
    "import_path": _leaves(_s.import_path, "import path"),
    "trace": _leaves(_s.trace, "trace"),
    "temporary_files": Act(_s.temporary_files),
    # What the next job would find: below what a program sets on purpose
    "lives_on_without_driver": _leaves(_i.lives_on_without_driver, "ends with its driver"),
    "timer_of_kernel": _leaves(_i.timer_of_kernel, "timer"),
    "alarm": _leaves(_i.alarm, "timer"),
    "traps_division": _leaves(_i.traps_division, "floating-point"),
    "json_patched": _leaves(_i.json_patched, "patched"),
    "socket_patched": _leaves(_i.socket_patched, "patched"),
    "harness_patched": _leaves(_i.harness_patched, "patched"),
    "own_number_patched": _leaves(_i.own_number_patched, "patched"),
    "module_replaced": _leaves(_i.module_replaced, "patched"),
    "collector_calls_back": _leaves(_i.collector_calls_back, "garbage collector"),
    "finalizer_raises": Act(_i.finalizer_raises),
    "switch_interval": _leaves(_i.switch_interval, "switch interval"),
    "import_finder": _leaves(_i.import_finder, "import path"),
    "raw_thread": _leaves(_i.raw_thread, "thread"),
    "thread_that_crashes_later": _leaves(_i.thread_that_crashes_later, "thread"),
    "thread_that_raises_later": _leaves(_i.thread_that_raises_later, "thread"),
    "memory_file": _leaves(_i.memory_file, "descriptor"),
    "queue_of_kernel": Act(_i.queue_of_kernel),
    "harness_method_patched": _leaves(_i.harness_method_patched, "patched"),
    "threading_patched": _leaves(_i.threading_patched, "patched"),
    "collector_keeps_all": _leaves(_i.collector_keeps_all, "garbage collector"),
    "digits_limit": _leaves(_i.digits_limit, "longest number"),
    "watchdog_ends_process_later": Act(_i.watchdog_ends_process_later),
    "warnings_as_errors": Act(_i.warnings_as_errors),
    "thread_that_raises": Act(_i.thread_that_raises),
    "name_with_brackets": Act(_i.name_with_brackets),
    "not_to_be_looked_into": _leaves(_i.not_to_be_looked_into, "looked into"),
    "ended_first_by_kernel": _leaves(_i.ended_first_by_kernel, "ends first"),
    "adopts_nobody": _leaves(_k.adopts_nobody, "adopts"),
    "leaves_process_to_driver": _leaves(_k.leaves_process_to_driver, "adopts"),
    "leaves_stray_process": _leaves(_k.leaves_stray_process, "adopts"),
    # What the kernel gives
    "many_files": Act(_q.many_files),
    "closed_folders": Act(_q.closed_folders),
    "sparse_file": Act(_q.sparse_file),
    "sockets_in_folder": Act(_q.sockets_in_folder),
    "no_large_file": _leaves(_q.no_large_file, "resource"),
    "lowest_limits": _leaves(_q.lowest_limits, "resource"),
    "hard_limits": _leaves(_q.hard_limits, "resource"),
    "memory_locked": Act(_q.memory_locked),
    "terabytes_reserved": Act(_q.terabytes_reserved),
    "log_without_lines": Act(_q.log_without_lines),
    "io_priority": _leaves(_q.io_priority, "priority"),
    "timer_slack": _leaves(_q.timer_slack, "priority"),
    "processor_time_used_up": _dies(_q.processor_time_used_up, "SIGXCPU"),
    "alarm_ends_it": _dies(_q.alarm_ends_it, "SIGALRM"),
    "broken_pipe_ends_it": _dies(_q.broken_pipe_ends_it, "SIGPIPE"),
    "frees_twice": _dies(_q.frees_twice, "SIGABRT"),
    "standard_input_is_its_socket": _leaves(_q.standard_input_is_its_socket, "descriptor"),
    "spawned_child": _leaves(_q.spawned_child, "processes"),
    # What the interpreter keeps to itself
    "name_fails": _raises(_t.name_fails, "words"),
    "str_hangs": _hangs(_t.str_hangs),
    "str_leaves": _exits(_t.str_leaves, "exit code 6"),
    "class_fails": _raises(_t.class_fails, "words"),
    "caused_by_itself": _raises(_t.caused_by_itself, "first of a ring"),
    "base_exception_group": _raises(_t.base_exception_group, "BaseExceptionGroup"),
    "enormous_text": _raises(_t.enormous_text, "RuntimeError"),
    "notes_fail": _raises(_t.notes_fail, "with notes"),
    "stop_iteration": _raises(_t.stop_iteration, "StopIteration"),
    "stop_async_iteration": _raises(_t.stop_async_iteration, "StopAsyncIteration"),
    "raised_by_thread": _raises(_t.raised_by_thread, "KeyboardInterrupt"),
    "native_recursion": _dies(_t.native_recursion, "SIGSEGV"),
    "standard_modules_forgotten": _leaves(_t.standard_modules_forgotten, "patched"),
    "audit_hook": _leaves(_t.audit_hook, "trace"),
    "audit_hook_of_c": _leaves(_t.audit_hook_of_c, "audit"),
    "thread_stack": _leaves(_t.thread_stack, "stack of threads"),
    "socket_timeout": _leaves(_t.socket_timeout, "sockets"),
    "time_zone": _leaves(_t.time_zone, "time zone"),
    # What it denies itself
    "system_call_refused": _leaves(_n.system_call_refused, "denied itself"),
}  # fmt: skip
if _n.landlock_abi():
    ACTS["folders_not_listed"] = Act(_n.folders_not_listed)
    ACTS["devices_not_written"] = Act(_n.devices_not_written)
if _n.landlock_abi() >= _n.NETWORK_ABI:
    ACTS["no_network"] = Act(_n.no_network)
if _n.has_capabilities():  # an ordinary user's worker has given up new privileges before
    ACTS["no_new_privileges"] = _leaves(_n.no_new_privileges, "denied itself")
    ACTS["capability_given_up"] = _leaves(_n.capability_given_up, "denied itself")
if hasattr(sys, "monitoring"):
    ACTS["monitoring"] = _leaves(_t.monitoring, "trace")
if len(os.sched_getaffinity(0)) > 1:
    ACTS["affinity"] = _leaves(_s.affinity, "affinity")
