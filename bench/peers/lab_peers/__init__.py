# SPDX-License-Identifier: Apache-2.0
"""What bench/peers/labs.py is made of: the inputs, the clocks, the kernels, and one file a lab."""
