/* SPDX-License-Identifier: Apache-2.0 */
/* graph_work.h - work of every kind, which the tests of graphs submit or record. */
#ifndef ISOMER_UNIT_GRAPH_WORK_H
#define ISOMER_UNIT_GRAPH_WORK_H

#include "tests/unit/unit.h"

#include <stdbool.h>

enum { BIG_BYTES = 1 << 18, NUMBERS = 256, LONG_K = 2048 };

/* Of graph_submit that are not empty; the sum of nothing is a fill. */
enum { WORKS = 18, WORKS_FEW = 14 };

extern const char *graph_spec; /* the device */
extern bool graph_few;         /* kernels, for devices whose compiler is slow */

/* A device, what all kinds of work use, and the host's memory that they read and write. */
typedef struct graph_session {
    unit_session s;
    iso_buffer big;
    iso_program program;
    iso_kernel grow;
    iso_spmv_args spmv;
    float in[NUMBERS], out[NUMBERS];
} graph_session;

/* Everything that the work writes. */
typedef struct graph_result {
    float out[NUMBERS];
    char buffer[UNIT_BYTES], big[BIG_BYTES];
} graph_result;

int graph_setup(void **state); /* opens a session */
int graph_teardown(void **state);

iso_operand graph_at(iso_buffer buffer, int64_t number);
/* z = factor * x, NUMBERS of them. */
iso_map_args graph_scale(iso_operand x, iso_operand z, double factor);
float graph_number(const unit_session *s, iso_buffer buffer, int64_t index);
void graph_set(const unit_session *s, iso_buffer buffer, int64_t index, float value);
/* Records y = 2x, from number 0 on to number NUMBERS on. */
iso_graph graph_doubling(const unit_session *s);
/* A launch of the session's kernel. */
iso_status graph_launch_kernel(const graph_session *t, iso_stream stream);
/* A product that needs scratch memory. */
iso_gemm_args graph_long_product(const graph_session *t);
/* Work of every kind. */
void graph_submit(graph_session *t, iso_stream stream);
/* Sets the inputs, and everything that is written to 0. */
void graph_reset(graph_session *t, float first);
void graph_get(const graph_session *t, graph_result *r);

/* core_graph_use.c: tests of launches; returns how many failed. */
int graph_use_run(void);

#endif
