import Foundation

/// The limits of this process.
enum ProcessLimits {
    /// Disables core dumps, so that a crash doesn't write keys to a file.
    ///
    /// If that fails, the program continues nevertheless.
    static func disableCoreDumps() {
        var none = rlimit(rlim_cur: 0, rlim_max: 0)
        #if canImport(Glibc)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
        #else
        setrlimit(RLIMIT_CORE, &none)
        #endif
    }

    /// Raises the limit of open files as far as the system allows.
    ///
    /// Its default is small for the sake of programs that use `select`, but each connection of a server needs a file descriptor.
    /// If that fails, the server starts with the lower limit.
    static func allowOpenFiles() {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, 1 << 20))
        setrlimit(resource, &limit)
    }
}
