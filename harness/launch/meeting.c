#include "meeting.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secret.h"

/* --- the folder --------------------------------------------------------------------------- */

/* The length in a path of HIL_PLACE_SIZE that remains for the folder of a derived name. */
enum { BASE_SIZE = 37 };

static bool is_own_folder(const char *path)
{
    struct stat st;

    return path && *path == '/' && strlen(path) < BASE_SIZE && lstat(path, &st) == 0 &&
           S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 0777) == 0700;
}

/* A folder to which only this user may write: $XDG_RUNTIME_DIR, or its usual path. */
static bool find_own_folder(char path[BASE_SIZE])
{
    const char *named = getenv("XDG_RUNTIME_DIR");

    snprintf(path, BASE_SIZE, "/run/user/%u", (unsigned)geteuid());
    if (!is_own_folder(named))
        return is_own_folder(path);
    strcpy(path, named);
    return true;
}

/* --- a launcher's own folder --------------------------------------------------------------- */

/* Derived names have no point in them, so they never begin like this. */
static const char START[] = "hiloco.";
enum { CHANCE_LETTERS = 6 };

static int meeting_open(const char *path)
{
    return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Whether no process holds the folder's lock. On a file system without locks this is always
 * false. */
static bool meeting_take(int folder)
{
    return flock(folder, LOCK_EX | LOCK_NB) == 0;
}

void hil_meeting_remove(const char *path)
{
    const int folder = meeting_open(path);
    DIR *entries = folder < 0 ? NULL : fdopendir(folder);
    const struct dirent *entry;

    if (!entries)
        return;
    while ((entry = readdir(entries)))
        if (strncmp(entry->d_name, "node", 4) == 0)
            unlinkat(folder, entry->d_name, 0);
    closedir(entries);
    rmdir(path);
}

/* The lock is held until the folder is gone, so that a process that is about to use it notices. */
static void remove_if_left(const char *path)
{
    const int folder = meeting_open(path);
    struct stat st;

    if (folder < 0)
        return;
    if (fstat(folder, &st) == 0 && st.st_uid == geteuid() && meeting_take(folder))
        hil_meeting_remove(path);
    close(folder);
}

static void remove_all_left(const char *base)
{
    char path[HIL_PLACE_SIZE];
    DIR *entries = opendir(base);
    const struct dirent *entry;

    if (!entries)
        return;
    while ((entry = readdir(entries))) {
        if (strncmp(entry->d_name, START, strlen(START)) != 0 ||
            strlen(entry->d_name) != strlen(START) + CHANCE_LETTERS)
            continue;
        snprintf(path, sizeof path, "%s/%.20s", base, entry->d_name);
        remove_if_left(path);
    }
    closedir(entries);
}

/* Whether the path still leads to the held folder: another launcher may have removed it before it
 * was locked. */
static bool is_still_there(const char *path, int folder)
{
    struct stat held, there;

    return fstat(folder, &held) == 0 && lstat(path, &there) == 0 && held.st_ino == there.st_ino &&
           held.st_dev == there.st_dev;
}

static int make_held(char path[HIL_PLACE_SIZE], const char *base)
{
    snprintf(path, HIL_PLACE_SIZE, "%s/%sXXXXXX", base, START);
    if (!mkdtemp(path))
        return -errno;
    const int folder = meeting_open(path);
    if (folder < 0)
        return errno == ENOENT ? -EAGAIN : -errno;
    if ((meeting_take(folder) || errno != EWOULDBLOCK) && is_still_there(path, folder))
        return folder;
    close(folder);
    return -EAGAIN;
}

int hil_meeting_make(char path[HIL_PLACE_SIZE])
{
    char own[BASE_SIZE];
    const char *base = find_own_folder(own) ? own : "/tmp";
    int rc;

    remove_all_left(base);
    do
        rc = make_held(path, base);
    while (rc == -EAGAIN);
    return rc;
}

/* --- the folder of programs started by hand ------------------------------------------------ */

/* A word that only processes with the secret can derive. */
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

/* --- both ----------------------------------------------------------------------------------- */

int hil_meeting_of(struct hil_meeting *m, const char *named, const char *name, const char *job,
                   FILE *messages)
{
    if (hil_secret_given(&m->secret, messages))
        return -EINVAL;
    if (named && strlen(named) >= sizeof m->place) {
        fprintf(messages, "--run-dir %s: at most %d bytes are allowed\n", named,
                HIL_PLACE_SIZE - 1);
        return -EINVAL;
    }
    if (named)
        strcpy(m->place, named);
    else
        hil_meeting_derive(m->place, name, job, m->secret);
    return 0;
}
