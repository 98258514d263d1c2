# SPDX-License-Identifier: Apache-2.0
# reference.sh FOLDER SUITE: the reference plug-in, which lies in FOLDER, passes the suite.
. "$ISOMER_TEST_COMMON"
folder=$1
suite=$2

ISOMER_BACKEND_PATH=$folder "$tool" verify --backend reference --suite "$suite"
