/* The gnuplot scripts of traces/, built into the program. */
#ifndef HIL_FIGURE_SCRIPTS_H
#define HIL_FIGURE_SCRIPTS_H

/* The text of a script, by a name such as "style.gp"; NULL when there is none. */
const char *hil_figure_script(const char *name);

#endif
