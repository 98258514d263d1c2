/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuned.c - reads and writes tables of measured choices. A table may come from anywhere, so every
 * byte of it is checked: a line that is not exactly as this file writes it makes the table invalid.
 */
#include "common/tuned.h"
#include "common/dtype.h"
#include "common/printable.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

const iso_variant tuned_variants[TUNED_VARIANTS] = {
    [TUNED_VENDOR] = ISO_VARIANT_VENDOR,
    [TUNED_TILED] = ISO_VARIANT_TILED,
    [TUNED_NAIVE] = ISO_VARIANT_NAIVE,
    [TUNED_FIXED] = ISO_VARIANT_FIXED,
};

static const struct {
    iso_op_kind op;
    const char *name;
    const char *layouts[4]; /* by number */
} operations[] = {
    {ISO_OP_GEMM, "gemm", {"nn", "nt", "tn", "tt"}},
    {ISO_OP_GEMV, "gemv", {[0] = "n", [2] = "t"}},
};
enum { OPERATIONS = sizeof operations / sizeof operations[0] };

#define TIME_MOST INT64_C(1000000000000000) /* nanoseconds: 11 days */
static const char wrong[] = "wrong";        /* instead of a time */

/* ---- names ----------------------------------------------------------------------------------- */

void tuned_key(const iso_device_info *info, const char *tiles, char *out, size_t room)
{
    char raw[TUNED_LINE - 16]; /* with room for the word before it */

    (void)snprintf(raw, sizeof raw, "%s; %s; %s; %s; %d units; %d threads; tiles %s", info->backend,
                   info->name, info->vendor, info->architecture, info->units, info->threads, tiles);
    printable_line(out, room < sizeof raw ? room : sizeof raw, raw);
}

/* The last ", kernels WORD" of a line; NULL: it does not end with one. */
static const char *kernels_of(const char *line)
{
    static const char word[] = ", kernels ";
    const char *found = NULL;

    for (const char *at = strstr(line, word); at; at = strstr(at + 1, word)) {
        found = at + strlen(word);
    }
    return found && *found && !strpbrk(found, " ;,") ? found : NULL;
}

bool tuned_same_kernels(const char *a, const char *b)
{
    const char *of_a = kernels_of(a), *of_b = kernels_of(b);

    return of_a && of_b && !strcmp(of_a, of_b);
}

/* Where the version begins in "NAME 1.2.3 (MORE)"; NULL: there is none. */
static const char *version_of(const char *library)
{
    const char *at = strchr(library, ' ');

    while (at && !(at[1] >= '0' && at[1] <= '9')) {
        at = strchr(at + 1, ' ');
    }
    return at ? at + 1 : NULL;
}

bool tuned_same_major(const char *a, const char *b)
{
    const char *of_a = version_of(a), *of_b = version_of(b);
    size_t length;

    if (!of_a || !of_b) {
        return !strcmp(a, b);
    }
    length = strspn(of_a, "0123456789");
    if (length == 1 && of_a[0] == '0' && of_a[1] == '.') {
        length += 1 + strspn(of_a + 2, "0123456789");
    }
    return of_a - a == of_b - b && !strncmp(a, b, (size_t)(of_a - a) + length) &&
           !(of_b[length] >= '0' && of_b[length] <= '9') &&
           !strcmp(of_a + strcspn(of_a, " "), of_b + strcspn(of_b, " "));
}

size_t tuned_told(const char *told, int *rows)
{
    if (told[0] != '/') {
        return 0;
    }
    for (const char *at = strstr(told, ": "); at; at = strstr(at + 1, ": ")) {
        if (sscanf(at, ": %d row", rows) == 1) {
            return (size_t)(at - told);
        }
    }
    return 0;
}

void tuned_file_name(const char *key, char out[TUNED_NAME])
{
    const XXH128_hash_t hash = XXH3_128bits(key, strlen(key));

    (void)snprintf(out, TUNED_NAME, "%016llx%016llx.tuned", (unsigned long long)hash.high64,
                   (unsigned long long)hash.low64);
}

const char *tuned_layout_name(iso_op_kind op, int32_t layout)
{
    for (size_t i = 0; i < OPERATIONS && layout >= 0 && layout < 4; i++) {
        if (operations[i].op == op) {
            return operations[i].layouts[layout];
        }
    }
    return NULL;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The order of the groups of rows that a shape is searched in. */
static int compare_groups(const tuned_shape *x, const tuned_shape *y)
{
    const int64_t of_x[] = {(int64_t)x->op, (int64_t)x->dtype, x->layout};
    const int64_t of_y[] = {(int64_t)y->op, (int64_t)y->dtype, y->layout};

    for (int i = 0; i < 3; i++) {
        if (of_x[i] != of_y[i]) {
            return of_x[i] < of_y[i] ? -1 : 1;
        }
    }
    return 0;
}

int tuned_compare(const void *a, const void *b)
{
    const tuned_shape *x = &((const tuned_row *)a)->shape, *y = &((const tuned_row *)b)->shape;
    int order = compare_groups(x, y);

    for (int i = 0; i < TUNED_SIZES && !order; i++) {
        order = (x->sizes[i] > y->sizes[i]) - (x->sizes[i] < y->sizes[i]);
    }
    return order;
}

int32_t tuned_log(int64_t size)
{
    enum { BITS = 10 };
    const uint64_t value = size > 0 ? (uint64_t)size : 1;
    const int top = 63 - __builtin_clzll(value);
    const uint64_t next = top >= BITS ? value >> (top - BITS) : value << (BITS - top);

    return top * TUNED_OCTAVE + (int32_t)(next & (TUNED_OCTAVE - 1));
}

/* The first row of the shape's group whose m has a logarithm above `log`, or what follows the
 * group. Rows are sorted by group and then by m. */
static const tuned_row *bisect(const tuned_table *table, const tuned_shape *shape, int32_t log)
{
    int32_t first = 0, end = table->count;

    while (first < end) {
        const int32_t middle = first + (end - first) / 2;
        const tuned_row *at = &table->rows[middle];
        const int order = compare_groups(&at->shape, shape);

        if (order < 0 || (!order && at->logs[0] <= log)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return table->rows + first;
}

/* Whether the rows of all matrices are a number of words of 16 bytes, if they are not padded. Other
 * products may be much slower. */
static bool has_whole_rows(const tuned_shape *shape)
{
    enum { WORD = 16, TRANS_A = 2, TRANS_B = 1 };
    const int64_t size = iso_dtype_size(shape->dtype);
    const int64_t m = shape->sizes[0], n = shape->sizes[1], k = shape->sizes[2];
    const int64_t row_a = shape->layout & TRANS_A ? m : k;
    const int64_t row_b = shape->layout & TRANS_B ? k : n;

    return row_a % WORD * size % WORD == 0 &&
           (shape->op == ISO_OP_GEMV ||
            (row_b % WORD * size % WORD == 0 && n % WORD * size % WORD == 0));
}

const tuned_row *tuned_find(const tuned_table *table, const tuned_shape *shape)
{
    const bool whole = has_whole_rows(shape);
    const tuned_row *best = NULL, *end;
    int32_t least = INT32_MAX, logs[TUNED_SIZES];

    for (int i = 0; i < TUNED_SIZES; i++) {
        logs[i] = tuned_log(shape->sizes[i]);
    }
    end = bisect(table, shape, logs[0] + TUNED_OCTAVE - 1);
    for (const tuned_row *at = bisect(table, shape, logs[0] - TUNED_OCTAVE); at < end; at++) {
        int32_t sum = has_whole_rows(&at->shape) == whole ? 0 : TUNED_SIZES * TUNED_OCTAVE;
        bool near = true;

        for (int i = 0; i < TUNED_SIZES; i++) {
            const int32_t apart = abs(at->logs[i] - logs[i]);
            near = near && apart < TUNED_OCTAVE;
            sum += apart;
        }
        if (near && sum < least) {
            least = sum;
            best = at;
        }
    }
    return best;
}

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const char *at, *end;
    int line; /* the number of the current one */
    char text[TUNED_LINE];
    char *problem;
    size_t room;
} reader;

static iso_status refuse(reader *from, const char *format, ...) ISO_PRINTF(2, 3);
static iso_status refuse(reader *from, const char *format, ...)
{
    char why[256];
    va_list list;

    va_start(list, format);
    (void)vsnprintf(why, sizeof why, format, list);
    va_end(list);
    (void)snprintf(from->problem, from->room, "line %d %s", from->line, why);
    return ISO_INVALID;
}

/* Copies the next line, without its end. Every byte must be printable: no tab, no CR, no 0. */
static iso_status next_line(reader *from)
{
    const size_t left = (size_t)(from->end - from->at);
    const char *newline = left ? memchr(from->at, '\n', left) : NULL;
    const size_t length = newline ? (size_t)(newline - from->at) : left;

    from->line++;
    if (!newline) {
        return refuse(from, left ? "is cut: it has no end" : "is missing: the file is cut");
    }
    if (length >= sizeof from->text) {
        return refuse(from, "has %zu bytes: at most %zu", length, sizeof from->text - 1);
    }
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)from->at[i];
        if (byte < ' ' || byte == 0x7f) {
            return refuse(from, "has the byte 0x%02x: lines are plain text and end with a newline",
                          byte);
        }
    }
    memcpy(from->text, from->at, length);
    from->text[length] = '\0';
    from->at = newline + 1;
    return ISO_OK;
}

/* Reads a line "WORD TEXT" into `out`, which has TUNED_LINE bytes. */
static iso_status read_named(reader *from, const char *word, char *out)
{
    const size_t length = strlen(word);
    const iso_status status = next_line(from);

    if (status) {
        return status;
    }
    if (strncmp(from->text, word, length) || from->text[length] != ' ' || !from->text[length + 1]) {
        return refuse(from, "is not \"%s\" and a text", word);
    }
    (void)snprintf(out, TUNED_LINE, "%s", from->text + length + 1);
    return ISO_OK;
}

/* A whole number without sign, without leading zeros and up to `most`; -1: it is none. */
static int64_t whole(const char *word, int64_t most)
{
    int64_t value = 0;

    if (word[0] < '1' || word[0] > '9') {
        return -1;
    }
    for (; *word; word++) {
        if (*word < '0' || *word > '9' || value > most / 10) {
            return -1;
        }
        value = value * 10 + (*word - '0');
    }
    return value <= most ? value : -1;
}

static bool is_way(const char *word)
{
    const size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789-");

    return length > 0 && length < TUNED_WAY && !word[length] && word[0] != '-';
}

enum {
    WORD_OP,
    WORD_TYPE,
    WORD_LAYOUT,
    WORD_SIZE,
    WORD_TIME = WORD_SIZE + TUNED_SIZES,
    WORD_WAY = WORD_TIME + TUNED_VARIANTS,
    WORDS
};

/* Cuts the line into its words; false: they are not WORDS with a blank between two. */
static bool cut(char *line, char *words[WORDS])
{
    int count = 0;

    for (char *at = line; at; count++) {
        char *blank = strchr(at, ' ');

        if (count == WORDS || at == blank || !*at) {
            return false;
        }
        words[count] = at;
        if (blank) {
            *blank++ = '\0';
        }
        at = blank;
    }
    return count == WORDS;
}

static bool read_shape(char *const words[WORDS], tuned_shape *out)
{
    *out = (tuned_shape){.layout = -1};
    for (size_t i = 0; i < OPERATIONS; i++) {
        for (int32_t l = 0; l < 4 && !strcmp(words[WORD_OP], operations[i].name); l++) {
            if (operations[i].layouts[l] && !strcmp(words[WORD_LAYOUT], operations[i].layouts[l])) {
                out->op = operations[i].op;
                out->layout = l;
            }
        }
    }
    for (iso_dtype type = ISO_F16; dtype_get(type); type++) {
        if (dtype_get(type)->floating && !strcmp(words[WORD_TYPE], dtype_get(type)->name)) {
            out->dtype = type;
        }
    }
    return out->layout >= 0 && out->dtype;
}

static iso_status read_times(reader *from, char *const words[WORDS], tuned_row *out)
{
    bool timed = false;

    for (int i = 0; i < TUNED_VARIANTS; i++) {
        const char *word = words[WORD_TIME + i];

        if (!strcmp(word, wrong)) {
            out->times[i] = TUNED_WRONG;
            continue;
        }
        out->times[i] = strcmp(word, "-") ? whole(word, TIME_MOST) : 0;
        timed = timed || out->times[i] > 0;
        if (out->times[i] < 0) {
            return refuse(from,
                          "has the time \"%.32s\": use whole nanoseconds from 1 to %lld, - for "
                          "none, or %s",
                          word, (long long)TIME_MOST, wrong);
        }
    }
    return timed ? ISO_OK : refuse(from, "has no time");
}

static iso_status read_row(reader *from, tuned_row *out)
{
    char *words[WORDS];
    iso_status status;

    memset(out, 0, sizeof *out);
    if (!cut(from->text, words)) {
        return refuse(from, "is not a row of %d words with one blank between two", WORDS);
    }
    if (!read_shape(words, &out->shape)) {
        return refuse(from,
                      "has no operation, type and layout that tables have: \"%.16s %.16s "
                      "%.16s\"",
                      words[WORD_OP], words[WORD_TYPE], words[WORD_LAYOUT]);
    }
    for (int i = 0; i < TUNED_SIZES; i++) {
        out->shape.sizes[i] = whole(words[WORD_SIZE + i], TUNED_SIZE_MOST);
        if (out->shape.sizes[i] < 0) {
            return refuse(from, "has the size \"%.32s\": use whole numbers from 1 to %lld",
                          words[WORD_SIZE + i], (long long)TUNED_SIZE_MOST);
        }
        out->logs[i] = tuned_log(out->shape.sizes[i]);
    }
    if (out->shape.op == ISO_OP_GEMV && out->shape.sizes[1] != 1) {
        return refuse(from, "has n %lld: it is 1 for a product with a vector",
                      (long long)out->shape.sizes[1]);
    }
    status = read_times(from, words, out);
    if (status) {
        return status;
    }
    if (strcmp(words[WORD_WAY], "-")) {
        if (!is_way(words[WORD_WAY]) || out->times[TUNED_TILED] <= 0) {
            return refuse(from,
                          "has the way \"%.40s\": use - or a name of at most %d letters, "
                          "digits and -, where tiled has a time",
                          words[WORD_WAY], TUNED_WAY - 1);
        }
        strcpy(out->way, words[WORD_WAY]);
    }
    return ISO_OK;
}

/* The rows, and the line "end COUNT" after which nothing follows. */
static iso_status read_rows(reader *from, tuned_table *table, int32_t most)
{
    char expected[32];

    for (;;) {
        iso_status status = next_line(from);

        if (status) {
            return status;
        }
        if (!strncmp(from->text, "end ", 4)) {
            break;
        }
        if (table->count == most) {
            return refuse(from, "is row %d: at most %d", most + 1, TUNED_ROWS);
        }
        status = read_row(from, &table->rows[table->count]);
        if (status) {
            return status;
        }
        table->count++;
    }
    (void)snprintf(expected, sizeof expected, "end %d", (int)table->count);
    if (strcmp(from->text, expected)) {
        return refuse(from, "is \"%.32s\", but there are %d rows: lines are missing", from->text,
                      (int)table->count);
    }
    return from->at == from->end ? ISO_OK : refuse(from, "is the end, but more follows");
}

static iso_status read_all(reader *from, tuned_table *table, int32_t most)
{
    iso_status status = next_line(from);
    char expected[32];

    (void)snprintf(expected, sizeof expected, "isomer tuned %d", TUNED_VERSION);
    if (!status && strcmp(from->text, expected)) {
        status = refuse(from, "is not \"%s\": this is no table of this version", expected);
    }
    status = status ? status : read_named(from, "key", table->key);
    status = status ? status : read_named(from, "versions", table->versions);
    status = status ? status : read_named(from, "library", table->library);
    if (!strcmp(table->library, "-")) {
        table->library[0] = '\0';
    }
    status = status ? status : read_rows(from, table, most);
    if (status) {
        return status;
    }
    qsort(table->rows, (size_t)table->count, sizeof table->rows[0], tuned_compare);
    for (int32_t i = 1; i < table->count; i++) {
        if (!tuned_compare(&table->rows[i - 1], &table->rows[i])) {
            const tuned_shape *s = &table->rows[i].shape;
            (void)snprintf(from->problem, from->room, "two rows are of %s %s %s %lldx%lldx%lld",
                           s->op == ISO_OP_GEMM ? "gemm" : "gemv", dtype_get(s->dtype)->name,
                           tuned_layout_name(s->op, s->layout), (long long)s->sizes[0],
                           (long long)s->sizes[1], (long long)s->sizes[2]);
            return ISO_INVALID;
        }
    }
    return ISO_OK;
}

iso_status tuned_read(const char *text, size_t bytes, tuned_table **out, char *problem, size_t room)
{
    reader from = {.at = text, .end = text + bytes, .problem = problem, .room = room};
    int32_t lines = 0;
    tuned_table *table;
    iso_status status;

    *out = NULL;
    problem[0] = '\0';
    if (bytes > TUNED_BYTES) {
        (void)snprintf(problem, room, "it has %zu bytes: at most %d", bytes, TUNED_BYTES);
        return ISO_INVALID;
    }
    for (size_t i = 0; i < bytes && lines < TUNED_ROWS; i++) {
        lines += text[i] == '\n';
    }
    table = calloc(1, sizeof *table + (size_t)lines * sizeof table->rows[0]);
    if (!table) {
        return ISO_NO_MEMORY;
    }
    status = read_all(&from, table, lines);
    if (status) {
        free(table);
        return status;
    }
    *out = table;
    return ISO_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_row(FILE *out, const tuned_row *row)
{
    const tuned_shape *s = &row->shape;

    for (size_t i = 0; i < OPERATIONS; i++) {
        if (operations[i].op == s->op) {
            (void)fprintf(out, "%s %s %s", operations[i].name, dtype_get(s->dtype)->name,
                          operations[i].layouts[s->layout]);
        }
    }
    for (int i = 0; i < TUNED_SIZES; i++) {
        (void)fprintf(out, " %lld", (long long)s->sizes[i]);
    }
    for (int i = 0; i < TUNED_VARIANTS; i++) {
        if (row->times[i] > 0) {
            (void)fprintf(out, " %lld", (long long)row->times[i]);
        } else {
            (void)fprintf(out, " %s", row->times[i] == TUNED_WRONG ? wrong : "-");
        }
    }
    (void)fprintf(out, " %s\n", row->way[0] ? row->way : "-");
}

bool tuned_write(FILE *out, tuned_table *table)
{
    qsort(table->rows, (size_t)table->count, sizeof table->rows[0], tuned_compare);
    (void)fprintf(out, "isomer tuned %d\nkey %s\nversions %s\nlibrary %s\n", TUNED_VERSION,
                  table->key, table->versions, table->library[0] ? table->library : "-");
    for (int32_t i = 0; i < table->count; i++) {
        write_row(out, &table->rows[i]);
    }
    (void)fprintf(out, "end %d\n", (int)table->count);
    return fflush(out) == 0 && !ferror(out);
}
