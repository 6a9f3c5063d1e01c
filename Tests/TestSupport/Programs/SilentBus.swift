#if os(Linux)
import Foundation

/// The beginning of a D-Bus daemon: it accepts the connection of one client, and answers none of its messages.
///
/// It ends with its client, or with the process of the tests.
package struct SilentBus {
    /// The path of the socket.
    package let path: String

    /// An error that reports that no socket listens at the path.
    package struct CannotListen: Error {}

    /// Starts to listen.
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - authenticates: True to answer the client until it is authenticated, with the protocol of the D-Bus specification; false
    ///     to answer nothing at all.
    /// - Throws: ``CannotListen``.
    package init(path: String, authenticates: Bool = true) throws {
        self.path = path
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isBound, listen(listener, 1) == 0 else {
            close(listener)
            throw CannotListen()
        }
        Thread.detachNewThread {
            let client = accept(listener, nil, nil)
            close(listener)
            Self.serve(client, authenticates)
        }
    }

    private static func serve(_ client: Int32, _ authenticates: Bool) {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(client, &buffer, buffer.count)
            guard count > 0 else { break }
            guard authenticates else { continue }
            let words = String(decoding: buffer[..<count], as: UTF8.self)
            guard let answer = answer(to: words) else { continue }
            _ = Array(answer.utf8).withUnsafeBytes { write(client, $0.baseAddress, $0.count) }
        }
        close(client)
    }

    private static func answer(to words: String) -> String? {
        if words.contains("NEGOTIATE_UNIX_FD") { return "AGREE_UNIX_FD\r\n" }
        if words.contains("AUTH EXTERNAL\r\n") { return "DATA\r\n" }
        if words.contains("AUTH EXTERNAL") || words.hasPrefix("DATA") { return "OK 0123456789abcdef0123456789abcdef\r\n" }
        if words.contains("AUTH\r\n") { return "REJECTED EXTERNAL\r\n" }
        return nil
    }
}
#endif
