# SPDX-License-Identifier: Apache-2.0
# components.sh PYTHON: every installed file belongs to exactly one component, the one that docs/packages.md
# says, and the library, the tool and the helper program work with no other component.
. "$ISOMER_TEST_COMMON"
python=$1

files() { (cd "$1" && find . ! -type d | sed 's|^\./||' | sort); }
put() { # FOLDER OPTION...
    folder=$1
    shift
    cmake --install "$build_dir" --prefix "$folder" "$@" >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        fail "cmake --install $*"
    }
}

put "$scratch/all"
files "$scratch/all" >"$scratch/whole"
: >"$scratch/parts"
for component in library openmpi mpich development tool python documentation; do
    mkdir "$scratch/$component"
    put "$scratch/$component" --component $component
    files "$scratch/$component" >"$scratch/list"
    say "$component: $(wc -l <"$scratch/list") files"
    case $component in
    library) kind='^lib[^/]*/([^/]+/)?(libisomer\.so\.0(\.[0-9.]+)?|isomer/tuned/[0-9a-f]+\.tuned)$|/isomer-try$' ;;
    openmpi | mpich) kind="/isomer/(isomer-|mpi/)$component\.so\$" ;;
    development) kind='^include/isomer/[a-z_]+\.h$|/libisomer\.(so|a)$|/cmake/Isomer/|^share/man/man3/[a-zA-Z0-9_-]+\.3$|/pkgconfig/isomer\.pc$' ;;
    tool) kind='^bin/isomer$|^share/(man/man[15]|bash-completion|zsh|fish|isomer/schema)/' ;;
    python) kind="^$python/isomer/[^/]*\.(py|typed)\$" ;;
    documentation) kind='^share/doc/isomer/' ;;
    esac
    if grep -vE "$kind" "$scratch/list"; then fail "these do not belong into the component $component"; fi
    case $component in
    openmpi | mpich | python) ;;
    *) [ -s "$scratch/list" ] || fail "the component $component is empty" ;;
    esac
    cat "$scratch/list" >>"$scratch/parts"
    grep -qF "| \`$component\` |" "$source_dir/docs/packages.md" || fail "docs/packages.md has no row of $component"
done
[ ! -d "$source_dir/python/isomer" ] || [ -n "$(files "$scratch/python")" ] || fail "the Python module is not installed"
sort "$scratch/parts" | uniq -d >"$scratch/twice"
[ ! -s "$scratch/twice" ] || { cat "$scratch/twice"; fail "these belong to several components"; }
sort "$scratch/parts" | diff "$scratch/whole" - || fail "these belong to no component (<)"

put "$scratch/tool" --component library
"$scratch/tool/bin/isomer" info --backend openmp >"$scratch/info" || fail "the tool needs more than the library"
grep -q openmp:0 "$scratch/info" || fail "the tool sees no CPU"
