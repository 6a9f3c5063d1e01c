#include "CSecretService.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct signet_secret_library library;
static char failure[256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void load(void) {
    // It is never closed: GLib keeps threads and types for the life of a process.
    void *handle = dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        snprintf(failure, sizeof failure, "%s", reason ? reason : "libsecret-1.so.0 cannot be loaded");
        return;
    }
    // A look-up in libsecret goes on in the libraries that it needs itself, so GLib is the one that libsecret uses.
#define SIGNET_FIND(result, name, parameters)                                                                                  \
    *(void **)&library.name = dlsym(handle, #name);                                                                            \
    if (!library.name && !failure[0]) snprintf(failure, sizeof failure, "libsecret-1.so.0 has no %s", #name);
    SIGNET_SECRET_FUNCTIONS(SIGNET_FIND)
#undef SIGNET_FIND
}

const struct signet_secret_library *signet_secret_library(void) {
    pthread_once(&once, load);
    return failure[0] ? NULL : &library;
}

const char *signet_secret_library_failure(void) {
    pthread_once(&once, load);
    return failure;
}
