/*
 * What an output voltage did, judged as it happens and in constant memory: overshoot,
 * settling, and the mean, peak-to-peak and deviation over the last second.
 */
#ifndef HIL_METRICS_H
#define HIL_METRICS_H

#include <stdbool.h>
#include <stdint.h>

enum { HIL_METRICS_BLOCKS = 128, HIL_BLOCK_NS = 10000000 };

/* A hundredth of a second's statistics: what the last second is summed up from. */
struct hil_block {
    uint64_t index; /* counted backwards from the planned end, so that blocks end with it */
    uint64_t count;
    double min, max, sum, sum_squares; /* the sums of the distance from the reference */
};

struct hil_metrics {
    uint64_t duration_ns, last_change_ns;
    uint64_t count;
    double reference_v, value_v;
    double peak_v;                   /* from the start */
    double overshoot;                /* the most above the reference, as a share of it */
    uint64_t outside_ns, settled_ns; /* the last time outside the band, and the next record */
    bool outside;                    /* still, or again */
    uint64_t end_ns;
    struct hil_block blocks[HIL_METRICS_BLOCKS];
};

/* The results; those of the last second are over t >= end - 1 s. */
struct hil_results {
    double reference_v, final_v, peak_v;
    double overshoot_pct;
    double settling_ms;                   /* after the reference's last change; NAN: never */
    double mean_v, pp_v, rms_deviation_v; /* over the last second */
    bool settled;                         /* stays in the 2 percent band to the end */
};

/* `last_change_ns`: when the reference has its final value. */
void hil_metrics_init(struct hil_metrics *metrics, uint64_t duration_ns, uint64_t last_change_ns);
void hil_metrics_add(struct hil_metrics *metrics, uint64_t t_ns, double reference_v,
                     double value_v);
void hil_metrics_results(const struct hil_metrics *metrics, struct hil_results *results);

#endif
