import AgentWire
import Foundation
import SignetCore
import SignetStorage

/// The listening socket of the agent.
///
/// systemd hands over a socket that it has made (sd_listen_fds(3)); otherwise the agent makes one in a directory of mode 0700.
final class AgentListener: Sendable {
    /// The descriptor of the socket.
    let descriptor: Int32
    /// The path to remove at the end; nil for a socket of systemd.
    private let path: String?
    /// The descriptor of the locked file that prevents a second agent; nil for a socket of systemd.
    private let lock: Int32?

    private init(descriptor: Int32, path: String?, lock: Int32?) {
        self.descriptor = descriptor
        self.path = path
        self.lock = lock
    }

    /// Opens the socket.
    /// - Parameter environment: The environment variables of the process.
    /// - Returns: The socket, at which clients can connect.
    /// - Throws: ``Failure`` when `SIGNET_AGENT` is not a path, when no directory for the socket is known or safe, and when another agent runs.
    static func open(_ environment: [String: String]) throws -> AgentListener {
        if let descriptor = try inherited(environment) { return AgentListener(descriptor: descriptor, path: nil, lock: nil) }
        guard let path = AgentSocket.path({ environment[$0] }) else { throw noPath(environment) }
        try makeDirectory(of: path)
        let lock = try locked(path + ".lock")
        do {
            return AgentListener(descriptor: try bound(path), path: path, lock: lock)
        } catch {
            close(lock)
            throw error
        }
    }

    /// Returns the failure for an environment that names no socket.
    private static func noPath(_ environment: [String: String]) -> Failure {
        if AgentSocket.isOff({ environment[$0] }) {
            return Failure(
                .usage, "agent.off", "SIGNET_AGENT=off is set, which turns the agent off: unset SIGNET_AGENT to start one")
        }
        guard environment[AgentSocket.variable, default: ""].isEmpty else {
            return Failure(
                .usage, "agent.path",
                "SIGNET_AGENT is neither 'off' nor an absolute path, such as /run/user/1000/other/agent.sock")
        }
        return Failure(
            .system, "agent.noDirectory",
            "no directory for the socket is known: XDG_RUNTIME_DIR, which a session of systemd has, is not set; "
                + "\(AgentSocket.variable) names the socket's path")
    }

    /// Removes a socket that the agent has made.
    func remove() {
        guard let path, let lock else { return }
        unlink(path)
        close(lock)
    }

    /// Returns the socket that systemd hands over; nil without one.
    private static func inherited(_ environment: [String: String]) throws -> Int32? {
        guard let process = environment["LISTEN_PID"], process == "\(getpid())", let count = environment["LISTEN_FDS"] else {
            return nil
        }
        guard count == "1" else {
            throw Failure(.system, "agent.socket", "systemd hands over \(count) sockets, and the agent has one")
        }
        let first: Int32 = 3
        _ = fcntl(first, F_SETFD, FD_CLOEXEC)
        return first
    }

    /// Makes the directory of the socket, and requires that no other user can enter it.
    private static func makeDirectory(of path: String) throws {
        let directory = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
        mkdir(directory, 0o700)
        guard let status = FileStatus(at: directory), status.isDirectory, status.isOwn, status.permissions & 0o077 == 0 else {
            throw Failure(
                .notAllowed, "agent.directory",
                "\(directory) must be a directory of yours that other users cannot enter (mode 0700)")
        }
    }

    private static func locked(_ path: String) throws -> Int32 {
        let lock = Foundation.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else { throw failure("\(path) cannot be opened") }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw running
        }
        return lock
    }

    private static func bound(_ path: String) throws -> Int32 {
        guard let descriptor = AgentSocket.new() else { throw failure("the socket cannot be made") }
        // The lock is held, so a socket that is there was left by an agent that was killed. Another file is there when SIGNET_AGENT
        // names it by mistake.
        if let status = FileStatus(at: path), status.isFile || status.isDirectory || status.isLink {
            close(descriptor)
            throw Failure(.notAllowed, "agent.path", "\(path) is not a socket, and was left as it is")
        }
        guard !hasListener(path) else {
            close(descriptor)
            throw running
        }
        unlink(path)
        guard let result = AgentSocket.withAddress(path, { bind(descriptor, $0, $1) }) else {
            close(descriptor)
            throw Failure(.badInput, "agent.path", "the path of the socket is too long: \(path)")
        }
        guard result == 0, chmod(path, 0o600) == 0, listen(descriptor, 64) == 0 else {
            defer { close(descriptor) }
            throw failure("the socket \(path) cannot be opened")
        }
        return descriptor
    }

    /// Returns true when a process listens at a path, such as systemd, whose agent holds no lock.
    private static func hasListener(_ path: String) -> Bool {
        guard let descriptor = AgentSocket.new() else { return false }
        defer { close(descriptor) }
        return AgentSocket.withAddress(path) { connect(descriptor, $0, $1) } == 0
    }

    private static var running: Failure {
        Failure(.busy, "agent.running", "an agent is running already; 'signet agent status' reports its state")
    }

    private static func failure(_ message: String) -> Failure {
        Failure(.system, "agent.socket", "\(message): \(String(cString: strerror(errno)))")
    }
}
