/* Numbers of a Matrix Market file. Fast, because files have hundreds of megabytes of them. */
#define _GNU_SOURCE /* strtod_l, which is in no standard but in every libc with newlocale */
#include "mtx_internal.h"

#include <math.h>
#include <stdlib.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool ends_word(char c)
{
    return c == '\0' || mtx_is_blank(c);
}

mtx_number mtx_read_integer(const char **s, int64_t *value)
{
    const char *p = *s;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    if (!is_digit(*p))
        return MTX_NUMBER_MALFORMED;
    int64_t v = 0;
    bool overflow = false;
    for (; is_digit(*p); p++) {
        int digit = negative ? '0' - *p : *p - '0';
        overflow = overflow || __builtin_mul_overflow(v, 10, &v) ||
                   __builtin_add_overflow(v, digit, &v);
    }
    if (!ends_word(*p))
        return MTX_NUMBER_MALFORMED;
    if (overflow)
        return MTX_NUMBER_RANGE;
    *s = p;
    *value = v;
    return MTX_NUMBER_OK;
}

/* Decimal digits, as far as 64 bits hold them. */
typedef struct decimal {
    uint64_t digits;
    int exponent;  /* of ten, for `digits` as an integer */
    bool inexact;  /* digits were dropped, or the exponent is huge */
} decimal;

static const char *scan_digits(const char *p, decimal *d, bool fraction)
{
    for (; is_digit(*p); p++) {
        if (d->digits > (UINT64_MAX - 9) / 10) {
            d->inexact = true;
            continue;
        }
        d->digits = d->digits * 10 + (uint64_t)(*p - '0');
        d->exponent -= fraction;
    }
    return p;
}

/* Scans [digits][.digits][e[sign]digits]; returns the end, or NULL if that is not what is there. */
static const char *scan_decimal(const char *p, decimal *d)
{
    const char *start = p;
    p = scan_digits(p, d, false);
    bool any = p > start;
    if (*p == '.') {
        const char *fraction = ++p;
        p = scan_digits(p, d, true);
        any = any || p > fraction;
    }
    if (!any)
        return NULL;
    if (*p == 'e' || *p == 'E') {
        p++;
        bool negative = *p == '-';
        if (*p == '-' || *p == '+')
            p++;
        if (!is_digit(*p))
            return NULL;
        int exponent = 0;
        for (; is_digit(*p); p++) {
            if (exponent < 100000)
                exponent = exponent * 10 + (*p - '0');
            else
                d->inexact = true;
        }
        d->exponent += negative ? -exponent : exponent;
    }
    return p;
}

/* inf, infinity or nan; returns the end, or NULL. */
static const char *scan_special(const char *p, double *value)
{
    static const struct {
        const char *name;
        int length;
        double value;
    } specials[] = {{"infinity", 8, INFINITY}, {"inf", 3, INFINITY}, {"nan", 3, NAN}};
    for (int k = 0; k < 3; k++)
        if (strncasecmp(p, specials[k].name, (size_t)specials[k].length) == 0) {
            *value = specials[k].value;
            return p + specials[k].length;
        }
    return NULL;
}

/*
 * Digits below 2^53 and powers of ten up to 10^22 are exact in double precision, so one
 * multiplication or division rounds correctly. strtod does the rest.
 */
static bool convert_exactly(const decimal *d, double *value)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21,
                                    1e22};
    if (d->inexact || d->digits > UINT64_C(1) << 53 || d->exponent < -22 || d->exponent > 22)
        return false;
    *value = d->exponent < 0 ? (double)d->digits / powers[-d->exponent]
                             : (double)d->digits * powers[d->exponent];
    return true;
}

mtx_number mtx_read_double(const char **s, double *value, locale_t c)
{
    const char *p = *s;
    bool negative = *p == '-';
    if (*p == '-' || *p == '+')
        p++;
    decimal d = {0};
    double v = 0;
    bool special = !is_digit(*p) && *p != '.';
    const char *end = special ? scan_special(p, &v) : scan_decimal(p, &d);
    if (end == NULL || !ends_word(*end))
        return MTX_NUMBER_MALFORMED;
    if (!special && !convert_exactly(&d, &v)) {
        v = strtod_l(p, NULL, c); /* p starts with a digit or a point: no sign, no hexadecimal */
        if (isinf(v))
            return MTX_NUMBER_RANGE;
    }
    *s = end;
    *value = negative ? -v : v;
    return MTX_NUMBER_OK;
}
