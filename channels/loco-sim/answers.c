/* The answers that make up a run, and their text. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "guide_internal.h"

const struct kind loco_sim_kinds[LOCO_CHOICES] = {
    [LOCO_CHOICE_TIME] = {"time", OTHER, FIXED},
    [LOCO_CHOICE_TURN] = {"turn", OTHER, FIXED},
    [LOCO_CHOICE_RANK] = {"rank", OTHER, FIXED},
    [LOCO_CHOICE_REST] = {"rest", OTHER, FIXED},
    [LOCO_CHOICE_SWITCH] = {"switch", PREEMPTION, TO_ANY},
    [LOCO_CHOICE_INTERRUPT] = {"interrupt", PREEMPTION, FIXED},
    [LOCO_CHOICE_COUNTDOWN] = {"countdown", PREEMPTION, FIXED},
    [LOCO_CHOICE_STALL] = {"stall", PREEMPTION, FIXED},
    [LOCO_CHOICE_DELAY] = {"delay", DELAY, TO_ANY},
    [LOCO_CHOICE_ORDER] = {"order", DELAY, TO_ANY},
    [LOCO_CHOICE_TEAR] = {"tear", DELAY, TO_ANY},
    [LOCO_CHOICE_WORD] = {"word", DELAY, TO_ANY},
    [LOCO_CHOICE_STRIDE] = {"stride", DELAY, FIXED},
    [LOCO_CHOICE_STREAM] = {"stream", DELAY, TO_ANY},
    [LOCO_CHOICE_AGAIN] = {"again", DELAY, TO_ANY},
    [LOCO_CHOICE_PATIENCE] = {"patience", DELAY, FIXED},
    [LOCO_CHOICE_STORE] = {"store", DELAY, TO_LARGEST},
    [LOCO_CHOICE_ROOM] = {"room", DELAY, FIXED},
    [LOCO_CHOICE_NEWS] = {"news", DELAY, FIXED},
};

void loco_sim_answers_free(struct loco_sim_answers *answers)
{
    free(answers->answer);
    *answers = (struct loco_sim_answers){0};
}

bool loco_sim_answers_add(struct loco_sim_answers *answers, struct loco_sim_answer answer)
{
    if (answers->count == answers->room) {
        size_t room = answers->room ? 2 * answers->room : 64;
        void *more = realloc(answers->answer, room * sizeof answer);
        if (!more)
            return false;
        answers->answer = more;
        answers->room = room;
    }
    answers->answer[answers->count++] = answer;
    return true;
}

static const char early[] = "early";

static int answers_read_one(const char *text, struct loco_sim_answer *answer)
{
    const char *colon = strchr(text, ':');
    char *end;

    for (unsigned what = 0; colon && what < LOCO_CHOICES; what++) {
        if (strncmp(loco_sim_kinds[what].name, text, (size_t)(colon - text)) != 0 ||
            loco_sim_kinds[what].name[colon - text])
            continue;
        *answer = (struct loco_sim_answer){.what = what, .value = 1};
        answer->number = (uint32_t)strtoul(colon + 1, &end, 10);
        answer->early = strncmp(end, early, sizeof early - 1) == 0;
        end += answer->early ? sizeof early - 1 : 0;
        if (*end == '=')
            answer->value = strtoull(end + 1, &end, 10);
        return *end || answer->number == 0 ? -EINVAL : 0;
    }
    return -EINVAL;
}

int loco_sim_answers_read(struct loco_sim_answers *answers, const char *text)
{
    char *words = strdup(text), *rest = words;
    int rc = words ? 0 : -ENOMEM;

    *answers = (struct loco_sim_answers){0};
    for (const char *word; !rc && (word = strsep(&rest, " "));) {
        struct loco_sim_answer answer;
        answers->drawn |= strcmp(word, "drawn") == 0;
        if (!*word || strcmp(word, "drawn") == 0)
            continue;
        rc = answers_read_one(word, &answer);
        if (!rc && !loco_sim_answers_add(answers, answer))
            rc = -ENOMEM;
    }
    free(words);
    if (rc)
        loco_sim_answers_free(answers);
    return rc;
}

void loco_sim_answer_print(const struct loco_sim_answer *a, FILE *file)
{
    fprintf(file, "%s:%" PRIu32 "%s", loco_sim_kinds[a->what].name, a->number,
            a->early ? early : "");
    if (a->value != 1)
        fprintf(file, "=%" PRIu64, a->value);
}

void loco_sim_answers_print(const struct loco_sim_answers *answers, FILE *file)
{
    fputs(answers->drawn ? "drawn" : "", file);
    for (size_t i = 0; i < answers->count; i++) {
        if (i > 0 || answers->drawn)
            fputc(' ', file);
        loco_sim_answer_print(&answers->answer[i], file);
    }
}
