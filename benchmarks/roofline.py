"""Our two peaks of the machine beside known ones: STREAM's copy in C, compiled here, and the float32 products of other libraries.

The copy is compared with the same kind of store: ours is the C library's `memcpy`, which writes past the caches where arrays are
large, and so is the one in C; STREAM's own loop has ordinary stores, before which a processor may read what it overwrites. The
product is compared with the fastest of the others: one may not know this processor. In turns, each the best of its own rounds, as
many threads as asked for; one thread by CPU time, so that other work is not in it. Percent is ours above the known one.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, save_model

from assay.pipeline.machine_peaks import environment

WIDTH = 1536
ROUNDS = 5
STREAM = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(omp_get_max_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
int main(void) {
  size_t n = 1u << 25;
  double *a = aligned_alloc(1 << 21, 8 * n), *c = aligned_alloc(1 << 21, 8 * n), best = 1e9, streamed = 1e9;
  madvise(a, 8 * n, MADV_HUGEPAGE); /* as numpy has its large arrays */
  madvise(c, 8 * n, MADV_HUGEPAGE);
  #pragma omp parallel for
  for (size_t i = 0; i < n; i++) { a[i] = 1.0; c[i] = 0.0; }
  for (int k = 0; k < 10; k++) {
    double begin = now();
    #pragma omp parallel for
    for (size_t i = 0; i < n; i++) c[i] = a[i];
    double seconds = now() - begin;
    if (seconds < best) best = seconds;
    begin = now();
    #pragma omp parallel
    {
      size_t part = n / omp_get_num_threads(), from = part * omp_get_thread_num();
      memcpy(c + from, a + from, 8 * part);
    }
    seconds = now() - begin;
    if (seconds < streamed) streamed = seconds;
  }
  printf("%g %g %g\\n", 16.0 * n / best, 16.0 * n / streamed, c[n / 2]);
}
"""


def ours(threads: int, variables: dict[str, str]) -> dict[str, float]:
    command = [sys.executable, "-m", "assay.worker.timing.roofline_peaks", str(threads)]
    peaks: dict[str, float] = json.loads(subprocess.check_output(command, env=variables))
    return peaks


def stream(folder: Path, variables: dict[str, str]) -> dict[str, float]:
    """Bytes per second of the copy, read and written: by ordinary stores and by those of `memcpy`."""
    binary = folder / "stream"
    if not binary.exists():
        (folder / "stream.c").write_text(STREAM)
        flags = ["-O3", "-march=native", "-fopenmp", "-fno-tree-loop-distribute-patterns"]
        subprocess.run(["cc", *flags, str(folder / "stream.c"), "-o", str(binary)], check=True)
    words = subprocess.check_output([str(binary)], env=variables, text=True).split()
    return {"STREAM's loop, copy": float(words[0]), "memcpy in C, copy": float(words[1])}


def product(which: str, threads: int, folder: Path) -> float:
    """Floating operations per second of one library's product of square float32 matrices."""
    a = np.random.default_rng(0).standard_normal((WIDTH, WIDTH)).astype(np.float32)
    if which == "torch":
        import torch

        torch.set_num_threads(threads)
        operand = torch.from_numpy(a)
        made = torch.empty_like(operand)
        work = lambda: torch.mm(operand, operand, out=made)  # noqa: E731
    else:
        import onnxruntime

        value = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [WIDTH, WIDTH]) for name in ("a", "b", "y")]
        graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["y"])], "product", value[:2], value[2:])
        save_model(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "product.onnx"
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(str(folder / "product.onnx"), options)
        work = lambda: session.run(None, {"a": a, "b": a})  # noqa: E731
    clock = time.process_time if threads == 1 else time.perf_counter
    seconds = []
    for _ in range(12):
        begin = clock()
        work()
        seconds.append(clock() - begin)
    return float(2 * WIDTH**3 / min(seconds))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    threads = parser.parse_args().threads
    variables = environment(os.environ, threads)
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {threads} threads")
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        for _ in range(ROUNDS):
            peaks = ours(threads, variables)
            seen = {"our copy": peaks["copy_bytes_per_s"], "our product": peaks["gemm_flops_per_s"]}
            seen |= stream(Path(name), variables)
            for library in ("torch", "onnxruntime"):
                command = [sys.executable, __file__, "--product", library, str(threads), name]
                output = subprocess.check_output(command, env=variables, text=True, stderr=subprocess.DEVNULL)
                seen[f"{library} product"] = float(output)
            best = {what: max(value, best.get(what, 0.0)) for what, value in seen.items()}
    for what, value in best.items():
        own = best["our copy" if "copy" in what else "our product"]
        print(
            f"{what:20}{value / 1e9:8.2f} G{'B' if 'copy' in what else 'FLOP'}/s   ours is {100 * (own / value - 1):+.1f} %"
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--product"]:
        print(product(sys.argv[2], int(sys.argv[3]), Path(sys.argv[4])))
    else:
        main()
