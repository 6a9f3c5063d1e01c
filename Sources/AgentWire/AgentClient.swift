#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A client of `signet agent`.
package struct AgentClient: Sendable {
    /// The path of the agent's socket.
    package let path: String

    /// The time to wait for the result of an operation, in seconds.
    ///
    /// It includes the time in which the user confirms the operation.
    package static let operationTimeout = 120
    /// The time to wait for the state of an agent, and for a code for which the user is not asked, in seconds.
    package static let statusTimeout = 2

    /// Creates a client.
    package init(path: String) { self.path = path }

    /// The failure of a request.
    package enum Failure: Error, Sendable, Hashable {
        /// No agent listens, or the process that listens is not one of the user: the operation was not begun.
        case noAgent
        /// The connection ended before the reply: the agent may have performed the operation.
        case interrupted
        /// The reply did not come in time: the agent may still perform the operation.
        case timedOut
        /// The reply has another format: the agent may have performed the operation.
        case unreadable
    }

    /// Sends a request over a connection of its own, and returns the reply.
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: The time to wait for the reply, in seconds.
    /// - Returns: The reply.
    /// - Throws: ``Failure``.
    package func reply(
        to request: AgentRequest, within timeout: Int = AgentClient.operationTimeout
    ) throws(Failure) -> AgentReply {
        try AgentLink(self, within: timeout).reply(to: request)
    }
}

/// A connection to `signet agent`.
///
/// The agent ends it after the reply, unless the request is one of a view. A view asks again and again, and the consent that the
/// user gave to its first request counts as long as its connection. Requests are sent one after the other: the caller waits for
/// the reply before the next one.
package final class AgentLink: Sendable {
    /// The failure of a request.
    package typealias Failure = AgentClient.Failure

    private let descriptor: Int32

    /// Connects to an agent.
    /// - Parameters:
    ///   - client: The client, which names the socket.
    ///   - timeout: The time to wait for each reply, in seconds.
    /// - Throws: ``AgentClient/Failure/noAgent``.
    package init(_ client: AgentClient, within timeout: Int = AgentClient.operationTimeout) throws(Failure) {
        descriptor = try Self.connected(client.path, timeout)
    }

    deinit { close(descriptor) }

    /// Sends a request and returns the reply.
    /// - Throws: ``AgentClient/Failure``.
    package func reply(to request: AgentRequest) throws(Failure) -> AgentReply {
        let sending = request.beginning.withUnsafeBytes { bytes in Result { () throws(Failure) in try send(bytes) } }
        try sending.get()
        try request.secret?.withUnsafeBytes { bytes throws(Failure) in try send(bytes) }
        guard let length = AgentMessage.length(try read(4)), length <= AgentMessage.maxReplyLength,
            let message = AgentMessage(body: try read(length)), let reply = AgentReply(message)
        else { throw .unreadable }
        return reply
    }

    private static func connected(_ path: String, _ timeout: Int) throws(Failure) -> Int32 {
        guard let descriptor = AgentSocket.new() else { throw .noAgent }
        var limit = timeval()
        limit.tv_sec = .init(timeout)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let result = AgentSocket.withAddress(path) { connect(descriptor, $0, $1) }
        guard result == 0, AgentSocket.peerUser(of: descriptor) == getuid() else {
            close(descriptor)
            throw .noAgent
        }
        return descriptor
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            // Without SIGPIPE, which would end the process when the agent has closed the connection.
            let count = Self.send(descriptor, bytes.baseAddress?.advanced(by: sent), bytes.count - sent)
            if count < 0, errno == EINTR { continue }
            // A part of a request is not performed.
            guard count > 0 else { throw .noAgent }
            sent += count
        }
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
        #if canImport(Darwin)
        systemSend(descriptor, bytes, count, 0)
        #else
        systemSend(descriptor, bytes, count, Int32(MSG_NOSIGNAL))
        #endif
    }

    private func read(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var received = 0
        while received < count {
            let result = bytes.withUnsafeMutableBytes { bytes in
                recv(descriptor, bytes.baseAddress?.advanced(by: received), count - received, 0)
            }
            if result < 0, errno == EINTR { continue }
            if result < 0, errno == EAGAIN || errno == EWOULDBLOCK { throw .timedOut }
            guard result > 0 else { throw .interrupted }
            received += result
        }
        return bytes
    }
}

/// Calls `send(2)`; a global function, because ``AgentLink`` has functions of that name.
private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}
