/* SPDX-License-Identifier: Apache-2.0 */
/* provenance.c - where figures come from: the program, its build and settings, the machine, the
 * devices. */
#include "bench/record/host.h"
#include "bench/record/record.h"
#include "record_build.h"
#include "record_commit.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

/* Environment variables that change which devices a run sees or how libraries compute. A name that
 * ends in '_' stands for all names that begin with it. Do not add one that may hold a secret: the
 * values are published. */
static const char *const telling[] = {"AMD_DIRECT_DISPATCH",
                                      "AMD_SERIALIZE_COPY",
                                      "AMD_SERIALIZE_KERNEL",
                                      "BLIS_",
                                      "CLBLAST_",
                                      "CUBLASLT_",
                                      "CUBLAS_",
                                      "CUDA_",
                                      "CUSPARSE_",
                                      "GLIBC_TUNABLES",
                                      "GOMP_",
                                      "GOTO_",
                                      "GPU_DEVICE_ORDINAL",
                                      "GPU_MAX_HW_QUEUES",
                                      "HIPBLASLT_",
                                      "HIP_",
                                      "HSA_",
                                      "KMP_",
                                      "LD_LIBRARY_PATH",
                                      "LD_PRELOAD",
                                      "MALLOC_",
                                      "MKL_",
                                      "NVIDIA_TF32_OVERRIDE",
                                      "NVIDIA_VISIBLE_DEVICES",
                                      "OCL_",
                                      "OMP_",
                                      "OPENBLAS_",
                                      "OPENCL_",
                                      "POCL_",
                                      "ROCBLAS_",
                                      "ROCM_PATH",
                                      "ROCR_",
                                      "ROCSPARSE_",
                                      "TENSILE_"};

static bool is_telling(const char *variable, size_t length)
{
    for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
        size_t known = strlen(telling[i]);
        bool begins = telling[i][known - 1] == '_';
        if ((begins ? length > known : length == known) &&
            strncmp(variable, telling[i], known) == 0) {
            return true;
        }
    }
    return false;
}

/* Unlike tool_json_text, this does not turn "" into null: an empty value has a meaning. An empty
 * CUDA_VISIBLE_DEVICES hides every device. */
static json_t *text_as_it_is(const char *text)
{
    json_t *value = json_string(text);
    return value ? value : json_null();
}

static json_t *environment_json(void)
{
    json_t *object = json_object();
    for (char **e = environ; e && *e; e++) {
        char name[128];
        size_t length = strcspn(*e, "=");
        if ((*e)[length] != '=' || length >= sizeof name || !is_telling(*e, length)) {
            continue;
        }
        memcpy(name, *e, length);
        name[length] = '\0';
        json_object_set_new(object, name, text_as_it_is(*e + length + 1));
    }
    return object;
}

static json_t *settings_json(void)
{
    json_t *list = json_array();
    iso_setting s = ISO_SETTING_INIT;
    for (int32_t i = 0; tool_setting(i, &s); i++) {
        json_t *setting = json_object();
        bool set = strcmp(s.source, "environment") == 0;
        tool_set_text(setting, "name", s.name);
        json_object_set_new(setting, "value",
                            set ? text_as_it_is(s.value) : tool_json_text(s.value));
        tool_set_text(setting, "source", s.source);
        tool_set_text(setting, "problem", s.problem);
        json_array_append_new(list, setting);
    }
    return list;
}

static json_t *arguments_json(int argc, char **argv)
{
    json_t *list = json_array();
    json_array_append_new(list, json_string("isomer"));
    for (int i = 0; i < argc; i++) {
        json_t *word = json_string(argv[i]);
        json_array_append_new(list, word ? word : tool_json_text(argv[i]));
    }
    return list;
}

static json_t *build_json(void)
{
    json_t *build = json_object();
    tool_set_text(build, "compiler", RECORD_BUILD_COMPILER);
    tool_set_text(build, "flags", RECORD_BUILD_FLAGS);
    tool_set_text(build, "commit", RECORD_COMMIT);
    tool_set_text(build, "type", RECORD_BUILD_TYPE);
    return build;
}

const char *record_commit(void)
{
    return RECORD_COMMIT;
}

json_t *record_now(void)
{
    char when[32];
    time_t t = time(NULL);
    struct tm utc;
    gmtime_r(&t, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    return json_string(when);
}

json_t *record_run(const char *command, int argc, char **argv)
{
    json_t *run = json_object();
    tool_set_text(run, "command", command);
    tool_set_text(run, "version", ISO_VERSION_STRING);
    tool_set_text(run, "library_version", iso_version());
    json_object_set_new(run, "time", record_now());
    json_object_set_new(run, "arguments", arguments_json(argc, argv));
    json_object_set_new(run, "host", host_json());
    json_object_set_new(run, "build", build_json());
    json_object_set_new(run, "settings", settings_json());
    json_object_set_new(run, "environment", environment_json());
    json_object_set_new(run, "flags", json_array());
    return run;
}

void record_end(json_t *run, bool interrupted)
{
    tool_set_bool(run, "complete", !interrupted);
    if (interrupted) {
        json_array_append_new(json_object_get(run, "flags"), json_string("interrupted"));
    }
}

/* ---- devices --------------------------------------------------------------------------------- */

json_t *record_device(iso_device device)
{
    iso_device_info info = ISO_DEVICE_INFO_INIT;
    iso_property property = ISO_PROPERTY_INIT;
    iso_telemetry telemetry = ISO_TELEMETRY_INIT;
    if (iso_device_get_info(device, &info) != ISO_OK) {
        return NULL;
    }
    bool sensed = iso_device_get_telemetry(device, &telemetry) == ISO_OK;
    json_t *object = tool_json_device(&info);
    json_t *properties = json_object();
    for (int32_t i = 0; tool_property(device, i, &property); i++) {
        json_object_set_new(properties, property.name, tool_json_text(property.value));
    }
    json_object_set_new(object, "properties", properties);
    tool_set_bool(object, "fake", tool_is_fake(&info));
    json_object_set_new(object, "telemetry", tool_json_telemetry(sensed ? &telemetry : NULL));
    json_object_set_new(object, "roofs", json_array());
    return object;
}
