#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// How many files this process may have open. The usual number is small for the sake of programs that use `select`, and every connection of
/// a server is one.
enum OpenFiles {
    private static let enough: rlim_t = 1 << 20

    /// As many as the system lets a process ask for. Fewer are no reason not to start.
    static func allowMost() {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, enough))
        setrlimit(resource, &limit)
    }
}
