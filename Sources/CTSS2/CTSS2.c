#include "CTSS2.h"
