# SPDX-License-Identifier: Apache-2.0
"""power.py - computes the greatest eigenvalue of a symmetric matrix by multiplying a vector with the
matrix many times."""
import isomer
import numpy as np

N, ROUNDS = 64, 200
# A ring of springs: 2 on the diagonal, -1 beside it.
springs = 2 * np.eye(N) - np.roll(np.eye(N), 1, 0) - np.roll(np.eye(N), -1, 0)

with isomer.open() as dev:
    a = dev.array(springs)
    x = dev.array(np.where(np.arange(N) % 2, 1.0, -0.5))
    y = dev.empty(N)
    for _ in range(ROUNDS):
        dev.matmul(a, x, out=y)
        length = dev.norm2(y).item()
        dev.scale(y, 1 / length, out=x)
    print("%.6f" % length)
