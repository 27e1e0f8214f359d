/* The answer as a table and as a picture. */
#include "kriging.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static int end(FILE *f)
{
    int failed = ferror(f);
    return fclose(f) != 0 || failed ? -1 : 0;
}

int write_table(const char *path, const data *d, const answer *a)
{
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return -1;
    fprintf(f, "# x mean standard_deviation\n");
    for (int64_t j = 0; j < d->m; j++)
        fprintf(f, "%.17g %.17g %.17g\n", d->z[j], a->mean[j], a->spread[j]);
    return end(f);
}

/* ---- picture ------------------------------------------------------------------------------- */

enum { WIDTH = 900, HEIGHT = 480, LEFT = 60, RIGHT = 20, TOP = 20, BOTTOM = 50, DOTS = 800 };

typedef struct frame {
    double x0, x1, y0, y1; /* what is shown */
} frame;

static double across(const frame *s, double x)
{
    return LEFT + (x - s->x0) / (s->x1 - s->x0) * (WIDTH - LEFT - RIGHT);
}

static double down(const frame *s, double y)
{
    return HEIGHT - BOTTOM - (y - s->y0) / (s->y1 - s->y0) * (HEIGHT - TOP - BOTTOM);
}

static frame frame_of(const data *d, const answer *a)
{
    frame s = {d->z[0], d->z[d->m - 1], INFINITY, -INFINITY};
    for (int64_t j = 0; j < d->m; j++) {
        s.y0 = fmin(s.y0, a->mean[j] - 2.5 * a->spread[j]);
        s.y1 = fmax(s.y1, a->mean[j] + 2.5 * a->spread[j]);
    }
    for (int64_t i = 0; i < d->n; i++) {
        s.y0 = fmin(s.y0, d->y[i]);
        s.y1 = fmax(s.y1, d->y[i]);
    }
    if (!(s.x1 > s.x0))
        s.x1 = s.x0 + 1;
    if (!(s.y1 > s.y0))
        s.y1 = s.y0 + 1;
    return s;
}

/* Axes with marks at round numbers. */
static void axis(FILE *f, const frame *s, int vertical)
{
    double from = vertical ? s->y0 : s->x0, to = vertical ? s->y1 : s->x1;
    double step = pow(10, floor(log10(to - from)));
    while ((to - from) / step < 4)
        step /= 2;
    for (double v = ceil(from / step) * step; v <= to; v += step) {
        double shown = fabs(v) < step * 1e-6 ? 0 : v;
        if (vertical)
            fprintf(f, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='#ddd'/>"
                    "<text x='%d' y='%.1f' text-anchor='end'>%g</text>\n", LEFT, WIDTH - RIGHT,
                    down(s, v), down(s, v), LEFT - 6, down(s, v) + 4, shown);
        else
            fprintf(f, "<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n", across(s, v),
                    HEIGHT - BOTTOM + 18, shown);
    }
}

static void curve(FILE *f, const frame *s, const data *d, const double *y, const char *style)
{
    fprintf(f, "<polyline fill='none' %s points='", style);
    for (int64_t j = 0; j < d->m; j++)
        fprintf(f, "%.1f,%.1f ", across(s, d->z[j]), down(s, y != NULL ? y[j] : truth(d->z[j])));
    fprintf(f, "'/>\n");
}

int write_svg(const char *path, const data *d, const answer *a)
{
    frame s = frame_of(d, a);
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return -1;
    fprintf(f, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
            "font-family='sans-serif' font-size='12'>\n<rect width='100%%' height='100%%' "
            "fill='white'/>\n", WIDTH, HEIGHT);
    axis(f, &s, 0);
    axis(f, &s, 1);
    fprintf(f, "<polygon fill='#9ecae1' fill-opacity='0.6' points='");
    for (int64_t j = 0; j < d->m; j++)
        fprintf(f, "%.1f,%.1f ", across(&s, d->z[j]), down(&s, a->mean[j] + 2 * a->spread[j]));
    for (int64_t j = d->m; j-- > 0;)
        fprintf(f, "%.1f,%.1f ", across(&s, d->z[j]), down(&s, a->mean[j] - 2 * a->spread[j]));
    fprintf(f, "'/>\n");
    int64_t every = d->n / DOTS + 1;
    for (int64_t i = 0; i < d->n; i += every)
        fprintf(f, "<circle cx='%.1f' cy='%.1f' r='1.2' fill='#888'/>\n", across(&s, d->x[i]),
                down(&s, d->y[i]));
    curve(f, &s, d, NULL, "stroke='black' stroke-dasharray='5 4'");
    curve(f, &s, d, a->mean, "stroke='#08519c' stroke-width='1.8'");
    fprintf(f, "<text x='%d' y='%d'>dots: %" PRId64 " of %" PRId64 " observations; dashed: the "
            "function; line: its expectation; band: two standard deviations</text>\n</svg>\n", LEFT,
            HEIGHT - 12, (d->n + every - 1) / every, d->n);
    return end(f);
}
