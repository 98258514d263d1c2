/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - what figures call a group of results and a size. */
#include "bench/report/chart.h"

#include <math.h>
#include <string.h>

static void add_words(char *text, size_t room, const char *words)
{
    if (words[0] != '\0') {
        tool_join(text, room, ", ", words);
    }
}

/* "sum f32, along axis 0", "f64, B transposed, 64 at once" */
char *figure_group_words(const report_row *row)
{
    char text[160];
    snprintf(text, sizeof text, "%s%s%s", row->kind, row->kind[0] && row->dtype[0] ? " " : "",
             report_type_words(row->dtype));
    static const char *const layouts[][3] = {{"layout.trans_a", "t", "A transposed"},
                                             {"layout.trans_b", "t", "B transposed"},
                                             {"layout.side", "right", "A on the right"},
                                             {"layout.triangle", "upper", "upper triangle"},
                                             {"layout.axis", "0", "along axis 0"},
                                             {"layout.axis", "1", "along axis 1"},
                                             {"math", "tf32", "tf32"},
                                             {"math", "fast", "fast"},
                                             {"cache", "cold", "cold caches"},
                                             {"fill", "special", "special values"}};
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++) {
        if (strcmp(record_text(row->json, layouts[i][0]), layouts[i][1]) == 0) {
            add_words(text, sizeof text, layouts[i][2]);
        }
    }
    return record_format("%s", text);
}

char *figure_form_words(const report_row *row)
{
    const json_t *shape = json_object_get(row->json, "shape");
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), batch = record_number(shape, "batch");
    double rows = record_number(shape, "rows"), cols = record_number(shape, "cols");
    char text[80] = "";
    if (m > 0.0 && n > 1.0 && k > 0.0 && (m != n || n != k)) {
        double least = fmin(m, fmin(n, k));
        snprintf(text, sizeof text, ", %.4g:%.4g:%.4g", m / least, n / least, k / least);
    } else if (rows > 1.0 && cols > 0.0 && rows != cols) {
        double least = fmin(rows, cols);
        snprintf(text, sizeof text, ", %.4g:%.4g", rows / least, cols / least);
    }
    return batch > 1.0 ? record_format("%s, %.0f at once", text, batch) : record_format("%s", text);
}

char *figure_size_words(const report_row *row)
{
    const json_t *shape = json_object_get(row->json, "shape");
    double m = record_number(shape, "m"), n = record_number(shape, "n");
    double k = record_number(shape, "k"), rows = record_number(shape, "rows");
    char text[REPORT_TEXT];
    bool square = record_number(shape, "batch") > 1.0 ? false
                  : m > 0.0                           ? m == n && (n == k || isnan(k))
                                                      : rows == record_number(shape, "cols");
    return square ? record_format("N = %s", report_count(text, m > 0.0 ? m : rows))
                  : record_format("%s", row->shape);
}
