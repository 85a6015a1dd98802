/* The scenario of a process that runs some nodes: a file, or that of the run that it joins. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../launch/rendezvous.h"
#include "../launch/secret.h"
#include "commands.h"

static const char fetched[] = "rendezvous:";

static void say_on_stderr(void *unused, const char *line)
{
    (void)unused;
    fprintf(stderr, "warning: %s\n", line);
}

/* A scenario may name programs and libraries, so it is taken only from those who know the secret.
 * Returns an exit status. */
static int fetch_text(const struct hil_part_arguments *a, const struct hil_rendezvous_place *place,
                      char **text)
{
    struct hil_rendezvous_config config = {.wait_s = a->wait_s,
                                           .say = a->quiet ? NULL : say_on_stderr};
    char why[HIL_RENDEZVOUS_WHY];

    if (hil_secret_given(&config.secret, stderr))
        return HIL_EXIT_USAGE;
    if (!config.secret.size) {
        fprintf(stderr, "%s: allowed with HILOCO_SECRET or HILOCO_SECRET_FILE\n",
                a->given.scenario);
        return HIL_EXIT_USAGE;
    }
    if (!hil_rendezvous_fetch(place, &config, text, why))
        return HIL_EXIT_OK;
    fprintf(stderr, "%s: %s\n", a->given.scenario, why);
    return HIL_EXIT_FAILED;
}

/* Returns a file without a name in the file system, or -1. */
static int file_of(const char *text)
{
    const int fd = memfd_create("scenario.yaml", MFD_CLOEXEC);

    if (fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text))
        return fd;
    perror("the run's scenario");
    if (fd >= 0)
        close(fd);
    return -1;
}

/* This process meets the others where it got the scenario. */
static int load_text(const struct hil_part_arguments *a, const char *place, const char *text,
                     struct hil_scenario **scenario)
{
    char path[40], meets[300];
    struct hil_arguments given = a->given;
    const int fd = file_of(text);

    if (fd < 0)
        return HIL_EXIT_FAILED;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(meets, sizeof meets, "rendezvous='%s'", place);
    given.scenario = path;
    hil_arguments_set(&given, meets);
    const int rc = hil_arguments_load(&given, scenario);
    if (rc)
        fprintf(stderr, "%s is the scenario from %s\n", path, a->given.scenario);
    close(fd);
    return rc ? HIL_EXIT_USAGE : HIL_EXIT_OK;
}

int hil_part_load(const struct hil_part_arguments *a, struct hil_scenario **scenario)
{
    const size_t length = strlen(fetched);
    struct hil_rendezvous_place place;
    char *text = NULL;

    if (strncmp(a->given.scenario, fetched, length) != 0)
        return hil_arguments_load(&a->given, scenario) ? HIL_EXIT_USAGE : HIL_EXIT_OK;
    if (!hil_rendezvous_place_parse(a->given.scenario + length, &place)) {
        fprintf(stderr, "%s: after rendezvous: allowed: " HIL_RENDEZVOUS_ALLOWED "\n",
                a->given.scenario);
        return HIL_EXIT_USAGE;
    }
    int status = fetch_text(a, &place, &text);
    if (status == HIL_EXIT_OK)
        status = load_text(a, a->given.scenario + length, text, scenario);
    free(text);
    return status;
}
