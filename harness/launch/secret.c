#include "secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../base/text_mark.h"

/* A line of a file may have a mark before the secret, and a line end of two bytes after it. */
enum { SECRET_SIZE = 256, SECRET_LINE_SIZE = SECRET_SIZE + 6 };

static const char secret_name[] = "HILOCO_SECRET", secret_file_name[] = "HILOCO_SECRET_FILE";

static int refuse_secret_file(FILE *messages, const char *path, const char *why)
{
    fprintf(messages, "%s: %s: %s\n", secret_file_name, path, why);
    return -EINVAL;
}

/* Returns a descriptor, or -EINVAL. Only a regular file is accepted: others might never end, or
 * wait for a writer. */
static int open_secret_file(const char *path, FILE *messages)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const char *why = NULL;
    struct stat st;

    if (fd < 0 || fstat(fd, &st))
        why = strerror(errno);
    else if (!S_ISREG(st.st_mode))
        why = "is no file";
    else if (st.st_uid != geteuid())
        why = "belongs to another user";
    else if (st.st_mode & (S_IRWXG | S_IRWXO))
        why = "others may read or write it: chmod 600";
    if (!why)
        return fd;
    refuse_secret_file(messages, path, why);
    if (fd >= 0)
        close(fd);
    return -EINVAL;
}

/* Reads its single line, without its end, and without a mark at its beginning. */
static int read_secret_file(char secret[SECRET_LINE_SIZE], const char *path, FILE *messages)
{
    const int fd = open_secret_file(path, messages);
    char text[SECRET_LINE_SIZE];

    if (fd < 0)
        return fd;
    const ssize_t size = read(fd, text, sizeof text - 1);
    const int error = errno;
    close(fd);
    if (size < 0)
        return refuse_secret_file(messages, path, strerror(error));
    text[size] = '\0';
    size_t line = strcspn(text, "\n");
    if (line + 1 < (size_t)size)
        return refuse_secret_file(messages, path, "has more than one line of text");
    if (line > 0 && text[line - 1] == '\r') /* as editors of other systems end a line */
        line--;
    text[line] = '\0';
    snprintf(secret, SECRET_LINE_SIZE, "%s", text + hil_text_mark(text, line));
    explicit_bzero(text, sizeof text);
    return 0;
}

static int keep_secret(char kept[SECRET_SIZE], const char *given, const char *name, FILE *messages)
{
    const size_t length = strlen(given);

    if (length < HIL_SECRET_LEAST || length >= SECRET_SIZE) {
        fprintf(
            messages,
            "%s: %d to %d random characters are allowed, for example from openssl rand -hex 16\n",
            name, HIL_SECRET_LEAST, SECRET_SIZE - 1);
        return -EINVAL;
    }
    memcpy(kept, given, length + 1);
    return 0;
}

/* The two variables, which are no longer in the environment. */
static char *hidden, *hidden_file;

static void hide(char **to, const char *name)
{
    const char *value = getenv(name);

    if (value) {
        free(*to);
        *to = strdup(value);
        unsetenv(name);
    }
}

void hil_secret_hide(void)
{
    hide(&hidden, secret_name);
    hide(&hidden_file, secret_file_name);
}

void hil_secret_hand_on(void)
{
    if (hidden)
        setenv(secret_name, hidden, 1);
    if (hidden_file)
        setenv(secret_file_name, hidden_file, 1);
}

static void forget_hidden(void)
{
    if (hidden)
        explicit_bzero(hidden, strlen(hidden));
    free(hidden);
    free(hidden_file);
    hidden = hidden_file = NULL;
}

static int take_secret(char kept[SECRET_SIZE], FILE *messages)
{
    const char *given = hidden, *path = hidden_file;
    char line[SECRET_LINE_SIZE];

    if (given && path) {
        fprintf(messages, "%s and %s are both set: unset one\n", secret_name, secret_file_name);
        return -EINVAL;
    }
    if (given)
        return keep_secret(kept, given, secret_name, messages);
    if (!path)
        return 0;
    int rc = read_secret_file(line, path, messages);
    if (!rc)
        rc = keep_secret(kept, line, secret_file_name, messages);
    explicit_bzero(line, sizeof line);
    return rc;
}

int hil_secret_given(struct loco_secret *secret, FILE *messages)
{
    static char kept[SECRET_SIZE];

    hil_secret_hide();
    const int rc = take_secret(kept, messages);
    if (!rc)
        forget_hidden();
    *secret = (struct loco_secret){kept, strlen(kept)};
    return rc;
}

int hil_secret_new(unsigned char *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -EIO;
}
