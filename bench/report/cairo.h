/* SPDX-License-Identifier: Apache-2.0 */
/* cairo.h - what the report uses of the cairo library, which it opens at run time.
 * tests/abi/cairo.c compares it with the library's own header. */
#ifndef ISOMER_REPORT_CAIRO_H
#define ISOMER_REPORT_CAIRO_H

#if !defined(CAIRO_H) /* that test includes the library's header first */
typedef struct cairo cairo_t;
typedef struct cairo_surface cairo_surface_t;
typedef unsigned cairo_status_t, cairo_font_slant_t, cairo_font_weight_t, cairo_line_cap_t,
    cairo_line_join_t, cairo_pdf_metadata_t;
typedef cairo_status_t (*cairo_write_func_t)(void *closure, const unsigned char *data,
                                             unsigned length);
typedef struct {
    double x_bearing, y_bearing, width, height, x_advance, y_advance;
} cairo_text_extents_t;
#endif

enum {
    REPORT_CAIRO_DONE = 0,
    REPORT_CAIRO_WRITE_ERROR = 11,
    REPORT_CAIRO_UPRIGHT = 0,
    REPORT_CAIRO_NORMAL = 0,
    REPORT_CAIRO_BOLD = 1,
    REPORT_CAIRO_ROUND = 1, /* ends and joins of lines */
    REPORT_CAIRO_BUTT = 0,
    REPORT_CAIRO_PDF_TITLE = 0
};

/* required(result, name, parameters), and the same for functions that old versions lack */
#define REPORT_CAIRO_SYMBOLS(required, optional)                                                    \
    required(cairo_surface_t *, cairo_pdf_surface_create_for_stream,                                \
             (cairo_write_func_t write, void *closure, double width,                                \
              double height)) required(void, cairo_surface_finish,                                  \
                                       (cairo_surface_t *                                           \
                                        surface)) required(cairo_status_t, cairo_surface_status,    \
                                                           (cairo_surface_t * surface))             \
        required(void, cairo_surface_destroy, (cairo_surface_t * surface)) required(                \
            cairo_t *, cairo_create,                                                                \
            (cairo_surface_t * surface)) required(cairo_status_t, cairo_status,                     \
                                                  (cairo_t * to)) required(void, cairo_destroy,     \
                                                                           (cairo_t * to))          \
            required(void, cairo_save, (cairo_t * to)) required(                                    \
                void, cairo_restore, (cairo_t * to)) required(void, cairo_translate,                \
                                                              (cairo_t * to, double x, double y))   \
                required(void, cairo_rotate, (cairo_t * to, double angle)) required(                \
                    void, cairo_set_source_rgba,                                                    \
                    (cairo_t * to, double red, double green, double blue, double alpha))            \
                    required(void, cairo_set_line_width, (cairo_t * to, double width)) required(    \
                        void, cairo_set_line_cap,                                                   \
                        (                                                                           \
                            cairo_t *                                                               \
                                to,                                                                 \
                            cairo_line_cap_t                                                        \
                                cap)) required(void, cairo_set_line_join,                           \
                                               (cairo_t * to, cairo_line_join_t join))              \
                        required(                                                                   \
                            void, cairo_set_dash,                                                   \
                            (cairo_t * to, const double *dashes, int count,                         \
                             double offset)) required(void, cairo_move_to,                          \
                                                      (cairo_t * to, double x, double y))           \
                            required(void, cairo_line_to, (cairo_t * to, double x, double y))       \
                                required(                                                           \
                                    void, cairo_arc,                                                \
                                    (cairo_t * to, double x, double y, double radius, double from,  \
                                     double until))                                                 \
                                    required(                                                       \
                                        void, cairo_rectangle,                                      \
                                        (cairo_t * to, double x, double y, double width,            \
                                         double height)) required(void, cairo_new_sub_path,         \
                                                                  (cairo_t * to))                   \
                                        required(void, cairo_close_path, (cairo_t * to)) required(  \
                                            void, cairo_stroke,                                     \
                                            (cairo_t *                                              \
                                             to)) required(void, cairo_fill, (cairo_t * to))        \
                                            required(void, cairo_fill_preserve, (cairo_t * to))     \
                                                required(void, cairo_select_font_face,              \
                                                         (cairo_t * to, const char *family,         \
                                                          cairo_font_slant_t                        \
                                                              slant,                                \
                                                          cairo_font_weight_t                       \
                                                              weight))                              \
                                                    required(void, cairo_set_font_size,             \
                                                             (cairo_t * to, double size))           \
                                                        required(void, cairo_show_text,             \
                                                                 (cairo_t * to, const char *text))  \
                                                            required(                               \
                                                                void, cairo_text_extents,           \
                                                                (cairo_t * to, const char *text,    \
                                                                 cairo_text_extents_t *extents))    \
                                                                optional(                           \
                                                                    void,                           \
                                                                    cairo_pdf_surface_set_metadata, \
                                                                    (cairo_surface_t * surface,     \
                                                                     cairo_pdf_metadata_t what,     \
                                                                     const char *text))

#endif
