/*
 * Reads XML from others with expat, element by element. A document type is refused, because it
 * could define entities that grow without limit.
 */
#ifndef HIL_XML_H
#define HIL_XML_H

#include <stdbool.h>
#include <stddef.h>

/* Callbacks for the contents. The root element has depth 0. In a file with namespaces, an element's
 * name is its namespace, a space and its own name: "http://example.org/a Item". */
struct hil_xml_reader {
    bool namespaces;
    void (*begins)(void *arg, unsigned depth, const char *element, const char **attributes);
    void (*ends)(void *arg, unsigned depth);
    /* Called for the first mistake only; `line` and `column` count from 1. */
    void (*wrong)(void *arg, unsigned long line, unsigned long column, const char *text);
    void *arg;
};

struct hil_xml;

/* Returns NULL if memory is out. *reader must outlive it. */
struct hil_xml *hil_xml_open(const struct hil_xml_reader *reader);
void hil_xml_close(struct hil_xml *xml);

/* Opens a regular file of at most `most` bytes. With `no_link` a symbolic link is refused. Returns
 * a descriptor or a negative errno: -EFBIG if the file is too large or not a regular file. */
int hil_xml_open_file(const char *path, size_t most, bool no_link);

/* Reads the whole file. Returns 0; -EINVAL after a mistake was reported; the value given to
 * hil_xml_stop(); or the negative errno of a failed read. */
int hil_xml_read(struct hil_xml *xml, int file);

/* Where the element that is being read begins; both count from 1. */
unsigned long hil_xml_line(const struct hil_xml *xml);
unsigned long hil_xml_column(const struct hil_xml *xml);

/* Reports a mistake, unless there was one, and stops reading. Returns -EINVAL, or the earlier
 * error. */
__attribute__((format(printf, 4, 5))) int hil_xml_wrong_at(struct hil_xml *xml, unsigned long line,
                                                           unsigned long column, const char *format,
                                                           ...);
#define HIL_XML_WRONG(xml, ...)                                                                    \
    hil_xml_wrong_at(xml, hil_xml_line(xml), hil_xml_column(xml), __VA_ARGS__)

/* Stops reading, with this negative errno unless there is one already. */
void hil_xml_stop(struct hil_xml *xml, int rc);

/* Value of an element's attribute, or NULL. */
const char *hil_xml_attribute(const char **attributes, const char *name);

#endif
