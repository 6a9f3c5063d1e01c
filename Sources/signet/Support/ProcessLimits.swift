import ArgumentParser
import Foundation
import NIOCore

/// A command that connects to servers or listens, and so starts the event loops of SwiftNIO.
protocol NetworkedCommand: AsyncParsableCommand {}

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
    static func allowOpenFiles() { raiseOpenFiles(to: 1 << 20) }

    /// Checks that the process can open the files that a command needs.
    ///
    /// Dispatch and SwiftNIO end the process by an illegal instruction when the system refuses them a descriptor for their event
    /// loops, so this must come before the first use of either. A limit that is too low is raised if the system allows it.
    /// - Parameter isNetworked: True for a command that starts SwiftNIO's event loops.
    /// - Throws: ``Failure`` with exit code 71.
    static func requireOpenFiles(isNetworked: Bool) throws(Failure) {
        // An event loop of SwiftNIO has three descriptors, and there is one event loop for each processor that the process may use.
        // The rest is for Dispatch, the vault, the key protector and a few connections; those of a server come in addition.
        let needed = 24 + (isNetworked ? 4 * System.coreCount : 0)
        if canOpen(needed) { return }
        raiseOpenFiles(to: rlim_t(4 * needed))
        guard canOpen(needed) else {
            throw Failure(
                .system, "openFiles",
                "this process can't open \(needed) files, which this command needs: raise its limit of open files, such as with"
                    + " 'ulimit -n 1024'")
        }
    }

    private static func canOpen(_ count: Int) -> Bool {
        var descriptors = [open("/dev/null", O_RDONLY | O_CLOEXEC)]
        while let last = descriptors.last, last >= 0, descriptors.count < count {
            descriptors.append(fcntl(last, F_DUPFD_CLOEXEC, 0))
        }
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
        return descriptors.allSatisfy { $0 >= 0 }
    }

    private static func raiseOpenFiles(to count: rlim_t) {
        var limit = rlimit()
        #if canImport(Glibc)
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return }
        limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, count))
        setrlimit(resource, &limit)
    }
}
