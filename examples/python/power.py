# SPDX-License-Identifier: Apache-2.0
"""power.py - computes the greatest eigenvalue of a symmetric matrix by multiplying a vector with the
matrix many times. The vector stays on the device, and the host waits only at the end."""
import isomer

N, ROUNDS = 64, 50

with isomer.open(keep="bits") as dev:  # the same bits on every device
    a = dev.array([[1.0 / (i + j + 1) for j in range(N)] for i in range(N)])  # Hilbert's matrix
    x, y, length = dev.full(N, 1.0), dev.empty(N), dev.empty(())
    for _ in range(ROUNDS):
        dev.matmul(a, x, out=y)
        dev.norm2(y, out=length)
        dev.divide(y, length, out=x)  # one divisor for all elements
    digest = 0
    for bits in x.view("u64").tolist():
        digest = (digest * 31 + bits) % 2**64
    print("%.6f, digest %016x" % (length.item(), digest))
