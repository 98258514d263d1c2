# SPDX-License-Identifier: Apache-2.0
# installed.sh: the part of debian.sh in the second root, which has no compiler until the packages were used.

# exists NAME: a package, or one that others provide, in this release.
exists() {
    inside use apt-cache showpkg "$1" 2>/dev/null |
        awk '/^(Versions|Reverse Provides):/ { on = 1; next } /^[A-Z]/ { on = 0 } on && NF { found = 1 } END { exit !found }'
}

# What is only recommended or suggested exists.
for package in "$home"/use/*.deb; do
    dpkg-deb -f "$package" Package Version Architecture Multi-Arch Depends
    dpkg-deb -f "$package" Recommends Suggests | sed 's/^[A-Za-z]*: //; s/([^)]*)//g' | tr ',' '\n' >"$scratch/choices"
    while read -r choice; do
        found=
        for name in $(echo "$choice" | tr '|' ' '); do
            case $name in
            isomer*) found=yes ;;
            *) ! exists "$name" || found=yes ;;
            esac
        done
        [ -n "$found" ] || fail "${package##*/} names $choice, which $release does not have"
    done <"$scratch/choices"
done

quiet inside use sh -c 'apt-get -qy --no-install-recommends install /isomer_*.deb /libisomer0_*.deb /isomer-doc_*.deb'
inside use isomer --version
inside use isomer info --all >"$scratch/info" || fail "isomer info fails"
grep -q 'openmp:0' "$scratch/info" || { cat "$scratch/info"; fail "isomer info shows no CPU"; }
inside use isomer verify --backend openmp --suite quick --op map,reduce >"$scratch/out" || {
    tail -n 20 "$scratch/out"
    fail "isomer verify fails"
}
tail -n 1 "$scratch/out"
inside use sh -c 'ldd /usr/bin/isomer | grep -q "libisomer.so.0 => /lib/\|libisomer.so.0 => /usr/lib/"' ||
    fail "the tool does not use the library of the package"
for file in /usr/share/man/man1/isomer.1.gz /usr/share/bash-completion/completions/isomer \
    /usr/share/zsh/vendor-completions/_isomer /usr/share/fish/vendor_completions.d/isomer.fish \
    /usr/share/doc/isomer/README.md /usr/share/doc/isomer/examples/multiply.c /usr/share/doc/isomer/LICENSE; do
    inside use test -e $file || fail "$file is not installed"
done

# The outside project, with what a developer installs. pkg-config and CMake need no path.
quiet inside use sh -c 'apt-get -qy --no-install-recommends install /libisomer-dev_*.deb gcc make cmake pkg-config'
inside use test -e /usr/share/man/man3/iso_gemm.3.gz || fail "the manual pages of the calls are not installed"
cp -R "$source_dir/tests/packages/outside" "$home/use/outside"
quiet inside use cp /usr/share/doc/isomer/examples/multiply.c /outside/
quiet inside use sh -c 'cmake -S /outside -B /outside/build && cmake --build /outside/build && make -C /outside'
for folder in /outside/build /outside; do
    for way in '' _static; do
        inside use env ISOMER_BACKEND=openmp $folder/multiply$way >"$scratch/product" || fail "$folder/multiply$way"
        printf '58 64\n139 154\n' | diff - "$scratch/product" || fail "$folder/multiply$way: a wrong product"
        inside use $folder/backends$way >"$scratch/backends" || { cat "$scratch/backends"; fail "$folder/backends$way"; }
        grep -qx 'openmp: opened' "$scratch/backends" || { cat "$scratch/backends"; fail "$folder/backends$way"; }
    done
done
[ "$(inside use pkg-config --modversion isomer)" = "$(inside use isomer --version | sed -n '1s/isomer //p')" ] ||
    fail "pkg-config and the tool have other versions"

# The engines of MPI and the Python module, where they were built.
for name in libisomer0-openmpi libisomer0-mpich python3-isomer; do
    set -- "$home"/use/"$name"_*.deb
    [ -e "$1" ] || { say "no package $name"; continue; }
    quiet inside use sh -c "apt-get -qy --no-install-recommends install /${name}_*.deb"
    case $name in
    python3-isomer) quiet inside use python3 -c 'import isomer' ;;
    *)
        inside use isomer info --all >"$scratch/info" || fail "isomer info fails with $name"
        grep -q "isomer-${name#libisomer0-}.so\|${name#libisomer0-}" "$scratch/info" || fail "isomer info does not name $name"
        ;;
    esac
done

rm -rf "$home/use/outside"
quiet inside use sh -c 'apt-get -qy purge "*isomer*" && apt-get -qy autoremove --purge'
inside use sh -c 'find / -xdev \( -path /proc -o -path /sys -o -path /root/.cache -o -name "*isomer*.deb" \) -prune -o -iname "*isomer*" -print' \
    >"$scratch/left"
grep -vE '^/var/(lib|log|cache)/(apt|dpkg)' "$scratch/left" >"$scratch/traces" || true
[ ! -s "$scratch/traces" ] || { cat "$scratch/traces"; fail "left behind after the removal"; }
