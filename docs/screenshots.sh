#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# screenshots.sh ISOMER: makes docs/report*.png, the first screen of the report of the H200 file on a
# desktop and a phone, light and dark, with headless Chromium (apt-get install chromium pngquant).
set -eu
tool=$1
docs=$(cd "$(dirname "$0")" && pwd)
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "screenshots.sh: there is no Chromium" >&2
    exit 77
}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$tool" report "$docs/../bench/results/bench-full-h200.json" -o "$folder/page.html"

# shot NAME WIDTH HEIGHT SCHEME: Chromium's windows are at least 500 pixels wide, but a frame in one
# is as narrow as a phone. SCHEME: 0 dark, 1 light.
shot() {
    printf '<!doctype html><style>body{margin:0}iframe{border:0;display:block}</style>%s\n' \
        "<iframe src=page.html width=$2 height=$3></iframe>" >"$folder/frame.html"
    "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$folder/profile" --window-size="$2,$3" \
        --blink-settings="preferredColorScheme=$4" --screenshot="$folder/shot.png" \
        "file://$folder/frame.html" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
    if command -v pngquant >/dev/null; then
        pngquant --force --output "$docs/$1.png" 64 "$folder/shot.png"
    else
        cp "$folder/shot.png" "$docs/$1.png"
    fi
}

shot report 1400 900 1
shot report-dark 1400 900 0
shot report-phone 390 844 1
shot report-phone-dark 390 844 0
