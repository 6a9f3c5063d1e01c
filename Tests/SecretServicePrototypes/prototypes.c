// Compiled by a test against the headers of libsecret and GLib, with warnings as errors, and never run. Every prototype that
// Signet repeats must be the real one: the field that is to hold a function takes it without a cast.
#include <libsecret/secret.h>
#include <stddef.h>

#define SIGNET_SCHEMA SecretSchema
#include "CSecretService.h"

// GLib makes macros of some functions for its callers; a name without parentheses is the function itself.
#define SIGNET_SAME(result, name, parameters) .name = name,
const struct signet_secret_library same = {SIGNET_SECRET_FUNCTIONS(SIGNET_SAME)};

_Static_assert(offsetof(struct signet_error, domain) == offsetof(GError, domain), "GError begins otherwise");
_Static_assert(offsetof(struct signet_error, code) == offsetof(GError, code), "GError.code lies elsewhere");
_Static_assert(offsetof(struct signet_error, message) == offsetof(GError, message), "GError.message lies elsewhere");

// The numbers that the Swift side writes out.
_Static_assert(G_BUS_TYPE_SESSION == 2, "the bus");
_Static_assert(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT == 1, "flags of a connection");
_Static_assert(G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION == 8, "flags of a connection");
_Static_assert(G_DBUS_CALL_FLAGS_NO_AUTO_START == 1, "flags of a call");
_Static_assert(SECRET_SERVICE_NONE == 0 && SECRET_COLLECTION_NONE == 0 && SECRET_ITEM_CREATE_NONE == 0, "no flags");
_Static_assert((SECRET_SEARCH_ALL | SECRET_SEARCH_LOAD_SECRETS) == 10, "flags of a search");
_Static_assert(SECRET_ERROR_IS_LOCKED == 2 && SECRET_ERROR_NO_SUCH_OBJECT == 3, "secret-error");
_Static_assert(G_IO_ERROR_CANCELLED == 19 && G_IO_ERROR_TIMED_OUT == 24, "g-io-error-quark");
_Static_assert(G_DBUS_ERROR_SERVICE_UNKNOWN == 2 && G_DBUS_ERROR_NAME_HAS_NO_OWNER == 3, "g-dbus-error-quark");
_Static_assert(G_DBUS_ERROR_NO_REPLY == 4 && G_DBUS_ERROR_ACCESS_DENIED == 9, "g-dbus-error-quark");
_Static_assert(G_DBUS_ERROR_TIMEOUT == 12 && G_DBUS_ERROR_UNKNOWN_METHOD == 19, "g-dbus-error-quark");
_Static_assert(G_DBUS_ERROR_TIMED_OUT == 20 && G_DBUS_ERROR_UNKNOWN_OBJECT == 41, "g-dbus-error-quark");
_Static_assert(G_DBUS_ERROR_UNKNOWN_INTERFACE == 42, "g-dbus-error-quark");
