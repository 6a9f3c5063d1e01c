#pragma once

// The functions of libfido2 that Signet calls. They are looked up when a security key is first used, never linked: a program
// starts on a machine without the library, and builds on one without its headers. So the prototypes are repeated here, from
// libfido2 1.12. Tests/FIDO2Prototypes compiles this list against the headers of libfido2: a prototype that differs is an error
// there.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fido_assert;
struct fido_cred;
struct fido_dev;
struct fido_dev_info;

/// The functions that read and write the reports of a security key (`fido_dev_io_t`).
struct cfido2_io {
    void *(*open)(const char *path);
    void (*close)(void *handle);
    int (*read)(void *handle, unsigned char *bytes, size_t count, int milliseconds);
    int (*write)(void *handle, const unsigned char *bytes, size_t count);
};

// The test defines it, and has the type of libfido2 instead.
#ifndef CFIDO2_IO
#define CFIDO2_IO struct cfido2_io
#endif

// X(result, name, parameters). An enumeration without a negative value is an unsigned int.
#define CFIDO2_FUNCTIONS(X)                                                                                                    \
    X(void, fido_init, (int))                                                                                                  \
    X(const char *, fido_strerr, (int))                                                                                        \
    X(struct fido_dev_info *, fido_dev_info_new, (size_t))                                                                     \
    X(void, fido_dev_info_free, (struct fido_dev_info **, size_t))                                                             \
    X(int, fido_dev_info_manifest, (struct fido_dev_info *, size_t, size_t *))                                                 \
    X(const struct fido_dev_info *, fido_dev_info_ptr, (const struct fido_dev_info *, size_t))                                 \
    X(const char *, fido_dev_info_path, (const struct fido_dev_info *))                                                        \
    X(const char *, fido_dev_info_manufacturer_string, (const struct fido_dev_info *))                                         \
    X(const char *, fido_dev_info_product_string, (const struct fido_dev_info *))                                              \
    X(struct fido_dev *, fido_dev_new, (void))                                                                                 \
    X(void, fido_dev_free, (struct fido_dev **))                                                                               \
    X(int, fido_dev_set_io_functions, (struct fido_dev *, const CFIDO2_IO *))                                                  \
    X(int, fido_dev_set_timeout, (struct fido_dev *, int))                                                                     \
    X(int, fido_dev_open, (struct fido_dev *, const char *))                                                                   \
    X(int, fido_dev_close, (struct fido_dev *))                                                                                \
    X(int, fido_dev_cancel, (struct fido_dev *))                                                                               \
    X(bool, fido_dev_is_fido2, (const struct fido_dev *))                                                                      \
    X(bool, fido_dev_has_pin, (const struct fido_dev *))                                                                       \
    X(bool, fido_dev_has_uv, (const struct fido_dev *))                                                                        \
    X(int, fido_dev_get_retry_count, (struct fido_dev *, int *))                                                               \
    X(struct fido_cred *, fido_cred_new, (void))                                                                               \
    X(void, fido_cred_free, (struct fido_cred **))                                                                             \
    X(int, fido_cred_set_type, (struct fido_cred *, int))                                                                      \
    X(int, fido_cred_set_clientdata_hash, (struct fido_cred *, const unsigned char *, size_t))                                 \
    X(int, fido_cred_set_rp, (struct fido_cred *, const char *, const char *))                                                 \
    X(int, fido_cred_set_user,                                                                                                 \
      (struct fido_cred *, const unsigned char *, size_t, const char *, const char *, const char *))                           \
    X(int, fido_cred_set_rk, (struct fido_cred *, unsigned int))                                                               \
    X(int, fido_cred_set_uv, (struct fido_cred *, unsigned int))                                                               \
    X(int, fido_cred_exclude, (struct fido_cred *, const unsigned char *, size_t))                                             \
    X(int, fido_dev_make_cred, (struct fido_dev *, struct fido_cred *, const char *))                                          \
    X(const char *, fido_cred_fmt, (const struct fido_cred *))                                                                 \
    X(const unsigned char *, fido_cred_authdata_raw_ptr, (const struct fido_cred *))                                           \
    X(size_t, fido_cred_authdata_raw_len, (const struct fido_cred *))                                                          \
    X(const unsigned char *, fido_cred_attstmt_ptr, (const struct fido_cred *))                                                \
    X(size_t, fido_cred_attstmt_len, (const struct fido_cred *))                                                               \
    X(const unsigned char *, fido_cred_id_ptr, (const struct fido_cred *))                                                     \
    X(size_t, fido_cred_id_len, (const struct fido_cred *))                                                                    \
    X(struct fido_assert *, fido_assert_new, (void))                                                                           \
    X(void, fido_assert_free, (struct fido_assert **))                                                                         \
    X(int, fido_assert_set_clientdata_hash, (struct fido_assert *, const unsigned char *, size_t))                             \
    X(int, fido_assert_set_rp, (struct fido_assert *, const char *))                                                           \
    X(int, fido_assert_allow_cred, (struct fido_assert *, const unsigned char *, size_t))                                      \
    X(int, fido_assert_set_uv, (struct fido_assert *, unsigned int))                                                           \
    X(int, fido_dev_get_assert, (struct fido_dev *, struct fido_assert *, const char *))                                       \
    X(size_t, fido_assert_count, (const struct fido_assert *))                                                                 \
    X(const unsigned char *, fido_assert_authdata_ptr, (const struct fido_assert *, size_t))                                   \
    X(size_t, fido_assert_authdata_len, (const struct fido_assert *, size_t))                                                  \
    X(const unsigned char *, fido_assert_sig_ptr, (const struct fido_assert *, size_t))                                        \
    X(size_t, fido_assert_sig_len, (const struct fido_assert *, size_t))                                                       \
    X(const unsigned char *, fido_assert_id_ptr, (const struct fido_assert *, size_t))                                         \
    X(size_t, fido_assert_id_len, (const struct fido_assert *, size_t))                                                        \
    X(const unsigned char *, fido_assert_user_id_ptr, (const struct fido_assert *, size_t))                                    \
    X(size_t, fido_assert_user_id_len, (const struct fido_assert *, size_t))                                                   \
    X(const char *, fido_assert_user_name, (const struct fido_assert *, size_t))                                               \
    X(const char *, fido_assert_user_display_name, (const struct fido_assert *, size_t))

/// The functions of libfido2 that were found.
struct cfido2_functions {
#define CFIDO2_FIELD(result, name, parameters) result(*name) parameters;
    CFIDO2_FUNCTIONS(CFIDO2_FIELD)
#undef CFIDO2_FIELD
};

/// Loads libfido2 once a process and returns its functions, all of them; null when one cannot be found.
const struct cfido2_functions *cfido2_load(void);

/// The reason for which ``cfido2_load`` returns null.
const char *cfido2_failure(void);
