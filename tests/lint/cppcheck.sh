# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh: cppcheck over the library, the tool and the examples; and over a planted fault, which
# it must find.
. "$ISOMER_TEST_COMMON"
. "$source_dir/tests/lint/files.sh"
need cppcheck cppcheck

# It does not understand that kernels set vectors element by element; the compilers do.
check() {
    cppcheck --quiet --error-exitcode=1 --std=c11 --enable=warning,performance \
        --inline-suppr --suppress=missingIncludeSystem --suppress=unknownMacro \
        --suppress="uninitvar:backends/openmp/kernels/*" \
        -j 2 -I include -I . -D__GNUC__ -D__linux__ -D__x86_64__ "$@"
}

cat >"$scratch/planted.c" <<'END'
#include <stdlib.h>
int planted(int n);
int planted(int n)
{
    int *p = malloc(sizeof *p);
    if (n > 1) {
        return 1;
    }
    free(p);
    return *p;
}
END
cd "$source_dir"
if check "$scratch/planted.c" 2>/dev/null; then
    fail "cppcheck did not find the planted fault"
fi
sources 'core/*.c' 'backends/*.c' 'bench/*.c' 'examples/*.c' >"$scratch/files"
[ -s "$scratch/files" ] || fail "no files to check"
check --file-list="$scratch/files" || fail "see the messages above"
say "$(wc -l <"$scratch/files") files"
