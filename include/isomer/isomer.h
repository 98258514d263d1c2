/* SPDX-License-Identifier: Apache-2.0 */
/* isomer.h - the whole public interface: the same operation on different silicon. */
#ifndef ISOMER_ISOMER_H
#define ISOMER_ISOMER_H

#include <isomer/base.h>
#include <isomer/comm.h>
#include <isomer/device.h>
#include <isomer/graph.h>
#include <isomer/grid.h>
#include <isomer/interop.h>
#include <isomer/memory.h>
#include <isomer/op.h>
#include <isomer/program.h>
#include <isomer/sparse.h>
#include <isomer/status.h>
#include <isomer/stream.h>
#include <isomer/types.h>

#endif
