#pragma once
#include <stddef.h>
#include <stdint.h>

// The types and constants of TPM 2.0 that Signet uses, as the libraries of tpm2-tss lay them out in memory (ABI version 0).
//
// Sources: TCG, "Trusted Platform Module Library, Part 2: Structures"; TCG, "TSS 2.0 Overview and Common Structures"; TCG, "TSS 2.0
// Enhanced System API (ESAPI)". A union has only the members that Signet reads or writes, and one named `room` where another
// member is larger. Tests/TSS2Declarations compares sizes, offsets and values with the headers of tpm2-tss, which no build needs.

typedef uint32_t TSS2_RC;
typedef uint32_t ESYS_TR;

typedef uint32_t TPM2_HANDLE;
typedef uint32_t TPM2_CAP;
typedef uint32_t TPM2_PT;
typedef uint16_t TPM2_ALG_ID;
typedef uint16_t TPM2_ECC_CURVE;
typedef uint8_t TPM2_SE;
typedef uint8_t TPM2_NT;
typedef uint16_t TPM2_ST;
typedef uint32_t TPMA_NV;
typedef uint32_t TPMA_OBJECT;
typedef uint32_t TPMA_PERMANENT;
typedef uint8_t TPMA_SESSION;
typedef uint8_t TPMI_YES_NO;

// MARK: Constants

#define ESYS_TR_NONE 0xFFFu
#define ESYS_TR_PASSWORD 0xFFu
#define ESYS_TR_RH_OWNER 0x101u
#define ESYS_TR_RH_ENDORSEMENT 0x10Bu

// Part 2, section 6.3: algorithms.
#define TPM2_ALG_AES ((TPM2_ALG_ID)0x0006)
#define TPM2_ALG_SHA256 ((TPM2_ALG_ID)0x000B)
#define TPM2_ALG_NULL ((TPM2_ALG_ID)0x0010)
#define TPM2_ALG_ECDSA ((TPM2_ALG_ID)0x0018)
#define TPM2_ALG_ECDH ((TPM2_ALG_ID)0x0019)
#define TPM2_ALG_ECC ((TPM2_ALG_ID)0x0023)
#define TPM2_ALG_CFB ((TPM2_ALG_ID)0x0043)
// Section 6.4: curves.
#define TPM2_ECC_NIST_P256 ((TPM2_ECC_CURVE)0x0003)
// Section 6.9: tags of structures.
#define TPM2_ST_HASHCHECK ((TPM2_ST)0x8024)
// Section 6.11: kinds of sessions.
#define TPM2_SE_HMAC ((TPM2_SE)0x00)
// Section 6.12: capabilities.
#define TPM2_CAP_TPM_PROPERTIES ((TPM2_CAP)0x00000006)
#define TPM2_CAP_ECC_CURVES ((TPM2_CAP)0x00000008)
// Section 7.4: permanent handles.
#define TPM2_RH_NULL ((TPM2_HANDLE)0x40000007)
// Section 8.3: attributes of objects.
#define TPMA_OBJECT_FIXEDTPM ((TPMA_OBJECT)0x00000002)
#define TPMA_OBJECT_FIXEDPARENT ((TPMA_OBJECT)0x00000010)
#define TPMA_OBJECT_SENSITIVEDATAORIGIN ((TPMA_OBJECT)0x00000020)
#define TPMA_OBJECT_USERWITHAUTH ((TPMA_OBJECT)0x00000040)
#define TPMA_OBJECT_NODA ((TPMA_OBJECT)0x00000400)
#define TPMA_OBJECT_RESTRICTED ((TPMA_OBJECT)0x00010000)
#define TPMA_OBJECT_DECRYPT ((TPMA_OBJECT)0x00020000)
#define TPMA_OBJECT_SIGN_ENCRYPT ((TPMA_OBJECT)0x00040000)
// Section 8.4: attributes of sessions.
#define TPMA_SESSION_CONTINUESESSION ((TPMA_SESSION)0x01)
#define TPMA_SESSION_DECRYPT ((TPMA_SESSION)0x20)
#define TPMA_SESSION_ENCRYPT ((TPMA_SESSION)0x40)
// Section 8.6: permanent attributes.
#define TPMA_PERMANENT_OWNERAUTHSET ((TPMA_PERMANENT)0x00000001)
// Section 13: NV memory.
#define TPM2_NT_BITS ((TPM2_NT)0x2)
#define TPMA_NV_TPM2_NT_SHIFT (4)
#define TPMA_NV_AUTHWRITE ((TPMA_NV)0x00000004)
#define TPMA_NV_AUTHREAD ((TPMA_NV)0x00040000)
#define TPMA_NV_NO_DA ((TPMA_NV)0x02000000)
#define TPMA_NV_WRITTEN ((TPMA_NV)0x20000000)

// MARK: Sized buffers

#define CTSS2_BUFFER(NAME, FIELD, COUNT) \
    typedef struct NAME { \
        uint16_t size; \
        uint8_t FIELD[COUNT]; \
    } NAME;
CTSS2_BUFFER(TPM2B_DIGEST, buffer, 64)
CTSS2_BUFFER(TPM2B_DATA, buffer, 64)
CTSS2_BUFFER(TPM2B_NAME, name, 68)
CTSS2_BUFFER(TPM2B_MAX_NV_BUFFER, buffer, 2048)
CTSS2_BUFFER(TPM2B_SENSITIVE_DATA, buffer, 256)
CTSS2_BUFFER(TPM2B_ECC_PARAMETER, buffer, 128)
CTSS2_BUFFER(TPM2B_PRIVATE, buffer, 1550)
CTSS2_BUFFER(TPM2B_ATTEST, attestationData, 2304)
#undef CTSS2_BUFFER
typedef TPM2B_DIGEST TPM2B_AUTH;

// MARK: Keys

typedef struct TPMS_ECC_POINT {
    TPM2B_ECC_PARAMETER x, y;
} TPMS_ECC_POINT;

typedef struct TPM2B_ECC_POINT {
    uint16_t size;
    TPMS_ECC_POINT point;
} TPM2B_ECC_POINT;

typedef union TPMU_SYM_KEY_BITS {
    uint16_t aes;
} TPMU_SYM_KEY_BITS;

typedef union TPMU_SYM_MODE {
    TPM2_ALG_ID aes;
} TPMU_SYM_MODE;

// The cipher of a session.
typedef struct TPMT_SYM_DEF {
    TPM2_ALG_ID algorithm;
    TPMU_SYM_KEY_BITS keyBits;
    TPMU_SYM_MODE mode;
} TPMT_SYM_DEF;

// The cipher of a storage key.
typedef struct TPMT_SYM_DEF_OBJECT {
    TPM2_ALG_ID algorithm;
    TPMU_SYM_KEY_BITS keyBits;
    TPMU_SYM_MODE mode;
} TPMT_SYM_DEF_OBJECT;

typedef struct TPMS_SCHEME_HASH {
    TPM2_ALG_ID hashAlg;
} TPMS_SCHEME_HASH;

typedef union TPMU_ASYM_SCHEME {
    TPMS_SCHEME_HASH ecdh, ecdsa;
    uint16_t room[2];
} TPMU_ASYM_SCHEME;

typedef struct TPMT_ECC_SCHEME {
    TPM2_ALG_ID scheme;
    TPMU_ASYM_SCHEME details;
} TPMT_ECC_SCHEME;

typedef struct TPMT_KDF_SCHEME {
    TPM2_ALG_ID scheme;
    TPMS_SCHEME_HASH details;
} TPMT_KDF_SCHEME;

typedef struct TPMS_ECC_PARMS {
    TPMT_SYM_DEF_OBJECT symmetric;
    TPMT_ECC_SCHEME scheme;
    TPM2_ECC_CURVE curveID;
    TPMT_KDF_SCHEME kdf;
} TPMS_ECC_PARMS;

typedef union TPMU_PUBLIC_PARMS {
    TPMS_ECC_PARMS eccDetail;
    uint32_t room[5];
} TPMU_PUBLIC_PARMS;

typedef union TPMU_PUBLIC_ID {
    TPMS_ECC_POINT ecc;
    uint16_t room[257];
} TPMU_PUBLIC_ID;

typedef struct TPMT_PUBLIC {
    TPM2_ALG_ID type;
    TPM2_ALG_ID nameAlg;
    TPMA_OBJECT objectAttributes;
    TPM2B_DIGEST authPolicy;
    TPMU_PUBLIC_PARMS parameters;
    TPMU_PUBLIC_ID unique;
} TPMT_PUBLIC;

typedef struct TPM2B_PUBLIC {
    uint16_t size;
    TPMT_PUBLIC publicArea;
} TPM2B_PUBLIC;

typedef struct TPMS_SENSITIVE_CREATE {
    TPM2B_AUTH userAuth;
    TPM2B_SENSITIVE_DATA data;
} TPMS_SENSITIVE_CREATE;

typedef struct TPM2B_SENSITIVE_CREATE {
    uint16_t size;
    TPMS_SENSITIVE_CREATE sensitive;
} TPM2B_SENSITIVE_CREATE;

typedef struct TPMS_PCR_SELECTION {
    TPM2_ALG_ID hash;
    uint8_t sizeofSelect;
    uint8_t pcrSelect[4];
} TPMS_PCR_SELECTION;

typedef struct TPML_PCR_SELECTION {
    uint32_t count;
    TPMS_PCR_SELECTION pcrSelections[16];
} TPML_PCR_SELECTION;

// MARK: Signatures

typedef union TPMU_SIG_SCHEME {
    TPMS_SCHEME_HASH ecdsa;
    uint16_t room[2];
} TPMU_SIG_SCHEME;

typedef struct TPMT_SIG_SCHEME {
    TPM2_ALG_ID scheme;
    TPMU_SIG_SCHEME details;
} TPMT_SIG_SCHEME;

// Proves to a restricted key that the TPM hashed the data itself. Signet's keys are not restricted, and take an empty one.
typedef struct TPMT_TK_HASHCHECK {
    TPM2_ST tag;
    TPM2_HANDLE hierarchy;
    TPM2B_DIGEST digest;
} TPMT_TK_HASHCHECK;

typedef struct TPMS_SIGNATURE_ECDSA {
    TPM2_ALG_ID hash;
    TPM2B_ECC_PARAMETER signatureR, signatureS;
} TPMS_SIGNATURE_ECDSA;

typedef union TPMU_SIGNATURE {
    TPMS_SIGNATURE_ECDSA ecdsa;
    uint16_t room[258];
} TPMU_SIGNATURE;

typedef struct TPMT_SIGNATURE {
    TPM2_ALG_ID sigAlg;
    TPMU_SIGNATURE signature;
} TPMT_SIGNATURE;

// MARK: NV memory

typedef struct TPMS_NV_PUBLIC {
    TPM2_HANDLE nvIndex;
    TPM2_ALG_ID nameAlg;
    TPMA_NV attributes;
    TPM2B_DIGEST authPolicy;
    uint16_t dataSize;
} TPMS_NV_PUBLIC;

typedef struct TPM2B_NV_PUBLIC {
    uint16_t size;
    TPMS_NV_PUBLIC nvPublic;
} TPM2B_NV_PUBLIC;

// MARK: Capabilities

typedef struct TPML_ECC_CURVE {
    uint32_t count;
    TPM2_ECC_CURVE eccCurves[508];
} TPML_ECC_CURVE;

typedef struct TPMS_TAGGED_PROPERTY {
    TPM2_PT property;
    uint32_t value;
} TPMS_TAGGED_PROPERTY;

typedef struct TPML_TAGGED_TPM_PROPERTY {
    uint32_t count;
    TPMS_TAGGED_PROPERTY tpmProperty[127];
} TPML_TAGGED_TPM_PROPERTY;

// Only tpm2-tss allocates it. It has no `room`: later versions of the library added larger members, and every version has these.
typedef union TPMU_CAPABILITIES {
    TPML_TAGGED_TPM_PROPERTY tpmProperties;
    TPML_ECC_CURVE eccCurves;
} TPMU_CAPABILITIES;

typedef struct TPMS_CAPABILITY_DATA {
    TPM2_CAP capability;
    TPMU_CAPABILITIES data;
} TPMS_CAPABILITY_DATA;
