/* SPDX-License-Identifier: Apache-2.0 */
/* core_plugins.c - plug-ins are opened only from folders that other users cannot write to. */
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 512, OTHER_USER = 12345 };

static char base[PATH_ROOM / 2], plugin[PATH_ROOM]; /* a plug-in as built */

/* A plug-in that no other test of this program opens: each copy has its own path. */
static void make(const char *name, char *folder)
{
    char file[2 * PATH_ROOM], command[8 * PATH_ROOM];

    snprintf(folder, PATH_ROOM, "%s/%s", base, name);
    assert_int_equal(mkdir(folder, 0755), 0);
    snprintf(file, sizeof file, "%s/isomer-unit-fork.so", folder);
    snprintf(command, sizeof command, "cp '%s' '%s' && chmod 755 '%s'", plugin, file, file);
    assert_int_equal(system(command), 0); /* NOLINT: names of this test's own */
}

static void set_mode(const char *path, mode_t mode)
{
    assert_int_equal(chmod(path, mode), 0);
}

static const char *problem(void)
{
    static iso_setting setting = ISO_SETTING_INIT;

    for (int32_t i = 0; iso_get_setting(i, &setting) == ISO_OK; i++) {
        if (!strcmp(setting.name, "ISOMER_BACKEND_PATH")) {
            return setting.problem;
        }
    }
    fail_msg("ISOMER_BACKEND_PATH is not listed");
    return NULL;
}

static void opens(const char *folder)
{
    iso_device device;

    setenv("ISOMER_BACKEND_PATH", folder, 1);
    works(iso_device_open("unit-fork", &device));
    works(iso_device_close(device));
    assert_string_equal(problem(), "");
}

/* The folder is treated as absent, and the setting and the error say why. */
static void is_ignored(const char *folder, const char *what, const char *why)
{
    iso_device device;
    iso_entry *entries = calloc(64, sizeof *entries);
    int32_t count;

    setenv("ISOMER_BACKEND_PATH", folder, 1);
    fails(iso_device_open("unit-fork", &device), ISO_INVALID, "is not a known backend", folder,
          what, why);
    assert_non_null(strstr(problem(), folder));
    assert_non_null(strstr(problem(), what));
    assert_non_null(strstr(problem(), why));
    entries[0].size = (uint32_t)sizeof *entries;
    works(iso_enumerate(entries, 64, &count));
    for (int32_t i = 0; i < count; i++) {
        assert_string_not_equal(entries[i].backend, "unit-fork");
    }
    free(entries);
}

static void test_folder(void **state)
{
    char folder[PATH_ROOM], twice[2 * PATH_ROOM];

    (void)state;
    make("folder", folder);
    opens(folder);
    set_mode(folder, 0777);
    is_ignored(folder, folder, "mode 0777): chmod go-w");
    set_mode(folder, 01777); /* others can add to it */
    is_ignored(folder, folder, "mode 1777): chmod go-w");
    if (geteuid() == 0) { /* for other users the group may be their own */
        set_mode(folder, 0775);
        is_ignored(folder, folder, "mode 0775): chmod go-w");
    }
    set_mode(folder, 0755);
    opens(folder);
    /* An ignored folder does not hide later ones. */
    make("second", folder);
    snprintf(twice, sizeof twice, "%s/nonesuch:%s/folder", base, base);
    opens(twice);
    set_mode(folder, 0777);
    snprintf(twice, sizeof twice, "%s:%s/folder", folder, base);
    setenv("ISOMER_BACKEND_PATH", twice, 1);
    iso_device device;
    works(iso_device_open("unit-fork", &device));
    works(iso_device_close(device));
    assert_non_null(strstr(problem(), "/second"));
}

static void test_above(void **state)
{
    char above[PATH_ROOM], folder[PATH_ROOM];

    (void)state;
    make("above", above);
    make("above/folder", folder);
    set_mode(above, 0777);
    is_ignored(folder, above, "mode 0777): chmod go-w");
    set_mode(above, 01777); /* such as /tmp: other users cannot replace what is in it */
    opens(folder);
    set_mode(above, 0755);
}

/* A link is trusted if both its folder and its target are. */
static void test_link(void **state)
{
    char folder[PATH_ROOM], other[PATH_ROOM], link[2 * PATH_ROOM], target[2 * PATH_ROOM];

    (void)state;
    make("linked", folder);
    make("holder", other);
    snprintf(link, sizeof link, "%s/link", other);
    assert_int_equal(symlink(folder, link), 0);
    opens(link);
    set_mode(folder, 0777);
    is_ignored(link, folder, "mode 0777): chmod go-w");
    set_mode(folder, 0755);
    set_mode(other, 0777);
    is_ignored(link, other, "mode 0777): chmod go-w");
    set_mode(other, 0755);
    /* The file itself is a link into a folder that others can write to. */
    make("files", folder);
    snprintf(link, sizeof link, "%s/isomer-unit-fork.so", folder);
    snprintf(target, sizeof target, "%s/isomer-unit-fork.so", other);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(target, link), 0);
    set_mode(other, 0777);
    setenv("ISOMER_BACKEND_PATH", folder, 1);
    iso_device device;
    fails(iso_device_open("unit-fork", &device), ISO_UNAVAILABLE, link, "is not opened", other,
          "mode 0777): chmod go-w");
    set_mode(other, 0755);
    opens(folder);
}

static void test_file(void **state)
{
    char folder[PATH_ROOM], file[2 * PATH_ROOM];
    iso_device device;

    (void)state;
    make("file", folder);
    snprintf(file, sizeof file, "%s/isomer-unit-fork.so", folder);
    set_mode(file, 0766);
    setenv("ISOMER_BACKEND_PATH", folder, 1);
    fails(iso_device_open("unit-fork", &device), ISO_UNAVAILABLE, file, "is not opened",
          "mode 0766): chmod go-w");
    set_mode(file, 0755);
    opens(folder);
}

static void test_owner(void **state)
{
    char folder[PATH_ROOM], file[2 * PATH_ROOM];
    iso_device device;

    (void)state;
    if (geteuid() != 0) {
        print_message("only root gives files to other users\n");
        skip();
    }
    make("owner", folder);
    snprintf(file, sizeof file, "%s/isomer-unit-fork.so", folder);
    assert_int_equal(chown(file, OTHER_USER, OTHER_USER), 0);
    setenv("ISOMER_BACKEND_PATH", folder, 1);
    fails(iso_device_open("unit-fork", &device), ISO_UNAVAILABLE, file, "is not opened",
          "belongs to user 12345, who is neither root nor user 0");
    assert_int_equal(chown(folder, OTHER_USER, OTHER_USER), 0);
    is_ignored(folder, folder, "belongs to user 12345, who is neither root nor user 0");
    /* For its own user it is trusted, and the user's own group may write. */
    set_mode(folder, 0775);
    set_mode(base, 0755);
    assert_int_equal(seteuid(OTHER_USER), 0);
    opens(folder);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(chown(folder, OTHER_USER, OTHER_USER + 1), 0);
    assert_int_equal(seteuid(OTHER_USER), 0);
    is_ignored(folder, folder, "mode 0775): chmod go-w");
    assert_int_equal(seteuid(0), 0);
}

static int start(void **state)
{
    const char *path = getenv("ISOMER_BACKEND_PATH");

    (void)state;
    snprintf(plugin, sizeof plugin, "%.*s/isomer-unit-fork.so", (int)strcspn(path ? path : "", ":"),
             path ? path : "");
    assert_int_equal(access(plugin, R_OK), 0);
    unit_make_folder(base, sizeof base);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unit_remove_folder(base);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folder), cmocka_unit_test(test_above), cmocka_unit_test(test_link),
        cmocka_unit_test(test_file),   cmocka_unit_test(test_owner),
    };

    return cmocka_run_group_tests(tests, start, end);
}
