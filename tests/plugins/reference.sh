# SPDX-License-Identifier: Apache-2.0
# reference.sh FOLDER SUITE [OPTIONS...]: the reference plug-in, which is in FOLDER, passes the
# suite.
. "$ISOMER_TEST_COMMON"
ISOMER_BACKEND_PATH=$1
export ISOMER_BACKEND_PATH
suite=$2
shift 2

# pass arguments...: at least one case runs, and none fails.
pass() {
    "$tool" verify --backend reference --suite "$suite" "$@" || fail "exit code $?"
}

if [ "$suite" = quick ]; then
    pass "$@"
else
    # Its naive and tiled products are the same code, and the largest of the tiled would take hours.
    pass --op transfer,transpose,reduce,stream,limits
    pass --op gemm --variant naive
fi
