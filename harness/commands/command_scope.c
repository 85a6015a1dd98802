#include "commands.h"

int hil_command_scope(int argc, char **argv)
{
    return hil_scope_capture(argc, argv);
}
