#define _GNU_SOURCE
#include "CTSS2.h"

#ifdef __linux__

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *text;
    size_t capacity;
    bool any;
} Reasons;

static void add(Reasons *reasons, const char *library, const char *reason) {
    size_t used = strlen(reasons->text);
    snprintf(reasons->text + used, reasons->capacity - used, "%s%s %s", reasons->any ? "; " : "", library, reason);
    reasons->any = true;
}

// A library stays loaded for the life of the process: unloading one that others hang on is where crashes come from.
static void *library(const char *name, Reasons *reasons) {
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *reason = dlerror();
        // The reason begins with the file that is missing, which can also be one that this library needs.
        bool isMissing = reason && strncmp(reason, name, strlen(name)) == 0
            && strstr(reason, "cannot open shared object file: No such file");
        char other[256];
        snprintf(other, sizeof other, "cannot be loaded (%s)", reason ? reason : "no reason is known");
        add(reasons, name, isMissing ? "is not installed" : other);
    }
    return handle;
}

static void *function(void *handle, const char *libraryName, const char *name, Reasons *reasons) {
    void *address = handle ? dlsym(handle, name) : NULL;
    // One missing function tells enough of a library; the first is named.
    if (handle && !address && !strstr(reasons->text, libraryName)) {
        char reason[96];
        snprintf(reason, sizeof reason, "has no function %s", name);
        add(reasons, libraryName, reason);
    }
    return address;
}

bool ctss2_load(CTSS2Functions *functions, CTSS2Libraries libraries, char *text, size_t capacity) {
    Reasons reasons = {text, capacity, false};
    text[0] = '\0';
    memset(functions, 0, sizeof *functions);
    // Otherwise tpm2-tss writes to standard error by itself: expected failures, and keys at its finer levels. Each of its
    // libraries reads this once, at its first message.
    setenv("TSS2_LOG", "all+NONE", 1);

    void *esys = library(libraries.esys, &reasons);
    void *tctildr = library(libraries.tctildr, &reasons);
    void *mu = library(libraries.mu, &reasons);

// A pointer to a function is stored through `void *`, as POSIX has it for dlsym.
#define LOOK_UP(HANDLE, LIBRARY, NAME) *(void **)&functions->NAME = function(HANDLE, LIBRARY, #NAME, &reasons);
#define LOOK_UP_ESYS(RESULT, NAME, PARAMETERS) LOOK_UP(esys, libraries.esys, NAME)
#define LOOK_UP_TCTILDR(RESULT, NAME, PARAMETERS) LOOK_UP(tctildr, libraries.tctildr, NAME)
#define LOOK_UP_MU(RESULT, NAME, PARAMETERS) LOOK_UP(mu, libraries.mu, NAME)
    CTSS2_ESYS(LOOK_UP_ESYS)
    CTSS2_TCTILDR(LOOK_UP_TCTILDR)
    CTSS2_MU(LOOK_UP_MU)
    return !reasons.any;
}

void ctss2_wipe(void *bytes, size_t count) {
    explicit_bzero(bytes, count);
}

#endif
