#include <isl/ctx.h>
#include <isl/set.h>
#include <isl/version.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    isl_ctx *ctx = isl_ctx_alloc();
    isl_set *set = isl_set_read_from_str(ctx, "[n] -> { [i] : 0 <= i < n and n < 0 }");
    int ok = isl_set_is_empty(set) == isl_bool_true;
    char version[64];

    isl_set_free(set);
    isl_ctx_free(ctx);
    snprintf(version, sizeof version, "%s", isl_version());
    version[strcspn(version, "\n")] = '\0';
    printf("%s\n", version);
    return ok ? 0 : 1;
}
