/* What a page is made of besides the data: the files of this folder, inside the program. */
#ifndef HIL_PAGE_PARTS_H
#define HIL_PAGE_PARTS_H

extern const char page_template[], page_style[];

/* In the order in which they run; NULL: there are no more. */
const char *page_script(unsigned i);

#endif
