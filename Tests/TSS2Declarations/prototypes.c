// Compiled by a test against the headers of tpm2-tss, with warnings as errors, and never run. Every prototype that Signet
// repeats must be the real one: the field that is to hold a function takes it without a cast.
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tctildr.h>

#define CTSS2_TYPES
#include "CTSS2.h"

#define CTSS2_SAME(RESULT, NAME, PARAMETERS) .NAME = NAME,
const CTSS2Functions same = {CTSS2_ESYS(CTSS2_SAME) CTSS2_TCTILDR(CTSS2_SAME) CTSS2_MU(CTSS2_SAME)};
