import AgentWire
import Foundation

/// The process at the other end of a connection to the agent.
struct AgentPeer: Sendable, Hashable {
    /// The ID of the process when it connected (SO_PEERCRED).
    let process: pid_t
    /// The time at which the process started, in clock ticks since the start of the system.
    ///
    /// With it, a later process with the same ID is not taken for the client.
    let startTime: UInt64

    /// Describes the client of a connection; nil when its process has ended.
    init?(_ credentials: PeerCredentials) {
        guard let status = try? String(contentsOfFile: "/proc/\(credentials.process)/stat", encoding: .utf8),
            let startTime = Self.startTime(in: status)
        else { return nil }
        self.init(process: credentials.process, startTime: startTime)
    }

    /// Creates the description of a process.
    init(process: pid_t, startTime: UInt64) {
        self.process = process
        self.startTime = startTime
    }

    /// Returns the field 22 of `/proc/PID/stat` (proc_pid_stat(5)); nil for a text of another form.
    ///
    /// The field 2 is the name of the program in parentheses, and a name can contain spaces and parentheses.
    static func startTime(in status: String) -> UInt64? {
        guard let end = status.lastIndex(of: ")") else { return nil }
        let fields = status[status.index(after: end)...].split(separator: " ")
        let index = 22 - 3
        return fields.indices.contains(index) ? UInt64(fields[index]) : nil
    }
}
