/* SPDX-License-Identifier: Apache-2.0 */
/*
 * comm_faults.c BACKEND FAULT: through the public calls, three ranks of one process over the
 * stand-ins, several times: a rank that stops ("stops"), an error that the library finds later
 * ("error"), a lost device ("lost"). Every other rank has its error in time, and nothing hangs.
 */
#include <isomer/isomer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RANKS = 3, N = 1000 };

/* Seconds are generous, because a loaded machine may be late. Without a rank only the timeout ends
 * the wait, and so there are fewer turns. Other faults must be found long before it. */
static const struct fault {
    const char *name;
    int times;
    double timeout, most;
} faults[] = {{"stops", 2, 4, 70}, {"error", 10, 60, 30}, {"lost", 10, 60, 30}};

static struct {
    iso_device device[RANKS];
    iso_stream stream[RANKS];
    iso_buffer buffer[RANKS];
    iso_comm comm[RANKS];
} s;

/* In the environment. Only their last characters change, because the stand-ins' threads read them.
 */
static char with_error[] = "FAKE_COMM_ERROR=0", with_loss[] = "FAKE_COMM_LOST=0";

static void set(char *setting, char value)
{
    setting[strlen(setting) - 1] = value;
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void need(iso_status status, const char *what)
{
    if (status != ISO_OK) {
        printf("%s: %s: %s\n", what, iso_status_name(status), iso_last_error());
        exit(1);
    }
}

static iso_status reduce(int rank)
{
    iso_comm_args args = ISO_COMM_ARGS_INIT;
    args.op = ISO_COMM_ALL_REDUCE;
    args.dtype = ISO_F32;
    args.count = N;
    args.from.buffer = args.to.buffer = s.buffer[rank];
    return iso_comm_run(s.comm[rank], s.stream[rank], &args);
}

static void set_up(const char *backend, double timeout)
{
    iso_comm_options options = ISO_COMM_OPTIONS_INIT;
    options.timeout_nanoseconds = (int64_t)(timeout * 1e9);
    for (int i = 0; i < RANKS; i++) {
        char spec[64];
        (void)snprintf(spec, sizeof spec, "%s:%d", backend, i);
        need(iso_device_open(spec, &s.device[i]), "iso_device_open");
        need(iso_stream_create(s.device[i], 0, &s.stream[i]), "iso_stream_create");
        need(iso_buffer_create(s.device[i], N * 4, &s.buffer[i]), "iso_buffer_create");
    }
    need(iso_comm_create(s.device, RANKS, &options, s.comm), "iso_comm_create");
    for (int i = 0; i < RANKS; i++) {
        need(reduce(i), "a sound call");
    }
    for (int i = 0; i < RANKS; i++) {
        need(iso_stream_sync(s.stream[i]), "a sound call");
    }
}

/* The other ranks have an error by now, from their stream or from their communicator. */
static void expect_error(int rank, double began, double most)
{
    iso_status status = iso_stream_sync(s.stream[rank]);
    while (status == ISO_OK && now() - began < most) {
        status = iso_comm_query(s.comm[rank]);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    const double took = now() - began;
    if (status == ISO_OK || took > most) {
        printf("rank %d has %s after %.3f s: %s\n", rank, iso_status_name(status), took,
               iso_last_error());
        exit(1);
    }
}

static void once(const char *backend, const struct fault *fault)
{
    const int lost = strcmp(fault->name, "lost") == 0, error = strcmp(fault->name, "error") == 0;
    set_up(backend, fault->timeout);
    const double began = now();
    for (int i = 0; i < RANKS; i += 2) {
        need(reduce(i), "a call of a rank that goes on");
    }
    if (error) {
        set(with_error, '6');
    }
    if (lost) {
        set(with_loss, '1');
        if (reduce(1) != ISO_DEVICE_LOST) {
            printf("the lost device has %s\n", iso_last_error());
            exit(1);
        }
        set(with_loss, '0');
    }
    for (int i = 0; i < RANKS; i++) {
        expect_error(i, began, fault->most);
    }
    set(with_error, '0');
    for (int i = 0; i < RANKS; i++) {
        (void)iso_comm_destroy(s.comm[i]);
    }
    for (int i = 0; i < RANKS; i++) {
        (void)iso_device_close(s.device[i]);
    }
}

int main(int argc, char **argv)
{
    const double began = now();
    (void)putenv(with_error);
    (void)putenv(with_loss);
    for (size_t f = 0; f < sizeof faults / sizeof faults[0] && argc == 3; f++) {
        const struct fault *fault = &faults[f];
        if (strcmp(fault->name, argv[2]) == 0) {
            for (int i = 0; i < fault->times; i++) {
                once(argv[1], fault);
            }
            printf("%s: %d times, %.3f s each\n", fault->name, fault->times,
                   (now() - began) / fault->times);
            return 0;
        }
    }
    return 2;
}
