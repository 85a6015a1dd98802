/*
 * FMUs as models: Functional Mock-up Units (fmi-standard.org), for co-simulation, of FMI 2.0 and
 * 3.0. The name ends in ".fmu", and the file is looked for as a shared library is (native.h).
 *
 * The FMU is unpacked (fmu_archive.c) into a folder of this process (fmu_folder.c), its description
 * is read (fmu_description.c) and made into tables (fmu_tables.c), its library is opened
 * (fmu_library.c). Each component is an instance (fmu_instance.c), which speaks one of the two
 * versions (fmu_fmi2.c, fmu_fmi3.c).
 */
#ifndef HIL_FMU_H
#define HIL_FMU_H

#include "../provider.h"

extern const struct hil_provider hil_fmu_provider;

#endif
