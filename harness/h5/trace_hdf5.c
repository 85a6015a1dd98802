#include "trace_hdf5.h"

#include <stdlib.h>
#include <string.h>

/* HDF5 writes a failure of the system into the description of its own: "..., errno = 27, error
 * message = ...". The variable errno may have changed since: for the description of a failed write
 * HDF5 asks for the local time, which reads files. A file's name can come before the number, but
 * not after it. */
static herr_t reason_of(unsigned depth, const H5E_error2_t *failure, void *arg)
{
    static const char mark[] = "errno = ";
    const char *last = NULL;
    int *rc = arg;

    (void)depth;
    for (const char *at = failure->desc; at && (at = strstr(at, mark)); last = at)
        at += strlen(mark);
    if (!last || atoi(last) <= 0)
        return 0;
    *rc = -atoi(last);
    return 1;
}

int trace_hdf5_reason(int otherwise)
{
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, reason_of, &otherwise);
    return otherwise;
}

int trace_hdf5_set_text(hid_t object, const char *name, const char *text)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    const hid_t space = H5Screate(H5S_SCALAR);

    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const int rc = attribute < 0 || H5Awrite(attribute, type, &text) < 0 ? trace_hdf5_error() : 0;

    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return rc;
}

/* Sets a scalar attribute; the types are those in the file and in memory. */
static int trace_hdf5_set(hid_t object, const char *name, hid_t in_file, hid_t here,
                          const void *value)
{
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, in_file, space, H5P_DEFAULT, H5P_DEFAULT);
    const int rc = attribute < 0 || H5Awrite(attribute, here, value) < 0 ? trace_hdf5_error() : 0;

    H5Aclose(attribute);
    H5Sclose(space);
    return rc;
}

int trace_hdf5_set_number(hid_t object, const char *name, double number)
{
    return trace_hdf5_set(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &number);
}

int trace_hdf5_set_count(hid_t object, const char *name, uint64_t count)
{
    return trace_hdf5_set(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &count);
}

/* Streams and columns are listed in the order of their creation. */
int trace_hdf5_create_group(hid_t parent, const char *name, hid_t *group)
{
    const hid_t link = H5Pcreate(H5P_LINK_CREATE);
    const hid_t create = H5Pcreate(H5P_GROUP_CREATE);

    H5Pset_create_intermediate_group(link, 1);
    H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    const hid_t made = H5Gcreate2(parent, name, link, create, H5P_DEFAULT);
    const int rc = made < 0 ? trace_hdf5_error() : 0;

    H5Pclose(create);
    H5Pclose(link);
    if (!rc)
        *group = made;
    return rc;
}
