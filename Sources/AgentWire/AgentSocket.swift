#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// The Unix socket of `signet agent`.
///
/// It is in a directory of mode 0700 in `$XDG_RUNTIME_DIR`, which the system empties when the user logs out. Client and agent both
/// require that the peer is a process of the same user.
package enum AgentSocket {
    /// The environment variable with another path of the socket, or with `off` for commands that do not ask an agent.
    package static let variable = "SIGNET_AGENT"

    /// Returns the path of the socket.
    /// - Parameter value: Returns the value of an environment variable.
    /// - Returns: The path; nil when `SIGNET_AGENT` is `off`, and when no directory for the socket is known.
    package static func path(_ value: (String) -> String?) -> String? {
        if let chosen = value(variable), !chosen.isEmpty { return chosen.hasPrefix("/") ? chosen : nil }
        guard let runtime = value("XDG_RUNTIME_DIR"), runtime.hasPrefix("/") else { return nil }
        return runtime + "/signet/agent.sock"
    }

    /// Calls `body` with the address of a socket.
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - body: Uses the address, which is not valid after the call.
    /// - Returns: The result of `body`; nil when the path is longer than an address can be, which is 107 bytes on Linux.
    package static func withAddress<R>(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// Returns true when `SIGNET_AGENT` turns the agent off.
    /// - Parameter value: Returns the value of an environment variable.
    /// - Returns: True for `off`.
    package static func isOff(_ value: (String) -> String?) -> Bool { value(variable) == "off" }

    /// Returns the user of the process at the other end of a connection; nil when the system does not tell.
    package static func peerUser(of descriptor: Int32) -> uid_t? {
        #if canImport(Darwin)
        var (user, group): (uid_t, gid_t) = (0, 0)
        return getpeereid(descriptor, &user, &group) == 0 ? user : nil
        #else
        var credentials = PeerCredentials()
        var length = socklen_t(MemoryLayout<PeerCredentials>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else { return nil }
        return credentials.user
        #endif
    }

    /// Creates a stream socket that child processes do not inherit; returns nil when that fails.
    package static func new() -> Int32? {
        #if canImport(Glibc)
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { return nil }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        // Darwin has no MSG_NOSIGNAL: a write to a connection that the agent has closed would end the process.
        var isOn: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return descriptor
    }
}

/// The answer to `SO_PEERCRED` (unix(7), `struct ucred`), which Glibc declares for GNU sources only.
package struct PeerCredentials: Sendable {
    /// The process at the other end.
    package var process: pid_t = 0
    /// Its effective user.
    package var user: uid_t = uid_t.max
    /// Its effective group.
    package var group: gid_t = gid_t.max

    /// Creates values that no process has.
    package init() {}
}
