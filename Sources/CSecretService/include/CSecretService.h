#pragma once
#include <stddef.h>
#include <stdint.h>

// What Signet calls of libsecret and of the GLib beneath it, looked up at run time: a program that is built with this starts
// on a machine without them.
//
// The headers of GLib lie where only pkg-config knows, and SwiftPM asks it for nothing but targets that are linked. So the
// prototypes are repeated here, over the tags that the real headers use. Tests/SecretServicePrototypes compiles this list
// against the real headers: a prototype that differs is an error there.

struct _GCancellable;
struct _GDBusConnection;
struct _GDBusProxy;
struct _GDBusAuthObserver;
struct _GError;
struct _GHashTable;
struct _GList;
struct _GMainContext;
struct _GVariant;
struct _GVariantType;
struct _SecretCollection;
struct _SecretItem;
struct _SecretService;
struct _SecretValue;

// A schema is never given: ours is the attribute xdg:schema. Its structure has no tag, so only the proof can name it.
#ifndef SIGNET_SCHEMA
#define SIGNET_SCHEMA void
#endif

// X(result, name, parameters). gboolean is int, GType and gsize are size_t, GQuark is uint32_t; an enumeration is an unsigned
// int, and an int where it has a negative value.
#define SIGNET_SECRET_FUNCTIONS(X)                                                                                             \
    X(void, g_error_free, (struct _GError *))                                                                                  \
    X(const char *, g_quark_to_string, (uint32_t))                                                                             \
    X(char *, g_strdup, (const char *))                                                                                        \
    X(void, g_free, (void *))                                                                                                  \
    X(unsigned int, g_str_hash, (const void *))                                                                                \
    X(int, g_str_equal, (const void *, const void *))                                                                          \
    X(struct _GHashTable *, g_hash_table_new_full,                                                                             \
      (unsigned int (*)(const void *), int (*)(const void *, const void *), void (*)(void *), void (*)(void *)))               \
    X(int, g_hash_table_insert, (struct _GHashTable *, void *, void *))                                                        \
    X(void, g_hash_table_unref, (struct _GHashTable *))                                                                        \
    X(struct _GList *, g_list_append, (struct _GList *, void *))                                                               \
    X(void *, g_list_nth_data, (struct _GList *, unsigned int))                                                                \
    X(unsigned int, g_list_length, (struct _GList *))                                                                          \
    X(void, g_list_free, (struct _GList *))                                                                                    \
    X(struct _GMainContext *, g_main_context_new, (void))                                                                      \
    X(void, g_main_context_push_thread_default, (struct _GMainContext *))                                                      \
    X(void, g_main_context_pop_thread_default, (struct _GMainContext *))                                                       \
    X(int, g_main_context_iteration, (struct _GMainContext *, int))                                                            \
    X(void, g_main_context_unref, (struct _GMainContext *))                                                                    \
    X(struct _GVariant *, g_variant_new_string, (const char *))                                                                \
    X(struct _GVariant *, g_variant_new_uint32, (uint32_t))                                                                    \
    X(struct _GVariant *, g_variant_new_tuple, (struct _GVariant *const *, size_t))                                            \
    X(struct _GVariant *, g_variant_get_child_value, (struct _GVariant *, size_t))                                             \
    X(const char *, g_variant_get_type_string, (struct _GVariant *))                                                           \
    X(const char *, g_variant_get_string, (struct _GVariant *, size_t *))                                                      \
    X(uint32_t, g_variant_get_uint32, (struct _GVariant *))                                                                    \
    X(void, g_variant_unref, (struct _GVariant *))                                                                             \
    X(void, g_object_unref, (void *))                                                                                          \
    X(struct _GCancellable *, g_cancellable_new, (void))                                                                       \
    X(void, g_cancellable_cancel, (struct _GCancellable *))                                                                    \
    X(struct _GDBusConnection *, g_bus_get_sync, (int, struct _GCancellable *, struct _GError **))                             \
    X(char *, g_dbus_address_get_for_bus_sync, (int, struct _GCancellable *, struct _GError **))                               \
    X(struct _GDBusConnection *, g_dbus_connection_new_for_address_sync,                                                       \
      (const char *, unsigned int, struct _GDBusAuthObserver *, struct _GCancellable *, struct _GError **))                    \
    X(int, g_dbus_connection_close_sync, (struct _GDBusConnection *, struct _GCancellable *, struct _GError **))               \
    X(void, g_dbus_connection_set_exit_on_close, (struct _GDBusConnection *, int))                                             \
    X(struct _GVariant *, g_dbus_connection_call_sync,                                                                         \
      (struct _GDBusConnection *, const char *, const char *, const char *, const char *, struct _GVariant *,                  \
       const struct _GVariantType *, unsigned int, int, struct _GCancellable *, struct _GError **))                            \
    X(const char *, g_dbus_proxy_get_object_path, (struct _GDBusProxy *))                                                      \
    X(size_t, secret_service_get_type, (void))                                                                                 \
    X(struct _SecretService *, secret_service_open_sync,                                                                       \
      (size_t, const char *, unsigned int, struct _GCancellable *, struct _GError **))                                         \
    X(struct _GList *, secret_service_search_sync,                                                                             \
      (struct _SecretService *, const SIGNET_SCHEMA *, struct _GHashTable *, unsigned int, struct _GCancellable *,             \
       struct _GError **))                                                                                                     \
    X(int, secret_service_unlock_sync,                                                                                         \
      (struct _SecretService *, struct _GList *, struct _GCancellable *, struct _GList **, struct _GError **))                 \
    X(struct _SecretCollection *, secret_collection_for_alias_sync,                                                            \
      (struct _SecretService *, const char *, unsigned int, struct _GCancellable *, struct _GError **))                        \
    X(int, secret_collection_get_locked, (struct _SecretCollection *))                                                         \
    X(struct _SecretItem *, secret_item_create_sync,                                                                           \
      (struct _SecretCollection *, const SIGNET_SCHEMA *, struct _GHashTable *, const char *, struct _SecretValue *,           \
       unsigned int, struct _GCancellable *, struct _GError **))                                                               \
    X(int, secret_item_get_locked, (struct _SecretItem *))                                                                     \
    X(struct _SecretValue *, secret_item_get_secret, (struct _SecretItem *))                                                   \
    X(int, secret_item_set_secret_sync,                                                                                        \
      (struct _SecretItem *, struct _SecretValue *, struct _GCancellable *, struct _GError **))                                \
    X(struct _SecretValue *, secret_value_new, (const char *, ptrdiff_t, const char *))                                        \
    X(const char *, secret_value_get, (struct _SecretValue *, size_t *))                                                       \
    X(void, secret_value_unref, (void *))

/// The functions of libsecret and GLib that were found.
struct signet_secret_library {
#define SIGNET_FIELD(result, name, parameters) result(*name) parameters;
    SIGNET_SECRET_FUNCTIONS(SIGNET_FIELD)
#undef SIGNET_FIELD
};

/// How a GError begins; it has no functions that read it.
struct signet_error {
    uint32_t domain;
    int code;
    char *message;
};

/// Loads libsecret once a process and gives its functions, all of them; null when one cannot be had.
const struct signet_secret_library *signet_secret_library(void);

/// Why ``signet_secret_library`` gives null.
const char *signet_secret_library_failure(void);
