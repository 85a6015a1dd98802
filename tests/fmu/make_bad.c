/*
 * Makes a malformed FMU of a good one; or one that other tools make, whether or not the standard
 * has it: "other-platform", "no-status" and "windows-paths".
 *
 *      make_bad KIND GOOD.fmu BAD.fmu
 *
 * The kinds are listed below, each with what is wrong then. Some need something in the good one
 * that not each has, and say so when it is missing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

/* What one byte string in one file of the archive becomes. */
struct change {
    const char *kind, *file_ends_in, *from, *to;
};

static const char description[] = "modelDescription.xml", library[] = ".so";

static const struct change changes[] = {
    {"xml", description, "</fmiModelDescription>", "</fmiModelDescri"},
    {"version", description, "fmiVersion=\"2.0\"", "fmiVersion=\"1.0\""},
    {"version", description, "fmiVersion=\"3.0\"", "fmiVersion=\"4.0\""},
    {"unit", description, "<Unit name=\"V\"", "<Unit name=\"Z\""}, /* V is unknown then */
    {"type", description, "declaredType=\"", "declaredType=\"no"},
    {"model-exchange", description, "<CoSimulation ", "<ModelExchange "},
    {"once", description, "<CoSimulation ",
     "<CoSimulation canBeInstantiatedOnlyOncePerProcess=\"true\" "},
    {"tool", description, "<CoSimulation ", "<CoSimulation needsExecutionTool=\"true\" "},
    {"token", description, "guid=\"", "guid=\"not "},
    {"token", description, "instantiationToken=\"", "instantiationToken=\"not "},
    {"reference", description, "valueReference=\"", "valueReference=\"77"},
    {"start", description, "start=\"", "start=\"one "},
    {"entities", description, "<fmiModelDescription",
     "<!DOCTYPE f [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">"
     "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;\"><!ENTITY d \"&c;&c;&c;&c;&c;&c;&c;&c;&c;&c;\">"
     "<!ENTITY e \"&d;&d;&d;&d;&d;&d;&d;&d;&d;&d;\"><!ENTITY f \"&e;&e;&e;&e;&e;&e;&e;&e;&e;&e;\">"
     "<!ENTITY g \"&f;&f;&f;&f;&f;&f;&f;&f;&f;&f;\"><!ENTITY h \"&g;&g;&g;&g;&g;&g;&g;&g;&g;&g;\">"
     "]><fmiModelDescription copyright=\"&h;\""},
    {"symbol", library, "fmi2DoStep", "fmi2NoStep"},
    {"symbol", library, "fmi3DoStep", "fmi3NoStep"},
    {"no-start", description, "variability=\"tunable\"><Real start=\"1\"/>",
     "variability=\"tunable\"><Real/>"},
    {"no-start", description, "variability=\"tunable\" start=\"1\"/>", "variability=\"tunable\"/>"},
    {"hyphen", description, "modelIdentifier=\"probe\"", "modelIdentifier=\"pro-be\""},
    {"starts-later", description, "<ModelVariables>",
     "<DefaultExperiment startTime=\"2.5\"/><ModelVariables>"},
    {"needs-events", description, "<CoSimulation ", "<CoSimulation hasEventMode=\"true\" "},
    {"needs-events", description, "instantiationToken=\"", "instantiationToken=\"not "},
    {"no-status", library, "fmi2GetRealStatus", "fmi2NoRealStatus_"},
    {"no-status", library, "fmi2GetBooleanStatus", "fmi2NoBooleanStatus_"},
    {"library", library, "libc.so.6", "libq.so.6"}, /* there is none of that name */
};

/* An entry besides those of the good one. */
struct addition {
    const char *kind, *name, *text;
    bool link;
};

static const struct addition additions[] = {
    {"slip", "../../escaped_from_an_fmu.txt", "escaped\n", false},
    {"slip-inside", "resources/../../escaped_from_an_fmu.txt", "escaped\n", false},
    {"absolute", "/tmp/escaped_from_an_fmu.txt", "escaped\n", false},
    {"backslash", "..\\escaped_from_an_fmu.txt", "escaped\n", false},
    {"twice", "resources/offset.tx_", "4.75\n", false} /* renamed below */,
    {"symlink", "resources/link", "/tmp", true},
    {"symlink", "resources/link/escaped_from_an_fmu.txt", "escaped\n", false},
};

/* Entries that go elsewhere. */
static const struct change moves[] = {
    {"no-binary", "", "binaries/", "binaries/win64-or-so/"},
    {"other-name", "", "binaries/linux64/probe.so", "binaries/linux64/other.so"},
    {"other-name", "", "binaries/x86_64-linux/probe.so", "binaries/x86_64-linux/other.so"},
    {"hyphen", "", "binaries/linux64/probe.so", "binaries/linux64/pro-be.so"},
    {"hyphen", "", "binaries/x86_64-linux/probe.so", "binaries/x86_64-linux/pro-be.so"},
    {"source-code", "", "binaries/", "sources/"},
    {"other-platform", "", "binaries/linux64/", "binaries/x86_64-linux/"},
    {"no-description", "", description, "theDescription.xml"},
};

enum { MANY = 20001, LIAR_BYTES = 64 << 20 };

static void die(const char *what)
{
    fprintf(stderr, "make_bad: %s\n", what);
    exit(1);
}

static bool ends_in(const char *name, const char *end)
{
    const size_t length = strlen(name), tail = strlen(end);

    return length >= tail && strcmp(name + length - tail, end) == 0;
}

/* --- files ---------------------------------------------------------------------------------- */

struct bytes {
    char *at;
    size_t count;
};

static struct bytes read_entry(zip_t *archive, zip_uint64_t index)
{
    zip_stat_t stat;
    zip_file_t *file = zip_fopen_index(archive, index, 0);

    if (!file || zip_stat_index(archive, index, 0, &stat))
        die("the good FMU cannot be read");
    struct bytes b = {malloc(stat.size + 1), stat.size};
    if (!b.at || zip_fread(file, b.at, b.count) != (zip_int64_t)b.count)
        die("the good FMU cannot be read");
    zip_fclose(file);
    return b;
}

/* Changes the first place; false when there is none. */
static bool change_bytes(struct bytes *b, const char *from, const char *to)
{
    const size_t old = strlen(from), new = strlen(to);
    char *place = memmem(b->at, b->count, from, old);

    if (!place)
        return false;
    struct bytes made = {malloc(b->count + new), b->count - old + new};
    const size_t before = (size_t)(place - b->at);
    if (!made.at)
        die("there is no memory");
    memcpy(made.at, b->at, before);
    memcpy(made.at + before, to, new);
    memcpy(made.at + before + new, place + old, b->count - before - old);
    free(b->at);
    *b = made;
    return true;
}

static void add_entry(zip_t *archive, const char *name, struct bytes b, bool link)
{
    zip_source_t *source = zip_source_buffer(archive, b.at, b.count, 1);
    const zip_int64_t index = source ? zip_file_add(archive, name, source, 0) : -1;

    if (index < 0)
        die("the bad FMU cannot be written");
    /* The fastest: some are many, and some are large. */
    zip_set_file_compression(archive, (zip_uint64_t)index,
                             b.count > 1 ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
    zip_file_set_external_attributes(archive, (zip_uint64_t)index, 0, ZIP_OPSYS_UNIX,
                                     (link ? 0120777u : 0100644u) << 16);
}

/* --- copying, with one thing changed -------------------------------------------------------- */

static bool change_entry(const char *kind, const char *name, struct bytes *b)
{
    bool changed = false;

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
        if (strcmp(changes[i].kind, kind) == 0 && ends_in(name, changes[i].file_ends_in))
            changed |= change_bytes(b, changes[i].from, changes[i].to);
    return changed;
}

static bool move_entry(const char *kind, char *name, size_t size)
{
    for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
        const size_t length = strlen(moves[i].from);
        if (strcmp(moves[i].kind, kind) != 0 || strncmp(name, moves[i].from, length) != 0)
            continue;
        char rest[256];
        snprintf(rest, sizeof rest, "%s", name + length);
        snprintf(name, size, "%s%s", moves[i].to, rest);
        return true;
    }
    return false;
}

/* As some archivers for Windows write them. */
static bool turn_slashes(const char *kind, char *name)
{
    bool turned = false;

    for (char *c = name; strcmp(kind, "windows-paths") == 0 && *c; c++)
        if (*c == '/') {
            *c = '\\';
            turned = true;
        }
    return turned;
}

static bool copy_entries(const char *kind, zip_t *good, zip_t *bad)
{
    const zip_int64_t count = zip_get_num_entries(good, 0);
    bool changed = false;

    for (zip_int64_t i = 0; i < count; i++) {
        char name[512];
        snprintf(name, sizeof name, "%s", zip_get_name(good, (zip_uint64_t)i, ZIP_FL_ENC_RAW));
        if (ends_in(name, "/"))
            continue;
        struct bytes b = read_entry(good, (zip_uint64_t)i);
        changed |= change_entry(kind, name, &b);
        changed |= move_entry(kind, name, sizeof name);
        changed |= turn_slashes(kind, name);
        add_entry(bad, name, b, false);
    }
    return changed;
}

static bool add_entries(const char *kind, zip_t *bad)
{
    bool added = false;

    for (size_t i = 0; i < sizeof additions / sizeof additions[0]; i++) {
        const struct addition *a = &additions[i];
        if (strcmp(a->kind, kind) != 0)
            continue;
        add_entry(bad, a->name, (struct bytes){strdup(a->text), strlen(a->text)}, a->link);
        added = true;
    }
    return added;
}

/* "many": more files than anyone wants; "bomb", "liar": zeros, which take a thousandth. */
static bool add_weight(const char *kind, zip_t *bad)
{
    const bool many = strcmp(kind, "many") == 0;

    for (unsigned i = 0; many && i < MANY; i++) {
        char name[64];
        snprintf(name, sizeof name, "resources/%u", i);
        add_entry(bad, name, (struct bytes){strdup("\n"), 1}, false);
    }
    if (strcmp(kind, "bomb") != 0 && strcmp(kind, "liar") != 0)
        return many;
    add_entry(bad, "resources/zeros", (struct bytes){calloc(1, LIAR_BYTES), LIAR_BYTES}, false);
    return true;
}

/* --- what is done to the file as it was written --------------------------------------------- */

static struct bytes read_file(const char *path)
{
    FILE *file = fopen(path, "rb");

    if (!file || fseek(file, 0, SEEK_END))
        die("the file cannot be read");
    struct bytes b = {NULL, (size_t)ftell(file)};
    b.at = malloc(b.count);
    rewind(file);
    if (!b.at || fread(b.at, 1, b.count, file) != b.count)
        die("the file cannot be read");
    fclose(file);
    return b;
}

static void write_file(const char *path, struct bytes b)
{
    FILE *file = fopen(path, "wb");

    if (!file || fwrite(b.at, 1, b.count, file) != b.count || fclose(file))
        die("the file cannot be written");
    free(b.at);
}

static void set_u32(char *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (char)(value >> 8 * i);
}

/* What the archive says of the size of the zeros: in the file's own header, from its 22nd byte, and
 * in the central directory, from the 24th. */
static void say_size(const char *path, uint32_t size)
{
    static const char name[] = "resources/zeros";
    struct bytes b = read_file(path);
    unsigned places = 0;

    for (char *at = b.at; (at = memmem(at, (size_t)(b.at + b.count - at), name, strlen(name)));
         at++) {
        if (at - b.at >= 46 && memcmp(at - 46, "PK\1\2", 4) == 0)
            set_u32(at - 46 + 24, size), places++;
        else if (at - b.at >= 30 && memcmp(at - 30, "PK\3\4", 4) == 0)
            set_u32(at - 30 + 22, size), places++;
    }
    if (places != 2)
        die("the headers were not found");
    write_file(path, b);
}

/* The library for archives does not write two files of one name. */
static void name_twice(const char *path)
{
    static const char name[] = "resources/offset.tx_";
    struct bytes b = read_file(path);

    for (char *at = b.at; (at = memmem(at, (size_t)(b.at + b.count - at), name, strlen(name)));)
        at[strlen(name) - 1] = 't';
    write_file(path, b);
}

static void truncate_file(const char *good, const char *bad)
{
    struct bytes b = read_file(good);

    b.count = b.count * 2 / 3;
    write_file(bad, b);
}

int main(int argc, char **argv)
{
    if (argc != 4)
        die("usage: make_bad KIND GOOD.fmu BAD.fmu");
    const char *kind = argv[1];
    if (strcmp(kind, "truncated") == 0) {
        truncate_file(argv[2], argv[3]);
        return 0;
    }
    zip_t *good = zip_open(argv[2], ZIP_RDONLY, NULL);
    zip_t *bad = zip_open(argv[3], ZIP_CREATE | ZIP_TRUNCATE, NULL);
    if (!good || !bad)
        die("a file cannot be opened");
    bool changed = copy_entries(kind, good, bad);
    changed |= add_entries(kind, bad);
    changed |= add_weight(kind, bad);
    if (!changed)
        die("there is no such kind, or the good FMU has nothing to change for it");
    if (zip_close(bad))
        die("the bad FMU cannot be written");
    zip_discard(good);
    if (strcmp(kind, "twice") == 0)
        name_twice(argv[3]);
    if (strcmp(kind, "bomb") == 0)
        say_size(argv[3], UINT32_MAX - 1);
    if (strcmp(kind, "liar") == 0)
        say_size(argv[3], 10);
    return 0;
}
