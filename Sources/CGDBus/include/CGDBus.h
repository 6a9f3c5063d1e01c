#pragma once
#include <stddef.h>
#include <stdint.h>

// What Signet calls of GDBus, the D-Bus client in GLib's library GIO, looked up at run time: a program that is built with this
// starts on a machine without GLib.
//
// SwiftPM asks pkg-config for the directories of headers only for targets that are linked, so the prototypes are repeated here,
// over the tags that the real headers use. Tests/GDBusPrototypes compiles this list against the real headers: a prototype that
// differs is an error there.

struct _GCancellable;
struct _GClosure;
struct _GDBusAuthObserver;
struct _GDBusConnection;
struct _GDBusMessage;
struct _GError;
struct _GMainContext;
struct _GUnixFDList;
struct _GVariant;
struct _GVariantType;

// X(result, name, parameters). gboolean is int, gsize is size_t, gulong is unsigned long; an enumeration is an unsigned int.
#define SIGNET_GDBUS_FUNCTIONS(X)                                                                                              \
    X(void, g_error_free, (struct _GError *))                                                                                  \
    X(void, g_object_unref, (void *))                                                                                          \
    X(unsigned long, g_signal_connect_data,                                                                                    \
      (void *, const char *, void (*)(void), void *, void (*)(void *, struct _GClosure *), unsigned int))                      \
    X(struct _GCancellable *, g_cancellable_new, (void))                                                                       \
    X(void, g_cancellable_cancel, (struct _GCancellable *))                                                                    \
    X(struct _GMainContext *, g_main_context_new, (void))                                                                      \
    X(void, g_main_context_push_thread_default, (struct _GMainContext *))                                                      \
    X(void, g_main_context_pop_thread_default, (struct _GMainContext *))                                                       \
    X(int, g_main_context_iteration, (struct _GMainContext *, int))                                                            \
    X(void, g_main_context_wakeup, (struct _GMainContext *))                                                                   \
    X(void, g_main_context_unref, (struct _GMainContext *))                                                                    \
    X(int, g_variant_type_string_is_valid, (const char *))                                                                     \
    X(int, g_variant_is_object_path, (const char *))                                                                           \
    X(int, g_variant_is_signature, (const char *))                                                                             \
    X(struct _GVariant *, g_variant_ref_sink, (struct _GVariant *))                                                            \
    X(void, g_variant_unref, (struct _GVariant *))                                                                             \
    X(size_t, g_variant_get_size, (struct _GVariant *))                                                                        \
    X(const char *, g_variant_get_type_string, (struct _GVariant *))                                                           \
    X(size_t, g_variant_n_children, (struct _GVariant *))                                                                      \
    X(struct _GVariant *, g_variant_get_child_value, (struct _GVariant *, size_t))                                             \
    X(struct _GVariant *, g_variant_new_boolean, (int))                                                                        \
    X(struct _GVariant *, g_variant_new_byte, (uint8_t))                                                                       \
    X(struct _GVariant *, g_variant_new_int16, (int16_t))                                                                      \
    X(struct _GVariant *, g_variant_new_uint16, (uint16_t))                                                                    \
    X(struct _GVariant *, g_variant_new_int32, (int32_t))                                                                      \
    X(struct _GVariant *, g_variant_new_uint32, (uint32_t))                                                                    \
    X(struct _GVariant *, g_variant_new_int64, (int64_t))                                                                      \
    X(struct _GVariant *, g_variant_new_uint64, (uint64_t))                                                                    \
    X(struct _GVariant *, g_variant_new_double, (double))                                                                      \
    X(struct _GVariant *, g_variant_new_handle, (int32_t))                                                                     \
    X(struct _GVariant *, g_variant_new_string, (const char *))                                                                \
    X(struct _GVariant *, g_variant_new_object_path, (const char *))                                                           \
    X(struct _GVariant *, g_variant_new_signature, (const char *))                                                             \
    X(struct _GVariant *, g_variant_new_variant, (struct _GVariant *))                                                         \
    X(struct _GVariant *, g_variant_new_dict_entry, (struct _GVariant *, struct _GVariant *))                                  \
    X(struct _GVariant *, g_variant_new_tuple, (struct _GVariant *const *, size_t))                                            \
    X(struct _GVariant *, g_variant_new_array, (const struct _GVariantType *, struct _GVariant *const *, size_t))              \
    X(int, g_variant_get_boolean, (struct _GVariant *))                                                                        \
    X(uint8_t, g_variant_get_byte, (struct _GVariant *))                                                                       \
    X(int16_t, g_variant_get_int16, (struct _GVariant *))                                                                      \
    X(uint16_t, g_variant_get_uint16, (struct _GVariant *))                                                                    \
    X(int32_t, g_variant_get_int32, (struct _GVariant *))                                                                      \
    X(uint32_t, g_variant_get_uint32, (struct _GVariant *))                                                                    \
    X(int64_t, g_variant_get_int64, (struct _GVariant *))                                                                      \
    X(uint64_t, g_variant_get_uint64, (struct _GVariant *))                                                                    \
    X(double, g_variant_get_double, (struct _GVariant *))                                                                      \
    X(int32_t, g_variant_get_handle, (struct _GVariant *))                                                                     \
    X(const char *, g_variant_get_string, (struct _GVariant *, size_t *))                                                      \
    X(int, g_dbus_is_name, (const char *))                                                                                     \
    X(int, g_dbus_is_unique_name, (const char *))                                                                              \
    X(int, g_dbus_is_member_name, (const char *))                                                                              \
    X(int, g_dbus_is_interface_name, (const char *))                                                                           \
    X(struct _GDBusMessage *, g_dbus_message_new, (void))                                                                      \
    X(unsigned int, g_dbus_message_get_message_type, (struct _GDBusMessage *))                                                 \
    X(void, g_dbus_message_set_message_type, (struct _GDBusMessage *, unsigned int))                                           \
    X(void, g_dbus_message_set_flags, (struct _GDBusMessage *, unsigned int))                                                  \
    X(unsigned int, g_dbus_message_get_flags, (struct _GDBusMessage *))                                                        \
    X(uint32_t, g_dbus_message_get_serial, (struct _GDBusMessage *))                                                           \
    X(uint32_t, g_dbus_message_get_reply_serial, (struct _GDBusMessage *))                                                     \
    X(void, g_dbus_message_set_reply_serial, (struct _GDBusMessage *, uint32_t))                                               \
    X(const char *, g_dbus_message_get_sender, (struct _GDBusMessage *))                                                       \
    X(void, g_dbus_message_set_destination, (struct _GDBusMessage *, const char *))                                            \
    X(const char *, g_dbus_message_get_path, (struct _GDBusMessage *))                                                         \
    X(void, g_dbus_message_set_path, (struct _GDBusMessage *, const char *))                                                   \
    X(const char *, g_dbus_message_get_interface, (struct _GDBusMessage *))                                                    \
    X(void, g_dbus_message_set_interface, (struct _GDBusMessage *, const char *))                                              \
    X(const char *, g_dbus_message_get_member, (struct _GDBusMessage *))                                                       \
    X(void, g_dbus_message_set_member, (struct _GDBusMessage *, const char *))                                                 \
    X(const char *, g_dbus_message_get_error_name, (struct _GDBusMessage *))                                                   \
    X(void, g_dbus_message_set_error_name, (struct _GDBusMessage *, const char *))                                             \
    X(struct _GVariant *, g_dbus_message_get_body, (struct _GDBusMessage *))                                                   \
    X(void, g_dbus_message_set_body, (struct _GDBusMessage *, struct _GVariant *))                                             \
    X(struct _GUnixFDList *, g_dbus_message_get_unix_fd_list, (struct _GDBusMessage *))                                        \
    X(void, g_dbus_message_set_unix_fd_list, (struct _GDBusMessage *, struct _GUnixFDList *))                                  \
    X(struct _GUnixFDList *, g_unix_fd_list_new, (void))                                                                       \
    X(int, g_unix_fd_list_get_length, (struct _GUnixFDList *))                                                                 \
    X(int, g_unix_fd_list_get, (struct _GUnixFDList *, int, struct _GError **))                                                \
    X(int, g_unix_fd_list_append, (struct _GUnixFDList *, int, struct _GError **))                                             \
    X(struct _GDBusConnection *, g_dbus_connection_new_for_address_sync,                                                       \
      (const char *, unsigned int, struct _GDBusAuthObserver *, struct _GCancellable *, struct _GError **))                    \
    X(const char *, g_dbus_connection_get_unique_name, (struct _GDBusConnection *))                                            \
    X(unsigned int, g_dbus_connection_add_filter,                                                                              \
      (struct _GDBusConnection *, struct _GDBusMessage *(*)(struct _GDBusConnection *, struct _GDBusMessage *, int, void *),   \
       void *, void (*)(void *)))                                                                                              \
    X(void, g_dbus_connection_remove_filter, (struct _GDBusConnection *, unsigned int))                                        \
    X(int, g_dbus_connection_send_message,                                                                                     \
      (struct _GDBusConnection *, struct _GDBusMessage *, unsigned int, volatile uint32_t *, struct _GError **))               \
    X(int, g_dbus_connection_close_sync, (struct _GDBusConnection *, struct _GCancellable *, struct _GError **))

/// The functions of GIO and of the GLib beneath it that were found.
struct signet_gdbus_functions {
#define SIGNET_FIELD(result, name, parameters) result(*name) parameters;
    SIGNET_GDBUS_FUNCTIONS(SIGNET_FIELD)
#undef SIGNET_FIELD
};

/// How a GError begins; it has no functions that read it.
struct signet_gdbus_error {
    uint32_t domain;
    int code;
    char *message;
};

/// Loads GIO once a process and gives its functions, all of them; null when one cannot be had.
const struct signet_gdbus_functions *signet_gdbus_load(void);

/// Why ``signet_gdbus_load`` gives null.
const char *signet_gdbus_failure(void);
