# SPDX-License-Identifier: Apache-2.0
"""`python -m isomer` is the tool: info, verify, bench and so on."""
import sys

from . import Unavailable
from ._tool import replace_process

try:
    replace_process(sys.argv[1:])
except Unavailable as missing:
    sys.exit("isomer: %s" % missing)
