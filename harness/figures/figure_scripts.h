/* The gnuplot scripts of traces/, inside the program. */
#ifndef HIL_FIGURE_SCRIPTS_H
#define HIL_FIGURE_SCRIPTS_H

/* The text of the script of this name, "style.gp"; NULL when there is none. */
const char *hil_figure_script(const char *name);

#endif
