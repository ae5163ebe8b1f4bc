/* The calls of libcudart that Assay makes, on the host's memory and by its clock: for tests on machines without a device. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

/* An event is the moment at which it was recorded: nothing is ever behind here. */
int cudaEventCreate(void **event) {
    *event = calloc(1, sizeof(struct timespec));
    live++;
    return 0;
}

int cudaEventDestroy(void *event) { return cudaFree(event); }

int cudaEventRecord(void *event, void *stream) {
    if (stream != (void *)0x5) return 400;
    clock_gettime(CLOCK_MONOTONIC, event);
    return 0;
}

int cudaEventSynchronize(void *event) { return ((struct timespec *)event)->tv_sec ? 0 : 400; }

int cudaEventElapsedTime(float *milliseconds, void *begin, void *end) {
    struct timespec *from = begin, *to = end;
    if (!from->tv_sec || !to->tv_sec) return 400;
    *milliseconds = (to->tv_sec - from->tv_sec) * 1e3 + (to->tv_nsec - from->tv_nsec) / 1e6;
    return 0;
}

const char *cudaGetErrorString(int code) {
    return code == 2 ? "out of memory" : code == 400 ? "invalid resource handle" : "invalid copy direction";
}
