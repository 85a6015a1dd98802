/*
 * XML that others have written, read by expat as it comes. A document type is refused: it could
 * define entities that grow without end.
 */
#ifndef HIL_XML_H
#define HIL_XML_H

#include <stdbool.h>
#include <stddef.h>

/* What a reader wants to know. An element of depth 0 is the root. In a file with namespaces an
 * element's name is that of its namespace, a blank and its own: "http://example.org/a Item". */
struct hil_xml_reader {
    bool namespaces;
    void (*begins)(void *arg, unsigned depth, const char *element, const char **attributes);
    void (*ends)(void *arg, unsigned depth);
    /* The first mistake, and no other; `line` and `column` are from 1. */
    void (*wrong)(void *arg, unsigned long line, unsigned long column, const char *text);
    void *arg;
};

struct hil_xml;

/* Returns NULL when there is no memory. *reader outlives it. */
struct hil_xml *hil_xml_open(const struct hil_xml_reader *reader);
void hil_xml_close(struct hil_xml *xml);

/* Opens a file that is not greater than `most`, and no device, pipe or link where `no_link` says
 * so. Returns a descriptor, or a negative errno: -EFBIG when it is greater or no file. */
int hil_xml_open_file(const char *path, size_t most, bool no_link);

/* Reads the whole file. Returns 0; -EINVAL after a mistake was told; what hil_xml_stop() was given;
 * or the negative errno by which it could not be read. */
int hil_xml_read(struct hil_xml *xml, int file);

/* Where the element begins that is being read. */
unsigned long hil_xml_line(const struct hil_xml *xml);
unsigned long hil_xml_column(const struct hil_xml *xml);

/* Tells a mistake, unless there was one, and ends reading. Returns -EINVAL. */
__attribute__((format(printf, 4, 5))) int hil_xml_wrong_at(struct hil_xml *xml, unsigned long line,
                                                           unsigned long column, const char *format,
                                                           ...);
#define HIL_XML_WRONG(xml, ...)                                                                    \
    hil_xml_wrong_at(xml, hil_xml_line(xml), hil_xml_column(xml), __VA_ARGS__)

/* Ends reading, with this negative errno unless there is one already. */
void hil_xml_stop(struct hil_xml *xml, int rc);

/* The attribute of an element, or NULL. */
const char *hil_xml_attribute(const char **attributes, const char *name);

#endif
