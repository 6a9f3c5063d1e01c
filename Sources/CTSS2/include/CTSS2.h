#pragma once

// The functions of tpm2-tss that Signet calls. They are looked up when the first TPM is asked, never linked: a program must
// start on a machine without the library, and build on one without its headers. So the prototypes are repeated here, from the
// TCG's "TSS 2.0 Enhanced System API (ESAPI)", "TSS 2.0 Marshaling/Unmarshaling API" and "TSS 2.0 TCTI Loader" specifications.
// Tests/TSS2Declarations compiles this list against the headers of tpm2-tss: a prototype that differs is an error there.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
// The proof defines it, and has the types of tpm2-tss instead of these.
#ifndef CTSS2_TYPES
#include "CTSS2Types.h"
#endif

// What Signet only passes on, or never asks for.
struct ESYS_CONTEXT;
struct TSS2_TCTI_OPAQUE_CONTEXT_BLOB;
struct TSS2_ABI_VERSION;
struct TPM2B_CREATION_DATA;
struct TPMT_TK_CREATION;

// The first parameters of a command: the context, its handles, and three sessions.
#define CTSS2_SESSIONS ESYS_TR, ESYS_TR, ESYS_TR
#define CTSS2_ONE_HANDLE struct ESYS_CONTEXT *, ESYS_TR, CTSS2_SESSIONS
#define CTSS2_TWO_HANDLES struct ESYS_CONTEXT *, ESYS_TR, ESYS_TR, CTSS2_SESSIONS

// X(result, name, parameters)
#define CTSS2_ESYS(X) \
    X(TSS2_RC, Esys_Certify, \
      (CTSS2_TWO_HANDLES, const TPM2B_DATA *, const TPMT_SIG_SCHEME *, TPM2B_ATTEST **, TPMT_SIGNATURE **)) \
    X(TSS2_RC, Esys_Create, \
      (CTSS2_ONE_HANDLE, const TPM2B_SENSITIVE_CREATE *, const TPM2B_PUBLIC *, const TPM2B_DATA *, const TPML_PCR_SELECTION *, \
       TPM2B_PRIVATE **, TPM2B_PUBLIC **, struct TPM2B_CREATION_DATA **, TPM2B_DIGEST **, struct TPMT_TK_CREATION **)) \
    X(TSS2_RC, Esys_CreatePrimary, \
      (CTSS2_ONE_HANDLE, const TPM2B_SENSITIVE_CREATE *, const TPM2B_PUBLIC *, const TPM2B_DATA *, const TPML_PCR_SELECTION *, \
       ESYS_TR *, TPM2B_PUBLIC **, struct TPM2B_CREATION_DATA **, TPM2B_DIGEST **, struct TPMT_TK_CREATION **)) \
    X(TSS2_RC, Esys_ECDH_ZGen, (CTSS2_ONE_HANDLE, const TPM2B_ECC_POINT *, TPM2B_ECC_POINT **)) \
    X(TSS2_RC, Esys_EvictControl, (CTSS2_TWO_HANDLES, TPM2_HANDLE, ESYS_TR *)) \
    X(void, Esys_Finalize, (struct ESYS_CONTEXT **)) \
    X(TSS2_RC, Esys_FlushContext, (struct ESYS_CONTEXT *, ESYS_TR)) \
    X(void, Esys_Free, (void *)) \
    X(TSS2_RC, Esys_GetCapability, \
      (struct ESYS_CONTEXT *, CTSS2_SESSIONS, TPM2_CAP, uint32_t, uint32_t, TPMI_YES_NO *, TPMS_CAPABILITY_DATA **)) \
    X(TSS2_RC, Esys_Initialize, \
      (struct ESYS_CONTEXT **, struct TSS2_TCTI_OPAQUE_CONTEXT_BLOB *, struct TSS2_ABI_VERSION *)) \
    X(TSS2_RC, Esys_Load, (CTSS2_ONE_HANDLE, const TPM2B_PRIVATE *, const TPM2B_PUBLIC *, ESYS_TR *)) \
    X(TSS2_RC, Esys_NV_DefineSpace, (CTSS2_ONE_HANDLE, const TPM2B_AUTH *, const TPM2B_NV_PUBLIC *, ESYS_TR *)) \
    X(TSS2_RC, Esys_NV_Read, (CTSS2_TWO_HANDLES, uint16_t, uint16_t, TPM2B_MAX_NV_BUFFER **)) \
    X(TSS2_RC, Esys_NV_ReadPublic, (CTSS2_ONE_HANDLE, TPM2B_NV_PUBLIC **, TPM2B_NAME **)) \
    X(TSS2_RC, Esys_NV_SetBits, (CTSS2_TWO_HANDLES, uint64_t)) \
    X(TSS2_RC, Esys_NV_UndefineSpace, (CTSS2_TWO_HANDLES)) \
    X(TSS2_RC, Esys_ReadPublic, (CTSS2_ONE_HANDLE, TPM2B_PUBLIC **, TPM2B_NAME **, TPM2B_NAME **)) \
    X(TSS2_RC, Esys_Sign, \
      (CTSS2_ONE_HANDLE, const TPM2B_DIGEST *, const TPMT_SIG_SCHEME *, const TPMT_TK_HASHCHECK *, TPMT_SIGNATURE **)) \
    X(TSS2_RC, Esys_StartAuthSession, \
      (CTSS2_TWO_HANDLES, const TPM2B_DIGEST *, TPM2_SE, const TPMT_SYM_DEF *, TPM2_ALG_ID, ESYS_TR *)) \
    X(TSS2_RC, Esys_TRSess_SetAttributes, (struct ESYS_CONTEXT *, ESYS_TR, TPMA_SESSION, TPMA_SESSION)) \
    X(TSS2_RC, Esys_TR_FromTPMPublic, (struct ESYS_CONTEXT *, TPM2_HANDLE, CTSS2_SESSIONS, ESYS_TR *)) \
    X(TSS2_RC, Esys_TR_GetName, (struct ESYS_CONTEXT *, ESYS_TR, TPM2B_NAME **)) \
    X(TSS2_RC, Esys_TR_SetAuth, (struct ESYS_CONTEXT *, ESYS_TR, const TPM2B_AUTH *))

#define CTSS2_TCTILDR(X) \
    X(void, Tss2_TctiLdr_Finalize, (struct TSS2_TCTI_OPAQUE_CONTEXT_BLOB **)) \
    X(TSS2_RC, Tss2_TctiLdr_Initialize, (const char *, struct TSS2_TCTI_OPAQUE_CONTEXT_BLOB **))

#define CTSS2_MU(X) \
    X(TSS2_RC, Tss2_MU_TPM2B_PRIVATE_Marshal, (const TPM2B_PRIVATE *, uint8_t *, size_t, size_t *)) \
    X(TSS2_RC, Tss2_MU_TPM2B_PRIVATE_Unmarshal, (const uint8_t *, size_t, size_t *, TPM2B_PRIVATE *)) \
    X(TSS2_RC, Tss2_MU_TPM2B_PUBLIC_Marshal, (const TPM2B_PUBLIC *, uint8_t *, size_t, size_t *)) \
    X(TSS2_RC, Tss2_MU_TPM2B_PUBLIC_Unmarshal, (const uint8_t *, size_t, size_t *, TPM2B_PUBLIC *))

#define CTSS2_FIELD(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS;

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
