/* Messages of the C compiler in the forms for tools, and its warnings by name. */
#include "diag/temp.h"
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* ---- messages of the C compiler ------------------------------------------------------------- */

typedef struct foreign {
    diag_place at;
    diag_severity severity;     /* DIAG_OFF: a note */
    char *option;
    char *message;
} foreign;

/* "FILE:LINE:COL: " or "FILE:LINE: " in front of `kind`; changes the line. */
static diag_place split_place(char *line, char *kind)
{
    unsigned numbers[2] = {0, 0};
    size_t n = 0;
    char *end = kind;
    while (n < 2 && end - line >= 2 && end[-1] == ' ' ? end[-2] == ':' : end[-1] == ':') {
        char *colon = end - (end[-1] == ' ' ? 2 : 1), *digits = colon;
        while (digits > line && digits[-1] >= '0' && digits[-1] <= '9')
            digits--;
        if (digits == colon || digits == line || digits[-1] != ':')
            break;
        *colon = '\0';
        numbers[n++] = (unsigned)strtoul(digits, NULL, 10);
        end = digits;
    }
    if (n == 0)
        return (diag_place){0};
    end[-1] = '\0';
    return n == 2 ? (diag_place){line, numbers[1], numbers[0]} : (diag_place){line, numbers[0], 0};
}

/* "message [-Wname]": the name is cut off. */
static char *split_option(char *message)
{
    char *open = strrchr(message, '[');
    size_t len = strlen(message);
    if (!open || open == message || strncmp(open, "[-W", 3) != 0 || message[len - 1] != ']')
        return NULL;
    message[len - 1] = '\0';
    open[-1] = '\0';
    return open + 1;
}

static bool read_line(char *line, foreign *f)
{
    static const struct { const char *word; diag_severity severity; } kinds[] = {
        {"fatal error: ", DIAG_ERROR}, {"error: ", DIAG_ERROR}, {"warning: ", DIAG_WARNING},
        {"note: ", DIAG_OFF},
    };
    for (size_t i = 0; i < UTIL_COUNT(kinds); i++) {
        char *kind = strstr(line, kinds[i].word);
        if (!kind || (kind > line && kind[-1] != ' '))
            continue;
        *f = (foreign){.severity = kinds[i].severity, .message = kind + strlen(kinds[i].word)};
        f->option = split_option(f->message);
        f->at = split_place(line, kind);
        return true;
    }
    return false;
}

/* Lines that say something without being a message of the usual form, such as the linker's. */
static bool is_prose(const char *line)
{
    return strstr(line, ": undefined reference") || strstr(line, "ld: ") ||
           strstr(line, "ld returned");
}

static void report_lines(diag *reports, char *log)
{
    for (char *line = log, *next; line && *line; line = next) {
        foreign f;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (is_prose(line))
            diag_report_plain(reports, DIAG_ERROR, "%s", line);
        else if (!read_line(line, &f))
            continue;
        else if (f.severity == DIAG_OFF)
            diag_note_foreign(reports, f.at, f.message);
        else
            diag_report_foreign(reports, f.severity, f.at, f.option, f.message);
    }
}

int driver_run_cc(const driver_options *o, const words *command, const char *temp_dir)
{
    diag *reports = driver_reports();
    if (o->format == DIAG_TEXT || !reports)
        return driver_run(command, o->verbose, NULL);
    const char *log = temp_path(o->arena, temp_dir, "cc.log");
    unsigned errors = diag_errors(reports);
    setenv("LC_ALL", "C", 1);           /* its words are read */
    int status = driver_run(command, o->verbose, log);
    text said = {0};
    driver_read_file(log, &said);
    char *copy = util_strdup(text_str(&said));
    report_lines(reports, copy);
    if (status != 0 && diag_errors(reports) == errors)
        driver_complain("%s failed with exit status %d: %s", command->items[0], status,
                        text_str(&said));
    free(copy);
    text_free(&said);
    return status;
}

/* ---- options of the C compiler -------------------------------------------------------------- */

/* Does the C compiler know the option? */
static bool cc_knows(const driver_options *o, const char *option, const char *temp_dir)
{
    words command = {0};
    driver_cc_command(o, &command);
    /* Alone: the user's other options do not matter, and may be wrong themselves. */
    while (command.n > 1)
        command.items[--command.n] = NULL;
    static const char *const rest[] = {"-Werror", "-fsyntax-only", "-x", "c", "/dev/null"};
    words_add(&command, option);
    for (size_t i = 0; i < UTIL_COUNT(rest); i++)
        words_add(&command, rest[i]);
    int status = driver_run(&command, false, temp_path(o->arena, temp_dir, "cc.log"));
    words_free(&command);
    return status == 0;
}

bool driver_check_warnings(const driver_options *o)
{
    static const char *const usual[] = {"all", "extra", "pedantic", "shadow", "conversion",
                                        "error", "unused", "no-error"};
    const char *temp_dir = NULL;
    bool ok = true;
    for (size_t i = 0; i < o->foreign_warnings.n && ok; i++) {
        const char *name = o->foreign_warnings.items[i];
        bool known = false;
        for (size_t k = 0; k < UTIL_COUNT(usual); k++)
            known = known || strcmp(usual[k], name) == 0;
        if (known)
            continue;
        temp_dir = temp_dir ? temp_dir : temp_new_dir(o->arena);
        ok = temp_dir && cc_knows(o, arena_printf(o->arena, "-W%s", name), temp_dir);
        if (!ok)
            driver_complain("neither dagcc nor the C compiler knows a warning called '%s'; "
                            "dagcc --list-checks prints ours", name);
    }
    temp_remove(temp_dir);
    return ok;
}
