import NIOCore
import NIOHTTP1
import NIOPosix
import SignetCore
import Synchronization

/// One port of this machine, open for the answer of one login (RFC 8252 section 7.3).
package final class LoopbackListener: Sendable {
    /// Why there is no answer.
    package enum Failure: Error, Sendable, Hashable {
        /// The redirect address is none that can be listened at.
        case address(String)
        case timeout
        case cancelled
    }

    /// The redirect address with its port.
    package let redirectURI: String
    private let channel: any Channel
    private let desk: Desk

    /// Opens the port of a redirect address, or one that is free where it names none.
    /// - Throws: ``Failure/address(_:)``.
    package static func listening(at redirectURI: String) async throws -> LoopbackListener {
        guard let endpoint = try? Endpoint(redirectURI), endpoint.scheme == "http", EndpointPolicy.isLoopback(endpoint.host)
        else { throw Failure.address("the redirect address must be http on the loopback, such as http://127.0.0.1/callback") }
        let afterScheme = redirectURI.dropFirst("http://".count)
        let authority = afterScheme.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let namesPort = authority.split(separator: "]").last?.contains(":") ?? false
        let port = namesPort ? endpoint.port : 0
        let rest = afterScheme.dropFirst(authority.count)
        let path = rest.isEmpty ? "/" : String(rest.prefix { $0 != "?" && $0 != "#" })
        let host = Self.name(endpoint.host)
        let desk = Desk(host: host, path: path)
        do {
            let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                        try channel.pipeline.syncOperations.addHandler(Visitor(desk: desk))
                    }
                }
                // A name is not looked up: whoever answers for it could be another machine.
                .bind(host: endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host, port: port).get()
            return LoopbackListener(
                channel: channel, desk: desk,
                redirectURI: "http://\(host):\(channel.localAddress?.port ?? port)\(rest)")
        } catch {
            throw Failure.address("port \(port) of \(endpoint.host) cannot be opened; is another login under way?")
        }
    }

    private static func name(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    private init(channel: any Channel, desk: Desk, redirectURI: String) {
        self.channel = channel
        self.desk = desk
        self.redirectURI = redirectURI
    }

    /// The query of the first request to the redirect address that is accepted, while `open` sends the browser on its way. The
    /// port is closed afterwards, whatever happens.
    /// - Throws: ``Failure``, and what `open` throws.
    package func answer(
        within patience: Duration, accepting isOurs: @escaping @Sendable (_ query: String) -> Bool,
        whileOpening open: @escaping @Sendable () async throws -> Void
    ) async throws -> String {
        desk.open(isOurs)
        let outcome: Result<String, any Error>
        do { outcome = .success(try await wait(patience, open)) } catch { outcome = .failure(error) }
        try? await channel.close().get()
        return try outcome.get()
    }

    private func wait(_ patience: Duration, _ open: @escaping @Sendable () async throws -> Void) async throws -> String {
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                try await open()
                return nil
            }
            group.addTask { try await self.desk.answer() }
            group.addTask {
                try await Task.sleep(for: patience)
                throw Failure.timeout
            }
            defer { group.cancelAll() }
            do {
                while let outcome = try await group.next() { if let query = outcome { return query } }
            } catch is CancellationError {
                throw Failure.cancelled
            }
            throw Failure.cancelled
        }
    }
}

/// Where the visitors of a ``LoopbackListener`` leave what they bring.
private final class Desk: Sendable {
    let host: String
    let path: String
    private let state = Mutex(State())

    private struct State {
        var isOurs: (@Sendable (String) -> Bool)?
        var query: String?
        var isGone = false
        var waiting: CheckedContinuation<String?, Never>?
    }

    init(host: String, path: String) {
        self.host = host
        self.path = path
    }

    func open(_ isOurs: @escaping @Sendable (String) -> Bool) { state.withLock { $0.isOurs = isOurs } }

    /// Whether the query is the one that is waited for; the first that is, is the answer.
    func leave(_ query: String) -> Bool {
        let (isTaken, waiting) = state.withLock { state -> (Bool, CheckedContinuation<String?, Never>?) in
            guard state.isOurs?(query) == true, state.query == nil else { return (false, nil) }
            state.query = query
            defer { state.waiting = nil }
            return (true, state.waiting)
        }
        waiting?.resume(returning: query)
        return isTaken
    }

    func answer() async throws -> String {
        let query = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome: String?? = state.withLock { state in
                    if state.query != nil || state.isGone { return .some(state.query) }
                    state.waiting = continuation
                    return .none
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                state.isGone = true
                defer { state.waiting = nil }
                return state.waiting
            }
            waiting?.resume(returning: nil)
        }
        guard let query else { throw CancellationError() }
        return query
    }
}

/// One connection to the port: a browser, or somebody who only tries.
private final class Visitor: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let desk: Desk
    private var head: HTTPRequestHead?

    init(desk: Desk) { self.desk = desk }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        case .end:
            guard let head else { return }
            self.head = nil
            answer(head, context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        // A page elsewhere that resolves its own name to this machine shows that name here.
        let host = head.headers["host"].first?.lowercased()
        let port = context.channel.localAddress?.port ?? 0
        let isHere = host == "\(desk.host):\(port)" || port == 80 && host == desk.host
        let (status, text): (HTTPResponseStatus, String)
        if head.method != .GET {
            (status, text) = (.methodNotAllowed, "Only a browser that comes back from a login is expected here.")
        } else if !isHere || parts[0] != desk.path {
            (status, text) = (.notFound, "There is nothing here.")
        } else if desk.leave(parts.count > 1 ? String(parts[1]) : "") {
            (status, text) = (.ok, "The answer is on its way to the program. You can close this window.")
        } else {
            (status, text) = (.badRequest, "This is not the login that the program waits for. You can close this window.")
        }
        var body = context.channel.allocator.buffer(capacity: 512)
        body.writeString(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Login</title><p>\(text)</p></html>\n")
        var response = HTTPResponseHead(version: .http1_1, status: status)
        response.headers = [
            "Content-Type": "text/html; charset=utf-8", "Content-Length": "\(body.readableBytes)", "Connection": "close",
            // The address of this page has the code in it.
            "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
            "Content-Security-Policy": "default-src 'none'",
        ]
        context.write(wrapOutboundOut(.head(response)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in channel.close(promise: nil) }
    }
}
