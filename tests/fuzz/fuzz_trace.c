/*
 * Records. The data says which datasets and attributes there are, and of which shapes and numbers:
 * what HDF5 then writes is a file that HDF5 can read, and that no run has written. (Bytes changed
 * at random would find the mistakes of libhdf5 alone.)
 */
#include <hdf5.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "harness/figures/plot.h"
#include "harness/h5/trace_reader.h"
#include "harness/record/export.h"
#include "harness/record/export_mcap.h"

static const uint8_t *data;
static size_t left;

static uint64_t take(size_t bytes)
{
    return fuzz_take(&data, &left, bytes);
}

static const char *take_of(const char *const *names, unsigned count)
{
    return names[take(1) % count];
}

#define TAKE_OF(...)                                                                               \
    take_of((const char *const[]){__VA_ARGS__},                                                    \
            sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Mostly small, at times anything. */
static hsize_t take_size(void)
{
    const uint64_t kind = take(1);

    return kind < 200 ? kind % 20 : kind < 240 ? take(2) : take(8);
}

static hid_t take_type(void)
{
    switch (take(1) % 8) {
    case 0:
        return H5Tcopy(H5T_NATIVE_UINT64);
    case 1:
        return H5Tcopy(H5T_STD_REF_OBJ);
    case 2: {
        const hid_t text = H5Tcopy(H5T_C_S1);
        H5Tset_size(text, H5T_VARIABLE);
        return text;
    }
    case 3:
        return H5Tcopy(H5T_NATIVE_INT8);
    default:
        return H5Tcopy(H5T_IEEE_F64LE);
    }
}

static hid_t take_space(hsize_t size[2], int *dimensions)
{
    const hsize_t limit[] = {H5S_UNLIMITED, H5S_UNLIMITED};

    *dimensions = (int)(take(1) % 3);
    for (int i = 0; i < 2; i++)
        size[i] = take_size();
    return *dimensions ? H5Screate_simple(*dimensions, size, limit) : H5Screate(H5S_SCALAR);
}

/* As many numbers as there are small files for. */
static void write_numbers(hid_t dataset, const hsize_t size[2], int dimensions)
{
    const hsize_t count = (dimensions > 0 ? size[0] : 1) * (dimensions > 1 ? size[1] : 1);
    static double values[1 << 12];

    if (size[0] > 1 << 12 || size[1] > 1 << 12 || count > 1 << 12)
        return;
    double value = 0, apart = (double)take(1) / 16;
    if (take(1) < 40) {
        const uint64_t bits = take(8);
        memcpy(&apart, &bits, sizeof apart);
    }
    for (hsize_t i = 0; i < count; i++, value += apart)
        values[i] = value;
    H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
}

static void make_dataset(hid_t group)
{
    const char *name = TAKE_OF("time_s", "output_v", "reference_v", "step", "voltage_v", "duty",
                               "current_a", "lower_ns", "count", "\x1b[2J");
    hsize_t size[2], chunk[2];
    int dimensions;
    const hid_t type = take_type(), space = take_space(size, &dimensions);
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);

    for (int i = 0; i < 2; i++)
        chunk[i] = take_size();
    if (dimensions > 0)
        H5Pset_chunk(create, dimensions, chunk);
    const hid_t made = H5Dcreate2(group, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT);
    if (made >= 0) {
        if (chunk[0] < 1 << 12 && chunk[1] < 1 << 12) /* HDF5 writes whole ones */
            write_numbers(made, size, dimensions);
        H5Dclose(made);
    }
    H5Pclose(create);
    H5Sclose(space);
    H5Tclose(type);
}

static void make_attribute(hid_t object)
{
    const char *name = TAKE_OF("phase_ns", "period_ns", "decimation", "max_ns", "sum_ns",
                               "scenario", "mode", "fabric", "unit", "doc");
    hsize_t size[2];
    int dimensions;
    const hid_t type = take_type(), space = take_space(size, &dimensions);
    const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const uint64_t value = take(8);

    if (made >= 0) {
        if (dimensions == 0)
            H5Awrite(made, H5T_NATIVE_UINT64, &value);
        H5Aclose(made);
    }
    H5Sclose(space);
    H5Tclose(type);
}

static void make_part(hid_t file)
{
    const char *name = TAKE_OF("controller", "controller", "converter", "histograms",
                               "converter/000", "histograms/late", "x");
    hid_t group = H5Gopen2(file, name, H5P_DEFAULT);

    if (group < 0)
        group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    if (group < 0)
        return;
    if (take(1) < 160)
        make_dataset(group);
    else
        make_attribute(take(1) < 60 ? file : group);
    H5Gclose(group);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct hil_plot_span all = {0, INFINITY};
    const char *path = fuzz_file("trace.h5", NULL, 0);

    data = bytes;
    left = size;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (int i = 0; left > 0 && i < 64; i++)
        make_part(file);
    H5Fclose(file);
    hil_export_csv(fuzz_folder(), NULL, fuzz_messages());
    hil_export_mcap(fuzz_folder(), NULL, fuzz_messages());
    hil_plot(fuzz_folder(), NULL, all, fuzz_messages());
    return 0;
}
