/* SPDX-License-Identifier: Apache-2.0 */
/*
 * part.h - the two parts of a plug-in for MPI. The core loads the plug-in itself when it lists
 * backends. The part that is linked with MPI is loaded when a communicator needs it, because MPI
 * libraries read files and install handlers as soon as they are loaded.
 */
#ifndef ISOMER_BACKENDS_MPI_PART_H
#define ISOMER_BACKENDS_MPI_PART_H

#include <isomer/backend.h>

#define ISO_MPI_ENGINE_NAME "isomer_mpi_engine"
ISO_PLUGIN_EXPORT const iso_engine *isomer_mpi_engine(const iso_host *host);

#endif
