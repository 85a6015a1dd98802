#include "trace_parts.h"

static int write_counts(hid_t group, const char *name, const char *unit, const char *doc,
                        const uint64_t *values, hsize_t count)
{
    const hid_t space = H5Screate_simple(1, &count, NULL);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);

    H5Pset_obj_track_times(create, false);
    const hid_t dataset =
        H5Dcreate2(group, name, H5T_STD_U64LE, space, H5P_DEFAULT, create, H5P_DEFAULT);
    int rc = dataset < 0 ||
                     H5Dwrite(dataset, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0
                 ? trace_hdf5_error()
                 : 0;

    if (!rc)
        rc = trace_hdf5_set_text(dataset, "unit", unit);
    if (!rc)
        rc = trace_hdf5_set_text(dataset, "doc", doc);
    H5Dclose(dataset);
    H5Pclose(create);
    H5Sclose(space);
    return rc;
}

static int write_histogram(hid_t group, const struct hil_histogram *histogram)
{
    uint64_t lower_ns[HIL_HISTOGRAM_BUCKETS], counts[HIL_HISTOGRAM_BUCKETS];
    hsize_t used = 0;

    for (unsigned i = 0; i < HIL_HISTOGRAM_BUCKETS; i++) {
        if (histogram->buckets[i] == 0)
            continue;
        lower_ns[used] = hil_histogram_bucket_start(i);
        counts[used++] = histogram->buckets[i];
    }

    int rc = write_counts(group, "lower_ns", "ns", "least value of the bucket", lower_ns, used);
    if (!rc)
        rc = write_counts(group, "count", "", "values in the bucket", counts, used);
    if (!rc)
        rc = trace_hdf5_set_count(group, "max_ns", histogram->max);
    if (!rc)
        rc = trace_hdf5_set_count(group, "sum_ns", histogram->sum);
    return rc;
}

static int add_histogram(hid_t all, const struct hil_named_histogram *named)
{
    hid_t group;
    int rc = trace_hdf5_create_group(all, named->name, &group);

    if (rc)
        return rc;
    rc = write_histogram(group, named->histogram);
    H5Gclose(group);
    return rc;
}

int hil_trace_add_histograms(struct hil_trace *trace, const struct hil_named_histogram *histograms,
                             unsigned count)
{
    hid_t all;

    trace_hdf5_enter();
    if (trace->error)
        return trace->error; /* the disk may be full; the file so far is safe */
    int rc = trace_hdf5_create_group(trace->file, HIL_HISTOGRAMS, &all);
    if (rc)
        return rc;
    for (unsigned i = 0; i < count && !rc; i++)
        rc = add_histogram(all, &histograms[i]);
    H5Gclose(all);
    return rc;
}
