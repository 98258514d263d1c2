# SPDX-License-Identifier: Apache-2.0
"""mlp.py - a network of three layers gives each sample a score for each of ten classes. All work is
submitted at once, in f32, and the scores have the same bits on every device."""
import isomer

SAMPLES, WIDTHS = 32, (64, 96, 48, 10)
made_up = [(i * 37 % 101 - 50) / 256 for i in range(20000)]  # samples, weights and biases

with isomer.open(keep="bits") as dev:
    memory, at = dev.array(made_up, "f32"), SAMPLES * WIDTHS[0]
    x = memory[:at].reshape(SAMPLES, WIDTHS[0])
    for layer, (k, n) in enumerate(zip(WIDTHS, WIDTHS[1:])):
        weights = memory[at:at + k * n].reshape(k, n)
        at += k * n
        y = memory[at:at + SAMPLES * n].reshape(SAMPLES, n)
        at += SAMPLES * n
        dev.matmul(x, weights, out=y)
        dev.add(y, memory[at:at + n], out=y)  # one row for all samples
        if layer + 2 < len(WIDTHS):  # scores may be negative
            dev.relu(y, out=y)
        x, at = y, at + n
    digest = 0
    for bits in x.view("u32").ravel().tolist():
        digest = (digest * 31 + bits) % 2**32
    print("first scores: %.4f %.4f, digest %08x" % (*x[0, :2].tolist(), digest))
