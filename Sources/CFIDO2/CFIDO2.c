#include "CFIDO2.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct cfido2_functions functions;
static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    // It is never closed: it needs OpenSSL, which keeps state for the life of a process.
    void *handle = dlopen("libfido2.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libfido2.so.1 cannot be loaded");
        return;
    }
#define CFIDO2_FIND(result, name, parameters)                                                                                  \
    *(void **)&functions.name = dlsym(handle, #name);                                                                          \
    if (!functions.name && !failure[0]) snprintf(failure, sizeof failure, "libfido2.so.1 has no %s", #name);
    CFIDO2_FUNCTIONS(CFIDO2_FIND)
#undef CFIDO2_FIND
    // Keys that speak only U2F make no passkeys, so a key that does not answer as FIDO2 is not tried as U2F.
    if (!failure[0]) functions.fido_init(0x02 /* FIDO_DISABLE_U2F_FALLBACK */);
}

const struct cfido2_functions *cfido2_load(void) {
    pthread_once(&once, load);
    return failure[0] ? NULL : &functions;
}

const char *cfido2_failure(void) {
    pthread_once(&once, load);
    return failure;
}
