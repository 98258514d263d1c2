# SPDX-License-Identifier: Apache-2.0
# reference.sh FOLDER SUITE [OPTIONS...]: the reference plug-in, which lies in FOLDER, passes the suite.
. "$ISOMER_TEST_COMMON"
ISOMER_BACKEND_PATH=$1
export ISOMER_BACKEND_PATH
suite=$2
shift 2

# pass arguments...: at least one case is run, and none fails.
pass() {
    "$tool" verify --backend reference --suite "$suite" "$@" || fail "exit code $?"
}

if [ "$suite" = quick ]; then
    pass "$@"
else
    # Its naive and tiled products are one text, and the greatest of the tiled would take hours.
    pass --op transfer,transpose,reduce,stream,limits
    pass --op gemm --variant naive
fi
