/* The parts of a page other than its data: the files of this folder, built into the program. */
#ifndef HIL_PAGE_PARTS_H
#define HIL_PAGE_PARTS_H

extern const char page_template[], page_style[];

/* The scripts in the order in which they run; NULL: there are no more. */
const char *page_script(unsigned i);

#endif
