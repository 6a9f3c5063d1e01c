import NIOCore

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The user whose process is at the other end of a loopback connection.
///
/// Any user of a machine can connect to its loopback ports. Linux lists the user of each socket in `/proc/net/tcp`
/// (proc_pid_net(5)). Other systems have no such list for other users' processes.
enum LocalPeer: Sendable, Hashable {
    /// The user of this process.
    case sameUser
    /// The superuser: the memory of this process is open to its processes anyway.
    ///
    /// Connections that a virtual machine's host forwards, as with WSL, are the superuser's too.
    case superuser
    case otherUser
    /// The system doesn't say, or the connection has ended.
    case unknown

    /// Returns true if the user at the other end may send a request to a port that waits for a browser.
    ///
    /// A login's answer also comes with its state, which other users don't know. If the state has leaked, another user must not
    /// end this login with a code of their own. A confidential redirect is protected by the user alone.
    /// - Parameter isConfidential: True for a redirect to an address that other users must not read.
    /// - Returns: False for another user, and for an unknown one where the system could tell and the address is confidential.
    func isAccepted(isConfidential: Bool) -> Bool {
        switch self {
        case .sameUser, .superuser: return true
        case .otherUser: return false
        case .unknown:
            #if os(Linux)
            return !isConfidential
            #else
            return true
            #endif
        }
    }

    /// Returns the user at the other end of a channel.
    static func of(_ channel: any Channel) -> LocalPeer {
        guard let here = channel.localAddress, let there = channel.remoteAddress else { return .unknown }
        guard let user = user(ofConnectionFrom: there, to: here) else { return .unknown }
        return user == geteuid() ? .sameUser : user == 0 ? .superuser : .otherUser
    }

    /// Returns the user of the socket that is connected from one address to the other, or nil without such a socket.
    private static func user(ofConnectionFrom there: SocketAddress, to here: SocketAddress) -> uid_t? {
        #if os(Linux)
        let ends = zip(listed(there), listed(here)).map { "\($0) \($1)" }
        return user(of: ends, listedIn: "/proc/net/tcp") ?? user(of: ends, listedIn: "/proc/net/tcp6")
        #else
        return nil
        #endif
    }

    #if os(Linux)
    /// Reads one list of sockets: number, local address, remote address, state, queues, timer, retransmissions, user, ...
    private static func user(of ends: [String], listedIn path: String) -> uid_t? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) >= 0, let text = line {
            let fields = String(cString: text).split(separator: " ", maxSplits: 8)
            // A socket that a process has closed is no longer established, and its user is listed as 0.
            guard fields.count > 8, fields[3] == "01", ends.contains("\(fields[1]) \(fields[2])") else { continue }
            return uid_t(fields[7])
        }
        return nil
    }

    /// Returns the forms in which the lists may have an address: for IPv4 also that of an IPv6 socket (RFC 4291 section 2.5.5.2).
    ///
    /// An address is in the byte order of the machine, in words of 32 bits.
    private static func listed(_ address: SocketAddress) -> [String] {
        guard let text = address.ipAddress, let port = address.port else { return [] }
        let suffix = ":" + hexadecimal(UInt32(port), count: 4)
        var words: [UInt32] = [0, 0, UInt32(0xFFFF).bigEndian, 0]
        if inet_pton(AF_INET, text, &words[3]) == 1 {
            return [hexadecimal(words[3], count: 8) + suffix, words.map { hexadecimal($0, count: 8) }.joined() + suffix]
        }
        guard inet_pton(AF_INET6, text, &words) == 1 else { return [] }
        return [words.map { hexadecimal($0, count: 8) }.joined() + suffix]
    }

    private static func hexadecimal(_ value: UInt32, count: Int) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
    #endif
}
