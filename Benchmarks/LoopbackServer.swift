import Foundation
import Glibc
import SignetCore

/// An HTTP server that answers every request with `200 {}`, or what it is told to, and looks at nothing but its first line and its
/// length: real sockets, and the least work a server can have, so that neither side of a comparison is flattered by what both wait
/// for.
final class LoopbackServer: Sendable {
    /// The port it listens on.
    let port: UInt16
    /// The number of requests that it has answered.
    let requests = Mutex(0)
    private let listener: Int32
    private let answer: @Sendable (_ line: String) -> [UInt8]

    /// A response with JSON.
    static func response(_ json: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n\r\n\(json)".utf8)
    }

    /// Starts a server on a free port of 127.0.0.1, with a thread for each connection.
    convenience init() throws {
        let response = Self.response("{}")
        try self.init { _ in response }
    }

    /// Starts a server like ``init()``, with other responses.
    /// - Parameter answer: Returns the whole response to a request with this first line.
    /// - Throws: ``BenchError`` when no socket can listen on 127.0.0.1.
    init(_ answer: @escaping @Sendable (_ line: String) -> [UInt8]) throws {
        self.answer = answer
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) | listen(listener, 8) | getsockname(listener, address, &length)
            }
        }
        self.listener = listener
        port = UInt16(bigEndian: address.sin_port)
        guard status == 0 else { throw BenchError("no socket on 127.0.0.1") }
        Thread.detachNewThread { [self] in
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    /// Takes no more connections.
    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    /// Answers the requests of one connection until the client closes it.
    private func serve(_ connection: Int32) {
        var enabled: Int32 = 1
        setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &enabled, socklen_t(MemoryLayout<Int32>.size))
        var pending: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = read(connection, &chunk, chunk.count)
            guard count > 0 else { break }
            pending += chunk[..<count]
            while let length = Self.requestLength(pending), length <= pending.count {
                let response = answer(String(decoding: pending.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self))
                pending.removeFirst(length)
                requests.withLock { $0 += 1 }
                _ = response.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
        }
        close(connection)
    }

    /// The length of the request that `bytes` begin with, once its head is complete.
    private static func requestLength(_ bytes: [UInt8]) -> Int? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let fields = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).lowercased().split(separator: "\r\n")
        let length = fields.first { $0.hasPrefix("content-length:") }?.split(separator: ":").last
        return end.upperBound + (length.flatMap { Int($0.trimmingCharacters(in: .whitespaces)) } ?? 0)
    }
}
