#include "samples.h"

void hil_samples_merge(struct hil_samples *s, const struct hil_samples *later)
{
    if (later->count == 0)
        return;
    if (s->count == 0) {
        *s = *later;
        return;
    }
    double count = (double)(s->count + later->count), distance = later->mean - s->mean;
    double share = (double)later->count / count;
    s->squares += later->squares + distance * distance * share * (double)s->count;
    s->mean += distance * share;
    s->count += later->count;
    s->to_ns = later->to_ns;
    s->min = later->min < s->min ? later->min : s->min;
    s->max = later->max > s->max ? later->max : s->max;
}
