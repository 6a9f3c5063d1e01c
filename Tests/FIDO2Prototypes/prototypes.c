// Compiled by a test against the headers of libfido2, with warnings as errors, and never run. Every prototype that Signet repeats
// must be the real one: the field that is to hold a function takes it without a cast.
#include <fido.h>
#include <stddef.h>

#define CFIDO2_IO fido_dev_io_t
#include "CFIDO2.h"

#define CFIDO2_SAME(result, name, parameters) .name = name,
const struct cfido2_functions same = {CFIDO2_FUNCTIONS(CFIDO2_SAME)};

// The functions of the reports, whose structure is passed to libfido2 as its own.
_Static_assert(sizeof(struct cfido2_io) == sizeof(fido_dev_io_t), "the size of fido_dev_io_t");
_Static_assert(offsetof(struct cfido2_io, open) == offsetof(fido_dev_io_t, open), "fido_dev_io_t.open");
_Static_assert(offsetof(struct cfido2_io, close) == offsetof(fido_dev_io_t, close), "fido_dev_io_t.close");
_Static_assert(offsetof(struct cfido2_io, read) == offsetof(fido_dev_io_t, read), "fido_dev_io_t.read");
_Static_assert(offsetof(struct cfido2_io, write) == offsetof(fido_dev_io_t, write), "fido_dev_io_t.write");

// The numbers that the Swift side writes out.
_Static_assert(FIDO_DISABLE_U2F_FALLBACK == 2, "flags of fido_init");
_Static_assert(FIDO_OPT_OMIT == 0 && FIDO_OPT_FALSE == 1 && FIDO_OPT_TRUE == 2, "fido_opt_t");
_Static_assert(COSE_ES256 == -7 && COSE_EDDSA == -8 && COSE_RS256 == -257, "algorithms");
_Static_assert(FIDO_OK == 0, "FIDO_OK");
_Static_assert(FIDO_ERR_TIMEOUT == 0x05 && FIDO_ERR_CREDENTIAL_EXCLUDED == 0x19, "errors");
_Static_assert(FIDO_ERR_UNSUPPORTED_ALGORITHM == 0x26 && FIDO_ERR_OPERATION_DENIED == 0x27, "errors");
_Static_assert(FIDO_ERR_KEY_STORE_FULL == 0x28 && FIDO_ERR_UNSUPPORTED_OPTION == 0x2b, "errors");
_Static_assert(FIDO_ERR_KEEPALIVE_CANCEL == 0x2d && FIDO_ERR_NO_CREDENTIALS == 0x2e, "errors");
_Static_assert(FIDO_ERR_USER_ACTION_TIMEOUT == 0x2f && FIDO_ERR_PIN_INVALID == 0x31, "errors");
_Static_assert(FIDO_ERR_PIN_BLOCKED == 0x32 && FIDO_ERR_PIN_AUTH_BLOCKED == 0x34, "errors");
_Static_assert(FIDO_ERR_PIN_REQUIRED == 0x36 && FIDO_ERR_ACTION_TIMEOUT == 0x3a, "errors");
