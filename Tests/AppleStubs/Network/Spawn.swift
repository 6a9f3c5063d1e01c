// The names are Apple's, and documented there.
// swift-format-ignore-file: AlwaysUseLowerCamelCase, TypeNamesShouldBeCapitalized, NoLeadingUnderscores

import Glibc

// The part of Apple's spawn.h, signal.h and crt_externs.h that the Apple sources use and that is different in Glibc: for the type
// check only. Declarations of the module that is checked take precedence over those of Glibc, which the sources import on Linux.
// Swift imports functions of C as discardable.

typealias posix_spawn_file_actions_t = UnsafeMutableRawPointer
typealias posix_spawnattr_t = UnsafeMutableRawPointer
typealias sigset_t = UInt32
typealias mode_t = UInt16

func _NSGetEnviron() -> UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?> { .allocate(capacity: 1) }

@discardableResult func posix_spawn_file_actions_init(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>) -> Int32 {
    ENOTSUP
}
@discardableResult func posix_spawn_file_actions_destroy(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>) -> Int32 {
    ENOTSUP
}
@discardableResult func posix_spawn_file_actions_addopen(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ path: UnsafePointer<CChar>,
    _ flags: Int32, _ mode: mode_t
) -> Int32 { ENOTSUP }

@discardableResult func posix_spawn_file_actions_adddup2(
    _ actions: UnsafeMutablePointer<posix_spawn_file_actions_t?>, _ descriptor: Int32, _ new: Int32
) -> Int32 { ENOTSUP }

@discardableResult func posix_spawnattr_init(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>) -> Int32 { ENOTSUP }
@discardableResult func posix_spawnattr_destroy(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>) -> Int32 { ENOTSUP }
@discardableResult func posix_spawnattr_setsigmask(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ signals: UnsafePointer<sigset_t>
) -> Int32 { ENOTSUP }
@discardableResult func posix_spawnattr_setsigdefault(
    _ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ signals: UnsafePointer<sigset_t>
) -> Int32 { ENOTSUP }
@discardableResult func posix_spawnattr_setflags(_ attributes: UnsafeMutablePointer<posix_spawnattr_t?>, _ flags: Int16) -> Int32
{ ENOTSUP }

@discardableResult func sigemptyset(_ signals: UnsafeMutablePointer<sigset_t>) -> Int32 { ENOTSUP }
@discardableResult func sigfillset(_ signals: UnsafeMutablePointer<sigset_t>) -> Int32 { ENOTSUP }

func posix_spawnp(
    _ child: UnsafeMutablePointer<pid_t>, _ program: UnsafePointer<CChar>,
    _ actions: UnsafePointer<posix_spawn_file_actions_t?>, _ attributes: UnsafePointer<posix_spawnattr_t?>,
    _ arguments: UnsafePointer<UnsafeMutablePointer<CChar>?>, _ environment: UnsafePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 { ENOTSUP }
