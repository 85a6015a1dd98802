/* What the headers of a folder declare, as ctags lists it. */
#ifndef HIL_WRAP_TAGS_H
#define HIL_WRAP_TAGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct wrap_tag {
    const char *name;
    const char *kind;      /* "struct", "member", "typedef", "externvar", "prototype", ... */
    const char *type;      /* "real_T[3]", "RT_MODEL_x_T * const"; "" if there is none */
    const char *scope;     /* of a member: the structure's name */
    const char *signature; /* of a function: "(int_T tid)" */
    const char *file;      /* its name in the folder */
    unsigned line;
};

struct wrap_tags {
    json_t *lines;
    struct wrap_tag *at;
    unsigned count;
};

/* Reads the headers of the folder. Returns 0, or a negative errno after a message on stderr. */
int wrap_tags_read(struct wrap_tags *tags, const char *folder);
void wrap_tags_free(struct wrap_tags *tags);

/* The tag of this kind and name; of a member also of this scope. NULL: there is none. */
const struct wrap_tag *wrap_tag_find(const struct wrap_tags *tags, const char *kind,
                                     const char *name);

/* The scope of the members of the structure that a type's name means. NULL: it is no structure. */
const char *wrap_structure(const struct wrap_tags *tags, const char *type);

/* The comment on the tag's line, without blanks around it; "" if there is none. */
void wrap_tag_comment(const struct wrap_tag *tag, const char *folder, char *text, size_t size);

#endif
