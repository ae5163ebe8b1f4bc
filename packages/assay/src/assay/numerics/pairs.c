/* The one pass over pairs of float32: every sum, extreme, count and the worst elements of a chunk.

   Differences and ratios are formed in single precision, eight at a time; whatever an answer hangs on (a new largest
   error, an element near its allowance) is formed again in double for the few elements concerned, so that the figures
   are those of the float64 pass to 1e-6. Plain C99: built by `hatch_build.py` where there is a compiler; without it
   `kernel_float32.py` does the same with numpy. */

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 8
#define TILE 512
#define COLUMNS 2048 /* sign-free exponent and three bits of mantissa of a float32 */
#define ULP_BINS 13
#define WORST 10
#define LINES 5
#define SLACK 1e-5f

#if defined(__x86_64__) && defined(__linux__) && (defined(__GNUC__) || defined(__clang__))
#define FAST __attribute__((target_clones("avx2", "default")))
#else
#define FAST
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define WHOLE _Pragma("GCC unroll 1") /* unrolled, the lanes would be taken for so many scalars */
#else
#define WHOLE
#endif

typedef struct {
    double sum_error, squared_error, squared_actual;
    double max_abs, max_rel, budget;
    double lowest, highest;
    int64_t outside, found;
    double worst_budget[WORST];
    int64_t worst_index[WORST];
} Account;

/* What lies above all of the lines and of the corners (`error_envelope.py`) is listed, `found` of them; more than `room` are
   only counted. */
typedef struct {
    float base[LINES], slope[LINES];
    double factor; /* 1 + slack */
    int64_t corners, room, found;
    const double *size, *error;
    int64_t *index;
} Envelope;

int assay_pairs_version(void) { return 2; }

static inline uint32_t bits_of(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The first distance of each bin after the first: `ulp.ULP_EDGES`. */
static const int32_t EDGES[ULP_BINS - 1] = {1, 2, 5, 17, 65, 257, 1025, 4097, 16385, 65537, 262145, 1048577};

/* Kept sorted, the worst first; of equal ones the first stays. */
static void keep(Account *out, double budget, int64_t index, double bar) {
    if (!(budget > bar)) return;
    if (out->found == WORST && !(budget > out->worst_budget[WORST - 1])) return;
    int at = out->found < WORST ? (int)out->found++ : WORST - 1;
    while (at > 0 && out->worst_budget[at - 1] < budget) {
        out->worst_budget[at] = out->worst_budget[at - 1];
        out->worst_index[at] = out->worst_index[at - 1];
        at--;
    }
    out->worst_budget[at] = budget;
    out->worst_index[at] = index;
}

static void decide(const float *a, const float *e, int64_t start, int64_t count, double rtol, double atol, double bar,
                   Account *out) {
    for (int64_t i = 0; i < count; i++) {
        double size = fabs((double)e[i]), error = fabs((double)a[i] - (double)e[i]);
        if (error > out->max_abs) out->max_abs = error;
        if (size != 0.0 && error / size > out->max_rel) out->max_rel = error / size;
        double budget = error == 0.0 ? 0.0 : error / (size * rtol + atol);
        if (budget > 1.0) out->outside++;
        if (budget > out->budget) out->budget = budget;
        keep(out, budget, start + i, bar);
    }
}

/* How large an error may be at that size: on the line between its two corners, or the origin and the first. */
static double bound_at(const Envelope *seen, double size) {
    int64_t low = 0, high = seen->corners - 1;
    if (high < 0) return 0.0;
    if (size >= seen->size[high]) return seen->error[high];
    if (size < seen->size[0]) return seen->error[0] * (size / seen->size[0]);
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (size < seen->size[middle]) high = middle;
        else low = middle;
    }
    return seen->error[low] +
           (seen->error[high] - seen->error[low]) * ((size - seen->size[low]) / (seen->size[high] - seen->size[low]));
}

static void list_above(const float *a, const float *e, int64_t start, int64_t count, Envelope *seen) {
    for (int64_t i = 0; i < count; i++) {
        float rough = fabsf(a[i] - e[i]), about = fabsf(e[i]), line = seen->base[LINES - 1];
        for (int k = 0; k < LINES - 1; k++) {
            float other = seen->base[k] + seen->slope[k] * about;
            line = other < line ? other : line;
        }
        if (!(rough > line)) continue;
        double size = fabs((double)e[i]), error = fabs((double)a[i] - (double)e[i]);
        if (!(error > 0.0 && error > seen->factor * bound_at(seen, size))) continue;
        if (seen->found < seen->room) seen->index[seen->found] = start + i;
        seen->found++;
    }
}

/* Whether an error of a tile is above all of the lines. */
static inline __attribute__((always_inline)) int exceeds(const float *restrict error, const float *restrict e,
                                                         const float *restrict base, const float *restrict slope) {
    const float b0 = base[0], b1 = base[1], b2 = base[2], b3 = base[3], b4 = base[4];
    const float s0 = slope[0], s1 = slope[1], s2 = slope[2], s3 = slope[3];
    float over[LANES];
    for (int l = 0; l < LANES; l++) over[l] = -1.0f;
    for (int i = 0; i < TILE; i += LANES) {
        WHOLE for (int l = 0; l < LANES; l++) {
            float size = fabsf(e[i + l]), h = b0 + s0 * size, g = b1 + s1 * size, f = b2 + s2 * size, k = b3 + s3 * size;
            g = b4 < g ? b4 : g;
            f = k < f ? k : f;
            h = g < h ? g : h;
            h = error[i + l] - (f < h ? f : h);
            over[l] = h > over[l] ? h : over[l];
        }
    }
    float most = -1.0f;
    for (int l = 0; l < LANES; l++) most = over[l] > most ? over[l] : most;
    return most > 0.0f;
}

/* Fills the account, adds to `columns` (COLUMNS) and `ulps` (ULP_BINS). `known_*` are what earlier chunks have seen:
   smaller figures need not be found again. Returns 0, or 1 with nothing added where a difference is not finite. */
FAST int assay_pairs_float32(const float *restrict a, const float *restrict e, int64_t n, double rtol, double atol,
                             double bar, double known_abs, double known_rel, Account *restrict out,
                             int64_t *restrict columns, int64_t *restrict ulps, Envelope *restrict envelope) {
    uint32_t octave[4][COLUMNS];
    int64_t above[ULP_BINS - 1] = {0};
    double sums[LANES] = {0}, squares[LANES] = {0}, energy[LANES] = {0};
    float low[LANES], high[LANES];
    const float rtol_f = (float)rtol, atol_f = (float)atol;
    memset(octave, 0, sizeof octave);
    memset(out, 0, sizeof *out);
    out->max_abs = known_abs;
    out->max_rel = known_rel;
    for (int l = 0; l < LANES; l++) {
        low[l] = INFINITY;
        high[l] = -INFINITY;
    }
    float tile_a[TILE], tile_e[TILE], error[TILE];
    int32_t apart[TILE];
    for (int64_t start = 0; start < n; start += TILE) {
        int64_t count = n - start < TILE ? n - start : TILE;
        const float *x = a + start, *y = e + start;
        if (count < TILE) { /* the last tile is filled up with equal pairs that change no extreme */
            for (int i = 0; i < TILE; i++) {
                tile_a[i] = i < count ? x[i] : x[0];
                tile_e[i] = i < count ? y[i] : x[0];
            }
            x = tile_a;
            y = tile_e;
        }
        float most[LANES] = {0}, relative[LANES] = {0}, share[LANES] = {0}, finite[LANES] = {0};

        for (int i = 0; i < TILE; i += LANES) {
            WHOLE for (int l = 0; l < LANES; l++) {
                float p = x[i + l], q = y[i + l];
                float d = fabsf(p - q), size = fabsf(q);
                error[i + l] = d;
                float r = size > 0.0f ? d / size : 0.0f, s = d / (size * rtol_f + atol_f);
                most[l] = d > most[l] ? d : most[l];
                finite[l] += d - d; /* NaN, for good, after a NaN or an infinity */
                relative[l] = r > relative[l] ? r : relative[l];
                share[l] = s > share[l] ? s : share[l];
                low[l] = p < low[l] ? p : low[l];
                high[l] = p > high[l] ? p : high[l];
                double wide = (double)d, value = (double)p;
                sums[l] += wide;
                squares[l] += wide * wide;
                energy[l] += value * value;
            }
        }
        float largest = 0.0f, steepest = 0.0f, fullest = 0.0f;
        for (int l = 0; l < LANES; l++) {
            if (finite[l] != 0.0f) return 1;
            largest = most[l] > largest ? most[l] : largest;
            steepest = relative[l] > steepest ? relative[l] : steepest;
            fullest = share[l] > fullest ? share[l] : fullest;
        }
        double least = out->found == WORST ? out->worst_budget[WORST - 1] : bar;
        if (least < bar) least = bar;
        if (least > 1.0) least = 1.0;
        if (largest == 0.0f) {
            octave[0][0] += (uint32_t)count;
            if (count < TILE) energy[0] -= (double)x[0] * (double)x[0] * (double)(TILE - count);
            continue;
        }
        if ((double)largest > out->max_abs * (1.0 - SLACK) || (double)steepest > out->max_rel * (1.0 - SLACK) ||
            (double)fullest > least * (1.0 - SLACK))
            decide(x, y, start, count, rtol, atol, bar, out);
        if (envelope && exceeds(error, y, envelope->base, envelope->slope)) list_above(x, y, start, count, envelope);
        for (int i = 0; i < TILE; i++) {
            uint32_t u = bits_of(x[i]), v = bits_of(y[i]);
            uint32_t m = u & 0x7fffffffu, w = v & 0x7fffffffu;
            uint32_t between = m > w ? m - w : w - m;
            uint32_t far = ((u ^ v) >> 31) ? m + w : between;
            apart[i] = (int32_t)(far < 0x7fffffffu ? far : 0x7fffffffu);
        }
        for (int b = 0; b < ULP_BINS - 1; b++) { /* comparing with every edge is vectorised, scattering is not */
            const int32_t below = EDGES[b] - 1;
            int32_t beyond[LANES] = {0};
            for (int i = 0; i < TILE; i += LANES)
                WHOLE for (int l = 0; l < LANES; l++) beyond[l] += apart[i + l] > below;
            int32_t all = 0;
            for (int l = 0; l < LANES; l++) all += beyond[l];
            if (!all) break; /* then there is nothing beyond the later edges either */
            above[b] += all;
        }
        for (int i = 0; i < TILE; i += 4) { /* four tables: neighbours often fall into one bin, and would wait */
            octave[0][bits_of(error[i]) >> 20]++;
            octave[1][bits_of(error[i + 1]) >> 20]++;
            octave[2][bits_of(error[i + 2]) >> 20]++;
            octave[3][bits_of(error[i + 3]) >> 20]++;
        }
        columns[0] -= TILE - count; /* the filling's */
        if (count < TILE) { /* the filling's energy is taken off again */
            double value = (double)x[0];
            energy[0] -= value * value * (double)(TILE - count);
        }
    }
    double lowest = INFINITY, highest = -INFINITY;
    for (int l = 0; l < LANES; l++) {
        out->sum_error += sums[l];
        out->squared_error += squares[l];
        out->squared_actual += energy[l];
        lowest = low[l] < lowest ? low[l] : lowest;
        highest = high[l] > highest ? high[l] : highest;
    }
    out->lowest = lowest;
    out->highest = highest;
    for (int t = 0; t < 4; t++) {
        for (int c = 0; c < COLUMNS; c++) columns[c] += octave[t][c];
    }
    for (int b = 0; b < ULP_BINS; b++) ulps[b] += (b ? above[b - 1] : n) - (b < ULP_BINS - 1 ? above[b] : 0);
    return 0;
}

/* Lowest, highest and sum of squares of float32 into `seen`; returns 1 where one is not finite. */
FAST int assay_survey_float32(const float *restrict x, int64_t n, double *restrict seen) {
    float low[LANES], high[LANES], finite[LANES] = {0};
    double squares[LANES] = {0};
    for (int l = 0; l < LANES; l++) {
        low[l] = INFINITY;
        high[l] = -INFINITY;
    }
    int64_t start = 0;
    for (; start + TILE <= n; start += TILE) {
        const float *y = x + start;
        for (int i = 0; i < TILE; i += LANES) {
            WHOLE for (int l = 0; l < LANES; l++) {
                float p = y[i + l];
                double wide = (double)p;
                low[l] = p < low[l] ? p : low[l];
                high[l] = p > high[l] ? p : high[l];
                finite[l] += p - p; /* NaN, for good, after a NaN or an infinity */
                squares[l] += wide * wide;
            }
        }
    }
    for (; start < n; start++) {
        float p = x[start];
        low[0] = p < low[0] ? p : low[0];
        high[0] = p > high[0] ? p : high[0];
        finite[0] += p - p;
        squares[0] += (double)p * (double)p;
    }
    seen[0] = INFINITY;
    seen[1] = -INFINITY;
    seen[2] = 0.0;
    for (int l = 0; l < LANES; l++) {
        if (finite[l] != 0.0f) return 1;
        seen[0] = low[l] < seen[0] ? low[l] : seen[0];
        seen[1] = high[l] > seen[1] ? high[l] : seen[1];
        seen[2] += squares[l];
    }
    return 0;
}
