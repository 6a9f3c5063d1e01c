#pragma once

// The functions of tpm2-tss that Signet calls. They are looked up when the first TPM is asked, never linked: a program must
// start on a machine without the library. Their types are those of the real headers, so a changed signature does not compile.

#if __has_include(<tss2/tss2_esys.h>) && __has_include(<tss2/tss2_mu.h>) && __has_include(<tss2/tss2_tctildr.h>)

#include <stdbool.h>
#include <stddef.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

#define CTSS2_ESYS(FUNCTION) \
    FUNCTION(Esys_Create) \
    FUNCTION(Esys_CreatePrimary) \
    FUNCTION(Esys_ECDH_ZGen) \
    FUNCTION(Esys_EvictControl) \
    FUNCTION(Esys_Finalize) \
    FUNCTION(Esys_FlushContext) \
    FUNCTION(Esys_Free) \
    FUNCTION(Esys_GetCapability) \
    FUNCTION(Esys_Initialize) \
    FUNCTION(Esys_Load) \
    FUNCTION(Esys_NV_DefineSpace) \
    FUNCTION(Esys_NV_Read) \
    FUNCTION(Esys_NV_ReadPublic) \
    FUNCTION(Esys_NV_SetBits) \
    FUNCTION(Esys_NV_UndefineSpace) \
    FUNCTION(Esys_ReadPublic) \
    FUNCTION(Esys_StartAuthSession) \
    FUNCTION(Esys_TRSess_SetAttributes) \
    FUNCTION(Esys_TR_FromTPMPublic) \
    FUNCTION(Esys_TR_GetName) \
    FUNCTION(Esys_TR_SetAuth)

#define CTSS2_TCTILDR(FUNCTION) \
    FUNCTION(Tss2_TctiLdr_Finalize) \
    FUNCTION(Tss2_TctiLdr_Initialize)

#define CTSS2_MU(FUNCTION) \
    FUNCTION(Tss2_MU_TPM2B_PRIVATE_Marshal) \
    FUNCTION(Tss2_MU_TPM2B_PRIVATE_Unmarshal) \
    FUNCTION(Tss2_MU_TPM2B_PUBLIC_Marshal) \
    FUNCTION(Tss2_MU_TPM2B_PUBLIC_Unmarshal)

#define CTSS2_FIELD(NAME) __typeof__(&NAME) NAME;

// Every function, under its own name. Nothing changes it once it is loaded, so threads may share it.
typedef struct __attribute__((swift_attr("@Sendable"))) CTSS2Functions {
    CTSS2_ESYS(CTSS2_FIELD)
    CTSS2_TCTILDR(CTSS2_FIELD)
    CTSS2_MU(CTSS2_FIELD)
} CTSS2Functions;

// The names to load the libraries by.
typedef struct CTSS2Libraries {
    const char *esys;
    const char *tctildr;
    const char *mu;
} CTSS2Libraries;

// Fills `functions`. Where something is missing it returns false, and `reasons` has one sentence for each library that could
// not be loaded or lacks a function, separated by `; `.
bool ctss2_load(CTSS2Functions *functions, CTSS2Libraries libraries, char *reasons, size_t capacity);

// Writes zeros over what tpm2-tss handed out and is about to be freed; the compiler may not leave it out.
void ctss2_wipe(void *bytes, size_t count);

#elif defined(SIGNET_TRAIT_TPM)
#error "the trait TPM needs the headers of tpm2-tss: install libtss2-dev (Debian, Ubuntu) or tpm2-tss-devel (Fedora)"
#endif
