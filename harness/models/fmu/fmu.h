/*
 * FMUs as models: Functional Mock-up Units (fmi-standard.org) for co-simulation, FMI 2.0 and 3.0.
 * Their names end in ".fmu", and their files are found like shared libraries (native.h).
 *
 * The FMU is unpacked (fmu_archive.c) into a folder of this process (fmu_folder.c). Its description
 * is read (fmu_description.c) and converted to tables (fmu_tables.c), and its library is opened
 * (fmu_library.c). Each component is an instance (fmu_instance.c), which uses one of the two FMI
 * versions (fmu_fmi2.c, fmu_fmi3.c).
 */
#ifndef HIL_FMU_H
#define HIL_FMU_H

#include "../provider/provider.h"

extern const struct hil_provider hil_fmu_provider;

#endif
