#include "CGDBus.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct signet_gdbus_functions functions;
static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    // It is never closed: GLib keeps threads and types for the life of a process.
    void *handle = dlopen("libgio-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libgio-2.0.so.0 cannot be loaded");
        return;
    }
    // A look-up in GIO goes on in the libraries that it needs itself, so GLib is the one that GIO uses.
#define SIGNET_FIND(result, name, parameters)                                                                                  \
    *(void **)&functions.name = dlsym(handle, #name);                                                                          \
    if (!functions.name && !failure[0]) snprintf(failure, sizeof failure, "libgio-2.0.so.0 has no %s", #name);
    SIGNET_GDBUS_FUNCTIONS(SIGNET_FIND)
#undef SIGNET_FIND
}

const struct signet_gdbus_functions *signet_gdbus_load(void) {
    pthread_once(&once, load);
    return failure[0] ? NULL : &functions;
}

const char *signet_gdbus_failure(void) {
    pthread_once(&once, load);
    return failure;
}
