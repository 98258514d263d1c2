#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""build_wheel.py - makes a wheel of the package; with the Python library alone.

    python3 python/build_wheel.py BUILD [--out FOLDER] [--openmp FILE] [--most BYTES]
    python3 python/build_wheel.py --pure [--out FOLDER]
    python3 python/build_wheel.py --check WHEEL

BUILD is a build folder of this tree; what `cmake --install` puts into a prefix goes into the package.
The wheel's tag names the oldest glibc that all its binaries accept, from their symbol versions.
--check reads a finished wheel and fails if its tag, its RECORD or what its binaries need is not
right. python/old_glibc.sh makes a build folder for old systems. --pure has no binaries: the library
is found on the system.

pip calls the same through pyproject.toml: `pip install ./python` is --pure, and with
ISOMER_BUILD=BUILD in the environment the other.
"""
import argparse
import base64
import csv
import hashlib
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(HERE)
MOST = 3 << 20  # bytes of a wheel
# What a binary may need besides the package's own libraries: glibc's, and the OpenMP runtime.
SYSTEM = {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libgomp.so.1"}
MACHINES = {62: "x86_64", 183: "aarch64"}


class Wrong(Exception):
    """Why there is no wheel."""


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
        return file.read()


def version():
    """The version of the header, as PEP 440 writes it."""
    text = re.search(r'ISO_VERSION_STRING "([^"]+)"', read("include", "isomer", "base.h")).group(1)
    return text.replace("-dev", ".dev0")


# ---- ELF: what a binary needs


class Binary:
    """Needed libraries, and the versions of their symbols."""

    def __init__(self, data):
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01":
            raise Wrong("it is no 64-bit little-endian ELF file")
        self.machine = MACHINES.get(struct.unpack_from("<H", data, 18)[0])
        offset, = struct.unpack_from("<Q", data, 40)
        size, count, _ = struct.unpack_from("<HHH", data, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
        self.needed, self.versions, self.paths = [], set(), []
        for one in sections:
            if one[1] == 6:  # SHT_DYNAMIC
                self._dynamic(one, sections[one[6]])
            elif one[1] == 0x6ffffffe:  # SHT_GNU_verneed
                self._versions(one, sections[one[6]])

    def _text(self, strings, at):
        begin = strings[4] + at
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def _dynamic(self, section, strings):
        for at in range(section[4], section[4] + section[5], 16):
            tag, value = struct.unpack_from("<QQ", self.data, at)
            if tag == 1:
                self.needed.append(self._text(strings, value))
            elif tag in (15, 29):  # RPATH, RUNPATH
                self.paths += self._text(strings, value).split(":")

    def _versions(self, section, strings):
        at = section[4]
        while True:
            _, count, _, first, following = struct.unpack_from("<HHIII", self.data, at)
            one = at + first
            for _ in range(count):
                _, _, _, name, step = struct.unpack_from("<IHHII", self.data, one)
                self.versions.add(self._text(strings, name))
                one += step
            if not following:
                return
            at += following


def glibc(versions):
    """The newest glibc that is needed, as its minor number."""
    newest = 17  # manylinux begins there
    for name in versions:
        if name == "GLIBC_PRIVATE":
            raise Wrong("it uses GLIBC_PRIVATE, which no other glibc has")
        if name == "GLIBC_ABI_DT_RELR":
            newest = max(newest, 36)
        found = re.fullmatch(r"GLIBC_2\.(\d+)(\.\d+)?", name)
        if found:
            newest = max(newest, int(found.group(1)))
    return newest


def platform_of(files):
    """The platform tag that is true for these binaries: {path: bytes}."""
    own = {os.path.basename(path) for path in files}
    newest, machines = 0, set()
    for path, data in sorted(files.items()):
        binary = Binary(data)
        try:
            minor = glibc(binary.versions)
            if minor > newest:
                newest = minor
                print("%s needs glibc 2.%d" % (path, minor))
        except Wrong as wrong:
            raise Wrong("%s: %s" % (path, wrong)) from None
        machines.add(binary.machine)
        for place in binary.paths:
            if not place.startswith("$ORIGIN"):
                raise Wrong("%s searches for libraries in %r" % (path, place))
        for name in binary.needed:
            if name not in SYSTEM | own:
                raise Wrong("%s needs %s, which the wheel does not have" % (path, name))
    if len(machines) != 1 or None in machines:
        raise Wrong("the binaries are for %s" % sorted(map(str, machines)))
    return "manylinux_2_%d_%s" % (newest, machines.pop())


def is_binary(data):
    return data[:4] == b"\x7fELF"


# ---- what goes into the wheel


def package():
    """The files of the package: {path in the wheel: (bytes, mode)}."""
    made, folder = {}, os.path.join(HERE, "isomer")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".py") or name == "py.typed":
            with open(os.path.join(folder, name), "rb") as file:
                made["isomer/" + name] = (file.read(), 0o644)
    return made


def find_openmp(build):
    """The OpenMP runtime that the compiler of the build folder uses."""
    cache = open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8").read()
    named = re.search(r"^ISOMER_WHEEL_OPENMP:\w+=(.+)$", cache, re.M)
    if named:
        return named.group(1)
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.+)$", cache, re.M).group(1)
    return subprocess.run([compiler, "-print-file-name=libgomp.so.1"], stdout=subprocess.PIPE,
                          text=True, check=True).stdout.strip()


def strip(path):
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", path], check=True)


# The versions of libgomp's symbols, up to gcc 13.
GOMP = ("GOMP_1.0 GOMP_2.0 GOMP_3.0 GOMP_4.0 GOMP_4.0.1 GOMP_4.5 GOMP_5.0 GOMP_5.0.1 GOMP_5.1 GOMP_5.1.1 "
        "OMP_1.0 OMP_2.0 OMP_3.0 OMP_3.1 OMP_4.0 OMP_4.5 OMP_5.0 OMP_5.0.1 OMP_5.0.2 OMP_5.1 OMP_5.1.1 "
        "OMP_5.2 OACC_2.0 OACC_2.0.1 OACC_2.5 OACC_2.5.1 OACC_2.6 GOACC_2.0 GOACC_2.0.1 GOACC_2.0.2 "
        "GOMP_PLUGIN_1.0 GOMP_PLUGIN_1.1 GOMP_PLUGIN_1.2 GOMP_PLUGIN_1.3 GOMP_PLUGIN_1.4")


def stand_in(build, folder):
    """A library without symbols that calls itself libgomp.so.1. Where the process has the runtime
    under another name, as PyTorch's wheels do, it is loaded in the place of a second one."""
    cache = open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8").read()
    compiler = re.search(r"^CMAKE_C_COMPILER:\w+=(.+)$", cache, re.M).group(1)
    script, path = os.path.join(folder, "gomp.map"), os.path.join(folder, "libisomer-openmp.so")
    with open(script, "w", encoding="utf-8") as file:
        file.write("".join("%s { };\n" % name for name in GOMP.split()))
    subprocess.run([compiler, "-shared", "-nostdlib", "-Wl,-soname,libgomp.so.1", "-Wl,-s",
                    "-Wl,-z,noexecstack", "-Wl,--version-script=" + script, "-x", "c", os.devnull,
                    "-o", path], check=True)
    with open(path, "rb") as file:
        return file.read()


def native(build, openmp):
    """The installed copy, and the OpenMP runtime in a folder of its own."""
    made = {}
    with tempfile.TemporaryDirectory() as stage:
        subprocess.run(["cmake", "--install", build, "--prefix", stage, "--strip"], check=True,
                       stdout=subprocess.DEVNULL)
        for folder, _, names in os.walk(stage):
            for name in names:
                path = os.path.join(folder, name)
                place = os.path.relpath(path, stage)
                keep = re.fullmatch(r"bin/isomer|lib/libisomer\.so\.\d+|lib/isomer/.*|"
                                    r"libexec/isomer/.*|share/isomer/schema/.*", place)
                # The engines over MPI are linked with the MPI of the machine that built them.
                if keep and not re.match(r"lib/isomer/(mpi/|isomer-(openmpi|mpich))", place):
                    with open(path, "rb") as file:  # links are followed: wheels have none
                        made["isomer/_native/" + place] = (file.read(), os.stat(path).st_mode & 0o777)
        copy = os.path.join(stage, "libgomp.so.1")
        shutil.copy(openmp, copy)
        strip(copy)
        with open(copy, "rb") as file:
            made["isomer/_native/openmp/libgomp.so.1"] = (file.read(), 0o755)
        made["isomer/_native/lib/libisomer-openmp.so"] = (stand_in(build, stage), 0o755)
    for path in ("bin/isomer", "lib/libisomer.so.0"):
        if "isomer/_native/" + path not in made:
            raise Wrong("what %s installs has no %s: configure it with -DISOMER_TOOL=ON and "
                        "-DCMAKE_INSTALL_LIBDIR=lib" % (build, path))
    return made


def licences(openmp):
    """LICENSE, and the terms of the OpenMP runtime where Debian keeps them."""
    made = {"LICENSE": read("LICENSE").encode()}
    if openmp:
        root = os.path.realpath(openmp).split("/usr/lib/")[0]
        for place in ("usr/share/doc/libgomp1/copyright", "usr/share/doc/gcc-10-base/copyright",
                      "usr/share/doc/gcc-12-base/copyright"):
            path = os.path.join(root or "/", place)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    made["libgomp-copyright.txt"] = file.read()
                return made
        raise Wrong("the terms of %s are not here: install Debian's libgomp1" % openmp)
    return made


def metadata(openmp):
    licence = "Apache-2.0" + (" AND GPL-3.0-or-later WITH GCC-exception-3.1" if openmp else "")
    lines = ["Metadata-Version: 2.4", "Name: isomer", "Version: " + version(),
             "Summary: The same operation on different silicon: products, reductions and more on "
             "CUDA, HIP, OpenCL and CPUs",
             "License-Expression: " + licence, "License-File: LICENSE"]
    if openmp:
        lines.append("License-File: libgomp-copyright.txt")
    lines += ["Keywords: GPU,CUDA,HIP,OpenCL,OpenMP,BLAS,DLPack", "Requires-Python: >=3.9",
              "Provides-Extra: numpy", "Requires-Dist: numpy; extra == \"numpy\"",
              "Classifier: Operating System :: POSIX :: Linux",
              "Classifier: Programming Language :: Python :: 3",
              "Classifier: Topic :: Scientific/Engineering :: Mathematics", "Classifier: Typing :: Typed",
              "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + read("docs", "python.md")


def write(out, files, openmp, tag, pure):
    """The zip file with its dist-info; returns its path."""
    name = "isomer-%s" % version()
    info = name + ".dist-info/"
    files = dict(files)
    for licence, data in licences(openmp).items():
        files[info + "licenses/" + licence] = (data, 0o644)
    files[info + "METADATA"] = (metadata(openmp).encode(), 0o644)
    files[info + "WHEEL"] = (("Wheel-Version: 1.0\nGenerator: isomer-build_wheel\n"
                              "Root-Is-Purelib: %s\nTag: %s\n"
                              % ("true" if pure else "false", tag)).encode(), 0o644)
    files[info + "entry_points.txt"] = (b"[console_scripts]\nisomer = isomer._tool:main\n", 0o644)
    files[info + "top_level.txt"] = (b"isomer\n", 0o644)
    record = io.StringIO()
    rows = csv.writer(record, lineterminator="\n")
    for path, (data, _) in files.items():
        rows.writerow([path, "sha256=" + digest(data), len(data)])
    rows.writerow([info + "RECORD", "", ""])
    files[info + "RECORD"] = (record.getvalue().encode(), 0o644)
    os.makedirs(out, exist_ok=True)
    path = os.path.join(out, "%s-%s.whl" % (name, tag))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for place, (data, mode) in files.items():
            entry = zipfile.ZipInfo(place, (2020, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data, compresslevel=9)
    return path


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def check(path, most=MOST):
    """Fails if a finished wheel is not what it says."""
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
        modes = {one.filename: one.external_attr >> 16 for one in wheel.infolist()}
    record = [name for name in files if name.endswith(".dist-info/RECORD")]
    if len(record) != 1:
        raise Wrong("%s has %d RECORDs" % (path, len(record)))
    rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(files[record[0]].decode()))}
    if set(rows) != set(files):
        raise Wrong("RECORD has not the names of the files: %s" % sorted(set(rows) ^ set(files)))
    for name, data in files.items():
        if name != record[0] and rows[name] != ["sha256=" + digest(data), str(len(data))]:
            raise Wrong("RECORD has another hash or size of %s" % name)
    tag = os.path.basename(path)[:-len(".whl")].split("-", 2)[2]
    inside = files[record[0][:-len("RECORD")] + "WHEEL"].decode()
    if "Tag: %s\n" % tag not in inside:
        raise Wrong("the file's name says %s, and WHEEL another tag" % tag)
    binaries = {name: data for name, data in files.items() if is_binary(data)}
    true = "py3-none-" + (platform_of(binaries) if binaries else "any")
    if tag != true:
        raise Wrong("the tag is %s, and the binaries say %s" % (tag, true))
    for name in binaries:
        if "/bin/" in name or "/libexec/" in name:
            if not modes[name] & 0o100:
                raise Wrong("%s cannot be executed" % name)
    if os.path.getsize(path) > most:
        raise Wrong("the wheel has %d bytes, more than %d" % (os.path.getsize(path), most))
    return true


def make(out, build=None, openmp=None, most=MOST):
    files = package()
    if build is None:
        path = write(out, files, None, "py3-none-any", True)
    else:
        openmp = openmp or find_openmp(build)
        files.update(native(build, openmp))
        tag = "py3-none-" + platform_of(
            {name: data for name, (data, _) in files.items() if is_binary(data)})
        path = write(out, files, openmp, tag, False)
    check(path, most)
    return path


# ---- what pip calls (PEP 517)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return os.path.basename(make(wheel_directory, os.environ.get("ISOMER_BUILD")))


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("the sources are the whole tree of isomer")


def main():
    parser = argparse.ArgumentParser(description="makes a wheel of the package isomer")
    parser.add_argument("build", nargs="?", help="a build folder of this tree")
    parser.add_argument("--out", default="dist", help="where the wheel goes (default: dist)")
    parser.add_argument("--openmp", help="the libgomp.so.1 to take along; default: the compiler's")
    parser.add_argument("--most", type=int, default=MOST, help="the most bytes of the wheel")
    parser.add_argument("--pure", action="store_true", help="without the library")
    parser.add_argument("--check", metavar="WHEEL", help="check a finished wheel")
    options = parser.parse_args()
    try:
        if options.check:
            print("%s: %s" % (options.check, check(options.check, options.most)))
            return
        if (options.build is None) != options.pure:
            parser.error("give a build folder, or --pure")
        path = make(options.out, options.build, options.openmp, options.most)
    except Wrong as wrong:
        sys.exit("build_wheel.py: %s" % wrong)
    print("%s: %d bytes" % (path, os.path.getsize(path)))


if __name__ == "__main__":
    main()
