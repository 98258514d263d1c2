# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Isomer(CMakePackage):
    """The same operation on different silicon: one C API that moves memory, transposes,
    reduces and multiplies matrices on CUDA, HIP, OpenCL and CPU devices, and a tool that
    verifies and measures them. The vendors' libraries are opened at run time."""

    # The archive that packaging/source.sh makes. A release names its address and SHA-256 here.
    url = f"file://{Path(__file__).resolve().parents[4]}/build/dist/isomer-0.2.0-dev.tar.gz"

    license("Apache-2.0")

    version("0.2.0-dev")

    variant("tool", default=True, description="Build the isomer tool")
    variant("mpi", default=False, description="Build the engine for the MPI that is there")

    depends_on("c", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("xxhash", type="build")
    depends_on("jansson~shared", when="+tool", type="build")
    depends_on("mpi", when="+mpi")

    requires("platform=linux", msg="isomer needs Linux with glibc")
    conflicts("%gcc@:11", msg="isomer needs gcc 12 or newer")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("ISOMER_TESTS", False),
            self.define_from_variant("ISOMER_TOOL", "tool"),
            self.define("ISOMER_OPENMPI", self.spec.satisfies("+mpi ^openmpi")),
            self.define("ISOMER_MPICH", self.spec.satisfies("+mpi ^mpich")),
        ]
