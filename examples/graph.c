/* SPDX-License-Identifier: Apache-2.0 */
/* graph.c - many springs, each with a mass: one step of time is two short calls. A graph has a
 * hundred steps, and is launched ten times. */
#include <isomer/isomer.h>
#include <stdio.h>

enum { N = 1000, STEPS = 100, LAUNCHES = 10 };

static iso_status submit_steps(iso_stream stream, iso_operand place, iso_operand speed)
{
    iso_map_args pull = ISO_MAP_ARGS_INIT, move = ISO_MAP_ARGS_INIT;
    iso_status status = ISO_OK;
    pull.op = move.op = ISO_MAP_TRIAD, pull.dtype = move.dtype = ISO_F64;
    pull.n = move.n = N;
    pull.alpha = -0.01, pull.x = pull.z = speed, pull.y = place; /* speed -= 0.01 place */
    move.alpha = 0.01, move.x = move.z = place, move.y = speed;  /* place += 0.01 speed */
    for (int step = 0; step < STEPS && !status; step++) {
        status = iso_map(stream, &pull) ? iso_last_status() : iso_map(stream, &move);
    }
    return status;
}

int main(void)
{
    static double places[N];
    const double still = 0;
    iso_device device;
    iso_stream stream;
    iso_operand place = {{0}, 0}, speed = {{0}, 0};
    iso_graph graph;
    for (int i = 0; i < N; i++) {
        places[i] = (double)i / N;
    }
    if (iso_device_open(NULL, &device) || iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, sizeof places, &place.buffer) ||
        iso_buffer_create(device, sizeof places, &speed.buffer) || iso_graph_begin(stream) ||
        submit_steps(stream, place, speed) || /* these do not run yet */
        iso_graph_end(stream, &graph) || iso_write(stream, place, places, sizeof places) ||
        iso_fill(stream, speed, &still, sizeof still, sizeof places)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    for (int i = 0; i < LAUNCHES; i++) {
        if (iso_graph_launch(graph, stream)) {
            return fprintf(stderr, "%s\n", iso_last_error()), 1;
        }
    }
    if (iso_read(stream, places, place, sizeof places) || iso_stream_sync(stream)) {
        return fprintf(stderr, "%s\n", iso_last_error()), 1;
    }
    printf("the last mass is at %.6f\n", places[N - 1]);
    return iso_device_close(device) != ISO_OK;
}
