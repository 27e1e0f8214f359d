/* Includes DAGI_BODIES, bodies of one element type that call the same kernels on cores and on devices, once for each:
 * EITHER(name) is the head of a body, CALL(kernel, ...) a call there. Takes DAGI_BODIES back. */
#define EITHER(name) DAGI_BODY(name)
#define CALL(kernel, ...) FN(kernel)(__VA_ARGS__)
#include DAGI_BODIES
#undef EITHER
#undef CALL
#define EITHER(name) DAGI_ENQUEUE(name)
#define CALL(kernel, ...) FN(dev_##kernel)(queue, __VA_ARGS__)
#include DAGI_BODIES
#undef EITHER
#undef CALL
#undef DAGI_BODIES
