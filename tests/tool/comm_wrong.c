/* SPDX-License-Identifier: Apache-2.0 */
/* comm_wrong.c - is loaded before libisomer, and makes results over ranks wrong: sums from the call
 * of rank 0 on that ISOMER_TEST_WRONG numbers, and gathered matrices. */
#include <dlfcn.h>
#include <isomer/comm.h>
#include <isomer/grid.h>
#include <stdlib.h>

iso_status iso_comm_run(iso_comm comm, iso_stream stream, const iso_comm_args *args)
{
    static int calls;
    iso_status (*run)(iso_comm, iso_stream, const iso_comm_args *);
    *(void **)&run = dlsym(RTLD_NEXT, "iso_comm_run");
    iso_comm_info info = ISO_COMM_INFO_INIT;
    const char *first = getenv("ISOMER_TEST_WRONG");
    iso_status status = run(comm, stream, args);
    if (status != ISO_OK || args->op != ISO_COMM_ALL_REDUCE || !first ||
        iso_comm_get_info(comm, &info) != ISO_OK || info.rank != 0 || ++calls < atoi(first)) {
        return status;
    }
    const iso_operand last = {args->to.buffer, args->to.offset + 4 * (args->count - 1)};
    const float wrong = 0.5F;
    return iso_fill(stream, last, &wrong, sizeof wrong, sizeof wrong);
}

iso_status iso_grid_gather(iso_grid grid, const iso_grid_layout *layout, int32_t root, void *to,
                           int64_t ld, iso_operand from, const void *from_host)
{
    iso_status (*gather)(iso_grid, const iso_grid_layout *, int32_t, void *, int64_t, iso_operand,
                         const void *);
    *(void **)&gather = dlsym(RTLD_NEXT, "iso_grid_gather");
    iso_status status = gather(grid, layout, root, to, ld, from, from_host);
    if (status == ISO_OK && to && getenv("ISOMER_TEST_WRONG")) {
        ((float *)to)[layout->cols + 1] += 64;
    }
    return status;
}
