#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "doctor.h"
#include "report.h"

/* "Xeon ..."; if the machine does not name its processor, its architecture: "aarch64". */
static void machine_processor(const struct utsname *system, char *text, size_t size)
{
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];

    snprintf(text, size, "%s", system->machine);
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(text, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (file)
        fclose(file);
}

json_t *hil_machine_json(const struct hil_scenario *scenario)
{
    static struct hil_findings findings;
    struct hil_machine machine;
    struct utsname system;
    const time_t now = time(NULL);
    struct tm utc;
    char when[32], processor[256];

    if (scenario->mode == HIL_VIRTUAL || hil_machine_open(&machine, "", scenario) || uname(&system))
        return NULL;
    hil_examine(&machine, &findings);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    machine_processor(&system, processor, sizeof processor);
    return json_pack("{s:s, s:s, s:s++, s:s, s:i, s:o}", "time", when, "host", system.nodename,
                     "kernel", system.sysname, " ", system.release, "processor", processor, "cpus",
                     CPU_COUNT(&machine.online), "findings", hil_report_findings_json(&findings));
}
