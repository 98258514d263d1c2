/* SPDX-License-Identifier: Apache-2.0 */
/*
 * program.c - a program that uses the library and runs with more rights than its caller. It lists
 * the settings and the backends, computes a product, opens a would-be plug-in, and prints a line
 * for each. With the argument "clear" it empties its environment first, as such a program should.
 */
#include <isomer/isomer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

static void list_settings(void)
{
    iso_setting setting = ISO_SETTING_INIT;

    for (int32_t i = 0; iso_get_setting(i, &setting) == ISO_OK; i++) {
        printf("setting %s=\"%s\" %s: %s\n", setting.name, setting.value, setting.source,
               setting.problem);
    }
}

static void list_backends(void)
{
    enum { ROOM = 64 };
    iso_entry *entries = calloc(ROOM, sizeof *entries);
    int32_t count = 0;

    if (!entries) {
        return;
    }
    entries[0].size = (uint32_t)sizeof *entries;
    if (iso_enumerate(entries, ROOM, &count)) {
        printf("enumerate: %s\n", iso_last_error());
    }
    for (int32_t i = 0; i < count && i < ROOM; i++) {
        printf("backend %s: %s: %s\n", entries[i].backend, iso_state_name(entries[i].state),
               entries[i].reason);
    }
    free(entries);
}

/* A product on a device, by its vendor's library if it has one. */
static iso_status multiply(iso_device device)
{
    enum { N = 64 };
    static float ones[2 * N * N], product[N * N];
    iso_gemm_args args = ISO_GEMM_ARGS_INIT;
    iso_stream stream;
    iso_buffer memory;

    for (int i = 0; i < 2 * N * N; i++) {
        ones[i] = 1.0f;
    }
    args.dtype = ISO_F32;
    args.m = args.n = args.k = N;
    if (iso_stream_create(device, 0, &stream) ||
        iso_buffer_create(device, sizeof ones + sizeof product, &memory)) {
        return iso_last_status();
    }
    args.a = (iso_operand){memory, 0};
    args.b = (iso_operand){memory, sizeof ones / 2};
    args.c = (iso_operand){memory, sizeof ones};
    if (iso_write(stream, args.a, ones, sizeof ones) || iso_gemm(stream, &args) ||
        iso_read(stream, product, args.c, sizeof product) || iso_stream_sync(stream)) {
        return iso_last_status();
    }
    printf("product %g\n", (double)product[0]);
    return ISO_OK;
}

static void use(const char *spec)
{
    iso_property property = ISO_PROPERTY_INIT;
    iso_device device;

    if (iso_device_open(spec, &device)) {
        printf("open %s: %s\n", spec, iso_last_error());
        return;
    }
    if (multiply(device)) {
        printf("multiply %s: %s\n", spec, iso_last_error());
    }
    for (int32_t i = 0; iso_device_get_property(device, i, &property) == ISO_OK; i++) {
        printf("property %s %s: %s\n", spec, property.name, property.value);
    }
    (void)iso_device_close(device);
    printf("used %s\n", spec);
}

int main(int count, char **arguments)
{
    printf("secure %lu\n", getauxval(AT_SECURE));
    if (count > 1 && !strcmp(arguments[1], "clear")) {
        clearenv();
    }
    list_settings();
    list_backends();
    use("openmp");
    use("trap");
    return 0;
}
