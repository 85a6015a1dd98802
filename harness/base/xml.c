#include "xml.h"

#include <errno.h>
#include <expat.h>
#include <fcntl.h>
#include <iconv.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wchar.h>

struct hil_xml {
    const struct hil_xml_reader *reader;
    XML_Parser parser;
    int rc;
    unsigned depth;
};

/* --- mistakes --------------------------------------------------------------------------------- */

unsigned long hil_xml_line(const struct hil_xml *xml)
{
    return XML_GetCurrentLineNumber(xml->parser);
}

unsigned long hil_xml_column(const struct hil_xml *xml)
{
    return XML_GetCurrentColumnNumber(xml->parser) + 1;
}

void hil_xml_stop(struct hil_xml *xml, int rc)
{
    if (!xml->rc)
        xml->rc = rc;
    XML_StopParser(xml->parser, XML_FALSE);
}

int hil_xml_wrong_at(struct hil_xml *xml, unsigned long line, unsigned long column,
                     const char *format, ...)
{
    char text[512];
    va_list args;

    if (xml->rc)
        return xml->rc;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    xml->reader->wrong(xml->reader->arg, line, column, text);
    hil_xml_stop(xml, -EINVAL);
    return xml->rc;
}

/* --- elements --------------------------------------------------------------------------------- */

const char *hil_xml_attribute(const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (strcmp(attributes[0], name) == 0)
            return attributes[1];
    return NULL;
}

static void XMLCALL xml_begins(void *arg, const char *element, const char **attributes)
{
    struct hil_xml *xml = arg;
    const unsigned depth = xml->depth++;

    if (!xml->rc)
        xml->reader->begins(xml->reader->arg, depth, element, attributes);
}

static void XMLCALL xml_ends(void *arg, const char *element)
{
    struct hil_xml *xml = arg;

    (void)element;
    xml->depth--;
    if (!xml->rc && xml->reader->ends)
        xml->reader->ends(xml->reader->arg, xml->depth);
}

static void XMLCALL xml_doctype(void *arg, const char *name, const char *system, const char *public,
                                int has_subset)
{
    struct hil_xml *xml = arg;

    (void)name, (void)system, (void)public, (void)has_subset;
    HIL_XML_WRONG(xml, "there is a document type; allowed: none");
}

/* --- encodings ---------------------------------------------------------------------------- */

/* The character of a byte in a code page such as windows-1252; -1: none. */
static int xml_character(iconv_t page, unsigned byte)
{
    char from = (char)byte, *in = &from;
    wchar_t character;
    char *out = (char *)&character;
    size_t in_left = 1, out_left = sizeof character;

    iconv(page, NULL, NULL, NULL, NULL);
    return iconv(page, &in, &in_left, &out, &out_left) == 0 && out_left == 0 ? (int)character : -1;
}

/* Called for other encodings than Unicode's and Latin 1, which expat knows itself. */
static int XMLCALL xml_encoding(void *data, const char *name, XML_Encoding *to)
{
    const iconv_t page = iconv_open("WCHAR_T", name);

    (void)data;
    if (page == (iconv_t)-1)
        return XML_STATUS_ERROR;
    for (unsigned byte = 0; byte < 256; byte++)
        to->map[byte] = xml_character(page, byte);
    iconv_close(page);
    return XML_STATUS_OK;
}

struct hil_xml *hil_xml_open(const struct hil_xml_reader *reader)
{
    struct hil_xml *xml = calloc(1, sizeof *xml);

    if (!xml)
        return NULL;
    xml->reader = reader;
    xml->parser = reader->namespaces ? XML_ParserCreateNS(NULL, ' ') : XML_ParserCreate(NULL);
    if (!xml->parser) {
        free(xml);
        return NULL;
    }
    XML_SetUserData(xml->parser, xml);
    XML_SetElementHandler(xml->parser, xml_begins, xml_ends);
    XML_SetUnknownEncodingHandler(xml->parser, xml_encoding, NULL);
    XML_SetStartDoctypeDeclHandler(xml->parser, xml_doctype);
    return xml;
}

void hil_xml_close(struct hil_xml *xml)
{
    if (!xml)
        return;
    XML_ParserFree(xml->parser);
    free(xml);
}

/* --- the file --------------------------------------------------------------------------------- */

int hil_xml_open_file(const char *path, size_t most, bool no_link)
{
    /* O_NONBLOCK: open() would wait for the writer of a pipe. */
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (no_link ? O_NOFOLLOW : 0));
    struct stat s;

    if (file < 0)
        return -errno;
    const int rc = fstat(file, &s) ? -errno : 0;
    if (!rc && S_ISREG(s.st_mode) && (size_t)s.st_size <= most)
        return file;
    close(file);
    return rc ? rc : -EFBIG;
}

/* Reads to the end of the file. The caller frees *text. */
static int xml_read_all(int file, char **text, size_t *size)
{
    size_t room = 65536;
    ssize_t got = 1;

    *text = malloc(room);
    *size = 0;
    while (*text && (got = read(file, *text + *size, room - *size)) > 0) {
        *size += (size_t)got;
        if (*size < room)
            continue;
        char *more = realloc(*text, room *= 2);
        if (!more)
            free(*text);
        *text = more;
    }
    return !*text ? -ENOMEM : got < 0 ? -errno : 0;
}

/* The whole text is parsed at once: expat begins an element anew with each part that it gets of
 * it. */
int hil_xml_read(struct hil_xml *xml, int file)
{
    char *text;
    size_t size;
    int rc = xml_read_all(file, &text, &size);

    if (!rc && size > INT_MAX)
        rc = -EFBIG;
    const enum XML_Status status =
        rc ? XML_STATUS_OK : XML_Parse(xml->parser, text, (int)size, true);
    if (!rc && !xml->rc && status != XML_STATUS_OK)
        HIL_XML_WRONG(xml, "it is no XML (%s)", XML_ErrorString(XML_GetErrorCode(xml->parser)));
    free(text);
    return rc ? rc : xml->rc;
}
