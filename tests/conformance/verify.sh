# SPDX-License-Identifier: Apache-2.0
# verify.sh BACKEND SUITE: isomer verify, with an absent backend as a skip unless it is required.
. "$ISOMER_TEST_COMMON"
backend=$1
suite=$2

code=0
"$tool" verify --backend "$backend" --suite "$suite" >"$scratch/out" 2>"$scratch/err" || code=$?
cat "$scratch/out" "$scratch/err"
case $code in
0) ;;
3)
    case ",${ISOMER_REQUIRE:-}," in
    *,"$backend",*) fail "ISOMER_REQUIRE names $backend, which is not available" ;;
    *) skip "$backend is not available here" ;;
    esac
    ;;
4) fail "nothing was run" ;;
*) fail "isomer verify exited with $code" ;;
esac
