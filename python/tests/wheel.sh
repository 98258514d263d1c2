# SPDX-License-Identifier: Apache-2.0
# wheel.sh: a wheel of this build is what its tag says, and works in a bare Debian with nothing but
# python3: the package, the tool and its quick suite in under a minute. With ISOMER_TEST_WHEEL that
# wheel is tested, such as one for an old glibc; else this machine's Debian is the bare one.
. "$ISOMER_TEST_COMMON"
need python3 python3
build=$source_dir/python/build_wheel.py

if [ -n "${ISOMER_TEST_WHEEL:-}" ]; then
    wheel=$ISOMER_TEST_WHEEL
else
    python3 "$build" "$build_dir" --out "$scratch/dist" >"$scratch/made" 2>&1 || {
        cat "$scratch/made"
        fail "no wheel"
    }
    wheel=$(echo "$scratch"/dist/*.whl)
fi
python3 "$build" --check "$wheel" || fail "the wheel is not what it says"
say "$(wc -c <"$wheel") bytes"

# The check itself finds planted faults: another tag, a changed file, a lost one.
name=$(basename "$wheel")
mkdir "$scratch/false"
for fault in tag hash lost large; do
    python3 - "$wheel" "$scratch/false" $fault <<'PY'
import base64, hashlib, re, sys, zipfile
wheel, folder, fault = sys.argv[1:]
name = wheel.rsplit("/", 1)[1]
if fault == "tag":
    name = re.sub(r"manylinux_2_\d+", "manylinux_2_17", name)
with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(folder + "/" + name, "w") as new:
    for entry in old.infolist():
        data = old.read(entry)
        if fault == "tag" and entry.filename.endswith("/WHEEL"):
            data = re.sub(rb"manylinux_2_\d+", b"manylinux_2_17", data)
            row = b"%s,sha256=%s,%d" % (entry.filename.encode(), base64.urlsafe_b64encode(
                hashlib.sha256(data).digest()).rstrip(b"="), len(data))
        if fault == "tag" and entry.filename.endswith("/RECORD"):
            data = re.sub(rb"[^\n]*/WHEEL,[^\n]*", row, data)
        if fault == "hash" and entry.filename == "isomer/__init__.py":
            data = data.replace(b"isomer", b"isomar", 1)
        if fault == "lost" and entry.filename == "isomer/_abi.py":
            continue
        new.writestr(entry, data)
PY
    most=3145728
    [ $fault != large ] || most=1000000
    if python3 "$build" --check "$scratch/false"/*.whl --most $most >"$scratch/found" 2>&1; then
        fail "the fault '$fault' is not found"
    fi
    say "$fault: $(tail -n 1 "$scratch/found")"
    case $fault in tag) grep -q 'the tag is .*the binaries say' "$scratch/found" || fail "for another reason" ;; esac
    rm "$scratch/false"/*
done

# pip makes a wheel without the library from the source.
mkdir "$scratch/pure"
python3 "$build" --pure --out "$scratch/pure" >/dev/null || fail "no pure wheel"

need debootstrap debootstrap
[ "$(id -u)" = 0 ] || skip "a chroot needs root"
suite=bookworm
[ ! -r /etc/os-release ] || suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
mirror=$(sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\(http[^ ]*\) .*/\2/p; s/^URIs: *//p' \
    /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
root=$build_dir/rebuild/python-root
if [ ! -e "$root/ready" ]; then
    rm -rf "$root"
    mkdir -p "$root"
    debootstrap --variant=minbase --include=python3,python3-venv "$suite" "$root" ${mirror:+"$mirror"} \
        >"$scratch/debootstrap.log" 2>&1 || {
        tail -n 3 "$scratch/debootstrap.log"
        rm -rf "$root"
        skip "debootstrap could not make a root: no network?"
    }
    touch "$root/ready"
fi
[ -z "$(find "$root/usr/lib" -name 'libgomp*')" ] || fail "libgomp is in the chroot"
rm -rf "$root/opt/isomer"
mkdir -p "$root/opt/isomer/tests"
cp "$wheel" "$root/opt/isomer/"
cp "$source_dir"/python/tests/*.py "$root/opt/isomer/tests/"
mount -t proc proc "$root/proc"
trap 'umount "$root/proc"; rm -rf "$scratch"' EXIT
inside() {
    chroot "$root" /usr/bin/env -i PATH=/opt/isomer/venv/bin:/usr/bin:/bin HOME=/root ISOMER_TUNED=off "$@"
}
inside python3 -m venv /opt/isomer/venv || fail "no virtual environment"
inside pip install -q --no-index "/opt/isomer/$name" || fail "pip does not install the wheel"
inside python -c '
import isomer
with isomer.open("openmp") as dev:
    a = dev.array([[1.0, 2.0], [3.0, 4.0]])
    assert (a @ a).tolist() == [[7.0, 10.0], [15.0, 22.0]]
    print(dev.properties()["OpenMP runtime"])
maps = open("/proc/self/maps").read()
assert "isomer/_native/openmp/libgomp.so.1" in maps, "the runtime of the wheel is not used"
' || fail "the package does not work without an OpenMP runtime on the system"
inside python -m isomer info >"$scratch/info" || fail "the tool does not run"
grep 'openmp:0' "$scratch/info"
begin=$(date +%s)
inside python -c '
import resource, subprocess, sys
code = subprocess.call([sys.executable, "-m", "isomer", "verify"])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("processor seconds: %d" % (used.ru_utime + used.ru_stime))
sys.exit(code)
' >"$scratch/verify" 2>&1 || {
    tail -n 5 "$scratch/verify"
    fail "isomer verify fails"
}
tail -n 2 "$scratch/verify"
say "python -m isomer verify: $(($(date +%s) - begin)) s"
# A busy machine gives it less than a processor; a quiet one needs no more time than this.
used=$(sed -n 's/^processor seconds: //p' "$scratch/verify")
[ "$used" -lt 60 ] || fail "python -m isomer verify took $used seconds of a processor, more than a minute"
inside isomer verify --op map --dtype f32 >/dev/null || fail "the command isomer does not run"
inside env ISOMER_TEST_INSTALLED=1 python /opt/isomer/tests/loading.py >"$scratch/loading" 2>&1 || {
    cat "$scratch/loading"
    fail "loading.py fails on the installed wheel"
}
# A runtime under another name, as PyTorch's wheels have it, is used too, and no second one.
inside python -c '
import ctypes, glob
own = glob.glob("/opt/isomer/venv/lib/*/site-packages/isomer/_native/openmp/libgomp.so.1")[0]
with open(own, "rb") as file:
    data = file.read().replace(b"libgomp.so.1\0", b"libgomp-x.so\0")
with open("/opt/isomer/libgomp-x.so", "wb") as file:
    file.write(data)
ctypes.CDLL("/opt/isomer/libgomp-x.so")
import isomer
with isomer.open("openmp") as dev:
    text = dev.properties()["OpenMP runtime"]
    print(text)
    assert "libgomp-x.so" in text and "warning" not in text
assert "_native/openmp" not in open("/proc/self/maps").read()
' || fail "a second OpenMP runtime is loaded beside one with another name"
# With a runtime on the system, that one is used and the wheel's is not.
own=$(find "$root/opt/isomer/venv" -path '*openmp/libgomp.so.1')
cp "$own" "$root/usr/lib/libgomp.so.1"
inside python -c '
import isomer
with isomer.open("openmp") as dev:
    print(dev.properties()["OpenMP runtime"])
    assert "warning" not in dev.properties()["OpenMP runtime"]
maps = open("/proc/self/maps").read()
assert "/usr/lib/libgomp.so.1" in maps and "_native/openmp" not in maps
' || code=$?
rm "$root/usr/lib/libgomp.so.1"
[ "${code:-0}" = 0 ] || fail "a second OpenMP runtime is loaded"
