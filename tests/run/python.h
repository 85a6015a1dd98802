/* Python, for the tests of what is written in it. */
#ifndef TEST_PYTHON_H
#define TEST_PYTHON_H

/* A command that is a Python with this module: the path's, or else Debian's, whose packages another
 * python3 on the path does not see. NULL where neither has it. */
const char *python_with(const char *module);

#endif
