# SPDX-License-Identifier: Apache-2.0
"""machine.py - where a row runs: a host with NumPy, or a GPU with CuPy and Numba. Both make the inputs,
move arrays and time calls; a row that NumPy and CuPy write alike is one function for both."""
import time

import numpy

from . import inputs

DTYPES = {"f32": numpy.float32, "f64": numpy.float64}

# Of Numba's kernels: here, as kernels.py imports Numba.
TILE = 16            # of products in shared memory, and of the fused product
STAGE = 256          # elements of x that a block of gemv_shared stages
LARGEST_BLOCK = 512  # of sum_block
PARTIALS_BLOCK = 256


def repeated(once, most=20, seconds=0.5):
    """The times of a call that returns its time: many if it is short, one if it takes over a second."""
    first = once()
    if first > 1:
        return [first]
    count = max(3, min(most, int(seconds / max(first, 1e-9))))
    return [once() for _ in range(count)]


class Host:
    """NumPy on the processor; a GPU, if there is one, makes the big inputs."""
    device = "openmp:0"
    gpu = False

    def __init__(self, maker=None):
        self.xp = numpy
        self.maker = maker
        self.by = "NumPy " + numpy.__version__

    def uniform(self, seed, shape, dtype):
        if self.maker:
            return self.maker.uniform(seed, shape, dtype).get()
        return inputs.uniform(seed, shape, DTYPES[dtype])

    def sparse(self, seed, rows, cols, density):
        if self.maker:
            return tuple(part.get() for part in self.maker.sparse(seed, rows, cols, density))
        return inputs.sparse(seed, rows, cols, density)

    def put(self, array):
        return array

    def get(self, array):
        return array

    def sync(self):
        pass

    def free(self):
        if self.maker:
            self.maker.free()

    def wall(self, call):
        """Seconds of a call until its work is done."""
        self.sync()
        begin = time.perf_counter()
        call()
        self.sync()
        return time.perf_counter() - begin

    def device_time(self, call):
        return self.wall(call)

    def times(self, call, most=20):
        """Times of a call on the device, in seconds, each the mean of a batch if the call is short."""
        call()
        self.sync()
        batch = max(1, min(100, int(2e-3 / max(self.device_time(call), 1e-9))))

        def run():
            for _ in range(batch):
                call()
        return [t / batch for t in repeated(lambda: self.device_time(run), most)]

    def walls(self, call, most=20):
        call()
        return repeated(lambda: self.wall(call), most)


class Gpu(Host):
    """CuPy on the GPU. Numba's launches are on the same stream, the default one."""
    device = "cuda:0"
    gpu = True

    def __init__(self):
        super().__init__()
        import cupy
        self.xp = cupy
        self.by = "CuPy " + cupy.__version__
        self.module = cupy.RawModule(code=inputs.DEVICE_CODE, options=("-std=c++17",))
        properties = cupy.cuda.runtime.getDeviceProperties(0)
        self.name = properties["name"].decode()
        self.processors = properties["multiProcessorCount"]

    def launch(self, name, threads, *arguments):
        block = 256
        groups = max(1, min((threads + block - 1) // block, 1 << 16))
        self.module.get_function(name)((groups,), (block,), arguments)

    def uniform(self, seed, shape, dtype):
        out = self.xp.empty(shape, DTYPES[dtype])
        self.launch("uniform_" + dtype, out.size, numpy.uint64(seed), numpy.uint64(out.size), out)
        return out

    def sparse(self, seed, rows, cols, density):
        cupy = self.xp
        head = (numpy.uint64(seed), numpy.uint64(rows), numpy.uint64(cols), numpy.float64(density))
        counts = cupy.zeros(rows, numpy.int32)
        self.launch("sparse_count", rows, *head, counts)
        starts = cupy.zeros(rows + 1, numpy.int32)
        starts[1:] = cupy.cumsum(counts)
        total = int(starts[rows])
        values = cupy.empty(total, numpy.float32)
        columns = cupy.empty(total, numpy.int32)
        self.launch("sparse_fill", rows, *head, starts, values, columns)
        return values, columns, starts

    def put(self, array):
        return self.xp.asarray(array)

    def get(self, array):
        return array.get()

    def sync(self):
        self.xp.cuda.Device().synchronize()

    def free(self):
        """Gives cached memory back, which Numba and PyTorch may need."""
        self.xp.get_default_memory_pool().free_all_blocks()
        self.xp.get_default_pinned_memory_pool().free_all_blocks()

    def device_time(self, call):
        """Seconds between two events of the stream around a call."""
        begin, end = self.xp.cuda.Event(), self.xp.cuda.Event()
        begin.record()
        call()
        end.record()
        end.synchronize()
        return self.xp.cuda.get_elapsed_time(begin, end) * 1e-3

    def check_inputs(self):
        """Stops the program if the GPU makes other numbers than the host."""
        for dtype in DTYPES:
            made = self.uniform(inputs.A, 100000, dtype).get()
            if not (made == inputs.uniform(inputs.A, 100000, DTYPES[dtype])).all():
                raise SystemExit(f"labs.py: the GPU's inputs in {dtype} are not the host's")
        made = [part.get() for part in self.sparse(inputs.SPARSE, 50, 700, 0.1)]
        for ours, theirs in zip(made, inputs.sparse(inputs.SPARSE, 50, 700, 0.1)):
            if not numpy.array_equal(ours, theirs):
                raise SystemExit("labs.py: the GPU's sparse matrix is not the host's")


class Numba:
    """Numba's kernels; `view` passes CuPy's memory to them."""

    def __init__(self):
        if not hasattr(numpy, "row_stack"):
            numpy.row_stack = numpy.vstack  # older releases of Numba look for it
        import numba
        from numba import cuda

        from . import kernels
        self.by = "Numba " + numba.__version__
        self.cuda = cuda
        self.view = cuda.as_cuda_array
        self.f32 = kernels.make("f32")
        self.f64 = kernels.make("f64")
        self.add_kernel = kernels.add_kernel
        self.tree = kernels.tree()

    def kernels(self, dtype):
        return {"f32": self.f32, "f64": self.f64}[dtype]


def groups(count, block):
    return (count + block - 1) // block
