#include "version.h"

const char hil_version[] = HIL_VERSION;
