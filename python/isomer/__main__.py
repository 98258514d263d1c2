# SPDX-License-Identifier: Apache-2.0
"""`python -m isomer` is the tool: info, verify, bench and so on."""
from ._tool import main

main()
