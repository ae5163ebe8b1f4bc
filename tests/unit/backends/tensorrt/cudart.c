/* The seven calls of libcudart that Assay makes, on the host's memory: for tests on machines without a device. */
#include <stdlib.h>
#include <string.h>

static size_t live;

size_t live_allocations(void) { return live; }

int cudaMalloc(void **pointer, size_t size) {
    if (size > (1ull << 40)) return 2;
    *pointer = aligned_alloc(256, (size + 255) / 256 * 256);
    live++;
    return *pointer ? 0 : 2;
}

int cudaFree(void *pointer) {
    free(pointer);
    live--;
    return 0;
}

int cudaMemcpy(void *target, const void *source, size_t size, int direction) {
    if (direction != 1 && direction != 2) return 21;
    memcpy(target, source, size);
    return 0;
}

int cudaStreamCreate(void **stream) {
    *stream = (void *)0x5;
    return 0;
}

int cudaStreamSynchronize(void *stream) { return stream == (void *)0x5 ? 0 : 400; }

const char *cudaGetErrorString(int code) {
    return code == 2 ? "out of memory" : code == 400 ? "invalid resource handle" : "invalid copy direction";
}
