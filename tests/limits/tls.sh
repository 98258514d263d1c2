# SPDX-License-Identifier: Apache-2.0
# tls.sh: the library's thread-local block is small, because it reduces every thread's stack.
. "$ISOMER_TEST_COMMON"
need readelf binutils
most=512
bytes=$(readelf -lW "$library" | awk '$1 == "TLS" { print $6 }')
[ -n "$bytes" ] || fail "no thread-local segment: this test has nothing to look at"
say "$((bytes)) bytes"
[ "$((bytes))" -le "$most" ] || fail "$((bytes)) bytes are more than $most"
