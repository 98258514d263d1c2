# SPDX-License-Identifier: Apache-2.0
# Reads the list that programs were compiled from, for the scripts beside it: awk -f programs.awk -f ...
BEGIN {
    lines = 0
    while ((getline line < list) > 0) {
        split(line, field, "\t")
        options[lines] = field[1] " (" field[2] ")"
        text[lines] = field[1]
        match(field[2], /ISO_THREADS=[0-9]+/)
        threads[lines] = substr(field[2], RSTART + 12, RLENGTH - 12)
        kernels_of[field[1]] = field[3]
        lines++
    }
}
