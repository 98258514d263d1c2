/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz.c - selects the reader, and checks each byte that was printed. */
#include "tests/hostile/fuzz.h"

#include "bench/tool.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *tool_name = "isomer";

static const struct target {
    const char *name;
    void (*read)(const uint8_t *data, size_t size);
} targets[] = {{"results", fuzz_results}, {"pair", fuzz_pair},   {"suite", fuzz_suite},
               {"line", fuzz_line},       {"spec", fuzz_spec},   {"settings", fuzz_settings},
               {"dlpack", fuzz_dlpack},   {"cache", fuzz_cache}, {"sensors", fuzz_sensors},
               {"tuned", fuzz_tuned}};

static const struct target *target;
static int said = -1, terminal = -1; /* the redirected outputs, and the original ones */
static char folder[64];

/* ASan's and UBSan's functions, if they are in the process. */
void __sanitizer_set_report_fd(void *descriptor) __attribute__((weak));

void fuzz_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    dprintf(terminal, "FAIL: %s: ", target->name);
    vdprintf(terminal, format, list);
    dprintf(terminal, "\n");
    va_end(list);
    abort();
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *fuzz_folder(void)
{
    return folder;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(data, 1, size, out) != size || fclose(out) != 0) {
        fuzz_fail("%s cannot be written", path);
    }
    return path;
}

char *fuzz_lines(const uint8_t *data, size_t size, char **lines, int most, int *count)
{
    char *text = malloc(size + 1), *rest = text, *line;
    if (!text) {
        fuzz_fail("no memory");
    }
    memcpy(text, data, size);
    text[size] = '\0';
    *count = 0;
    while (*count < most && (line = strsep(&rest, "\n"))) {
        lines[(*count)++] = line;
    }
    return text;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ_TARGET"), *where = getenv("TMPDIR");
    (void)argc;
    (void)argv;
    for (size_t i = 0; name && i < sizeof targets / sizeof targets[0]; i++) {
        if (strcmp(targets[i].name, name) == 0) {
            target = &targets[i];
        }
    }
    snprintf(folder, sizeof folder, "%.40s/isomer-fuzz.XXXXXX", where ? where : "/tmp");
    if (!target || !mkdtemp(folder)) {
        fprintf(stderr, "FUZZ_TARGET is none of the readers, or no folder can be made\n");
        exit(2);
    }
    atexit(remove_folder);
    setenv("PATH", "/nowhere", 1);
    setenv("ISOMER_CACHE_DIR", "off", 1);
    terminal = dup(STDERR_FILENO);
    said = memfd_create("said", 0);
    if (terminal < 0 || said < 0 || !tool_terminal_open()) {
        exit(2);
    }
    if (__sanitizer_set_report_fd) {
        __sanitizer_set_report_fd((void *)(intptr_t)terminal);
    }
    return 0;
}

/* Independent of the rules that did the escaping: checks bytes, and the few characters that reorder
 * text. */
static void look(const unsigned char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        unsigned char c = text[i], d = i + 1 < length ? text[i + 1] : 0;
        unsigned char e = i + 2 < length ? text[i + 2] : 0;
        bool line = c == '\n' || (c == '\r' && d == '\n');
        bool control = (c < 0x20 && !line) || c == 0x7f || (c == 0xc2 && d >= 0x80 && d < 0xa0);
        bool turns =
            c == 0xe2 && ((d == 0x80 && (e == 0x8e || e == 0x8f || (e >= 0xa8 && e <= 0xae))) ||
                          (d == 0x81 && e >= 0xa0 && e <= 0xaf));
        if (control || turns) {
            fuzz_fail("byte %zu of what was printed is 0x%02x: ...%.*s", i, c,
                      (int)(i < 60 ? i : 60), (const char *)text + (i < 60 ? 0 : i - 60));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char text[1 << 20];
    int outputs[] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    if (ftruncate(said, 0) != 0 || lseek(said, 0, SEEK_SET) != 0) {
        fuzz_fail("the file for what is printed");
    }
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    target->read(data, size);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        dup2(outputs[i], STDOUT_FILENO + i);
        close(outputs[i]);
    }
    ssize_t length;
    for (off_t at = 0; (length = pread(said, text, sizeof text, at)) > 0; at += length) {
        look(text, (size_t)length);
    }
    return 0;
}
