/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - the machine: its name, processor and load, and the processor time that other processes
 * use. */
#include "bench/record/host.h"

#include "bench/record/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

/* The first line of a small file, without its newline; "" if there is none. */
static const char *first_line(char *text, size_t room, const char *path)
{
    FILE *in = fopen(path, "r");
    text[0] = '\0';
    if (in) {
        if (!fgets(text, (int)room, in)) {
            text[0] = '\0';
        }
        fclose(in);
    }
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* The value of the first line of /proc/cpuinfo that has one of the keys. */
static const char *cpu_name(char *text, size_t room)
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "cpu"};
    char line[512];
    FILE *in = fopen("/proc/cpuinfo", "r");
    text[0] = '\0';
    while (in && text[0] == '\0' && fgets(line, sizeof line, in)) {
        char *colon = strchr(line, ':');
        if (!colon) {
            continue;
        }
        size_t length = strcspn(line, "\t:");
        colon += 1 + strspn(colon + 1, " ");
        colon[strcspn(colon, "\n")] = '\0';
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            if (strlen(keys[k]) == length && strncmp(line, keys[k], length) == 0) {
                snprintf(text, room, "%s", colon);
            }
        }
    }
    if (in) {
        fclose(in);
    }
    return text;
}

/* The name of the hypervisor; "" on bare metal or if it is not known. */
static const char *hypervisor(char *text, size_t room)
{
#if defined(__x86_64__) || defined(__i386__)
    static const struct {
        const char *mark, *name;
    } known[] = {{"KVMKVMKVM", "kvm"},       {"Microsoft Hv", "hyper-v"},
                 {"VMwareVMware", "vmware"}, {"XenVMMXenVMM", "xen"},
                 {"TCGTCGTCGTCG", "qemu"},   {"VBoxVBoxVBox", "virtualbox"},
                 {"bhyve bhyve ", "bhyve"}};
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (__get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 31))) {
        char mark[13] = "";
        __cpuid(0x40000000u, a, b, c, d);
        memcpy(mark, &b, 4);
        memcpy(mark + 4, &c, 4);
        memcpy(mark + 8, &d, 4);
        snprintf(text, room, "unknown");
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (strcmp(mark, known[i].mark) == 0) {
                snprintf(text, room, "%s", known[i].name);
            }
        }
        return text;
    }
#endif
    return first_line(text, room, "/sys/hypervisor/type");
}

json_t *host_json(void)
{
    char text[512];
    struct utsname names;
    double load[1];
    json_t *host = json_object();
    if (uname(&names) != 0) {
        memset(&names, 0, sizeof names);
    }
    tool_set_text(host, "name", names.nodename);
    tool_set_text(host, "system", names.sysname);
    tool_set_text(host, "release", names.release);
    tool_set_text(host, "architecture", names.machine);
    tool_set_text(host, "cpu", cpu_name(text, sizeof text));
    /* All processors, not those of this thread: OMP_PLACES may have bound it to one by now. */
    tool_set_int(host, "processors", sysconf(_SC_NPROCESSORS_ONLN));
    const long pages = sysconf(_SC_PHYS_PAGES);
    json_object_set_new(host, "memory_bytes",
                        pages > 0 ? json_integer((json_int_t)pages * sysconf(_SC_PAGESIZE))
                                  : json_null());
    tool_set_number(host, "load", getloadavg(load, 1) == 1 ? load[0] : (double)NAN);
    tool_set_text(
        host, "governor",
        first_line(text, sizeof text, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
    tool_set_text(host, "virtual", hypervisor(text, sizeof text));
    return host;
}

/* ---- noise ----------------------------------------------------------------------------------- */

static double of_children(void)
{
    struct rusage use;
    if (getrusage(RUSAGE_CHILDREN, &use) != 0) {
        return 0;
    }
    return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
           1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

void record_noise_now(record_noise *out)
{
    /* user nice system idle iowait irq softirq steal. The guests' time that follows is not read,
     * because user and nice include it. */
    enum { IDLE = 3, WAITING = 4, STEAL = 7, FIELDS = 8 };
    char line[512], *at = line;
    double ticks = (double)sysconf(_SC_CLK_TCK), fields[FIELDS] = {0};
    struct timespec own;
    *out = (record_noise){0};
    if (strncmp(first_line(line, sizeof line, "/proc/stat"), "cpu ", 4) != 0) {
        return;
    }
    at += 4;
    for (int i = 0; i < FIELDS; i++) {
        fields[i] = (double)strtoull(at, &at, 10) / ticks;
        out->total += fields[i];
    }
    out->idle = fields[IDLE] + fields[WAITING];
    out->steal = fields[STEAL];
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own) == 0) {
        out->own = (double)own.tv_sec + 1e-9 * (double)own.tv_nsec + of_children();
    }
}

double record_noise_share(const record_noise *before, const record_noise *after)
{
    double total = after->total - before->total;
    if (!(total > 0)) {
        return (double)NAN;
    }
    double busy = total - (after->idle - before->idle) - (after->own - before->own);
    return busy <= 0 ? 0 : busy >= total ? 1 : busy / total;
}
