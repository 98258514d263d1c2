# SPDX-License-Identifier: Apache-2.0
# loose_runpaths FOLDER: every element of an RPATH or RUNPATH below it that is empty or relative, a line
# each with its file; the loader takes either for the working directory. To $scratch/elf go the names of
# the files that were read.
loose_runpaths() {
    find "$1" -path "$1/rebuild" -prune -o -path '*/CMakeFiles' -prune -o \
        -type f ! -name '*.[och]' -print0 |
        xargs -0 -n 200 readelf -d -W 2>/dev/null >"$scratch/dynamic" || true
    awk '/^File: / { file = substr($0, 7) }
        /^Dynamic section/ { print file }' "$scratch/dynamic" >"$scratch/elf"
    awk '/^File: / { file = substr($0, 7) }
        /\((RPATH|RUNPATH)\)/ {
            path = $0
            sub(/^[^[]*\[/, "", path)
            sub(/\]$/, "", path)
            count = split(path, element, ":")
            for (i = 1; i <= count || i == 1; i++)
                if (element[i] !~ /^(\/|\$ORIGIN(\/|$))/)
                    printf "%s: \"%s\" in \"%s\"\n", file, element[i], path
        }' "$scratch/dynamic"
}
