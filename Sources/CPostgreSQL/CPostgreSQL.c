#include "CPostgreSQL.h"

#ifdef SIGNET_HAS_LIBPQ

#include <dlfcn.h>
#include <pthread.h>

static struct signet_libpq functions;
static const struct signet_libpq *loaded;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
#define LOOK_UP(NAME)                                                     \
    *(void **)&functions.NAME = dlsym(library, #NAME);                    \
    if (!functions.NAME) return;
    SIGNET_LIBPQ_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    loaded = &functions;
}

const struct signet_libpq *signet_libpq(void) {
    pthread_once(&once, load);
    return loaded;
}

#endif
