/*
 * Earlier words of the language, which older scenarios and results have. They are rewritten as the
 * file is read, so that no other code knows them.
 */
#ifndef HIL_OLD_WORDS_H
#define HIL_OLD_WORDS_H

#include "yaml/scenario_tree.h"

/* Rewrites a tree, which may have mistakes. Returns 0 or -ENOMEM. */
int scenario_rewrite_old_words(struct scenario_node *root);

#endif
