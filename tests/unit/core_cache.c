/* SPDX-License-Identifier: Apache-2.0 */
/* core_cache.c - the program cache, through a plug-in that stores and loads. */
#include "tests/unit/unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[512];   /* removed at the end */
static char folder[600]; /* the cache */

static int setup(void **state)
{
    (void)state;
    unit_make_folder(base, sizeof base);
    snprintf(folder, sizeof folder, "%s/above/cache", base);
    setenv("ISOMER_CACHE_DIR", folder, 1);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unit_remove_folder(base);
    return 0;
}

/* The plug-in's answer to a command. */
static void order(const char *what, const char *expected)
{
    iso_device device;

    setenv("UNIT_CACHE", what, 1);
    fails(iso_device_open("unit-cache", &device), ISO_UNAVAILABLE, "unit-cache", expected);
}

static void problem_has(const char *first, const char *second)
{
    iso_setting setting = ISO_SETTING_INIT;

    for (int32_t i = 0; strcmp(setting.name, "ISOMER_CACHE_DIR"); i++) {
        works(iso_get_setting(i, &setting));
    }
    if (!strstr(setting.problem, first) || !strstr(setting.problem, second) ||
        (!first[0] && setting.problem[0])) {
        fail_msg("the problem of ISOMER_CACHE_DIR is \"%s\"", setting.problem);
    }
}

/* The one file in the cache. */
static void only_file(char *path, size_t room)
{
    DIR *open = opendir(folder);
    struct dirent *entry;
    int count = 0;

    assert_non_null(open);
    while ((entry = readdir(open))) {
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, room, "%s/%s", folder, entry->d_name);
        count++;
    }
    closedir(open);
    assert_int_equal(count, 1);
}

static void test_keeps(void **state)
{
    struct stat found;
    char path[900];

    (void)state;
    order("load key", "loaded: nothing");
    order("store key the data", "stored: 0");
    order("load key", "loaded: the data");
    order("load kez", "loaded: nothing");
    order("store key other data", "stored: 0");
    order("load key", "loaded: other data");
    assert_int_equal(stat(folder, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0700);
    only_file(path, sizeof path); /* no temporary file is left */
    problem_has("", "");
}

/* A file is used only if all of it is as it was written. */
static void test_corrupt(void **state)
{
    unsigned char good[256], bad[256];
    char path[900];
    size_t length;
    FILE *file;

    (void)state;
    order("store key some data", "stored: 0");
    only_file(path, sizeof path);
    file = fopen(path, "rb");
    assert_non_null(file);
    length = fread(good, 1, sizeof good, file);
    fclose(file);
    for (size_t i = 0; i <= length; i++) {
        memcpy(bad, good, length);
        file = fopen(path, "wb");
        assert_non_null(file);
        if (i < length) {
            bad[i] ^= 0x41;
        }
        fwrite(bad, 1, length, file);
        if (i == length) {
            fputc('x', file); /* too long */
        }
        fclose(file);
        order("load key", "loaded: nothing");
    }
    for (size_t i = 0; i < length; i++) { /* too short */
        file = fopen(path, "wb");
        assert_non_null(file);
        fwrite(good, 1, i, file);
        fclose(file);
        order("load key", "loaded: nothing");
    }
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    order("load key", "loaded: nothing");
    order("store key some data", "stored: -1");
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    order("load key", "loaded: nothing");
    order("store key some data", "stored: 0"); /* replaces the link */
    order("load key", "loaded: some data");
}

/* Folders that are not safe, or cannot be used, are not used; nothing else fails. */
static void test_folders(void **state)
{
    char path[700];
    iso_device device;
    FILE *file;

    (void)state;
    assert_int_equal(chmod(folder, 0770), 0);
    order("load key", "loaded: nothing");
    order("store key data", "stored: -1");
    problem_has(folder, "0770");
    assert_int_equal(chmod(folder, 0500), 0);
    order("store key data", "stored: -1");
    problem_has(folder, "cannot be written");
    works(iso_device_open("openmp", &device));
    works(iso_device_close(device));
    assert_int_equal(chmod(folder, 0700), 0);
    order("load key", "loaded: some data");
    snprintf(path, sizeof path, "%s/file", base);
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    setenv("ISOMER_CACHE_DIR", path, 1);
    order("store key data", "stored: -1");
    problem_has(path, "not a folder");
    snprintf(path, sizeof path, "%s/file/below", base);
    setenv("ISOMER_CACHE_DIR", path, 1);
    order("store key data", "stored: -1");
    problem_has(path, "cannot be made");
    snprintf(path, sizeof path, "%s/link", base);
    assert_int_equal(symlink(folder, path), 0);
    setenv("ISOMER_CACHE_DIR", path, 1);
    order("load key", "loaded: nothing");
    problem_has(path, "not a folder");
    setenv("ISOMER_CACHE_DIR", "relative", 1);
    order("store key data", "stored: -1");
    setenv("ISOMER_CACHE_DIR", "off", 1);
    order("store key data", "stored: -1");
    problem_has("", "");
}

/* Without ISOMER_CACHE_DIR: XDG_CACHE_HOME, else .cache in HOME. */
static void test_default(void **state)
{
    char path[700];

    (void)state;
    unsetenv("ISOMER_CACHE_DIR");
    setenv("HOME", base, 1);
    unsetenv("XDG_CACHE_HOME");
    order("store key home", "stored: 0");
    snprintf(path, sizeof path, "%s/.cache/isomer", base);
    assert_int_equal(access(path, W_OK), 0);
    snprintf(path, sizeof path, "%s/xdg", base);
    setenv("XDG_CACHE_HOME", path, 1);
    order("load key", "loaded: nothing");
    order("store key xdg", "stored: 0");
    unsetenv("XDG_CACHE_HOME");
    order("load key", "loaded: home");
    unsetenv("HOME");
    order("load key", "loaded: nothing");
    problem_has("HOME", "not used");
}

/* The cache in the package, beside the library, is read if the user's folder has no entry, and only
 * if root alone can write there. */
static void test_package(void **state)
{
    char place[700], package[800], path[900], moved[1200];
    Dl_info library;

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    assert_int_not_equal(dladdr((void *)(uintptr_t)&iso_version, &library), 0);
    snprintf(place, sizeof place, "%.*s/isomer",
             (int)(strrchr(library.dli_fname, '/') - library.dli_fname), library.dli_fname);
    snprintf(package, sizeof package, "%s/cache", place);
    mkdir(place, 0755);
    assert_int_equal(mkdir(package, 0755), 0);
    snprintf(folder, sizeof folder, "%s/package", base);
    setenv("ISOMER_CACHE_DIR", folder, 1);
    order("store packed by root", "stored: 0");
    only_file(path, sizeof path);
    snprintf(moved, sizeof moved, "%s%s", package, strrchr(path, '/'));
    assert_int_equal(rename(path, moved), 0);
    order("load packed", "loaded: by root");
    assert_int_equal(chmod(moved, 0666), 0);
    order("load packed", "loaded: nothing");
    assert_int_equal(chmod(moved, 0644), 0);
    assert_int_equal(chmod(package, 0775), 0);
    order("load packed", "loaded: nothing");
    assert_int_equal(chmod(package, 0755), 0);
    assert_int_equal(chown(package, 1, 0), 0);
    order("load packed", "loaded: nothing");
    assert_int_equal(chown(package, 0, 0), 0);
    order("load packed", "loaded: by root");
    order("store packed by user", "stored: 0");
    order("load packed", "loaded: by user");
    setenv("ISOMER_CACHE_DIR", "off", 1);
    order("load packed", "loaded: nothing");
    assert_int_equal(unlink(moved), 0);
    assert_int_equal(rmdir(package), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keeps),   cmocka_unit_test(test_corrupt),
        cmocka_unit_test(test_folders), cmocka_unit_test(test_default),
        cmocka_unit_test(test_package),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
