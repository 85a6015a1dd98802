/*
 * Classes in Python as models: python:FILE:CLASS. The package hiloco (harness/python) runs the
 * class in a process of its own, which is a program like those of program.h. HILOCO_PYTHON chooses
 * the interpreter; without it that is python3.
 */
#ifndef HIL_PYTHON_H
#define HIL_PYTHON_H

#include "../provider/provider.h"

extern const struct hil_provider hil_python_provider;

#endif
