/* Memory that lies idle in a list of ours: the address sanitizer reports who touches it. */
#ifndef DAGI_POISON_H
#define DAGI_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define DAGI_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DAGI_ASAN 1
#endif
#endif

#ifdef DAGI_ASAN
#include <sanitizer/asan_interface.h>
#define dagi_hide(p, n) __asan_poison_memory_region(p, n)
#define dagi_show(p, n) __asan_unpoison_memory_region(p, n)
#else
#define dagi_hide(p, n) ((void)(p), (void)(n))
#define dagi_show(p, n) ((void)(p), (void)(n))
#endif

#endif
