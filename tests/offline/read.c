/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read.c - reads AMD's kernel descriptors in code objects (64 bytes at the symbol NAME.kd): a
 * kernel's initial modes. Fails if f32, f64 or f16 arithmetic would not round to nearest or would
 * not keep subnormal numbers.
 *
 *   read CODE-OBJECT...
 *   read --flush CODE-OBJECT TO     writes a copy whose kernels flush them: a planted fault
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DESCRIPTOR_BYTES = 64,
    RSRC1_AT = 48,
    MODES_SHIFT = 12, /* two bits each: rounding of f32, of f16 and f64, subnormals likewise */
    MODES_WANTED = 0xf0
};

static unsigned char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    unsigned char *data = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        rewind(file);
        data = size > 0 ? malloc((size_t)size) : NULL;
        *bytes = data ? fread(data, 1, (size_t)size, file) : 0;
    }
    if (file) {
        (void)fclose(file);
    }
    return data;
}

/* The bytes at an address of the loaded object. */
static unsigned char *at_address(unsigned char *data, size_t bytes, uint64_t address)
{
    Elf64_Ehdr head;
    memcpy(&head, data, sizeof head);
    for (size_t i = 0; i < head.e_phnum; i++) {
        Elf64_Phdr part;
        const size_t at = (size_t)head.e_phoff + i * sizeof part;
        if (at + sizeof part > bytes) {
            return NULL;
        }
        memcpy(&part, data + at, sizeof part);
        if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
            address + DESCRIPTOR_BYTES <= part.p_vaddr + part.p_filesz) {
            const size_t where = (size_t)(part.p_offset + (address - part.p_vaddr));
            return where + DESCRIPTOR_BYTES <= bytes ? data + where : NULL;
        }
    }
    return NULL;
}

static int check_descriptor(const char *path, const char *name, const unsigned char *descriptor)
{
    uint32_t rsrc1;
    memcpy(&rsrc1, descriptor + RSRC1_AT, sizeof rsrc1);
    const unsigned modes = rsrc1 >> MODES_SHIFT & 0xff;
    if (modes != MODES_WANTED) {
        (void)printf("FAIL: %s: %s begins with modes 0x%02x, not 0x%02x: it does not round to "
                     "nearest or flushes subnormal numbers\n",
                     path, name, modes, MODES_WANTED);
    }
    return modes == MODES_WANTED;
}

/* The kernels of one object in memory, or -1 if something is wrong. With `flush` they are changed
 * instead of checked. */
static int visit_kernels(const char *path, unsigned char *data, size_t bytes, int flush)
{
    int kernels = 0;
    int good = 1;
    Elf64_Ehdr head = {.e_shnum = 0};
    if (bytes < sizeof head || memcmp(data, ELFMAG, SELFMAG) != 0) {
        (void)printf("FAIL: %s is no code object\n", path);
        return -1;
    }
    memcpy(&head, data, sizeof head);
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(data + head.e_shoff);
    for (size_t i = 0; i < head.e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM) {
            continue;
        }
        const char *names = (const char *)data + sections[sections[i].sh_link].sh_offset;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(const void *)(data + sections[i].sh_offset);
        for (size_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++) {
            const char *name = names + symbols[j].st_name;
            const size_t length = strlen(name);
            if (length > 3 && strcmp(name + length - 3, ".kd") == 0) {
                unsigned char *found = at_address(data, bytes, symbols[j].st_value);
                if (flush && found) {
                    found[RSRC1_AT + 2] &= (unsigned char)~3u; /* subnormal numbers of f32 */
                }
                good &= found && (flush || check_descriptor(path, name, found));
                kernels++;
            }
        }
    }
    return good && kernels > 0 ? kernels : -1;
}

static int check_object(const char *path)
{
    size_t bytes = 0;
    unsigned char *data = read_file(path, &bytes);
    const int kernels = visit_kernels(path, data, bytes, 0);
    free(data);
    return kernels;
}

static int plant(const char *from, const char *to)
{
    size_t bytes = 0;
    unsigned char *data = read_file(from, &bytes);
    int good = visit_kernels(from, data, bytes, 1) > 0;
    FILE *file = good ? fopen(to, "wb") : NULL;
    good = file && fwrite(data, 1, bytes, file) == bytes;
    if (file) {
        good = fclose(file) == 0 && good;
    }
    free(data);
    return good;
}

int main(int count, char **arguments)
{
    int kernels = 0;
    int failed = count < 2;
    if (count == 4 && strcmp(arguments[1], "--flush") == 0) {
        return !plant(arguments[2], arguments[3]);
    }
    for (int i = 1; i < count; i++) {
        const int found = check_object(arguments[i]);
        failed |= found < 0;
        kernels += found > 0 ? found : 0;
    }
    (void)printf("%d kernels round to nearest and keep subnormal numbers\n", kernels);
    return failed;
}
