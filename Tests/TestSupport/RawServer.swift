#if os(Linux)
import Foundation
import Glibc
import SignetCore

/// A TCP server on the loopback address with responses that a test chooses freely.
///
/// It simulates invalid servers.
package final class RawServer: Sendable {
    package let port: Int
    private let listening: Listening

    /// A listening socket.
    ///
    /// The lock ensures that the socket is not shut down after it was closed, because the system soon reuses a closed descriptor.
    private final class Listening: Sendable {
        let descriptor: Int32
        private let isOpen = Mutex(true)

        init(_ descriptor: Int32) { self.descriptor = descriptor }

        func stop() {
            isOpen.withLock { if $0 { _ = shutdown(descriptor, Int32(SHUT_RDWR)) } }
        }

        func close() {
            isOpen.withLock { isOpen in
                isOpen = false
                _ = Foundation.close(descriptor)
            }
        }
    }

    package struct CannotListen: Error {}

    /// Creates a server that calls `serve` for every connection, on a separate thread, and closes the connection afterwards.
    /// - Parameters:
    ///   - reserved: The port; nil for any free port.
    ///   - serve: The closure that handles a connection.
    /// - Throws: ``CannotListen``.
    package init(port reserved: ReservedPort? = nil, _ serve: @escaping @Sendable (RawConnection) -> Void) throws {
        let (descriptor, port) = try Self.bound(to: reserved?.number ?? 0, isShared: true)
        guard listen(descriptor, 64) == 0 else { throw CannotListen() }
        self.port = port
        let listening = Listening(descriptor)
        self.listening = listening
        Thread.detachNewThread {
            while case let connection = accept(descriptor, nil, nil), connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread {
                    serve(RawConnection(descriptor: connection))
                    shutdown(connection, Int32(SHUT_RDWR))
                    close(connection)
                }
            }
            listening.close()
        }
    }

    /// Returns a socket that is bound to a port and does not listen yet.
    /// - Parameters:
    ///   - wanted: The port; 0 for any free port.
    ///   - isShared: True when the port may be reused while connections of an earlier server linger.
    /// - Returns: The descriptor, which the caller closes, and the port.
    /// - Throws: ``CannotListen``.
    static func bound(to wanted: Int = 0, isShared: Bool) throws -> (descriptor: Int32, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var reuse: Int32 = isShared ? 1 : 0
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(wanted).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port: in_port_t? = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            } ? in_port_t(bigEndian: $0.pointee.sin_port) : nil
        }
        guard let port else { throw CannotListen() }
        return (descriptor, Int(port))
    }

    /// Stops listening.
    ///
    /// New connections are refused.
    package func stop() { listening.stop() }
    deinit { stop() }
}

/// A port of the loopback interface that belongs to a test for the lifetime of this object.
///
/// Connections are refused while no server listens on it. The test's servers can listen on it one after the other; the system
/// gives it to no other program.
package final class ReservedPort: Sendable {
    /// The number of the port.
    package let number: Int
    private let descriptor: Int32

    /// Reserves a free port.
    /// - Throws: ``RawServer/CannotListen``.
    package init() throws {
        // The address is not reusable while the port is chosen, so that no other socket has it. It becomes reusable afterwards:
        // then a server that sets `SO_REUSEADDR`, as every one here does, can bind it beside this socket, which never listens.
        (descriptor, number) = try RawServer.bound(isShared: false)
        var reuse: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuse, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }
}

/// A port of this machine whose listen queue is full: new connections wait and are never accepted.
package final class FullPort: Sendable {
    package let port: Int
    private let descriptors: [Int32]

    package init() throws {
        let (descriptor, port) = try RawServer.bound(isShared: false)
        self.port = port
        guard listen(descriptor, 0) == 0 else { throw RawServer.CannotListen() }
        // The first connection fills the queue, and the second one ensures that it is full.
        descriptors = [descriptor] + (0..<2).map { _ in Self.waiting(at: port) }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    /// Starts a connection without waiting for it.
    private static func waiting(at port: Int) -> Int32 {
        let descriptor = socket(
            AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }
}

/// A connection of a ``RawServer``.
package struct RawConnection: Sendable, Equatable {
    fileprivate let descriptor: Int32

    /// A request: the request line, the header section in lower case, and the body.
    package struct Request: Sendable {
        package let line: String
        package let head: String
        package let body: String
        /// The header section as it was sent.
        fileprivate let sentHead: String

        /// Returns the value of a header field, in lower case.
        ///
        /// The name must be in lower case.
        package func header(_ name: String) -> String? { Self.value(of: name, in: head) }

        /// Returns the value of a header field as it was sent.
        ///
        /// The name must be in lower case.
        package func sentHeader(_ name: String) -> String? { Self.value(of: name, in: sentHead) }

        private static func value(of name: String, in head: String) -> String? {
            head.split(separator: "\r\n").first { $0.prefix(name.count + 1).lowercased() == name + ":" }.map {
                $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// Returns the next request; nil when the client has closed the connection.
    package func request() -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let text = String(decoding: bytes, as: UTF8.self)
            if let end = text.firstRange(of: "\r\n\r\n") {
                let head = String(text[..<end.lowerBound])
                let request = Request(
                    line: String(text.prefix { $0 != "\r\n" }), head: head.lowercased(), body: String(text[end.upperBound...]),
                    sentHead: head)
                if request.body.utf8.count >= request.header("content-length").flatMap({ Int($0) }) ?? 0 { return request }
            }
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
        }
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    fileprivate func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Sends a complete response.
    package func answer(_ status: String, headers: [String] = [], _ body: String = "") {
        send(
            (["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers).joined(separator: "\r\n") + "\r\n\r\n" + body
        )
    }

    /// Shuts the connection down in both directions.
    package func cut() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Ends the connection with a reset, as a machine does that does not know the connection.
    package func reset() {
        var unspecified = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        _ = connect(descriptor, &unspecified, socklen_t(MemoryLayout<sockaddr>.size))
    }

    /// Waits until the client closes the connection.
    package func waitForEnd() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
    }
}

/// A TCP connection to this machine, for requests that an HTTP client cannot send.
package final class ClientSocket: Sendable {
    private let connection: RawConnection

    package struct NoListener: Error {}

    /// Connects to a port of this machine.
    /// - Parameters:
    ///   - port: The port.
    ///   - timeout: The read timeout in seconds.
    /// - Throws: ``NoListener`` when the connection fails.
    package init(port: Int, timeout: Int = 10) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: timeout, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        connection = RawConnection(descriptor: descriptor)
        guard status == 0 else { throw NoListener() }
    }

    deinit { Foundation.close(connection.descriptor) }

    /// Shuts the connection down in both directions.
    package func close() { connection.cut() }

    package func send(_ text: String) { connection.send(text) }

    package func send(_ bytes: [UInt8]) { connection.send(bytes) }

    /// Closes the sending direction.
    package func endSending() { shutdown(connection.descriptor, Int32(SHUT_WR)) }

    /// Waits for bytes and returns them; empty when the connection has ended, and nil after the timeout.
    package func bytes() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        if count < 0, errno == EAGAIN { return nil }
        return Array(buffer[..<max(0, count)])
    }

    /// Sends bytes, closes the sending direction, and reads until the server closes the connection.
    ///
    /// Returns nil when the server does not close it in time.
    package func exchange(_ request: [UInt8]) -> String? {
        // A server may close the connection before it has read the whole request. That isn't an error here.
        connection.send(request)
        endSending()
        var answer: [UInt8] = []
        while let piece = bytes() {
            guard !piece.isEmpty else { return String(decoding: answer, as: UTF8.self) }
            answer += piece
        }
        return nil
    }

    /// Reads a response whose body is as long as its header section says.
    package func receive() -> String {
        connection.request().map { "\($0.line)\r\n\r\n\($0.body)" } ?? ""
    }
}
#endif
