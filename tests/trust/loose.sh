# SPDX-License-Identifier: Apache-2.0
# loose_runpaths FOLDER: prints every empty or relative element of an RPATH or RUNPATH below it, a
# line each with its file; the loader treats either as the working directory. The names of the files
# that were read go to $scratch/elf.
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
