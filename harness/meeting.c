#include "meeting.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- the folder --------------------------------------------------------------------------- */

/* So much of a path of HIL_PLACE_SIZE is left for what comes before a derived name. */
enum { BASE_SIZE = 37 };

static bool is_own_folder(const char *path)
{
    struct stat st;

    return path && *path == '/' && strlen(path) < BASE_SIZE && lstat(path, &st) == 0 &&
           S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 0777) == 0700;
}

/* A folder where only this user may make any: $XDG_RUNTIME_DIR, or where that usually is. */
static bool find_own_folder(char path[BASE_SIZE])
{
    const char *named = getenv("XDG_RUNTIME_DIR");

    snprintf(path, BASE_SIZE, "/run/user/%u", (unsigned)geteuid());
    if (!is_own_folder(named))
        return is_own_folder(path);
    strcpy(path, named);
    return true;
}

int hil_meeting_make(char path[HIL_PLACE_SIZE])
{
    char base[BASE_SIZE];

    snprintf(path, HIL_PLACE_SIZE, "%s/hiloco-XXXXXX", find_own_folder(base) ? base : "/tmp");
    return mkdtemp(path) ? 0 : -errno;
}

/* A word that only they can know who know the secret. */
static void derive_word(char word[17], struct loco_secret secret)
{
    static const unsigned char purpose[] = "hiloco: the folder where nodes meet";
    unsigned char key[32], hash[16];

    word[0] = '\0';
    if (!secret.size)
        return;
    crypto_generichash(key, sizeof key, secret.bytes, secret.size, NULL, 0);
    crypto_generichash(hash, sizeof hash, purpose, sizeof purpose, key, sizeof key);
    sodium_bin2hex(word, 17, hash, 8);
}

void hil_meeting_derive(char path[HIL_PLACE_SIZE], const char *name, const char *job,
                        struct loco_secret secret)
{
    char base[BASE_SIZE], word[17];
    int length;

    derive_word(word, secret);
    if (find_own_folder(base))
        length = snprintf(path, HIL_PLACE_SIZE, "%s/hiloco-", base);
    else
        length = snprintf(path, HIL_PLACE_SIZE, "/tmp/hiloco-%u-%s%s", (unsigned)geteuid(), word,
                          *word ? "-" : "");
    snprintf(path + length, HIL_PLACE_SIZE - (size_t)length, "%.30s%s%.16s", name, *job ? "-" : "",
             job);
    for (char *c = path + length; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            *c = '_';
}

void hil_meeting_explain(char *text, size_t size, const char *path, int error)
{
    if (error == -EPERM || error == -ENOTDIR)
        snprintf(
            text, size,
            "%s is not a folder of this user alone, and nodes cannot meet there: remove it, set "
            "HILOCO_SECRET or XDG_RUNTIME_DIR, or give another by --run-dir",
            path);
    else
        snprintf(text, size, "nodes cannot meet in %s: %s", path, strerror(-error));
}

/* --- the secret --------------------------------------------------------------------------- */

int hil_secret_given(struct loco_secret *secret)
{
    static char kept[256];
    const char *given = getenv("HILOCO_SECRET");

    *secret = (struct loco_secret){0};
    if (!given)
        return 0;
    size_t length = strlen(given);
    if (length < HIL_SECRET_LEAST || length >= sizeof kept) {
        fprintf(
            stderr,
            "HILOCO_SECRET: %d to %zu characters are allowed, drawn by chance, such as those of "
            "openssl rand -hex 16\n",
            HIL_SECRET_LEAST, sizeof kept - 1);
        return -EINVAL;
    }
    memcpy(kept, given, length);
    unsetenv("HILOCO_SECRET");
    *secret = (struct loco_secret){kept, length};
    return 0;
}

int hil_secret_new(unsigned char *bytes, size_t size)
{
    return getrandom(bytes, size, 0) == (ssize_t)size ? 0 : -EIO;
}
