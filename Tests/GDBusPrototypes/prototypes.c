// Compiled by a test against the headers of GIO and GLib, with warnings as errors, and never run. Every prototype that Signet
// repeats must be the real one: the field that is to hold a function takes it without a cast.
#include <gio/gio.h>
#include <gio/gunixfdlist.h>
#include <stddef.h>

#include "CGDBus.h"

// GLib makes macros of some functions for its callers; a name without parentheses is the function itself.
#define SIGNET_SAME(result, name, parameters) .name = name,
const struct signet_gdbus_functions same = {SIGNET_GDBUS_FUNCTIONS(SIGNET_SAME)};

_Static_assert(offsetof(struct signet_gdbus_error, domain) == offsetof(GError, domain), "GError begins otherwise");
_Static_assert(offsetof(struct signet_gdbus_error, code) == offsetof(GError, code), "GError.code lies elsewhere");
_Static_assert(offsetof(struct signet_gdbus_error, message) == offsetof(GError, message), "GError.message lies elsewhere");

// The numbers that the Swift side writes out.
_Static_assert(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT == 1, "flags of a connection");
_Static_assert(G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION == 8, "flags of a connection");
_Static_assert(G_DBUS_MESSAGE_TYPE_METHOD_CALL == 1 && G_DBUS_MESSAGE_TYPE_METHOD_RETURN == 2, "kinds of messages");
_Static_assert(G_DBUS_MESSAGE_TYPE_ERROR == 3 && G_DBUS_MESSAGE_TYPE_SIGNAL == 4, "kinds of messages");
_Static_assert(G_DBUS_MESSAGE_FLAGS_NO_REPLY_EXPECTED == 1 && G_DBUS_MESSAGE_FLAGS_NO_AUTO_START == 2, "flags of a message");
_Static_assert(G_DBUS_MESSAGE_FLAGS_ALLOW_INTERACTIVE_AUTHORIZATION == 4, "flags of a message");
_Static_assert(G_DBUS_SEND_MESSAGE_FLAGS_NONE == 0, "flags of sending");
