/* FMUs: an archive that is unpacked, and a description that is read and made into tables. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "fuzz.h"
#include "harness/models/fmu/fmu_archive.h"
#include "harness/models/fmu/fmu_folder.h"
#include "harness/models/fmu/fmu_tables.h"

static char text[1024];
static const struct hil_said said = {text, sizeof text, NULL};

static void fuzz_archive(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("a.fmu", data, size);
    char folder[4200], warning[400] = "";

    snprintf(folder, sizeof folder, "%s/unpacked", fuzz_folder());
    mkdir(folder, 0700);
    fmu_unpack(path, folder, warning, sizeof warning, &said);
    fmu_folder_remove(folder);
}

static void fuzz_description(const uint8_t *data, size_t size)
{
    const char *path = fuzz_file("modelDescription.xml", data, size);
    struct fmu_description description;
    struct fmu_tables tables;

    if (fmu_description_read(&description, path, NULL, &said) == 0)
        fmu_tables_make(&tables, &description, NULL, &said);
    fmu_description_free(&description);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2 && memcmp(data, "PK", 2) == 0)
        fuzz_archive(data, size);
    else
        fuzz_description(data, size);
    return 0;
}
