# SPDX-License-Identifier: Apache-2.0
# sources PATTERN...: the project's own files by name, from git in a checkout.
sources() {
    if git -C "$source_dir" rev-parse --git-dir >/dev/null 2>&1; then
        (cd "$source_dir" && git ls-files --cached --others --exclude-standard -- "$@")
    else
        for pattern; do
            (cd "$source_dir" && find . -path ./build -prune -o -type f -path "./$pattern" -print)
        done | sed 's|^\./||'
    fi | sort -u | while read -r file; do
        if [ -f "$source_dir/$file" ]; then printf '%s\n' "$file"; fi
    done
}
