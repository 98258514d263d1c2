/* SPDX-License-Identifier: Apache-2.0 */
/* cairo.c - compiles if every entry of the report's list of cairo functions has the type that
 * cairo's own header declares, and its numbers are cairo's. With ABI_PLANT one entry is wrong, and
 * it must not compile. */
#include <cairo-pdf.h>

#include "bench/report/cairo.h"

#define SAME_VALUE(ours, theirs)                                                                   \
    _Static_assert((int)(ours) == (int)(theirs), #ours " is not " #theirs)
SAME_VALUE(REPORT_CAIRO_DONE, CAIRO_STATUS_SUCCESS);
SAME_VALUE(REPORT_CAIRO_WRITE_ERROR, CAIRO_STATUS_WRITE_ERROR);
SAME_VALUE(REPORT_CAIRO_UPRIGHT, CAIRO_FONT_SLANT_NORMAL);
SAME_VALUE(REPORT_CAIRO_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
SAME_VALUE(REPORT_CAIRO_BOLD, CAIRO_FONT_WEIGHT_BOLD);
SAME_VALUE(REPORT_CAIRO_ROUND, CAIRO_LINE_JOIN_ROUND);
SAME_VALUE(REPORT_CAIRO_BUTT, CAIRO_LINE_CAP_BUTT);
SAME_VALUE(REPORT_CAIRO_PDF_TITLE, CAIRO_PDF_METADATA_TITLE);

/* Our own types, for the headers that do not have cairo's. */
typedef struct {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
} our_extents;
_Static_assert(sizeof(our_extents) == sizeof(cairo_text_extents_t), "extents have another size");
_Static_assert(sizeof(unsigned) == sizeof(cairo_status_t), "numbers have another size");

/* Every function must be declared, and agree: a second declaration of another type is an error. */
#define DECLARED(result, name, parameters) enum { declared_##name = (int)sizeof(&name) };
#define AGREES(result, name, parameters)   result name parameters;
REPORT_CAIRO_SYMBOLS(DECLARED, DECLARED)
REPORT_CAIRO_SYMBOLS(AGREES, AGREES)

#if defined(ABI_PLANT)
AGREES(void, cairo_move_to, (cairo_t * to, float x, float y))
#endif
