/*
 * The signals that a scenario mentions, wherever that is: motor.speed_rad_s, cell[3].current_a.
 * Some models offer more signals than they have by themselves, so this is known before they are
 * loaded.
 */
#ifndef HIL_SCENARIO_MENTIONED_H
#define HIL_SCENARIO_MENTIONED_H

#include "../yaml/scenario_tree.h"

struct scenario_mentioned {
    struct scenario_mention {
        char *component, *signal;
    } * at; /* in order, each once */
    size_t count;
};

/* Finds them in the tree. Returns 0 or -ENOMEM; close it in any case. */
int scenario_mentioned_open(struct scenario_mentioned *mentioned, const struct scenario_node *root);
void scenario_mentioned_close(struct scenario_mentioned *mentioned);

/* The component's mentions: the index of the first one, and their number. */
size_t scenario_mentioned_find(const struct scenario_mentioned *mentioned, const char *component,
                               size_t *first);

#endif
