#include "results.h"

#include <criterion/criterion.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *path_in(const char *folder, const char *name)
{
    static char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

json_t *summary_of(const char *folder)
{
    const char *path = path_in(folder, "summary.json");
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);

    cr_assert_not_null(root, "%s: %s", path, error.text);
    return root;
}

json_t *json_at(json_t *root, const char *path)
{
    char *copy = strdup(path), *rest = copy, *key;

    while ((key = strsep(&rest, ".")))
        root = json_is_array(root) ? json_array_get(root, (size_t)atoi(key))
                                   : json_object_get(root, key);
    free(copy);
    cr_assert_not_null(root, "there is no %s", path);
    return root;
}

double number_at(json_t *root, const char *path)
{
    json_t *value = json_at(root, path);

    cr_assert(json_is_number(value) || json_is_null(value), "%s is no number", path);
    return json_is_null(value) ? NAN : json_number_value(value);
}

/* --- the trace ---------------- */

static hid_t open_trace(const char *folder)
{
    const char *path = path_in(folder, "trace.h5");
    hid_t file;

    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    cr_assert(file >= 0, "%s cannot be read", path);
    return file;
}

static hid_t open_column(hid_t file, const char *dataset)
{
    hid_t column = H5Dopen2(file, dataset, H5P_DEFAULT);

    cr_assert(column >= 0, "the trace has no %s", dataset);
    return column;
}

struct column column_of(const char *folder, const char *dataset)
{
    hid_t file = open_trace(folder), data = open_column(file, dataset), space = H5Dget_space(data);
    hsize_t size[2] = {0, 1};
    int dimensions = H5Sget_simple_extent_dims(space, size, NULL);

    cr_assert(dimensions == 1 || dimensions == 2);
    struct column c = {.rows = size[0], .width = size[1]};
    c.at = malloc((c.rows * c.width + 1) * sizeof(double));
    cr_assert_not_null(c.at);
    if (c.rows > 0)
        cr_assert(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, c.at) >= 0);
    H5Sclose(space);
    H5Dclose(data);
    H5Fclose(file);
    return c;
}

bool has_column(const char *folder, const char *dataset)
{
    hid_t file = open_trace(folder), data = H5Dopen2(file, dataset, H5P_DEFAULT);

    if (data >= 0)
        H5Dclose(data);
    H5Fclose(file);
    return data >= 0;
}

char *column_text(const char *folder, const char *dataset, const char *attribute)
{
    hid_t file = open_trace(folder), data = open_column(file, dataset);
    hid_t text = H5Aopen(data, attribute, H5P_DEFAULT);

    cr_assert(text >= 0, "%s has no %s", dataset, attribute);
    hid_t type = H5Aget_type(text);
    char *value = NULL;
    cr_assert(H5Tis_variable_str(type) > 0);
    cr_assert(H5Aread(text, type, &value) >= 0);
    H5Tclose(type);
    H5Aclose(text);
    H5Dclose(data);
    H5Fclose(file);
    return value;
}

double group_number(const char *folder, const char *group, const char *attribute)
{
    hid_t file = open_trace(folder);
    hid_t number = H5Aopen_by_name(file, group, attribute, H5P_DEFAULT, H5P_DEFAULT);
    double value = 0;

    cr_assert(number >= 0, "%s has no %s", group, attribute);
    cr_assert(H5Aread(number, H5T_NATIVE_DOUBLE, &value) >= 0);
    H5Aclose(number);
    H5Fclose(file);
    return value;
}
