#include "tracer.h"

const struct hil_tracer *hil_tracer;
