#include "label.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

size_t hil_fmu_label_text(const struct hil_fmu_label *label, char *text, size_t size)
{
    const int length = snprintf(text, size, "model %s\nwidth %u\nperiod_ns %" PRIu64 "\ntoken %s\n",
                                label->model, label->width, label->period_ns, label->token);

    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size - 1;
}

int hil_fmu_label_read(struct hil_fmu_label *label, const char *path)
{
    FILE *file = fopen(path, "re");

    if (!file)
        return -errno;
    const int read = fscanf(file, "model %127s width %u period_ns %" SCNu64 " token %39s",
                            label->model, &label->width, &label->period_ns, label->token);
    const int failed = ferror(file);
    fclose(file);
    if (failed)
        return -EIO;
    return read == 4 && label->width && label->period_ns ? 0 : -EINVAL;
}
